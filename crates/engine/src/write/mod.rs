//! Writing: the caller's values to the file.
//!
//! ```text
//! caller's array -> data (gather -> chunks -> codec) -> storage
//! ```

pub mod classic;
pub mod data;
