//! The Python package's native part: thin handles around the engine's own.
//!
//! What can be said in Python is said there (`python/isotach`); here is what must be fast (reading
//! into NumPy memory without the interpreter lock, values to Python objects) or needs Rust.

mod attribute;
mod command;
mod error;
mod file;
mod index;
mod mask;
mod numpy_handler;
mod numpy_memory;
mod python_storage;
mod result_memory;
mod types;
mod values;
mod variable;
mod writing;

use pyo3::prelude::*;

/// The native part of the package `isotach`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    use crate::error::Changed;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("Changed", module.py().get_type::<Changed>())
    }

    #[pymodule_export]
    use crate::command::{command, generate};
    #[pymodule_export]
    use crate::file::{NativeFile, NativeGroup, cache_statistics, open, set_cache_budget};
    #[pymodule_export]
    use crate::mask::MaskRule;
    #[pymodule_export]
    use crate::variable::NativeVariable;
    #[pymodule_export]
    use crate::writing::{
        NativeDimension, NativeGroupWriter, NativeVariableWriter, NativeWriter, Place, create,
        edit, is_read, replace,
    };
}
