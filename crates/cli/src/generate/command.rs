//! `isotach generate`: the options, where the text comes from, where the file goes.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use isotach::{CreateOptions, EditOptions, Format, Overwrite};

use super::definitions::Definitions;
use super::kind::{self, Kind};
use super::write;
use crate::error::{CliError, Result};

/// What `isotach generate` is asked.
#[derive(Args)]
pub(crate) struct GenerateOptions {
    /// The text in CDL; `-` for standard input
    #[arg(value_name = "FILE.cdl")]
    pub(crate) file: OsString,
    /// The file to write; else the text's name with `.nc`, in this folder
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The kind of file; else the one of `_Format`, else the lowest that can hold what the text has
    #[arg(short, long)]
    kind: Option<Kind>,
    #[command(flatten)]
    digits: Digits,
    /// Do not keep others from writing the file meanwhile, where locks do not work
    #[arg(long)]
    no_lock: bool,
}

/// Short for some of `--kind`.
#[derive(Args)]
#[group(multiple = false, conflicts_with = "kind")]
struct Digits {
    /// Short for `-k classic`
    #[arg(short = '3')]
    classic: bool,
    /// Short for `-k netCDF-4`
    #[arg(short = '4')]
    netcdf4: bool,
    /// Short for `-k cdf5`
    #[arg(short = '5')]
    cdf5: bool,
    /// Short for `-k "64-bit offset"`
    #[arg(short = '6')]
    offset: bool,
    /// Short for `-k "netCDF-4 classic model"`
    #[arg(short = '7')]
    netcdf4_classic: bool,
}

impl GenerateOptions {
    fn format(&self, all: &Definitions) -> Format {
        let Digits { classic, netcdf4, cdf5, offset, netcdf4_classic } = self.digits;
        let kinds = [
            (classic, Kind::Classic),
            (netcdf4, Kind::NetCdf4),
            (cdf5, Kind::Data64Bit),
            (offset, Kind::Offset64Bit),
            (netcdf4_classic, Kind::NetCdf4Classic),
        ];
        let short = kinds.iter().find(|(is_asked, _)| *is_asked).map(|(_, kind)| *kind);
        self.kind.or(short).map_or_else(|| kind::chosen(all), Format::from)
    }

    fn is_standard_input(&self) -> bool {
        self.file == "-"
    }

    /// As `ncgen -b` names it: after the text, and only where that has no name after what it says.
    fn output(&self, all: &Definitions) -> Result<PathBuf> {
        if let Some(output) = &self.output {
            return Ok(output.clone());
        }
        let stem = match self.is_standard_input() {
            // A name, whatever folders it pretends to be in.
            true => Path::new(&all.name).file_name(),
            false => Path::new(&self.file).file_stem(),
        };
        let mut name = stem.map(OsStr::to_owned).ok_or(CliError::NoOutput)?;
        name.push(".nc");
        Ok(name.into())
    }
}

/// Writes the file that the text describes; where that fails, what was there stays as it was.
pub(crate) fn run(options: &GenerateOptions) -> Result<()> {
    let text = match options.is_standard_input() {
        true => {
            let mut text = Vec::new();
            io::stdin().lock().read_to_end(&mut text).map(|_| text)
        }
        false => fs::read(&options.file),
    };
    let all = super::definitions(&text.map_err(CliError::Input)?)?;
    write_to(&options.output(&all)?, &all, options.format(&all), !options.no_lock)
}

/// Writes the file that a text in CDL describes, in its own format where none is given. A file that
/// is there is replaced; where anything fails, it stays as it was.
///
/// # Errors
/// What is wrong with the text, or why the file cannot be written.
pub fn create(path: &Path, text: &[u8], format: Option<Format>) -> Result<()> {
    let all = super::definitions(text)?;
    write_to(path, &all, format.unwrap_or_else(|| kind::chosen(&all)), true)
}

/// The bytes of the file that is so defined, in its own format where none is given.
///
/// # Errors
/// Why there can be no such file.
pub fn bytes(all: &Definitions, format: Option<Format>) -> Result<Vec<u8>> {
    let format = format.unwrap_or_else(|| kind::chosen(all));
    let writer = CreateOptions::new(format).create_in_memory(&all.name)?;
    write::write(all, format, &writer)?;
    Ok(writer.into_bytes()?.unwrap_or_default())
}

fn write_to(path: &Path, all: &Definitions, format: Format, lock: bool) -> Result<()> {
    let create = CreateOptions {
        overwrite: Overwrite::Replace,
        // Nobody sees it before it is whole.
        edit: EditOptions { commit_interval: None, lock, ..EditOptions::default() },
        ..CreateOptions::new(format)
    };
    let writer = create.create(path)?;
    match write::write(all, format, &writer) {
        Ok(()) => Ok(writer.close()?),
        Err(refused) => {
            writer.discard()?;
            Err(refused.into())
        }
    }
}
