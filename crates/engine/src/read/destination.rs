//! Room for unsafe code: the caller's memory, written by several threads at once.
//!
//! The contract:
//! - A [`Destination`] stands for one `&mut [MaybeUninit<u8>]`: nobody else has access to it.
//! - Each byte is written by one task only: the plan gives every result to one task.
//! - Only whole writes are counted ([`Destination::wrote`]). When as many bytes are counted as
//!   there are, and each byte was counted once, all of them are initialised.
//! - A second pass over initialised memory ([`Destination::again`]) is of the task that made the
//!   first, and begins when that has ended.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory that a request fills.
pub(crate) struct Destination<'d> {
    start: *mut MaybeUninit<u8>,
    len: usize,
    written: AtomicUsize,
    memory: PhantomData<&'d mut [MaybeUninit<u8>]>,
}

// SAFETY: it stands for a `&mut` slice of bytes, which may be sent; the methods that hand out parts
// of it demand that the parts are disjoint.
unsafe impl Send for Destination<'_> {}
// SAFETY: as above; the counter is atomic.
unsafe impl Sync for Destination<'_> {}

impl<'d> Destination<'d> {
    /// The destination `memory`, of which nothing is written.
    pub(crate) fn new(memory: &'d mut [MaybeUninit<u8>]) -> Self {
        Self {
            start: memory.as_mut_ptr(),
            len: memory.len(),
            written: AtomicUsize::new(0),
            memory: PhantomData,
        }
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Lets `write` fill the bytes `offset .. offset + len`, which the plan gave to this task
    /// alone, and counts them; `write` gives them back, written.
    ///
    /// # Panics
    /// If they are not within the destination, or other memory comes back.
    pub(crate) fn write<E>(
        &self,
        offset: usize,
        len: usize,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<&mut [u8], E>,
    ) -> Result<(), E> {
        assert!(offset <= self.len && len <= self.len - offset, "beyond the destination");
        // SAFETY: within the memory by the line above; exclusive by the plan.
        let part = unsafe { std::slice::from_raw_parts_mut(self.start.add(offset), len) };
        let start = part.as_ptr().cast::<u8>();
        let written = write(part)?;
        assert!(written.as_ptr() == start && written.len() == len, "other memory came back");
        self.wrote(len);
        Ok(())
    }

    /// The address of the byte at `offset`, from which the caller writes no more than is there.
    pub(crate) fn address(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.len, "beyond the destination");
        // SAFETY: within the memory, or one past its end, by the line above.
        unsafe { self.start.add(offset).cast() }
    }

    /// Counts `len` bytes that were written for the first time.
    pub(crate) fn wrote(&self, len: usize) {
        self.written.fetch_add(len, Ordering::Relaxed);
    }

    /// True where every byte was written.
    pub(crate) fn is_complete(&self) -> bool {
        self.written.load(Ordering::Acquire) == self.len
    }

    /// The same memory, for a later pass over what this task has written already.
    pub(crate) fn again(&self) -> Destination<'_> {
        Destination {
            start: self.start,
            len: self.len,
            written: AtomicUsize::new(0),
            memory: PhantomData,
        }
    }

    /// The same memory, of which nothing counts as written: what was read into it was not what is there now. All
    /// tasks have ended.
    pub(crate) fn anew(mut self) -> Self {
        *self.written.get_mut() = 0;
        self
    }

    /// All bytes, when all are written.
    pub(crate) fn into_written(self) -> Option<&'d mut [u8]> {
        let complete = self.is_complete();
        // SAFETY: every byte was counted once, so every one is initialised; `self` ends here.
        complete.then(|| unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len) })
    }
}
