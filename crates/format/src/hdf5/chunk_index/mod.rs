//! Chunk indexes other than B-trees: where each chunk of a data set lies.
//!
//! The mapping turns a chunk's place in the grid into an index ([`grid`]); the arrays say at which
//! address the element with that index stands, and [`element`] what it tells of the chunk. A
//! single chunk has no index: its layout message has the address.

pub mod element;
pub mod extensible_array;
pub mod extensible_block;
pub mod extensible_build;
pub mod fixed_array;
pub mod grid;
pub mod implicit;
