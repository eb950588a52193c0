//! Storage that counts and fails on command; fixtures; oracles; where the corpus is.

pub mod array;
mod corpus;
pub mod hostile;
pub mod storage;

pub use array::{StoredArray, naive_read};
pub use corpus::corpus;
pub use storage::{CountingStorage, FailingStorage};
