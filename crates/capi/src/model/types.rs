//! User-defined types by id.

use std::ffi::c_int;
use std::sync::{Arc, PoisonError};

use isotach::model::{Atomic, DataType, UserType};

use super::OpenFile;
use crate::status::{Outcome, Status};

/// The id of the first type that a file defines.
pub(crate) const FIRST_USER_TYPE: c_int = 32;

/// The types that a file defines, in netCDF's order: the first has the id 32.
#[derive(Default)]
pub(super) struct Types {
    nodes: Vec<TypeNode>,
    /// Whether the file was asked for its types.
    is_complete: bool,
}

/// A user-defined type by its id.
#[derive(Clone)]
pub(crate) struct TypeNode {
    /// Number of the group that defines it.
    pub(crate) group: u16,
    pub(crate) user: Arc<UserType>,
    /// False as long as members can be added: then the engine does not know it yet.
    pub(crate) is_committed: bool,
}

impl OpenFile {
    /// The type that an id means.
    ///
    /// # Errors
    /// `NC_EBADTYPE`.
    pub(crate) fn data_type(&self, id: c_int) -> Outcome<DataType> {
        if let Some(atomic) = atomic(id) {
            return Ok(atomic.into());
        }
        Ok(DataType::User(self.user_type(id)?.user))
    }

    /// The user-defined type that an id means.
    ///
    /// # Errors
    /// `NC_EBADTYPE`.
    pub(crate) fn user_type(&self, id: c_int) -> Outcome<TypeNode> {
        let index = id.checked_sub(FIRST_USER_TYPE).ok_or(Status::EBADTYPE)?;
        let index = usize::try_from(index).map_err(|_| Status::EBADTYPE)?;
        self.with_types(|types| types.nodes.get(index).cloned().ok_or(Status::EBADTYPE))
    }

    /// The id of a type.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for one that netCDF has no name for.
    pub(crate) fn type_id(&self, data_type: &DataType) -> Outcome<c_int> {
        match data_type {
            DataType::Atomic(atomic) => Ok(*atomic as c_int),
            DataType::User(user) => self.with_types(|types| {
                let is_same = |node: &TypeNode| {
                    (&node.user.name, &node.user.group) == (&user.name, &user.group)
                };
                let index = types.nodes.iter().position(is_same).ok_or(Status::EBADTYPE)?;
                let index = c_int::try_from(index).map_err(|_| Status::EBADTYPE)?;
                Ok(FIRST_USER_TYPE + index)
            }),
            DataType::Foreign(_) => Err(Status::EBADTYPE),
        }
    }

    /// The ids of a group's types, in order.
    pub(crate) fn types_of(&self, group: u16) -> Outcome<Vec<c_int>> {
        self.with_types(|types| {
            let numbered = (FIRST_USER_TYPE..).zip(&types.nodes);
            Ok(numbered.filter(|(_, node)| node.group == group).map(|(id, _)| id).collect())
        })
    }

    /// Takes in a type that is being defined, and gives its id.
    pub(crate) fn add_type(&self, node: TypeNode) -> Outcome<c_int> {
        self.with_types(|types| {
            let index = c_int::try_from(types.nodes.len()).map_err(|_| Status::ENOMEM)?;
            types.nodes.push(node);
            Ok(FIRST_USER_TYPE + index)
        })
    }

    /// Changes a type that is being defined.
    ///
    /// # Errors
    /// `NC_EBADTYPE`; `NC_ETYPDEFINED` where it was committed.
    pub(crate) fn change_type(
        &self,
        id: c_int,
        change: impl FnOnce(&mut UserType) -> Outcome,
    ) -> Outcome {
        let index = id.checked_sub(FIRST_USER_TYPE).ok_or(Status::EBADTYPE)?;
        let index = usize::try_from(index).map_err(|_| Status::EBADTYPE)?;
        self.with_types(|types| {
            let node = types.nodes.get_mut(index).ok_or(Status::EBADTYPE)?;
            if node.is_committed {
                return Err(Status::ETYPDEFINED);
            }
            change(Arc::make_mut(&mut node.user))
        })
    }

    /// Gives the engine the types that were still open: from now on they stay as they are.
    pub(crate) fn commit_types(&self) -> Outcome {
        let open = |types: &mut Types| {
            let found = types.nodes.iter().find(|node| !node.is_committed);
            Ok(found.map(|node| (node.group, UserType::clone(&node.user))))
        };
        while let Some((group, user)) = self.with_known_types(open)? {
            self.group(group)?.writing()?.define_type(user.clone())?;
            self.with_known_types(|types| {
                let mut open = types.nodes.iter_mut().filter(|node| !node.is_committed);
                if let Some(node) = open.next() {
                    node.is_committed = true;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Forgets what was found in the file.
    pub(super) fn forget_types(&self) {
        *self.types.write().unwrap_or_else(PoisonError::into_inner) = Types::default();
    }

    fn with_types<T>(&self, look: impl FnOnce(&mut Types) -> Outcome<T>) -> Outcome<T> {
        if !self.with_known_types(|types| Ok(types.is_complete))? {
            let mut nodes = Vec::new();
            for group in self.every_group()? {
                for user in group.group().types()?.iter() {
                    let user = Arc::clone(user);
                    nodes.push(TypeNode { group: group.number, user, is_committed: true });
                }
            }
            self.with_known_types(|types| {
                if !types.is_complete {
                    *types = Types { nodes, is_complete: true };
                }
                Ok(())
            })?;
        }
        self.with_known_types(look)
    }

    fn with_known_types<T>(&self, look: impl FnOnce(&mut Types) -> Outcome<T>) -> Outcome<T> {
        look(&mut self.types.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// netCDF's own type of that number.
pub(crate) fn atomic(id: c_int) -> Option<Atomic> {
    Some(match id {
        1 => Atomic::Byte,
        2 => Atomic::Char,
        3 => Atomic::Short,
        4 => Atomic::Int,
        5 => Atomic::Float,
        6 => Atomic::Double,
        7 => Atomic::UByte,
        8 => Atomic::UShort,
        9 => Atomic::UInt,
        10 => Atomic::Int64,
        11 => Atomic::UInt64,
        12 => Atomic::String,
        _ => return None,
    })
}
