//! Storage that counts, fails and crashes on command; fixtures; oracles.

pub mod array;
pub mod hostile;
pub mod storage;

pub use array::{StoredArray, naive_read};
pub use storage::{CountingStorage, FailingStorage};
