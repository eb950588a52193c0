//! Where the values of a classic file stand.
//!
//! ```text
//! begin of a                                   begin of r, first record
//! |                                            |     begin of s
//! +----------------------+---------------------+-----|-----+-----------+-----------+
//! | fixed variable a     | fixed variable b    | r0  | s0  | r1  | s1  | r2  | s2  |
//! +----------------------+---------------------+-----+-----+-----------+-----------+
//!                                              |<- record->|
//! ```
//! In a record, each variable's part is padded to a multiple of 4 bytes, except where there is
//! only one record variable: then nothing is padded. The sizes that the header states are not
//! used; those of the shapes are.
//!
//! Values can be missing at the end: a writer died, a copy broke off. That is a fact about the
//! file ([`VariableLayout::missing_bytes`]), and an error for those who ask for them. libnetcdf 4.10
//! reads them as zeros, and where one request crosses the end of the file at times as left-overs of
//! its buffer.

use super::external_type::ExternalType;
use super::header::{Header, RecordCount, Variable};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;

/// How a file's records are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLayout {
    /// Length of the record dimension: what the header states, or, where it leaves that open,
    /// [`Self::complete_record_count`]. (libnetcdf 4.10 does not know open counts: it shows
    /// 4,294,967,295 records.)
    pub record_count: u64,
    /// How many records the file is long enough for; the padding behind the last may be missing.
    /// 0 where there is no record variable.
    pub complete_record_count: u64,
    /// Bytes from one record to the next; 0 where there is no record variable.
    pub record_size_bytes: u64,
    /// Address of the first record; `None` where there is no record variable.
    pub begin: Option<u64>,
}

/// Where the values of one variable stand.
///
/// Element `[i, j, ...]` is at `begin + i * byte_strides[0] + j * byte_strides[1] + ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableLayout {
    /// Type of the values, which are big-endian.
    pub external_type: ExternalType,
    /// Address of the first value.
    pub begin: u64,
    /// Length of each dimension. Empty for a scalar.
    pub shape: Vec<u64>,
    /// Bytes from one index to the next along each axis. All axes but that of the records are
    /// without gaps.
    pub byte_strides: Vec<u64>,
    /// Address behind the last value; `begin` where there are no values.
    pub end: u64,
}

impl RecordLayout {
    /// The layout of the records of the file of `file_size` bytes that begins with `header`.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] where a record is larger than any file can be.
    pub fn new(header: &Header, file_size: u64) -> Result<Self> {
        let record_variables = || header.variables.iter().filter(|variable| variable.is_record);
        let is_padded = record_variables().count() > 1;
        let mut record_size = 0_u128;
        let mut begin = None;
        let mut first_record_end = 0_u128;
        for variable in record_variables() {
            let part = dense_size_bytes(header, variable);
            let padded = if is_padded { part.saturating_add(3) & !3 } else { part };
            record_size = record_size.saturating_add(padded);
            begin = Some(begin.map_or(variable.begin, |first: u64| first.min(variable.begin)));
            let end = part.saturating_add(variable.begin.into());
            first_record_end = first_record_end.max(end);
        }
        let record_size_bytes = bounded("classic header", 0, "record size", record_size)?;
        let complete_record_count = u128::from(file_size)
            .checked_sub(first_record_end)
            .and_then(|behind_first| behind_first.checked_div(record_size))
            .map_or(0, |more| (more + 1) as u64);
        let record_count = match header.record_count {
            RecordCount::Known(count) => count,
            RecordCount::Streaming => complete_record_count,
        };
        Ok(Self { record_count, complete_record_count, record_size_bytes, begin })
    }

    /// The layout of `variable`, one of `header`'s, for which this layout was made.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] where the variable would end beyond the end of any file.
    pub fn variable(&self, header: &Header, variable: &Variable) -> Result<VariableLayout> {
        let element_size = u128::from(variable.external_type.size_bytes());
        let rank = variable.dimension_ids.len();
        let mut shape = vec![0; rank];
        let mut byte_strides = vec![0; rank];
        let mut dense_stride = element_size;
        // The last value ends this far behind the first one's begin.
        let mut extent = element_size;
        for axis in (0..rank).rev() {
            let dimension = &header.dimensions[variable.dimension_ids[axis]];
            let (length, stride) = if dimension.is_record {
                (self.record_count, u128::from(self.record_size_bytes))
            } else {
                (dimension.length, dense_stride)
            };
            dense_stride = stride.saturating_mul(length.into());
            let steps = u128::from(length.saturating_sub(1));
            extent = extent.saturating_add(stride.saturating_mul(steps));
            shape[axis] = length;
            byte_strides[axis] = bounded("classic variable", variable.begin, "stride", stride)?;
        }
        if shape.contains(&0) {
            extent = 0;
        }
        let end = extent.saturating_add(variable.begin.into());
        let end = bounded("classic variable", variable.begin, "end of the values", end)?;
        let (external_type, begin) = (variable.external_type, variable.begin);
        Ok(VariableLayout { external_type, begin, shape, byte_strides, end })
    }
}

impl VariableLayout {
    /// How many bytes of the extent from `begin` to `end` lie behind the end of a file of
    /// `file_size` bytes. 0 where the values are all there.
    pub fn missing_bytes(&self, file_size: u64) -> u64 {
        self.end - file_size.clamp(self.begin, self.end)
    }
}

/// Bytes of a variable, or of one record of it, without padding.
pub(super) fn dense_size_bytes(header: &Header, variable: &Variable) -> u128 {
    let lengths = variable.dimension_ids.iter().map(|&id| &header.dimensions[id]);
    lengths
        .filter(|dimension| !dimension.is_record)
        .fold(variable.external_type.size_bytes().into(), |size: u128, dimension| {
            size.saturating_mul(dimension.length.into())
        })
}

/// `value` where a file can be that long.
fn bounded(structure: &'static str, address: u64, field: &'static str, value: u128) -> Result<u64> {
    let limit = limits::FILE_BYTES;
    match u64::try_from(value) {
        Ok(value) if value <= limit => Ok(value),
        _ => {
            let value = u64::try_from(value).unwrap_or(u64::MAX);
            Err(Error { structure, address, kind: ErrorKind::Limit { field, value, limit } })
        }
    }
}
