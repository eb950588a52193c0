//! Groups: defining, renaming, finding and naming them.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use crate::boundary::{answer, checked, counted, put, put_list, put_text, text};
use crate::handle;
use crate::model::{GroupNode, OpenFile};
use crate::status::{Outcome, Status};

impl OpenFile {
    /// The id of one of its groups.
    pub(crate) fn group_id(&self, group: &GroupNode) -> c_int {
        self.id | c_int::from(group.number)
    }

    /// Refuses what classic files do not have.
    ///
    /// # Errors
    /// `NC_ENOTNC4`.
    pub(crate) fn check_hdf5(&self) -> Outcome {
        if self.is_hdf5() { Ok(()) } else { Err(Status::ENOTNC4) }
    }
}

impl GroupNode {
    /// Its name; the root group is `/`.
    fn name(&self) -> String {
        match self.parent {
            Some(_) => self.group().name().to_owned(),
            None => "/".to_owned(),
        }
    }
}

/// The open netCDF-4 file and the group that an id means.
///
/// # Errors
/// `NC_EBADID`; `NC_ENOTNC4` for classic files.
pub(crate) fn enhanced(id: c_int) -> Outcome<(Arc<OpenFile>, Arc<GroupNode>)> {
    let (file, group) = handle::group(id)?;
    file.check_hdf5()?;
    Ok((file, group))
}

/// The group of that name directly in another one.
fn child(file: &OpenFile, group: &GroupNode, name: &str) -> Outcome<Arc<GroupNode>> {
    let name = checked(name)?;
    let mut below = file.groups_of(group.number)?.into_iter();
    below.find(|below| below.name() == name).ok_or(Status::ENOGRP)
}

/// The group at that path below another one, whether or not a slash comes first.
///
/// # Errors
/// `NC_ENOGRP`, also for a path without a name in it where the group is not the root.
pub(crate) fn descend(
    file: &OpenFile,
    group: Arc<GroupNode>,
    path: &str,
) -> Outcome<Arc<GroupNode>> {
    let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none() && group.parent.is_some() {
        return Err(Status::ENOGRP);
    }
    names.try_fold(group, |group, name| child(file, &group, name))
}

/// The group and the name that a path from the root means; `None` for a name without slashes.
///
/// # Errors
/// `NC_EINVAL` for a path that names no group or does not begin at the root; those of [`descend`].
pub(crate) fn at_path<'a>(
    file: &OpenFile,
    name: &'a str,
) -> Outcome<Option<(Arc<GroupNode>, &'a str)>> {
    match name.rsplit_once('/') {
        None => Ok(None),
        Some((path, name)) if path.starts_with('/') => {
            Ok(Some((descend(file, file.group(0)?, path)?, name)))
        }
        Some(_) => Err(Status::EINVAL),
    }
}

/// Defines a group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_grp(parent: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, parent) = enhanced(parent)?;
        // SAFETY: the caller's string.
        let name = checked(unsafe { text(name) }?)?;
        if file.is_taken(&parent, &name)? {
            return Err(Status::ENAMEINUSE);
        }
        if file.has_modes() {
            return Err(Status::ESTRICTNC3);
        }
        let _defining = file.defining()?;
        let new = file.add_group(|number| {
            parent.writing()?.define_group(&name)?;
            Ok(parent.below(&name, number)?.map(Arc::new))
        })?;
        // SAFETY: the caller's place for an id.
        unsafe { put(id, file.group_id(&new)) };
        Ok(())
    })
}

/// Renames a group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rename_grp(id: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = enhanced(id)?;
        file.writer()?;
        let parent = file.group(group.parent.ok_or(Status::EBADGRPID)?)?;
        // SAFETY: the caller's string.
        let name = checked(unsafe { text(name) }?)?;
        if file.is_taken(&parent, &name)? {
            return Err(Status::ENAMEINUSE);
        }
        let _defining = file.defining()?;
        group.writing()?.rename(&name)?;
        group.renew_handles(&parent, &name)?;
        renew_below(&file, &group)?;
        file.renew_types()
    })
}

/// The groups below one that was renamed have other paths.
fn renew_below(file: &OpenFile, above: &GroupNode) -> Outcome {
    for group in file.groups_of(above.number)? {
        group.renew_handles(above, &group.name())?;
        renew_below(file, &group)?;
    }
    Ok(())
}

/// The groups in a group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grps(id: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = handle::group(id)?;
        let below = file.groups_of(group.number)?;
        let found: Vec<c_int> = below.iter().map(|group| file.group_id(group)).collect();
        // SAFETY: the caller's places for a count and as many ids.
        unsafe {
            put(count, counted(found.len())?);
            put_list(ids, &found);
        }
        Ok(())
    })
}

/// A group's name; the root group is `/`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grpname(id: c_int, name: *mut c_char) -> c_int {
    answer(|| {
        let (_, group) = handle::group(id)?;
        // SAFETY: the caller's room for a name.
        unsafe { put_text(name, &group.name()) };
        Ok(())
    })
}

/// The path of a group from the root, and its bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grpname_full(
    id: c_int,
    len: *mut usize,
    path: *mut c_char,
) -> c_int {
    answer(|| {
        let (_, group) = handle::group(id)?;
        let group = group.group();
        // SAFETY: the caller's place for a count, and room for as many bytes and a zero.
        unsafe {
            put(len, group.path().len());
            put_text(path, group.path());
        }
        Ok(())
    })
}

/// The bytes of a group's path from the root.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grpname_len(id: c_int, len: *mut usize) -> c_int {
    // SAFETY: the caller's place for a count.
    unsafe { nc_inq_grpname_full(id, len, std::ptr::null_mut()) }
}

/// The group above a group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grp_parent(id: c_int, parent: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = handle::group(id)?;
        let above = file.group(group.parent.ok_or(Status::ENOGRP)?)?;
        // SAFETY: the caller's place for an id.
        unsafe { put(parent, file.group_id(&above)) };
        Ok(())
    })
}

/// The group of that name in a group; without a name the root group. Classic files have one group,
/// whatever it is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_ncid(id: c_int, name: *const c_char, found: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = handle::group(id)?;
        let below = if !file.is_hdf5() || name.is_null() {
            file.group(0)?
        } else {
            // SAFETY: the caller's string.
            child(&file, &group, unsafe { text(name) }?)?
        };
        // SAFETY: the caller's place for an id.
        unsafe { put(found, file.group_id(&below)) };
        Ok(())
    })
}

/// `nc_inq_ncid` by its other name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grp_ncid(
    id: c_int,
    name: *const c_char,
    found: *mut c_int,
) -> c_int {
    // SAFETY: the same contract.
    unsafe { nc_inq_ncid(id, name, found) }
}

/// The group at a path below a group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grp_full_ncid(
    id: c_int,
    path: *const c_char,
    found: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, group) = handle::group(id)?;
        if !file.is_hdf5() {
            return Err(Status::ENOGRP);
        }
        // SAFETY: the caller's string.
        let below = descend(&file, group, unsafe { text(path) }?)?;
        // SAFETY: the caller's place for an id.
        unsafe { put(found, file.group_id(&below)) };
        Ok(())
    })
}
