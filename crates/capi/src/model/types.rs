//! User-defined types by id, in the C interface's words: what they are made of is told by ids.

mod committing;
mod comparing;

use std::ffi::c_int;
use std::sync::{Arc, PoisonError};

use isotach::model::{Atomic, DataType, UserClass, UserType};

use super::OpenFile;
use crate::status::{Outcome, Status};
pub(crate) use committing::enum_value;
pub(crate) use comparing::{Names, are_alike};

/// The id of the first type that a file defines.
pub(crate) const FIRST_USER_TYPE: c_int = 32;
/// `NC_STRING`, the last of netCDF's own types.
pub(crate) const LAST_ATOMIC: c_int = Atomic::String as c_int;

/// The types that a file defines, in netCDF's order: the first has the id 32.
#[derive(Default, Clone)]
pub(super) struct Types {
    nodes: Vec<Arc<TypeNode>>,
    /// Whether the file was asked for its types.
    is_complete: bool,
}

/// A user-defined type by its id.
#[derive(Clone)]
pub(crate) struct TypeNode {
    /// Number of the group that defines it.
    pub(crate) group: u16,
    pub(crate) name: String,
    /// Bytes of one element in a C program's memory.
    pub(crate) size: usize,
    pub(crate) class: TypeClass,
    /// The type as the engine has it; `None` as long as members can be added.
    pub(crate) user: Option<Arc<UserType>>,
    /// The same before groups were renamed, as variables and attributes of that time have it.
    pub(crate) former: Vec<Arc<UserType>>,
}

/// What a type is made of. Other types are ids, which may mean nothing until the type is committed.
#[derive(Clone)]
pub(crate) enum TypeClass {
    Vlen { base: c_int },
    Opaque,
    Enum { base: c_int, members: Vec<EnumMember> },
    Compound(Vec<FieldNode>),
}

/// A member of an enumeration.
#[derive(Clone, PartialEq)]
pub(crate) struct EnumMember {
    pub(crate) name: String,
    /// As many bytes as the base type has, in this machine's order.
    pub(crate) value: Box<[u8]>,
}

/// A member of a compound type.
#[derive(Clone)]
pub(crate) struct FieldNode {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) type_id: c_int,
    /// As it was given: nothing else is held against it before the type is committed.
    pub(crate) shape: Vec<c_int>,
}

/// Numbers of the classes in `netcdf.h`.
pub(crate) mod class {
    use std::ffi::c_int;

    pub(crate) const VLEN: c_int = 13;
    pub(crate) const OPAQUE: c_int = 14;
    pub(crate) const ENUM: c_int = 15;
    pub(crate) const COMPOUND: c_int = 16;
}

impl TypeClass {
    /// Its number in `netcdf.h`.
    pub(crate) fn number(&self) -> c_int {
        match self {
            Self::Vlen { .. } => class::VLEN,
            Self::Opaque => class::OPAQUE,
            Self::Enum { .. } => class::ENUM,
            Self::Compound(_) => class::COMPOUND,
        }
    }
}

impl TypeNode {
    /// A type of the file. `id_of` tells the ids of what it is made of.
    fn existing(group: u16, user: &Arc<UserType>, id_of: impl Fn(&DataType) -> c_int) -> Self {
        let class = match &user.class {
            UserClass::Opaque => TypeClass::Opaque,
            UserClass::Vlen(base) => TypeClass::Vlen { base: id_of(base) },
            UserClass::Enum { base, members } => {
                let member = |(name, value): &(String, i128)| EnumMember {
                    name: name.clone(),
                    value: committing::enum_bytes(*base, *value),
                };
                let members = members.iter().map(member).collect();
                TypeClass::Enum { base: *base as c_int, members }
            }
            UserClass::Compound(fields) => {
                let field = |field: &isotach::model::Field| FieldNode {
                    name: field.name.clone(),
                    offset: field.offset,
                    type_id: id_of(&field.data_type),
                    shape: field.shape.iter().map(|&len| len.try_into().unwrap_or(0)).collect(),
                };
                TypeClass::Compound(fields.iter().map(field).collect())
            }
        };
        let (name, user) = (user.name.clone(), Arc::clone(user));
        Self { group, name, size: user.size, class, user: Some(user), former: Vec::new() }
    }

    /// The members of a compound type, to add one.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for another class; `NC_ETYPDEFINED` where the type was committed.
    pub(crate) fn fields_mut(&mut self) -> Outcome<&mut Vec<FieldNode>> {
        match &mut self.class {
            TypeClass::Compound(_) if self.user.is_some() => Err(Status::ETYPDEFINED),
            TypeClass::Compound(fields) => Ok(fields),
            _ => Err(Status::EBADTYPE),
        }
    }

    /// The members of an enumeration, to add one.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for another class; `NC_ETYPDEFINED` where the type was committed.
    pub(crate) fn members_mut(&mut self) -> Outcome<&mut Vec<EnumMember>> {
        match &mut self.class {
            TypeClass::Enum { .. } if self.user.is_some() => Err(Status::ETYPDEFINED),
            TypeClass::Enum { members, .. } => Ok(members),
            _ => Err(Status::EBADTYPE),
        }
    }
}

impl Types {
    fn get(&self, id: c_int) -> Outcome<&Arc<TypeNode>> {
        self.nodes.get(index_of(id)?).ok_or(Status::EBADTYPE)
    }

    /// `NC_NAT` for what has no id.
    fn id_of(types: &[(u16, Arc<UserType>)], data_type: &DataType) -> c_int {
        match data_type {
            DataType::Atomic(atomic) => *atomic as c_int,
            DataType::User(user) => {
                let is_same = |(_, other): &(u16, Arc<UserType>)| are_same(user, other);
                types.iter().position(is_same).and_then(id_at).unwrap_or(0)
            }
            DataType::SmallFloat(_) => Atomic::Float as c_int,
            DataType::Foreign(_) => 0,
        }
    }
}

impl OpenFile {
    /// The type that an id means. One that could still be changed is committed, with all others: who
    /// asks for it uses it.
    ///
    /// # Errors
    /// `NC_EBADTYPE`; those of committing.
    pub(crate) fn data_type(&self, id: c_int) -> Outcome<DataType> {
        if let Some(atomic) = atomic(id) {
            return Ok(atomic.into());
        }
        if self.user_type(id)?.user.is_none() {
            self.commit_types()?;
        }
        self.user_type(id)?.user.clone().map(DataType::User).ok_or(Status::EBADTYPE)
    }

    /// The user-defined type that an id means.
    ///
    /// # Errors
    /// `NC_EBADTYPE`.
    pub(crate) fn user_type(&self, id: c_int) -> Outcome<Arc<TypeNode>> {
        self.with_types(|types| types.get(id).cloned())
    }

    /// The id of a type.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for one that netCDF has no name for.
    pub(crate) fn type_id(&self, data_type: &DataType) -> Outcome<c_int> {
        match data_type {
            DataType::Atomic(atomic) => Ok(*atomic as c_int),
            DataType::User(user) => {
                let is_it = |other: &Arc<UserType>| are_same(user, other);
                let present = self.find_type(|node| node.user.as_ref().is_some_and(is_it));
                let present =
                    present.or_else(|_| self.find_type(|node| node.former.iter().any(is_it)));
                // An attribute may have the type of a group that is not above it, which it does not name.
                let is_alike = |own: &Arc<UserType>| are_alike(own, user, Names::No);
                present.or_else(|_| self.find_type(|node| node.user.as_ref().is_some_and(is_alike)))
            }
            DataType::SmallFloat(_) => Ok(Atomic::Float as c_int),
            DataType::Foreign(_) => Err(Status::EBADTYPE),
        }
    }

    /// The id of the first type for which that is true.
    ///
    /// # Errors
    /// `NC_EBADTYPE` where there is none.
    pub(crate) fn find_type(&self, is_it: impl Fn(&TypeNode) -> bool) -> Outcome<c_int> {
        let index = self.with_types(|types| Ok(types.nodes.iter().position(|node| is_it(node))))?;
        index.and_then(id_at).ok_or(Status::EBADTYPE)
    }

    /// The ids of a group's types, in order.
    pub(crate) fn types_of(&self, group: u16) -> Outcome<Vec<c_int>> {
        self.with_types(|types| {
            let numbered = (FIRST_USER_TYPE..).zip(&types.nodes);
            Ok(numbered.filter(|(_, node)| node.group == group).map(|(id, _)| id).collect())
        })
    }

    /// Whether a type of that name is being defined in the group, which the engine does not know yet.
    pub(crate) fn is_defining_type(&self, group: u16, name: &str) -> bool {
        let types = self.types.read().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |node: &Arc<TypeNode>| node.user.is_none() && node.group == group && node.name == name;
        types.nodes.iter().any(is_it)
    }

    /// Takes in a type that is being defined, and gives its id.
    pub(crate) fn add_type(&self, node: TypeNode) -> Outcome<c_int> {
        self.with_types(|_| Ok(()))?;
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        let id = id_at(types.nodes.len()).ok_or(Status::ENOMEM)?;
        types.nodes.push(Arc::new(node));
        Ok(id)
    }

    /// Changes a type that is being defined.
    ///
    /// # Errors
    /// `NC_EINVAL`, `NC_EBADTYPE` or `NC_EBADTYPID` for an id that means no user-defined type, as
    /// it is negative, one of netCDF's own, or beyond.
    pub(crate) fn change_type(
        &self,
        id: c_int,
        change: impl FnOnce(&mut TypeNode) -> Outcome,
    ) -> Outcome {
        self.editable_type(id)?;
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        let node = types.nodes.get_mut(index_of(id)?).ok_or(Status::EBADTYPID)?;
        change(Arc::make_mut(node))
    }

    /// The user-defined type that an id means, where it is looked up by the functions that define.
    ///
    /// # Errors
    /// Those of [`OpenFile::change_type`].
    pub(crate) fn editable_type(&self, id: c_int) -> Outcome<Arc<TypeNode>> {
        match id {
            ..0 => Err(Status::EINVAL),
            0..=LAST_ATOMIC => Err(Status::EBADTYPE),
            _ => self.user_type(id).map_err(|_| Status::EBADTYPID),
        }
    }

    /// Forgets what was found in the file; what is only being defined stays.
    /// Groups and names of the types that somebody may have ids of.
    pub(super) fn known_types(&self) -> Vec<(u16, String)> {
        let types = self.types.read().unwrap_or_else(PoisonError::into_inner);
        types.nodes.iter().map(|node| (node.group, node.name.clone())).collect()
    }

    pub(super) fn forget_types(&self) {
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        types.nodes.retain(|node| node.user.is_none());
        types.is_complete = false;
    }

    fn with_types<T>(&self, look: impl FnOnce(&Types) -> Outcome<T>) -> Outcome<T> {
        let known = self.types.read().unwrap_or_else(PoisonError::into_inner);
        if known.is_complete {
            return look(&known);
        }
        drop(known);
        let mut found = Vec::new();
        for group in self.every_group()? {
            let of_group = group.group().types()?;
            let known = of_group.iter().filter(|user| !user.is_foreign());
            found.extend(known.map(|user| (group.number, Arc::clone(user))));
        }
        let node = |(group, user): &(u16, Arc<UserType>)| {
            Arc::new(TypeNode::existing(*group, user, |part| Types::id_of(&found, part)))
        };
        let nodes: Vec<_> = found.iter().map(node).collect();
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        if !types.is_complete {
            types.nodes.splice(0..0, nodes);
            types.is_complete = true;
        }
        look(&types)
    }
}

fn are_same(a: &Arc<UserType>, b: &Arc<UserType>) -> bool {
    Arc::ptr_eq(a, b) || (&a.name, &a.group) == (&b.name, &b.group)
}

fn index_of(id: c_int) -> Outcome<usize> {
    let index = id.checked_sub(FIRST_USER_TYPE).ok_or(Status::EBADTYPE)?;
    usize::try_from(index).map_err(|_| Status::EBADTYPE)
}

fn id_at(index: usize) -> Option<c_int> {
    FIRST_USER_TYPE.checked_add(c_int::try_from(index).ok()?)
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
