//! Writing: the caller's values to the file.
//!
//! ```text
//! caller's array -> data (gather -> chunks -> codec) -> space (allocate) -> storage
//! structures ------------------------------------------> commit ----------> storage
//! ```
//!
//! `space` says which bytes of the file are in use, `commit` makes a state of the file the one that
//! is found, `recovery` finishes what a writer that was killed had begun.

pub mod classic;
pub mod commit;
pub mod data;
pub mod recovery;
pub mod space;

pub use commit::{Commit, CommitError, Committer};
pub use space::Space;
