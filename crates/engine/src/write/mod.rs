//! From the caller's array to the file.
//!
//! ```text
//! VariableWriter -> session -> data (gather, chunks) -> codec -> space (allocate) -> storage
//! draft -> hdf5 | classic (structures) -> commit -> storage
//! ```

mod chunk_shape;
pub mod classic;
mod clock;
pub mod commit;
mod create;
pub mod data;
mod hdf5;
mod home;
mod open;
pub(crate) mod reading_number;
pub mod recovery;
pub(crate) mod session;
pub mod space;
mod target;
mod told;

pub use commit::{Commit, CommitError, Committer};
pub use space::Space;

use isotach_model::convert::{RangeReport, Rules};
use isotach_model::selection::Selection;
use isotach_model::{StoredType, Values};

use crate::draft::{AttributeOwner, Draft, VariableId};
use crate::error::{Error, Result};
use crate::read::Array;
use crate::read::live::Moves;
use crate::variable::StorageInfo;
use crate::writer::HeaderRoom;

/// A file that takes values, and what a draft says, in one of the formats.
pub(crate) trait Backend: Send + Sync {
    /// Counts how often values are given other places under those who read them.
    fn moves(&self) -> Moves {
        Moves::default()
    }

    /// How an element of the variable lies in the file.
    fn stored_type(&self, draft: &Draft, id: VariableId) -> Result<StoredType>;

    /// Values as elements of the stored type; strings and sequences go to the file's heap.
    fn encode(
        &self,
        stored: &StoredType,
        values: &Values,
        rules: Rules,
        into: &mut Vec<u8>,
    ) -> Result<RangeReport>;

    /// An error where the selected elements could not be brought to the file: before the draft reaches as
    /// far as `extent`, so that a write which is refused changes nothing.
    fn check_put(
        &self,
        _draft: &Draft,
        _id: VariableId,
        _selection: &Selection,
        _extent: &[u64],
    ) -> Result<()> {
        Ok(())
    }

    /// Takes the selected elements, in stored form. The draft already reaches as far.
    fn put(
        &self,
        draft: &Draft,
        id: VariableId,
        selection: &Selection,
        elements: &[u8],
    ) -> Result<()>;

    /// Makes room along the unlimited dimensions of a variable, before the draft reaches as far.
    fn grow(&self, draft: &Draft, id: VariableId, extent: &[u64]) -> Result<()>;

    /// The variable's elements for reading, those put last too.
    fn array(&self, draft: &Draft, id: VariableId) -> Result<Array>;

    /// Chunks, filters, byte order as they are or will be.
    fn storage_info(&self, draft: &Draft, id: VariableId) -> Result<StorageInfo>;

    /// An error where the attributes of a group or variable cannot be changed without losing some, or one of so
    /// many bytes is more than the object can have.
    fn check_attributes(&self, _owner: AttributeOwner, _bytes: u64) -> Result<()> {
        Ok(())
    }

    /// True where it is settled how the variable is stored.
    fn has_values(&self, id: VariableId) -> bool;

    /// Ends a round of definitions: the draft is held against the format, which may leave room for more.
    fn end_definitions(&mut self, _draft: &Draft, _room: HeaderRoom) -> Result<()> {
        Ok(())
    }

    /// Settles the shape of chunks that nobody has said, so that [`Self::storage_info`] tells what will be.
    fn tell_chunks(&mut self, _draft: &Draft, _id: VariableId) -> Result<()> {
        Ok(())
    }

    /// Makes the draft, and all elements that were put, the state of the file; all or nothing. Where
    /// that fails, the next call does it. `is_last` where the file is closed then.
    fn commit(&mut self, draft: &mut Draft, is_last: bool) -> Result<()>;

    /// Why elements that were put are not in the last commit, though all else is, and never will be; once.
    fn take_lost(&mut self) -> Option<Error> {
        None
    }

    /// Whether elements that are put into the variable may wait in memory for the next commit, however many they are.
    fn may_hold(&self, _id: VariableId) -> bool {
        false
    }

    /// How many bytes of memory elements take that wait for the next commit, because others stand at their places.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Variables with elements that were put since the last commit, as far as that is known.
    fn put_into(&self) -> Vec<VariableId>;

    /// What is to be done after the last commit: space at the end that nobody uses is given back.
    fn close(&mut self) -> Result<()>;

    /// Forgets what was put since the last commit, and cuts it off where it stands behind that.
    /// Nothing is written from then on.
    fn discard(&mut self) -> Result<()>;
}
