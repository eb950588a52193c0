//! `isotach copy`: a file into a new one, of the same or another of netCDF's formats.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use isotach::model::selection::Selection;
use isotach::{
    Copied, CreateOptions, CutChunks, EditOptions, File, Format, Group, Overwrite, Widened,
};

use crate::error::{CliError, Result};
use crate::generate::Kind;
use crate::progress::Progress;
use crate::reading::ReadOptions;
use crate::size;

/// Exit code where the copy is complete but for what `--leave-out` left out.
const LEFT_OUT: i32 = 4;

/// For the help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  all was copied
  1  something could not be copied, and there is no copy
  2  the command was not understood
  4  with --leave-out: all was copied but for what is told";

/// Options of `isotach copy`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CopyOptions {
    /// The new file's kind; else that of the old one, or for -d and -c one that has compression and chunks
    #[arg(short)]
    kind: Option<Kind>,
    /// Deflate at that level in place of all compression; 0 for none
    #[arg(short, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(0..=9))]
    deflate: Option<u32>,
    /// With -d, shuffle before it
    #[arg(short, requires = "deflate")]
    shuffle: bool,
    /// Unlimited dimensions become ones of the length that they have
    #[arg(short = 'u')]
    fix_unlimited: bool,
    /// Length of chunks along dimensions; without a length the whole dimension
    #[arg(short, value_name = "DIM/LEN,...", value_delimiter = ',', value_parser = chunk_len)]
    chunks: Vec<(String, Option<u64>)>,
    /// Leave out what cannot be read, and what the new kind of file cannot hold; a variable keeps what can be read
    /// of it, and the rest has the fill value. It is told on standard error, and the exit code is 4
    #[arg(long)]
    leave_out: bool,
    /// Do not keep others from writing the new file meanwhile, where locks do not work
    #[arg(long)]
    no_lock: bool,
    #[command(flatten)]
    read: ReadOptions,
    /// The file
    pub(crate) file: OsString,
    /// The new file; one that is there is replaced when the copy is complete
    new: OsString,
}

/// Copies the file; the exit code.
pub(crate) fn run(options: &CopyOptions) -> Result<i32> {
    let from = options.read.open(&options.file)?;
    if let Some((unknown, _)) = unknown_dimension(&from.root(), &options.chunks)? {
        return Err(CliError::NoDimension(unknown.clone()));
    }
    let create = CreateOptions {
        format: format(options, &from)?,
        overwrite: Overwrite::Replace,
        // Until all is there, nobody looks at it.
        edit: EditOptions {
            commit_interval: None,
            lock: !options.no_lock,
            ..EditOptions::default()
        },
        ..CreateOptions::default()
    };
    let writer = create.create(Path::new(&options.new))?;
    let copy = isotach::CopyOptions {
        fix_unlimited: options.fix_unlimited,
        deflate_level: options.deflate,
        shuffle: options.shuffle,
        chunk_lens: options.chunks.clone(),
        leave_out: options.leave_out,
    };
    let progress = Progress::of(|| value_bytes(&from.root()).unwrap_or(0));
    let copied = isotach::copy(&from, &writer, &copy, &mut |bytes| progress.advance(bytes));
    drop(progress);
    let copied = match copied {
        Ok(copied) => copied,
        Err(error) => {
            writer.discard()?;
            return Err(error.into());
        }
    };
    writer.close()?;
    tell(&copied);
    Ok(if copied.left_out.is_empty() && copied.gaps.is_empty() { 0 } else { LEFT_OUT })
}

/// Tells on standard error what is otherwise than in the file that was copied.
fn tell(copied: &Copied) {
    for CutChunks { path, asked, used, element_bytes } in &copied.cut_chunks {
        let bytes = asked.iter().fold(*element_bytes, |bytes, &len| bytes.saturating_mul(len));
        let (asked, used, bytes) = (size::by(asked), size::by(used), size::shown(bytes));
        eprintln!("isotach: note: {path}: chunks of {used}, not {asked} ({bytes})");
    }
    for Widened { path, from, to } in &copied.widened {
        eprintln!(
            "isotach: note: {path}: {from} becomes {}, as this kind of file has none",
            to.name()
        );
    }
    for left_out in &copied.left_out {
        eprintln!("isotach: left out {}: {}", left_out.path, left_out.reason.kind);
    }
    for gap in &copied.gaps {
        let (missing, of) = gap.elements;
        let what = match gap.chunks {
            Some((missing, of)) => format!("{missing} of {of} chunks"),
            None => format!("{missing} of {of} elements"),
        };
        let places: Vec<String> = gap.places.iter().map(Selection::to_string).collect();
        let places = places.join(", ");
        eprintln!(
            "isotach: {}: {what} cannot be read and have the fill value: {places}: {}",
            gap.path, gap.reason.kind
        );
        debug_assert!(missing <= of);
    }
    if !copied.left_out.is_empty() || !copied.gaps.is_empty() {
        let (objects, variables) = (copied.left_out.len(), copied.gaps.len());
        let elements = copied.gaps.iter().fold(0u64, |sum, gap| sum.saturating_add(gap.elements.0));
        eprintln!(
            "isotach: the copy is complete but for {objects} objects, and {elements} elements of \
             {variables} variables"
        );
    }
}

/// The new file's format. Where compression or chunks are asked of a classic file, it is one that has them, as
/// nccopy has it.
fn format(options: &CopyOptions, from: &File) -> Result<Format> {
    let needs_chunks = options.deflate.is_some_and(|level| level > 0) || !options.chunks.is_empty();
    let stored = from.format()?;
    let format = options.kind.map_or(stored, Format::from);
    match format {
        Format::Classic | Format::Offset64Bit | Format::Data64Bit if !needs_chunks => Ok(format),
        Format::NetCdf4 | Format::NetCdf4Classic => Ok(format),
        _ if options.kind.is_some() => Err(CliError::NoChunks),
        // It may have types that the classic model has not.
        Format::Data64Bit => Ok(Format::NetCdf4),
        Format::Classic | Format::Offset64Bit => Ok(Format::NetCdf4Classic),
    }
}

/// The first of the lengths whose dimension no group has.
fn unknown_dimension<'c>(
    group: &Group,
    chunks: &'c [(String, Option<u64>)],
) -> Result<Option<&'c (String, Option<u64>)>> {
    let mut names: HashSet<String> = HashSet::new();
    let mut waiting = vec![group.clone()];
    while let Some(group) = waiting.pop() {
        names.extend(group.dimensions()?.iter().map(|dimension| dimension.name().to_owned()));
        waiting.extend(group.groups()?);
    }
    Ok(chunks.iter().find(|(name, _)| !names.contains(name)))
}

/// Bytes of the elements of a group's variables, and of the groups in it.
fn value_bytes(group: &Group) -> Result<u64> {
    let mut bytes: u64 = 0;
    for variable in group.variables()? {
        bytes = bytes.saturating_add(size::logical_bytes(&*variable.array()?).unwrap_or(u64::MAX));
    }
    for below in group.groups()? {
        bytes = bytes.saturating_add(value_bytes(&below)?);
    }
    Ok(bytes)
}

/// `dim/len`, or `dim/` for the whole dimension.
fn chunk_len(text: &str) -> std::result::Result<(String, Option<u64>), String> {
    let (name, len) = text.rsplit_once('/').ok_or("it is not DIM/LEN")?;
    if len.is_empty() {
        return Ok((name.to_owned(), None));
    }
    match len.parse() {
        Ok(0) | Err(_) => Err(format!("{len:?} is not a length")),
        Ok(len) => Ok((name.to_owned(), Some(len))),
    }
}
