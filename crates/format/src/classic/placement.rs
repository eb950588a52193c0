//! Where a writer puts each variable: the rules by which libnetcdf computes `begin` and `size`.
//!
//! ```text
//!          h_minfree     v_align                    v_minfree     r_align
//!             |             |                           |            |
//! +--------+-----+----------+---------+---------+-----+-----+--------+----------+----------
//! | header | gap | a (fixed) | b (fixed) | ...   | gap             | record 0 | record 1 ...
//! +--------+-----+----------+---------+---------+-----+-----+--------+----------+----------
//! ```
//! Variables stand in the order in which they were defined, fixed ones first; the part of each is
//! a multiple of 4 bytes long. What a header that was there before had reserved is kept: nothing
//! moves towards the front, so that a header that grows into its gap moves nothing at all.

use std::fmt;

use super::header::{Header, Variable, Version};
use super::record_layout::dense_size_bytes;

/// The space that is left free for what may come; the names are those of `nc__enddef`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spacing {
    /// Bytes that are free behind the header, at least.
    pub h_minfree: u64,
    /// The first fixed variable stands at a multiple of this; 0 is taken as 1.
    pub v_align: u64,
    /// Bytes that are free behind the fixed variables, at least.
    pub v_minfree: u64,
    /// The first record stands at a multiple of this; 0 is taken as 1.
    pub r_align: u64,
}

impl Default for Spacing {
    /// No space, as libnetcdf leaves none unless asked.
    fn default() -> Self {
        Self { h_minfree: 0, v_align: 1, v_minfree: 0, r_align: 1 }
    }
}

/// Why variables cannot be laid out; libnetcdf says `NC_EVARSIZE` to each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutError {
    /// The variable, or one record of it, is larger than the version allows. Larger than that may
    /// only be the last of the fixed variables where there are no record variables, and the last
    /// of the record variables; in CDF-5 none.
    VariableSize {
        /// Index of the variable.
        variable: usize,
        /// The largest that is allowed.
        limit: u64,
    },
    /// The variable would stand behind what the version can address.
    Begin {
        /// Index of the variable.
        variable: usize,
        /// The last address that it can say.
        limit: u64,
    },
    /// A field of the header does not fit.
    Header(crate::Error),
}

/// What is laid out so far.
struct Front {
    /// Where the first fixed variable stands, or the first record where there is none.
    fixed: u64,
    /// Where the first record stands, or would stand.
    records: u64,
}

impl Header {
    /// Gives every variable its place and its stated size, as `nc__enddef` would, and sets
    /// [`Self::size_bytes`].
    ///
    /// `previous` is the header as it stands in the file, where there is one: its variables are
    /// the first of this one's, and none of them is placed before where it was. A header that was
    /// laid out by other rules is kept as it is while that is possible.
    ///
    /// # Errors
    /// See [`LayoutError`]. `self` may then have been changed.
    pub fn lay_out(
        &mut self,
        previous: Option<&Header>,
        spacing: &Spacing,
    ) -> Result<(), LayoutError> {
        check_sizes(self)?;
        for index in 0..self.variables.len() {
            let size = padded_size(self, index)?;
            self.variables[index].stated_size_bytes = stated_size(self.version, size);
        }
        self.size_bytes = self.encode().map_err(LayoutError::Header)?.len() as u64;
        let previous = previous.filter(|previous| !previous.variables.is_empty());
        if let Some(previous) = previous.filter(|previous| !previous.is_in_order()) {
            if self.fits_before(previous, spacing) {
                for (variable, before) in self.variables.iter_mut().zip(&previous.variables) {
                    variable.begin = before.begin;
                }
                return Ok(());
            }
            return self.place_all(None, spacing);
        }
        self.place_all(previous, spacing)
    }

    /// Whether the variables stand in their order and do not overlap, as libnetcdf demands.
    fn is_in_order(&self) -> bool {
        let mut end = u128::from(self.size_bytes);
        let (fixed, records): (Vec<usize>, Vec<usize>) =
            (0..self.variables.len()).partition(|&index| !self.variables[index].is_record);
        fixed.into_iter().chain(records).all(|index| {
            let begin = u128::from(self.variables[index].begin);
            let size = dense_size_bytes(self, &self.variables[index]).saturating_add(3) & !3;
            let in_order = begin >= end;
            end = begin.saturating_add(size);
            in_order
        })
    }

    /// Whether this header can take the place of `previous` without moving any value.
    fn fits_before(&self, previous: &Header, spacing: &Spacing) -> bool {
        let first = previous.variables.iter().map(|variable| variable.begin).min();
        self.variables.len() == previous.variables.len()
            && first.is_some_and(|first| self.size_bytes.saturating_add(spacing.h_minfree) <= first)
    }

    fn place_all(
        &mut self,
        previous: Option<&Header>,
        spacing: &Spacing,
    ) -> Result<(), LayoutError> {
        let front = previous.map(Front::of);
        let mut begin = front.as_ref().map_or(0, |front| front.fixed);
        let header = (self.size_bytes, spacing.h_minfree);
        keep_or_move(&mut begin, header, spacing.v_align);
        if let Some(front) = &front {
            begin = begin.max(front.fixed);
        }
        let end = self.place_each(previous, false, begin)?;
        let mut begin = front.map_or(0, |front| front.records);
        keep_or_move(&mut begin, (end, spacing.v_minfree), spacing.r_align);
        self.place_each(previous, true, begin)?;
        Ok(())
    }

    /// Places the fixed or the record variables one behind the other from `begin` on, each where
    /// it was or further back. Returns the end of the last.
    fn place_each(
        &mut self,
        previous: Option<&Header>,
        records: bool,
        begin: u64,
    ) -> Result<u64, LayoutError> {
        let limit = last_begin(self.version);
        let mut end = begin;
        for index in 0..self.variables.len() {
            if self.variables[index].is_record != records {
                continue;
            }
            let before = previous.and_then(|previous| previous.variables.get(index));
            let begin = before.map_or(end, |before| before.begin.max(end));
            if begin > limit {
                return Err(LayoutError::Begin { variable: index, limit });
            }
            let size = padded_size(self, index)?;
            let too_far = LayoutError::Begin { variable: index, limit };
            end = begin.checked_add(size).filter(|end| *end <= i64::MAX as u64).ok_or(too_far)?;
            self.variables[index].begin = begin;
        }
        Ok(end)
    }
}

impl Front {
    fn of(header: &Header) -> Self {
        let (mut fixed, mut records, mut fixed_end) = (None, None, header.size_bytes);
        for (index, variable) in header.variables.iter().enumerate() {
            let first = if variable.is_record { &mut records } else { &mut fixed };
            first.get_or_insert(variable.begin);
            if !variable.is_record {
                let size = padded_size(header, index).unwrap_or(0);
                fixed_end = variable.begin.saturating_add(size);
            }
        }
        let records = records.unwrap_or(fixed_end);
        Self { fixed: fixed.unwrap_or(records), records }
    }
}

/// Leaves `begin` where it is if that is aligned and leaves the space free behind `end`, else
/// moves it to the first place where this is so.
fn keep_or_move(begin: &mut u64, (end, min_free): (u64, u64), alignment: u64) {
    let alignment = alignment.max(1);
    let first = end.saturating_add(min_free);
    if *begin < first || !begin.is_multiple_of(alignment) {
        *begin = first.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
    }
}

/// The largest size of a variable, or of one record of it, from which a further place is computed.
fn largest_size(version: Version) -> u64 {
    match version {
        Version::Cdf1 => i32::MAX as u64 - 3,
        Version::Cdf2 => u64::from(u32::MAX) - 3,
        Version::Cdf5 => i64::MAX as u64 - 3,
    }
}

/// The last address at which a variable can begin.
fn last_begin(version: Version) -> u64 {
    if version == Version::Cdf1 { i32::MAX as u64 } else { i64::MAX as u64 }
}

fn check_sizes(header: &Header) -> Result<(), LayoutError> {
    let limit = largest_size(header.version);
    let is_large = |index: &usize| -> bool {
        dense_size_bytes(header, &header.variables[*index]) > limit.into()
    };
    let of_kind = |records: bool| {
        let kind = move |(_, variable): &(usize, &Variable)| variable.is_record == records;
        header.variables.iter().enumerate().filter(kind).map(|(index, _)| index)
    };
    let has_records = of_kind(true).next().is_some();
    for records in [false, true] {
        let last = of_kind(records).next_back();
        let last_may_be_large = header.version != Version::Cdf5 && (records || !has_records);
        let allowed = |index: &usize| last_may_be_large && Some(*index) == last;
        if let Some(variable) = of_kind(records).find(|index| is_large(index) && !allowed(index)) {
            return Err(LayoutError::VariableSize { variable, limit });
        }
    }
    Ok(())
}

/// Bytes of the variable, or of one record of it, up to a multiple of 4.
fn padded_size(header: &Header, variable: usize) -> Result<u64, LayoutError> {
    let limit = largest_size(Version::Cdf5);
    let dense = dense_size_bytes(header, &header.variables[variable]);
    let dense = u64::try_from(dense).ok().filter(|size| *size <= limit);
    dense.map(|size| size.next_multiple_of(4)).ok_or(LayoutError::VariableSize { variable, limit })
}

/// What the header says for a size: 32 bits cannot say those that are too large for CDF-2.
fn stated_size(version: Version, size: u64) -> u64 {
    match version {
        Version::Cdf1 | Version::Cdf2 if size > largest_size(Version::Cdf2) => u32::MAX.into(),
        _ => size,
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VariableSize { variable, limit } => write!(
                f,
                "variable {variable} is larger than the {limit} bytes that this version of the \
                 format allows there"
            ),
            Self::Begin { variable, limit } => {
                write!(f, "variable {variable} would begin behind address {limit}")
            }
            Self::Header(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for LayoutError {}
