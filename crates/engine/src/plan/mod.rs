//! A request against a layout becomes a list of extents and chunks.
//!
//! ```text
//! Selection -> axis_runs -> strided (reads) | chunked (chunks) -> read
//!                              \-> tiles (of a scattered request)
//! Plan -> Summary, for people
//! ```

pub mod axis_runs;
pub mod chunked;
pub mod layout;
pub mod strided;
mod summary;
pub(crate) mod tiles;

pub use summary::{Plan, Summary};
