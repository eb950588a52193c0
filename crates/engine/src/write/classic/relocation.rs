//! Moving values that were committed, so that they are there whenever the writer is killed.
//!
//! ```text
//! 1  | old header | a | b | records |                  | a' | b' | new | records' |   image
//! 2  | far header | . . . . . . . . |                  | a' | b' | new | records' |   switch
//! 3  | far header | . | a' | b' | new | records' | . . | a' | b' | new | records' |   copy
//! 4  | new header | . | a' | b' | new | records' |                                    switch
//! ```
//! From where the first value changes its place, the new layout is written behind the file as an
//! image of itself. What is written from then on goes there, where nobody looks before the commit. That puts the
//! image into use; then it is copied to its place, which nothing refers to any more, and put into use a second
//! time. After each step the file is a whole one for every reader. Where CDF-1 cannot say addresses that far,
//! step 2 falls away: the copy then is part of the record of step 4.

use std::mem::MaybeUninit;

use isotach_format::classic::{Header, Moved, Overwrite, Redo, Version};

use super::behind::Behind;
use super::place::Place;
use super::target::Target;
use super::{LayoutError, end_of};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that are read at a time.
const WINDOW_BYTES: u64 = 4 << 20;
/// Bytes that are copied at a time.
const PART_BYTES: u64 = 1 << 20;

/// Whether values have to move, or to make room, before the new places can be used. Those of variables that were
/// deleted since the last commit need their places still, and its header, which may have been longer: these are
/// `committed`.
pub(super) fn is_needed(
    committed: (&Header, &[Place]),
    old: &[Place],
    new: &[Place],
    sources: &[Option<usize>],
    record_count: u64,
) -> bool {
    let (header, committed) = committed;
    let used = old.iter().chain(committed).map(|place| (place.begin, place.end(record_count)));
    let used: Vec<_> = used.chain([(0, header.size_bytes)]).collect();
    new.iter().zip(sources).any(|(place, source)| match source.and_then(|source| old.get(source)) {
        Some(before) if before.len(record_count) > 0 => moves(before, place),
        _ => {
            let end = if place.record_size.is_some() { u64::MAX } else { place.end(0) };
            used.iter().any(|&(begin, used_end)| begin < end && place.begin < used_end)
        }
    })
}

fn moves(before: &Place, now: &Place) -> bool {
    !before.is_at(now)
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

/// Where the image of a layout is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Image {
    /// The layout's first address that is in the image.
    low: u64,
    /// From each address of the layout to that in the image.
    distance: u64,
}

impl Image {
    /// A header that leads to the image. A format may be unable to say such addresses.
    pub(super) fn header(self, header: &Header) -> Header {
        let mut far = header.clone();
        for variable in far.variables.iter_mut().filter(|variable| variable.begin >= self.low) {
            variable.begin = variable.begin.saturating_add(self.distance);
        }
        far
    }

    /// Whether the value at this address of the layout is in the image.
    pub(super) fn has(self, address: u64) -> bool {
        address >= self.low
    }

    /// The places in the image.
    pub(super) fn places(self, mut places: Vec<Place>) -> Vec<Place> {
        for place in places.iter_mut().filter(|place| place.begin >= self.low) {
            place.begin = place.begin.saturating_add(self.distance);
        }
        places
    }

    /// The places in the layout of those in the image.
    pub(super) fn places_of_layout(self, mut places: Vec<Place>) -> Vec<Place> {
        let begin = self.low.saturating_add(self.distance);
        for place in places.iter_mut().filter(|place| place.begin >= begin) {
            place.begin -= self.distance;
        }
        places
    }
}

/// Where the values of the present layout are, if they are not at their places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Present {
    pub(super) image: Image,
    /// The layout's end.
    pub(super) end: u64,
    /// Before this, there are the values of the last commit.
    pub(super) committed_end: u64,
}

impl Present {
    /// Where an image of so many bytes can be, of a layout that ends at `end`: before the present one, if there is
    /// room, so that definitions without a commit between them do not make the file longer and longer.
    fn begin_of_next(self, end: u64, length_bytes: u64) -> u64 {
        let Image { low, distance } = self.image;
        let begin = self.committed_end.max(end).next_multiple_of(4);
        if begin.saturating_add(length_bytes) <= low + distance {
            return begin;
        }
        (self.end + distance).max(end).next_multiple_of(4)
    }

    /// Where the byte at an address of the layout is, and how many of `length` are there; `None` where none is.
    fn find(self, address: u64, length: u64) -> Option<(u64, u64)> {
        let Image { low, distance } = self.image;
        match address {
            _ if address >= self.end => None,
            _ if address < low => Some((address, length.min(low - address))),
            _ => Some((address + distance, length.min(self.end - address))),
        }
    }
}

/// Brings the values from their origins to an image of the new places.
pub(super) fn write_new(
    target: &Target,
    header: &Header,
    new: &[Place],
    origins: &[Origin<'_>],
    (record_count, present): (u64, Option<Present>),
) -> Result<Image> {
    let is_changed = |&index: &usize| match origins[index] {
        Origin::Moved(before) => moves(before, &new[index]),
        Origin::Filled | Origin::Nothing => true,
    };
    let changed = (0..new.len()).filter(is_changed);
    let end = end_of(header, new, record_count);
    let low = changed.map(|index| new[index].begin).min().unwrap_or(end).min(end);
    let behind_all = target.len()?.max(end).next_multiple_of(4);
    let image = present.map_or(behind_all, |present| present.begin_of_next(end, end - low));
    target.check_len(image.saturating_add(end - low))?;
    target.check_room(end - low)?;
    let old_len = target.len()?;
    let copier = Copier::new(target, image - low, image < old_len, present)?;
    let written = write_image(copier, new, origins, record_count, low);
    let image_end = end + (image - low);
    if let Err(error) = written.and_then(|()| target.set_len(image_end)) {
        // Nothing refers to it: where the disk is full, its space is needed. The first error is told.
        let _ = target.set_len(old_len);
        return Err(error);
    }
    Ok(Image { low, distance: image - low })
}

/// Has [`Target::finish`] commit `header`, whose values, up to `end`, stand in the image, and bring them to their
/// places.
/// `changes` are made with that.
pub(super) fn commit(
    target: &Target,
    header: &Header,
    image: Image,
    end: u64,
    mut changes: Vec<Overwrite>,
) -> Result<()> {
    let image = match image.low + image.distance {
        // Records have come since, and there are more than fit before the image.
        begin if begin < end => copied(target, image, end)?,
        _ => image,
    };
    let Image { low, distance } = image;
    target.set_len(end + distance)?;
    let last = encoded(target, header)?;
    if let Some(far) = far_header(header, low, distance) {
        let header = encoded(target, &far)?;
        let (changes, moved) = (std::mem::take(&mut changes), Moved::default());
        target.switch_next(Redo { header, changes, moved, file_len: end + distance });
    }
    let moved = Moved { from: low + distance, to: low, length_bytes: end - low };
    target.switch_next(Redo { header: last, changes, moved, file_len: end });
    Ok(())
}

/// A copy of the image behind it.
fn copied(target: &Target, image: Image, end: u64) -> Result<Image> {
    let (from, length) = (image.low + image.distance, end - image.low);
    let to = target.len()?.max(end + image.distance).next_multiple_of(4);
    target.check_len(to.saturating_add(length))?;
    target.check_room(length)?;
    let mut window = vec![MaybeUninit::uninit(); length.min(WINDOW_BYTES) as usize];
    for done in (0..length).step_by(WINDOW_BYTES as usize) {
        let part = (length - done).min(WINDOW_BYTES) as usize;
        let bytes = target.read_with_zeros(from + done, &mut window[..part])?;
        target.write(to + done, bytes)?;
    }
    Ok(Image { low: image.low, distance: to - image.low })
}

/// Writes all that is to stand from the address `low` on as if that were `image`.
fn write_image(
    mut copier: Copier<'_>,
    new: &[Place],
    origins: &[Origin<'_>],
    record_count: u64,
    low: u64,
) -> Result<()> {
    let mut fixed: Vec<usize> = (0..new.len()).filter(|&index| new[index].begin >= low).collect();
    fixed.sort_by_key(|&index| new[index].begin);
    let (records, fixed): (Vec<usize>, Vec<usize>) =
        fixed.into_iter().partition(|&index| new[index].record_size.is_some());
    // There may be any number of records that have no values.
    let records: Vec<usize> = records.into_iter().filter(|&index| new[index].dense > 0).collect();
    let record_count = if records.is_empty() { 0 } else { record_count };
    for index in fixed {
        copier.bring(origins[index], &new[index], 0)?;
    }
    for record in 0..record_count {
        for &index in &records {
            copier.bring(origins[index], &new[index], record)?;
        }
    }
    copier.behind.flush(copier.target)
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
    /// Whether other bytes may stand where the image is to be.
    is_used: bool,
    present: Option<Present>,
    behind: Behind,
    window: Vec<u8>,
    window_begin: u64,
}

impl<'a> Copier<'a> {
    fn new(
        target: &'a Target,
        distance: u64,
        is_used: bool,
        present: Option<Present>,
    ) -> Result<Self> {
        let (window, window_begin) = (Vec::new(), 0);
        let old_len = target.len()?;
        let behind = Behind::default();
        Ok(Self { target, old_len, distance, is_used, present, behind, window, window_begin })
    }

    /// Writes a fixed variable, or a record of a variable, with its padding.
    fn bring(&mut self, origin: Origin<'_>, now: &Place, record: u64) -> Result<()> {
        let before = match origin {
            Origin::Moved(before) => before,
            Origin::Nothing => return self.leave(now, record),
            Origin::Filled => {
                let range = record * now.dense..(record + 1) * now.dense;
                let (target, distance) = (self.target, self.distance);
                return now.fill(&range, |at, bytes| self.behind.put(target, at + distance, bytes));
            }
        };
        let from = before.begin + record * before.record_size.unwrap_or(0);
        let to = now.begin + record * now.record_size.unwrap_or(0) + self.distance;
        self.copy(from, to, now.dense + now.padding)
    }

    /// Has the image have what the present layout has at this place: zeros behind its end.
    fn leave(&mut self, now: &Place, record: u64) -> Result<()> {
        let mut at = now.begin + record * now.record_size.unwrap_or(0);
        let end = at + now.dense + now.padding;
        while at < end {
            let length = end - at;
            let found = match self.present {
                Some(present) => present.find(at, length),
                None => Some((at, length.min(self.old_len.saturating_sub(at)))),
            };
            let Some((from, there)) = found.filter(|&(_, there)| there > 0) else {
                return self.leave_zeros(at, end);
            };
            self.copy(from, at + self.distance, there)?;
            at += there;
        }
        Ok(())
    }

    fn leave_zeros(&mut self, begin: u64, end: u64) -> Result<()> {
        if !self.is_used {
            return Ok(());
        }
        let zeros = vec![0; (end - begin).min(PART_BYTES) as usize];
        for at in (begin..end).step_by(PART_BYTES as usize) {
            let part = (end - at).min(PART_BYTES) as usize;
            self.behind.put(self.target, at + self.distance, &zeros[..part])?;
        }
        Ok(())
    }

    fn copy(&mut self, from: u64, to: u64, length: u64) -> Result<()> {
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
