//! Define and data mode.

use std::ffi::c_int;

use isotach::HeaderRoom;

use crate::boundary::{answer, put};
use crate::handle;
use crate::model::Phase;
use crate::status::{Outcome, Status};
use crate::variable::fill::set_fill_of_all;

/// `nc_set_fill`: what is never written reads as fill values.
const NC_FILL: c_int = 0;
/// `nc_set_fill`: what is never written reads as anything.
const NC_NOFILL: c_int = 0x100;
/// `nc__enddef`: values begin where a buffer does.
const NC_ALIGN_CHUNK: usize = usize::MAX;
/// What that is in bytes.
const CHUNK_ALIGNMENT: u64 = 8192;

/// Goes to define mode. What there is by then is stored: `nc_abort` goes back to it.
#[unsafe(no_mangle)]
pub extern "C" fn nc_redef(id: c_int) -> c_int {
    answer(|| {
        let file = handle::file(id)?;
        let writer = file.writer()?;
        let mut phase = file.phase_mut();
        if *phase != Phase::Data {
            return if file.has_modes() { Err(Status::EINDEFINE) } else { Ok(()) };
        }
        writer.commit()?;
        file.set_defining(writer, true)?;
        *phase = Phase::Redefining { is_stored: true };
        Ok(())
    })
}

/// Goes to data mode.
#[unsafe(no_mangle)]
pub extern "C" fn nc_enddef(id: c_int) -> c_int {
    answer(|| end_definitions(id, HeaderRoom::default()))
}

/// Goes to data mode, with room in classic files for what is defined later.
#[unsafe(no_mangle)]
pub extern "C" fn nc__enddef(
    id: c_int,
    header_free: usize,
    fixed_alignment: usize,
    fixed_free: usize,
    record_alignment: usize,
) -> c_int {
    let alignment = |bytes: usize| match bytes {
        NC_ALIGN_CHUNK => CHUNK_ALIGNMENT,
        bytes => (bytes as u64).max(1),
    };
    let room = HeaderRoom {
        header_free: header_free as u64,
        fixed_alignment: alignment(fixed_alignment),
        fixed_free: fixed_free as u64,
        record_alignment: alignment(record_alignment),
    };
    answer(|| end_definitions(id, room))
}

fn end_definitions(id: c_int, room: HeaderRoom) -> Outcome {
    let file = handle::file(id)?;
    let mut phase = file.phase_mut();
    if *phase == Phase::Data {
        return Err(Status::ENOTINDEFINE);
    }
    file.end_definitions(&mut phase, room)?;
    file.share()
}

/// Says whether variables that are defined from now on are filled, in classic files all variables, and tells
/// what it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_set_fill(id: c_int, fill: c_int, old: *mut c_int) -> c_int {
    answer(|| {
        let file = handle::file(id)?;
        let writer = file.writer()?;
        let fills = match fill {
            NC_FILL => true,
            NC_NOFILL => false,
            _ => return Err(Status::EINVAL),
        };
        let before = if writer.set_fill(fills)? { NC_FILL } else { NC_NOFILL };
        if !file.is_hdf5() {
            set_fill_of_all(&file, fills)?;
        }
        // SAFETY: the caller's place for a mode.
        unsafe { put(old, before) };
        Ok(())
    })
}
