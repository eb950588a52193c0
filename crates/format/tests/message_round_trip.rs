//! Random messages, encoded for every reader and decoded again.

use std::sync::Arc;

use isotach_format::hdf5::message::comment::Comment;
use isotach_format::hdf5::message::continuation::Continuation;
use isotach_format::hdf5::message::dataspace::Dimension;
use isotach_format::hdf5::message::datatype::{
    BitPadding, ByteOrder, CharacterSet, EnumMember, FixedPoint, Float, Member, Normalization,
    ReferenceKind, StringPadding,
};
use isotach_format::hdf5::message::external_files::ExternalFile;
use isotach_format::hdf5::message::fill_value::{AllocationTime, Fill, WriteTime};
use isotach_format::hdf5::message::filter_pipeline::Filter;
use isotach_format::hdf5::message::layout::{
    ChunkIndex, ChunkedLayout, ExtensibleArrayParameters, FilteredChunk,
};
use isotach_format::hdf5::message::link::LinkTarget;
use isotach_format::hdf5::message::{
    Attribute, AttributeInfo, Dataspace, Datatype, ExternalFileList, FillValue, FilterPipeline,
    GroupInfo, Layout, Link, LinkInfo, MaybeShared, Message, SharedReference, SymbolTable,
};
use isotach_format::hdf5::{Encoding, OldestReader, Sizes};
use isotach_testkit::random::Random;

const COUNT: usize = 400;

/// Random messages of `make`, whose addresses and lengths fit 2 bytes, come back as they were.
fn round_trip<M: Message + PartialEq + std::fmt::Debug>(make: fn(&mut Random) -> M) {
    let mut random = Random::new(u64::from(M::TYPE.0));
    for _ in 0..COUNT {
        let message = make(&mut random);
        for (offset, length) in [(8, 8), (4, 8), (2, 2), (16, 32)] {
            let sizes = Sizes { offset, length };
            for oldest_reader in [OldestReader::V16, OldestReader::V18, OldestReader::V110] {
                let bytes = message.encode(Encoding { sizes, oldest_reader }).unwrap();
                let decoded = M::decode(&bytes, 0, sizes).unwrap();
                assert_eq!(decoded, message, "{oldest_reader:?} {sizes:?} {bytes:02x?}");
                // No field is longer than what is needed.
                let cut = bytes.split_last().map(|(_, cut)| M::decode(cut, 0, sizes));
                assert!(cut.is_none_or(|decoded| decoded.as_ref() != Ok(&message)), "{bytes:02x?}");
            }
        }
    }
}

fn flip(random: &mut Random) -> bool {
    random.below(2) == 0
}

fn maybe<T>(random: &mut Random, make: impl FnOnce(&mut Random) -> T) -> Option<T> {
    if flip(random) { Some(make(random)) } else { None }
}

fn small(random: &mut Random) -> u64 {
    random.below(0xffff)
}

fn pair(random: &mut Random) -> (u16, u16) {
    (small(random) as u16, small(random) as u16)
}

fn pick<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len() as u64) as usize]
}

/// Bytes without a zero among them, at least one.
fn name(random: &mut Random) -> Arc<[u8]> {
    let longest = pick(random, &[3, 20, 300]);
    let len = 1 + random.below(longest) as usize;
    random.bytes(len).iter().map(|byte| byte | 1).collect()
}

fn charset(random: &mut Random) -> CharacterSet {
    pick(random, &[CharacterSet::Ascii, CharacterSet::Utf8, CharacterSet::Reserved(9)])
}

fn padding(random: &mut Random) -> StringPadding {
    use StringPadding::{NullPadded, NullTerminated, Reserved, SpacePadded};
    pick(random, &[NullTerminated, NullPadded, SpacePadded, Reserved(7)])
}

fn byte_order(random: &mut Random) -> ByteOrder {
    pick(random, &[ByteOrder::Little, ByteOrder::Big])
}

fn fixed_point(random: &mut Random) -> FixedPoint {
    let size = 1 + random.below(16) as u32;
    let precision = 1 + random.below(u64::from(size) * 8) as u16;
    let bit_offset = random.below(u64::from(size) * 8 - u64::from(precision) + 1) as u16;
    let (byte_order, signed) = (byte_order(random), flip(random));
    FixedPoint { size, byte_order, signed, bit_offset, precision }
}

fn float(random: &mut Random) -> Float {
    let FixedPoint { bit_offset, precision, .. } = fixed_point(random);
    Float {
        size: 16,
        byte_order: pick(random, &[ByteOrder::Little, ByteOrder::Big, ByteOrder::Vax]),
        bit_offset,
        precision,
        sign_location: random.below(128) as u8,
        exponent_location: random.below(64) as u8,
        exponent_size: 1 + random.below(64) as u8,
        exponent_bias: random.number() as u32,
        mantissa_location: random.below(64) as u8,
        mantissa_size: 1 + random.below(64) as u8,
        normalization: pick(
            random,
            &[Normalization::None, Normalization::HighestBitSet, Normalization::HighestBitImplied],
        ),
        bit_padding: BitPadding { low: flip(random), high: flip(random), internal: flip(random) },
    }
}

fn datatype(random: &mut Random) -> Datatype {
    nested(random, 3)
}

fn nested(random: &mut Random, depth: u32) -> Datatype {
    let size = 1 + random.below(1000) as u32;
    let base = |random: &mut Random| Arc::new(nested(random, depth - 1));
    match random.below(if depth == 0 { 7 } else { 13 }) {
        0 => Datatype::FixedPoint(fixed_point(random)),
        1 => Datatype::Float(float(random)),
        2 => Datatype::Time { size, byte_order: byte_order(random), precision: size as u16 },
        3 => Datatype::String { size, padding: padding(random), charset: charset(random) },
        4 => {
            let FixedPoint { size, byte_order, bit_offset, precision, .. } = fixed_point(random);
            Datatype::BitField { size, byte_order, bit_offset, precision }
        }
        5 => Datatype::Opaque { size, tag: name(random).iter().copied().take(248).collect() },
        6 => {
            use ReferenceKind::{Object, Region, Standard};
            Datatype::Reference { size, kind: pick(random, &[Object, Region, Standard(2)]) }
        }
        7 | 8 => compound(random, depth),
        9 => enumeration(random),
        10 => Datatype::Sequence { size, base: base(random) },
        11 => {
            let (padding, charset) = (padding(random), charset(random));
            Datatype::VariableString { size, padding, charset, base: base(random) }
        }
        _ => {
            let base = base(random);
            let dimensions: Vec<u32> =
                (0..1 + random.below(3)).map(|_| 1 + random.below(4) as u32).collect();
            let size = dimensions.iter().product::<u32>() * base.size();
            Datatype::Array { size, dimensions: dimensions.into(), base }
        }
    }
}

fn compound(random: &mut Random, depth: u32) -> Datatype {
    let mut size = 0;
    let members = (0..1 + random.below(5))
        .map(|_| {
            let offset = size + random.below(3) as u32;
            let member = Member { name: name(random), offset, datatype: nested(random, depth - 1) };
            size = offset + member.datatype.size();
            member
        })
        .collect();
    Datatype::Compound { size, members }
}

fn enumeration(random: &mut Random) -> Datatype {
    let base = fixed_point(random);
    let unused_bits = 128 - 8 * base.size;
    let members = (0..random.below(5))
        .map(|_| {
            let bits = u128::from(random.number()) << 64 | u128::from(random.number());
            let value = if base.signed || unused_bits == 0 {
                bits as i128 >> unused_bits
            } else {
                (bits >> unused_bits) as i128
            };
            EnumMember { name: name(random), value }
        })
        .collect();
    Datatype::Enumeration { base: Arc::new(Datatype::FixedPoint(base)), members }
}

fn dataspace(random: &mut Random) -> Dataspace {
    match random.below(4) {
        0 => Dataspace::Null,
        1 => Dataspace::Scalar,
        _ => Dataspace::Simple(
            (0..1 + random.below(32))
                .map(|_| Dimension { size: small(random), max: maybe(random, small) })
                .collect(),
        ),
    }
}

fn shared<T>(random: &mut Random, make: fn(&mut Random) -> T) -> MaybeShared<T> {
    match random.below(4) {
        0 => MaybeShared::Shared(SharedReference::Object(small(random))),
        1 => MaybeShared::Shared(SharedReference::Heap(random.number().to_le_bytes())),
        _ => MaybeShared::Own(make(random)),
    }
}

fn attribute(random: &mut Random) -> Attribute {
    let len = random.below(50) as usize;
    Attribute {
        name: name(random),
        charset: charset(random),
        datatype: shared(random, datatype),
        dataspace: shared(random, dataspace),
        data: random.bytes(len).into(),
    }
}

fn fill_value(random: &mut Random) -> FillValue {
    use AllocationTime::{Early, Incremental, Late, Unknown};
    let value = match random.below(3) {
        0 => Fill::Undefined,
        1 => Fill::Default,
        _ => Fill::User(name(random)),
    };
    FillValue {
        allocation_time: pick(random, &[Early, Late, Incremental, Unknown]),
        write_time: pick(random, &[WriteTime::OnAllocation, WriteTime::Never, WriteTime::IfSet]),
        value,
    }
}

fn link(random: &mut Random) -> Link {
    let target = match random.below(4) {
        0 => LinkTarget::Hard { address: small(random) },
        1 => LinkTarget::Soft { path: name(random) },
        2 => LinkTarget::External { file: name(random), path: name(random) },
        _ => LinkTarget::UserDefined { class: 65 + random.below(191) as u8, data: name(random) },
    };
    let creation_order = maybe(random, |random| random.number() as i64);
    Link { name: name(random), charset: charset(random), creation_order, target }
}

fn layout(random: &mut Random) -> Layout {
    match random.below(6) {
        0 => Layout::Compact(name(random)),
        1 => Layout::Contiguous { address: maybe(random, small), len_bytes: Some(small(random)) },
        2 => Layout::Virtual { heap_address: maybe(random, small), heap_index: 7 },
        _ => Layout::Chunked(chunked(random)),
    }
}

fn chunked(random: &mut Random) -> ChunkedLayout {
    let filtered = maybe(random, |random| FilteredChunk {
        len_bytes: small(random),
        filter_mask: random.number() as u32,
    });
    let index = match random.below(6) {
        0 => ChunkIndex::BtreeV1,
        1 => ChunkIndex::Single { filtered },
        2 => ChunkIndex::Implicit,
        3 => ChunkIndex::FixedArray { page_bits: 10 },
        4 => ChunkIndex::ExtensibleArray(ExtensibleArrayParameters {
            max_entries_bits: 32,
            index_block_entries: 4,
            super_block_min_data_blocks: 5,
            data_block_min_entries: 16,
            page_bits: 10,
        }),
        _ => ChunkIndex::BtreeV2 { node_bytes: 2048, split_percent: 100, merge_percent: 40 },
    };
    let is_tree = index == ChunkIndex::BtreeV1;
    let widest = pick(random, &[10, 300, 70_000]);
    ChunkedLayout {
        version: if is_tree { 3 } else { pick(random, &[4, 5]) },
        chunk_shape: (0..1 + random.below(3)).map(|_| 1 + random.below(widest)).collect(),
        element_bytes: 1 + random.below(300),
        edge_chunks_unfiltered: !is_tree && flip(random),
        index,
        address: maybe(random, small),
    }
}

/// Filters with names that every version keeps.
fn pipeline(random: &mut Random) -> FilterPipeline {
    let filters = (0..random.below(5)).map(|_| Filter {
        id: 256 + random.below(1000) as u16,
        name: if flip(random) { name(random) } else { [].into() },
        flags: random.below(2) as u16,
        values: (0..random.below(6)).map(|_| random.number() as u32).collect(),
    });
    FilterPipeline { filters: filters.collect() }
}

fn link_info(random: &mut Random) -> LinkInfo {
    let creation_order_indexed = flip(random);
    LinkInfo {
        max_creation_order: maybe(random, Random::number),
        heap_address: maybe(random, small),
        name_index_address: maybe(random, small),
        creation_order_indexed,
        creation_order_index_address: maybe(random, small).filter(|_| creation_order_indexed),
    }
}

fn attribute_info(random: &mut Random) -> AttributeInfo {
    let info = link_info(random);
    AttributeInfo {
        max_creation_order: info.max_creation_order.map(|order| order as u16),
        heap_address: info.heap_address,
        name_index_address: info.name_index_address,
        creation_order_indexed: info.creation_order_indexed,
        creation_order_index_address: info.creation_order_index_address,
    }
}

fn external_files(random: &mut Random) -> ExternalFileList {
    let slots = (0..1 + random.below(5)).map(|_| ExternalFile {
        name_offset: small(random),
        file_offset: small(random),
        len_bytes: maybe(random, small),
    });
    let slots = slots.collect();
    ExternalFileList { heap_address: small(random), slots }
}

#[test]
fn messages_of_data_sets() {
    round_trip(fill_value);
    round_trip(layout);
    round_trip(pipeline);
    round_trip(external_files);
}

#[test]
fn dataspaces_and_datatypes() {
    round_trip(dataspace);
    round_trip(datatype);
}

#[test]
fn messages_of_groups() {
    round_trip(link);
    round_trip(link_info);
    round_trip(|random| GroupInfo {
        phase_change: maybe(random, pair),
        estimates: maybe(random, pair),
    });
    round_trip(|random| SymbolTable { btree_address: small(random), heap_address: small(random) });
}

#[test]
fn messages_of_all_objects() {
    round_trip(attribute_info);
    round_trip(|random| Comment(name(random).to_vec()));
    round_trip(|random| Continuation { address: small(random), len_bytes: small(random) });
}

fn assert_encoded_again<M: Message + PartialEq>(written: &[&str]) {
    for digits in written {
        let byte = |place| u8::from_str_radix(&digits[place..place + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        let message = M::decode(&bytes, 0, Sizes::default()).unwrap();
        assert_eq!(message.encode(Encoding::default()), Ok(bytes), "{}", M::NAME);
    }
}

/// What netCDF 4.10.1 on HDF5 2.2.0 wrote of groups, dimension scales, variables with deflate and
/// shuffle, and committed types.
#[test]
fn bytes_are_those_that_libnetcdf_writes() {
    let undefined = "ff".repeat(24);
    assert_encoded_again::<LinkInfo>(&[
        "000309000000000000003a1b000000000000cc1b000000000000f21b000000000000",
        &format!("00030000000000000000{undefined}"),
    ]);
    assert_encoded_again::<GroupInfo>(&["0000"]);
    assert_encoded_again::<AttributeInfo>(&[&format!("00030200{undefined}")]);
    assert_encoded_again::<Attribute>(&[
        "0300060008000400007469746c650013000000050000000200000068656c6c6f",
        "03000e000c000400005f4e65746364663444696d6964001008000004000000000020000200000001000000",
    ]);
    assert_encoded_again::<Dataspace>(&["020101010000000000000000ffffffffffffffff"]);
    assert_encoded_again::<Datatype>(&[
        "11211f000400000000002000170800177f000000",
        "3602000010000000610000100800000400000000002000\
         62000811203f000800000000004000340b0034ff030000",
        "3802000001000000100000000100000000000800410042000003",
        "1901010010000000100000000100000000000800",
    ]);
    assert_encoded_again::<FillValue>(&["030b", "032b040000000000f07c", "032a0400000001000080"]);
    assert_encoded_again::<FilterPipeline>(&["02020200010001000400000001000100010004000000"]);
    assert_encoded_again::<Layout>(&[
        "0302036725000000000000010000000a00000004000000",
        "030202ffffffffffffffff0100000004000000",
        "0301ffffffffffffffff2800000000000000",
    ]);
}

/// The value takes what is left, so that there is no shortest message.
#[test]
fn attributes() {
    let mut random = Random::new(12);
    for _ in 0..COUNT {
        let attribute = attribute(&mut random);
        for oldest_reader in [OldestReader::V16, OldestReader::V18, OldestReader::V110] {
            let encoding = Encoding { oldest_reader, ..Encoding::default() };
            let bytes = attribute.encode(encoding).unwrap();
            assert_eq!(Attribute::decode(&bytes, 0, encoding.sizes).as_ref(), Ok(&attribute));
        }
    }
}
