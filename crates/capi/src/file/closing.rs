//! What becomes of a file: stored, brought up to date, closed, left as it was, deleted.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Once};

use isotach::{File, HeaderRoom};

use super::path;
use crate::boundary::answer;
use crate::handle;
use crate::model::{OpenFile, Phase};
use crate::status::{Outcome, Status};

/// Closes a file; what was changed is stored.
#[unsafe(no_mangle)]
pub extern "C" fn nc_close(id: c_int) -> c_int {
    answer(|| close(&*take(id)?).map(drop))
}

/// Stores what was changed, for everybody to see; a file that is only read is looked at again.
#[unsafe(no_mangle)]
pub extern "C" fn nc_sync(id: c_int) -> c_int {
    answer(|| {
        let file = handle::file(id)?;
        let Some(writer) = &file.writer else { return file.refresh() };
        let mut phase = file.phase_mut();
        if file.has_modes() && *phase != Phase::Data {
            return Err(Status::EINDEFINE);
        }
        if file.is_hdf5() {
            file.end_definitions(&mut phase, HeaderRoom::default())?;
        }
        Ok(writer.commit()?)
    })
}

/// Takes out the file whose own id that is, to close it. It stays where a netCDF-4 file has definitions that
/// cannot be stored: the program may mend them.
pub(super) fn take(id: c_int) -> Outcome<Arc<OpenFile>> {
    let file = handle::root(id)?;
    if let Some(writer) = file.writer.as_ref().filter(|_| file.is_hdf5())
        && let Err(status) = file.end_definitions(&mut file.phase_mut(), HeaderRoom::default())
    {
        writer.commit()?;
        return Err(status);
    }
    handle::remove(id)
}

/// Closes a file without what was changed in define mode: a new file is gone.
#[unsafe(no_mangle)]
pub extern "C" fn nc_abort(id: c_int) -> c_int {
    answer(|| {
        // Any group stands for its file.
        let file = handle::remove(handle::file(id)?.id)?;
        let phase = *file.phase();
        match (&file.writer, phase) {
            (Some(_), Phase::Creating) => {
                discard(&file)?;
                remove_created(&file)
            }
            (Some(_), Phase::Redefining { is_stored: true }) => discard(&file),
            _ => close(&file).map(drop),
        }
    })
}

/// Deletes a file, which must be netCDF.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_delete(path: *const c_char) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        unsafe { delete(path, 0) }
    })
}

/// Deletes a file as seen from a processor of a Cray T3E.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_delete_mp(path: *const c_char, base_pe: c_int) -> c_int {
    // SAFETY: the caller's string.
    answer(|| unsafe { delete(path, base_pe) })
}

/// # Safety
/// `path` is NULL or ends with a zero.
unsafe fn delete(path: *const c_char, base_pe: c_int) -> Outcome {
    // SAFETY: by this function's contract.
    let path = unsafe { path::path(path) }?;
    let path = path::local(&path);
    File::open(path)?;
    if base_pe != 0 {
        return Err(Status::EINVAL);
    }
    std::fs::remove_file(path).map_err(|error| error.raw_os_error().map_or(Status::EIO, Status))
}

/// Closes a file that no call finds any more; the bytes of one in memory that was changed. Where definitions cannot
/// be ended, a new classic file is gone, and of one that was there what could be defined stays.
pub(super) fn close(file: &OpenFile) -> Outcome<Option<Vec<u8>>> {
    let Some(edited) = &file.edited else { return Ok(None) };
    let mut ended = Ok(());
    if file.writer.is_some() {
        let mut phase = file.phase_mut();
        // A type can be defined without going to define mode.
        if file.is_hdf5() || *phase != Phase::Data {
            ended = file.end_definitions(&mut phase, HeaderRoom::default());
        }
        if file.is_hdf5() {
            // Storing tells what cannot be.
            ended = Ok(());
        } else if ended.is_err() && *phase == Phase::Creating {
            discard(file)?;
            remove_created(file)?;
            return ended.map(|()| None);
        }
    }
    let writer = edited.writer.clone();
    if !edited.release() {
        if file.writer.is_some() {
            writer.commit()?;
        }
        return ended.map(|()| None);
    }
    let Some(bytes) = writer.into_bytes()? else { return ended.map(|()| None) };
    if let Some(memory) = &file.memory {
        memory.keep(&bytes)?;
    }
    ended.map(|()| Some(bytes))
}

/// Closes a file as it was stored last.
fn discard(file: &OpenFile) -> Outcome {
    let Some(edited) = &file.edited else { return Ok(()) };
    edited.release();
    Ok(edited.writer.clone().discard()?)
}

/// Removes a file that was never whole, also where `nc_create` emptied one that was there.
fn remove_created(file: &OpenFile) -> Outcome {
    match file.memory {
        None => remove(path::local(&file.path)),
        Some(_) => Ok(()),
    }
}

fn remove(path: &std::path::Path) -> Outcome {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Status::ECANTREMOVE),
        _ => Ok(()),
    }
}

/// The process that opened a file for changing last.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Has all files that are in data mode stored when this process ends, as HDF5 does for programs that do not
/// close them.
pub(super) fn store_at_exit() {
    static AT_EXIT: Once = Once::new();
    // Where no room is left for it, files are stored by their own clocks alone.
    AT_EXIT.call_once(|| {
        // SAFETY: the function stays as long as the library.
        let _ = unsafe { libc::atexit(store_all) };
    });
    PROCESS.store(std::process::id(), Relaxed);
}

extern "C" fn store_all() {
    answer(|| {
        // What a process forks has its handles, but not its files.
        if PROCESS.load(Relaxed) == std::process::id() {
            // What this thread keeps for itself is gone by now, so that another one does the work.
            let storing = std::thread::Builder::new().spawn(|| {
                for file in handle::all() {
                    // Nobody is there to be told of a failure.
                    let _ = store(&file);
                }
            });
            let _ = storing.map(std::thread::JoinHandle::join);
        }
        Ok(())
    });
}

fn store(file: &OpenFile) -> Outcome {
    match &file.writer {
        Some(_) if *file.phase() != Phase::Data => Ok(()),
        Some(_) if file.memory.is_some() => close(file).map(drop),
        Some(writer) => Ok(writer.commit()?),
        None => Ok(()),
    }
}
