//! `isotach explain`: what a read would touch, before or after it is done.

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use isotach::Variable;
use isotach::model::selection::{Indexed, ParseIndexError, Selection, parse_indices};
use isotach::plan::layout::Placement;
use isotach::plan::{Plan, Summary};
use isotach::read::Array;
use serde_json::json;

use crate::error::Result;
use crate::reading::ReadOptions;
use crate::{progress, size};

/// Bytes that memory or the page cache delivers in a second, on one core.
const READ_SPEED: f64 = 3e9;
/// Bytes that a second of decoding gives on one core where nothing is known of the filter.
const DECODE_SPEED: f64 = 1e9;
/// Seconds of one call to the storage.
const CALL_SECONDS: f64 = 4e-6;

/// Options of `isotach explain`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainOptions {
    /// Read it too, and say how long that took
    #[arg(long)]
    run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
    /// The file
    pub(crate) file: OsString,
    /// The variable, with a selection as in Python: `var`, `group/var[0]`, `var[0:10,::2,...]`
    #[arg(value_name = "VAR[SELECTION]")]
    what: String,
}

/// What a read took.
struct Run {
    first: Duration,
    second: Duration,
}

/// Explains on `sink`.
pub(crate) fn run(options: &ExplainOptions, sink: &mut dyn Write) -> Result<()> {
    let (name, indices) = match options.what.split_once('[') {
        Some((name, rest)) => match rest.strip_suffix(']') {
            Some(indices) => (name, indices),
            None => return Err(ParseIndexError::Brackets(format!("[{rest}")).into()),
        },
        None => (options.what.as_str(), ""),
    };
    let file = options.read.open_for_one(&options.file)?;
    let variable = file.variable(name)?;
    let array = variable.array()?;
    let indexed = Selection::from_indices(&parse_indices(indices)?, &array.shape)?;
    let selection = &indexed.selection;
    let plan = Plan::new(&array.layout, selection)?;
    let summary = plan.summary(&array.layout, selection)?;
    let expected = expected_seconds(&array, &summary);
    let run = if options.run { Some(measure(&variable, selection, &summary)?) } else { None };
    let read = Read {
        variable: &variable,
        array: &array,
        indexed: &indexed,
        plan,
        summary,
        expected,
        run,
    };
    if options.json { read.write_json(sink) } else { Ok(read.write(sink)?) }
}

/// A read that is explained.
struct Read<'a> {
    variable: &'a Variable,
    array: &'a Array,
    indexed: &'a Indexed,
    plan: Plan,
    summary: Summary,
    expected: f64,
    run: Option<Run>,
}

impl Read<'_> {
    fn write(&self, sink: &mut dyn Write) -> io::Result<()> {
        writeln!(sink, "{}{}", self.variable.path(), self.indexed.selection)?;
        writeln!(sink, "  type        {}", self.variable.data_type().name())?;
        let (shape, result) = (size::by(&self.array.shape), size::by(&self.indexed.result_shape));
        writeln!(sink, "  shape       {shape}, of which {result}")?;
        self.write_summary(sink)?;
        writeln!(sink, "  expected    {}", time(self.expected))?;
        if let Some(run) = &self.run {
            let (first, second) = (run.first.as_secs_f64(), run.second.as_secs_f64());
            writeln!(sink, "  took        {}", time(first))?;
            writeln!(sink, "  once more   {} (with what is then in the cache)", time(second))?;
        }
        Ok(())
    }

    fn chunk_shape(&self) -> Option<&[u64]> {
        match &self.array.layout.placement {
            Placement::Chunked(chunked) => Some(&chunked.chunk_shape),
            _ => None,
        }
    }

    /// Data sets that a virtual one takes this from.
    fn piece_count(&self) -> Option<usize> {
        match self.plan {
            Plan::Virtual { piece_count } => Some(piece_count),
            _ => None,
        }
    }

    fn write_summary(&self, sink: &mut dyn Write) -> io::Result<()> {
        let summary = &self.summary;
        let wanted = size::shown(summary.wanted_bytes);
        let elements = size::counted(summary.element_count, "element");
        writeln!(sink, "  wanted      {elements}, {wanted}")?;
        writeln!(sink, "  storage     {}", summary.placement)?;
        if let Some(chunk_shape) = self.chunk_shape() {
            let (chunks, missing) = (summary.chunks, summary.missing_chunks);
            writeln!(sink, "  chunk shape {}", size::by(chunk_shape))?;
            writeln!(
                sink,
                "  chunks      {chunks} touched, {} in the cache, {missing} never written",
                summary.cached_chunks
            )?;
            writeln!(sink, "  decoded     {}", size::shown(summary.decoded_bytes))?;
        }
        if summary.tiles > 0 {
            let (tiles, cached) = (summary.tiles, summary.cached_tiles);
            writeln!(sink, "  tiles       {tiles} touched, {cached} in the cache")?;
        }
        if let Some(piece_count) = self.piece_count() {
            writeln!(sink, "  pieces      {piece_count} of other data sets")?;
        }
        let reads = size::counted(summary.reads, "read");
        writeln!(sink, "  read        {} in {reads}", size::shown(summary.read_bytes))
    }

    fn write_json(&self, sink: &mut dyn Write) -> Result<()> {
        let summary = &self.summary;
        let seconds = |of: fn(&Run) -> Duration| self.run.as_ref().map(|run| of(run).as_secs_f64());
        let told = json!({
            "variable": self.variable.path(),
            "selection": self.indexed.selection.to_string(),
            "type": self.variable.data_type().name(),
            "shape": self.array.shape,
            "result_shape": self.indexed.result_shape,
            "storage": summary.placement,
            "chunk_shape": self.chunk_shape(),
            "elements": summary.element_count,
            "wanted_bytes": summary.wanted_bytes,
            "reads": summary.reads,
            "read_bytes": summary.read_bytes,
            "chunks": summary.chunks,
            "missing_chunks": summary.missing_chunks,
            "cached_chunks": summary.cached_chunks,
            "decoded_bytes": summary.decoded_bytes,
            "tiles": summary.tiles,
            "cached_tiles": summary.cached_tiles,
            "pieces": self.piece_count(),
            "expected_seconds": self.expected,
            "seconds": seconds(|run| run.first),
            "seconds_once_more": seconds(|run| run.second),
        });
        serde_json::to_writer_pretty(&mut *sink, &told).map_err(io::Error::from)?;
        Ok(writeln!(sink)?)
    }
}

fn measure(variable: &Variable, selection: &Selection, summary: &Summary) -> Result<Run> {
    let message = format!("reading {}", size::shown(summary.wanted_bytes));
    let timed = || -> Result<Duration> {
        let (values, took) = progress::waiting(&message, || {
            let begin = Instant::now();
            let values = variable.read(selection);
            (values, begin.elapsed())
        });
        let values = values?;
        drop(values);
        Ok(took)
    };
    Ok(Run { first: timed()?, second: timed()? })
}

/// A rough guess from the bytes: what a call, a byte read and a byte decoded usually cost.
fn expected_seconds(array: &Array, summary: &Summary) -> f64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let speed = match &array.layout.placement {
        Placement::Chunked(chunked) => {
            let filters = chunked.pipeline.filters.iter();
            let seconds_per_byte: f64 = filters.map(|filter| 1.0 / decode_speed(filter.id)).sum();
            if seconds_per_byte > 0.0 { 1.0 / seconds_per_byte } else { READ_SPEED }
        }
        _ => READ_SPEED,
    };
    let parallel = cores.min(summary.chunks.max(1) as f64);
    summary.reads as f64 * CALL_SECONDS
        + summary.read_bytes.max(summary.wanted_bytes) as f64 / READ_SPEED
        + summary.decoded_bytes as f64 / speed / parallel
}

/// Bytes that one core decodes in a second.
fn decode_speed(filter: u16) -> f64 {
    match filter {
        // Deflate.
        1 => 0.83e9,
        // Shuffle, fletcher32.
        2 | 3 => 5e9,
        // Szip, bzip2.
        4 => 0.3e9,
        307 => 0.05e9,
        // Blosc, lz4, lzf.
        32000 | 32001 | 32004 => 2e9,
        _ => DECODE_SPEED,
    }
}

/// A time for people, such as "1.2 ms".
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}
