//! Room for unsafe code: memory that filters write before anybody reads it.
//!
//! Filters stand between a stored chunk and the user's array. Zeroing the array first would touch
//! every page twice, so filters write to an [`Output`]: a bounded run of uninitialised bytes of
//! which a growing prefix has been written.
//!
//! The contract:
//! - `buffer[..len]` is initialised, always; only this file moves `len`.
//! - Bytes behind `len` are only ever written, never read.
//! - `len <= buffer.len()`, and `buffer.len()` is the most that a filter may decode: there is no
//!   way to grow it, so a decompression bomb ends in [`ErrorKind::Length`].

use std::mem::MaybeUninit;

use crate::error::ErrorKind;

/// A bounded run of bytes that is filled from the front.
pub(crate) struct Output<'a> {
    buffer: &'a mut [MaybeUninit<u8>],
    len: usize,
}

impl<'a> Output<'a> {
    /// An empty output over `buffer`, which may hold anything.
    pub(crate) fn new(buffer: &'a mut [MaybeUninit<u8>]) -> Self {
        Self { buffer, len: 0 }
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The most bytes that can be written in all.
    pub(crate) fn limit(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes that can still be written.
    pub(crate) fn remaining(&self) -> usize {
        self.buffer.len() - self.len
    }

    /// The error of a filter that has more bytes than [`Self::limit`].
    pub(crate) fn overflow(&self) -> ErrorKind {
        ErrorKind::Length {
            expected_bytes: self.limit(),
            decoded_bytes: self.limit().saturating_add(1),
        }
    }

    /// The error of a chunk that says beforehand that it has `len` bytes, more than there may be.
    pub(crate) fn too_long(&self, len: u64) -> ErrorKind {
        let decoded_bytes = usize::try_from(len).unwrap_or(usize::MAX);
        ErrorKind::Length { expected_bytes: self.limit(), decoded_bytes }
    }

    /// Appends `bytes`.
    pub(crate) fn extend(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        let overflow = self.overflow();
        let place = self.buffer[self.len..].get_mut(..bytes.len()).ok_or(overflow)?;
        place.copy_from_slice(as_uninit(bytes));
        self.len += bytes.len();
        Ok(())
    }

    /// Appends `bytes`, for which there is room.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.buffer[self.len..][..bytes.len()].copy_from_slice(as_uninit(bytes));
        self.len += bytes.len();
    }

    /// Appends the first `count` of eight bytes; the others may be written behind them. So bits are
    /// written without a look at how many they are.
    ///
    /// # Panics
    /// If there is no room for all eight.
    #[inline(always)]
    pub(crate) fn put_first(&mut self, bytes: [u8; 8], count: usize) {
        assert!(count <= bytes.len());
        self.buffer[self.len..][..bytes.len()].copy_from_slice(as_uninit(&bytes));
        self.len += count;
    }

    /// Appends the first `count` of four bytes, and may write all of them; false where there is no room
    /// for all.
    #[inline(always)]
    pub(crate) fn put_some(&mut self, bytes: [u8; 4], count: usize) -> bool {
        let Some(place) = self.rest().first_chunk_mut() else { return false };
        *place = bytes.map(MaybeUninit::new);
        self.len += count.min(bytes.len());
        true
    }

    /// Appends a byte; false where there is no room for it.
    #[inline(always)]
    pub(crate) fn put_one(&mut self, byte: u8) -> bool {
        let Some(place) = self.rest().first_mut() else { return false };
        place.write(byte);
        self.len += 1;
        true
    }

    /// What is not written yet.
    #[inline(always)]
    fn rest(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: `len <= buffer.len()`, by the contract.
        unsafe { self.buffer.get_unchecked_mut(self.len..) }
    }

    /// Appends `count` bytes that stand `distance` bytes back, which may overlap what they give:
    /// a distance of 1 repeats the last byte. False where there are no such bytes.
    pub(crate) fn repeat_from_back(
        &mut self,
        distance: usize,
        count: usize,
    ) -> Result<bool, ErrorKind> {
        if count > self.remaining() {
            return Err(self.overflow());
        }
        Ok(self.repeat(distance, count))
    }

    /// [`Self::repeat_from_back`] that says false where there is no room, too.
    #[inline(always)]
    pub(crate) fn repeat(&mut self, distance: usize, count: usize) -> bool {
        let room = count.saturating_add(REPEAT_SLACK);
        if !self.is_far(distance, STEP.min(count)) || self.remaining() < room {
            return self.repeat_near(distance, count);
        }
        // SAFETY: `0 < distance <= len`, so what is read is of the buffer; what is written begins before
        // `count`, or is one of the first steps, or follows another step, so it ends within `room`. The
        // `count` bytes are initialised: each is read where bytes were, or where a step before wrote.
        unsafe {
            let mut to = self.buffer.as_mut_ptr().add(self.len);
            let end = to.add(count);
            if distance >= FIRST_STEPS * STEP {
                copy_steps::<FIRST_STEPS>(to.sub(distance), to);
                to = to.add(FIRST_STEPS * STEP);
            }
            while to < end {
                copy_steps::<1>(to.sub(distance), to);
                to = to.add(STEP);
                copy_steps::<1>(to.sub(distance), to);
                to = to.add(STEP);
            }
        }
        self.len += count;
        true
    }

    /// [`Self::repeat`], of few bytes.
    #[inline(always)]
    pub(crate) fn repeat_short(&mut self, distance: usize, count: usize) -> bool {
        if !self.is_far(distance, count) || self.remaining() < STEP || count > STEP {
            return self.repeat_near(distance, count);
        }
        // SAFETY: `count <= distance <= len`, so `count` bytes are read that are there; there is room for
        // the whole step.
        unsafe {
            let to = self.buffer.as_mut_ptr().add(self.len);
            copy_steps::<1>(to.sub(distance), to);
        }
        self.len += count;
        true
    }

    /// Whether `count` bytes stand `distance` bytes back.
    #[inline(always)]
    fn is_far(&self, distance: usize, count: usize) -> bool {
        0 < distance && count <= distance && distance <= self.len
    }

    /// [`Self::repeat`] of what is near, or where there is little room.
    #[inline(always)]
    fn repeat_near(&mut self, distance: usize, count: usize) -> bool {
        let last = self.written().last_chunk().copied();
        let room = self.remaining() >= count.saturating_add(STEP);
        let done = match last {
            Some(last) if distance < STEP && room => {
                repeat_last(self.rest(), u128::from_le_bytes(last), distance, count)
            }
            _ => repeat_bytes(self.buffer, self.len, distance, count),
        };
        self.len += if done { count } else { 0 };
        done
    }

    /// Appends `count` zeros and gives them, for a library that wants initialised memory.
    pub(crate) fn extend_zeroed(&mut self, count: usize) -> Result<&mut [u8], ErrorKind> {
        let overflow = self.overflow();
        let place = self.buffer[self.len..].get_mut(..count).ok_or(overflow)?;
        place.fill(MaybeUninit::new(0));
        self.len += count;
        // SAFETY: the line above wrote every byte of `place`.
        Ok(unsafe { assume_written(place) })
    }

    /// Lets `write` fill `count` bytes in place; it gives back the place it was given, initialised.
    ///
    /// # Panics
    /// If `write` gives back another slice: then nothing says what is in the place.
    pub(crate) fn extend_with(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> &mut [u8],
    ) -> Result<(), ErrorKind> {
        self.extend_if(count, |place| Some(write(place))).map(|_| ())
    }

    /// As [`Self::extend_with`]; nothing is appended, and it says false, where `write` gives nothing back.
    pub(crate) fn extend_if(
        &mut self,
        count: usize,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Option<&mut [u8]>,
    ) -> Result<bool, ErrorKind> {
        let overflow = self.overflow();
        let place = self.buffer[self.len..].get_mut(..count).ok_or(overflow)?;
        let start = place.as_ptr().cast::<u8>();
        let Some(written) = write(place) else { return Ok(false) };
        assert!(written.as_ptr() == start && written.len() == count, "not the place given");
        self.len += count;
        Ok(true)
    }

    /// Lets `write` fill as much of the remaining bytes as it has; it returns their count.
    ///
    /// # Safety
    /// The first `n` bytes of the slice are initialised when `write` returns `Ok(n)`.
    pub(crate) unsafe fn extend_up_to<E>(
        &mut self,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let place = &mut self.buffer[self.len..];
        let room = place.len();
        let count = write(place)?;
        assert!(count <= room, "a writer claims more bytes than it was given");
        self.len += count;
        Ok(count)
    }

    /// Lets `write` fill an output of its own with what comes next.
    ///
    /// # Panics
    /// If `write` leaves another output behind: then nothing says what is in the place.
    pub(crate) fn extend_by<T>(&mut self, write: impl FnOnce(&mut Output<'_>) -> T) -> T {
        let mut rest = Output::new(self.rest());
        let start = rest.buffer.as_ptr();
        let outcome = write(&mut rest);
        assert!(rest.buffer.as_ptr() == start, "not the place given");
        let written = rest.len;
        self.len += written;
        outcome
    }

    /// This output, in place of which an empty one is left.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Output::new(&mut []))
    }

    /// The bytes written.
    pub(crate) fn written(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, by the contract.
        unsafe { &*(&raw const self.buffer[..self.len] as *const [u8]) }
    }

    /// [`Self::written`], for as long as the buffer lives.
    pub(crate) fn into_written(self) -> &'a mut [u8] {
        // SAFETY: the first `len` bytes are initialised, by the contract.
        unsafe { assume_written(&mut self.buffer[..self.len]) }
    }
}

// SAFETY: the pointer and capacity are those of the whole buffer, and `as_slice` gives the prefix
// that has been written. zstd overwrites from the front, so this serves outputs still empty.
unsafe impl zstd_safe::WriteBuf for Output<'_> {
    fn as_slice(&self) -> &[u8] {
        self.written()
    }

    fn capacity(&self) -> usize {
        self.buffer.len()
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.buffer.as_mut_ptr().cast()
    }

    unsafe fn filled_until(&mut self, n: usize) {
        assert!(n <= self.buffer.len(), "a writer claims more bytes than it was given");
        self.len = n;
    }
}

/// Bytes that are copied at a time.
const STEP: usize = 16;
/// Steps that are taken at once: no processor foresees how long a repetition is.
const FIRST_STEPS: usize = 3;
/// Bytes behind a repetition that may be written.
const REPEAT_SLACK: usize = FIRST_STEPS * STEP;

/// Copies `N` steps, all read before any is written.
///
/// # Safety
/// Both places are in one buffer that this thread may write, with so many bytes behind each.
#[inline(always)]
unsafe fn copy_steps<const N: usize>(from: *const MaybeUninit<u8>, to: *mut MaybeUninit<u8>) {
    // SAFETY: the caller vouches for the places; an array of bytes may stand anywhere.
    unsafe {
        let bytes = from.cast::<[[MaybeUninit<u8>; STEP]; N]>().read();
        to.cast::<[[MaybeUninit<u8>; STEP]; N]>().write(bytes);
    }
}

/// Writes `count` bytes to the front of `place`, and up to a step more, that repeat the end of `last`,
/// which stands before it. False where `distance` is 0.
#[inline(never)]
fn repeat_last(place: &mut [MaybeUninit<u8>], last: u128, distance: usize, count: usize) -> bool {
    if distance == 0 {
        return false;
    }
    let period = last >> (8 * (STEP - distance));
    let Periods { factor, whole } = PERIODS[distance];
    let periods = period.wrapping_mul(factor).to_le_bytes();
    let mut at = 0;
    while at < count {
        place[at..][..STEP].copy_from_slice(as_uninit(&periods));
        at += whole;
    }
    true
}

/// How periods of so many bytes fill a step.
#[derive(Clone, Copy)]
struct Periods {
    /// What repeats a number of a period's bytes up to the end of the step.
    factor: u128,
    /// The bytes of whole periods.
    whole: usize,
}

const PERIODS: [Periods; STEP] = {
    let mut all = [Periods { factor: 0, whole: 0 }; STEP];
    let mut period = 1;
    while period < STEP {
        let mut at = 0;
        while at < STEP {
            all[period].factor |= 1 << (8 * at);
            at += period;
        }
        all[period].whole = STEP - STEP % period;
        period += 1;
    }
    all
};

/// Writes `count` bytes to `buffer[len..]` that repeat those `distance` bytes before, one after the
/// other. False where there are no such bytes, or no room.
#[inline(never)]
fn repeat_bytes(buffer: &mut [MaybeUninit<u8>], len: usize, distance: usize, count: usize) -> bool {
    if distance == 0 || distance > len || count > buffer.len() - len {
        return false;
    }
    for at in len..len + count {
        buffer[at] = buffer[at - distance];
    }
    true
}

/// Empties `vec` and makes room for `limit` bytes.
pub(crate) fn reserve(vec: &mut Vec<u8>, limit: usize) -> Result<(), ErrorKind> {
    vec.clear();
    vec.try_reserve_exact(limit).map_err(|_| ErrorKind::OutOfMemory { wanted_bytes: limit })
}

/// Empties `vec`, lets `write` fill at most `limit` bytes of it, and keeps what was written.
///
/// On error `vec` is left empty.
pub(crate) fn fill_vec(
    vec: &mut Vec<u8>,
    limit: usize,
    write: impl FnOnce(&mut Output<'_>) -> Result<(), ErrorKind>,
) -> Result<(), ErrorKind> {
    reserve(vec, limit)?;
    fill_reserved(vec, limit, write)
}

/// [`fill_vec`] for a vector in which there is room.
pub(crate) fn fill_reserved<E>(
    vec: &mut Vec<u8>,
    limit: usize,
    write: impl FnOnce(&mut Output<'_>) -> Result<(), E>,
) -> Result<(), E> {
    vec.clear();
    let mut output = Output::new(&mut vec.spare_capacity_mut()[..limit]);
    write(&mut output)?;
    let len = output.len();
    // SAFETY: the output began at the start of the vector's memory and wrote its first `len` bytes.
    unsafe { vec.set_len(len) };
    Ok(())
}

/// `bytes`, for copying to where there may be none yet.
fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    // SAFETY: the types have the same layout, and what is initialised may count as uninitialised
    // while nobody can write to it.
    unsafe { &*(std::ptr::from_ref(bytes) as *const [MaybeUninit<u8>]) }
}

/// `place` as the bytes that it is.
///
/// # Safety
/// Every byte of `place` has been written.
pub(crate) unsafe fn assume_written(place: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: the types have the same layout, and the caller vouches for the bytes.
    unsafe { &mut *(std::ptr::from_mut(place) as *mut [u8]) }
}
