//! `nclist.h`: lists of pointers, which grow.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use super::free;

/// As programs see it: they read `length` and `content` themselves.
#[repr(C)]
pub struct List {
    alloc: usize,
    length: usize,
    content: *mut *mut c_void,
}

/// The room that the first element makes.
const FIRST_ROOM: usize = 16;

const TRUE: c_int = 1;
const FALSE: c_int = 0;

impl List {
    fn elements(&mut self) -> &mut [*mut c_void] {
        if self.content.is_null() {
            return &mut [];
        }
        // SAFETY: `reserve` gave `content` room for `alloc` elements, of which `length` were written.
        unsafe { std::slice::from_raw_parts_mut(self.content, self.length) }
    }

    /// Makes room for `wanted` elements; false where there is no memory for them.
    fn reserve(&mut self, wanted: usize) -> bool {
        if wanted <= self.alloc {
            return true;
        }
        let room = wanted.max(FIRST_ROOM).max(self.alloc.saturating_mul(2));
        let Some(bytes) = room.checked_mul(size_of::<*mut c_void>()) else { return false };
        // SAFETY: `content` is NULL or came from here.
        let content = unsafe { libc::realloc(self.content.cast(), bytes) };
        if content.is_null() {
            return false;
        }
        self.content = content.cast();
        self.alloc = room;
        true
    }

    fn insert(&mut self, index: usize, element: *mut c_void) -> bool {
        if index > self.length || !self.reserve(self.length + 1) {
            return false;
        }
        // SAFETY: there is room for one more, which is written before it is looked at.
        unsafe { self.content.add(self.length).write(element) };
        self.length += 1;
        self.elements()[index..].rotate_right(1);
        true
    }

    fn remove(&mut self, index: usize) -> *mut c_void {
        let Some(rest) = self.elements().get_mut(index..).filter(|rest| !rest.is_empty()) else {
            return null_mut();
        };
        let removed = rest[0];
        rest.rotate_left(1);
        self.length -= 1;
        removed
    }
}

/// The list, where there is one.
///
/// # Safety
/// `list` is NULL or from [`nclistnew`], and no other call uses it at the time.
unsafe fn known<'a>(list: *mut List) -> Option<&'a mut List> {
    // SAFETY: by this function's contract.
    unsafe { list.as_mut() }
}

/// An empty list.
#[unsafe(no_mangle)]
pub extern "C" fn nclistnew() -> *mut List {
    // SAFETY: memory for one list; zeros are an empty one.
    unsafe { libc::calloc(1, size_of::<List>()) }.cast()
}

/// Frees a list, but not its elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistfree(list: *mut List) -> c_int {
    // SAFETY: the caller's list, which nobody uses afterwards.
    unsafe {
        if let Some(list) = known(list) {
            free(list.content);
        }
        free(list);
    }
    TRUE
}

/// Frees a list and what its elements point to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistfreeall(list: *mut List) -> c_int {
    // SAFETY: the caller's list and elements, which nobody uses afterwards.
    unsafe {
        if let Some(list) = known(list) {
            list.elements().iter().for_each(|&element| free(element));
        }
        nclistfree(list)
    }
}

/// Makes room for that many elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistsetalloc(list: *mut List, wanted: usize) -> c_int {
    // SAFETY: the caller's list.
    unsafe { known(list) }.map_or(FALSE, |list| c_int::from(list.reserve(wanted)))
}

/// Cuts or extends a list; what is new is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistsetlength(list: *mut List, length: usize) -> c_int {
    // SAFETY: the caller's list.
    let Some(list) = (unsafe { known(list) }) else { return FALSE };
    if !list.reserve(length) {
        return FALSE;
    }
    for index in list.length..length {
        // SAFETY: there is room for `length` elements.
        unsafe { list.content.add(index).write(null_mut()) };
    }
    list.length = length;
    TRUE
}

/// The element at that place; NULL where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistget(list: *mut List, index: usize) -> *mut c_void {
    // SAFETY: the caller's list.
    unsafe { known(list) }
        .and_then(|list| list.elements().get(index).copied())
        .unwrap_or(null_mut())
}

/// Puts another element at that place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistset(list: *mut List, index: usize, element: *mut c_void) -> c_int {
    // SAFETY: the caller's list.
    let Some(list) = (unsafe { known(list) }) else { return FALSE };
    if index == list.length {
        return c_int::from(list.insert(index, element));
    }
    list.elements().get_mut(index).map_or(FALSE, |place| {
        *place = element;
        TRUE
    })
}

/// Inserts an element before the one at that place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistinsert(
    list: *mut List,
    index: usize,
    element: *mut c_void,
) -> c_int {
    // SAFETY: the caller's list.
    unsafe { known(list) }.map_or(FALSE, |list| c_int::from(list.insert(index, element)))
}

/// Appends an element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistpush(list: *mut List, element: *mut c_void) -> c_int {
    // SAFETY: the caller's list.
    unsafe { known(list) }.map_or(FALSE, |list| c_int::from(list.insert(list.length, element)))
}

/// Takes out the element at that place; NULL where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistremove(list: *mut List, index: usize) -> *mut c_void {
    // SAFETY: the caller's list.
    unsafe { known(list) }.map_or(null_mut(), |list| list.remove(index))
}

/// Takes out the last element; NULL where there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistpop(list: *mut List) -> *mut c_void {
    // SAFETY: the caller's list.
    unsafe { known(list) }.map_or(null_mut(), |list| list.remove(list.length.wrapping_sub(1)))
}

/// Whether an element is in a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nclistcontains(list: *mut List, element: *mut c_void) -> c_int {
    // SAFETY: the caller's list.
    unsafe { known(list) }.map_or(FALSE, |list| c_int::from(list.elements().contains(&element)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_keep_their_order() {
        let element = |number: usize| number as *mut c_void;
        // SAFETY: a list from `nclistnew`, used by this test alone.
        unsafe {
            let list = nclistnew();
            for number in 1..=40 {
                assert_eq!(nclistpush(list, element(number)), TRUE);
            }
            assert_eq!(nclistremove(list, 0), element(1));
            assert_eq!(nclistremove(list, 39), null_mut());
            assert_eq!(nclistinsert(list, 1, element(77)), TRUE);
            assert_eq!(nclistinsert(list, 41, element(77)), FALSE);
            assert_eq!(nclistpop(list), element(40));
            assert_eq!(nclistset(list, 0, element(5)), TRUE);
            assert_eq!(nclistset(list, 99, element(5)), FALSE);
            let first: Vec<_> = (0..4).map(|index| nclistget(list, index) as usize).collect();
            assert_eq!(first, [5, 77, 3, 4]);
            assert_eq!(nclistcontains(list, element(39)), TRUE);
            assert_eq!(nclistcontains(list, element(40)), FALSE);
            assert_eq!(nclistsetlength(list, 0), TRUE);
            assert_eq!(nclistpop(list), null_mut());
            nclistfree(list);
        }
    }

    #[test]
    fn no_list_has_no_elements() {
        // SAFETY: NULL is allowed everywhere.
        unsafe {
            assert_eq!(nclistget(null_mut(), 0), null_mut());
            assert_eq!(nclistpush(null_mut(), null_mut()), FALSE);
            assert_eq!(nclistfree(null_mut()), TRUE);
        }
    }
}
