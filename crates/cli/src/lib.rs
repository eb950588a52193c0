//! The `isotach` command: look at array files, dump, explain, check and generate them.
//!
//! A library, so that the Python package can offer the same command ([`main_with`]) and what it does
//! with CDL ([`cdl`], [`generate`]).

mod check;
mod copy;
mod dump;
mod error;
mod explain;
pub mod generate;
mod info;
mod progress;
mod reading;
mod size;
mod slabs;
mod trace;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use clap::{CommandFactory, Parser, Subcommand};

pub use crate::dump::{Shown, cdl};
pub use crate::error::CliError;

/// Exit code where the file or what was asked of it is not as it should be.
const FAILURE: i32 = 1;

const EXIT_CODES: &str = "\
Exit codes:
  0  all went well
  1  the file, or what was asked of it, is not as it should be; part of it may have been shown
  2  the command was not understood
  3  check: the file cannot be opened
  4  copy --leave-out: all was copied but for what is told";

/// Looks at netCDF-4, classic netCDF and HDF5 files, and makes them.
#[derive(Parser)]
#[command(name = "isotach", version, about = "Looks at netCDF-4, classic netCDF and HDF5 files, and makes them", after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What is in the file: groups, dimensions, variables, chunks, filters, sizes
    Info(info::InfoOptions),
    /// The file as text (CDL), as ncdump writes it
    #[command(disable_help_flag = true, args_override_self = true)]
    Dump {
        #[command(flatten)]
        options: dump::DumpOptions,
        /// Print help
        #[arg(long, action = clap::ArgAction::Help)]
        help: Option<bool>,
    },
    /// What a read would touch, fetch and decode, and how long that takes
    Explain(explain::ExplainOptions),
    /// Reads and verifies all of the file, and tells what is wrong
    #[command(after_help = check::EXIT_CODES)]
    Check(check::CheckOptions),
    /// The file that a text in CDL describes, as ncgen makes it
    Generate(generate::GenerateOptions),
    #[command(after_help = copy::EXIT_CODES)]
    /// Copies a file, also into another kind, with other chunks or other compression
    Copy(copy::CopyOptions),
    /// What programs did to their files, from a trace that ISOTACH_TRACE had them write
    Trace(trace::TraceOptions),
    /// A completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Runs the command with these arguments, the first of which is its name, and gives back its exit
/// code: 0 where all went well.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing can be done where the message itself cannot be written.
            let _written = error.print();
            return error.exit_code();
        }
    };
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let file = cli.command.file();
    let outcome = run(cli.command, &mut output);
    match outcome.and_then(|code| output.flush().map(|()| code).map_err(CliError::Output)) {
        Ok(code) => code,
        // Whoever read the output has seen enough.
        Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(CliError::Incomplete) => FAILURE,
        Err(error) => {
            let _flushed = output.flush();
            match file.filter(|_| !error.names_file()) {
                Some(file) => eprintln!("isotach: {file}: {error}"),
                None => eprintln!("isotach: {error}"),
            }
            FAILURE
        }
    }
}

impl Command {
    /// The file that it is about, for messages.
    fn file(&self) -> Option<String> {
        let file = match self {
            Self::Info(options) => &options.file,
            Self::Dump { options, .. } => &options.file,
            Self::Explain(options) => &options.file,
            Self::Check(options) => &options.file,
            Self::Generate(options) => &options.file,
            Self::Copy(options) => &options.file,
            Self::Trace(options) => &options.file,
            Self::Completions { .. } => return None,
        };
        Some(file.to_string_lossy().into_owned())
    }
}

fn run(command: Command, output: &mut dyn Write) -> error::Result<i32> {
    match command {
        Command::Info(options) => info::run(&options, output).map(|()| 0),
        Command::Explain(options) => explain::run(&options, output).map(|()| 0),
        Command::Check(options) => check::run(&options, output),
        Command::Copy(options) => copy::run(&options),
        Command::Trace(options) => trace::run(&options, output).map(|()| 0),
        Command::Dump { options, help: _ } => dump::run(&options, output).map(|()| 0),
        Command::Generate(options) => generate::run(&options).map(|()| 0),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "isotach", &mut &mut *output);
            Ok(0)
        }
    }
}
