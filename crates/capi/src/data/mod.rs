//! Values: whole variables, single ones, hyperslabs with strides and memory maps.
//!
//! ```text
//! nc_get_*, nc_put_* -> access (pointers, bounds, precedence of errors) -> get | put -> engine
//! ```
//! `map` walks a memory map; `window` keeps the neighbours of single values; `copy` takes a variable to
//! another file.

mod access;
mod copy;
mod get;
mod map;
mod put;
mod window;

use std::ffi::{c_char, c_double, c_float, c_int, c_long, c_longlong, c_short, c_uchar};
use std::ffi::{c_schar, c_uint, c_ulonglong, c_ushort, c_void};
use std::ptr::null;

use isotach::model::{Atomic, DataType, UserClass, shape};

use access::{Access, Kind};
pub use copy::nc_copy_var;

use crate::boundary::answer;
use crate::model::OpenFile;
use crate::status::{Outcome, Status};

/// What a C `long` is.
const LONG: Atomic = if size_of::<c_long>() == 8 { Atomic::Int64 } else { Atomic::Int };

/// The bytes of so many elements.
fn byte_count(shape: &[u64], size: usize) -> Outcome<usize> {
    let bytes = shape::byte_count(shape, size).filter(|&bytes| isize::try_from(bytes).is_ok());
    bytes.ok_or(Status::EINVAL)
}

/// What is told of values that are nowhere: libhdf5 takes no NULL.
fn nowhere(file: &OpenFile) -> Status {
    if file.is_hdf5() { Status::EHDFERR } else { Status::EINVAL }
}

/// True for elements that are the same bytes in memory and in the file, but for their order.
fn is_plain(data_type: &DataType) -> bool {
    match data_type {
        DataType::Atomic(atomic) => *atomic != Atomic::String,
        DataType::SmallFloat(_) => false,
        DataType::User(user) => {
            matches!(user.class, UserClass::Enum { .. } | UserClass::Opaque)
        }
        DataType::Foreign(_) => false,
    }
}

macro_rules! functions {
    ($(
        $memory:expr, $element:ty:
        $get_var:ident $get_var1:ident $get_vara:ident $get_vars:ident $get_varm:ident
        $put_var:ident $put_var1:ident $put_vara:ident $put_vars:ident $put_varm:ident;
    )*) => {$(
        functions! {
            get::get, get::one, *mut $element, $memory =>
            $get_var "Reads all values of a variable.";
            $get_var1 "Reads one value.";
            $get_vara "Reads a hyperslab.";
            $get_vars "Reads every so-manieth value along each dimension.";
            $get_varm "Reads values to places in memory that a map says.";
        }
        functions! {
            put::put, put::one, *const $element, $memory =>
            $put_var "Writes all values of a variable.";
            $put_var1 "Writes one value.";
            $put_vara "Writes a hyperslab.";
            $put_vars "Writes every so-manieth value along each dimension.";
            $put_varm "Writes values from places in memory that a map says.";
        }
    )*};
    (
        $move:path, $one:path, $values:ty, $memory:expr =>
        $var:ident $var_doc:literal;
        $var1:ident $var1_doc:literal;
        $vara:ident $vara_doc:literal;
        $vars:ident $vars_doc:literal;
        $varm:ident $varm_doc:literal;
    ) => {
        #[doc = $var_doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $var(id: c_int, variable: c_int, values: $values) -> c_int {
            let access = Access::new(Kind::Whole, $memory, null(), null(), null(), null());
            // SAFETY: the caller's memory for all of the variable.
            answer(|| unsafe { $move(id, variable, &access, values.cast()) })
        }

        #[doc = $var1_doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $var1(
            id: c_int,
            variable: c_int,
            index: *const usize,
            values: $values,
        ) -> c_int {
            // SAFETY: the caller's index and memory for one element.
            unsafe { $one(id, variable, index, $memory, values.cast()) }
        }

        #[doc = $vara_doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $vara(
            id: c_int,
            variable: c_int,
            start: *const usize,
            count: *const usize,
            values: $values,
        ) -> c_int {
            let access = Access::new(Kind::Slab, $memory, start, count, null(), null());
            // SAFETY: the caller's lists and memory for what they select.
            answer(|| unsafe { $move(id, variable, &access, values.cast()) })
        }

        #[doc = $vars_doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $vars(
            id: c_int,
            variable: c_int,
            start: *const usize,
            count: *const usize,
            stride: *const isize,
            values: $values,
        ) -> c_int {
            let access = Access::new(Kind::Strided, $memory, start, count, stride, null());
            // SAFETY: the caller's lists and memory for what they select.
            answer(|| unsafe { $move(id, variable, &access, values.cast()) })
        }

        #[doc = $varm_doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $varm(
            id: c_int,
            variable: c_int,
            start: *const usize,
            count: *const usize,
            stride: *const isize,
            map: *const isize,
            values: $values,
        ) -> c_int {
            let access = Access::new(Kind::Mapped, $memory, start, count, stride, map);
            // SAFETY: the caller's lists and memory for what they select and the map says.
            answer(|| unsafe { $move(id, variable, &access, values.cast()) })
        }
    };
}

functions! {
    None, c_void:
        nc_get_var nc_get_var1 nc_get_vara nc_get_vars nc_get_varm
        nc_put_var nc_put_var1 nc_put_vara nc_put_vars nc_put_varm;
    Some(Atomic::Char), c_char:
        nc_get_var_text nc_get_var1_text nc_get_vara_text
        nc_get_vars_text nc_get_varm_text
        nc_put_var_text nc_put_var1_text nc_put_vara_text
        nc_put_vars_text nc_put_varm_text;
    Some(Atomic::String), *mut c_char:
        nc_get_var_string nc_get_var1_string nc_get_vara_string
        nc_get_vars_string nc_get_varm_string
        nc_put_var_string nc_put_var1_string nc_put_vara_string
        nc_put_vars_string nc_put_varm_string;
    Some(Atomic::UByte), c_uchar:
        nc_get_var_uchar nc_get_var1_uchar nc_get_vara_uchar
        nc_get_vars_uchar nc_get_varm_uchar
        nc_put_var_uchar nc_put_var1_uchar nc_put_vara_uchar
        nc_put_vars_uchar nc_put_varm_uchar;
    Some(Atomic::Byte), c_schar:
        nc_get_var_schar nc_get_var1_schar nc_get_vara_schar
        nc_get_vars_schar nc_get_varm_schar
        nc_put_var_schar nc_put_var1_schar nc_put_vara_schar
        nc_put_vars_schar nc_put_varm_schar;
    Some(Atomic::Short), c_short:
        nc_get_var_short nc_get_var1_short nc_get_vara_short
        nc_get_vars_short nc_get_varm_short
        nc_put_var_short nc_put_var1_short nc_put_vara_short
        nc_put_vars_short nc_put_varm_short;
    Some(Atomic::Int), c_int:
        nc_get_var_int nc_get_var1_int nc_get_vara_int
        nc_get_vars_int nc_get_varm_int
        nc_put_var_int nc_put_var1_int nc_put_vara_int
        nc_put_vars_int nc_put_varm_int;
    Some(LONG), c_long:
        nc_get_var_long nc_get_var1_long nc_get_vara_long
        nc_get_vars_long nc_get_varm_long
        nc_put_var_long nc_put_var1_long nc_put_vara_long
        nc_put_vars_long nc_put_varm_long;
    Some(Atomic::Float), c_float:
        nc_get_var_float nc_get_var1_float nc_get_vara_float
        nc_get_vars_float nc_get_varm_float
        nc_put_var_float nc_put_var1_float nc_put_vara_float
        nc_put_vars_float nc_put_varm_float;
    Some(Atomic::Double), c_double:
        nc_get_var_double nc_get_var1_double nc_get_vara_double
        nc_get_vars_double nc_get_varm_double
        nc_put_var_double nc_put_var1_double nc_put_vara_double
        nc_put_vars_double nc_put_varm_double;
    Some(Atomic::UByte), c_uchar:
        nc_get_var_ubyte nc_get_var1_ubyte nc_get_vara_ubyte
        nc_get_vars_ubyte nc_get_varm_ubyte
        nc_put_var_ubyte nc_put_var1_ubyte nc_put_vara_ubyte
        nc_put_vars_ubyte nc_put_varm_ubyte;
    Some(Atomic::UShort), c_ushort:
        nc_get_var_ushort nc_get_var1_ushort nc_get_vara_ushort
        nc_get_vars_ushort nc_get_varm_ushort
        nc_put_var_ushort nc_put_var1_ushort nc_put_vara_ushort
        nc_put_vars_ushort nc_put_varm_ushort;
    Some(Atomic::UInt), c_uint:
        nc_get_var_uint nc_get_var1_uint nc_get_vara_uint
        nc_get_vars_uint nc_get_varm_uint
        nc_put_var_uint nc_put_var1_uint nc_put_vara_uint
        nc_put_vars_uint nc_put_varm_uint;
    Some(Atomic::Int64), c_longlong:
        nc_get_var_longlong nc_get_var1_longlong nc_get_vara_longlong
        nc_get_vars_longlong nc_get_varm_longlong
        nc_put_var_longlong nc_put_var1_longlong nc_put_vara_longlong
        nc_put_vars_longlong nc_put_varm_longlong;
    Some(Atomic::UInt64), c_ulonglong:
        nc_get_var_ulonglong nc_get_var1_ulonglong nc_get_vara_ulonglong
        nc_get_vars_ulonglong nc_get_varm_ulonglong
        nc_put_var_ulonglong nc_put_var1_ulonglong nc_put_vara_ulonglong
        nc_put_vars_ulonglong nc_put_varm_ulonglong;
}
