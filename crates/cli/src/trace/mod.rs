//! `isotach trace`: what a trace of `ISOTACH_TRACE` says in sum: how each variable was read and written, which
//! chunks were decoded more than once, and the time that took.

mod show;
mod sum;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use clap::Args;

use crate::error::{CliError, Result};
use sum::Summary;

/// Options of `isotach trace`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceOptions {
    /// As JSON
    #[arg(long)]
    json: bool,
    /// The trace
    pub(crate) file: OsString,
}

/// Shows what the trace sums up to on `sink`.
pub(crate) fn run(options: &TraceOptions, sink: &mut dyn Write) -> Result<()> {
    let trace = BufReader::new(File::open(&options.file).map_err(CliError::Input)?);
    let mut summary = Summary::default();
    let mut count = 0;
    for (index, line) in trace.lines().enumerate() {
        let line = line.map_err(CliError::Input)?;
        let event = serde_json::from_str(&line).ok();
        let added = event.and_then(|event| summary.add(&event));
        added.ok_or(CliError::NotTrace { line: index + 1 })?;
        count += 1;
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *sink, &show::json(&summary)).map_err(io::Error::from)?;
        writeln!(sink)?;
        return Ok(());
    }
    if count == 0 {
        return Ok(writeln!(sink, "nothing is recorded")?);
    }
    show::text(&summary, sink)
}
