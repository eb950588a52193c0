//! netCDF's C interface over the engine: what `netcdf.h` declares, with the original's semantics.
//!
//! The road of a call, each station a file:
//! `boundary` checks pointers and keeps panics inside, `handle` finds the open file that an id means,
//! `model` the group, dimension, variable or type in it; one file for each family of calls does the
//! work with the engine, and `status` turns what goes wrong into netCDF's numbers.
//!
//! # Safety
//! Every function here is called from C. Pointers must be what netCDF's documentation says: valid
//! for the count of elements that the other arguments name, or NULL where that is allowed. What can
//! be checked (NULL, ids, counts against shapes) is checked.

#![allow(clippy::missing_safety_doc)]

pub mod attribute;
pub mod auxiliary;
mod boundary;
pub mod data;
pub mod dimension;
pub mod dispatch;
pub mod file;
pub mod group;
mod handle;
mod memory;
mod model;
mod moving;
pub mod plugin;
pub mod plugin_path;
mod printf;
pub mod reclaim;
pub mod status;
pub mod stock;
mod trace;
pub mod user_type;
pub mod variable;
pub mod version2;
