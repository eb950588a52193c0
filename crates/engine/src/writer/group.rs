//! Defining what is in a group.

use std::sync::Arc;

use isotach_model::{DataType, UserType};

use super::{DimensionHandle, VariableOptions, VariableWriter};
use crate::draft::GroupId;
use crate::error::Result;
use crate::write::session::Session;

/// A group of a file that is being written. Cheap to clone.
#[derive(Clone)]
pub struct GroupWriter {
    pub(super) session: Arc<Session>,
    pub(super) id: GroupId,
}

/// Tells lists of a group's members apart: each number is the next one after every definition, renaming and
/// deletion of that kind, by whichever path it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRevisions {
    /// Of dimensions.
    pub dimensions: u64,
    /// Of user-defined types.
    pub types: u64,
    /// Of variables.
    pub variables: u64,
    /// Of groups.
    pub groups: u64,
}

impl GroupWriter {
    pub(super) fn new(session: Arc<Session>, id: GroupId) -> Self {
        Self { session, id }
    }

    /// Defines a dimension of `len` elements; without a length an unlimited one.
    pub fn define_dimension(&self, name: &str, len: Option<u64>) -> Result<DimensionHandle> {
        let defined = self.session.change(|draft| draft.define_dimension(self.id, name, len));
        defined.map(DimensionHandle)
    }

    /// The dimension `name` of this group or the nearest above it that has one.
    pub fn find_dimension(&self, name: &str) -> Result<Option<DimensionHandle>> {
        let found = self.session.look(|draft| Ok(draft.find_dimension(self.id, name)))?;
        Ok(found.map(DimensionHandle))
    }

    /// Defines a group in this group.
    pub fn define_group(&self, name: &str) -> Result<GroupWriter> {
        let id = self.session.change(|draft| draft.define_group(self.id, name))?;
        Ok(Self::new(Arc::clone(&self.session), id))
    }

    /// The group of that name in this group.
    pub fn group(&self, name: &str) -> Result<Option<GroupWriter>> {
        let found = self.session.look(|draft| draft.group_in(self.id, name))?;
        Ok(found.map(|id| Self::new(Arc::clone(&self.session), id)))
    }

    /// Defines a user-defined type in this group, and gives it as variables and attributes take it.
    pub fn define_type(&self, user: UserType) -> Result<DataType> {
        self.session.change(|draft| {
            let id = draft.define_type(self.id, user)?;
            Ok(DataType::User(Arc::clone(&draft.user_type(id)?.user)))
        })
    }

    /// The user-defined type of that name in this group.
    pub fn find_type(&self, name: &str) -> Result<Option<DataType>> {
        self.session.look(|draft| {
            let found = draft.with_members_of(self.id)?.types.get(name);
            found.map(|&id| Ok(DataType::User(Arc::clone(&draft.user_type(id)?.user)))).transpose()
        })
    }

    /// Defines a variable along dimensions of this group or those above, outermost first.
    pub fn define_variable(
        &self,
        name: &str,
        data_type: impl Into<DataType>,
        dimensions: &[DimensionHandle],
        options: VariableOptions,
    ) -> Result<VariableWriter> {
        let along: Vec<_> = dimensions.iter().map(|handle| handle.0).collect();
        let is_filtered = !options.filters.is_empty();
        let id = self.session.change(|draft| {
            draft.define_variable(self.id, name, data_type.into(), &along, options)
        })?;
        // A filter that such chunks cannot have is told here, and not by a commit that is lost with it.
        if is_filtered && let Err(error) = self.session.storage_info(id) {
            self.session.change(|draft| draft.delete_variable(id))?;
            return Err(error);
        }
        Ok(VariableWriter::new(Arc::clone(&self.session), id))
    }

    /// The variable of that name in this group.
    pub fn variable(&self, name: &str) -> Result<Option<VariableWriter>> {
        let found = self
            .session
            .look(|draft| Ok(draft.with_members_of(self.id)?.variables.get(name).copied()))?;
        Ok(found.map(|id| VariableWriter::new(Arc::clone(&self.session), id)))
    }

    /// Which lists of its members are the present ones.
    pub fn member_revisions(&self) -> Result<MemberRevisions> {
        self.session.look(|draft| {
            let group = draft.with_members_of(self.id)?;
            Ok(MemberRevisions {
                dimensions: group.dimensions.revision(),
                types: group.types.revision(),
                variables: group.variables.revision(),
                groups: group.groups.revision(),
            })
        })
    }

    /// Renames this group.
    pub fn rename(&self, to: &str) -> Result<()> {
        self.session.change(|draft| draft.rename_group(self.id, to))
    }

    /// Deletes this group with everything in it.
    pub fn delete(&self) -> Result<()> {
        self.session.change(|draft| draft.delete_group(self.id))
    }
}
