//! Types without a name in the group of a variable or above it: those of other groups, and those
//! without a name in the file, named as libnetcdf names them: after their class and a number, in the
//! group of the first variable that has the type.

use std::collections::HashMap;
use std::sync::Arc;

use isotach_format::hdf5::message::datatype::Datatype;
use isotach_model::UserType;

use super::group::GroupData;
use super::scope::{self, DefinedType};
use super::{Contents, types};
use crate::error::Result;
use crate::fault::Readable;

/// All of them, in the whole file.
#[derive(Default)]
pub(super) struct AnonymousTypes {
    all: Vec<DefinedType>,
    by_group: HashMap<Arc<str>, Vec<DefinedType>>,
}

impl AnonymousTypes {
    pub(super) fn find(contents: &Contents) -> Result<Self> {
        let mut found = Self::default();
        for group in contents.groups()? {
            let Some(members) = group.members().readable()? else { continue };
            for (place, variable) in members.placed_variables() {
                if let Some(datatype) = scope::unnamed(contents, &group, variable)? {
                    found.find_or_add(contents, &group, place, datatype)?;
                }
            }
        }
        Ok(found)
    }

    /// The type that stands for `datatype` where one does.
    pub(super) fn type_of(
        &self,
        contents: &Contents,
        datatype: &Datatype,
    ) -> Result<Option<Arc<UserType>>> {
        let committed = scope::same_in(contents.committed_types()?, datatype);
        Ok(committed.or_else(|| scope::same_in(&self.all, datatype)))
    }

    /// Those of a group.
    pub(super) fn of_group(&self, group: &GroupData) -> &[DefinedType] {
        self.by_group.get(&group.path).map_or(&[], Vec::as_slice)
    }

    /// Parts come before the whole. As deep as types are nested, which decoding bounds.
    fn find_or_add(
        &mut self,
        contents: &Contents,
        group: &Arc<GroupData>,
        place: usize,
        datatype: &Datatype,
    ) -> Result<Option<Arc<UserType>>> {
        let known = match scope::committed(group, datatype)? {
            None => self.type_of(contents, datatype)?,
            known => known,
        };
        if known.is_some() {
            return Ok(known);
        }
        let mut find = |part: &Datatype| self.find_or_add(contents, group, place, part);
        let found = types::user_type(datatype, String::new(), &group.path, &mut find)?;
        let Some(mut user) = found else { return Ok(None) };
        user.name = format!("_Anonymous{}{}", types::class_name(datatype), self.all.len() + 1);
        let user = Arc::new(user);
        let defined = DefinedType::anonymous(place, datatype, Arc::clone(&user));
        self.by_group.entry(Arc::clone(&group.path)).or_default().push(defined.clone());
        self.all.push(defined);
        Ok(Some(user))
    }
}
