//! The compressors that have functions of their own: bzip2, Zstandard, Blosc.

use std::ffi::{c_int, c_uint};
use std::ops::RangeInclusive;

use isotach_codec::registry;

use super::filter;
use crate::boundary::{answer, put};
use crate::status::{Outcome, Status};

/// Blosc's parameters: four that follow from the chunks or are its versions, then these.
const BLOSC_PARAMETERS: usize = 7;
/// Ways of Blosc's to put bytes or bits of equal significance together, and none.
const BLOSC_SHUFFLES: RangeInclusive<u32> = 0..=2;
/// Blosc's coders.
const BLOSC_CODERS: RangeInclusive<u32> = 0..=5;

/// Functions that define and tell a filter whose one parameter is a level.
macro_rules! compressors_with_level {
    ($($id:path, $levels:expr, $(#[$doc:meta])* $define:ident, $(#[$inquire_doc:meta])* $inquire:ident;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $define(group: c_int, id: c_int, level: c_int) -> c_int {
            answer(|| {
                filter::check_available(group, $id.into())?;
                if !$levels.contains(&level) {
                    return Err(Status::EINVAL);
                }
                filter::add(group, id, $id.into(), Ok(&[level.cast_unsigned()]))
            })
        }

        $(#[$inquire_doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $inquire(
            group: c_int,
            id: c_int,
            is_used: *mut c_int,
            level: *mut c_int,
        ) -> c_int {
            answer(|| {
                let found = used::<1>(group, id, $id);
                let given = found.as_ref().ok().copied().flatten();
                // SAFETY: the caller's places for both.
                unsafe {
                    put(is_used, given.is_some().into());
                    put(level, given.map_or(0, |[level]| level.cast_signed()));
                }
                found.map(drop)
            })
        }
    )*};
}

compressors_with_level! {
    registry::BZIP2, 1..=9,
    /// Has a variable compressed with bzip2.
    nc_def_var_bzip2,
    /// Whether a variable is compressed with bzip2, and at which level.
    nc_inq_var_bzip2;
    registry::ZSTD, -131_072..=22,
    /// Has a variable compressed with Zstandard.
    nc_def_var_zstandard,
    /// Whether a variable is compressed with Zstandard, and at which level.
    nc_inq_var_zstandard;
}

/// Has a variable compressed with Blosc.
#[unsafe(no_mangle)]
pub extern "C" fn nc_def_var_blosc(
    group: c_int,
    id: c_int,
    coder: c_uint,
    level: c_uint,
    block_bytes: c_uint,
    shuffle: c_uint,
) -> c_int {
    answer(|| {
        filter::check_available(group, registry::BLOSC.into())?;
        if !BLOSC_SHUFFLES.contains(&shuffle) || !BLOSC_CODERS.contains(&coder) {
            return Err(Status::EINVAL);
        }
        let parameters = [0, 0, 0, block_bytes, level, shuffle, coder];
        filter::add(group, id, registry::BLOSC.into(), Ok(&parameters))
    })
}

/// Whether a variable is compressed with Blosc, and how.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_blosc(
    group: c_int,
    id: c_int,
    is_used: *mut c_int,
    coder: *mut c_uint,
    level: *mut c_uint,
    block_bytes: *mut c_uint,
    shuffle: *mut c_uint,
) -> c_int {
    answer(|| {
        let given = used::<BLOSC_PARAMETERS>(group, id, registry::BLOSC)?;
        // SAFETY: the caller's place for a flag.
        unsafe { put(is_used, given.is_some().into()) };
        if let Some([_, _, _, block, given_level, given_shuffle, given_coder]) = given {
            // SAFETY: the caller's places for the four.
            unsafe {
                put(coder, given_coder);
                put(level, given_level);
                put(block_bytes, block);
                put(shuffle, given_shuffle);
            }
        }
        Ok(())
    })
}

/// The parameters of a filter, `None` where the variable has not that one.
///
/// # Errors
/// `NC_ENOFILTER` where there is no such filter in the library, `NC_EFILTER` where it has not so many
/// parameters.
fn used<const COUNT: usize>(group: c_int, id: c_int, filter: u16) -> Outcome<Option<[u32; COUNT]>> {
    filter::check_available(group, filter.into())?;
    match filter::parameters(group, id, filter.into()) {
        Ok(found) => Ok(Some(found.try_into().map_err(|_| Status::EFILTER)?)),
        Err(Status::ENOFILTER) => Ok(None),
        Err(other) => Err(other),
    }
}
