//! A request against a layout becomes a list of extents and chunks.
//!
//! ```text
//! Selection -> axis_runs -> strided (reads) | chunked (chunks) -> read
//!                              \-> tiles (of a scattered request)
//!           -> one_run (one value, where that is all)
//! Plan -> Summary, for people
//! ```

pub mod axis_runs;
pub mod chunked;
pub mod layout;
pub mod one_run;
pub mod strided;
mod summary;
pub(crate) mod tiles;

pub use summary::{Plan, Summary};
