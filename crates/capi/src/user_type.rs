//! User-defined types: defining them here, asking what they are in `inquire`.

pub mod inquire;

use std::ffi::{c_char, c_int, c_void};

use crate::boundary::{answer, checked, list, put, text};
use crate::handle;
use crate::memory::Sequence;
use crate::model::{EnumMember, FieldNode, LAST_ATOMIC, OpenFile, TypeClass, TypeNode};
use crate::status::{Outcome, Status};

/// Defines a type. `size_of` tells the bytes of an element when the file has been found to have room for
/// types.
///
/// # Safety
/// `name` is NULL or ends with a zero, `id` is NULL or valid.
unsafe fn define(
    group: c_int,
    name: *const c_char,
    class: TypeClass,
    size_of: impl FnOnce(&OpenFile) -> Outcome<usize>,
    id: *mut c_int,
) -> Outcome {
    handle::any_file(group)?.check_hdf5()?;
    // SAFETY: by this function's contract.
    let name = checked(unsafe { text(name) }?)?;
    let (file, group) = handle::group(group)?;
    if file.has_modes() {
        return Err(Status::ESTRICTNC3);
    }
    // As in netCDF-C this is no matter of modes, and a file that is only read may have more types in memory.
    let _alone = file.phase_mut();
    let size = size_of(&file)?;
    if file.is_taken(&group, &name)? {
        return Err(Status::ENAMEINUSE);
    }
    let name = name.into_owned();
    let node = TypeNode { group: group.number, name, size, class, user: None, former: Vec::new() };
    let new = file.add_type(node)?;
    // SAFETY: by this function's contract.
    unsafe { put(id, new) };
    Ok(())
}

/// Bytes of an element, which has some.
fn some_bytes(size: usize) -> Outcome<usize> {
    if size == 0 { Err(Status::EINVAL) } else { Ok(size) }
}

/// Defines a compound type without members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_compound(
    group: c_int,
    size: usize,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    let class = || TypeClass::Compound(Vec::new());
    // SAFETY: the caller's string and place for an id.
    answer(|| unsafe { define(group, name, class(), |_| some_bytes(size), id) })
}

/// Defines a type of elements that are so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_opaque(
    group: c_int,
    size: usize,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the caller's string and place for an id.
    answer(|| unsafe { define(group, name, TypeClass::Opaque, |_| some_bytes(size), id) })
}

/// Defines a type of sequences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_vlen(
    group: c_int,
    name: *const c_char,
    base: c_int,
    id: *mut c_int,
) -> c_int {
    let size = |_: &OpenFile| Ok(size_of::<Sequence>());
    // SAFETY: the caller's string and place for an id.
    answer(|| unsafe { define(group, name, TypeClass::Vlen { base }, size, id) })
}

/// Defines an enumeration without members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_enum(
    group: c_int,
    base: c_int,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    let class = || TypeClass::Enum { base, members: Vec::new() };
    // SAFETY: the caller's string and place for an id.
    answer(|| unsafe { define(group, name, class(), |file| file.element_size(base), id) })
}

/// Adds a member to a compound type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_insert_compound(
    group: c_int,
    id: c_int,
    name: *const c_char,
    offset: usize,
    field_type: c_int,
) -> c_int {
    // SAFETY: the caller's string; there are no lengths.
    answer(|| unsafe { insert_field(group, id, name, offset, field_type, 0, std::ptr::null()) })
}

/// Adds a member that is an array to a compound type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_insert_array_compound(
    group: c_int,
    id: c_int,
    name: *const c_char,
    offset: usize,
    field_type: c_int,
    axes: c_int,
    lens: *const c_int,
) -> c_int {
    // SAFETY: the caller's string and lengths.
    answer(|| unsafe { insert_field(group, id, name, offset, field_type, axes, lens) })
}

unsafe fn insert_field(
    group: c_int,
    id: c_int,
    name: *const c_char,
    offset: usize,
    type_id: c_int,
    axes: c_int,
    lens: *const c_int,
) -> Outcome {
    handle::any_file(group)?.check_hdf5()?;
    // SAFETY: the caller's string.
    let name = checked(unsafe { text(name) }?)?.into_owned();
    let (file, _) = handle::group(group)?;
    file.change_type(id, |node| {
        let fields = node.fields_mut()?;
        let axes = usize::try_from(axes).map_err(|_| Status::ENOMEM)?;
        // SAFETY: the caller's lengths, of which there are as many.
        let shape = unsafe { list(lens, axes) }?.to_vec();
        fields.push(FieldNode { name, offset, type_id, shape });
        Ok(())
    })?;
    // The member is there all the same, and keeps the type from being committed.
    if type_id > LAST_ATOMIC { file.user_type(type_id).map(drop) } else { Ok(()) }
}

/// Adds a member to an enumeration. `value` is of its base type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_insert_enum(
    group: c_int,
    id: c_int,
    name: *const c_char,
    value: *const c_void,
) -> c_int {
    answer(|| {
        handle::any_file(group)?.check_hdf5()?;
        // SAFETY: the caller's string.
        let name = checked(unsafe { text(name) }?)?.into_owned();
        let (file, _) = handle::group(group)?;
        file.change_type(id, |node| {
            let size = node.size;
            let members = node.members_mut()?;
            // SAFETY: the caller's value, which has that many bytes.
            let value = unsafe { list(value.cast::<u8>(), size) }?.into();
            members.push(EnumMember { name, value });
            Ok(())
        })
    })
}
