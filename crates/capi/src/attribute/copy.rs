//! Copying attributes between holders, files and formats.

use std::ffi::{c_char, c_int};

use isotach::model::{DataType, Field, UserClass, UserType};

use super::Holder;
use super::get::name_of;
use super::put::{self, Source};
use crate::boundary::answer;
use crate::handle;
use crate::model::{GroupNode, OpenFile};
use crate::status::{Outcome, Status};

/// Copies an attribute. A user-defined type becomes the one that is the same in the other file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_copy_att(
    from_group: c_int,
    from_variable: c_int,
    name: *const c_char,
    to_group: c_int,
    to_variable: c_int,
) -> c_int {
    answer(|| {
        let (to, group) = handle::group(to_group)?;
        if (from_group, from_variable) == (to_group, to_variable) {
            return Ok(());
        }
        if to.format == isotach::Format::NetCdf4Classic {
            Holder::of(to.clone(), group.clone(), to_variable)?;
        }
        let from = Holder::find(from_group, from_variable)?;
        // SAFETY: the caller's string.
        let attribute = from.attribute(unsafe { name_of(&from, name) }?)?;
        let attribute = attribute.ok_or(Status::ENOTATT)?;
        let type_id = match attribute.data_type() {
            DataType::User(user) => same_type(&to, group.number, user)?,
            other => from.file.type_id(other)?,
        };
        let source = Source::Values(attribute.values()?);
        // SAFETY: the caller's string.
        unsafe { put::put(to_group, to_variable, name, type_id, source) }
    })
}

/// The id of a file's type that is the same as another file's: of the group, of those above it, or the
/// first of all.
fn same_type(file: &OpenFile, group: u16, user: &UserType) -> Outcome<c_int> {
    if file.writer.is_some() {
        let _phase = file.phase_mut();
        file.commit_types()?;
    }
    let start = file.group(group)?;
    let above: Vec<_> = file.with_ancestors(start).collect::<Outcome<_>>()?;
    let of_group = |group: &GroupNode| -> Outcome<Option<c_int>> {
        for id in file.types_of(group.number)? {
            if file.user_type(id)?.user.as_ref().is_some_and(|own| are_same(own, user)) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    };
    for group in above.into_iter().chain(file.every_group()?) {
        if let Some(found) = of_group(&group)? {
            return Ok(found);
        }
    }
    Err(Status::EBADTYPE)
}

/// Are they the same but for the group that defines them?
fn are_same(one: &UserType, other: &UserType) -> bool {
    (&one.name, one.size) == (&other.name, other.size)
        && match (&one.class, &other.class) {
            (UserClass::Vlen(one), UserClass::Vlen(other)) => are_same_type(one, other),
            (UserClass::Compound(fields), UserClass::Compound(others)) => {
                let is_same = |(one, other): (&Field, &Field)| {
                    (&one.name, one.offset, &one.shape) == (&other.name, other.offset, &other.shape)
                        && are_same_type(&one.data_type, &other.data_type)
                };
                fields.len() == others.len() && fields.iter().zip(others).all(is_same)
            }
            (one, other) => one == other,
        }
}

fn are_same_type(one: &DataType, other: &DataType) -> bool {
    match (one, other) {
        (DataType::User(one), DataType::User(other)) => are_same(one, other),
        (one, other) => one == other,
    }
}
