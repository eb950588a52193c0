//! Bytes that are in memory already.

use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

use super::{Storage, past_end};

/// A file's bytes in memory: whatever holds them (`Vec<u8>`, `Arc<[u8]>`, a memory map, ...).
#[derive(Debug, Clone)]
pub struct Memory<B = Arc<[u8]>> {
    bytes: B,
}

impl<B: AsRef<[u8]> + Send + Sync> Memory<B> {
    /// A storage of `bytes`.
    pub fn new(bytes: B) -> Self {
        Self { bytes }
    }
}

impl<B: AsRef<[u8]> + Send + Sync> Storage for Memory<B> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.as_ref().len() as u64)
    }

    fn read_at<'into>(
        &self,
        offset: u64,
        into: &'into mut [MaybeUninit<u8>],
    ) -> io::Result<&'into mut [u8]> {
        let from = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.bytes.as_ref().get(offset..)?.get(..into.len()))
            .ok_or_else(past_end)?;
        Ok(into.write_copy_of_slice(from))
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(self.bytes.as_ref())
    }

    fn call_cost_bytes(&self) -> u64 {
        64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_over_the_end_is_an_error() {
        let memory = Memory::new(vec![1, 2, 3]);
        let mut into = [MaybeUninit::uninit(); 2];
        assert_eq!(memory.read_at(1, &mut into).unwrap(), [2, 3]);
        for offset in [2, 3, 4, u64::MAX] {
            let error = memory.read_at(offset, &mut into).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
