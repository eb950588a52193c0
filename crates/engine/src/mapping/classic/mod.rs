//! Classic netCDF files: CDF-1, CDF-2 and CDF-5.
//!
//! Between `format::classic`, which decodes the header, and the public face. Opening reads the
//! header, in steps that grow because nothing says how long it is, and nothing else; after that
//! all questions are answered from memory, and `array` tells `plan` where a variable's values lie.

mod attribute;
mod fill;
mod names;
mod root;
#[cfg(test)]
mod tests;
mod variable;

use std::sync::{Arc, OnceLock};

use isotach_format::classic::{Header, RecordLayout, Version};
use isotach_model::Atomic;

pub(crate) use self::attribute::ClassicAttribute;
use self::names::Names;
use self::root::Root;
use super::{DimensionMapping, FileMapping, GroupMapping};
use crate::cache::FileNumber;
use crate::dimension::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Format, OpenOptions};
use crate::storage::{MetadataReader, Storage};

/// Bytes of the header that are read first: most headers are whole in them.
const FIRST_HEADER_BYTES: u64 = 8 << 10;

/// What is known of an open classic file: its header, and what is asked of it again and again.
struct Contents {
    name: Arc<str>,
    file_number: FileNumber,
    storage: Arc<dyn Storage>,
    header: Header,
    records: RecordLayout,
    dimensions: Arc<[Dimension]>,
    variable_names: OnceLock<Arc<Names>>,
}

struct ClassicFile {
    contents: Arc<Contents>,
}

/// Opens what `storage` delivers as a classic file: reads its header. A classic file refers to no
/// other file, so there is nothing in the options that would concern it.
pub(crate) fn open(
    name: &Arc<str>,
    storage: Arc<dyn Storage>,
    _options: &OpenOptions,
) -> Result<Arc<dyn FileMapping>> {
    let reader = MetadataReader::new(Arc::clone(name), Arc::clone(&storage))?;
    let file_len = reader.file_len();
    let header =
        reader.structure(0, FIRST_HEADER_BYTES, |bytes| Header::decode(bytes, file_len))?;
    let records = RecordLayout::new(&header, file_len)
        .map_err(|fault| Error::new(name, ErrorKind::Structure(fault)))?;
    let contents = Contents {
        name: Arc::clone(name),
        file_number: FileNumber::new(),
        storage,
        dimensions: dimensions(&header, &records),
        header,
        records,
        variable_names: OnceLock::new(),
    };
    Ok(Arc::new(ClassicFile { contents: Arc::new(contents) }))
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

    fn len(&self) -> u64 {
        self.len
    }

    fn is_unlimited(&self) -> bool {
        self.is_record
    }

    fn id(&self) -> i32 {
        self.id
    }
}

fn dimensions(header: &Header, records: &RecordLayout) -> Arc<[Dimension]> {
    let dimension = |(index, dimension): (usize, &isotach_format::classic::Dimension)| {
        let len = if dimension.is_record { records.record_count } else { dimension.length };
        let mapping = Arc::new(ClassicDimension {
            name: dimension.name.clone(),
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
