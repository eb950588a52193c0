//! From the caller's memory to the file.

use std::ffi::{c_int, c_void};
use std::ptr::null;

use isotach::VariableWriter;
use isotach::model::{Atomic, DataType};

use super::access::{Access, Direction, Kind, Transfer};
use super::{byte_count, is_plain, map, nowhere};
use crate::boundary::answer;
use crate::handle;
use crate::memory::unpack;
use crate::model::OpenFile;
use crate::status::{Outcome, Status};
use crate::trace;

/// Writes one value from `from`.
///
/// # Safety
/// `index` is NULL or has an entry for each dimension of the variable; `from` has one element.
pub(super) unsafe fn one(
    id: c_int,
    variable: c_int,
    index: *const usize,
    memory: Option<Atomic>,
    from: *const c_void,
) -> c_int {
    let access = Access::new(Kind::One, memory, index, null(), null(), null());
    // SAFETY: by this function's contract.
    answer(|| unsafe { put(id, variable, &access, from) })
}

/// Writes what `access` says from `from`.
///
/// # Safety
/// The lists of `access` are NULL or have an entry for each dimension of the variable; `from` has what they
/// select.
pub(super) unsafe fn put(
    id: c_int,
    variable: c_int,
    access: &Access,
    from: *const c_void,
) -> Outcome {
    let (file, group) = handle::group(id)?;
    // SAFETY: by this function's contract.
    let transfer = unsafe { access.resolve(&file, &group, variable, Direction::Put) }?;
    let Some(transfer) = transfer else { return Ok(()) };
    let shape = transfer.selection.shape();
    let size = transfer.memory.layout().size;
    let len = byte_count(&shape, size)?;
    trace::access("write", &file, &transfer.node.variable, &transfer.selection, len);
    let is_nowhere = len > 0 && from.is_null();
    if is_nowhere && transfer.misfit.is_none() {
        return Err(nowhere(&file));
    }
    if let Some(misfit) = transfer.misfit {
        let reached = reach_records(&transfer).and(Err(misfit));
        return reached.map_err(|status| transfer.refused(status));
    }
    may_reach_records(&transfer).map_err(|status| transfer.refused(status))?;
    let is_in_range = match &transfer.map {
        _ if len == 0 => writer(&file, &transfer).map(|_| true),
        // SAFETY: by this function's contract.
        None => write(&file, &transfer, unsafe { std::slice::from_raw_parts(from.cast(), len) }),
        Some(map) => {
            let mut elements: Vec<u8> = Vec::new();
            elements.try_reserve_exact(len).map_err(|_| Status::ENOMEM)?;
            map::for_each(&shape, map, |_, place| {
                let element = map::element(from.cast_mut().cast::<u8>(), place, size);
                // SAFETY: by this function's contract, that of the map.
                elements.extend_from_slice(unsafe { std::slice::from_raw_parts(element, size) });
            });
            write(&file, &transfer, &elements)
        }
    };
    // Records come about with their values: other threads find no record that has none yet.
    reach_records(&transfer).map_err(|status| transfer.refused(status))?;
    // What lies beyond is told after all that lies inside.
    let is_in_range = is_in_range.or_else(|status| transfer.end(true).and(Err(status)))?;
    file.share()?;
    transfer.end(is_in_range)
}

/// Has the records of a classic file come about that are to be written, and those before them.
fn reach_records(transfer: &Transfer<'_>) -> Outcome {
    grow_records(transfer, &[transfer.records])
}

/// That they can come about: every variable has fill values for them that are of its type.
fn may_reach_records(transfer: &Transfer<'_>) -> Outcome {
    grow_records(transfer, &[])
}

/// Makes the variable reach as far as `extent`, where records are to be written that are not there.
fn grow_records(transfer: &Transfer<'_>, extent: &[u64]) -> Outcome {
    let dimensions = transfer.node.variable.dimensions()?;
    match dimensions.first() {
        Some(records) if transfer.records > records.len()? => {
            Ok(transfer.node.writer()?.grow(extent)?)
        }
        _ => Ok(()),
    }
}

/// The writer. That a netCDF-4 file cannot be written netCDF-C finds out when libhdf5 refuses.
fn writer<'t>(file: &OpenFile, transfer: &'t Transfer<'_>) -> Outcome<&'t VariableWriter> {
    let writer = transfer.node.writer();
    writer.map_err(|status| if file.is_hdf5() { Status::EHDFERR } else { status })
}

/// Writes the selected elements; false where some are out of range.
fn write(file: &OpenFile, transfer: &Transfer<'_>, elements: &[u8]) -> Outcome<bool> {
    let Transfer { node, selection, memory, .. } = transfer;
    let writer = writer(file, transfer)?;
    if !is_plain(memory) {
        let count = elements.len() / memory.layout().size;
        // SAFETY: `elements` are as many of the caller's.
        let values = unsafe { unpack(memory, elements.as_ptr(), count) }?;
        writer.write(selection, &values)?;
        return Ok(true);
    }
    let stored = node.variable.data_type();
    if memory == stored {
        writer.write_native(selection, elements)?;
        return Ok(true);
    }
    let (Some(from), Some(to)) = (memory.atomic(), stored.atomic()) else {
        return Err(Status::EBADTYPE);
    };
    if let DataType::SmallFloat(_) = stored {
        // SAFETY: `elements` are as many of the caller's.
        let values = unsafe { unpack(memory, elements.as_ptr(), elements.len() / from.size()) }?;
        return Ok(writer.write(selection, &values)?.is_in_range());
    }
    let mut converted = Vec::new();
    let len = (elements.len() / from.size()).checked_mul(to.size()).ok_or(Status::ENOMEM)?;
    converted.try_reserve_exact(len).map_err(|_| Status::ENOMEM)?;
    converted.resize(len, 0);
    let is_in_range = file.convert(elements, from, &mut converted, to)?;
    writer.write_native(selection, &converted)?;
    Ok(is_in_range)
}
