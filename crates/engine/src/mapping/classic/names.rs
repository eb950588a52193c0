//! Variables' names: in the file's order, and by look-up in any Unicode form.

use std::collections::HashMap;
use std::sync::Arc;

use isotach_model::names::normalized;

/// The names of a list, each with its index in it.
pub(super) struct Names {
    in_order: Arc<[Arc<str>]>,
    index_of: HashMap<Arc<str>, usize>,
}

impl Names {
    /// The names of a list in its order. Of equal names the first is found.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let in_order: Arc<[Arc<str>]> = names.map(Arc::from).collect();
        let mut index_of = HashMap::with_capacity(in_order.len());
        for (index, name) in in_order.iter().enumerate() {
            index_of.entry(Arc::clone(name)).or_insert(index);
        }
        // A name as the file has it goes before one that only looks the same when composed.
        for (index, name) in in_order.iter().enumerate() {
            let composed = normalized(name);
            if composed != **name {
                index_of.entry(composed.into()).or_insert(index);
            }
        }
        Self { in_order, index_of }
    }

    /// The names in order.
    pub(super) fn in_order(&self) -> Arc<[Arc<str>]> {
        Arc::clone(&self.in_order)
    }

    /// The index of `name`.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let found = self.index_of.get(name).or_else(|| self.index_of.get(&*normalized(name)));
        found.copied()
    }
}
