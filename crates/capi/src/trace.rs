//! `ISOTACH_TRACE=file`: what programs open, create and close, and every access to values, as lines of JSON
//! in that file. `docs/trace.md` says what is in them, `isotach trace` sums them up.
//!
//! ```text
//! boundary::answer -> begin                    end -> line, with the time and status of the call
//!                       \-- opened | closed | access (what the call turns out to be) --/
//! ```
//! Where nothing is traced, a call costs a look at whether something is.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use isotach::model::selection::{Axis, Selection};
use isotach::plan::layout::{Chunked, DecodeCount, Placement};
use isotach::sync::{Mutex, OnceLock};
use isotach::{Format, Variable};
use serde_json::{Map, Value, json};

use crate::model::{OpenFile, Phase};

/// Of the lines; another where one that was there means something else.
const VERSION: u32 = 1;
/// Lines go to the file when there are this many bytes of them.
const BUFFER_BYTES: usize = 64 << 10;

/// The trace of this program, where there is to be one.
static TRACER: OnceLock<Option<Tracer>> = OnceLock::new();

fn tracer() -> Option<&'static Tracer> {
    let made = TRACER.get_or_init(|| {
        let path = std::env::var_os("ISOTACH_TRACE").filter(|path| !path.is_empty())?;
        let tracer = Tracer::new(Path::new(&path));
        if tracer.is_none() {
            eprintln!("isotach: cannot write the trace {}", path.display());
        }
        tracer
    });
    made.as_ref()
}

thread_local! {
    /// The call that this thread is in; calls that it makes are part of it. Gone when the thread ends, while files
    /// may still be stored.
    static PROGRESS: RefCell<Option<Progress>> = const { RefCell::new(None) };
}

struct Tracer {
    begun: Instant,
    sink: File,
    state: Mutex<State>,
}

/// A forked process begins without the files of its parent where another thread was telling something at that moment.
#[derive(Default)]
struct State {
    /// The process that tells.
    process: u32,
    /// Lines of that process that are not in the file yet.
    lines: Vec<u8>,
    /// By id.
    files: HashMap<c_int, Traced>,
    /// The number of the file that was opened last.
    last: u64,
}

/// An open file in the trace, where no number comes twice as ids do.
struct Traced {
    number: u64,
    /// Those that were told about.
    variables: HashSet<String>,
}

/// What a call is.
struct Event {
    kind: &'static str,
    /// The id of the file.
    file: c_int,
    told: Map<String, Value>,
    /// How many chunks of the variable had been decoded before.
    decoded: Option<(DecodeCount, u64)>,
}

/// How far a call is.
struct Progress {
    /// When it began, or its last event but this one ended.
    begun: Instant,
    /// What it turned out to be so far.
    event: Option<Event>,
}

/// A call that is traced.
pub(crate) struct Call {
    tracer: &'static Tracer,
}

/// True where this program is traced.
pub(crate) fn is_on() -> bool {
    tracer().is_some()
}

/// Begins a call, where this program is traced.
pub(crate) fn begin() -> Option<Call> {
    let tracer = tracer()?;
    let begun = PROGRESS.try_with(|progress| {
        let mut progress = progress.borrow_mut();
        if progress.is_some() {
            return None;
        }
        *progress = Some(Progress { begun: Instant::now(), event: None });
        Some(Call { tracer })
    });
    begun.ok().flatten()
}

/// Tells that this call opens or creates a file.
pub(crate) fn opened(file: &OpenFile) {
    let Some(tracer) = tracer() else { return };
    let mut state = tracer.state();
    state.last += 1;
    let traced = Traced { number: state.last, variables: HashSet::new() };
    state.files.insert(file.id, traced);
    drop(state);
    let kind = if *file.phase() == Phase::Creating { "create" } else { "open" };
    let told = json!({
        "path": file.path.to_string_lossy(),
        "format": format_name(file.format),
        "writable": file.writer.is_some(),
    });
    note(kind, file.id, told, None);
}

/// Tells that this call closes a file.
pub(crate) fn closed(id: c_int) {
    if is_on() {
        note("close", id, json!({}), None);
    }
}

/// Tells that this call reads or writes values.
pub(crate) fn access(
    kind: &'static str,
    file: &OpenFile,
    variable: &Variable,
    selection: &Selection,
    bytes: usize,
) {
    let Some(tracer) = tracer() else { return };
    let array = variable.array().ok();
    let chunked = array.as_ref().and_then(|array| match &array.layout.placement {
        Placement::Chunked(chunked) => Some(chunked),
        _ => None,
    });
    let path = variable.path();
    tracer.state().tell_variable(file.id, &path, variable, chunked);
    let axes = selection.axes.iter().map(range);
    let (start, rest): (Vec<u64>, Vec<(u64, i64)>) = axes.unzip();
    let (count, stride): (Vec<u64>, Vec<i64>) = rest.into_iter().unzip();
    let chunks = chunked.map(|chunked| touched(&chunked.chunk_shape, &count, &start, &stride));
    let mut told = json!({ "variable": path, "start": start, "count": count, "bytes": bytes });
    if stride.iter().any(|&stride| stride != 1) {
        told["stride"] = stride.into();
    }
    if let Some(chunks) = chunks {
        told["chunks"] = chunks.into();
    }
    let decoded = chunked.map(|chunked| (chunked.decoded.clone(), chunked.decoded.get()));
    note(kind, file.id, told, decoded);
}

fn note(kind: &'static str, file: c_int, told: Value, decoded: Option<(DecodeCount, u64)>) {
    let (Some(tracer), Value::Object(told)) = (tracer(), told) else { return };
    let _gone = PROGRESS.try_with(|progress| {
        let mut progress = progress.borrow_mut();
        let Some(Progress { begun, event }) = &mut *progress else { return };
        if let Some(ended) = event.replace(Event { kind, file, told, decoded }) {
            tracer.tell(ended, *begun, 0);
            *begun = Instant::now();
        }
    });
}

/// Start, and count and stride, of an axis.
fn range(axis: &Axis) -> (u64, (u64, i64)) {
    match axis {
        Axis::Range { start, count, stride } => (*start, (*count, *stride)),
        // The C interface has no lists of positions.
        Axis::Indices(indices) => (0, (indices.len() as u64, 1)),
    }
}

/// How many chunks have a selected element.
fn touched(chunk_shape: &[u64], count: &[u64], start: &[u64], stride: &[i64]) -> u64 {
    let axes = chunk_shape.iter().zip(count).zip(start.iter().zip(stride));
    let along = axes.map(|((&len, &count), (&start, &stride))| {
        let step = stride.unsigned_abs().max(1);
        match count {
            0 => 0,
            _ if step >= len => count,
            _ => {
                let last = start.saturating_add((count - 1).saturating_mul(step));
                last / len - start / len + 1
            }
        }
    });
    along.fold(1, u64::saturating_mul)
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Classic => "CDF-1",
        Format::Offset64Bit => "CDF-2",
        Format::Data64Bit => "CDF-5",
        Format::NetCdf4 => "netCDF-4",
        Format::NetCdf4Classic => "netCDF-4 classic model",
    }
}

impl Call {
    /// Ends a call: what it turned out to be is told.
    pub(crate) fn end(self, status: c_int) {
        let progress = PROGRESS.try_with(RefCell::take);
        if let Ok(Some(Progress { begun, event: Some(event) })) = progress {
            self.tracer.tell(event, begun, status);
        }
    }
}

fn nanoseconds(duration: std::time::Duration) -> Value {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).into()
}

impl Tracer {
    /// Begins a trace; several programs may have one in the same file.
    fn new(path: &Path) -> Option<Self> {
        let sink = File::options().append(true).create(true).open(path).ok()?;
        let arguments: Vec<_> =
            std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let told =
            json!({ "version": VERSION, "arguments": arguments, "time": since.as_secs_f64() });
        let tracer = Self { begun: Instant::now(), sink, state: Mutex::default() };
        if let Value::Object(told) = told {
            tracer.state().tell("begin", None, told);
        }
        // SAFETY: a function that may run at the end of the program, when no other thread calls the library.
        unsafe { libc::atexit(store_at_exit) };
        Some(tracer)
    }

    fn tell(&self, event: Event, begun: Instant, status: c_int) {
        let taken = begun.elapsed();
        let Event { kind, file, mut told, decoded } = event;
        if let Some((count, before)) = decoded {
            told.insert("decoded".to_owned(), count.get().saturating_sub(before).into());
        }
        told.insert("status".to_owned(), status.into());
        told.insert("at".to_owned(), nanoseconds(begun.saturating_duration_since(self.begun)));
        told.insert("nanoseconds".to_owned(), nanoseconds(taken));
        let mut state = self.state();
        let Some(number) = state.files.get(&file).map(|traced| traced.number) else { return };
        state.tell(kind, Some(number), told);
        if kind == "close" {
            state.files.remove(&file);
            state.store(&self.sink);
        } else if state.lines.len() >= BUFFER_BYTES {
            state.store(&self.sink);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if state.process != process {
            // Those of the process that forked, which stores them itself.
            state.lines.clear();
            state.process = process;
        }
        state
    }
}

/// Stores the lines of programs that do not close their files.
extern "C" fn store_at_exit() {
    if let Some(tracer) = tracer() {
        tracer.state().store(&tracer.sink);
    }
}

impl State {
    /// Tells about a variable, the first time that its values are asked for.
    fn tell_variable(
        &mut self,
        file: c_int,
        path: &str,
        variable: &Variable,
        chunked: Option<&Chunked>,
    ) {
        let Some(traced) = self.files.get_mut(&file) else { return };
        if !traced.variables.insert(path.to_owned()) {
            return;
        }
        let number = traced.number;
        let mut told = json!({
            "variable": path,
            "type": variable.data_type().name(),
            "shape": variable.shape().unwrap_or_default(),
        });
        if let Some(chunked) = chunked {
            let filters = chunked.pipeline.filters.iter();
            told["chunk_shape"] = chunked.chunk_shape.clone().into();
            told["filters"] = filters.map(|filter| filter.display_name()).collect();
        }
        if let Value::Object(told) = told {
            self.tell("variable", Some(number), told);
        }
    }

    /// Adds a line.
    fn tell(&mut self, kind: &str, file: Option<u64>, told: Map<String, Value>) {
        let mut line = Map::new();
        line.insert("event".to_owned(), kind.into());
        line.insert("process".to_owned(), self.process.into());
        if let Some(file) = file {
            line.insert("file".to_owned(), file.into());
        }
        line.extend(told);
        if serde_json::to_writer(&mut self.lines, &line).is_ok() {
            self.lines.push(b'\n');
        }
    }

    /// Puts whole lines into the file with one call, so that those of several programs do not mix.
    fn store(&mut self, mut sink: &File) {
        // The program's own work is not to fail because its trace cannot be written.
        let _ = sink.write_all(&self.lines);
        self.lines.clear();
    }
}
