//! Attributes of files that are only read, once somebody has looked at them.
//!
//! Other calls keep the file, the group and the variable that they find, each by a count that all threads of the
//! program change: that costs more than to tell an attribute. Here nothing is kept; the table of open files
//! stands still meanwhile. So nothing here waits, reads, or asks what an id means.

use std::ffi::{c_char, c_int};

use isotach::Attribute;

use super::holder::SPECIAL;
use crate::boundary::text;
use crate::handle;
use crate::model::AttributeList;
use crate::variable::NC_GLOBAL;

/// What `look` makes of the attributes of the group, or the variable of it, that two ids mean. `None` where they
/// have to be found in the usual way: they are not known yet, or may change, or `look` needs more.
pub(super) fn at_all<T>(
    group: c_int,
    variable: c_int,
    look: impl FnOnce(&AttributeList) -> Option<T>,
) -> Option<T> {
    handle::glance(group, |file, group| {
        if file.writer.is_some() {
            return None;
        }
        let known = match variable {
            NC_GLOBAL => &group.attributes,
            id => &group.known_variable(id)?.attributes,
        };
        look(known.get()?)
    })
}

/// What `look` makes of the attribute of that name, as [`at_all`] has it.
///
/// # Safety
/// `name` is NULL or ends with a zero.
pub(super) unsafe fn at_one<T>(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    look: impl FnOnce(&Attribute) -> Option<T>,
) -> Option<T> {
    // SAFETY: by this function's contract.
    let name = unsafe { text(name) }.ok()?;
    if variable == NC_GLOBAL && SPECIAL.contains(&name) {
        return None;
    }
    at_all(group, variable, |all| look(all.at(all.number(name)?)?))
}
