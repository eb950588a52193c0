//! Which open file, and which group of it, an id means.
//!
//! As in netCDF-C an id has the file's place in a table in its upper half and the group's number in its
//! lower half, so that the id of a file is that of its root group. A place is free again when
//! the file was closed; calls that are under way keep the file they found.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isotach::sync::Kept;

use crate::model::{GroupNode, OpenFile};
use crate::plugin;
use crate::status::{Outcome, Status};
use crate::trace;

/// Bits of an id that are the group's.
const GROUP_BITS: u32 = 16;
/// The largest number of files that are open at once; the sign bit stays free.
const MAX_FILES: usize = 0x7fff;

/// The open files; place 0 is never used, so that no id is 0.
static FILES: Kept<Vec<Option<Arc<OpenFile>>>> = Kept::fixed(Vec::new(), Vec::new());

/// Counts how often an open file ceased to be what it was.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// A number that is another one as soon as a file was closed or looked at anew.
#[inline]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// Says that a file is not what it was: values that somebody has kept of it are out of date.
pub(crate) fn outdate() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Takes a file in and gives its id.
///
/// # Errors
/// `NC_ENFILE` where too many are open.
pub(crate) fn insert(file: OpenFile) -> Outcome<c_int> {
    plugin::be_looked_for();
    let (mut without_id, mut with_id) = (Some(file), None);
    let id = FILES.change(|files| -> Outcome<c_int> {
        let place = free_place(files)?;
        let id = c_int::try_from(place << GROUP_BITS).map_err(|_| Status::ENFILE)?;
        if let Some(file) = without_id.take() {
            with_id = Some(Arc::new(file.with_id(id)));
        }
        if let Some(slot) = files.get_mut(place) {
            slot.clone_from(&with_id);
        }
        Ok(id)
    })?;
    if let Some(file) = with_id {
        trace::opened(&file);
    }
    Ok(id)
}

/// A place that no file has, made where there is none.
fn free_place(files: &mut Vec<Option<Arc<OpenFile>>>) -> Outcome<usize> {
    if files.is_empty() {
        files.push(None);
    }
    let free = files.iter().skip(1).position(Option::is_none).map(|index| index + 1);
    match free {
        Some(place) => Ok(place),
        None if files.len() > MAX_FILES => Err(Status::ENFILE),
        None => {
            files.push(None);
            Ok(files.len() - 1)
        }
    }
}

/// The open file that an id of it or of one of its groups means, whether or not there is such a group.
///
/// # Errors
/// `NC_EBADID`.
pub(crate) fn any_file(id: c_int) -> Outcome<Arc<OpenFile>> {
    let (place, group) = parts(id)?;
    let files = FILES.read();
    let file = files.get(place).and_then(Option::as_ref).ok_or(Status::EBADID)?;
    // Classic files have one group.
    if group != 0 && !file.is_hdf5() {
        return Err(Status::EBADID);
    }
    Ok(Arc::clone(file))
}

/// The open file that an id of it or of one of its groups means.
///
/// # Errors
/// `NC_EBADID`.
pub(crate) fn file(id: c_int) -> Outcome<Arc<OpenFile>> {
    group(id).map(|(file, _)| file)
}

/// The open file and the group that an id means.
///
/// # Errors
/// `NC_EBADID`.
pub(crate) fn group(id: c_int) -> Outcome<(Arc<OpenFile>, Arc<GroupNode>)> {
    let file = any_file(id)?;
    let (_, number) = parts(id)?;
    let group = file.group(number)?;
    Ok((file, group))
}

/// What `look` makes of the open file and the group that an id means, without keeping them; `None` where they are
/// not known, or `look` says so. No file is opened or closed meanwhile, so that `look` must not wait for anything.
pub(crate) fn glance<T>(
    id: c_int,
    look: impl FnOnce(&OpenFile, &GroupNode) -> Option<T>,
) -> Option<T> {
    let (place, number) = parts(id).ok()?;
    let files = FILES.read();
    let file = files.get(place)?.as_ref()?;
    file.glance(number, |group| look(file, group))
}

/// The open file whose own id that is.
///
/// # Errors
/// `NC_EBADID`; `NC_EBADGRPID` where the id is that of a group below the root.
pub(crate) fn root(id: c_int) -> Outcome<Arc<OpenFile>> {
    let (file, group) = group(id)?;
    if group.parent.is_some() { Err(Status::EBADGRPID) } else { Ok(file) }
}

/// Takes a file out of the table: no call finds it any more.
///
/// # Errors
/// Those of [`root`].
pub(crate) fn remove(id: c_int) -> Outcome<Arc<OpenFile>> {
    root(id)?;
    let (place, _) = parts(id)?;
    let removed = FILES.change(|files| files.get_mut(place).and_then(Option::take));
    let removed = removed.ok_or(Status::EBADID)?;
    outdate();
    trace::closed(id);
    Ok(removed)
}

/// All open files.
pub(crate) fn all() -> Vec<Arc<OpenFile>> {
    let files = FILES.read();
    files.iter().flatten().cloned().collect()
}

fn parts(id: c_int) -> Outcome<(usize, u16)> {
    let id = u32::try_from(id).map_err(|_| Status::EBADID)?;
    let place = usize::try_from(id >> GROUP_BITS).map_err(|_| Status::EBADID)?;
    Ok((place, (id & 0xffff) as u16))
}
