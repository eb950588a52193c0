//! Room for unsafe code: memory that storage fills before anybody reads it.
//!
//! The contract:
//! - Memory counts as initialised only where a `&mut [u8]` to that very memory came back from
//!   whoever filled it: a safe implementation cannot make one without writing every byte.
//! - A reader that gives other memory back, or less of it, ends in an error.

use std::io;
use std::mem::MaybeUninit;

use super::{Storage, is_past_end, past_end, short_read};

/// Fills `into` by calling `read` with what is left of it and how much was read before, until it
/// is full. `read` gives back what it filled, from the front; nothing means the end.
#[inline]
pub(crate) fn fill<'into>(
    into: &'into mut [MaybeUninit<u8>],
    mut read: impl for<'r> FnMut(u64, &'r mut [MaybeUninit<u8>]) -> io::Result<&'r mut [u8]>,
) -> io::Result<&'into mut [u8]> {
    let mut done = 0;
    while done < into.len() {
        let rest = &mut into[done..];
        let (start, room) = (rest.as_ptr().cast::<u8>(), rest.len());
        let filled = match read(done as u64, rest) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled?,
        };
        if filled.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if filled.as_ptr() != start || filled.len() > room {
            return Err(other_memory());
        }
        done += filled.len();
    }
    // SAFETY: each round gave back initialised memory that begins where the last one ended.
    Ok(unsafe { into.assume_init_mut() })
}

/// [`Storage::read_at`], not trusting that what comes back is `into`. Where it ends early, the storage's length
/// tells whether it has no more bytes or has failed to give them.
pub(crate) fn read_at<'into>(
    storage: &dyn Storage,
    offset: u64,
    into: &'into mut [MaybeUninit<u8>],
) -> io::Result<&'into mut [u8]> {
    let (start, room) = (into.as_ptr().cast::<u8>(), into.len());
    let filled =
        storage.read_at(offset, into).map_err(|error| early_end(storage, offset, room, error))?;
    if filled.as_ptr() == start && filled.len() == room { Ok(filled) } else { Err(other_memory()) }
}

/// What the `error` of a read of `wanted` bytes is, where it says that they end early.
#[cold]
fn early_end(storage: &dyn Storage, offset: u64, wanted: usize, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::UnexpectedEof || is_past_end(&error) {
        return error;
    }
    match storage.len() {
        Ok(len) if offset.checked_add(wanted as u64).is_some_and(|end| end <= len) => short_read(),
        Ok(_) => past_end(),
        Err(failure) => failure,
    }
}

/// [`read_at`], with zeros for what lies beyond the end of the storage.
pub(crate) fn read_with_zeros<'into>(
    storage: &dyn Storage,
    offset: u64,
    into: &'into mut [MaybeUninit<u8>],
) -> io::Result<&'into mut [u8]> {
    match read_at(storage, offset, into).map(|_| ()) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            let there = storage.len()?.saturating_sub(offset);
            if there >= into.len() as u64 {
                return Err(error);
            }
            let (front, rest) = into.split_at_mut(there as usize);
            if !front.is_empty() {
                read_at(storage, offset, front)?;
            }
            zeroed(rest);
        }
        done => done?,
    }
    // SAFETY: either all of it came back initialised, or the front did and the rest is zeros.
    Ok(unsafe { into.assume_init_mut() })
}

/// Replaces what is in `bytes` with `len` bytes at `offset`; empty after an error.
pub(crate) fn read_vec(
    storage: &dyn Storage,
    offset: u64,
    len: usize,
    bytes: &mut Vec<u8>,
) -> io::Result<()> {
    bytes.clear();
    bytes.try_reserve_exact(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    read_at(storage, offset, &mut bytes.spare_capacity_mut()[..len])?;
    // SAFETY: `read_at` initialised the first `len` bytes of the vector's memory.
    unsafe { bytes.set_len(len) };
    Ok(())
}

/// Writes zeros to all of `memory`.
pub(crate) fn zeroed(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    // SAFETY: the line above wrote every byte.
    unsafe { memory.assume_init_mut() }
}

fn other_memory() -> io::Error {
    io::Error::other("a storage gave back other memory than it was given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filling_in_parts_gives_the_whole() {
        let mut memory = [MaybeUninit::uninit(); 10];
        let filled = fill(&mut memory, |done, rest| {
            let count = rest.len().min(3);
            rest[..count].fill(MaybeUninit::new(done as u8));
            // SAFETY: the line above wrote it.
            Ok(unsafe { rest[..count].assume_init_mut() })
        });
        assert_eq!(filled.unwrap(), [0, 0, 0, 3, 3, 3, 6, 6, 6, 9]);
    }

    #[test]
    fn other_memory_is_an_error() {
        struct Liar;
        impl Storage for Liar {
            fn len(&self) -> io::Result<u64> {
                Ok(100)
            }
            fn read_at<'into>(
                &self,
                _: u64,
                into: &'into mut [MaybeUninit<u8>],
            ) -> io::Result<&'into mut [u8]> {
                Ok(zeroed(&mut into[1..]))
            }
        }
        let mut bytes = vec![7];
        assert!(read_vec(&Liar, 0, 10, &mut bytes).is_err());
        assert!(bytes.is_empty());
    }
}
