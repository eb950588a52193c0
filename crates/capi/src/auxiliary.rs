//! `netcdf_aux.h`: types laid out as a C compiler does it, whole files, and second names.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::{self, File};
use std::io::{self, Read};

use isotach::model::data_type::layout;
use isotach::model::{DataType, Field};

use crate::boundary::{answer, list, put, put_text, text};
use crate::memory::{self, Sequence};
use crate::model::{atomic, class};
use crate::reclaim::{
    any_type, nc_copy_data, nc_copy_data_all, nc_dump_data, nc_reclaim_data, nc_reclaim_data_all,
};
use crate::status::{Outcome, Status};
use crate::user_type::inquire::nc_inq_user_type;
use crate::user_type::{nc_def_compound, nc_insert_array_compound};

/// Functions of `netcdf.h` by their older names.
macro_rules! second_names {
    ($($(#[$doc:meta])* $name:ident = $of:ident($($arg:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the same contract.
            unsafe { $of($($arg),*) }
        }
    )*};
}

second_names! {
    /// `nc_reclaim_data`.
    ncaux_reclaim_data = nc_reclaim_data(group: c_int, id: c_int, memory: *mut c_void, count: usize);
    /// `nc_reclaim_data_all`.
    ncaux_reclaim_data_all =
        nc_reclaim_data_all(group: c_int, id: c_int, memory: *mut c_void, count: usize);
    /// `nc_copy_data`.
    ncaux_copy_data = nc_copy_data(
        group: c_int, id: c_int, memory: *const c_void, count: usize, copy: *mut c_void);
    /// `nc_copy_data_all`.
    ncaux_copy_data_all = nc_copy_data_all(
        group: c_int, id: c_int, memory: *const c_void, count: usize, copy: *mut *mut c_void);
    /// `nc_dump_data`.
    ncaux_dump_data = nc_dump_data(
        group: c_int, id: c_int, memory: *mut c_void, count: usize, words: *mut *mut c_char);
}

/// What any type is, also one of netCDF's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_inq_any_type(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
    members: *mut usize,
    class: *mut c_int,
) -> c_int {
    let Some(atomic) = atomic(id) else {
        // SAFETY: the same contract.
        return unsafe { nc_inq_user_type(group, id, name, size, base, members, class) };
    };
    answer(|| {
        // SAFETY: the caller's room for a name and places for numbers.
        unsafe {
            put_text(name, atomic.name());
            put(size, DataType::from(atomic).layout().size);
            put(base, 0);
            put(members, 0);
            put(class, id);
        }
        Ok(())
    })
}

/// Of what the addresses of elements are multiples, for a class of types; an enumeration's and a compound
/// type's depends on what they are made of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_class_alignment(type_class: c_int, alignment: *mut usize) -> c_int {
    answer(|| {
        let found = match type_class {
            class::VLEN => align_of::<Sequence>(),
            class::OPAQUE => 1,
            _ => atomic(type_class).map_or(0, |atomic| DataType::from(atomic).layout().alignment),
        };
        // SAFETY: the caller's place for a number.
        unsafe { put(alignment, found) };
        if found == 0 { Err(Status::EINVAL) } else { Ok(()) }
    })
}

/// Of what the addresses of a type's elements are multiples.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_type_alignment(
    id: c_int,
    group: c_int,
    alignment: *mut usize,
) -> c_int {
    answer(|| {
        let found = any_type(group, id)?.layout().alignment;
        // SAFETY: the caller's place for a number.
        unsafe { put(alignment, found) };
        Ok(())
    })
}

/// A compound type whose members get their places in the end.
struct Structure {
    group: c_int,
    name: CString,
    fields: Vec<(CString, c_int, Vec<c_int>)>,
}

/// Begins a compound type; what `tag` gets is for the functions below, the last of which frees it. Members
/// lie as in C, whatever the mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_begin_compound(
    group: c_int,
    name: *const c_char,
    _alignment_mode: c_int,
    tag: *mut *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let name = unsafe { c_text(name) }?;
        if !tag.is_null() {
            let structure = Box::new(Structure { group, name, fields: Vec::new() });
            // SAFETY: not NULL, so the caller's place for a pointer.
            unsafe { put(tag, Box::into_raw(structure).cast()) };
        }
        Ok(())
    })
}

/// Adds a member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_add_field(
    tag: *mut c_void,
    name: *const c_char,
    field_type: c_int,
    axes: c_int,
    lens: *const c_int,
) -> c_int {
    answer(|| {
        // SAFETY: NULL or what `ncaux_begin_compound` gave.
        let Some(structure) = (unsafe { tag.cast::<Structure>().as_mut() }) else { return Ok(()) };
        let axes = usize::try_from(axes).map_err(|_| Status::EINVAL)?;
        // SAFETY: the caller's lengths, of which there are as many.
        let shape = unsafe { list(lens, axes) }?.to_vec();
        if shape.iter().any(|&len| len <= 0) {
            return Err(Status::EINVAL);
        }
        // SAFETY: the caller's string.
        structure.fields.push((unsafe { c_text(name) }?, field_type, shape));
        Ok(())
    })
}

/// Defines the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_end_compound(tag: *mut c_void, id: *mut c_int) -> c_int {
    answer(|| {
        // SAFETY: NULL or what `ncaux_begin_compound` gave.
        let structure = unsafe { tag.cast::<Structure>().as_ref() }.ok_or(Status::EINVAL)?;
        let mut fields = structure.fields()?;
        let size = layout::place(&mut fields);
        let mut new = 0;
        let (group, name) = (structure.group, &structure.name);
        // SAFETY: our own strings, lengths and numbers.
        done(unsafe { nc_def_compound(group, size, name.as_ptr(), &raw mut new) })?;
        for (field, (name, type_id, shape)) in fields.iter().zip(&structure.fields) {
            let (name, axes) = (name.as_ptr(), c_int::try_from(shape.len()));
            let axes = axes.map_err(|_| Status::EINVAL)?;
            let (lens, type_id) = (shape.as_ptr(), *type_id);
            // SAFETY: our own strings, lengths and numbers.
            done(unsafe {
                nc_insert_array_compound(group, new, name, field.offset, type_id, axes, lens)
            })?;
        }
        // SAFETY: the caller's place for an id.
        unsafe { put(id, new) };
        Ok(())
    })
}

/// Forgets what was begun, whether or not it was defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_abort_compound(tag: *mut c_void) -> c_int {
    answer(|| {
        if !tag.is_null() {
            // SAFETY: what `ncaux_begin_compound` gave, and nobody uses any more.
            drop(unsafe { Box::from_raw(tag.cast::<Structure>()) });
        }
        Ok(())
    })
}

impl Structure {
    fn fields(&self) -> Outcome<Vec<Field>> {
        let field = |(_, id, shape): &(_, c_int, Vec<c_int>)| {
            let len = |&len: &c_int| usize::try_from(len).map_err(|_| Status::EINVAL);
            let shape: Vec<usize> = shape.iter().map(len).collect::<Outcome<_>>()?;
            Ok(Field::new("", any_type(self.group, *id)?).with_shape(shape))
        };
        self.fields.iter().map(field).collect()
    }
}

fn done(status: c_int) -> Outcome {
    if status == 0 { Ok(()) } else { Err(Status(status)) }
}

/// # Safety
/// NULL or a string that ends with a zero.
unsafe fn c_text(name: *const c_char) -> Outcome<CString> {
    // SAFETY: by this function's contract.
    CString::new(unsafe { text(name) }?).map_err(|_| Status::EBADNAME)
}

/// The bytes of a file, which the caller frees; a zero comes behind them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_readfile(
    path: *const c_char,
    len: *mut usize,
    content: *mut *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let mut file = File::open(unsafe { text(path) }?).map_err(|error| status_of(&error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|_| Status::EIO)?;
        // SAFETY: the caller's places for a number and a pointer.
        unsafe {
            put(len, bytes.len());
            if !content.is_null() {
                put(content, memory::allocate_string(&bytes)?.cast());
            }
        }
        Ok(())
    })
}

/// Writes a file of these bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_writefile(
    path: *const c_char,
    len: usize,
    content: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's string and bytes.
        let (path, bytes) = unsafe { (text(path)?, list(content.cast::<u8>(), len)?) };
        fs::write(path, bytes).map_err(|error| status_of(&error))
    })
}

fn status_of(error: &io::Error) -> Status {
    error.raw_os_error().map_or(Status::EIO, Status)
}
