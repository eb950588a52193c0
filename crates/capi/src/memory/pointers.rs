//! The strings and sequences inside C memory: freeing, copying.

use std::ffi::c_char;

use isotach::model::{Atomic, DataType, UserClass};

use super::cells::Cells;
use super::{Sequence, allocate, checked};
use crate::status::{Outcome, Status};

/// A place in memory that points elsewhere. It need not be aligned.
enum Pointer<'t> {
    String(*mut *mut c_char),
    /// And the type of its elements.
    Sequence(*mut Sequence, &'t DataType),
}

/// Frees everything that `count` elements point to, and leaves NULL there.
///
/// # Errors
/// `NC_EINVAL` for a sequence that has elements and points nowhere; what comes behind it is not freed.
///
/// # Safety
/// The module's contract.
pub(crate) unsafe fn free(data_type: &DataType, at: *mut u8, count: usize) -> Outcome {
    let cells = Cells::new(data_type, count)?;
    let mut free_one = |pointer: Pointer<'_>| {
        match pointer {
            // SAFETY: the place is valid, and the string by the contract from `malloc`.
            Pointer::String(place) => unsafe {
                libc::free(place.read_unaligned().cast());
                place.write_unaligned(std::ptr::null_mut());
            },
            // SAFETY: the place is valid, and the elements by the contract from `malloc`.
            Pointer::Sequence(place, of) => unsafe {
                let Sequence { len, p } = checked(place.read_unaligned())?;
                free(of, p.cast(), len)?;
                libc::free(p);
                place.write_unaligned(Sequence::EMPTY);
            },
        }
        Ok(())
    };
    // SAFETY: by the contract.
    unsafe { each_pointer(data_type, at, &cells, &mut free_one) }
}

/// Copies `count` elements with everything that they point to. After an error nothing is left to free.
///
/// # Errors
/// `NC_ENOMEM`; `NC_EINVAL` for a sequence that has elements and points nowhere.
///
/// # Safety
/// The module's contract.
pub(crate) unsafe fn copy(
    data_type: &DataType,
    from: *const u8,
    count: usize,
    to: *mut u8,
) -> Outcome {
    let cells = Cells::new(data_type, count)?;
    let mut done = Ok(());
    // After an error the rest points nowhere, and not to what is not its own.
    let mut own_one = |pointer: Pointer<'_>| {
        match pointer {
            // SAFETY: the place is valid, and the string by the contract NULL or ended by a zero.
            Pointer::String(place) => unsafe {
                let string = place.read_unaligned();
                let copied = if string.is_null() || done.is_err() {
                    std::ptr::null_mut()
                } else {
                    let copied = libc::strdup(string);
                    if copied.is_null() {
                        done = Err(Status::ENOMEM);
                    }
                    copied
                };
                place.write_unaligned(copied);
            },
            // SAFETY: the place is valid, and the elements are by the contract as many.
            Pointer::Sequence(place, of) => unsafe {
                let sequence = place.read_unaligned();
                let copied = done.and_then(|()| copy_sequence(of, sequence));
                done = copied.map(drop);
                place.write_unaligned(copied.unwrap_or(Sequence::EMPTY));
            },
        }
        Ok(())
    };
    // SAFETY: by the contract the two do not overlap; `Cells` has held the product against memory.
    unsafe {
        to.copy_from_nonoverlapping(from, count * data_type.layout().size);
        each_pointer(data_type, to, &cells, &mut own_one)?;
        done.inspect_err(|_| {
            // All that is there is whole.
            let _ = free(data_type, to, count);
        })
    }
}

unsafe fn copy_sequence(of: &DataType, sequence: Sequence) -> Outcome<Sequence> {
    let Sequence { len, p: from } = checked(sequence)?;
    if len == 0 {
        return Ok(Sequence::EMPTY);
    }
    let p = allocate(len.checked_mul(of.layout().size).ok_or(Status::EINVAL)?)?;
    // SAFETY: the new memory has room for as many elements as the caller promises.
    match unsafe { copy(of, from.cast(), len, p) } {
        Ok(()) => Ok(Sequence { len, p: p.cast() }),
        Err(status) => {
            // SAFETY: just allocated; `copy` left nothing in it.
            unsafe { libc::free(p.cast()) };
            Err(status)
        }
    }
}

/// Makes every string NULL and every sequence empty without looking at what is there.
///
/// # Safety
/// The module's contract.
pub(super) unsafe fn clear(data_type: &DataType, to: *mut u8, cells: &Cells) -> Outcome {
    let mut clear_one = |pointer: Pointer<'_>| {
        match pointer {
            // SAFETY: the place is valid.
            Pointer::String(place) => unsafe { place.write_unaligned(std::ptr::null_mut()) },
            // SAFETY: the place is valid.
            Pointer::Sequence(place, _) => unsafe { place.write_unaligned(Sequence::EMPTY) },
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { each_pointer(data_type, to, cells, &mut clear_one) }
}

/// True where elements of the type point to other memory.
fn has_pointers(data_type: &DataType) -> bool {
    match data_type {
        DataType::Atomic(atomic) => *atomic == Atomic::String,
        DataType::SmallFloat(_) | DataType::Foreign(_) => false,
        DataType::User(user) => match &user.class {
            UserClass::Vlen(_) => true,
            UserClass::Compound(fields) => {
                fields.iter().any(|field| has_pointers(&field.data_type))
            }
            UserClass::Enum { .. } | UserClass::Opaque => false,
        },
    }
}

/// Visits the pointers in all elements, but not those behind pointers.
unsafe fn each_pointer(
    data_type: &DataType,
    at: *mut u8,
    cells: &Cells,
    visit: &mut dyn FnMut(Pointer<'_>) -> Outcome,
) -> Outcome {
    match data_type {
        DataType::Atomic(Atomic::String) => {
            // SAFETY: by the contract there is a string at each offset.
            cells.each(|offset| visit(Pointer::String(unsafe { at.add(offset) }.cast())))
        }
        DataType::User(user) => match &user.class {
            UserClass::Vlen(of) => {
                // SAFETY: by the contract there is a sequence at each offset.
                cells.each(|offset| visit(Pointer::Sequence(unsafe { at.add(offset) }.cast(), of)))
            }
            UserClass::Compound(fields) => {
                for field in fields.iter().filter(|field| has_pointers(&field.data_type)) {
                    let (_, inner) = cells.within(field)?;
                    // SAFETY: by the contract the member lies within the element.
                    unsafe { each_pointer(&field.data_type, at.add(field.offset), &inner, visit) }?;
                }
                Ok(())
            }
            UserClass::Enum { .. } | UserClass::Opaque => Ok(()),
        },
        DataType::Atomic(_) | DataType::SmallFloat(_) | DataType::Foreign(_) => Ok(()),
    }
}
