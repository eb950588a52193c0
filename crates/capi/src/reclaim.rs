//! What C programs hold of any type: freeing, copying and printing it with all that it points to.

mod dump;

use std::ffi::{c_char, c_int, c_void};

use isotach::model::DataType;

use crate::boundary::{answer, list, put, put_list};
use crate::group::enhanced;
use crate::handle;
use crate::memory::{self, Sequence};
use crate::model::{FIRST_USER_TYPE, TypeClass, atomic};
use crate::status::{Outcome, Status};

/// The type that an id means; netCDF's own need no file.
///
/// # Errors
/// `NC_EBADID`, `NC_ENOTNC4`, `NC_EBADTYPE`.
pub(crate) fn any_type(group: c_int, id: c_int) -> Outcome<DataType> {
    match atomic(id) {
        Some(atomic) => Ok(atomic.into()),
        None if id < FIRST_USER_TYPE => Err(Status::EBADTYPE),
        None => enhanced(group)?.0.data_type(id),
    }
}

fn check(group: c_int, id: c_int, memory: *const c_void, count: usize) -> Outcome {
    let is_wrong = group < 0 || id <= 0 || (memory.is_null() && count > 0);
    if is_wrong { Err(Status::EINVAL) } else { Ok(()) }
}

/// Frees what elements point to, but not the elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_reclaim_data(
    group: c_int,
    id: c_int,
    memory: *mut c_void,
    count: usize,
) -> c_int {
    answer(|| {
        check(group, id, memory, count)?;
        if count == 0 {
            return Ok(());
        }
        if atomic(id).is_none() {
            enhanced(group)?;
        }
        // SAFETY: the caller's elements, of that type.
        unsafe { memory::free(&any_type(group, id)?, memory.cast(), count) }
    })
}

/// Frees elements and what they point to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_reclaim_data_all(
    group: c_int,
    id: c_int,
    memory: *mut c_void,
    count: usize,
) -> c_int {
    // SAFETY: the caller's elements, which are from `malloc`.
    unsafe {
        let status = nc_reclaim_data(group, id, memory, count);
        if status == 0 {
            libc::free(memory);
        }
        status
    }
}

/// Copies elements and what they point to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_copy_data(
    group: c_int,
    id: c_int,
    memory: *const c_void,
    count: usize,
    copy: *mut c_void,
) -> c_int {
    answer(|| {
        check(group, id, memory, count)?;
        check(group, id, copy, count)?;
        if count == 0 {
            return Ok(());
        }
        // SAFETY: the caller's elements, of that type, and room for as many.
        unsafe { memory::copy(&any_type(group, id)?, memory.cast(), count, copy.cast()) }
    })
}

/// Copies elements and what they point to into memory of their own, which is NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_copy_data_all(
    group: c_int,
    id: c_int,
    memory: *const c_void,
    count: usize,
    copy: *mut *mut c_void,
) -> c_int {
    answer(|| {
        let data_type = any_type(group, id)?;
        check(group, id, memory, count)?;
        if copy.is_null() {
            return Ok(());
        }
        let mut copied = std::ptr::null_mut();
        if count > 0 {
            let bytes = count.checked_mul(data_type.layout().size).ok_or(Status::ENOMEM)?;
            let room = memory::allocate(bytes)?;
            // SAFETY: the caller's elements; there is room for as many, which a failed copy leaves empty.
            unsafe {
                memory::copy(&data_type, memory.cast(), count, room)
                    .inspect_err(|_| libc::free(room.cast()))?;
            }
            copied = room.cast();
        }
        // SAFETY: not NULL, so the caller's place for a pointer.
        unsafe { put(copy, copied) };
        Ok(())
    })
}

/// Elements in words, which the caller frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_dump_data(
    group: c_int,
    id: c_int,
    memory: *mut c_void,
    count: usize,
    words: *mut *mut c_char,
) -> c_int {
    answer(|| {
        check(group, id, memory, count)?;
        if count == 0 {
            return Ok(());
        }
        let data_type = any_type(group, id)?;
        // SAFETY: the caller's elements, of that type.
        let values = unsafe { memory::unpack(&data_type, memory.cast(), count) }?;
        if !words.is_null() {
            let dumped = memory::allocate_string(&dump::dump(&data_type, &values))?;
            // SAFETY: not NULL, so the caller's place for a pointer.
            unsafe { put(words, dumped) };
        }
        Ok(())
    })
}

/// Elements in words on the standard error stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_print_data(
    group: c_int,
    id: c_int,
    memory: *mut c_void,
    count: usize,
) -> c_int {
    let mut words = std::ptr::null_mut();
    // SAFETY: the caller's elements.
    let status = unsafe { nc_dump_data(group, id, memory, count, &raw mut words) };
    if !words.is_null() {
        // SAFETY: `nc_dump_data` has given a string that is ours.
        unsafe {
            eprintln!("{}", std::ffi::CStr::from_ptr(words).to_string_lossy());
            libc::free(words.cast());
        }
    }
    status
}

/// Frees strings, but not the list of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_string(count: usize, strings: *mut *mut c_char) -> c_int {
    answer(|| {
        // SAFETY: the caller's strings, which are NULL or from `malloc`.
        unsafe { list(strings, count)?.iter().for_each(|&string| libc::free(string.cast())) };
        Ok(())
    })
}

/// Frees the elements of a sequence, but nothing that they point to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_vlen(sequence: *mut Sequence) -> c_int {
    // SAFETY: the caller's sequence.
    unsafe { nc_free_vlens(1, sequence) }
}

/// Frees the elements of sequences, but nothing that they point to, and not the list of sequences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_vlens(count: usize, sequences: *mut Sequence) -> c_int {
    answer(|| {
        // SAFETY: the caller's sequences, whose elements are from `malloc`.
        unsafe { list(sequences, count)?.iter().for_each(|sequence| libc::free(sequence.p)) };
        Ok(())
    })
}

/// Makes a sequence of elements that stay the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_put_vlen_element(
    group: c_int,
    _id: c_int,
    sequence: *mut c_void,
    len: usize,
    elements: *const c_void,
) -> c_int {
    answer(|| {
        handle::file(group)?.check_hdf5()?;
        // SAFETY: the caller's place for a sequence.
        unsafe { put(sequence.cast(), Sequence { len, p: elements.cast_mut() }) };
        Ok(())
    })
}

/// Copies the elements of a sequence.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_vlen_element(
    group: c_int,
    id: c_int,
    sequence: *const c_void,
    len: *mut usize,
    elements: *mut c_void,
) -> c_int {
    answer(|| {
        let (file, _) = enhanced(group)?;
        let TypeClass::Vlen { base } = file.user_type(id)?.class else {
            return Err(Status::EBADTYPE);
        };
        let size = file.element_size(base)?;
        // SAFETY: the caller's sequence.
        let sequence =
            *unsafe { list(sequence.cast::<Sequence>(), 1) }?.first().ok_or(Status::EINVAL)?;
        let bytes = sequence.len.checked_mul(size).ok_or(Status::EINVAL)?;
        // SAFETY: as many elements as the sequence says, and the caller's room for them.
        unsafe {
            put(len, sequence.len);
            put_list(elements.cast(), list(sequence.p.cast::<u8>(), bytes)?);
        }
        Ok(())
    })
}
