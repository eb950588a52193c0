//! Moving values that were committed, so that they are there whenever the writer is killed.
//!
//! ```text
//! 1  | old header | a | b | records |                  | a' | b' | new | records' |   image
//! 2  | far header | . . . . . . . . |                  | a' | b' | new | records' |   switch
//! 3  | far header | . | a' | b' | new | records' | . . | a' | b' | new | records' |   copy
//! 4  | new header | . | a' | b' | new | records' |                                    switch
//! ```
//! From where the first value changes its place, the new layout is written behind the file as an
//! image of itself, and put into use there. Then it is copied to its place, which nothing refers
//! to any more, and put into use a second time. After each step the file is a whole one for every
//! reader. Where CDF-1 cannot say addresses that far, step 2 falls away: the copy then is part of
//! the record of step 4.

use std::mem::MaybeUninit;

use isotach_format::classic::{Header, Moved, Redo, Version};

use super::behind::Behind;
use super::place::Place;
use super::target::Target;
use super::{LayoutError, end_of};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that are read at a time.
const WINDOW_BYTES: u64 = 4 << 20;
/// Bytes that are copied at a time.
const PART_BYTES: u64 = 1 << 20;

/// Whether values have to move, or to make room, before the new places can be used.
pub(super) fn is_needed(
    old: &[Place],
    new: &[Place],
    sources: &[Option<usize>],
    record_count: u64,
) -> bool {
    let used: Vec<_> = old.iter().map(|place| (place.begin, place.end(record_count))).collect();
    new.iter().zip(sources).any(|(place, source)| match source.and_then(|source| old.get(source)) {
        Some(before) if before.len(record_count) > 0 => moves(before, place),
        _ => {
            let end = if place.record_size.is_some() { u64::MAX } else { place.end(0) };
            used.iter().any(|&(begin, used_end)| begin < end && place.begin < used_end)
        }
    })
}

fn moves(before: &Place, now: &Place) -> bool {
    (before.begin, before.record_size, before.padding) != (now.begin, now.record_size, now.padding)
}

/// What stands at the place of a variable when its values were brought there.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// What stood at the place before.
    Moved(&'a Place),
    /// Fill values.
    Filled,
    /// What the file has there, whatever that was: so libnetcdf leaves variables that are not filled.
    Nothing,
}

/// Brings the values from their origins to the new places, and has [`Target::finish`] commit `header`.
pub(super) fn relocate(
    target: &Target,
    header: &Header,
    new: &[Place],
    origins: &[Origin<'_>],
    record_count: u64,
) -> Result<()> {
    let is_changed = |&index: &usize| match origins[index] {
        Origin::Moved(before) => moves(before, &new[index]),
        Origin::Filled | Origin::Nothing => true,
    };
    let changed = (0..new.len()).filter(is_changed);
    let end = end_of(header, new, record_count);
    let low = changed.map(|index| new[index].begin).min().unwrap_or(end).min(end);
    let image = target.len()?.max(end).next_multiple_of(4);
    target.check_len(image.saturating_add(end - low))?;
    let old_len = target.len()?;
    let written = write_image(target, new, origins, record_count, (low, image));
    let image_end = end + (image - low);
    if let Err(error) = written.and_then(|()| target.set_len(image_end)) {
        // Nothing refers to it: where the disk is full, its space is needed. The first error is told.
        let _ = target.set_len(old_len);
        return Err(error);
    }
    let last = encoded(target, header)?;
    if let Some(far) = far_header(header, low, image - low) {
        let header = encoded(target, &far)?;
        target.switch_next(Redo { header, moved: Moved::default(), file_len: image_end });
    }
    let moved = Moved { from: image, to: low, length_bytes: end - low };
    target.switch_next(Redo { header: last, moved, file_len: end });
    Ok(())
}

/// Writes all that is to stand from the address `low` on as if that were `image`.
fn write_image(
    target: &Target,
    new: &[Place],
    origins: &[Origin<'_>],
    record_count: u64,
    (low, image): (u64, u64),
) -> Result<()> {
    let mut copier = Copier::new(target, image - low)?;
    let mut fixed: Vec<usize> = (0..new.len()).filter(|&index| new[index].begin >= low).collect();
    fixed.sort_by_key(|&index| new[index].begin);
    let (records, fixed): (Vec<usize>, Vec<usize>) =
        fixed.into_iter().partition(|&index| new[index].record_size.is_some());
    for index in fixed {
        copier.bring(origins[index], &new[index], 0)?;
    }
    for record in 0..record_count {
        for &index in &records {
            copier.bring(origins[index], &new[index], record)?;
        }
    }
    copier.behind.flush(target)
}

/// The header for the image. `None` where the version cannot say its addresses.
pub(super) fn far_header(header: &Header, low: u64, distance: u64) -> Option<Header> {
    let limit = if header.version == Version::Cdf1 { i32::MAX as u64 } else { i64::MAX as u64 };
    let mut far = header.clone();
    for variable in far.variables.iter_mut().filter(|variable| variable.begin >= low) {
        variable.begin = variable.begin.checked_add(distance).filter(|begin| *begin <= limit)?;
    }
    Some(far)
}

fn encoded(target: &Target, header: &Header) -> Result<Vec<u8>> {
    header
        .encode()
        .map_err(|fault| Error::new(&target.file, ErrorKind::Format(LayoutError::Header(fault))))
}

/// Writes the image.
struct Copier<'a> {
    target: &'a Target,
    /// Of the file before there was an image.
    old_len: u64,
    distance: u64,
    behind: Behind,
    window: Vec<u8>,
    window_begin: u64,
}

impl<'a> Copier<'a> {
    fn new(target: &'a Target, distance: u64) -> Result<Self> {
        let (window, window_begin) = (Vec::new(), 0);
        let old_len = target.len()?;
        let behind = Behind::default();
        Ok(Self { target, old_len, distance, behind, window, window_begin })
    }

    /// Writes a fixed variable, or a record of a variable, with its padding.
    fn bring(&mut self, origin: Origin<'_>, now: &Place, record: u64) -> Result<()> {
        let before = match origin {
            Origin::Moved(before) => before,
            Origin::Nothing => now,
            Origin::Filled => {
                let range = record * now.dense..(record + 1) * now.dense;
                let (target, distance) = (self.target, self.distance);
                return now.fill(&range, |at, bytes| self.behind.put(target, at + distance, bytes));
            }
        };
        let from = before.begin + record * before.record_size.unwrap_or(0);
        let to = now.begin + record * now.record_size.unwrap_or(0) + self.distance;
        let length = match origin {
            Origin::Nothing => (now.dense + now.padding).min(self.old_len.saturating_sub(from)),
            _ => now.dense + now.padding,
        };
        for done in (0..length).step_by(PART_BYTES as usize) {
            let part = (length - done).min(PART_BYTES);
            let at = self.fetch(from + done, part)?;
            self.behind.put(self.target, to + done, &self.window[at..at + part as usize])?;
        }
        Ok(())
    }

    /// Has the window hold the bytes at `address`; returns where in it they are.
    fn fetch(&mut self, address: u64, length: u64) -> Result<usize> {
        let window_end = self.window_begin + self.window.len() as u64;
        if address < self.window_begin || address + length > window_end {
            let there = self.target.len()?.saturating_sub(address);
            let room = there.clamp(length, WINDOW_BYTES.max(length)) as usize;
            let mut memory = vec![MaybeUninit::uninit(); room];
            self.window.clear();
            self.window.extend_from_slice(self.target.read_with_zeros(address, &mut memory)?);
            self.window_begin = address;
        }
        Ok((address - self.window_begin) as usize)
    }
}
