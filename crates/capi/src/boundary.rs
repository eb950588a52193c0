//! The border to C: pointers are looked at here, strings come in and go out, panics stay inside.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use isotach::model::names;
use isotach::process::uncancelled;

use crate::moving;
use crate::status::{Outcome, Status, status_of_name};
use crate::trace;

/// Runs what a call does and gives what it returns. A panic is netCDF's internal error. A thread that is
/// cancelled meanwhile ends after the call: unwound from its midst, it would leave locks closed.
pub(crate) fn answer(work: impl FnMut() -> Outcome) -> c_int {
    uncancelled(|| answer_at_once(work))
}

/// As `answer`, for the calls that programs make by the ten thousand and that look at what an open file has:
/// they reach no point of cancellation (the engine reads by calls of the system that are none, and says itself
/// where it opens or waits), and asking for none costs as much as a tenth of them.
pub(crate) fn answer_at_once(mut work: impl FnMut() -> Outcome) -> c_int {
    let call = trace::begin();
    let status = moving::settled(|| match catch_unwind(AssertUnwindSafe(&mut work)) {
        Ok(Ok(())) => 0,
        Ok(Err(Status(number))) => number,
        Err(_) => Status::EINTERNAL.0,
    });
    if let Some(call) = call {
        call.end(status);
    }
    status
}

/// A string that must be there.
///
/// # Errors
/// `NC_EINVAL` for NULL, `NC_EBADNAME` where it is not UTF-8.
///
/// # Safety
/// `text` is NULL or ends with a zero and stays as it is during the call.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Outcome<&'a str> {
    if text.is_null() {
        return Err(Status::EINVAL);
    }
    // SAFETY: by this function's contract.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Status::EBADNAME)
}

/// A new name in composed form.
///
/// # Errors
/// `NC_EBADNAME`, `NC_EMAXNAME`.
pub(crate) fn checked(name: &str) -> Outcome<Cow<'_, str>> {
    names::check(name).map_err(status_of_name)
}

/// Stores a result where the caller wants it.
///
/// # Safety
/// `to` is NULL or valid for one element.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: by this function's contract.
        unsafe { to.write(value) };
    }
}

/// Stores a name with its closing zero where the caller wants it.
///
/// # Safety
/// `to` is NULL or has room for `name` and a zero: `NC_MAX_NAME + 1` bytes do for every name.
pub(crate) unsafe fn put_text(to: *mut c_char, name: &str) {
    if !to.is_null() {
        // SAFETY: by this function's contract; the two do not overlap, as `name` is ours.
        unsafe {
            to.copy_from_nonoverlapping(name.as_ptr().cast(), name.len());
            to.add(name.len()).write(0);
        }
    }
}

/// Stores a list where the caller wants it.
///
/// # Safety
/// `to` is NULL or has room for all of `list`.
pub(crate) unsafe fn put_list<T: Copy>(to: *mut T, list: &[T]) {
    if !to.is_null() {
        // SAFETY: by this function's contract; the two do not overlap, as `list` is ours.
        unsafe { to.copy_from_nonoverlapping(list.as_ptr(), list.len()) };
    }
}

/// The caller's list.
///
/// # Errors
/// `NC_EINVAL` for NULL where there are elements.
///
/// # Safety
/// `list` is NULL or valid for `len` elements that stay as they are during the call.
pub(crate) unsafe fn list<'a, T>(list: *const T, len: usize) -> Outcome<&'a [T]> {
    match (list.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Status::EINVAL),
        // SAFETY: by this function's contract.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(list, len) }),
    }
}

/// A count as C has it.
///
/// # Errors
/// `NC_ERANGE` beyond what a C int holds.
pub(crate) fn counted(count: usize) -> Outcome<c_int> {
    c_int::try_from(count).map_err(|_| Status::ERANGE)
}
