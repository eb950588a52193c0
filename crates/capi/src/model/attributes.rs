//! The attributes of a group or variable by number and by name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isotach::Attribute;
use isotach::sync::OnceLock;

/// The attributes of a group or variable in netCDF's order.
pub(crate) struct AttributeList {
    all: Arc<[Attribute]>,
    /// Their numbers in the order of their names; made when somebody asks for a name.
    by_name: OnceLock<Box<[usize]>>,
    /// The one that was asked for last: whoever asked for its name comes back with that.
    last: AtomicUsize,
}

impl AttributeList {
    pub(crate) fn new(all: Arc<[Attribute]>) -> Self {
        Self { all, by_name: OnceLock::new(), last: AtomicUsize::new(0) }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The one of that number.
    pub(crate) fn at(&self, number: usize) -> Option<&Attribute> {
        self.last.store(number, Ordering::Relaxed);
        self.all.get(number)
    }

    /// The number of the one of that name.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        let name_of = |&number: &usize| self.all.get(number).map(Attribute::name);
        let last = self.last.load(Ordering::Relaxed);
        if name_of(&last) == Some(name) {
            return Some(last);
        }
        let by_name = self.by_name.get_or_init(|| {
            let mut numbers: Box<[usize]> = (0..self.all.len()).collect();
            numbers.sort_by_key(name_of);
            numbers
        });
        let place = by_name.binary_search_by_key(&Some(name), name_of).ok()?;
        by_name.get(place).copied()
    }
}
