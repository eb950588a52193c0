//! Where the bytes of a file that is written stand, and what becomes of them in the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Result;
use crate::storage::{Durability, GrowingMemory, Replacement, WritableFile, WritableStorage};

/// See the module.
pub(super) enum Home {
    /// A local file.
    Local {
        storage: Arc<WritableFile>,
        /// Its path, where it did not exist before and has no commit yet.
        new: Option<PathBuf>,
    },
    /// A local file beside the one whose place it takes when it is closed; `None` when it has.
    Beside { replacement: Option<Box<Replacement>>, durability: Durability },
    /// Memory.
    Memory(Arc<GrowingMemory>),
    /// Whatever the caller gave, who also says what becomes of it.
    Given(Arc<dyn WritableStorage>),
}

impl Home {
    /// A local file, which is discarded with its name if it was created for this.
    pub(super) fn local(storage: impl Into<Arc<WritableFile>>) -> Self {
        let storage = storage.into();
        let new = storage.new_path().map(Path::to_owned);
        Self::Local { storage, new }
    }

    /// The bytes.
    pub(super) fn storage(&self) -> Option<Arc<dyn WritableStorage>> {
        match self {
            Self::Local { storage, .. } => Some(Arc::clone(storage) as _),
            Self::Beside { replacement, .. } => {
                replacement.as_ref().map(|replacement| Arc::clone(replacement.storage()) as _)
            }
            Self::Memory(storage) => Some(Arc::clone(storage) as _),
            Self::Given(storage) => Some(Arc::clone(storage)),
        }
    }

    /// Puts a finished file where it belongs.
    pub(super) fn publish(&mut self) -> Result<()> {
        match self {
            Self::Beside { replacement, durability } => match replacement.take() {
                Some(replacement) => {
                    let storage = Arc::clone(replacement.storage());
                    let published = replacement.publish(*durability);
                    storage.release();
                    published
                }
                None => Ok(()),
            },
            Self::Local { storage, .. } => {
                storage.release();
                Ok(())
            }
            Self::Memory(_) | Self::Given(_) => Ok(()),
        }
    }

    /// Whether others see what is committed before the file is closed.
    pub(super) fn is_seen(&self) -> bool {
        matches!(self, Self::Local { .. } | Self::Given(_))
    }

    /// Whether the file takes another one's place.
    pub(super) fn is_beside(&self) -> bool {
        matches!(self, Self::Beside { .. })
    }

    /// Something was committed: the file stays, whatever comes.
    pub(super) fn keep(&mut self) {
        if let Self::Local { new, .. } = self {
            *new = None;
        }
    }

    /// Leaves nothing of a new file that has no commit.
    pub(super) fn discard(&mut self) {
        match self {
            Self::Beside { replacement, .. } => drop(replacement.take()),
            Self::Local { storage, new } => {
                // What cannot be removed is an empty file, and nobody is told of it.
                let _ = new.as_ref().map(std::fs::remove_file);
                storage.release();
            }
            Self::Memory(storage) => drop(storage.take_bytes()),
            Self::Given(_) => {}
        }
    }

    /// The bytes of a file in memory, once.
    pub(super) fn take_bytes(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Memory(storage) => Some(storage.take_bytes()),
            Self::Local { .. } | Self::Beside { .. } | Self::Given(_) => None,
        }
    }
}
