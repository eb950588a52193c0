//! What can go wrong in a command.

use std::fmt;
use std::io;

use crate::generate::{CdlError, Refused};
use isotach::model::selection::{ParseIndexError, SelectionError};

/// The outcome of a command or a part of it.
pub(crate) type Result<T> = std::result::Result<T, CliError>;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum CliError {
    /// The output cannot be written.
    Output(io::Error),
    /// The text to generate a file from cannot be read.
    Input(io::Error),
    /// It is not as CDL should be.
    Cdl(Box<CdlError>),
    /// It has what the file cannot have.
    Refused(Refused),
    /// Nothing says how the file is to be called.
    NoOutput,
    /// A line of what should be a trace is not.
    NotTrace { line: usize },
    /// The file, or what was asked of it.
    File(Box<isotach::Error>),
    /// `-v` names a variable that is not there.
    NoVariable(String),
    /// `-g` names a group that is not there.
    NoGroup(String),
    /// `-g` was given for a file that cannot have groups.
    NoGroups,
    /// `-c` names a dimension that is not there.
    NoDimension(String),
    /// Chunks or compression were asked of a kind of file that has neither.
    NoChunks,
    /// NcML was asked of a file with more than the classic model.
    NotClassicModel,
    /// The text in brackets is no selection.
    Indices(ParseIndexError),
    /// The selection does not fit the variable.
    Selection(SelectionError),
    /// Something of the file could not be shown; it has been told already.
    Incomplete,
}

impl CliError {
    /// Whether its text names the file.
    pub(crate) fn names_file(&self) -> bool {
        matches!(self, Self::File(_) | Self::Output(_))
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(source) => write!(f, "cannot write: {source}"),
            Self::Input(source) => write!(f, "cannot read: {source}"),
            Self::Cdl(source) => source.fmt(f),
            Self::Refused(source) => source.fmt(f),
            Self::NoOutput => f.write_str("the text has no name: give one with --output"),
            Self::NotTrace { line } => write!(f, "line {line} is not of a trace"),
            Self::File(source) => source.fmt(f),
            Self::NoVariable(name) => write!(f, "no variable \"{name}\""),
            Self::NoGroup(name) => write!(f, "no group \"{name}\""),
            Self::NoDimension(name) => write!(f, "no dimension \"{name}\""),
            Self::NoChunks => f.write_str(
                "classic files have neither chunks nor compression: leave out -d and -c, or -k",
            ),
            Self::NoGroups => f.write_str("is of the classic model: there are no groups to choose"),
            Self::NotClassicModel => f.write_str("has more than the classic model: no NcML of it"),
            Self::Indices(source) => source.fmt(f),
            Self::Selection(source) => source.fmt(f),
            Self::Incomplete => f.write_str("not everything could be shown"),
        }
    }
}

impl std::error::Error for CliError {}

impl From<io::Error> for CliError {
    fn from(source: io::Error) -> Self {
        Self::Output(source)
    }
}

impl From<isotach::Error> for CliError {
    fn from(source: isotach::Error) -> Self {
        Self::File(Box::new(source))
    }
}

impl From<CdlError> for CliError {
    fn from(source: CdlError) -> Self {
        Self::Cdl(Box::new(source))
    }
}

impl From<Refused> for CliError {
    fn from(source: Refused) -> Self {
        Self::Refused(source)
    }
}

impl From<ParseIndexError> for CliError {
    fn from(source: ParseIndexError) -> Self {
        Self::Indices(source)
    }
}

impl From<SelectionError> for CliError {
    fn from(source: SelectionError) -> Self {
        Self::Selection(source)
    }
}
