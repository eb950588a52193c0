//! Storage that counts, fails and crashes on command; fixtures; oracles; where the corpus is.

pub mod array;
mod corpus;
pub mod hostile;
pub mod random;
pub mod storage;
pub mod writing;

pub use array::{StoredArray, naive_read};
pub use corpus::corpus;
pub use random::Random;
pub use storage::{CountingStorage, FailingStorage};
pub use writing::{CrashImage, FailingWrites, Fault, Recording, RecordingStorage};
