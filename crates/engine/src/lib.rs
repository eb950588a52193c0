//! Reads netCDF-4, classic netCDF and HDF5 files.
//!
//! The road a byte takes, each station a folder:
//! `storage` delivers bytes, `mapping` turns the file's structures into groups, dimensions,
//! variables and attributes, `plan` turns a selection into extents and chunks, `read` fetches,
//! decodes and scatters them into the caller's memory, `cache` keeps decoded chunks within one
//! budget. [`File`] is the public face.
//!
//! ```no_run
//! use isotach::File;
//! use isotach::model::selection::Selection;
//!
//! let file = File::open("air_temperature.nc")?;
//! let variable = file.variable("air_temperature")?;
//! let (values, _) = variable.read_as::<f64>(&Selection::all(&variable.shape()?))?;
//! # assert!(!values.is_empty());
//! # Ok::<(), isotach::Error>(())
//! ```

mod attribute;
pub mod cache;
mod copy;
mod dimension;
pub(crate) mod draft;
pub mod error;
mod fault;
mod file;
pub mod mapping;
mod parallel;
pub mod plan;
pub mod process;
pub mod read;
mod reused;
mod settings;
mod snapshot;
pub mod storage;
mod strided_copy;
pub mod sync;
mod variable;
pub mod write;
mod writer;

pub use attribute::Attribute;
pub use copy::{Copied, CopyOptions, CutChunks, Gap, Widened, copy};
pub use dimension::Dimension;
pub use error::{DefinitionFault, Error, ErrorKind, Result, User};
pub use fault::{Fault, Readable};
pub use file::{File, Format, Group, LeftOut, OpenOptions};
pub use isotach_model as model;
pub use mapping::hdf5;
pub use settings::{
    ALLOW_EXTERNAL, AllowExternal, COMMIT_INTERVAL, MISSING_BYTES, MissingBytes, TRACK_TIMES,
};
pub use storage::Durability;
pub use variable::{Endianness, FilterUse, StorageInfo, StorageKind, Variable};
pub use writer::{
    Alignment, AttributeValue, CreateOptions, DimensionHandle, EditOptions, Fill, FilterRequest,
    GroupWriter, HeaderRoom, Layout, MemberRevisions, Overwrite, Quantization, VariableOptions,
    VariableWriter, Writer,
};
