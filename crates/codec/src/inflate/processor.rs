//! Room for unsafe code: decodes the symbols of a block with the instructions for bits that newer
//! processors have.
//!
//! The contract:
//! - A function that is compiled for instructions runs only where the processor has them.

use super::symbols::Place;
use super::tables::Tables;
use crate::error::ErrorKind;

/// Decodes the symbols of a block up to its end.
pub(super) fn decode(tables: &Tables, place: &mut Place<'_, '_>) -> Result<(), ErrorKind> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
        // SAFETY: the line above found what the function is compiled for.
        return unsafe { with_bmi(tables, place) };
    }
    tables.decode(place)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn with_bmi(tables: &Tables, place: &mut Place<'_, '_>) -> Result<(), ErrorKind> {
    tables.decode(place)
}
