//! Setting attributes.

use std::ffi::{c_char, c_int};
use std::slice;

use isotach::model::names::MAX_NAME_BYTES;
use isotach::model::{Atomic, DataType, Values};
use isotach::{Attribute, Format};

use super::Holder;
use crate::boundary::{checked, text};
use crate::handle;
use crate::memory;
use crate::model::{OpenFile, Phase};
use crate::status::{Outcome, Status};

/// The attribute that says what a variable's fill value is.
const FILL_VALUE: &str = "_FillValue";

/// Names that netCDF-4 keeps for what it says itself.
const RESERVED: [&str; 13] = [
    "_ARRAY_DIMENSIONS",
    "_Codecs",
    "_Format",
    "_IsNetcdf4",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_SuperblockVersion",
    "_nc3_strict",
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
];

const NC_NAT: c_int = 0;

/// What an attribute is set to.
pub(super) enum Source {
    /// So many elements of C memory, of an atomic type or of the attribute's own.
    Memory { at: *const u8, len: usize, atomic: Option<Atomic> },
    /// Values of the attribute's own type.
    Values(Values),
}

impl Source {
    fn len(&self) -> usize {
        match self {
            Self::Memory { len, .. } => *len,
            Self::Values(values) => values.len(),
        }
    }

    /// The type of the elements, where it need not be the attribute's.
    fn atomic(&self) -> Option<Atomic> {
        match self {
            Self::Memory { atomic, .. } => *atomic,
            Self::Values(_) => None,
        }
    }

    /// More elements than an attribute can have, or some that are nowhere.
    fn check_len(&self) -> Outcome {
        if c_int::try_from(self.len()).is_err() { Err(Status::EINVAL) } else { Ok(()) }
    }

    fn check_pointer(&self) -> Outcome {
        match self {
            Self::Memory { at, len: 1.., .. } if at.is_null() => Err(Status::EINVAL),
            _ => Ok(()),
        }
    }

    /// Between text and numbers there is no conversion, nor between strings and others.
    fn check_text(&self, type_id: c_int, texts: &[Atomic]) -> Outcome {
        let Some(memory) = self.atomic() else { return Ok(()) };
        let is_text = |text: &Atomic| *text as c_int == type_id || *text == memory;
        let differs = memory as c_int != type_id;
        if differs && texts.iter().any(is_text) { Err(Status::ECHAR) } else { Ok(()) }
    }

    /// The values as they are stored; false where some are out of range.
    ///
    /// # Safety
    /// Memory is valid for all elements.
    unsafe fn into_values(self, file: &OpenFile, data_type: &DataType) -> Outcome<(Values, bool)> {
        let (at, len, atomic) = match self {
            Self::Values(values) => return Ok((values, true)),
            Self::Memory { at, len, atomic } => (at, len, atomic),
        };
        let to = data_type.atomic();
        let Some(from) = atomic.filter(|_| atomic != to && len > 0) else {
            // SAFETY: by this function's contract.
            let values = unsafe { memory::unpack(data_type, at, len) }?;
            return Ok((values, true));
        };
        // An address that is wrong, of all things: so netCDF-C has it where numbers are to become what is none.
        let to = to.ok_or(Status::EDAPURL)?;
        let bytes = len.checked_mul(from.size()).ok_or(Status::ENOMEM)?;
        // SAFETY: by this function's contract; it is not NULL, which was checked.
        let source = unsafe { slice::from_raw_parts(at, bytes) };
        let mut values = Values::zeros(data_type, len);
        let target = values.native_bytes_mut().ok_or(Status::EINTERNAL)?;
        let is_in_range = file.convert(source, from, target, to)?;
        Ok((values, is_in_range))
    }
}

/// Sets an attribute.
///
/// # Errors
/// By netCDF's precedence, which depends on the format; see [`check_hdf5`] and [`check_classic`].
/// `NC_ERANGE`, and then everything is stored.
///
/// # Safety
/// `name` is NULL or ends with a zero; the source is valid for its elements.
pub(super) unsafe fn put(
    group: c_int,
    variable: c_int,
    name: *const c_char,
    type_id: c_int,
    source: Source,
) -> Outcome {
    let (file, group) = handle::group(group)?;
    if !file.is_hdf5() {
        file.writer()?;
    }
    let holder = Holder::of(file, group, variable)?;
    // SAFETY: by this function's contract.
    let name = (!name.is_null()).then(|| unsafe { text(name) }).ok_or(Status::EBADNAME)?;
    let mut phase = holder.file.phase_mut();
    let name = match holder.file.is_hdf5() {
        true => check_hdf5(&holder, name, type_id, &source, &mut phase)?,
        false => check_classic(&holder, name, type_id, &source, &phase)?,
    };
    let data_type = type_of(&holder.file, type_id)?;
    // SAFETY: by this function's contract.
    let (values, is_in_range) = unsafe { source.into_values(&holder.file, &data_type) }?;
    holder.set(&name, data_type, values)?;
    if is_in_range { Ok(()) } else { Err(Status::ERANGE) }
}

/// What libnetcdf looks at in a netCDF-4 file, in its order.
fn check_hdf5(
    holder: &Holder,
    name: Outcome<&str>,
    type_id: c_int,
    source: &Source,
    phase: &mut Phase,
) -> Outcome<String> {
    let file = &holder.file;
    source.check_len()?;
    if name.is_ok_and(|name| name.len() > MAX_NAME_BYTES) {
        return Err(Status::EBADNAME);
    }
    source.check_pointer()?;
    file.writer()?;
    let name = checked(name?)?.into_owned();
    if RESERVED.contains(&name.as_str()) {
        return Err(Status::ENAMEINUSE);
    }
    // What libnetcdf has no size for, it takes for -1 bytes, as good as endless.
    let size = |id, len: usize| len.wrapping_mul(number_size(id).unwrap_or(usize::MAX));
    let fits = |old: &Attribute| {
        let old_len = usize::try_from(old.len()).unwrap_or(usize::MAX);
        let old_type = file.type_id(old.data_type()).unwrap_or(NC_NAT);
        size(type_id, source.len()) <= size(old_type, old_len)
    };
    if *phase == Phase::Data && !holder.attribute(&name)?.as_deref().is_some_and(fits) {
        if file.has_modes() {
            return Err(Status::ENOTINDEFINE);
        }
        phase.begin_definitions();
    }
    if type_id == NC_NAT {
        return Err(Status::EBADTYPE);
    }
    source.check_text(type_id, &[Atomic::Char, Atomic::String])?;
    if file.format == Format::NetCdf4Classic && type_id > Atomic::Double as c_int {
        return Err(Status::ESTRICTNC3);
    }
    match &holder.variable {
        Some(variable) if name == FILL_VALUE => {
            if source.len() != 1 {
                return Err(Status::EINVAL);
            }
            if !variable.is_open() {
                return Err(Status::ELATEFILL);
            }
            let own = file.type_id(variable.variable.data_type())?;
            if own == type_id { Ok(name) } else { Err(Status::EBADTYPE) }
        }
        _ => Ok(name),
    }
}

/// What libnetcdf looks at in a classic file, in its order. Whether `_FillValue` is one value of the
/// variable's type is not looked at.
fn check_classic(
    holder: &Holder,
    name: Outcome<&str>,
    type_id: c_int,
    source: &Source,
    phase: &Phase,
) -> Outcome<String> {
    let last = match holder.file.format {
        Format::Data64Bit => Atomic::UInt64,
        _ => Atomic::Double,
    };
    if !(1..=last as c_int).contains(&type_id) {
        return Err(Status::EBADTYPE);
    }
    source.check_text(type_id, &[Atomic::Char])?;
    source.check_len()?;
    source.check_pointer()?;
    // In the header values take multiples of four bytes.
    let size = |id, len: usize| len.saturating_mul(number_size(id).unwrap_or(0)).div_ceil(4);
    let fits = |old: &Attribute| {
        let old_len = usize::try_from(old.len()).unwrap_or(usize::MAX);
        let old_type = holder.file.type_id(old.data_type()).unwrap_or(NC_NAT);
        size(type_id, source.len()) <= size(old_type, old_len)
    };
    if *phase == Phase::Data {
        let old = name.ok().map(|name| holder.attribute(name)).transpose()?.flatten();
        if !old.as_deref().is_some_and(fits) {
            return Err(Status::ENOTINDEFINE);
        }
    }
    Ok(checked(name?)?.into_owned())
}

/// Bytes of a character or number.
fn number_size(id: c_int) -> Option<usize> {
    crate::model::atomic(id).filter(|atomic| *atomic != Atomic::String).map(Atomic::size)
}

/// The type that an id means, which the engine has to know from now on.
fn type_of(file: &OpenFile, id: c_int) -> Outcome<DataType> {
    if id < 0 {
        return Err(Status::EINVAL);
    }
    let unknown = |_| Status::EBADTYPID;
    if let DataType::User(_) = file.data_type(id).map_err(unknown)? {
        file.commit_types()?;
    }
    file.data_type(id).map_err(unknown)
}
