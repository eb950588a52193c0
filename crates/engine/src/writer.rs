//! The public face of writing: create a file, define what is in it, write values.
//!
//! ```no_run
//! use isotach::model::Atomic;
//! use isotach::model::selection::Selection;
//! use isotach::{CreateOptions, VariableOptions};
//!
//! let writer = CreateOptions::default().create("new.nc")?;
//! let root = writer.root();
//! let time = root.define_dimension("time", None)?;
//! let speed = root.define_variable("speed", Atomic::Float, &[time], VariableOptions::default())?;
//! speed.set_attribute("units", "m s-1")?;
//! speed.write_as(&Selection::all(&[3]), &[1.0f32, 2.0, 3.0])?;
//! writer.close()?;
//! # Ok::<(), isotach::Error>(())
//! ```

mod attributes;
mod group;
mod options;
mod variable;

use std::path::Path;
use std::sync::Arc;

pub use attributes::AttributeValue;
pub use group::{GroupWriter, MemberRevisions};
pub use options::{
    Alignment, CreateOptions, EditOptions, Fill, FilterRequest, HeaderRoom, Layout, Overwrite,
    Quantization, VariableOptions,
};
pub use variable::VariableWriter;

use crate::dimension::Dimension;
use crate::draft::{DimensionId, ROOT};
use crate::error::Result;
use crate::file::File;
use crate::write::session::Session;

/// A file that is open for writing. Cheap to clone; handles may be used by many threads at once.
///
/// What was written since the last commit is lost when the process is killed; after
/// [`EditOptions::commit_interval`] it is committed even where nothing more is written. A commit of
/// that kind that failed is tried again, and told by the next change, which is not made.
///
/// Dropping the last handle commits, but only [`Writer::close`] tells whether that succeeded; a file
/// that is to replace another ([`Overwrite::Replace`]) is dropped instead. A process that is
/// forked from this one cannot use the handles.
#[derive(Clone)]
pub struct Writer {
    session: Arc<Session>,
}

/// A dimension of a file that is being written, for defining variables along it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DimensionHandle(pub(crate) DimensionId);

impl Writer {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }

    /// Opens an existing local file for changing it, with the default options.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        EditOptions::default().open(path)
    }

    /// The file as it is now, to look around in and to read from: all that was defined and written,
    /// committed or not.
    pub fn file(&self) -> File {
        crate::draft::view::file(&self.session)
    }

    /// The root group.
    pub fn root(&self) -> GroupWriter {
        GroupWriter::new(Arc::clone(&self.session), ROOT)
    }

    /// Makes what was defined and written since the last commit a part of the file, all of it or
    /// nothing: whoever opens the file sees this state until the next commit.
    pub fn commit(&self) -> Result<()> {
        self.session.commit()
    }

    /// Ends a round of definitions as `nc__enddef` does: what was defined is held against the format, and
    /// a classic file gets this room in place of what its options said. Nothing is committed.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Format`] where the format cannot hold what is defined.
    pub fn end_definitions(&self, room: HeaderRoom) -> Result<()> {
        self.session.end_definitions(room)
    }

    /// Has a netCDF-4 file keep to the classic model from now on, and say so (`_nc3_strict`); others stay as they
    /// are.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Closed`].
    pub fn keep_to_classic_model(&self) -> Result<()> {
        self.session.change(|draft| {
            draft.keep_to_classic_model();
            Ok(())
        })
    }

    /// Says whether changes wait for the caller's own commit, however long that takes, as when
    /// definitions are made that belong together.
    pub fn hold_commits(&self, holds: bool) {
        self.session.hold_commits(holds);
    }

    /// Says whether the header of a classic file stays as large as it is from now on: names are at most as long as
    /// what they take the place of, and keep its bytes. So no commit of such changes moves anything.
    pub fn hold_header(&self, holds: bool) -> Result<()> {
        self.session.change(|draft| {
            draft.hold_header(holds);
            Ok(())
        })
    }

    /// Commits and closes. All handles of this file give [`crate::ErrorKind::Closed`] from then on,
    /// also where it fails: then the file is as after [`Writer::discard`].
    pub fn close(self) -> Result<()> {
        self.session.close()
    }

    /// Closes without a commit: the file is what it was at the last one, and a new file that never had
    /// one is gone.
    ///
    /// Only what is written over in place stays written over: values that were there before of classic
    /// files and of contiguous variables.
    pub fn discard(self) -> Result<()> {
        self.session.discard()
    }

    /// Commits and closes a file in memory and gives its bytes; `None` for a file on disk.
    pub fn into_bytes(self) -> Result<Option<Vec<u8>>> {
        self.session.close()?;
        Ok(self.session.take_bytes())
    }

    /// Says whether variables that are defined from now on have fill values where they do not say;
    /// tells what it was.
    pub fn set_fill(&self, fills: bool) -> Result<bool> {
        self.session.change(|draft| Ok(draft.set_fill(fills)))
    }

    /// Whether variables that are defined now have fill values where they do not say.
    pub fn fills(&self) -> Result<bool> {
        self.session.look(|draft| Ok(draft.fills))
    }

    /// The dimension as a reader has it; the length of an unlimited one is that of the moment.
    pub fn dimension(&self, dimension: DimensionHandle) -> Result<Dimension> {
        crate::draft::view::dimension_of(&self.session, dimension.0)
    }

    /// Renames a dimension.
    pub fn rename_dimension(&self, dimension: DimensionHandle, to: &str) -> Result<()> {
        self.session.change(|draft| draft.rename_dimension(dimension.0, to))
    }
}
