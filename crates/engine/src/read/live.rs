//! Arrays of files that are being written: whether what was read was still where the array says.
//!
//! ```text
//! moves? -> read -> moves? -> the same number -> it was there all the time
//!                          -> another          -> where it is now, and once more
//! ```
//! Who moves values counts that before the first byte comes to another place. Readers take no lock while they read,
//! and keep nobody waiting: moving values copies all of them, so a reader that begins anew comes through.
//! Where other threads write meanwhile, `calls.rs` says who begins anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst, fence};

use isotach_model::selection::Selection;

use super::Array;
use super::calls::{Calls, Reading};
use crate::draft::VariableId;
use crate::error::Result;

/// Counts how often values were given other places, or the file was given up, in one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moves(Arc<AtomicU64>);

/// A file that is being written, as one variable's readers know it.
pub(crate) trait Source: Send + Sync {
    /// Whether this process may still use it.
    fn is_ours(&self) -> bool;

    /// The variable's elements as they are now.
    fn array(&self) -> Result<Array>;
}

/// See the module. Files that are only read have none.
#[derive(Clone, Default)]
pub struct Live(Option<Watch>);

#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) variable: VariableId,
    pub(crate) moves: Moves,
    pub(crate) calls: Calls,
    /// The counts before the array was made: of moves, and of writes.
    pub(crate) counts: (u64, u64),
}

/// A try to read.
pub(super) struct Try {
    /// The array as it is now, where the one at hand may be of earlier values.
    pub(super) anew: Option<Array>,
    reading: Option<Reading>,
}

impl Moves {
    /// Values are about to move.
    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    pub(crate) fn count(&self) -> u64 {
        // What was read before this was read before.
        fence(SeqCst);
        self.0.load(SeqCst)
    }
}

impl Live {
    pub(crate) fn new(watch: Watch) -> Self {
        Self(Some(watch))
    }

    /// Whether the elements never move.
    pub(super) fn is_fixed(&self) -> bool {
        self.0.is_none()
    }

    /// Begins to read, for the `tries`-th time after the first. Waits for writes of other threads that are there.
    ///
    /// # Errors
    /// [`Closed`](crate::ErrorKind::Closed), [`InUse`](crate::ErrorKind::InUse) where it is another process that
    /// writes the file, and what the writer met when it moved values.
    pub(super) fn begin(&self, selection: &Selection, tries: u32) -> Result<Try> {
        let Some(watch) = &self.0 else { return Ok(Try { anew: None, reading: None }) };
        if !watch.source.is_ours() {
            return Ok(Try { anew: Some(watch.source.array()?), reading: None });
        }
        let reading = watch.calls.read(watch.variable, selection, tries);
        let is_present = watch.counts == (watch.moves.count(), reading.writes());
        let anew = if is_present { None } else { Some(watch.source.array()?) };
        Ok(Try { anew, reading: Some(reading) })
    }

    /// Whether the array's elements are where they were.
    fn is_in_place(&self) -> bool {
        self.0.as_ref().is_none_or(|watch| watch.counts.0 == watch.moves.count())
    }
}

impl Try {
    /// Whether what was read of `array` is one state of it.
    pub(super) fn is_whole(&self, array: &Array) -> bool {
        array.live.is_in_place() && self.reading.as_ref().is_none_or(Reading::is_whole)
    }
}
