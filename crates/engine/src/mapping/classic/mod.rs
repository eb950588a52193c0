//! Classic netCDF files: CDF-1, CDF-2 and CDF-5.
//!
//! Between `format::classic`, which decodes the header, and the public face. Opening reads the
//! header, in steps that grow because nothing says how long it is, and nothing else; after that
//! all questions are answered from memory, and `array` tells `plan` where a variable's values lie.

mod attribute;
mod bytes;
pub(crate) mod fill;
mod names;
mod pending;
mod root;
#[cfg(test)]
mod tests;
mod variable;

use std::sync::Arc;

use isotach_format::classic::{Header, Moved, RecordLayout, Redo, Version};
use isotach_model::Atomic;

pub(crate) use self::attribute::ClassicAttribute;
use self::bytes::ClassicBytes;
pub(crate) use self::fill::stored as stored_fill;
use self::names::Names;
pub(crate) use self::pending::pending_redo;
use self::root::Root;
pub(crate) use self::variable::stored_type;
use super::{DimensionMapping, FileMapping, GroupMapping};
use crate::cache::FileNumber;
use crate::dimension::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Format, OpenOptions};
use crate::settings::MissingBytes;
use crate::storage::overlay::Overlay;
use crate::storage::{MetadataReader, Storage, storage_error};
use crate::sync::OnceLock;

/// Bytes of the header that are read first: most headers are whole in them.
const FIRST_HEADER_BYTES: u64 = 8 << 10;
/// A storage whose calls cost more than this is not a local file.
const COSTLY_BYTES: u64 = 64 << 10;
/// How often the header is read while somebody writes the file.
const MOST_READINGS: usize = 5;

/// What is known of an open classic file: its header, and what is asked of it again and again.
struct Contents {
    name: Arc<str>,
    file_number: FileNumber,
    storage: Arc<dyn Storage>,
    header: Header,
    records: RecordLayout,
    missing_bytes: MissingBytes,
    dimensions: Arc<[Dimension]>,
    variable_names: OnceLock<Arc<Names>>,
}

struct ClassicFile {
    contents: Arc<Contents>,
}

/// What was read of the last commit.
pub(crate) struct Committed {
    pub(crate) header: Header,
    pub(crate) records: RecordLayout,
    /// Where its values are.
    pub(crate) storage: Arc<dyn Storage>,
}

/// Opens what `reader` delivers as a classic file: reads its header.
pub(crate) fn open(reader: MetadataReader, options: &OpenOptions) -> Result<Arc<dyn FileMapping>> {
    let name = Arc::clone(reader.file());
    let Committed { header, records, storage } = read_header(reader)?;
    let bytes = ClassicBytes::new(&name, storage, &header, &records);
    let bytes = bytes.map_err(|source| storage_error(&name, 0, 0, source))?;
    let contents = Contents {
        name,
        file_number: FileNumber::new(),
        storage: Arc::new(bytes),
        dimensions: dimensions(&header, &records),
        header,
        records,
        missing_bytes: MissingBytes::of(options.missing_bytes)?,
        variable_names: OnceLock::new(),
    };
    Ok(Arc::new(ClassicFile { contents: Arc::new(contents) }))
}

/// The header, and where the records lie. Where a writer was interrupted in the midst of a commit, it is that
/// commit.
///
/// What a writer does meanwhile may leave a length that is older than the header, by which it would be cut
/// short, or values that are there would be missing: then all is read again.
pub(crate) fn read_header(mut reader: MetadataReader) -> Result<Committed> {
    let (name, storage) = (Arc::clone(reader.file()), Arc::clone(reader.storage()));
    let is_costly = storage.call_cost_bytes() > COSTLY_BYTES;
    let mut readings = 1;
    loop {
        let found = read_header_by(&reader, &name, &storage);
        let is_last = is_costly || readings == MOST_READINGS;
        if is_last || (found.is_ok() && length(&name, &*storage)? == reader.file_len()) {
            return found;
        }
        readings += 1;
        reader = MetadataReader::new(Arc::clone(&name), Arc::clone(&storage))?;
    }
}

fn length(name: &Arc<str>, storage: &dyn Storage) -> Result<u64> {
    storage.len().map_err(|source| storage_error(name, 0, 0, source))
}

fn read_header_by(
    reader: &MetadataReader,
    name: &Arc<str>,
    storage: &Arc<dyn Storage>,
) -> Result<Committed> {
    let file_len = reader.file_len();
    let decoded = reader
        .structure(0, FIRST_HEADER_BYTES, |bytes| Header::decode(bytes, file_len))
        .and_then(|header| with_records(name, header, storage, file_len));
    // A header that was cut short can look like one. Where a read is costly nobody writes, and it is
    // made only where there is room for a record.
    let is_whole = |Committed { header, records, .. }: &Committed| {
        storage.call_cost_bytes() > COSTLY_BYTES
            && end_of_values(header, records).saturating_add(Redo::LEAST_TRAILER_BYTES) > file_len
    };
    if decoded.as_ref().is_ok_and(is_whole) {
        return decoded;
    }
    let redo = pending_redo(name, &**storage)?;
    // The header that was read counts only if the record was not taken away meanwhile.
    storage.ensure_state().map_err(|source| storage_error(name, 0, 0, source))?;
    let Some(Redo { header, changes, moved, .. }) = redo else { return decoded };
    let mut header = Header::decode(&header, file_len)
        .map_err(|fault| Error::new(name, ErrorKind::Structure(fault)))?;
    let Moved { from, to, length_bytes } = moved;
    for variable in &mut header.variables {
        if let Some(inside) = variable.begin.checked_sub(to).filter(|at| *at < length_bytes) {
            variable.begin = from.saturating_add(inside);
        }
    }
    let extents =
        changes.iter().map(|change| (change.address(), change.after().to_vec())).collect();
    let storage: Arc<dyn Storage> = Arc::new(Overlay::new(Arc::clone(storage), extents));
    with_records(name, header, &storage, file_len)
}

fn with_records(
    name: &Arc<str>,
    header: Header,
    storage: &Arc<dyn Storage>,
    file_len: u64,
) -> Result<Committed> {
    let records = RecordLayout::new(&header, file_len)
        .map_err(|fault| Error::new(name, ErrorKind::Structure(fault)))?;
    Ok(Committed { header, records, storage: Arc::clone(storage) })
}

fn end_of_values(header: &Header, records: &RecordLayout) -> u64 {
    let ends = header
        .variables
        .iter()
        .filter_map(|variable| records.variable(header, variable).ok().map(|layout| layout.end));
    ends.fold(header.size_bytes, u64::max)
}

impl FileMapping for ClassicFile {
    fn root(&self) -> Arc<dyn GroupMapping> {
        Arc::new(Root { contents: Arc::clone(&self.contents) })
    }

    fn format(&self) -> Result<Format> {
        Ok(match self.contents.header.version {
            Version::Cdf1 => Format::Classic,
            Version::Cdf2 => Format::Offset64Bit,
            Version::Cdf5 => Format::Data64Bit,
        })
    }
}

impl Contents {
    fn variable_names(&self) -> &Arc<Names> {
        self.variable_names.get_or_init(|| {
            let names = self.header.variables.iter().map(|variable| variable.name.as_str());
            Arc::new(Names::new(names))
        })
    }
}

struct ClassicDimension {
    name: String,
    name_room: u64,
    len: u64,
    is_record: bool,
    id: i32,
}

impl DimensionMapping for ClassicDimension {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> &str {
        "/"
    }

    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn is_unlimited(&self) -> bool {
        self.is_record
    }

    fn id(&self) -> Result<i32> {
        Ok(self.id)
    }

    fn name_room(&self) -> u64 {
        self.name_room
    }
}

fn dimensions(header: &Header, records: &RecordLayout) -> Arc<[Dimension]> {
    let dimension = |(index, dimension): (usize, &isotach_format::classic::Dimension)| {
        let len = if dimension.is_record { records.record_count } else { dimension.length };
        let mapping = Arc::new(ClassicDimension {
            name: dimension.name.clone(),
            name_room: dimension.name_room,
            len,
            is_record: dimension.is_record,
            // The C API counts dimensions in this type; a header that holds more is 16 GiB long.
            id: i32::try_from(index).unwrap_or(i32::MAX),
        });
        Dimension { mapping }
    };
    header.dimensions.iter().enumerate().map(dimension).collect()
}

/// netCDF's own type for a type of the file.
fn atomic(external_type: isotach_format::classic::ExternalType) -> Atomic {
    use isotach_format::classic::ExternalType;
    match external_type {
        ExternalType::Byte => Atomic::Byte,
        ExternalType::Char => Atomic::Char,
        ExternalType::Short => Atomic::Short,
        ExternalType::Int => Atomic::Int,
        ExternalType::Float => Atomic::Float,
        ExternalType::Double => Atomic::Double,
        ExternalType::UByte => Atomic::UByte,
        ExternalType::UShort => Atomic::UShort,
        ExternalType::UInt => Atomic::UInt,
        ExternalType::Int64 => Atomic::Int64,
        ExternalType::UInt64 => Atomic::UInt64,
    }
}
