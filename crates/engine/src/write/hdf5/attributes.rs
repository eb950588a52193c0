//! Attributes as messages.

use isotach_format::hdf5::message::dataspace::{Dataspace, Dimension};
use isotach_format::hdf5::message::datatype::{ByteOrder, CharacterSet, Datatype, Member};
use isotach_format::hdf5::message::{
    AttributeView, MaybeShared, MessageFlags, MessageType, NewMessage, SharedReference,
};
use isotach_format::hdf5::{Encoding, text};
use isotach_model::convert::Rules;
use isotach_model::{Atomic, HeapWriter, Values};

use super::datatypes::{self, OBJECT_REFERENCE_BYTES};
use crate::draft::DraftAttribute;
use crate::error::{DefinitionFault, ErrorKind};
use crate::mapping::{hdf5, netcdf4};
use crate::variable::Endianness;

/// Bytes of an entry of `REFERENCE_LIST`: a reference, an axis, and a gap.
const REFERENCE_LIST_ENTRY_BYTES: u32 = 16;

/// Why an attribute has no message.
pub(super) type Encoded<T> = std::result::Result<T, ErrorKind>;

/// One that a user has set. Its strings and sequences go to the heap.
pub(super) fn user(
    attribute: &DraftAttribute,
    heap: &mut impl HeapWriter<Error = ErrorKind>,
    encoding: Encoding,
) -> Encoded<NewMessage> {
    let DraftAttribute { name, data_type, values, .. } = attribute;
    if let (Some(Atomic::Char), Values::Char(chars)) = (data_type.atomic(), &**values) {
        return self::chars(name, chars, encoding);
    }
    let description = || data_type.name().to_owned();
    let datatype = datatypes::datatype(data_type, Endianness::Native, encoding.sizes)
        .ok_or_else(|| DefinitionFault::ForeignType { description: description() })
        .map_err(ErrorKind::Definition)?;
    let stored = netcdf4::stored_type(&datatype);
    let mut data = Vec::new();
    stored.encode(values, Rules::NETCDF4, heap, &mut data).map_err(super::heap::encode_error)?;
    let dataspace = match values.len() as u64 {
        0 => Dataspace::Null,
        len => Dataspace::Simple(vec![Dimension { size: len, max: Some(len) }]),
    };
    message(name.as_bytes(), datatype, dataspace, &data, encoding)
}

/// Chars: one string of their length. HDF5 has none without a byte: no chars are no string.
fn chars(name: &str, chars: &[u8], encoding: Encoding) -> Encoded<NewMessage> {
    let (len, dataspace) = match chars.len() {
        0 => (1, Dataspace::Null),
        len => (len, Dataspace::Scalar),
    };
    let datatype = datatypes::text(len as u32);
    message(name.as_bytes(), datatype, dataspace, chars, encoding)
}

/// `CLASS` of a dimension scale.
pub(super) fn class(encoding: Encoding) -> Encoded<NewMessage> {
    c_string(netcdf4::CLASS, netcdf4::DIMENSION_SCALE, encoding)
}

/// `NAME` of a coordinate variable.
pub(super) fn name_of_variable(name: &str, encoding: Encoding) -> Encoded<NewMessage> {
    c_string(netcdf4::NAME, name.as_bytes(), encoding)
}

/// `NAME` of a dimension that is not a variable.
pub(super) fn name_without_variable(len: u64, encoding: Encoding) -> Encoded<NewMessage> {
    let words = String::from_utf8_lossy(netcdf4::DIMENSION_WITHOUT_VARIABLE);
    c_string(netcdf4::NAME, format!("{words}.{len:>10}").as_bytes(), encoding)
}

/// `_Netcdf4Dimid` of a dimension scale.
pub(super) fn dimension_number(number: i32, encoding: Encoding) -> Encoded<NewMessage> {
    let name = netcdf4::DIMENSION_ID.as_bytes();
    message(name, little_int(true), Dataspace::Scalar, &number.to_le_bytes(), encoding)
}

/// `_Netcdf4Coordinates`: the numbers of a variable's dimensions.
pub(super) fn coordinates(numbers: &[i32], encoding: Encoding) -> Encoded<NewMessage> {
    let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let name = netcdf4::COORDINATES.as_bytes();
    message(name, little_int(true), vector(numbers.len()), &data, encoding)
}

/// `DIMENSION_LIST`: for each axis, a sequence in the heap of references to its scales. Axes without
/// any refer to nothing.
pub(super) fn dimension_list(
    rank: usize,
    axes: &[Vec<u64>],
    heap: &mut impl HeapWriter<Error = ErrorKind>,
    encoding: Encoding,
) -> Encoded<NewMessage> {
    let sizes = encoding.sizes;
    let entry_bytes = datatypes::heap_reference_bytes(sizes) as usize;
    let mut data = Vec::with_capacity(rank * entry_bytes);
    for scales in axes {
        let references: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        match scales.len() as u64 {
            0 => data.resize(data.len() + entry_bytes, 0),
            count => heap.put(count, &references, entry_bytes, &mut data)?,
        }
    }
    data.resize(rank * entry_bytes, 0);
    let datatype = datatypes::sequence(datatypes::object_reference(), sizes);
    message(netcdf4::DIMENSION_LIST.as_bytes(), datatype, vector(rank), &data, encoding)
}

/// `REFERENCE_LIST` of a scale: the data sets that refer to it, and by which axis.
pub(super) fn reference_list(users: &[(u64, u32)], encoding: Encoding) -> Encoded<NewMessage> {
    let mut data = Vec::with_capacity(users.len() * REFERENCE_LIST_ENTRY_BYTES as usize);
    for (address, axis) in users {
        data.extend_from_slice(&address.to_le_bytes());
        data.extend_from_slice(&u64::from(*axis).to_le_bytes());
    }
    let member =
        |name: &str, offset, datatype| Member { name: name.as_bytes().into(), offset, datatype };
    let members = [
        member("dataset", 0, datatypes::object_reference()),
        member("dimension", OBJECT_REFERENCE_BYTES, little_int(false)),
    ];
    let datatype = Datatype::Compound { size: REFERENCE_LIST_ENTRY_BYTES, members: members.into() };
    let name = netcdf4::REFERENCE_LIST.as_bytes();
    message(name, datatype, vector(users.len()), &data, encoding)
}

/// `_nc3_strict` of a file that keeps to the classic model.
pub(super) fn classic_model(encoding: Encoding) -> Encoded<NewMessage> {
    let name = netcdf4::CLASSIC_MODEL.as_bytes();
    message(name, little_int(true), Dataspace::Scalar, &1_i32.to_le_bytes(), encoding)
}

/// `_NCProperties`: who made the file.
pub(super) fn properties(encoding: Encoding) -> Encoded<NewMessage> {
    chars(netcdf4::PROPERTIES, netcdf4::OWN_PROPERTIES.as_bytes(), encoding)
}

/// An attribute of the file under a name.
pub(super) fn existing(
    attribute: &hdf5::Attribute,
    name: &str,
    encoding: Encoding,
) -> Encoded<NewMessage> {
    let datatype = match attribute.committed_datatype() {
        Some(address) => MaybeShared::Shared(SharedReference::Object(address)),
        None => MaybeShared::Own(attribute.datatype().clone()),
    };
    let name = text::bytes(name);
    encoded(&name, datatype, attribute.dataspace().clone(), attribute.data(), encoding)
}

/// A string of fixed length with its zero byte.
fn c_string(name: &str, value: &[u8], encoding: Encoding) -> Encoded<NewMessage> {
    let mut data = value.to_vec();
    data.push(0);
    let datatype = datatypes::text(data.len() as u32);
    message(name.as_bytes(), datatype, Dataspace::Scalar, &data, encoding)
}

fn message(
    name: &[u8],
    datatype: Datatype,
    dataspace: Dataspace,
    data: &[u8],
    encoding: Encoding,
) -> Encoded<NewMessage> {
    encoded(name, MaybeShared::Own(datatype), dataspace, data, encoding)
}

fn encoded(
    name: &[u8],
    datatype: MaybeShared<Datatype>,
    dataspace: Dataspace,
    data: &[u8],
    encoding: Encoding,
) -> Encoded<NewMessage> {
    let dataspace = MaybeShared::Own(dataspace);
    let attribute = AttributeView { name, charset: charset(name), datatype, dataspace, data };
    Ok(NewMessage {
        message_type: MessageType::ATTRIBUTE,
        flags: MessageFlags::NONE,
        creation_order: None,
        bytes: attribute.encode(encoding)?,
    })
}

pub(super) fn charset(name: &[u8]) -> CharacterSet {
    if name.is_ascii() { CharacterSet::Ascii } else { CharacterSet::Utf8 }
}

fn vector(len: usize) -> Dataspace {
    let len = len as u64;
    Dataspace::Simple(vec![Dimension { size: len, max: Some(len) }])
}

fn little_int(signed: bool) -> Datatype {
    datatypes::integer(4, signed, ByteOrder::Little)
}
