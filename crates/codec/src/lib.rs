//! The HDF5 filter pipeline: the bytes of a stored chunk to the bytes of its elements.
//!
//! Stateless: every filter is a function from bytes to bytes, one file each.

pub mod error;
pub mod pipeline;

pub use error::{Error, Result};
pub use pipeline::{Filter, Pipeline, Scratch};
