//! Storage that counts, fails and crashes on command; fixtures; oracles; where the corpus is.

pub mod array;
mod corpus;
pub mod hostile;
pub mod random;
pub mod storage;
mod strace;
mod work;
pub mod writing;

pub use array::{StoredArray, naive_read};
pub use corpus::corpus;
pub use random::Random;
pub use storage::{CountingStorage, FailingReads, FailingStorage, ReadFault};
pub use strace::{Ended, FailingFiles};
pub use work::Work;
pub use writing::{CrashImage, FailingWrites, Fault, Recording, RecordingStorage};
