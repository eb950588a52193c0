//! Classic netCDF: CDF-1, CDF-2 and CDF-5.
//!
//! The counterpart of [`crate::hdf5`] on the data path: storage delivers the file's first bytes,
//! [`Header::decode`] says what is in the file, [`RecordLayout`] says at which address each
//! element stands. Everything is big-endian. There are no chunks, filters or checksums: below the
//! header there are only values. A writer has [`Header::lay_out`] place the variables and
//! [`Header::encode`] say the first bytes.
//!
//! ```text
//! +--------+----------------------+----------------------+-----+----------+----------+-----
//! | header | fixed variable, whole| fixed variable, whole| ... | record 0 | record 1 | ...
//! +--------+----------------------+----------------------+-----+----------+----------+-----
//! ```
//!
//! The grammar is in the netCDF documentation, "File Format Specifications", section "The
//! NetCDF Classic Format Specification"; CDF-5 is the same with 64-bit counts and five more types.

mod external_type;
mod header;
mod header_reader;
mod header_writer;
mod placement;
mod record_layout;
mod redo;

pub use external_type::ExternalType;
pub use header::{Attribute, Dimension, Header, RecordCount, Variable, Version};
pub use placement::{LayoutError, Spacing};
pub use record_layout::{RecordLayout, VariableLayout};
pub use redo::{Moved, Overwrite, Redo};

#[cfg(test)]
mod placement_tests;
#[cfg(test)]
mod tests;
