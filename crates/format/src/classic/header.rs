//! The header of a classic file: all that is in the file but the values of its variables.
//!
//! ```text
//! "CDF" version | record count | dimensions | attributes | variables
//!
//! dimensions   10 | count | { name | length }                      length 0: the record dimension
//! attributes   12 | count | { name | type | count | values, padded to 4 }
//! variables    11 | count | { name | rank | dimension ids | attributes | type | size | begin }
//! absent list   0 | 0
//! ```
//! Widths and padding are those of [`super::header_reader`].

use std::sync::Arc;

use super::external_type::ExternalType;
use super::header_reader::{HeaderReader, Place};
use super::header_writer::HeaderWriter;
use crate::error::{ErrorKind, Result};
use crate::limits;

const DIMENSION_TAG: u32 = 10;
const VARIABLE_TAG: u32 = 11;
const ATTRIBUTE_TAG: u32 = 12;

/// The format's three versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// Classic: 32-bit addresses.
    Cdf1,
    /// 64-bit offset: 64-bit addresses.
    Cdf2,
    /// 64-bit data: 64-bit addresses and counts, unsigned and 64-bit integers.
    Cdf5,
}

/// How many records the header says there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordCount {
    /// This many, whether or not the file is long enough for them.
    Known(u64),
    /// The writer did not come back to say (all bits of the field are set): as many as the file
    /// holds. See [`super::RecordLayout::record_count`].
    Streaming,
}

/// A dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Name; bytes that are not UTF-8 stand as `\xNN`.
    pub name: String,
    /// Bytes that the field of the name has, where they are more than the name's: who renames in place
    /// keeps them, and fills up with zeros. Else 0.
    pub name_room: u64,
    /// Length; 0 for a record dimension, whose length is the count of records.
    pub length: u64,
    /// Whether it grows with the records. The format allows one such dimension; where a file has
    /// several, each counts the records, as it does in libnetcdf.
    pub is_record: bool,
}

/// An attribute of the file or of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Name; bytes that are not UTF-8 stand as `\xNN`.
    pub name: String,
    /// Bytes that the field of the name has, where they are more than the name's: who renames in place
    /// keeps them, and fills up with zeros. Else 0.
    pub name_room: u64,
    /// Type of the values.
    pub external_type: ExternalType,
    /// How many values there are; for [`ExternalType::Char`], bytes of text.
    pub value_count: u64,
    /// The values as stored: big-endian, without padding.
    pub value_bytes: Vec<u8>,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Name; bytes that are not UTF-8 stand as `\xNN`.
    pub name: String,
    /// Bytes that the field of the name has, where they are more than the name's: who renames in place
    /// keeps them, and fills up with zeros. Else 0.
    pub name_room: u64,
    /// Indexes into [`Header::dimensions`], slowest varying first; all of them valid, and only
    /// the first may be a record dimension. Empty for a scalar.
    pub dimension_ids: Vec<usize>,
    /// Attributes in the file's order.
    pub attributes: Arc<[Attribute]>,
    /// Type of the values.
    pub external_type: ExternalType,
    /// Whether its first dimension is a record dimension.
    pub is_record: bool,
    /// Bytes of the variable, or of one record of it, as the header states them. Not to be relied
    /// on: it cannot say 4 GiB and more, and writers erred. [`super::RecordLayout`] computes it.
    pub stated_size_bytes: u64,
    /// Address of its first value. May lie beyond the end of the file.
    pub begin: u64,
}

/// What a classic file contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Which of the three formats it is.
    pub version: Version,
    /// Count of records.
    pub record_count: RecordCount,
    /// Dimensions; a dimension's id is its index.
    pub dimensions: Vec<Dimension>,
    /// Attributes of the file.
    pub attributes: Arc<[Attribute]>,
    /// Variables; a variable's id is its index.
    pub variables: Vec<Variable>,
    /// Bytes of the header itself.
    pub size_bytes: u64,
}

impl Header {
    /// Decodes the header of a file of `file_size` bytes from `bytes`, the first of them.
    ///
    /// Specification: "The NetCDF Classic Format Specification", the grammar from `header` on.
    /// Nothing is allocated for what `bytes` cannot hold: memory stays within 8 times theirs.
    ///
    /// # Errors
    /// [`ErrorKind::NeedMore`] where the header goes on behind `bytes`; the count is from the
    /// file's first byte, at least doubles, and never exceeds `file_size`.
    /// [`ErrorKind::Truncated`] where the file ends inside the header. Else what is wrong, with
    /// the address of the dimension, attribute or variable that it is wrong with.
    pub fn decode(bytes: &[u8], file_size: u64) -> Result<Self> {
        let mut reader = HeaderReader::new(bytes, file_size)?;
        let record_count = decode_record_count(&mut reader)?;
        let dimensions = decode_dimensions(&mut reader)?;
        let attributes = decode_attributes(&mut reader)?;
        let variables = decode_variables(&mut reader, &dimensions)?;
        Ok(Self {
            version: reader.version(),
            record_count,
            dimensions,
            attributes,
            variables,
            size_bytes: reader.position(),
        })
    }

    /// The header's bytes, as libnetcdf writes them: lists without entries are absent, padding is
    /// zeros. The sizes and addresses of the variables are those that the fields state, which
    /// [`Self::lay_out`] computes.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] for what is larger than its field in this version.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut writer = HeaderWriter::new(self.version);
        encode_record_count(&mut writer, self.version, self.record_count)?;
        encode_dimensions(&mut writer, &self.dimensions)?;
        encode_attributes(&mut writer, &self.attributes)?;
        encode_variables(&mut writer, &self.variables)?;
        Ok(writer.into_bytes())
    }

    /// Index of the record dimension; of the first where a file has several.
    pub fn record_dimension_id(&self) -> Option<usize> {
        self.dimensions.iter().position(|dimension| dimension.is_record)
    }
}

impl Version {
    /// The count of records that says that it is open.
    fn streaming(self) -> u64 {
        if self == Self::Cdf5 { u64::MAX } else { u32::MAX.into() }
    }
}

fn decode_record_count(reader: &mut HeaderReader<'_>) -> Result<RecordCount> {
    let streaming = reader.version().streaming();
    let count = reader.count()?;
    Ok(if count == streaming { RecordCount::Streaming } else { RecordCount::Known(count) })
}

fn encode_record_count(
    writer: &mut HeaderWriter,
    version: Version,
    record_count: RecordCount,
) -> Result<()> {
    let place = writer.place("classic header");
    let streaming = version.streaming();
    let stored = match record_count {
        RecordCount::Streaming => streaming,
        RecordCount::Known(value) if value >= streaming => {
            let (field, limit) = ("record count", streaming - 1);
            return Err(place.error(ErrorKind::Limit { field, value, limit }));
        }
        RecordCount::Known(count) => count,
    };
    writer.count(place, "record count", stored)
}

fn decode_dimensions(reader: &mut HeaderReader<'_>) -> Result<Vec<Dimension>> {
    let place = reader.place("classic dimension list");
    let (count, capacity) = reader.list(place, DIMENSION_TAG, 2 * reader.count_width())?;
    let mut dimensions = Vec::with_capacity(capacity);
    for _ in 0..count {
        let (name, name_room) = reader.name()?;
        let length = reader.count()?;
        dimensions.push(Dimension { name, name_room, length, is_record: length == 0 });
    }
    Ok(dimensions)
}

fn encode_dimensions(writer: &mut HeaderWriter, dimensions: &[Dimension]) -> Result<()> {
    writer.list(writer.place("classic dimension list"), DIMENSION_TAG, dimensions.len())?;
    for dimension in dimensions {
        let place = writer.place("classic dimension");
        writer.name(place, &dimension.name, dimension.name_room)?;
        let stored = if dimension.is_record { 0 } else { dimension.length };
        writer.count(place, "length", stored)?;
    }
    Ok(())
}

fn decode_attributes(reader: &mut HeaderReader<'_>) -> Result<Arc<[Attribute]>> {
    let place = reader.place("classic attribute list");
    let (count, capacity) = reader.list(place, ATTRIBUTE_TAG, 4 + 2 * reader.count_width())?;
    let mut attributes = Vec::with_capacity(capacity);
    for _ in 0..count {
        attributes.push(decode_attribute(reader)?);
    }
    Ok(attributes.into())
}

fn decode_attribute(reader: &mut HeaderReader<'_>) -> Result<Attribute> {
    let place = reader.place("classic attribute");
    let (name, name_room) = reader.name()?;
    let external_type = reader.external_type(place)?;
    let value_count = reader.count()?;
    let length = value_count.saturating_mul(external_type.size_bytes());
    let value_bytes = reader.padded_bytes(length)?.to_vec();
    Ok(Attribute { name, name_room, external_type, value_count, value_bytes })
}

fn encode_attributes(writer: &mut HeaderWriter, attributes: &[Attribute]) -> Result<()> {
    writer.list(writer.place("classic attribute list"), ATTRIBUTE_TAG, attributes.len())?;
    for attribute in attributes {
        let place = writer.place("classic attribute");
        writer.name(place, &attribute.name, attribute.name_room)?;
        writer.external_type(attribute.external_type);
        writer.count(place, "count of values", attribute.value_count)?;
        writer.padded_bytes(&attribute.value_bytes);
    }
    Ok(())
}

fn decode_variables(
    reader: &mut HeaderReader<'_>,
    dimensions: &[Dimension],
) -> Result<Vec<Variable>> {
    let place = reader.place("classic variable list");
    // Name, rank, attribute list, type, size, begin: all empty or zero.
    let begin_width = if reader.version() == Version::Cdf1 { 4 } else { 8 };
    let entry_bytes = 4 * reader.count_width() + 4 + 4 + begin_width;
    let (count, capacity) = reader.list(place, VARIABLE_TAG, entry_bytes)?;
    let mut variables = Vec::with_capacity(capacity);
    for _ in 0..count {
        variables.push(decode_variable(reader, dimensions)?);
    }
    Ok(variables)
}

fn decode_variable(reader: &mut HeaderReader<'_>, dimensions: &[Dimension]) -> Result<Variable> {
    let place = reader.place("classic variable");
    let (name, name_room) = reader.name()?;
    let dimension_ids = decode_dimension_ids(reader, place, dimensions)?;
    let is_record = dimension_ids.first().is_some_and(|&id| dimensions[id].is_record);
    Ok(Variable {
        name,
        name_room,
        is_record,
        dimension_ids,
        attributes: decode_attributes(reader)?,
        external_type: reader.external_type(place)?,
        stated_size_bytes: reader.count()?,
        begin: reader.file_address()?,
    })
}

fn encode_variables(writer: &mut HeaderWriter, variables: &[Variable]) -> Result<()> {
    writer.list(writer.place("classic variable list"), VARIABLE_TAG, variables.len())?;
    for variable in variables {
        let place = writer.place("classic variable");
        writer.name(place, &variable.name, variable.name_room)?;
        writer.count(place, "rank", variable.dimension_ids.len() as u64)?;
        for &id in &variable.dimension_ids {
            writer.count(place, "dimension id", id as u64)?;
        }
        encode_attributes(writer, &variable.attributes)?;
        writer.external_type(variable.external_type);
        writer.count(place, "size", variable.stated_size_bytes)?;
        writer.file_address(place, variable.begin)?;
    }
    Ok(())
}

fn decode_dimension_ids(
    reader: &mut HeaderReader<'_>,
    place: Place,
    dimensions: &[Dimension],
) -> Result<Vec<usize>> {
    let rank = reader.count()?;
    if rank > limits::CLASSIC_RANK {
        let limit = limits::CLASSIC_RANK;
        return Err(place.error(ErrorKind::Limit { field: "rank", value: rank, limit }));
    }
    reader.check_file_holds(rank * reader.count_width())?;
    let mut ids = Vec::with_capacity(rank as usize);
    for axis in 0..rank {
        let stored = reader.count()?;
        let id = usize::try_from(stored).unwrap_or(usize::MAX);
        let dimension = dimensions.get(id);
        let dimension = dimension.ok_or_else(|| place.bad_field("dimension id", stored))?;
        if dimension.is_record && axis > 0 {
            return Err(place.bad_field("axis of the record dimension", axis));
        }
        ids.push(id);
    }
    Ok(ids)
}
