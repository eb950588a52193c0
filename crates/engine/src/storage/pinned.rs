//! A storage as long as somebody reads in it.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

use super::Storage;

/// The bytes of a storage, none of whose space is given to anybody else while this lives.
pub(crate) struct Pinned<P> {
    storage: Arc<dyn Storage>,
    _pin: P,
}

impl<P> Pinned<P> {
    pub(crate) fn new(storage: Arc<dyn Storage>, pin: P) -> Self {
        Self { storage, _pin: pin }
    }
}

impl<P: Send + Sync> Storage for Pinned<P> {
    fn len(&self) -> io::Result<u64> {
        self.storage.len()
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        self.storage.read_at(offset, into)
    }

    fn as_slice(&self) -> Option<&[u8]> {
        self.storage.as_slice()
    }

    fn call_cost_bytes(&self) -> u64 {
        self.storage.call_cost_bytes()
    }

    fn ensure_state(&self) -> io::Result<()> {
        self.storage.ensure_state()
    }

    fn ensure_values(&self) -> io::Result<()> {
        self.storage.ensure_values()
    }

    fn present(&self) -> io::Result<Option<Arc<dyn Storage>>> {
        self.storage.present()
    }

    fn has_writer(&self) -> bool {
        self.storage.has_writer()
    }

    fn parallel(&self) -> bool {
        self.storage.parallel()
    }
}
