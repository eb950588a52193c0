//! `isotach dump`: a file as CDL, as `ncdump` 4.9 writes it.
//!
//! ```text
//! options   what was asked for
//! header    types, dimensions, variables      attribute, special
//! data      rows of values                    value, number, printf, text, time, calendar
//! xml       NcML instead of CDL
//! json      JSON instead of CDL
//! out       indents, breaks lines             name escapes, select finds what -v and -g name
//! ```

mod attribute;
mod data;
mod header;
mod json;
mod name;
mod number;
mod options;
mod out;
mod printf;
mod select;
mod special;
mod text;
mod time;
mod value;
mod xml;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use isotach::error::OtherFileReason;
use isotach::{ErrorKind, Fault, File, Format, Group, Readable, Variable};

pub(crate) use self::options::DumpOptions;
use self::out::Out;
use self::select::Wanted;
pub(crate) use self::time::hours_since_1970;
use crate::error::{CliError, Result};
use crate::progress::Progress;
use crate::size;

/// Which values CDL has, besides all that is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// None.
    Header,
    /// Those of coordinate variables.
    Coordinates,
    /// All.
    Everything,
}

/// A dump under way.
struct Dump<'a, 'w> {
    options: &'a DumpOptions,
    out: Out<'w>,
    format: Format,
    wanted: Wanted,
    /// Name of the bounds variable that was named last, and whose bounds they are. `ncdump`, too,
    /// knows the last one only.
    bounds: Option<(String, Variable)>,
    progress: Progress,
    /// Set where something could not be shown.
    incomplete: bool,
}

/// Writes the file as text to `sink`.
pub(crate) fn run(options: &DumpOptions, sink: &mut dyn Write) -> Result<()> {
    let path = Path::new(&options.file);
    let file = options.read.open(path)?;
    if let Some(kind) = options.kind_shown(file.format()?) {
        writeln!(sink, "{kind}")?;
        return Ok(sink.flush()?);
    }
    let mut dump = Dump::new(options, &file, sink)?;
    // On a terminal the dump itself shows how far it is; behind a pipe may be a pager.
    if goes_to_file() {
        dump.progress = Progress::of(|| dump.value_bytes(&file.root(), 0).unwrap_or(0));
    }
    dump.tell_left_out(&file.root(), 0)?;
    let shown = options.file.as_bytes();
    if options.json {
        dump.json(&file)?;
    } else if options.xml {
        if dump.format == Format::NetCdf4 {
            return Err(CliError::NotClassicModel);
        }
        dump.xml(&file, shown)?;
    } else {
        let name = options.name.as_deref().map(OsStr::as_bytes);
        let name = name.unwrap_or_else(|| name::of_file(shown));
        dump.cdl(&file, name)?;
    }
    dump.finish()
}

/// An open file, also one that is being written, as `isotach dump -s` shows it.
///
/// # Errors
/// Whatever the file has; [`CliError::Incomplete`] where a part of it could not be shown, of which
/// standard error tells.
pub fn cdl(file: &File, shown: Shown) -> Result<String> {
    let options = DumpOptions::of_shown(shown);
    let mut text = Vec::new();
    let mut dump = Dump::new(&options, file, &mut text)?;
    dump.cdl(file, name::of_file(file.name().as_bytes()))?;
    dump.finish()?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl<'a, 'w> Dump<'a, 'w> {
    fn new(options: &'a DumpOptions, file: &File, sink: &'w mut dyn Write) -> Result<Self> {
        Ok(Self {
            options,
            out: Out::new(sink, options.line_length),
            format: file.format()?,
            wanted: Wanted::find(file, options.variables.as_ref(), options.groups.as_ref())?,
            bounds: None,
            progress: Progress::hidden(),
            incomplete: false,
        })
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush()?;
        if self.incomplete { Err(CliError::Incomplete) } else { Ok(()) }
    }

    fn cdl(&mut self, file: &File, name: &[u8]) -> Result<()> {
        self.out.put("netcdf ")?;
        self.out.put(name::escaped(name))?;
        self.out.put(" {\n")?;
        self.group(&file.root(), 0)?;
        self.out.put("}\n")?;
        Ok(())
    }

    /// Bytes of the values that will be shown of a group and the groups in it.
    fn value_bytes(&self, group: &Group, depth: usize) -> Result<u64> {
        let mut sum = 0u64;
        if self.options.header || self.options.xml || depth > header::DEEPEST_GROUP {
            return Ok(sum);
        }
        for variable in group.variables()? {
            if self.wants_values(group, &variable, &variable.dimensions()?)?
                && let Some(array) = variable.array().readable()?
            {
                sum = sum.saturating_add(size::logical_bytes(&array).unwrap_or(u64::MAX));
            }
        }
        for child in group.groups()? {
            sum = sum.saturating_add(self.value_bytes(&child, depth + 1)?);
        }
        Ok(sum)
    }

    /// Tells on standard error what cannot be shown.
    fn tell(&mut self, error: &isotach::Error) {
        self.incomplete = true;
        eprintln!("isotach: {error}");
    }

    /// Tells what is not in the output, and why.
    fn tell_left_out(&mut self, group: &Group, depth: usize) -> Result<()> {
        // What else is wrong with the group comes up with what is shown of it.
        let Some(left_outs) = group.left_out().readable()? else { return Ok(()) };
        for left_out in left_outs.iter() {
            self.incomplete |= !is_as_it_should_be(&left_out.reason);
            eprintln!("isotach: left out {}: {}", left_out.path, left_out.reason);
        }
        let Some(below) = group.groups().readable()?.filter(|_| depth < header::DEEPEST_GROUP)
        else {
            return Ok(());
        };
        below.iter().try_for_each(|child| self.tell_left_out(child, depth + 1))
    }

    /// Says where the output has a gap, and goes on.
    fn gap(&mut self, error: &isotach::Error) -> Result<()> {
        self.tell(error);
        let why = error.kind.to_string().replace(['\n', '\r'], " ");
        Ok(self.out.put(format!(" // cannot be read: {why}"))?)
    }
}

/// Whether a file without a fault may have what is left out: types that netCDF has not, links that lead nowhere.
fn is_as_it_should_be(reason: &isotach::Error) -> bool {
    let is_refused = matches!(
        reason.kind,
        ErrorKind::OtherFile { reason: OtherFileReason::NotAllowed { .. }, .. }
    );
    !is_refused && matches!(reason.fault(), Fault::NotSupported | Fault::Missing)
}

/// True where standard output is a file on disk.
fn goes_to_file() -> bool {
    let output = io::stdout().as_fd().try_clone_to_owned().map(fs::File::from);
    output.and_then(|output| output.metadata()).is_ok_and(|metadata| metadata.is_file())
}
