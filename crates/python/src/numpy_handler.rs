//! Unsafe room: arrays whose memory comes from [`crate::result_memory`].
//!
//! NumPy lets a handler allocate an array's memory, and keeps the handler with the array (NEP 49):
//! the array owns its memory as any other does, and `resize` works on it.
//!
//! Contract:
//! - the handler lives as long as the process; `malloc`, `realloc` and `free` belong together;
//! - whatever handler was set before is set again before anybody else can make an array;
//! - the functions do not unwind.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull, null_mut};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{PyCapsule_New, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;

use crate::result_memory::{allocate, release, resize};

/// The place of `PyDataMem_SetHandler` in NumPy's table of functions, since NumPy 1.22.
const SET_HANDLER: usize = 304;
/// The name that NumPy wants handlers' capsules to have.
const CAPSULE: &CStr = c"mem_handler";
/// The version of [`Handler`].
const VERSION: u8 = 1;

type SetHandler = unsafe extern "C" fn(*mut PyObject) -> *mut PyObject;

/// `PyDataMemAllocator` of NumPy's C API.
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
}

/// `PyDataMem_Handler` of NumPy's C API.
#[repr(C)]
struct Handler {
    name: [c_char; 127],
    version: u8,
    allocator: Allocator,
}

/// What is set while an array is made.
struct Setting {
    set: SetHandler,
    capsule: Py<PyAny>,
}

/// Calls `make`; the memory of arrays that it makes comes from [`crate::result_memory`].
pub(crate) fn with_result_memory<R>(
    py: Python<'_>,
    make: impl FnOnce() -> PyResult<R>,
) -> PyResult<R> {
    static SETTING: PyOnceLock<Setting> = PyOnceLock::new();
    let setting = SETTING.get_or_try_init(py, || setting(py))?;
    // SAFETY: NumPy's own function, with a handler's capsule; it gives back a new reference to the
    // one before, or null and an exception.
    let before =
        unsafe { Bound::from_owned_ptr_or_err(py, (setting.set)(setting.capsule.as_ptr()))? };
    let made = make();
    // SAFETY: as above, with the handler that was there.
    unsafe { Bound::from_owned_ptr_or_err(py, (setting.set)(before.as_ptr()))? };
    made
}

fn setting(py: Python<'_>) -> PyResult<Setting> {
    let mut name = [0; 127];
    for (place, byte) in name.iter_mut().zip(*b"isotach") {
        *place = byte as c_char;
    }
    let context = null_mut();
    let allocator = Allocator { context, malloc, calloc, realloc, free };
    let handler: *mut Handler = Box::leak(Box::new(Handler { name, version: VERSION, allocator }));
    // SAFETY: the handler is never freed, and the capsule has no destructor.
    let capsule = unsafe {
        let capsule = PyCapsule_New(handler.cast(), CAPSULE.as_ptr(), None);
        Bound::from_owned_ptr_or_err(py, capsule)?.unbind()
    };
    Ok(Setting { set: set_handler(py)?, capsule })
}

/// `PyDataMem_SetHandler` out of the table that NumPy's capsule has.
fn set_handler(py: Python<'_>) -> PyResult<SetHandler> {
    let module =
        py.import("numpy._core.multiarray").or_else(|_| py.import("numpy.core.multiarray"))?;
    let table = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
    let table: NonNull<*const c_void> = table.pointer_checked(None)?.cast();
    // SAFETY: NumPy's table has functions of known places; 1.22 and later have this one, and the
    // package requires a later one.
    let function = unsafe { table.add(SET_HANDLER).read() };
    if function.is_null() {
        return Err(PyRuntimeError::new_err("this NumPy lets nobody allocate for it"));
    }
    // SAFETY: the function behind that place has this type.
    Ok(unsafe { std::mem::transmute::<*const c_void, SetHandler>(function) })
}

unsafe extern "C" fn malloc(_: *mut c_void, bytes: usize) -> *mut c_void {
    allocate(bytes)
}

unsafe extern "C" fn calloc(_: *mut c_void, count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return null_mut() };
    let memory = allocate(bytes);
    if !memory.is_null() {
        // SAFETY: the block has at least so many bytes.
        unsafe { ptr::write_bytes(memory.cast::<u8>(), 0, bytes) };
    }
    memory
}

unsafe extern "C" fn realloc(_: *mut c_void, memory: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: NumPy calls this with memory that this handler gave.
    unsafe { resize(memory, bytes) }
}

unsafe extern "C" fn free(_: *mut c_void, memory: *mut c_void, _: usize) {
    // SAFETY: as above; nobody uses it any more.
    unsafe { release(memory) }
}
