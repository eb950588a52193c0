//! The flags of `nc_open` and `nc_create`: which of them go together, and what they mean.

use std::ffi::c_int;

use isotach::Format;

use crate::status::{Outcome, Status};

/// For changing, not only for reading.
pub const NC_WRITE: c_int = 0x0001;
/// A file that is there stays.
pub const NC_NOCLOBBER: c_int = 0x0004;
/// In memory; on disk only at the end, and only with `NC_PERSIST`.
pub const NC_DISKLESS: c_int = 0x0008;
/// In memory that is mapped.
pub const NC_MMAP: c_int = 0x0010;
/// CDF-5.
pub const NC_64BIT_DATA: c_int = 0x0020;
/// The first format that a program brings.
pub const NC_UDF0: c_int = 0x0040;
/// The second.
pub const NC_UDF1: c_int = 0x0080;
/// Only what the classic model has.
pub const NC_CLASSIC_MODEL: c_int = 0x0100;
/// CDF-2.
pub const NC_64BIT_OFFSET: c_int = 0x0200;
/// What is written is seen at once.
pub const NC_SHARE: c_int = 0x0800;
/// netCDF-4.
pub const NC_NETCDF4: c_int = 0x1000;
/// What was in memory goes to the file at the end.
pub const NC_PERSIST: c_int = 0x4000;
/// In memory that the caller gives or gets.
pub const NC_INMEMORY: c_int = 0x8000;

/// Flags that say the format of a new file.
const FORMATS: c_int =
    NC_64BIT_OFFSET | NC_64BIT_DATA | NC_CLASSIC_MODEL | NC_NETCDF4 | NC_UDF0 | NC_UDF1;

/// Flags that go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode(pub(crate) c_int);

impl Mode {
    /// The flags of `nc_create`; where they do not say a format, it is `default`.
    ///
    /// # Errors
    /// `NC_EINVAL`, `NC_EDISKLESS`, `NC_EINMEMORY` for flags that do not go together, `NC_ENOTBUILT` for
    /// formats that programs bring.
    pub(crate) fn of_new(flags: c_int, default: c_int) -> Outcome<Self> {
        let exclusive = flags & (NC_NETCDF4 | NC_64BIT_OFFSET | NC_64BIT_DATA);
        if exclusive.count_ones() > 1 {
            return Err(Status::EINVAL);
        }
        let mode = Self(if flags & FORMATS == 0 { flags | default } else { flags });
        Self(flags).check()?;
        Ok(mode)
    }

    /// The flags of `nc_open`.
    ///
    /// # Errors
    /// As those of [`Mode::of_new`].
    pub(crate) fn of_existing(flags: c_int) -> Outcome<Self> {
        let mode = Self(flags);
        mode.check()?;
        Ok(mode)
    }

    fn check(self) -> Outcome {
        let [diskless, mapped, given] =
            [NC_DISKLESS, NC_MMAP, NC_INMEMORY].map(|flag| self.has(flag));
        if diskless && (given || mapped) {
            Err(Status::EDISKLESS)
        } else if given && mapped {
            Err(Status::EINMEMORY)
        } else if mapped && self.has(NC_NETCDF4) {
            Err(Status::EINVAL)
        } else if self.has(NC_UDF0 | NC_UDF1) {
            Err(Status::ENOTBUILT)
        } else {
            Ok(())
        }
    }

    /// Whether one of `flags` is set.
    pub(crate) fn has(self, flags: c_int) -> bool {
        self.0 & flags != 0
    }

    /// The format of a new file.
    pub(crate) fn format(self) -> Format {
        match (self.has(NC_NETCDF4), self.has(NC_CLASSIC_MODEL)) {
            (true, true) => Format::NetCdf4Classic,
            (true, false) => Format::NetCdf4,
            _ if self.has(NC_64BIT_DATA) => Format::Data64Bit,
            _ if self.has(NC_64BIT_OFFSET) => Format::Offset64Bit,
            _ => Format::Classic,
        }
    }

    /// The same flags for a file that turned out to be of this format.
    pub(crate) fn of_format(self, format: Format) -> Self {
        let others = self.0 & !NC_NETCDF4;
        Self(match format {
            Format::Classic => others,
            Format::Offset64Bit => others | NC_64BIT_OFFSET,
            Format::Data64Bit => others | NC_64BIT_DATA,
            Format::NetCdf4 | Format::NetCdf4Classic => others | NC_NETCDF4,
        })
    }
}

/// The number by which netCDF knows a format.
pub(crate) fn format_number(format: Format) -> c_int {
    match format {
        Format::Classic => 1,
        Format::Offset64Bit => 2,
        Format::NetCdf4 => 3,
        Format::NetCdf4Classic => 4,
        Format::Data64Bit => 5,
    }
}

/// The flags that say the format of that number.
pub(super) fn format_flags(number: c_int) -> Option<c_int> {
    Some(match number {
        1 => 0,
        2 => NC_64BIT_OFFSET,
        3 => NC_NETCDF4,
        4 => NC_NETCDF4 | NC_CLASSIC_MODEL,
        5 => NC_64BIT_DATA,
        _ => return None,
    })
}
