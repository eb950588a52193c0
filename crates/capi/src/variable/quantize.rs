//! Rounding of floats before they are stored.

use std::ffi::c_int;

use isotach::model::Atomic;
use isotach::model::quantize::{Mode, Quantization};

use super::definition::{define, netcdf4};
use super::{NC_GLOBAL, find};
use crate::boundary::{answer, put};
use crate::handle;
use crate::model::VariableNode;
use crate::status::{Outcome, Status};

const NC_NOQUANTIZE: c_int = 0;

/// netCDF's number of a way to round.
fn number(mode: Mode) -> c_int {
    match mode {
        Mode::BitGroom => 1,
        Mode::GranularBitRound => 2,
        Mode::BitRound => 3,
    }
}

/// Has a variable's values rounded to so many significant digits or bits.
#[unsafe(no_mangle)]
pub extern "C" fn nc_def_var_quantize(
    group: c_int,
    id: c_int,
    mode: c_int,
    significant: c_int,
) -> c_int {
    answer(|| {
        check_not_global(group, id)?;
        define(group, id, |node| {
            let found = Mode::ALL.into_iter().find(|&known| number(known) == mode);
            node.said().quantization = match found {
                Some(mode) => {
                    // Types that are not atomic are as little floats as chars are.
                    let atomic = node.variable.data_type().atomic().unwrap_or(Atomic::Char);
                    let quantization = Quantization::new(mode, significant.into(), atomic);
                    Some(quantization.map_err(|_| Status::EINVAL)?)
                }
                None if mode == NC_NOQUANTIZE => None,
                None => return Err(Status::EINVAL),
            };
            Ok(())
        })
    })
}

/// How a variable's values are rounded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_quantize(
    group: c_int,
    id: c_int,
    mode: *mut c_int,
    significant: *mut c_int,
) -> c_int {
    answer(|| {
        check_not_global(group, id)?;
        netcdf4(group)?;
        let (found_mode, found_significant) = told(&*find(group, id)?)?;
        // SAFETY: the caller's places for both.
        unsafe {
            put(mode, found_mode);
            put(significant, found_significant);
        }
        Ok(())
    })
}

fn check_not_global(group: c_int, id: c_int) -> Outcome {
    handle::file(group)?;
    if id == NC_GLOBAL { Err(Status::EGLOBAL) } else { Ok(()) }
}

/// The number of the way, and how many digits or bits. A variable of the file tells it by an attribute.
fn told(node: &VariableNode) -> Outcome<(c_int, c_int)> {
    let (is_new, said) = {
        let said = node.said();
        (said.storage.is_some(), said.quantization)
    };
    if is_new {
        let told = |said: Quantization| (number(said.mode()), said.significant().cast_signed());
        return Ok(said.map_or((NC_NOQUANTIZE, 0), told));
    }
    for mode in Mode::ALL {
        if let Some(attribute) = node.variable.attribute(mode.attribute_name())?
            && let Some(&[significant]) = attribute.values()?.as_slice::<i32>()
        {
            return Ok((number(mode), significant));
        }
    }
    Ok((NC_NOQUANTIZE, 0))
}

/// The same as the engine takes it.
pub(super) fn for_engine(said: Quantization) -> isotach::Quantization {
    isotach::Quantization::new(said.mode(), said.significant())
}
