//! Events of a trace, added up by file and variable.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

/// The version of the lines that is understood.
const VERSION: u64 = 1;
/// Chunks of a variable that are told apart; their numbers take some 20 bytes each.
const MOST_CHUNKS: usize = 16 << 20;

/// All that a trace tells.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// The arguments of the programs, in order.
    pub(super) programs: Vec<Vec<String>>,
    /// By path.
    pub(super) files: BTreeMap<String, FileSum>,
    /// Where the files of a process, by number, are in `files`.
    paths: HashMap<(u64, u64), String>,
}

/// Calls and the time they took.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Calls {
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) nanoseconds: u64,
}

#[derive(Debug, Default)]
pub(super) struct FileSum {
    pub(super) format: String,
    /// `open`, `create` and `close`.
    pub(super) events: BTreeMap<String, Calls>,
    /// By path.
    pub(super) variables: BTreeMap<String, VariableSum>,
}

#[derive(Debug, Default)]
pub(super) struct VariableSum {
    pub(super) type_name: String,
    pub(super) shape: Vec<u64>,
    /// Empty where there are no chunks.
    pub(super) chunk_shape: Vec<u64>,
    pub(super) filters: Vec<String>,
    /// By direction and pattern.
    pub(super) patterns: BTreeMap<(String, String), Calls>,
    /// All reads together.
    pub(super) reads: Calls,
    /// Chunks that reads touched: each as often as it was, and how many were decoded.
    pub(super) touches: u64,
    pub(super) decoded: u64,
    /// The chunks themselves.
    touched: HashSet<u64>,
}

impl Calls {
    fn add(&mut self, event: &Value) {
        let number = |name: &str| event[name].as_u64().unwrap_or(0);
        self.count += 1;
        self.bytes = self.bytes.saturating_add(number("bytes"));
        self.nanoseconds = self.nanoseconds.saturating_add(number("nanoseconds"));
    }
}

impl Summary {
    /// Adds an event; `None` where it is not as it should be. Those that are not known are none of ours.
    pub(super) fn add(&mut self, event: &Value) -> Option<()> {
        let kind = event["event"].as_str()?;
        let process = event["process"].as_u64()?;
        if kind == "begin" {
            self.programs.push(texts(&event["arguments"])?);
            return (event["version"].as_u64()? == VERSION).then_some(());
        }
        let key = (process, event["file"].as_u64()?);
        if let Some(path) = event["path"].as_str() {
            self.paths.insert(key, path.to_owned());
        }
        let file = self.files.entry(self.paths.get(&key)?.clone()).or_default();
        match kind {
            "open" | "create" | "close" => {
                if let Some(format) = event["format"].as_str() {
                    file.format = format.to_owned();
                }
                file.events.entry(kind.to_owned()).or_default().add(event);
            }
            "variable" => {
                let variable = file.variables.entry(event["variable"].as_str()?.to_owned());
                variable.or_default().describe(event)?;
            }
            "read" | "write" => {
                let variable = file.variables.get_mut(event["variable"].as_str()?)?;
                variable.add(kind, event)?;
            }
            _ => {}
        }
        Some(())
    }
}

impl VariableSum {
    fn describe(&mut self, event: &Value) -> Option<()> {
        self.type_name = event["type"].as_str()?.to_owned();
        self.shape = numbers(&event["shape"])?;
        if !event["chunk_shape"].is_null() {
            self.chunk_shape = numbers(&event["chunk_shape"])?;
            self.filters = texts(&event["filters"])?;
        }
        Some(())
    }

    fn add(&mut self, direction: &str, event: &Value) -> Option<()> {
        let (start, count) = (numbers(&event["start"])?, numbers(&event["count"])?);
        let stride = match &event["stride"] {
            Value::Null => vec![1; start.len()],
            stride => numbers(stride)?,
        };
        if [count.len(), stride.len(), self.shape.len()] != [start.len(); 3] {
            return None;
        }
        let pattern = self.pattern(&start, &count, &stride);
        self.patterns.entry((direction.to_owned(), pattern)).or_default().add(event);
        if direction == "read" {
            self.reads.add(event);
            self.decoded += event["decoded"].as_u64().unwrap_or(0);
            if self.chunk_shape.len() == start.len() {
                self.touch(&start, &count, &stride);
            }
        }
        Some(())
    }

    /// How much of each axis: `:` for all of it, else the count, and behind a slash the stride.
    fn pattern(&self, start: &[u64], count: &[u64], stride: &[u64]) -> String {
        let axes = self.shape.iter().zip(start).zip(count.iter().zip(stride));
        let along = axes.map(|((&len, &start), (&count, &stride))| match stride {
            1 if start == 0 && count == len => ":".to_owned(),
            1 => count.to_string(),
            _ => format!("{count}/{stride}"),
        });
        format!("[{}]", along.collect::<Vec<_>>().join(", "))
    }

    /// Notes the chunks of one read.
    fn touch(&mut self, start: &[u64], count: &[u64], stride: &[u64]) {
        let axes = self.chunk_shape.iter().zip(start).zip(count.iter().zip(stride));
        let along: Vec<(u64, u64, u64)> = axes
            .map(|((&len, &start), (&count, &stride))| chunks_along(len, start, count, stride))
            .collect();
        let total = along.iter().fold(1, |total: u64, axis| total.saturating_mul(axis.1));
        self.touches = self.touches.saturating_add(total);
        for number in 0..total {
            if self.touched.len() >= MOST_CHUNKS {
                return;
            }
            let (mut rest, mut hasher) = (number, DefaultHasher::new());
            for &(first, count, step) in &along {
                (first + (rest % count) * step).hash(&mut hasher);
                rest /= count;
            }
            self.touched.insert(hasher.finish());
        }
    }

    /// Chunks that reads touched, each once.
    pub(super) fn distinct(&self) -> u64 {
        self.touched.len() as u64
    }

    /// How often chunks were decoded that had been before, at least: what is not stored is not decoded.
    pub(super) fn decoded_again(&self) -> u64 {
        match self.touched.len() < MOST_CHUNKS {
            true => self.decoded.saturating_sub(self.distinct()),
            // Nobody knows how many there are.
            false => 0,
        }
    }

    /// The share of the time of all reads.
    pub(super) fn nanoseconds_lost(&self) -> u64 {
        let share = u128::from(self.reads.nanoseconds) * u128::from(self.decoded_again());
        u64::try_from(share / u128::from(self.decoded.max(1))).unwrap_or(u64::MAX)
    }
}

/// The chunks along an axis: the first, their count, and from one to the next. Strides that are no multiple of
/// the chunk and longer than it are taken for ones that are.
fn chunks_along(len: u64, start: u64, count: u64, stride: u64) -> (u64, u64, u64) {
    let (len, first) = (len.max(1), start / len.max(1));
    if count == 0 || stride >= len {
        return (first, count, (stride / len).max(1));
    }
    let last = start.saturating_add((count - 1).saturating_mul(stride)) / len;
    (first, last - first + 1, 1)
}

fn numbers(list: &Value) -> Option<Vec<u64>> {
    list.as_array()?.iter().map(Value::as_u64).collect()
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(mut told: Value) -> Value {
        told["process"] = 7.into();
        told["file"] = 1.into();
        told["nanoseconds"] = 100.into();
        told
    }

    fn summary() -> Summary {
        let mut summary = Summary::default();
        let events = [
            json!({ "event": "begin", "version": 1, "arguments": ["ncks", "a.nc"] }),
            json!({ "event": "open", "path": "a.nc", "format": "netCDF-4" }),
            json!({ "event": "variable", "variable": "/v", "type": "float", "shape": [10, 8],
                "chunk_shape": [5, 4], "filters": ["deflate"] }),
        ];
        for told in events {
            summary.add(&event(told)).unwrap();
        }
        summary
    }

    fn read(start: [u64; 2], count: [u64; 2], stride: [u64; 2], decoded: u64) -> Value {
        event(json!({ "event": "read", "variable": "/v", "start": start, "count": count,
            "stride": stride, "bytes": 4, "decoded": decoded }))
    }

    #[test]
    fn reads_add_up() {
        let mut summary = summary();
        for told in [
            read([0, 0], [10, 8], [1, 1], 4),
            read([3, 0], [1, 8], [1, 1], 2),
            read([4, 0], [1, 8], [1, 1], 2),
            read([0, 0], [5, 1], [2, 1], 0),
        ] {
            summary.add(&told).unwrap();
        }
        let variable = &summary.files["a.nc"].variables["/v"];
        let patterns: Vec<_> =
            variable.patterns.iter().map(|((_, name), calls)| (&name[..], calls.count)).collect();
        assert_eq!(patterns, [("[1, :]", 2), ("[5/2, 1]", 1), ("[:, :]", 1)]);
        assert_eq!((variable.touches, variable.distinct()), (4 + 2 + 2 + 2, 4));
        assert_eq!((variable.decoded, variable.decoded_again()), (8, 4));
        assert_eq!(variable.reads, Calls { count: 4, bytes: 16, nanoseconds: 400 });
        assert_eq!(variable.nanoseconds_lost(), 200);
    }

    #[test]
    fn chunks_are_counted_along_an_axis() {
        assert_eq!(chunks_along(5, 3, 1, 1), (0, 1, 1));
        assert_eq!(chunks_along(5, 3, 3, 1), (0, 2, 1));
        assert_eq!(chunks_along(5, 0, 3, 2), (0, 1, 1));
        assert_eq!(chunks_along(5, 5, 3, 10), (1, 3, 2));
        assert_eq!(chunks_along(5, 5, 0, 1), (1, 0, 1));
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let mut summary = summary();
        for told in [
            json!({}),
            json!({ "event": "read" }),
            event(json!({ "event": "read", "variable": "/w", "start": [], "count": [] })),
            event(json!({ "event": "read", "variable": "/v", "start": [0], "count": [1] })),
            event(json!({ "event": "read", "variable": "/v", "start": [0, -1], "count": [1, 1] })),
            event(json!({ "event": "begin", "version": 2, "arguments": [] })),
            json!({ "event": "close", "process": 7, "file": 2 }),
        ] {
            assert_eq!(summary.add(&told), None, "{told}");
        }
        assert_eq!(summary.add(&event(json!({ "event": "what will come" }))), Some(()));
    }
}
