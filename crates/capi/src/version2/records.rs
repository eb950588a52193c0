//! Records: what all variables along the unlimited dimension have at one position of it.

use std::ffi::{c_int, c_long, c_void};

use super::advise::advise;
use super::{nctypelen, version_2};
use crate::boundary::{answer, counted, list, put, put_list};
use crate::data::{nc_get_vara, nc_put_vara};
use crate::dimension::{nc_inq_dimlen, nc_inq_unlimdim};
use crate::status::{Outcome, Status};
use crate::variable::{nc_inq_nvars, nc_inq_vardimid, nc_inq_varndims, nc_inq_vartype};

/// A variable along the unlimited dimension.
struct RecordVariable {
    id: c_int,
    /// How much of it is one record.
    count: Vec<usize>,
    /// Bytes of that in memory.
    size: usize,
}

/// Calls a function that stores one result.
fn asked<T: Default>(ask: impl FnOnce(*mut T) -> c_int) -> Outcome<T> {
    let mut result = T::default();
    match ask(&mut result) {
        0 => Ok(result),
        status => Err(Status(status)),
    }
}

/// The variables along the unlimited dimension; `None` where there is no such dimension.
fn record_variables(id: c_int) -> Outcome<Option<Vec<RecordVariable>>> {
    // SAFETY: here and below, places of our own for one result.
    let variables = asked(|count| unsafe { nc_inq_nvars(id, count) })?;
    // SAFETY: as above.
    let record = asked(|dimension| unsafe { nc_inq_unlimdim(id, dimension) })?;
    if record == -1 {
        return Ok(None);
    }
    let mut found = Vec::new();
    for variable in 0..variables {
        found.extend(record_variable(id, variable, record)?);
    }
    Ok(Some(found))
}

fn record_variable(id: c_int, variable: c_int, record: c_int) -> Outcome<Option<RecordVariable>> {
    // SAFETY: here and below, places of our own for one result.
    let rank = asked(|rank| unsafe { nc_inq_varndims(id, variable, rank) })?;
    let mut dimensions = vec![-1; usize::try_from(rank).map_err(|_| Status::EINTERNAL)?];
    // SAFETY: as many places as the variable has dimensions.
    match unsafe { nc_inq_vardimid(id, variable, dimensions.as_mut_ptr()) } {
        0 => {}
        status => return Err(Status(status)),
    }
    if dimensions.first() != Some(&record) {
        return Ok(None);
    }
    let mut count = vec![1];
    for &dimension in dimensions.iter().skip(1) {
        // SAFETY: as above.
        count.push(asked(|len| unsafe { nc_inq_dimlen(id, dimension, len) })?);
    }
    // SAFETY: as above.
    let data_type = asked(|data_type| unsafe { nc_inq_vartype(id, variable, data_type) })?;
    // Of what has no size here the original tells -1 for each element.
    let element = nctypelen(data_type) as usize;
    let size = count.iter().fold(element, |size, len| size.wrapping_mul(*len));
    Ok(Some(RecordVariable { id: variable, count, size }))
}

/// Moves one record: `data` has an address for each variable, or NULL where it is not wanted.
///
/// # Safety
/// As many addresses as there are such variables, each for one record or NULL.
unsafe fn move_record(
    id: c_int,
    record: usize,
    data: *const *mut c_void,
    transfer: impl Fn(c_int, &[usize], &[usize], *mut c_void) -> c_int,
) -> Outcome {
    let variables = record_variables(id)?.unwrap_or_default();
    // SAFETY: by this function's contract.
    let places = unsafe { list(data, variables.len()) }?;
    for (variable, place) in variables.iter().zip(places).filter(|(_, place)| !place.is_null()) {
        let mut start = vec![0; variable.count.len()];
        if let Some(first) = start.first_mut() {
            *first = record;
        }
        match transfer(variable.id, &start, &variable.count, *place) {
            0 => {}
            status => return Err(Status(status)),
        }
    }
    Ok(())
}

/// Gives the variables along the unlimited dimension, and the bytes of one record of each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_rec(
    id: c_int,
    count: *mut usize,
    variables: *mut c_int,
    sizes: *mut usize,
) -> c_int {
    answer(|| {
        let Some(found) = record_variables(id)? else { return Ok(()) };
        let (ids, bytes): (Vec<_>, Vec<_>) =
            found.iter().map(|variable| (variable.id, variable.size)).unzip();
        // SAFETY: the caller's place for a count, and lists of room for all of them.
        unsafe {
            put(count, found.len());
            put_list(variables, &ids);
            put_list(sizes, &bytes);
        }
        Ok(())
    })
}

/// Reads one record of each variable that an address is given for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_rec(id: c_int, record: usize, data: *const *mut c_void) -> c_int {
    // SAFETY: the caller's addresses; the lists have an element for each dimension.
    answer(|| unsafe {
        move_record(id, record, data, |variable, start, count, place| {
            nc_get_vara(id, variable, start.as_ptr(), count.as_ptr(), place)
        })
    })
}

/// Writes one record of each variable that an address is given for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_put_rec(id: c_int, record: usize, data: *const *mut c_void) -> c_int {
    // SAFETY: the caller's addresses; the lists have an element for each dimension.
    answer(|| unsafe {
        move_record(id, record, data, |variable, start, count, place| {
            nc_put_vara(id, variable, start.as_ptr(), count.as_ptr(), place)
        })
    })
}

/// As `nc_inq_rec`, for sizes that are `long`.
unsafe fn inquire_records(
    id: c_int,
    count: &mut c_int,
    variables: *mut c_int,
    sizes: *mut c_long,
) -> c_int {
    answer(|| {
        let mut found = 0;
        // SAFETY: the caller's lists, handed on as they are: a `long` is as wide as a size.
        let status = unsafe { nc_inq_rec(id, &mut found, variables, sizes.cast()) };
        if status != 0 {
            return Err(Status(status));
        }
        *count = counted(found)?;
        Ok(())
    })
}

version_2! {
    /// Gives the variables along the unlimited dimension, the bytes of one record of each, and their count.
    fn ncrecinq(id: c_int, count: *mut c_int, variables: *mut c_int, sizes: *mut c_long) {
        let mut found = 0;
        inquire_records(id, &mut found, variables, sizes) => {
            // SAFETY: the caller's place for a count.
            unsafe { put(count, found) };
            found
        }
    }
    /// Reads one record of each variable that an address is given for.
    fn ncrecget(id: c_int, record: c_long, data: *const *mut c_void) {
        nc_get_rec(id, record as usize, data) => 0
    }
    /// Writes one record of each variable that an address is given for.
    fn ncrecput(id: c_int, record: c_long, data: *const *mut c_void) {
        nc_put_rec(id, record as usize, data) => 0
    }
}
