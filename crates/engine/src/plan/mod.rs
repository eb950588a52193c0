//! A request against a layout becomes a list of extents and chunks.

pub mod layout;
