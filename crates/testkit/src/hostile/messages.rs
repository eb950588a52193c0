//! Object headers, their messages, selections.

use isotach_format::Cursor;
use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::message::cache_image::CacheImage;
use isotach_format::hdf5::message::comment::Comment;
use isotach_format::hdf5::message::driver_info::DriverInfo;
use isotach_format::hdf5::message::file_space_info::FileSpaceInfo;
use isotach_format::hdf5::message::fill_value::OldFillValue;
use isotach_format::hdf5::message::modification_time::{ModificationTime, OldModificationTime};
use isotach_format::hdf5::message::reference_count::ReferenceCount;
use isotach_format::hdf5::message::shared_table::SharedMessageTableLocation;
use isotach_format::hdf5::message::{
    Attribute, AttributeInfo, Continuation, Dataspace, Datatype, ExternalFileList, FillValue,
    FilterPipeline, GroupInfo, Layout, Link, LinkInfo, Message, MessageType, SharedReference,
    SymbolTable,
};
use isotach_format::hdf5::object_header::ObjectHeader;
use isotach_format::hdf5::selection::{RegionReference, Selection};
use isotach_format::hdf5::superblock::BtreeK;
use isotach_format::hdf5::virtual_mapping::VirtualMapping;

use super::sparse::{Sparse, seal_bytes};

/// Continuation blocks of one header that are followed.
const CONTINUATIONS: usize = 64;

/// An object header with its continuation blocks, and every message in it.
pub fn object_header(data: &[u8]) {
    let mut file = Sparse::new(data);
    let sizes = file.sizes;
    for address in file.addresses() {
        let decode = |bytes: &[u8]| ObjectHeader::decode_prefix(bytes, address, sizes);
        let Some(mut header) = file.sealed(address, decode) else { continue };
        for _ in 0..CONTINUATIONS {
            let Some(place) = header.next_continuation() else { break };
            let len = usize::try_from(place.len_bytes).unwrap_or(usize::MAX);
            let cut = |bytes: &[u8]| bytes[..len.min(bytes.len())].to_vec();
            file.seal(place.address, |bytes| {
                header.clone().decode_continuation(&cut(bytes), sizes)
            });
            if header.decode_continuation(&cut(file.at(place.address)), sizes).is_err() {
                break;
            }
        }
        let _ = header.unknown_message();
        for raw in header.messages() {
            assert_eq!(
                header.find(raw.message_type).map(|m| m.message_type),
                Some(raw.message_type)
            );
            decode_message(raw.message_type, raw.bytes(), sizes);
        }
    }
}

/// One message: its type, the sizes, its bytes.
pub fn message(data: &[u8]) {
    let Some((&[message_type, widths], bytes)) = data.split_first_chunk() else { return };
    let sizes = Sparse::new(&[widths]).sizes;
    decode_message(MessageType(u16::from(message_type & 0x1f)), bytes, sizes);
}

fn decode_message(message_type: MessageType, bytes: &[u8], sizes: Sizes) {
    fn tried<M: Message>(bytes: &[u8], sizes: Sizes) {
        let _ = M::decode(bytes, 64, sizes);
    }
    let _ = SharedReference::decode(bytes, 64, sizes);
    match message_type {
        MessageType::DATASPACE => dataspace(bytes, sizes),
        MessageType::LINK_INFO => tried::<LinkInfo>(bytes, sizes),
        MessageType::DATATYPE => datatype(Datatype::decode(bytes, 64, sizes).ok()),
        MessageType::OLD_FILL_VALUE => tried::<OldFillValue>(bytes, sizes),
        MessageType::FILL_VALUE => tried::<FillValue>(bytes, sizes),
        MessageType::LINK => tried::<Link>(bytes, sizes),
        MessageType::EXTERNAL_FILES => tried::<ExternalFileList>(bytes, sizes),
        MessageType::LAYOUT => tried::<Layout>(bytes, sizes),
        MessageType::GROUP_INFO => tried::<GroupInfo>(bytes, sizes),
        MessageType::FILTER_PIPELINE => tried::<FilterPipeline>(bytes, sizes),
        MessageType::ATTRIBUTE => tried::<Attribute>(bytes, sizes),
        MessageType::COMMENT => tried::<Comment>(bytes, sizes),
        MessageType::OLD_MODIFICATION_TIME => tried::<OldModificationTime>(bytes, sizes),
        MessageType::SHARED_MESSAGE_TABLE => tried::<SharedMessageTableLocation>(bytes, sizes),
        MessageType::CONTINUATION => tried::<Continuation>(bytes, sizes),
        MessageType::SYMBOL_TABLE => tried::<SymbolTable>(bytes, sizes),
        MessageType::MODIFICATION_TIME => tried::<ModificationTime>(bytes, sizes),
        MessageType::BTREE_K => tried::<BtreeK>(bytes, sizes),
        MessageType::DRIVER_INFO => tried::<DriverInfo>(bytes, sizes),
        MessageType::ATTRIBUTE_INFO => tried::<AttributeInfo>(bytes, sizes),
        MessageType::REFERENCE_COUNT => tried::<ReferenceCount>(bytes, sizes),
        MessageType::FILE_SPACE_INFO => tried::<FileSpaceInfo>(bytes, sizes),
        MessageType::CACHE_IMAGE => tried::<CacheImage>(bytes, sizes),
        _ => {}
    }
}

fn dataspace(bytes: &[u8], sizes: Sizes) {
    if let Ok(dataspace) = Dataspace::decode(bytes, 64, sizes) {
        let _ = dataspace.element_count();
        assert!(dataspace.dimensions().len() <= 32);
    }
}

fn datatype(datatype: Option<Datatype>) {
    if let Some(datatype) = datatype {
        assert!(!datatype.describe().is_empty());
    }
}

/// Serialized selections, region references and the mappings of virtual data sets.
pub fn selection(data: &[u8]) {
    let Some((&widths, bytes)) = data.split_first() else { return };
    let sizes = Sparse::new(&[widths]).sizes;
    match widths >> 6 {
        0 => {
            if let Ok(selection) = Selection::decode(&mut Cursor::new(bytes, "selection", 0)) {
                assert!(selection.rank().is_none_or(|rank| rank <= 32));
            }
        }
        1 => drop(RegionReference::decode(bytes, 0, sizes)),
        _ => {
            let mut bytes = bytes.to_vec();
            seal_bytes(&mut bytes, |b| VirtualMapping::decode_all(b, 0, sizes).map(drop));
            if let Ok(mappings) = VirtualMapping::decode_all(&bytes, 0, sizes) {
                assert!(mappings.len() <= bytes.len());
            }
        }
    }
}
