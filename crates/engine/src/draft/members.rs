//! What a group has of one kind, by name.

use std::ops::Deref;
use std::sync::Arc;

use indexmap::IndexMap;

/// Names and what they stand for, in the order of definition.
pub(crate) struct Members<Id> {
    by_name: IndexMap<Arc<str>, Id>,
    /// Counts what was put in, renamed and taken out.
    revision: u64,
}

impl<Id> Default for Members<Id> {
    fn default() -> Self {
        Self { by_name: IndexMap::new(), revision: 0 }
    }
}

impl<Id> Members<Id> {
    /// Another number, the next one, after every change.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn insert(&mut self, name: Arc<str>, id: Id) {
        self.by_name.insert(name, id);
        self.revision += 1;
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.by_name.shift_remove(name);
        self.revision += 1;
    }

    /// The same place under another name.
    pub(super) fn rename(&mut self, from: &str, to: &Arc<str>) {
        let renamed = std::mem::take(&mut self.by_name).into_iter().map(|(name, id)| {
            let name = if &*name == from { Arc::clone(to) } else { name };
            (name, id)
        });
        self.by_name = renamed.collect();
        self.revision += 1;
    }
}

impl<Id> Deref for Members<Id> {
    type Target = IndexMap<Arc<str>, Id>;

    fn deref(&self) -> &Self::Target {
        &self.by_name
    }
}

impl<'m, Id> IntoIterator for &'m Members<Id> {
    type Item = (&'m Arc<str>, &'m Id);
    type IntoIter = indexmap::map::Iter<'m, Arc<str>, Id>;

    fn into_iter(self) -> Self::IntoIter {
        self.by_name.iter()
    }
}
