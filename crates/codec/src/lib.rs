//! The HDF5 filter pipeline: the bytes of a stored chunk to the bytes of its elements.
//!
//! Stateless: every filter is a function from bytes to bytes, one file each under `filter/`.
//! [`pipeline`] runs them backwards over a chunk; [`registry`] knows their numbers and names.
//! Unsafe code is kept to these rooms: `uninit` (memory that is written before it is read),
//! `libdeflate` (the C library), `filter::simd` (vector instructions).

mod bits;
pub mod error;
mod filter;
mod libdeflate;
pub mod pipeline;
pub mod registry;
mod uninit;

pub use error::{Error, ErrorKind, Result};
pub use filter::shuffle;
pub use pipeline::{Filter, Pipeline, Scratch, Shuffled};
