//! Elements of array indexes that are kept decoded, block by block.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use crate::sync::RwLock;

use isotach_format::hdf5::chunk_index::element::{ChunkElement, Elements};

/// Elements that one index keeps: some 16 MB.
const KEPT_ELEMENTS: usize = 1 << 19;

/// Elements that stand next to each other.
pub(super) struct Run {
    first_index: u64,
    elements: Vec<ChunkElement>,
}

/// The runs of one index that were needed so far.
#[derive(Default)]
pub(super) struct Runs {
    kept: RwLock<Kept>,
}

#[derive(Default, Clone)]
struct Kept {
    by_first: BTreeMap<u64, Arc<Run>>,
    element_count: usize,
}

impl Run {
    /// The elements of a block or page.
    pub(super) fn decode(elements: &Elements<'_>) -> isotach_format::Result<Self> {
        let first_index = elements.first_index();
        let end = first_index.saturating_add(elements.count());
        let decoded = (first_index..end)
            .map(|index| elements.get(index))
            .collect::<isotach_format::Result<_>>()?;
        Ok(Self { first_index, elements: decoded })
    }

    /// The element with `index`, where it is in this run.
    pub(super) fn get(&self, index: u64) -> Option<ChunkElement> {
        let local = index.checked_sub(self.first_index)?;
        self.elements.get(usize::try_from(local).ok()?).copied()
    }

    /// One more than the last element's index.
    pub(super) fn end(&self) -> u64 {
        self.first_index.saturating_add(self.elements.len() as u64)
    }
}

impl Runs {
    /// The run with the element `index`, where it is kept.
    pub(super) fn find(&self, index: u64) -> Option<Arc<Run>> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let (_, run) = kept.by_first.range(..=index).next_back()?;
        (index < run.end()).then(|| Arc::clone(run))
    }

    /// Keeps `run`; where that becomes too much, the others go.
    pub(super) fn keep(&self, run: Run) -> Arc<Run> {
        let run = Arc::new(run);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.element_count.saturating_add(run.elements.len()) > KEPT_ELEMENTS {
            *kept = Kept::default();
        }
        kept.element_count += run.elements.len();
        if let Some(replaced) = kept.by_first.insert(run.first_index, Arc::clone(&run)) {
            kept.element_count -= replaced.elements.len();
        }
        run
    }
}
