//! Where the values of a variable go, and what stands where none were written.
//!
//! ```text
//! values in their order    | record 0          | record 1          |      a fixed variable has one
//!                          v                   v                   v
//! file                 ----| dense | pad |-----| dense | pad |-----    <- record_size ->
//! ```

use std::ops::Range;

use isotach_format::classic::{Header, RecordLayout, Variable};
use isotach_format::{Error, ErrorKind};

use crate::mapping::classic::fill;

/// Fill values that are written at a time.
const FILL_BYTES: u64 = 1 << 20;

/// The place of a variable's values.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Address of the first value.
    pub(super) begin: u64,
    /// Bytes of the variable, or of one record of it, without padding.
    pub(super) dense: u64,
    /// Bytes of padding behind them.
    pub(super) padding: u64,
    /// Bytes from one record to the next; `None` for a fixed variable.
    pub(super) record_size: Option<u64>,
    /// One fill value as it is stored; `None` where nothing is filled.
    pub(super) fill: Option<Vec<u8>>,
}

/// That nothing stands where something else does, as a damaged header may have it: whoever wrote one of them would
/// write the other.
pub(super) fn check_apart(header: &Header, places: &[Place]) -> Result<(), Error> {
    let stands = places.iter().filter(|place| place.dense > 0);
    let (records, fixed): (Vec<&Place>, Vec<&Place>) =
        stands.partition(|place| place.record_size.is_some());
    let mut pieces = vec![(0, header.size_bytes)];
    pieces.extend(fixed.iter().map(|place| (place.begin, place.end(0))));
    // Of the records the first, and behind it all others there may ever be.
    pieces.extend(records.iter().map(|place| (place.begin, place.end(1))));
    if let Some(first) = records.iter().map(|place| place.begin).min() {
        let size = records.iter().filter_map(|place| place.record_size).max().unwrap_or(0);
        pieces.push((first.saturating_add(size), u64::MAX));
    }
    pieces.sort_unstable();
    match pieces.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        None => Ok(()),
        Some(pair) => {
            let (address, kind) = (
                pair[1].0,
                ErrorKind::Field { field: "a begin within other values", value: pair[1].0 },
            );
            Err(Error { structure: "classic header", address, kind })
        }
    }
}

impl Place {
    /// The place of `variable`, one of `header`'s. Whoever laid the header out has checked that its
    /// sizes fit 64 bits.
    pub(super) fn new(
        header: &Header,
        records: &RecordLayout,
        variable: &Variable,
        fill: bool,
    ) -> Self {
        let lengths = variable.dimension_ids.iter().map(|&id| &header.dimensions[id]);
        let dense = lengths
            .filter(|dimension| !dimension.is_record)
            .fold(variable.external_type.size_bytes(), |size, dimension| {
                size.saturating_mul(dimension.length)
            });
        let record_size = variable.is_record.then_some(records.record_size_bytes);
        let padding = match record_size {
            // Records of one variable are not padded.
            Some(size) if size == dense => 0,
            _ => dense.checked_next_multiple_of(4).map_or(0, |padded| padded - dense),
        };
        let fill = fill.then(|| fill::stored(variable));
        Self { begin: variable.begin, dense, padding, record_size, fill }
    }

    /// Whether `other`'s values stand where these do.
    pub(super) fn is_at(&self, other: &Self) -> bool {
        let at = |place: &Self| (place.begin, place.record_size, place.padding);
        at(self) == at(other)
    }

    /// Bytes of all values.
    pub(super) fn len(&self, record_count: u64) -> u64 {
        if self.record_size.is_some() {
            self.dense.saturating_mul(record_count)
        } else {
            self.dense
        }
    }

    /// Address behind the last value and its padding; that of the first where there is none.
    pub(super) fn end(&self, record_count: u64) -> u64 {
        match self.record_size {
            Some(_) if record_count == 0 => self.begin,
            Some(size) => {
                let last = size.saturating_mul(record_count - 1);
                self.begin
                    .saturating_add(last)
                    .saturating_add(self.dense)
                    .saturating_add(self.padding)
            }
            None => self.begin.saturating_add(self.dense).saturating_add(self.padding),
        }
    }

    /// Address behind the last value, without padding; 0 where there is none.
    pub(super) fn values_end(&self, record_count: u64) -> u64 {
        match self.len(record_count) {
            0 => 0,
            _ => self.end(record_count).saturating_sub(self.padding),
        }
    }

    /// The addresses of the values that are bytes `range` of all: those of each record apart,
    /// where there is anything between them.
    pub(super) fn pieces(&self, range: Range<u64>) -> impl Iterator<Item = (u64, u64)> + use<> {
        let (begin, dense) = (self.begin, self.dense.max(1));
        let record_size = self.record_size.filter(|size| *size != dense);
        let mut at = range.start;
        std::iter::from_fn(move || {
            let rest = range.end.checked_sub(at).filter(|rest| *rest > 0)?;
            let (address, length) = match record_size {
                None => (begin + at, rest),
                Some(size) => {
                    let inside = at % dense;
                    (begin + at / dense * size + inside, rest.min(dense - inside))
                }
            };
            at += length;
            Some((address, length))
        })
    }

    /// Has `put` write the padding behind each record that is whole once bytes `range` are there.
    pub(super) fn pad<E>(
        &self,
        range: &Range<u64>,
        mut put: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(fill) = self.fill.as_ref().filter(|_| self.padding > 0) else { return Ok(()) };
        let padding: Vec<u8> = fill.iter().copied().cycle().take(self.padding as usize).collect();
        for record in range.start / self.dense..range.end / self.dense {
            let offset = record * self.record_size.unwrap_or(0) + self.dense;
            put(self.begin + offset, &padding)?;
        }
        Ok(())
    }

    /// Has `put` write fill values as bytes `range`, where the variable is filled.
    pub(super) fn fill<E>(
        &self,
        range: &Range<u64>,
        mut put: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(fill) = &self.fill else { return Ok(()) };
        let longest = (range.end - range.start).min(FILL_BYTES) as usize;
        let pattern = fill.repeat(longest.div_ceil(fill.len().max(1)));
        for (address, length) in self.pieces(range.clone()) {
            for done in (0..length).step_by(pattern.len().max(1)) {
                let part = (length - done).min(pattern.len() as u64);
                put(address + done, &pattern[..part as usize])?;
            }
        }
        self.pad(range, put)
    }
}
