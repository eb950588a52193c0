//! A variable copied to another file.

use std::ffi::{CString, c_char, c_int};
use std::ptr::{null, null_mut};

use isotach::Format;
use isotach::model::Atomic;

use super::access::{Access, Kind};
use super::{get, put};
use crate::attribute::nc_copy_att;
use crate::boundary::answer;
use crate::dimension::nc_inq_dimid;
use crate::file::closing::nc_sync;
use crate::file::definitions::{nc_enddef, nc_redef};
use crate::handle;
use crate::model::VariableNode;
use crate::status::{Outcome, Status};
use crate::variable::nc_def_var;

/// Values go over in pieces of so many bytes.
const PIECE_BYTES: usize = 4 << 20;

/// Copies a variable with its attributes and values to another file, which has dimensions of its
/// dimensions' names.
#[unsafe(no_mangle)]
pub extern "C" fn nc_copy_var(from_group: c_int, variable: c_int, to_group: c_int) -> c_int {
    answer(|| {
        let (from, group) = handle::group(from_group)?;
        let node = group.variable(variable)?;
        let (to, _) = handle::group(to_group)?;
        let type_id = from.type_id(node.variable.data_type())?;
        let dimensions = dimensions_of(&node, to_group)?;
        if from.format == Format::NetCdf4 && !to.is_hdf5() && type_id > Atomic::Double as c_int {
            return Err(Status::ENOTNC4);
        }
        let redefined = nc_redef(to_group);
        if redefined != Status::EINDEFINE.0 {
            done(redefined)?;
        }
        let name = c_string(node.variable.name())?;
        let (count, mut copy) = (dimensions.len() as c_int, 0);
        // SAFETY: strings, lists and places of our own.
        done(unsafe {
            nc_def_var(to_group, name.as_ptr(), type_id, count, dimensions.as_ptr(), &mut copy)
        })?;
        for attribute in node.variable.attributes()?.iter() {
            let name = c_string(attribute.name())?;
            // SAFETY: a string of our own.
            done(unsafe { nc_copy_att(from_group, variable, name.as_ptr(), to_group, copy) })?;
        }
        // Where they fail, so does writing.
        nc_enddef(to_group);
        nc_sync(to_group);
        copy_values(&node, (from_group, variable), (to_group, copy))
    })
}

/// The ids of the dimensions of the same names in another group.
fn dimensions_of(node: &VariableNode, to_group: c_int) -> Outcome<Vec<c_int>> {
    let dimensions = node.variable.dimensions()?;
    let of_same_name = dimensions.iter().map(|dimension| {
        let (name, mut id) = (c_string(dimension.name())?, 0);
        let name: *const c_char = name.as_ptr();
        // SAFETY: a string and a place of our own.
        done(unsafe { nc_inq_dimid(to_group, name, &mut id) })?;
        Ok(id)
    });
    of_same_name.collect()
}

fn copy_values(node: &VariableNode, from: (c_int, c_int), to: (c_int, c_int)) -> Outcome {
    let shape = node.variable.shape()?;
    if shape.first() == Some(&0) {
        return Ok(());
    }
    let memory = node.variable.data_type().atomic().filter(|&atomic| atomic != Atomic::String);
    let memory = memory.ok_or(Status::EBADTYPE)?;
    let lengths: Outcome<Vec<usize>> =
        shape.iter().map(|&len| usize::try_from(len).map_err(|_| Status::ENOMEM)).collect();
    let mut count = lengths?;
    let (total, record) = match &count[..] {
        [] => (1, memory.size()),
        [total, ..] => (*total, super::byte_count(&shape[1..], memory.size())?),
    };
    let at_once = (PIECE_BYTES / record.max(1)).clamp(1, total);
    let mut start = vec![0; count.len()];
    let mut values: Vec<u8> = Vec::new();
    let len = record.checked_mul(at_once).ok_or(Status::ENOMEM)?;
    values.try_reserve_exact(len).map_err(|_| Status::ENOMEM)?;
    for first in (0..total).step_by(at_once) {
        if let ([start, ..], [count, ..]) = (&mut start[..], &mut count[..]) {
            (*start, *count) = (first, at_once.min(total - first));
        }
        let (starts, counts) = (start.as_ptr(), count.as_ptr());
        let access = Access::new(Kind::Slab, Some(memory), starts, counts, null(), null());
        let place: *mut u8 = if record == 0 { null_mut() } else { values.as_mut_ptr() };
        // SAFETY: lists of our own, and memory for as many values.
        unsafe {
            get::get(from.0, from.1, &access, place.cast())?;
            put::put(to.0, to.1, &access, place.cast())?;
        }
    }
    Ok(())
}

fn c_string(text: &str) -> Outcome<CString> {
    CString::new(text).map_err(|_| Status::EBADNAME)
}

/// What another function of this library returned.
fn done(status: c_int) -> Outcome {
    if status == 0 { Ok(()) } else { Err(Status(status)) }
}
