//! User-defined types: which one stands for a type of HDF5 at a place in the file.
//!
//! A data set or attribute whose type is a committed one names it by its address. Members of
//! compound types, bases of sequences and types that were written once more are found by being the
//! same as a type of the group or of one above it.

use std::sync::Arc;

use isotach_format::hdf5::message::datatype::Datatype;
use isotach_model::{DataType, UserType};

use super::group::GroupData;
use super::member::{CommittedType, Member};
use super::{Contents, ObjectId, reserved, types};
use crate::error::Result;
use crate::fault::Readable;

/// A user-defined type and the HDF5 type that it is.
#[derive(Clone)]
pub(super) struct DefinedType {
    /// Its place among the links of its group.
    pub(super) place: usize,
    /// The committed type; `None` where it has no name in the file.
    object: Option<ObjectId>,
    datatype: Arc<Datatype>,
    pub(super) user: Arc<UserType>,
}

impl DefinedType {
    /// A type without a name in the file, that of the object at `place`.
    pub(super) fn anonymous(place: usize, datatype: &Datatype, user: Arc<UserType>) -> Self {
        Self { place, object: None, datatype: Arc::new(datatype.clone()), user }
    }
}

/// The committed types of a group.
pub(super) fn define(group: &Arc<GroupData>) -> Result<Arc<[DefinedType]>> {
    let mut defined: Vec<DefinedType> = Vec::new();
    for committed in group.members()?.types() {
        let CommittedType { place, name, object, datatype } = committed;
        let mut find = |part: &Datatype| match same_in(&defined, part) {
            None => inherited(group, part),
            same => Ok(same),
        };
        let user = types::user_type(datatype, name.as_ref().to_owned(), &group.path, &mut find)?;
        if let Some(user) = user {
            defined.push(DefinedType {
                place: *place,
                object: Some(*object),
                datatype: Arc::clone(datatype),
                user: Arc::new(user),
            });
        }
    }
    Ok(defined.into())
}

/// The first type of `defined` that is the same as `datatype`.
pub(super) fn same_in(defined: &[DefinedType], datatype: &Datatype) -> Option<Arc<UserType>> {
    let found = defined.iter().find(|defined| types::are_same(&defined.datatype, datatype));
    found.map(|defined| Arc::clone(&defined.user))
}

/// The type of a group above that is the same, the root's first.
fn inherited(group: &Arc<GroupData>, datatype: &Datatype) -> Result<Option<Arc<UserType>>> {
    let above: Vec<_> = group.with_ancestors().skip(1).collect();
    for group in above.iter().rev() {
        if let Some(same) = same_in_group(group, datatype)? {
            return Ok(Some(same));
        }
    }
    Ok(None)
}

/// The first type of a group that is the same; a damaged group has none.
fn same_in_group(group: &Arc<GroupData>, datatype: &Datatype) -> Result<Option<Arc<UserType>>> {
    Ok(group.committed_types().readable()?.and_then(|types| same_in(types, datatype)))
}

/// The committed type that stands for `datatype` in `group`.
pub(super) fn committed(
    group: &Arc<GroupData>,
    datatype: &Datatype,
) -> Result<Option<Arc<UserType>>> {
    match inherited(group, datatype)? {
        None => same_in_group(group, datatype),
        same => Ok(same),
    }
}

/// The committed type at an address: of the group, of one above it, or of any other.
fn at_address(
    contents: &Contents,
    group: &Arc<GroupData>,
    object: ObjectId,
) -> Result<Option<Arc<UserType>>> {
    let in_group = |group: &Arc<GroupData>| -> Result<Option<Arc<UserType>>> {
        let Some(types) = group.committed_types().readable()? else { return Ok(None) };
        let found = types.iter().find(|defined| defined.object == Some(object));
        Ok(found.map(|found| Arc::clone(&found.user)))
    };
    for group in group.with_ancestors() {
        if let Some(found) = in_group(&group)? {
            return Ok(Some(found));
        }
    }
    for group in contents.groups()? {
        if let Some(found) = in_group(&group)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// [`at_address`], where there is an address.
fn at_some_address(
    contents: &Contents,
    group: &Arc<GroupData>,
    object: Option<ObjectId>,
) -> Result<Option<Arc<UserType>>> {
    object.map_or(Ok(None), |object| at_address(contents, group, object))
}

/// The type of a variable of `group`.
pub(super) fn variable_type(
    contents: &Contents,
    group: &Arc<GroupData>,
    datatype: &Datatype,
    committed_at: Option<ObjectId>,
) -> Result<DataType> {
    if !types::needs_name(datatype) {
        // Only a type with a name could have parts with names.
        return types::data_type(datatype, &mut |_| Ok(None));
    }
    if let Some(user) = at_some_address(contents, group, committed_at)? {
        return Ok(DataType::User(user));
    }
    types::data_type(datatype, &mut |part| {
        if let Some(user) = committed(group, part)? {
            return Ok(Some(user));
        }
        match contents.anonymous().readable()? {
            Some(anonymous) => anonymous.type_of(contents, part),
            None => Ok(None),
        }
    })
}

/// The type of an attribute in `group`. libnetcdf writes one of a user-defined type without saying where
/// that is committed, and finds it again among the types of all groups. What is none of these is made up
/// and not a type of any group.
pub(super) fn attribute_type(
    contents: &Contents,
    group: &Arc<GroupData>,
    datatype: &Datatype,
    committed_at: Option<ObjectId>,
) -> Result<DataType> {
    match at_some_address(contents, group, committed_at)? {
        Some(user) => Ok(DataType::User(user)),
        None => types::data_type(datatype, &mut |part| match committed(group, part)? {
            None => in_any_group(contents, part),
            user => Ok(user),
        }),
    }
}

/// The first committed type of the file that is the same. h5py's booleans are committed nowhere, and not
/// worth reading all groups of a file that says nothing of netCDF.
fn in_any_group(contents: &Contents, datatype: &Datatype) -> Result<Option<Arc<UserType>>> {
    let properties = || contents.root.group.node().attribute(reserved::PROPERTIES).readable();
    if is_boolean(datatype) && properties()?.flatten().is_none() {
        return Ok(None);
    }
    Ok(same_in(contents.committed_types()?, datatype))
}

/// Whether it is what h5py makes of NumPy's booleans.
fn is_boolean(datatype: &Datatype) -> bool {
    let Datatype::Enumeration { members, .. } = datatype else { return false };
    let mut names = members.iter().map(|member| (&*member.name, member.value));
    members.len() == 2 && names.all(|member| matches!(member, (b"FALSE", 0) | (b"TRUE", 1)))
}

/// The committed types of all groups, each group's before those of the groups below it.
pub(super) fn of_all_groups(contents: &Contents) -> Result<Vec<DefinedType>> {
    let mut all = Vec::new();
    for group in contents.groups()? {
        if let Some(types) = group.committed_types().readable()? {
            all.extend_from_slice(types);
        }
    }
    Ok(all)
}

/// All types of a group: those that are committed, and those that only its variables have.
pub(super) fn types_of(
    contents: &Contents,
    group: &Arc<GroupData>,
) -> Result<Arc<[Arc<UserType>]>> {
    let mut defined = group.committed_types()?.to_vec();
    if has_anonymous(contents, group)? {
        defined.extend_from_slice(contents.anonymous()?.of_group(group));
    }
    defined.sort_by_key(|defined| defined.place);
    Ok(defined.into_iter().map(|defined| defined.user).collect())
}

/// The type of a variable of `group` that needs a name and has none of its own: it is not
/// committed, or no link leads to where it is.
pub(super) fn unnamed<'v>(
    contents: &Contents,
    group: &Arc<GroupData>,
    variable: &'v Member,
) -> Result<Option<&'v Datatype>> {
    let datatype = &**variable.dataset.datatype()?;
    if !types::needs_name(datatype) {
        return Ok(None);
    }
    let committed = variable.dataset.committed_datatype()?;
    let object = committed.map(|address| (variable.file_id(), address));
    let named = at_some_address(contents, group, object)?;
    Ok(named.is_none().then_some(datatype))
}

/// Has the group a variable whose type has no name?
fn has_anonymous(contents: &Contents, group: &Arc<GroupData>) -> Result<bool> {
    for variable in group.members()?.variables() {
        if let Some(datatype) = unnamed(contents, group, variable)?
            && committed(group, datatype)?.is_none()
        {
            return Ok(true);
        }
    }
    Ok(false)
}
