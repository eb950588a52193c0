//! The sums of a trace, for people and for programs.

use std::io::Write;

use serde_json::{Value, json};

use super::sum::{Calls, FileSum, Summary, VariableSum};
use crate::error::Result;
use crate::{explain, size};

/// Shows the sums as text.
pub(super) fn text(summary: &Summary, sink: &mut dyn Write) -> Result<()> {
    for program in &summary.programs {
        writeln!(sink, "{}", program.join(" "))?;
    }
    for (path, file) in &summary.files {
        let events = file
            .events
            .iter()
            .map(|(name, calls)| format!("{} × {name} {}", calls.count, time(calls.nanoseconds)));
        let events = events.collect::<Vec<_>>().join(", ");
        writeln!(sink, "\n{path}: {}; {events}", file.format)?;
        for (name, variable) in &file.variables {
            show_variable(name, variable, sink)?;
        }
    }
    Ok(())
}

fn show_variable(name: &str, variable: &VariableSum, sink: &mut dyn Write) -> Result<()> {
    let shape = sizes(&variable.shape);
    write!(sink, "  {name}  {} {shape}", variable.type_name)?;
    match variable.chunk_shape.is_empty() {
        true => writeln!(sink)?,
        false => {
            let filters = variable.filters.join(", ");
            writeln!(sink, ", chunks {} {filters}", sizes(&variable.chunk_shape))?;
        }
    }
    for ((direction, pattern), calls) in &variable.patterns {
        let Calls { count, bytes, nanoseconds } = *calls;
        let (bytes, time) = (size::shown(bytes), time(nanoseconds));
        writeln!(sink, "    {direction:<5}  {count:>9} × {pattern:<24} {bytes:>9} {time:>9}")?;
    }
    if variable.touches > 0 {
        let (distinct, again) = (variable.distinct(), variable.decoded_again());
        write!(sink, "    {distinct} chunks touched, {} decoded", variable.decoded)?;
        match again {
            0 => writeln!(sink)?,
            _ => {
                let lost = time(variable.nanoseconds_lost());
                writeln!(sink, ", {again} of them again: {lost} lost")?;
            }
        }
    }
    Ok(())
}

fn sizes(shape: &[u64]) -> String {
    match shape {
        [] => "scalar".to_owned(),
        _ => shape.iter().map(u64::to_string).collect::<Vec<_>>().join("×"),
    }
}

fn time(nanoseconds: u64) -> String {
    explain::time(nanoseconds as f64 / 1e9)
}

/// The sums as one object.
pub(super) fn json(summary: &Summary) -> Value {
    let files = summary.files.iter().map(|(path, file)| file_json(path, file));
    json!({ "programs": summary.programs, "files": files.collect::<Vec<_>>() })
}

fn file_json(path: &str, file: &FileSum) -> Value {
    let events = file.events.iter().map(|(name, calls)| (name.clone(), calls_json(calls)));
    let variables = file.variables.iter().map(|(name, variable)| variable_json(name, variable));
    json!({
        "path": path,
        "format": file.format,
        "events": Value::Object(events.collect()),
        "variables": variables.collect::<Vec<_>>(),
    })
}

fn calls_json(calls: &Calls) -> Value {
    let Calls { count, bytes, nanoseconds } = calls;
    json!({ "calls": count, "bytes": bytes, "nanoseconds": nanoseconds })
}

fn variable_json(name: &str, variable: &VariableSum) -> Value {
    let patterns = variable.patterns.iter().map(|((direction, pattern), calls)| {
        let mut told = calls_json(calls);
        told["direction"] = direction.as_str().into();
        told["pattern"] = pattern.as_str().into();
        told
    });
    let mut told = json!({
        "variable": name,
        "type": variable.type_name,
        "shape": variable.shape,
        "patterns": patterns.collect::<Vec<_>>(),
    });
    if !variable.chunk_shape.is_empty() {
        told["chunk_shape"] = variable.chunk_shape.clone().into();
        told["filters"] = variable.filters.clone().into();
        told["chunks"] = json!({
            "touches": variable.touches,
            "touched": variable.distinct(),
            "decoded": variable.decoded,
            "decoded_again": variable.decoded_again(),
            "nanoseconds_lost": variable.nanoseconds_lost(),
        });
    }
    told
}
