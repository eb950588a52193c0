//! Version 2 of the interface: what programs of the nineties call. Every function is one of version 3, but
//! returns its result, or -1 after telling `ncerr` and, where `ncopts` says so, the user.

mod advise;
mod attributes;
mod definitions;
mod records;
mod values;

use std::ffi::c_int;

/// Defines functions by those of version 3 that they call. `says` is how the error message begins
/// after the name, if not with the id.
macro_rules! version_2 {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $kind:ty),*) $(says($($about:expr),*))? {
            $(let mut $found:ident = $start:expr;)*
            $call:expr => $value:expr
        }
    )*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> c_int {
            $(let mut $found = $start;)*
            // SAFETY: the caller's pointers, handed on as they are.
            #[allow(unused_unsafe, reason = "some of these functions take no pointers")]
            let status = unsafe { $call };
            if status != 0 {
                let routine = concat!(stringify!($name), "\0");
                // SAFETY: the arguments are those that the format asks for.
                advise(routine, status, |to| unsafe {
                    version_2!(@print to, ($($argument)*) $(($($about),*))?)
                });
                return -1;
            }
            $value
        }
    )*};
    (@print $to:ident, ($id:ident $($other:ident)*)) => {
        libc::fprintf($to, c"ncid %d".as_ptr(), $id)
    };
    (@print $to:ident, ($($argument:ident)*) ($format:expr $(, $about:expr)*)) => {
        libc::fprintf($to, $format.as_ptr() $(, $about)*)
    };
}
use version_2;

/// Bytes of an element of a type in memory; -1 where there is no such type.
#[unsafe(no_mangle)]
pub extern "C" fn nctypelen(data_type: c_int) -> c_int {
    match data_type {
        1 | 2 | 7 => 1,
        3 | 8 => 2,
        4 | 5 | 9 => 4,
        6 | 10..=12 => 8,
        _ => -1,
    }
}
