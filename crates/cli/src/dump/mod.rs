//! `isotach dump`: a file as CDL, as `ncdump` 4.9 writes it.
//!
//! ```text
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
mod out;
mod printf;
mod select;
mod special;
mod text;
mod time;
mod value;
mod xml;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use clap::{Args, ValueEnum};
use isotach::{File, Format, Group, Variable};

use self::out::Out;
use self::select::Wanted;
pub(crate) use self::time::hours_since_1970;
use self::value::Digits;
use crate::error::{CliError, Result};
use crate::progress::Progress;
use crate::size;

/// Language whose indices annotations show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// From 0, the last dimension varies fastest.
    #[value(alias = "C")]
    C,
    /// From 1, the first dimension varies fastest.
    #[value(name = "f", aliases = ["F", "fortran", "Fortran"])]
    F,
}

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

/// Options of `isotach dump`: those of `ncdump`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DumpOptions {
    /// Values of coordinate variables only, and the header
    #[arg(short = 'c')]
    coordinates: bool,
    /// The header only, no values
    #[arg(short = 'h')]
    header: bool,
    /// Values of these variables only
    #[arg(short = 'v', value_name = "VAR,...", value_delimiter = ',')]
    variables: Vec<String>,
    /// A comment with the indices before each row of values
    #[arg(short = 'b', value_name = "c|f")]
    brief: Option<Language>,
    /// A comment with the indices behind each value
    #[arg(short = 'f', value_name = "c|f")]
    full: Option<Language>,
    /// Longest line of lists of values
    #[arg(short = 'l', value_name = "LENGTH", default_value_t = 80,
          value_parser = clap::value_parser!(u32).range(10..))]
    line_length: u32,
    /// Name of the data set in the output; else the file's
    #[arg(short = 'n', value_name = "NAME")]
    name: Option<String>,
    /// Significant digits of float and double
    #[arg(short = 'p', value_name = "DIGITS[,DIGITS]", value_parser = Precision::parse)]
    precision: Option<Precision>,
    /// The kind of file only
    #[arg(short = 'k')]
    kind: bool,
    /// Special attributes: storage, filters, byte order, format
    #[arg(short = 's')]
    special: bool,
    /// All filters as _Filter instead of _Fletcher32, _Shuffle and _DeflateLevel
    #[arg(short = 'F')]
    filters: bool,
    /// Times as dates
    #[arg(short = 't', overrides_with = "iso_times")]
    times: bool,
    /// Times as dates with a T between day and hour
    #[arg(short = 'i', overrides_with = "times")]
    iso_times: bool,
    /// Values of these groups only
    #[arg(short = 'g', value_name = "GROUP,...", value_delimiter = ',')]
    groups: Vec<String>,
    /// Accepted and ignored: caching of remote variables
    #[arg(short = 'w')]
    with_cache: bool,
    /// NcML instead of CDL
    #[arg(short = 'x')]
    xml: bool,
    /// JSON instead of CDL, as ncks --json writes it
    #[arg(long, conflicts_with_all = ["brief", "full", "line_length", "name", "kind", "special",
          "filters", "times", "iso_times", "xml"])]
    json: bool,
    /// The file
    pub(crate) file: OsString,
}

/// The value of `-p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Precision {
    float: Option<usize>,
    double: Option<usize>,
}

/// Significant digits where nothing else is said.
const DEFAULT_DIGITS: Digits = Digits { float: 7, double: 15 };

impl Precision {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let digits = |text: &str| match text.parse() {
            Ok(digits @ 1..=20) => Ok(digits),
            _ => Err(format!("\"{text}\" is not a number of digits from 1 to 20")),
        };
        let (float, double) = match text.split_once(',') {
            Some((float, double)) => (float, Some(digits(double)?)),
            None => (text, None),
        };
        let float = if float.is_empty() { None } else { Some(digits(float)?) };
        Ok(Self { float, double })
    }
}

impl DumpOptions {
    fn digits(&self) -> Digits {
        let given = self.precision;
        Digits {
            float: given.and_then(|given| given.float).unwrap_or(DEFAULT_DIGITS.float),
            double: given.and_then(|given| given.double).unwrap_or(DEFAULT_DIGITS.double),
        }
    }

    /// Between day and hour, where times are to be shown as dates.
    fn time_separator(&self) -> Option<char> {
        match () {
            () if self.iso_times => Some('T'),
            () if self.times => Some(' '),
            () => None,
        }
    }
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
    let file = File::open(path)?;
    if options.kind {
        writeln!(sink, "{}", kind(file.format()?))?;
        return Ok(sink.flush()?);
    }
    let mut dump = Dump::new(options, &file, sink)?;
    // On a terminal the dump itself shows how far it is; behind a pipe may be a pager.
    if goes_to_file() {
        dump.progress = Progress::of(|| dump.value_bytes(&file.root(), 0).unwrap_or(0));
    }
    let shown = path.to_string_lossy();
    if options.json {
        dump.json(&file)?;
    } else if options.xml {
        if dump.format == Format::NetCdf4 {
            return Err(CliError::NotClassicModel);
        }
        dump.xml(&file, &shown)?;
    } else {
        let name = options.name.as_deref().unwrap_or_else(|| name::of_file(&shown));
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
    let options = DumpOptions {
        special: true,
        header: shown == Shown::Header,
        coordinates: shown == Shown::Coordinates,
        line_length: 80,
        ..DumpOptions::default()
    };
    let mut text = Vec::new();
    let mut dump = Dump::new(&options, file, &mut text)?;
    dump.cdl(file, name::of_file(file.name()))?;
    dump.finish()?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The kind of file as `-k` and `_Format` tell it.
fn kind(format: Format) -> &'static str {
    match format {
        Format::Classic => "classic",
        Format::Offset64Bit => "64-bit offset",
        Format::Data64Bit => "cdf5",
        Format::NetCdf4 => "netCDF-4",
        Format::NetCdf4Classic => "netCDF-4 classic model",
    }
}

impl<'a, 'w> Dump<'a, 'w> {
    fn new(options: &'a DumpOptions, file: &File, sink: &'w mut dyn Write) -> Result<Self> {
        Ok(Self {
            options,
            out: Out::new(sink, options.line_length as usize),
            format: file.format()?,
            wanted: Wanted::find(file, &options.variables, &options.groups)?,
            bounds: None,
            progress: Progress::hidden(),
            incomplete: false,
        })
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush()?;
        if self.incomplete { Err(CliError::Incomplete) } else { Ok(()) }
    }

    fn cdl(&mut self, file: &File, name: &str) -> Result<()> {
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
                && let Ok(array) = variable.array()
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

    /// Says where the output has a gap, and goes on.
    fn gap(&mut self, error: &isotach::Error) -> Result<()> {
        self.tell(error);
        let why = error.kind.to_string().replace(['\n', '\r'], " ");
        Ok(self.out.put(format!(" // cannot be read: {why}"))?)
    }
}

/// True where standard output is a file on disk.
fn goes_to_file() -> bool {
    let output = io::stdout().as_fd().try_clone_to_owned().map(fs::File::from);
    output.and_then(|output| output.metadata()).is_ok_and(|metadata| metadata.is_file())
}
