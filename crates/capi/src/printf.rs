//! Functions that take what a format of `printf` asks for, and where they write it.
//!
//! In C these take any arguments, which stable Rust has no way to say. The calling conventions of Linux pass
//! integers and pointers apart from real numbers, each in order, so that so many of each are found where they
//! are looked for: six and eight. What the caller did not pass is handed on and not looked at.

use libc::FILE;

unsafe extern "C" {
    /// C's own stream.
    pub(crate) static stderr: *mut FILE;
}

/// Defines such a function: the parameters before the format, the format, and a body in which the name between
/// bars writes all that the format asks for to a stream.
macro_rules! printf_like {
    (
        $(#[$attribute:meta])*
        fn $name:ident($($first:ident: $kind:ty),+; $format:ident) |$print:ident| $body:block
    ) => {
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name(
            $($first: $kind,)+
            $format: *const std::ffi::c_char,
            a: usize,
            b: usize,
            c: usize,
            d: usize,
            e: usize,
            f: usize,
            s: std::ffi::c_double,
            t: std::ffi::c_double,
            u: std::ffi::c_double,
            v: std::ffi::c_double,
            w: std::ffi::c_double,
            x: std::ffi::c_double,
            y: std::ffi::c_double,
            z: std::ffi::c_double,
        ) {
            // SAFETY: the caller's format asks for what the caller passed.
            let $print = |to: *mut libc::FILE| unsafe {
                libc::fprintf(to, $format, a, b, c, d, e, f, s, t, u, v, w, x, y, z)
            };
            $body
        }
    };
}

pub(crate) use printf_like;
