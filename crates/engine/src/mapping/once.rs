//! What is found once, or why the file does not have it.

use crate::error::{Error, Result};
use crate::sync::OnceLock;

/// What is found on first use and then kept; an error is kept where it is the file's own fault. That storage
/// failed is never kept: the next who asks looks again.
///
/// There are several of these in every data set, and an error is many times as large as most of what they
/// hold: so it is boxed.
pub(super) struct Once<T> {
    found: OnceLock<std::result::Result<T, Box<Error>>>,
}

impl<T> Once<T> {
    pub(super) const fn new() -> Self {
        Self { found: OnceLock::new() }
    }

    /// What `find` finds, which is asked once, and again after storage failed.
    pub(super) fn get_or_find(&self, find: impl FnOnce() -> Result<T>) -> Result<&T> {
        let found = self.found.get_or_try_init(|| match find() {
            Err(error) if !error.is_of_the_file() => Err(error),
            found => Ok(found.map_err(Box::new)),
        })?;
        found.as_ref().map_err(|error| Error::clone(error))
    }

    /// What was found before.
    pub(super) fn found(&self) -> Option<&T> {
        self.found.get()?.as_ref().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::storage::{past_end, storage_error};

    #[test]
    fn a_storage_that_fails_is_asked_again_and_a_damaged_file_is_not() {
        let error = |source| Err(storage_error(&Arc::from("file"), 0, 1, source));
        let once = Once::<u8>::new();
        assert!(once.get_or_find(|| error(io::Error::from_raw_os_error(libc::EIO))).is_err());
        assert_eq!(once.get_or_find(|| Ok(7)).ok(), Some(&7));
        assert_eq!(once.get_or_find(|| error(past_end())).ok(), Some(&7));
        let once = Once::<u8>::new();
        assert!(once.get_or_find(|| error(past_end())).is_err());
        assert!(once.get_or_find(|| Ok(7)).is_err());
    }
}
