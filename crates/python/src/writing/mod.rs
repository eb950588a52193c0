//! Writing: handles on files, groups and variables that change them.
//!
//! What is defined, and of which type values are, is decided in Python (`python/isotach/_writing.py`);
//! here values leave NumPy's memory without a copy, and without the interpreter lock.

mod file;
mod group;
mod place;
mod types;
mod values;
mod variable;

pub(crate) use file::{NativeWriter, create, edit, format_named, is_read, replace};
pub(crate) use group::{NativeDimension, NativeGroupWriter};
pub(crate) use place::Place;
pub(crate) use variable::NativeVariableWriter;
