//! What is found once, or why it cannot be.

use std::sync::OnceLock;

use crate::error::{Error, Result};

/// What is found on first use and then kept. There are several of these in every data set, and an
/// error is many times as large as most of what they hold: so it is boxed.
pub(super) struct Once<T>(OnceLock<std::result::Result<T, Box<Error>>>);

impl<T> Once<T> {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// What `find` finds, which is asked once.
    pub(super) fn get_or_find(&self, find: impl FnOnce() -> Result<T>) -> Result<&T> {
        let found = self.0.get_or_init(|| find().map_err(Box::new));
        found.as_ref().map_err(|error| Error::clone(error))
    }

    /// What was found before.
    pub(super) fn found(&self) -> Option<&T> {
        self.0.get()?.as_ref().ok()
    }
}
