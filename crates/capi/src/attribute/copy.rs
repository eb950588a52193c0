//! Copying attributes between holders, files and formats.

use std::ffi::{c_char, c_int};

use isotach::model::{DataType, UserType};

use super::Holder;
use super::get::name_of;
use super::put::{self, Source};
use crate::boundary::answer;
use crate::handle;
use crate::model::{GroupNode, Names, OpenFile, are_alike};
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
            let holder = Holder::of(to.clone(), group.clone(), to_variable)?;
            // SAFETY: the caller's string.
            unsafe { name_of(&holder, name) }?;
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
            if file
                .user_type(id)?
                .user
                .as_ref()
                .is_some_and(|own| are_alike(own, user, Names::OfTypes))
            {
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
