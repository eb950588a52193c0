//! `isotach check`: walks every structure, reads every attribute, decodes every chunk, and tells
//! all that is wrong and what can be read in spite of it.
//!
//! ```text
//! objects (HDF5's own view) | model (netCDF's view) -> findings, arrays to read -> elements
//! ```

mod elements;
mod model;
mod objects;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;

use clap::Args;
use isotach::File;
use isotach::read::Array;
use serde_json::json;

use self::elements::Outcome;
use crate::error::Result;
use crate::info::format_name;
use crate::progress::Progress;
use crate::reading::ReadOptions;
use crate::size;

/// Exit code where there are findings.
const FINDINGS: i32 = 1;
/// Exit code where the file cannot be opened.
const CANNOT_OPEN: i32 = 3;

/// For the help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  nothing is wrong
  1  something is wrong
  2  the command was not understood
  3  the file cannot be opened";

/// Options of `isotach check`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckOptions {
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
    /// The file
    pub(crate) file: OsString,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    /// Path of the object; empty for the file itself.
    path: String,
    /// What is wrong, where it stands in the file.
    what: String,
}

/// What was looked at, and what was found.
#[derive(Default)]
struct Report {
    groups: u64,
    variables: u64,
    attributes: u64,
    chunks: u64,
    unreadable_chunks: u64,
    element_bytes: u64,
    findings: Vec<Finding>,
    /// Arrays whose elements are to be read.
    arrays: Vec<(String, Arc<Array>)>,
}

impl Report {
    fn find(&mut self, path: &str, what: impl Into<String>) {
        let finding = Finding { path: path.to_owned(), what: what.into() };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    fn error(&mut self, path: &str, error: &isotach::Error) {
        self.find(error.object.as_deref().unwrap_or(path), error.kind.to_string());
    }

    /// The value, or none and a finding.
    fn take<T>(&mut self, path: &str, result: isotach::Result<T>) -> Option<T> {
        result.map_err(|error| self.error(path, &error)).ok()
    }
}

/// Checks the file and tells on `sink`; gives back the exit code.
pub(crate) fn run(options: &CheckOptions, sink: &mut dyn Write) -> Result<i32> {
    let file = match options.read.open(&options.file) {
        Ok(file) => file,
        Err(error) => {
            write_unopened(options, &error, sink)?;
            return Ok(CANNOT_OPEN);
        }
    };
    let mut report = Report::default();
    let format = report.take("", file.format());
    model::walk(&file, &mut report);
    if let Some(objects) = file.hdf5() {
        objects::walk(objects, &mut report);
    }
    read_elements(&mut report);
    let format = format.map_or("unknown format", format_name);
    if options.json {
        write_json(&file, format, &report, sink)?;
    } else {
        write_text(&file, format, &report, sink)?;
    }
    Ok(if report.findings.is_empty() { 0 } else { FINDINGS })
}

fn read_elements(report: &mut Report) {
    let arrays = std::mem::take(&mut report.arrays);
    let lengths = || arrays.iter().map(|(_, array)| size::logical_bytes(array).unwrap_or(0));
    let progress = Progress::of(|| lengths().fold(0, u64::saturating_add));
    let mut done = 0u64;
    for (path, array) in arrays {
        progress.message(&path);
        let Outcome { chunks, unreadable_chunks, bytes, faults } =
            elements::read(&array, &progress);
        report.chunks += chunks;
        report.unreadable_chunks += unreadable_chunks;
        report.element_bytes = report.element_bytes.saturating_add(bytes);
        for what in faults {
            report.find(&path, what);
        }
        done = done.saturating_add(size::logical_bytes(&array).unwrap_or(0));
        progress.set(done);
    }
}

fn write_text(file: &File, format: &str, report: &Report, sink: &mut dyn Write) -> io::Result<()> {
    writeln!(sink, "{}: {format}", file.name())?;
    let readable_chunks = report.chunks - report.unreadable_chunks;
    let counts = [
        (report.groups, "group"),
        (report.variables, "variable"),
        (report.attributes, "attribute"),
        (readable_chunks, "chunk"),
    ];
    let counts = counts.map(|(count, thing)| size::counted(count, thing)).join(", ");
    writeln!(sink, "readable: {counts}, {} of elements", size::shown(report.element_bytes))?;
    for finding in &report.findings {
        let path = if finding.path.is_empty() { "file" } else { &finding.path };
        writeln!(sink, "  {path}: {}", finding.what)?;
    }
    match report.findings.len() {
        0 => writeln!(sink, "nothing is wrong"),
        count => writeln!(sink, "{}", size::counted(count as u64, "finding")),
    }
}

fn write_json(file: &File, format: &str, report: &Report, sink: &mut dyn Write) -> Result<()> {
    let findings = report.findings.iter();
    let findings = findings.map(|finding| json!({ "path": finding.path, "what": finding.what }));
    let told = json!({
        "file": file.name(),
        "format": format,
        "opened": true,
        "groups": report.groups,
        "variables": report.variables,
        "attributes": report.attributes,
        "chunks": report.chunks,
        "unreadable_chunks": report.unreadable_chunks,
        "element_bytes": report.element_bytes,
        "findings": findings.collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *sink, &told).map_err(io::Error::from)?;
    Ok(writeln!(sink)?)
}

fn write_unopened(
    options: &CheckOptions,
    error: &isotach::Error,
    sink: &mut dyn Write,
) -> Result<()> {
    if !options.json {
        return Ok(writeln!(sink, "{error}")?);
    }
    let findings = [json!({ "path": "", "what": error.kind.to_string() })];
    let told = json!({ "file": &*error.file, "opened": false, "findings": findings });
    serde_json::to_writer_pretty(&mut *sink, &told).map_err(io::Error::from)?;
    Ok(writeln!(sink)?)
}
