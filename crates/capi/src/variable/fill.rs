//! Fill values, and whether there are any.

use std::ffi::{c_int, c_void};

use isotach::Fill;
use isotach::model::{Atomic, DataType, Values, fill};

use super::definition::define;
use super::{NC_GLOBAL, find};
use crate::boundary::{answer, counted, put};
use crate::handle;
use crate::memory;
use crate::model::{OpenFile, VariableNode};
use crate::status::{Outcome, Status};

/// The attribute that tells a variable's fill value.
const FILL_VALUE: &str = "_FillValue";
/// What netCDF-4 tells as the mode of variables that were defined while the file was not filled.
const NC_NOFILL: c_int = 0x100;

/// Says whether what is never written of a variable is filled, and with what.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_var_fill(
    group: c_int,
    id: c_int,
    no_fill: c_int,
    value: *const c_void,
) -> c_int {
    answer(|| {
        let file = handle::file(group)?;
        if id == NC_GLOBAL {
            return Err(Status::EGLOBAL);
        }
        let say = |node: &VariableNode| {
            let data_type = node.variable.data_type();
            let value = match value.is_null() {
                true => None,
                // SAFETY: the caller's element of the variable's type.
                false => Some(unsafe { memory::unpack(data_type, value.cast(), 1) }?),
            };
            set_fill(&file, node, no_fill != 0, value)
        };
        if file.is_hdf5() {
            return define(group, id, say);
        }
        file.writer()?;
        file.check_define_mode()?;
        let _phase = file.defining()?;
        say(&*find(group, id)?)
    })
}

fn set_fill(file: &OpenFile, node: &VariableNode, no_fill: bool, value: Option<Values>) -> Outcome {
    let writer = node.writer()?;
    let is_string = matches!(node.variable.data_type(), DataType::Atomic(Atomic::String));
    if no_fill && is_string {
        return Err(Status::EINVAL);
    }
    // Where the attribute is set again it becomes the last one. Classic files keep it beside the mode.
    let is_replaced = if no_fill { file.is_hdf5() } else { value.is_some() };
    if is_replaced && node.variable.attribute(FILL_VALUE)?.is_some() {
        writer.delete_attribute(FILL_VALUE)?;
    }
    writer.change_options(|options| match (no_fill, value) {
        (true, _) => options.fill = Fill::None,
        (false, Some(value)) => options.fill = Fill::Value(value),
        (false, None) if options.fill == Fill::None => options.fill = Fill::Default,
        (false, None) => {}
    })?;
    node.said().no_fill = Some(no_fill.into());
    Ok(())
}

/// Says whether what is never written of any variable of a classic file is filled. Those that were filled when
/// definitions ended stay so.
pub(crate) fn set_fill_of_all(file: &OpenFile, fills: bool) -> Outcome {
    let root = file.group(0)?;
    let count = counted(root.variable_count()?)?;
    (0..count).try_for_each(|id| set_fill(file, &*root.variable(id)?, !fills, None))
}

/// The mode that a new variable of that type has, as it is told.
pub(super) fn mode_of_new(file: &OpenFile, data_type: &DataType) -> Outcome<c_int> {
    let always = data_type.atomic().is_none_or(|atomic| atomic == Atomic::String);
    match (always || file.writer()?.fills()?, file.is_hdf5()) {
        (true, _) => Ok(0),
        (false, true) => Ok(NC_NOFILL),
        (false, false) => Ok(1),
    }
}

/// Whether what is never written of a variable is filled, and with what.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_fill(
    group: c_int,
    id: c_int,
    no_fill: *mut c_int,
    value: *mut c_void,
) -> c_int {
    answer(|| {
        let (file, node) = (handle::file(group)?, find(group, id)?);
        let said = node.said().no_fill;
        let mode = match said {
            Some(said) => said,
            None => (!node.variable.fill_value()?.fill).into(),
        };
        // SAFETY: the caller's place for a mode.
        unsafe { put(no_fill, mode) };
        if value.is_null() || (file.is_hdf5() && mode != 0) {
            return Ok(());
        }
        let (data_type, to) = (node.variable.data_type(), value.cast::<u8>());
        if let Some(stated) = stated_fill(&file, &node)? {
            // SAFETY: as below; at most as many bytes as an element has.
            unsafe { hand_over(&stated, to, data_type.layout().size) };
            return Ok(());
        }
        match fill_value(&file, &node)? {
            // SAFETY: the caller's room for an element of the variable's type.
            Some(found) => unsafe { memory::pack(data_type, &found, to) },
            None => {
                // SAFETY: as above; elements of user-defined types may be all zeros.
                unsafe { to.write_bytes(0, data_type.layout().size) };
                Ok(())
            }
        }
    })
}

/// What the attribute of a classic file says, where there is one: whatever that is.
fn stated_fill(file: &OpenFile, node: &VariableNode) -> Outcome<Option<Values>> {
    if file.is_hdf5() {
        return Ok(None);
    }
    node.variable.attribute(FILL_VALUE)?.map(|stated| Ok(stated.values()?)).transpose()
}

/// The first bytes of values. The original hands over all there are.
///
/// # Safety
/// `to` has room for `room` bytes.
unsafe fn hand_over(values: &Values, to: *mut u8, room: usize) {
    let bytes = values.native_bytes().unwrap_or_default();
    // SAFETY: by this function's contract; the values are our own.
    unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len().min(room)) };
}

/// One element, where no attribute of a classic file says which; `None` for one of a user-defined type of which
/// nothing was said.
fn fill_value(file: &OpenFile, node: &VariableNode) -> Outcome<Option<Values>> {
    if !file.is_hdf5() {
        return Ok(fill::default_fill_of(node.variable.data_type()));
    }
    Ok(Some(node.variable.fill_value()?.value).filter(|found| !found.is_empty()))
}
