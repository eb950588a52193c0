//! Heaps: where the names, objects and shared messages lie that other structures point at.
//!
//! `local` holds the names of a group of the first kind, `global` the values of variable length,
//! `fractal` (with its blocks and IDs) the links, attributes and messages of dense storage.

pub mod doubling_table;
pub mod fractal;
pub mod fractal_block;
pub mod fractal_build;
pub mod free_space;
pub mod global;
pub mod heap_id;
pub mod local;
pub mod shared_message;
