//! The options of `isotach dump`, understood as `ncdump` understands them: each may be given again, and a
//! number ends where it no longer is one.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use isotach::Format;
use isotach::model::Atomic;

use super::Shown;
use super::value::Digits;
use crate::reading::ReadOptions;

/// Longest line where nothing else is said.
const LINE_LENGTH: usize = 80;
/// Lines cannot be asked to be shorter.
const SHORTEST_LINE: i32 = 10;
/// What netCDF calls a file that is read into memory, among the bits of its mode.
const DISKLESS: u32 = 8;

type Parsed<T> = std::result::Result<T, String>;

/// Options of `isotach dump`: those of `ncdump`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DumpOptions {
    #[command(flatten)]
    pub(super) read: ReadOptions,
    /// Values of coordinate variables only, and the header
    #[arg(short = 'c')]
    pub(super) coordinates: bool,
    /// The header only, no values
    #[arg(short = 'h')]
    pub(super) header: bool,
    /// Values of these variables only
    #[arg(short = 'v', value_name = "VAR,...", allow_hyphen_values = true)]
    pub(super) variables: Option<Names>,
    #[command(flatten)]
    pub(super) annotations: Annotations,
    /// Longest line of lists of values
    #[arg(short = 'l', value_name = "LENGTH", default_value_t = LINE_LENGTH,
          allow_hyphen_values = true, value_parser = line_length)]
    pub(super) line_length: usize,
    /// Name of the data set in the output; else the file's
    #[arg(short = 'n', value_name = "NAME", allow_hyphen_values = true)]
    pub(super) name: Option<OsString>,
    #[command(flatten)]
    pub(super) precision: Precision,
    /// The kind of file only
    #[arg(short = 'k')]
    pub(super) kind: bool,
    /// The format only, with the mode in which netCDF opens it
    #[arg(short = 'K')]
    pub(super) kind_and_mode: bool,
    /// Special attributes: storage, filters, byte order, format
    #[arg(short = 's')]
    pub(super) special: bool,
    /// All filters as _Filter instead of _Fletcher32, _Shuffle and _DeflateLevel
    #[arg(short = 'F')]
    pub(super) filters: bool,
    /// Times as dates
    #[arg(short = 't', overrides_with = "iso_times")]
    times: bool,
    /// Times as dates with a T between day and hour
    #[arg(short = 'i', overrides_with = "times")]
    iso_times: bool,
    /// Values of these groups only
    #[arg(short = 'g', value_name = "GROUP,...", allow_hyphen_values = true)]
    pub(super) groups: Option<Names>,
    /// Accepted and ignored: caching of remote variables
    #[arg(short = 'w')]
    with_cache: bool,
    /// Accepted and ignored, but that -K tells of m: in memory (m), properties (p)
    #[arg(short = 'X', value_name = "m|p", allow_hyphen_values = true, value_parser = Extra::parse,
          action = ArgAction::Append)]
    extra: Vec<Extra>,
    /// Accepted and ignored: how much the library logs
    #[arg(short = 'L', value_name = "LEVEL", allow_hyphen_values = true)]
    log_level: Option<OsString>,
    /// NcML instead of CDL
    #[arg(short = 'x')]
    pub(super) xml: bool,
    /// JSON instead of CDL, as ncks --json writes it
    #[arg(long, conflicts_with_all = [BRIEF, FULL, "line_length", "name", "kind", "kind_and_mode",
          "special", "filters", "times", "iso_times", "xml"])]
    pub(super) json: bool,
    /// The file
    pub(crate) file: OsString,
}

impl DumpOptions {
    /// Those of a text that is to show everything about these values.
    pub(super) fn of_shown(shown: Shown) -> Self {
        Self {
            special: true,
            header: shown == Shown::Header,
            coordinates: shown == Shown::Coordinates,
            line_length: LINE_LENGTH,
            ..Self::default()
        }
    }

    /// Between day and hour, where times are to be shown as dates.
    pub(super) fn time_separator(&self) -> Option<char> {
        match () {
            () if self.iso_times => Some('T'),
            () if self.times => Some(' '),
            () => None,
        }
    }

    /// What `-k` or `-K` ask for in place of the file.
    pub(super) fn kind_shown(&self, format: Format) -> Option<String> {
        if self.kind {
            return Some(format.to_string());
        }
        let (name, mode) = match format {
            Format::Classic => ("classic", 0),
            Format::Offset64Bit => ("64-bit offset", 0x200),
            Format::Data64Bit => ("64-bit data", 0x20),
            Format::NetCdf4 | Format::NetCdf4Classic => ("HDF5", 0x1000),
        };
        let in_memory = if self.extra.contains(&Extra::InMemory) { DISKLESS } else { 0 };
        self.kind_and_mode.then(|| format!("{name} mode={:08x}", mode | in_memory))
    }
}

/// Names with commas between them.
#[derive(Debug, Clone)]
pub(super) struct Names(pub(super) Vec<String>);

impl From<&str> for Names {
    /// Without the empty ones, where there are others.
    fn from(text: &str) -> Self {
        let names: Vec<_> =
            text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Self(if names.is_empty() { vec![String::new()] } else { names })
    }
}

/// What `-X` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extra {
    InMemory,
    Properties,
}

impl Extra {
    fn parse(text: &str) -> Parsed<Self> {
        match text.bytes().next().map(|first| first.to_ascii_lowercase()) {
            Some(b'm') => Ok(Self::InMemory),
            Some(b'p') => Ok(Self::Properties),
            _ => Err("is neither m nor p".to_owned()),
        }
    }
}

/// Language whose indices annotations show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Language {
    /// From 0, the last dimension varies fastest.
    #[default]
    C,
    /// From 1, the first dimension varies fastest.
    F,
}

impl Language {
    /// Its first letter counts: `c`, `C`, `f`, `Fortran`.
    fn parse(text: &str) -> Parsed<Self> {
        match text.bytes().next().map(|first| first.to_ascii_lowercase()) {
            Some(b'c') => Ok(Self::C),
            Some(b'f') => Ok(Self::F),
            _ => Err("begins neither with c nor with f".to_owned()),
        }
    }
}

const BRIEF: &str = "brief";
const FULL: &str = "full";

/// `-b` and `-f`: both can be asked for, in the language that was named last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Annotations {
    pub(super) rows: bool,
    pub(super) elements: bool,
    pub(super) language: Language,
}

impl FromArgMatches for Annotations {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut annotations = Self::default();
        annotations.update_from_arg_matches(matches)?;
        Ok(annotations)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (id, language) in in_order(matches, [BRIEF, FULL]) {
            self.rows |= id == BRIEF;
            self.elements |= id == FULL;
            self.language = language;
        }
        Ok(())
    }
}

impl Args for Annotations {
    fn augment_args(command: Command) -> Command {
        let argument = |id, letter, help| {
            valued(id, letter).value_name("c|f").value_parser(Language::parse).help(help)
        };
        command.arg(argument(BRIEF, 'b', "Comments with the indices of each row")).arg(argument(
            FULL,
            'f',
            "Comments with the indices of each element",
        ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

const PRECISION: &str = "precision";
const DIGITS: &str = "digits";

/// `-p` and `-d`: the last of them tells the digits. Where `-p` ever named those of a type, its variables'
/// own `C_format` does not count.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Precision {
    pub(super) digits: Digits,
    of_float: bool,
    of_double: bool,
}

impl Precision {
    /// Whether it counts for variables of this type, whatever format these ask for.
    pub(super) fn overrides_format_of(self, atomic: Option<Atomic>) -> bool {
        match atomic {
            Some(Atomic::Float) => self.of_float,
            Some(Atomic::Double) => self.of_double,
            _ => false,
        }
    }
}

impl FromArgMatches for Precision {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut precision = Self::default();
        precision.update_from_arg_matches(matches)?;
        Ok(precision)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (id, given) in in_order::<GivenDigits, 2>(matches, [PRECISION, DIGITS]) {
            self.of_float |= id == PRECISION && given.float.is_some();
            self.of_double |= id == PRECISION && given.double.is_some();
            let default = Digits::default();
            self.digits = Digits {
                float: given.float.unwrap_or(default.float),
                double: given.double.unwrap_or(default.double),
            };
        }
        Ok(())
    }
}

impl Args for Precision {
    fn augment_args(command: Command) -> Command {
        let argument = |id, letter, help| {
            let parsed = valued(id, letter).value_parser(GivenDigits::parse);
            parsed.value_name("FLOAT[,DOUBLE]").help(help)
        };
        command
            .arg(argument(PRECISION, 'p', "Significant digits of float and double"))
            .arg(argument(DIGITS, 'd', "The same, but a variable's own C_format counts"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The value of `-p` or `-d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GivenDigits {
    float: Option<usize>,
    double: Option<usize>,
}

impl GivenDigits {
    /// `ncdump` looks for the second number behind the first one only.
    fn parse(text: &str) -> Parsed<Self> {
        if text.is_empty() || text.starts_with(',') {
            return Ok(Self { float: None, double: None });
        }
        let in_range = |(number, rest)| match number {
            1..=20 => Ok((number as usize, rest)),
            _ => Err(format!("{number} is not a number of digits from 1 to 20")),
        };
        let (float, rest) = in_range(leading_integer(text, 10))?;
        let double = rest.strip_prefix(',').map(|text| in_range(leading_integer(text, 10)));
        Ok(Self { float: Some(float), double: double.transpose()?.map(|(double, _)| double) })
    }
}

fn line_length(text: &str) -> Parsed<usize> {
    let (length, _) = leading_integer(text, 0);
    match usize::try_from(length) {
        Ok(long) if length >= SHORTEST_LINE => Ok(long),
        _ => Err(format!("{length} is less than {SHORTEST_LINE}")),
    }
}

/// The integer that the text begins with, as C's `strtol` reads an `int`, and what is behind it; 0 where there is
/// none. Base 0 reads `0x20` and `020` too.
fn leading_integer(text: &str, base: u32) -> (i32, &str) {
    let trimmed = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let behind_x = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (base, digits) = match (base, behind_x) {
        (0, Some(rest)) if rest.starts_with(|first: char| first.is_ascii_hexdigit()) => (16, rest),
        (0, _) if digits.starts_with('0') => (8, digits),
        (0, _) => (10, digits),
        _ => (base, digits),
    };
    let end = digits.find(|digit: char| !digit.is_digit(base)).unwrap_or(digits.len());
    let magnitude =
        digits[..end].chars().filter_map(|digit| digit.to_digit(base)).fold(0i64, |sum, digit| {
            sum.saturating_mul(i64::from(base)).saturating_add(i64::from(digit))
        });
    let number = if negative { -magnitude } else { magnitude };
    // An int keeps the low bits.
    (number as i32, if end == 0 { text } else { &digits[end..] })
}

/// An option with a value, which may begin with a hyphen, and which may come again.
fn valued(id: &'static str, letter: char) -> Arg {
    Arg::new(id).short(letter).allow_hyphen_values(true).action(ArgAction::Append)
}

/// The values of some options in the order in which they were given.
fn in_order<T: Clone + Send + Sync + 'static, const COUNT: usize>(
    matches: &ArgMatches,
    ids: [&'static str; COUNT],
) -> Vec<(&'static str, T)> {
    let mut given: Vec<(usize, &str, T)> = Vec::new();
    for id in ids {
        let values = matches.get_many::<T>(id).into_iter().flatten().cloned();
        let places = matches.indices_of(id).into_iter().flatten();
        given.extend(places.zip(values).map(|(place, value)| (place, id, value)));
    }
    given.sort_by_key(|&(place, ..)| place);
    given.into_iter().map(|(_, id, value)| (id, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_end_where_strtol_ends_them() {
        for (text, base, expected) in [
            ("40", 0, (40, "")),
            ("0x20z", 0, (32, "z")),
            ("020", 0, (16, "")),
            ("0xg", 0, (0, "xg")),
            (" +7,", 10, (7, ",")),
            ("-3", 10, (-3, "")),
            ("x", 10, (0, "x")),
            ("099", 10, (99, "")),
            ("4294967376", 0, (80, "")),
        ] {
            assert_eq!(leading_integer(text, base), expected, "{text}");
        }
    }
}
