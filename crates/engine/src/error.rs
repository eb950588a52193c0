//! Everything that can go wrong, for callers to match on.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::file::Format;
use crate::storage::state::{ChangedSince, is_changed};

/// The outcome of an operation on a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Paths that an error's text names.
const SHOWN_PATHS: usize = 8;

/// What went wrong, in which file, and at which object of it.
#[derive(Debug, Clone)]
pub struct Error {
    /// The file's name as it was given to open.
    pub file: Arc<str>,
    /// Path of the group or variable, where one is concerned.
    pub object: Option<String>,
    /// What went wrong.
    pub kind: ErrorKind,
}

/// The kinds of fault; see [`Error`].
#[derive(Debug, Clone)]
pub enum ErrorKind {
    /// The file cannot be opened.
    Open(Arc<io::Error>),
    /// The file cannot be written because somebody has it open.
    InUse { by: User },
    /// The file has another state than when it was opened, and what was asked for of that one cannot be had any
    /// more: [`File::refresh`](crate::File::refresh) shows its present state.
    Changed,
    /// Storage failed to deliver bytes.
    Storage { address: u64, length_bytes: u64, source: Arc<io::Error> },
    /// Values that should be at `address` are not in the file, which ends after `there_bytes` of `length_bytes`: it
    /// was cut short, or never written to the end.
    MissingBytes { address: u64, length_bytes: u64, there_bytes: u64 },
    /// Storage failed to take bytes, which are lost.
    Write { address: u64, length_bytes: u64, source: Arc<io::Error> },
    /// A commit failed: the last one is what the file has. As long as the file is open, a later
    /// commit brings everything there; after closing, it is lost. `changed` are paths of variables whose
    /// values or definitions differ from the last commit, as far as that is known.
    NotCommitted { changed: Vec<String>, source: Box<Error> },
    /// A new file, written beside its name, could not take it and is lost.
    Publish(Arc<io::Error>),
    /// Neither classic netCDF nor HDF5.
    UnknownFormat { first_bytes: Vec<u8> },
    /// Another array format that is known by its first bytes.
    OtherFormat { format: &'static str },
    /// A structure of the file is broken or not supported.
    Structure(isotach_format::Error),
    /// A chunk cannot be decoded.
    Chunk { address: u64, coordinates: Vec<u64>, source: Box<isotach_codec::Error> },
    /// The file was closed.
    Closed,
    /// What was to be defined or changed cannot be.
    Definition(DefinitionFault),
    /// Values cannot be stored as the variable's or attribute's type.
    Values(isotach_model::EncodeError<std::convert::Infallible>),
    /// A chunk cannot be encoded.
    Encode { coordinates: Vec<u64>, source: Box<isotach_codec::Error> },
    /// There is no such dimension, variable, group, attribute or type.
    NotFound { what: &'static str, name: String },
    /// What was asked for does not fit the variable's shape.
    Selection(isotach_model::selection::SelectionError),
    /// The type's values cannot be had in the form that was asked for.
    WrongType { stored: String, wanted: &'static str },
    /// Elements cannot be made into values.
    Elements(isotach_model::stored::DecodeError<std::convert::Infallible>),
    /// Values do not convert to what was asked for.
    Convert(isotach_model::convert::ConvertError),
    /// The caller's memory is not of the size that the selection needs.
    Destination { needed_bytes: u64, given_bytes: u64 },
    /// What is to be written is not of the size that the selection needs.
    Source { needed_bytes: u64, given_bytes: u64 },
    /// Data stands in another file which the options do not allow, or which cannot be opened.
    OtherFile { path: String, reason: OtherFileReason },
    /// A setting of the environment has a value that it cannot have.
    Setting { name: &'static str, value: String, expected: &'static str },
    /// More than a stated bound.
    Limit { what: &'static str, value: u64, limit: u64 },
    /// What is defined does not fit the version of the classic format.
    Format(isotach_format::classic::LayoutError),
}

/// Why something cannot be defined, renamed, deleted or set.
#[derive(Debug, Clone, PartialEq)]
pub enum DefinitionFault {
    /// Not a name in netCDF.
    Name(isotach_model::names::NameFault),
    /// There is something of that name.
    NameInUse { what: &'static str, name: String },
    /// A name for which the header of a classic file has not the bytes, while it stays as large as it is.
    NoRoom { name: String },
    /// The name is one that HDF5 or netCDF-4 keeps for its own attributes.
    Reserved { name: String },
    /// There is nothing of that name.
    NotFound { what: &'static str, name: String },
    /// It was deleted.
    Deleted { what: &'static str },
    /// A dimension that variables of other groups are along.
    InUse { name: String },
    /// The file's format has no such thing.
    NotInFormat { what: &'static str, format: Format },
    /// A type that netCDF has no name for.
    ForeignType { description: String },
    /// The format allows one unlimited dimension.
    SecondUnlimited,
    /// The format allows an unlimited dimension as the first of a variable only.
    UnlimitedNotFirst,
    /// A dimension's length that the format cannot say.
    DimensionLength { len: u64, largest: u64 },
    /// Unlimited dimensions and filters need chunks.
    NeedsChunks,
    /// Chunks that do not fit the variable.
    ChunkShape { chunk_shape: Vec<u64>, shape: Vec<u64> },
    /// Chunks of more bytes than HDF5 can say.
    ChunkBytes { chunk_shape: Vec<u64>, bytes: u64, limit: u64 },
    /// A filter that cannot be applied here.
    Filter(isotach_codec::Error),
    /// A fill value that is not one element of the variable's type.
    FillValue,
    /// A rounding that the type's numbers cannot have.
    Quantization(isotach_model::quantize::QuantizeFault),
    /// Values were written already, so that it cannot be changed any more.
    HasValues { what: &'static str },
    /// It stands in another file, or its values in other files or data sets.
    NotWritable { name: String },
    /// The root group has no name and stays.
    RootGroup,
}

/// Who has a file open that is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// This process, for writing.
    ThisProcess,
    /// This process, for reading, where the file is to be emptied.
    OwnReader,
    /// The process that this one was forked from, for writing.
    ParentProcess,
    /// Another process, for writing.
    OtherWriter,
    /// Another process, which has locked it for reading, as libhdf5 does.
    OtherReader,
}

/// Why another file that this one refers to was not read.
#[derive(Debug, Clone)]
pub enum OtherFileReason {
    /// `OpenOptions::allow_external` does not allow it. `real_path` is where it really lies, without symbolic
    /// links; `None` where no other file is allowed, so that none was looked for.
    NotAllowed { real_path: Option<Box<str>> },
    /// It could not be opened or read.
    Failed(Arc<io::Error>),
    /// It was opened, and what is referred to is not as it should be.
    Broken(String),
}

impl Error {
    /// An error of `kind` in `file`.
    pub fn new(file: &Arc<str>, kind: ErrorKind) -> Self {
        Self { file: Arc::clone(file), object: None, kind }
    }

    /// The same, at the group or variable `path`; an object already named stays.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.object.get_or_insert_with(|| path.to_owned());
        self
    }
}

impl ErrorKind {
    /// Whether it is [`ErrorKind::Changed`], about this file or about another one that it refers to.
    pub fn is_changed(&self) -> bool {
        match self {
            Self::Changed => true,
            Self::OtherFile { reason: OtherFileReason::Failed(source), .. } => is_changed(source),
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(object) = &self.object {
            write!(f, ": {object}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(source) => write!(f, "cannot be opened: {source}"),
            Self::Storage { address, length_bytes, source } => {
                write!(f, "reading {length_bytes} bytes at address {address}: {source}")
            }
            Self::Changed => ChangedSince.fmt(f),
            Self::MissingBytes { address, length_bytes, there_bytes } => write!(
                f,
                "values are missing: the file ends after {there_bytes} of their {length_bytes} bytes at address \
                 {address}; missing_bytes (--missing-bytes, {}) reads zeros for them",
                crate::settings::MISSING_BYTES
            ),
            Self::InUse { by } => f.write_str(match by {
                User::ThisProcess => "is being written by this process already: close it there first",
                User::OwnReader => {
                    "is open for reading in this process: close it there, or keep it until the new one is closed"
                }
                User::ParentProcess => "is being written by the process that forked this one",
                User::OtherWriter => "is being written by another process, which holds its flock",
                User::OtherReader => "is being read by another process, or may be",
            }),
            Self::Write { address, length_bytes, source } => {
                write!(f, "writing {length_bytes} bytes at address {address}: {source}")
            }
            Self::NotCommitted { changed, source } => {
                f.write_str("what came after the last commit is not in the file")?;
                let (shown, others) = changed.split_at(changed.len().min(SHOWN_PATHS));
                if !shown.is_empty() {
                    write!(f, " (changes of {}", shown.join(", "))?;
                    match others.len() {
                        0 => f.write_str(")")?,
                        count => write!(f, " and {count} others)")?,
                    }
                }
                match &source.object {
                    Some(object) => write!(f, ": {object}: {}", source.kind),
                    None => write!(f, ": {}", source.kind),
                }
            }
            Self::Publish(source) => write!(f, "the new file could not take its name: {source}"),
            Self::UnknownFormat { first_bytes } if first_bytes.is_empty() => {
                f.write_str("neither classic netCDF nor HDF5: there is not one byte")
            }
            Self::UnknownFormat { first_bytes } => write!(
                f,
                "neither classic netCDF nor HDF5: begins with \"{}\"",
                first_bytes.escape_ascii()
            ),
            Self::OtherFormat { format } => write!(f, "is {format}, which is not read"),
            Self::Structure(source) => source.fmt(f),
            Self::Chunk { address, coordinates, source } => {
                write!(f, "chunk {coordinates:?} at address {address}: {source}")
            }
            Self::Closed => f.write_str("was closed"),
            Self::Definition(fault) => fault.fmt(f),
            Self::Values(source) => source.fmt(f),
            Self::Encode { coordinates, source } => write!(f, "chunk {coordinates:?}: {source}"),
            Self::NotFound { what, name } => write!(f, "no {what} \"{name}\""),
            Self::Selection(source) => source.fmt(f),
            Self::WrongType { stored, wanted } => {
                write!(f, "values of type {stored} cannot be read as {wanted}")
            }
            Self::Elements(source) => source.fmt(f),
            Self::Convert(source) => source.fmt(f),
            Self::Destination { needed_bytes, given_bytes } => {
                write!(f, "the destination has {given_bytes} bytes, the selection {needed_bytes}")
            }
            Self::Source { needed_bytes, given_bytes } => {
                write!(f, "{given_bytes} bytes are given, the selection needs {needed_bytes}")
            }
            Self::OtherFile { path, reason } => match reason {
                OtherFileReason::NotAllowed { real_path: None } => {
                    write!(f, "refers to the file \"{path}\", and allow_external allows none")
                }
                OtherFileReason::NotAllowed { real_path: Some(real_path) } => write!(
                    f,
                    "refers to the file \"{path}\", which is {real_path}, outside the file's own folder; \
                     allow_external (--allow-external, {}) opens it",
                    crate::settings::ALLOW_EXTERNAL
                ),
                OtherFileReason::Failed(source) => {
                    write!(f, "refers to the file \"{path}\": {source}")
                }
                OtherFileReason::Broken(why) => write!(f, "refers to the file \"{path}\": {why}"),
            },
            Self::Setting { name, value, expected } => {
                write!(f, "{name} is \"{value}\", and not {expected}")
            }
            Self::Limit { what, value, limit } => {
                write!(f, "{what} is {value}, the limit is {limit}")
            }
            Self::Format(source) => source.fmt(f),
        }
    }
}

impl fmt::Display for DefinitionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(fault) => fault.fmt(f),
            Self::NoRoom { name } => write!(f, "the header has no room for the name \"{name}\""),
            Self::NameInUse { what, name } => write!(f, "there is a {what} \"{name}\" already"),
            Self::Reserved { name } => write!(f, "the name \"{name}\" is kept for netCDF-4 itself"),
            Self::NotFound { what, name } => write!(f, "no {what} \"{name}\""),
            Self::Deleted { what } => write!(f, "the {what} was deleted"),
            Self::InUse { name } => {
                write!(f, "variables of other groups are along the dimension \"{name}\"")
            }
            Self::NotInFormat { what, format } => {
                write!(f, "{what}: not in files of format \"{format}\"")
            }
            Self::ForeignType { description } => write!(f, "netCDF has no type {description}"),
            Self::SecondUnlimited => f.write_str("this format has one unlimited dimension only"),
            Self::UnlimitedNotFirst => {
                f.write_str("in this format, only a variable's first dimension can be unlimited")
            }
            Self::DimensionLength { len, largest } => {
                write!(
                    f,
                    "a dimension cannot be {len} long in this format, the longest is {largest}"
                )
            }
            Self::NeedsChunks => f.write_str("unlimited dimensions and filters need chunks"),
            Self::ChunkShape { chunk_shape, shape } => {
                write!(f, "chunks of {chunk_shape:?} do not fit a variable of {shape:?}")
            }
            Self::ChunkBytes { chunk_shape, bytes, limit } => {
                write!(f, "chunks of {chunk_shape:?} have {bytes} bytes, the most is {limit}")
            }
            Self::Filter(source) => source.fmt(f),
            Self::FillValue => f.write_str("the fill value is not one element of the type"),
            Self::Quantization(fault) => fault.fmt(f),
            Self::HasValues { what } => write!(f, "{what}: values were written already"),
            Self::NotWritable { name } => {
                write!(f, "\"{name}\" stands in other files or data sets")
            }
            Self::RootGroup => f.write_str("the root group can be neither renamed nor deleted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Open(source)
            | ErrorKind::Publish(source)
            | ErrorKind::Storage { source, .. }
            | ErrorKind::Write { source, .. } => Some(source.as_ref()),
            ErrorKind::NotCommitted { source, .. } => Some(source.as_ref()),
            ErrorKind::Format(source) => Some(source),
            ErrorKind::Structure(source) => Some(source),
            ErrorKind::Chunk { source, .. } | ErrorKind::Encode { source, .. } => {
                Some(source.as_ref())
            }
            _ => None,
        }
    }
}
