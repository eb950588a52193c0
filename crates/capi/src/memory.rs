//! C memory of any netCDF type, and the engine's values.
//!
//! An element lies as the caller's compiler has it: members at the offsets of their type, a string as
//! `char *`, a sequence as `nc_vlen_t`. What such pointers lead to is from `malloc`.
//!
//! # Contract
//! - `from`, `to` and `at` are valid for `count` elements of `DataType::layout`'s size; no alignment is
//!   needed. `to` may hold anything, and overlaps nothing.
//! - Strings are NULL or end with a zero. A sequence of `len` elements points to as many; where `len` is 0
//!   nobody looks at the pointer.
//! - Where memory is freed, every string that is not NULL, and the elements of every sequence that has
//!   some, are from `malloc` and belong to nobody else.
//! - The members of a compound type lie within its size, which holds for every committed type.

mod cells;
mod pointers;

use std::ffi::{CStr, c_char, c_void};

use isotach::model::{Atomic, DataType, Field, UserClass, Values};

use crate::status::{Outcome, Status};
use cells::Cells;
pub(crate) use pointers::{copy, free};

/// `nc_vlen_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Sequence {
    /// How many elements.
    pub len: usize,
    /// The first of them.
    pub p: *mut c_void,
}

impl Sequence {
    const EMPTY: Self = Self { len: 0, p: std::ptr::null_mut() };
}

/// `count` elements of C memory as the engine has them.
///
/// # Errors
/// `NC_EINVAL` for a sequence that has elements and points nowhere, and for more bytes than memory has.
///
/// # Safety
/// The module's contract.
pub(crate) unsafe fn unpack(
    data_type: &DataType,
    from: *const u8,
    count: usize,
) -> Outcome<Values> {
    // SAFETY: by the contract.
    unsafe { gather(data_type, from, &Cells::new(data_type, count)?) }
}

/// The engine's values as C memory. Strings and sequences are the caller's from then on; after an error
/// nothing is left to free.
///
/// # Errors
/// `NC_ENOMEM`; `NC_EINTERNAL` where the values are not of that type.
///
/// # Safety
/// The module's contract, for as many elements as there are values.
pub(crate) unsafe fn pack(data_type: &DataType, values: &Values, to: *mut u8) -> Outcome {
    let cells = Cells::new(data_type, values.len())?;
    // SAFETY: by the contract; what was cleared can be freed at any time.
    unsafe {
        pointers::clear(data_type, to, &cells)?;
        scatter(data_type, values, to, &cells).inspect_err(|_| {
            // That nothing was allocated twice holds for what is freed here.
            let _ = free(data_type, to, values.len());
        })
    }
}

/// One column out of the elements that `cells` finds from `from`.
unsafe fn gather(data_type: &DataType, from: *const u8, cells: &Cells) -> Outcome<Values> {
    match data_type {
        DataType::Atomic(Atomic::String) => {
            let mut strings = Vec::with_capacity(cells.count());
            cells.each(|offset| {
                // SAFETY: by the contract there is a string at each offset.
                let string = unsafe { from.add(offset).cast::<*const c_char>().read_unaligned() };
                // SAFETY: by the contract it ends with a zero.
                let bytes = (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) });
                strings.push(bytes.map(|bytes| bytes.to_bytes().into()));
                Ok(())
            })?;
            Ok(Values::String(strings))
        }
        DataType::User(user) => match &user.class {
            UserClass::Vlen(of) => {
                let mut sequences = Vec::with_capacity(cells.count());
                cells.each(|offset| {
                    // SAFETY: by the contract there is a sequence at each offset.
                    let sequence = unsafe { from.add(offset).cast::<Sequence>().read_unaligned() };
                    let Sequence { len, p } = checked(sequence)?;
                    // SAFETY: by the contract it has so many elements.
                    sequences.push(unsafe { unpack(of, p.cast(), len) }?);
                    Ok(())
                })?;
                Ok(Values::Sequence(sequences))
            }
            UserClass::Compound(fields) => {
                let mut members = Vec::with_capacity(fields.len());
                for field in fields {
                    // SAFETY: by the contract the member lies within the element.
                    let column = unsafe { gather_member(field, from.add(field.offset), cells) }?;
                    members.push((field.name.clone(), column));
                }
                Ok(Values::Compound { count: cells.count(), members })
            }
            // SAFETY: the caller's promise.
            UserClass::Enum { .. } | UserClass::Opaque => unsafe {
                gather_plain(data_type, from, cells)
            },
        },
        // SAFETY: the caller's promise.
        DataType::Atomic(_) | DataType::SmallFloat(_) | DataType::Foreign(_) => unsafe {
            gather_plain(data_type, from, cells)
        },
    }
}

unsafe fn gather_member(field: &Field, from: *const u8, cells: &Cells) -> Outcome<Values> {
    let (len, inner) = cells.within(field)?;
    // SAFETY: the caller's promise.
    let elements = unsafe { gather(&field.data_type, from, &inner) }?;
    Ok(match field.shape.is_empty() {
        true => elements,
        false => Values::Array { len, count: cells.count(), elements: Box::new(elements) },
    })
}

unsafe fn gather_plain(data_type: &DataType, from: *const u8, cells: &Cells) -> Outcome<Values> {
    let mut values = Values::zeros(data_type, cells.count());
    let mut rest = values.native_bytes_mut().ok_or(Status::EINTERNAL)?;
    cells.each_run(|offset, len| {
        let (run, behind) =
            std::mem::take(&mut rest).split_at_mut_checked(len).ok_or(Status::EINTERNAL)?;
        // SAFETY: by the contract the run is readable; `run` is ours and has `len` bytes.
        unsafe { run.as_mut_ptr().copy_from_nonoverlapping(from.add(offset), len) };
        rest = behind;
        Ok(())
    })?;
    Ok(values)
}

/// One column to the elements that `cells` finds from `to`.
unsafe fn scatter(data_type: &DataType, values: &Values, to: *mut u8, cells: &Cells) -> Outcome {
    if values.len() != cells.count() {
        return Err(Status::EINTERNAL);
    }
    let class = match data_type {
        DataType::User(user) => Some(&user.class),
        DataType::Atomic(_) | DataType::SmallFloat(_) | DataType::Foreign(_) => None,
    };
    match (values, class) {
        (Values::String(strings), None) if data_type.atomic() == Some(Atomic::String) => {
            let mut strings = strings.iter();
            cells.each(|offset| {
                let string = strings.next().ok_or(Status::EINTERNAL)?;
                let copied = string.as_deref().map(allocate_string).transpose()?;
                let copied = copied.unwrap_or(std::ptr::null_mut());
                // SAFETY: by the contract there is room for a string at each offset.
                unsafe { to.add(offset).cast::<*mut c_char>().write_unaligned(copied) };
                Ok(())
            })
        }
        (Values::Sequence(sequences), Some(UserClass::Vlen(of))) => {
            let mut sequences = sequences.iter();
            cells.each(|offset| {
                let sequence = pack_sequence(of, sequences.next().ok_or(Status::EINTERNAL)?)?;
                // SAFETY: by the contract there is room for a sequence at each offset.
                unsafe { to.add(offset).cast::<Sequence>().write_unaligned(sequence) };
                Ok(())
            })
        }
        (Values::Compound { members, .. }, Some(UserClass::Compound(fields)))
            if members.len() == fields.len() =>
        {
            for (field, (_, column)) in fields.iter().zip(members) {
                // SAFETY: by the contract the member lies within the element.
                unsafe { scatter_member(field, column, to.add(field.offset), cells) }?;
            }
            Ok(())
        }
        // SAFETY: the caller's promise.
        _ => unsafe { scatter_plain(data_type, values, to, cells) },
    }
}

unsafe fn scatter_member(field: &Field, column: &Values, to: *mut u8, cells: &Cells) -> Outcome {
    let column = match (field.shape.is_empty(), column) {
        (true, column) => column,
        (false, Values::Array { elements, .. }) => elements,
        (false, _) => return Err(Status::EINTERNAL),
    };
    let (_, inner) = cells.within(field)?;
    // SAFETY: the caller's promise.
    unsafe { scatter(&field.data_type, column, to, &inner) }
}

unsafe fn scatter_plain(
    data_type: &DataType,
    values: &Values,
    to: *mut u8,
    cells: &Cells,
) -> Outcome {
    let mut rest = values.native_bytes().ok_or(Status::EINTERNAL)?;
    if Some(rest.len()) != cells.count().checked_mul(data_type.layout().size) {
        return Err(Status::EINTERNAL);
    }
    cells.each_run(|offset, len| {
        let (run, behind) = rest.split_at_checked(len).ok_or(Status::EINTERNAL)?;
        // SAFETY: by the contract the run is writable; `run` is ours and has `len` bytes.
        unsafe { to.add(offset).copy_from_nonoverlapping(run.as_ptr(), len) };
        rest = behind;
        Ok(())
    })
}

fn pack_sequence(of: &DataType, values: &Values) -> Outcome<Sequence> {
    let len = values.len();
    if len == 0 {
        return Ok(Sequence::EMPTY);
    }
    let p = allocate(len.checked_mul(of.layout().size).ok_or(Status::ENOMEM)?)?;
    // SAFETY: just allocated for so many elements.
    match unsafe { pack(of, values, p) } {
        Ok(()) => Ok(Sequence { len, p: p.cast() }),
        Err(status) => {
            // SAFETY: just allocated; `pack` left nothing in it.
            unsafe { libc::free(p.cast()) };
            Err(status)
        }
    }
}

/// Memory that C frees.
pub(crate) fn allocate(bytes: usize) -> Outcome<*mut u8> {
    // SAFETY: any size may be asked for.
    let memory = unsafe { libc::malloc(bytes.max(1)) };
    if memory.is_null() { Err(Status::ENOMEM) } else { Ok(memory.cast()) }
}

/// A string that C frees.
pub(crate) fn allocate_string(bytes: &[u8]) -> Outcome<*mut c_char> {
    let memory = allocate(bytes.len().checked_add(1).ok_or(Status::ENOMEM)?)?;
    // SAFETY: just allocated for the bytes and a zero.
    unsafe {
        memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        memory.add(bytes.len()).write(0);
    }
    Ok(memory.cast())
}

/// A sequence that points to its elements.
fn checked(sequence: Sequence) -> Outcome<Sequence> {
    match sequence {
        Sequence { len: 0, .. } => Ok(Sequence::EMPTY),
        Sequence { p, .. } if p.is_null() => Err(Status::EINVAL),
        _ => Ok(sequence),
    }
}

#[cfg(test)]
mod tests;
