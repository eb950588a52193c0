//! Attributes: setting, reading, asking, renaming, deleting, copying.
//!
//! ```text
//! nc_put_att_*, nc_copy_att -> put (precedence of errors, conversion) -\
//! nc_get_att_*              -> get (conversion, C memory)             ---> holder -> engine
//! nc_inq_att*, ...          -> inquire, edit                         -/
//! ```
//! A group and a variable hold attributes in the same way: `holder` is either. What is known already `glance` tells.

mod copy;
mod edit;
mod get;
mod glance;
mod holder;
mod inquire;
mod put;

use std::ffi::{c_char, c_double, c_float, c_int, c_long, c_longlong, c_schar, c_short};
use std::ffi::{c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

use isotach::model::Atomic;

pub use copy::nc_copy_att;
pub use edit::{nc_del_att, nc_rename_att};
pub(crate) use holder::Holder;
pub use inquire::{
    nc_inq_att, nc_inq_attid, nc_inq_attlen, nc_inq_attname, nc_inq_atttype, nc_inq_natts,
    nc_inq_varnatts,
};
use put::Source;

use crate::boundary::{answer, answer_at_once};

/// What a C `long` is.
const LONG: Atomic = if size_of::<c_long>() == 8 { Atomic::Int64 } else { Atomic::Int };

macro_rules! reading {
    ($($get:ident $memory:expr, $element:ty;)*) => {$(
        #[doc = concat!("Reads an attribute as `", stringify!($element), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            group: c_int,
            variable: c_int,
            name: *const c_char,
            values: *mut $element,
        ) -> c_int {
            // SAFETY: the caller's string, and room for all elements.
            answer_at_once(|| unsafe { get::get(group, variable, name, $memory, values.cast()) })
        }
    )*};
}

/// Functions for attributes of a type that the caller names.
macro_rules! setting {
    ($($put:ident $memory:expr, $element:ty;)*) => {$(
        #[doc = concat!("Sets an attribute of any type to elements of `", stringify!($element), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $put(
            group: c_int,
            variable: c_int,
            name: *const c_char,
            type_id: c_int,
            len: usize,
            values: *const $element,
        ) -> c_int {
            let source = || Source::Memory { at: values.cast(), len, atomic: $memory };
            // SAFETY: the caller's string and elements.
            answer(|| unsafe { put::put(group, variable, name, type_id, source()) })
        }
    )*};
}

/// Functions for attributes of the type that the memory has.
macro_rules! setting_own {
    ($($put:ident $memory:expr, $element:ty;)*) => {$(
        #[doc = concat!("Sets an attribute to elements of `", stringify!($element), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $put(
            group: c_int,
            variable: c_int,
            name: *const c_char,
            len: usize,
            values: *const $element,
        ) -> c_int {
            let source = || Source::Memory { at: values.cast(), len, atomic: Some($memory) };
            // SAFETY: the caller's string and elements.
            answer(|| unsafe { put::put(group, variable, name, $memory as c_int, source()) })
        }
    )*};
}

reading! {
    nc_get_att None, c_void;
    nc_get_att_text Some(Atomic::Char), c_char;
    nc_get_att_string Some(Atomic::String), *mut c_char;
    nc_get_att_schar Some(Atomic::Byte), c_schar;
    nc_get_att_uchar Some(Atomic::UByte), c_uchar;
    nc_get_att_ubyte Some(Atomic::UByte), c_uchar;
    nc_get_att_short Some(Atomic::Short), c_short;
    nc_get_att_ushort Some(Atomic::UShort), c_ushort;
    nc_get_att_int Some(Atomic::Int), c_int;
    nc_get_att_uint Some(Atomic::UInt), c_uint;
    nc_get_att_long Some(LONG), c_long;
    nc_get_att_longlong Some(Atomic::Int64), c_longlong;
    nc_get_att_ulonglong Some(Atomic::UInt64), c_ulonglong;
    nc_get_att_float Some(Atomic::Float), c_float;
    nc_get_att_double Some(Atomic::Double), c_double;
}

setting! {
    nc_put_att None, c_void;
    nc_put_att_schar Some(Atomic::Byte), c_schar;
    nc_put_att_uchar Some(Atomic::UByte), c_uchar;
    nc_put_att_ubyte Some(Atomic::UByte), c_uchar;
    nc_put_att_short Some(Atomic::Short), c_short;
    nc_put_att_ushort Some(Atomic::UShort), c_ushort;
    nc_put_att_int Some(Atomic::Int), c_int;
    nc_put_att_uint Some(Atomic::UInt), c_uint;
    nc_put_att_long Some(LONG), c_long;
    nc_put_att_longlong Some(Atomic::Int64), c_longlong;
    nc_put_att_ulonglong Some(Atomic::UInt64), c_ulonglong;
    nc_put_att_float Some(Atomic::Float), c_float;
    nc_put_att_double Some(Atomic::Double), c_double;
}

setting_own! {
    nc_put_att_text Atomic::Char, c_char;
    nc_put_att_string Atomic::String, *const c_char;
}
