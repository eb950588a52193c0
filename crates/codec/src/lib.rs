//! The HDF5 filter pipeline: the bytes of a chunk's elements to what is stored, and back.
//!
//! Stateless: every filter is a function from bytes to bytes, one file each under `filter/`.
//! [`pipeline`] runs them over a chunk, forwards and backwards; [`registry`] knows their numbers
//! and names. [`foreign`] leads to filters that are not here but in plugins.
//! Unsafe code is kept to these rooms: `uninit` (memory that is written before it is read),
//! `libdeflate` (the C library), `filter::simd` (vector instructions), `inflate::processor`
//! (instructions for bits).

mod bits;
mod complete;
mod deflate;
pub mod error;
mod filter;
pub mod foreign;
mod inflate;
mod libdeflate;
pub mod pipeline;
pub mod registry;
mod uninit;

pub use complete::{ChunkType, Element, Number, NumberClass};
pub use error::{Error, ErrorKind, Result};
pub use filter::shuffle;
pub use pipeline::{Filter, Pipeline, Scratch, Shuffled};
