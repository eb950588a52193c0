//! Opening, creating, closing; define and data mode.

use std::ffi::{CString, c_char, c_int};

use isotach::{CreateOptions, EditOptions, File, Format, Overwrite};

use crate::boundary::{answer, put, text};
use crate::handle;
use crate::model::{OpenFile, Phase};
use crate::status::{Outcome, Status};

/// Flags of `nc_open` and `nc_create`.
pub mod mode {
    use std::ffi::c_int;

    /// For changing, not only for reading.
    pub const NC_WRITE: c_int = 0x0001;
    /// A file that is there stays.
    pub const NC_NOCLOBBER: c_int = 0x0004;
    /// CDF-5.
    pub const NC_64BIT_DATA: c_int = 0x0020;
    /// Only what the classic model has.
    pub const NC_CLASSIC_MODEL: c_int = 0x0100;
    /// CDF-2.
    pub const NC_64BIT_OFFSET: c_int = 0x0200;
    /// netCDF-4.
    pub const NC_NETCDF4: c_int = 0x1000;
}

fn path_of(path: &str) -> Outcome<CString> {
    CString::new(path).map_err(|_| Status::EINVAL)
}

fn format_of(flags: c_int) -> Format {
    let has = |flag| flags & flag != 0;
    match (has(mode::NC_NETCDF4), has(mode::NC_CLASSIC_MODEL)) {
        (true, true) => Format::NetCdf4Classic,
        (true, false) => Format::NetCdf4,
        _ if has(mode::NC_64BIT_DATA) => Format::Data64Bit,
        _ if has(mode::NC_64BIT_OFFSET) => Format::Offset64Bit,
        _ => Format::Classic,
    }
}

/// Creates a file and goes to define mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_create(path: *const c_char, flags: c_int, id: *mut c_int) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let path = unsafe { text(path) }?;
        let mut options = CreateOptions::new(format_of(flags));
        if flags & mode::NC_NOCLOBBER != 0 {
            options.overwrite = Overwrite::Never;
        }
        let writer = options.create(path)?;
        let file = OpenFile::writing(path_of(path)?, flags, writer, Phase::Creating)?;
        let created = handle::insert(file)?;
        // SAFETY: the caller's place for an id.
        unsafe { put(id, created) };
        Ok(())
    })
}

/// Opens a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_open(path: *const c_char, flags: c_int, id: *mut c_int) -> c_int {
    answer(|| {
        // SAFETY: the caller's string.
        let path = unsafe { text(path) }?;
        let name = path_of(path)?;
        let file = if flags & mode::NC_WRITE != 0 {
            OpenFile::writing(name, flags, EditOptions::default().open(path)?, Phase::Data)?
        } else {
            OpenFile::reading(name, flags, &File::open(path)?)?
        };
        let opened = handle::insert(file)?;
        // SAFETY: the caller's place for an id.
        unsafe { put(id, opened) };
        Ok(())
    })
}

/// Goes to define mode.
#[unsafe(no_mangle)]
pub extern "C" fn nc_redef(id: c_int) -> c_int {
    answer(|| {
        let file = handle::file(id)?;
        file.writer()?;
        let mut phase = file.phase_mut();
        if *phase != Phase::Data {
            return if file.has_modes() { Err(Status::EINDEFINE) } else { Ok(()) };
        }
        *phase = Phase::Redefining;
        Ok(())
    })
}

/// Goes to data mode.
#[unsafe(no_mangle)]
pub extern "C" fn nc_enddef(id: c_int) -> c_int {
    answer(|| {
        let file = handle::file(id)?;
        let mut phase = file.phase_mut();
        if *phase == Phase::Data {
            return if file.has_modes() { Err(Status::ENOTINDEFINE) } else { Ok(()) };
        }
        file.end_definitions(&mut phase)
    })
}

/// Closes a file; what was changed is stored.
#[unsafe(no_mangle)]
pub extern "C" fn nc_close(id: c_int) -> c_int {
    answer(|| {
        let file = handle::remove(id)?;
        let Some(writer) = &file.writer else { return Ok(()) };
        file.end_definitions(&mut file.phase_mut())?;
        writer.clone().close()?;
        Ok(())
    })
}
