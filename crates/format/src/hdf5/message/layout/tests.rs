use super::*;
use crate::Result;
use crate::hdf5::Sizes;
use crate::hdf5::damage::survive;
use crate::hdf5::message::Message;

const NARROW: Sizes = Sizes { offset: 2, length: 4 };

const OLD_COMPACT: &[u8] = &[1, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 8];
const OLD_CONTIGUOUS: &[u8] = &[2, 1, 1, 0, 0, 0, 0, 0, 0x40, 0, 2, 0, 0, 0];
const OLD_CHUNKED: &[u8] = &[1, 2, 2, 0, 0, 0, 0, 0, 0x40, 0, 10, 0, 0, 0, 4, 0, 0, 0, 9, 9, 9, 9];
const COMPACT: &[u8] = &[3, 0, 2, 0, 7, 8];
const CONTIGUOUS: &[u8] = &[3, 1, 255, 255, 9, 0, 0, 0];
const CHUNKED: &[u8] = &[3, 2, 3, 0x40, 0, 5, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0];
const SINGLE: &[u8] = &[4, 2, 2, 2, 1, 5, 8, 1, 100, 0, 0, 0, 1, 0, 0, 0, 0x40, 0];
const IMPLICIT: &[u8] = &[4, 2, 0, 2, 2, 5, 1, 8, 0, 2, 0x40, 0];
const FIXED_ARRAY: &[u8] = &[5, 2, 1, 2, 1, 5, 8, 3, 10, 0x40, 0];
const EXTENSIBLE_ARRAY: &[u8] = &[4, 2, 0, 2, 1, 5, 8, 4, 32, 4, 4, 16, 10, 0x40, 0];
const BTREE_V2: &[u8] = &[4, 2, 0, 2, 1, 5, 8, 5, 0, 8, 0, 0, 100, 40, 0x40, 0];
const VIRTUAL: &[u8] = &[4, 3, 0x40, 0, 2, 0, 0, 0];

fn decode(bytes: &[u8]) -> Result<Layout> {
    Layout::decode(bytes, 0, NARROW)
}

fn chunks(bytes: &[u8]) -> ChunkedLayout {
    match decode(bytes).unwrap() {
        Layout::Chunked(layout) => layout,
        other => panic!("{other:?}"),
    }
}

#[test]
fn old_versions() {
    assert_eq!(decode(OLD_COMPACT), Ok(Layout::Compact([7, 8].as_slice().into())));
    let contiguous = Layout::Contiguous { address: Some(0x40), len_bytes: None };
    assert_eq!(decode(OLD_CONTIGUOUS), Ok(contiguous));
    let layout = chunks(OLD_CHUNKED);
    assert_eq!((&layout.chunk_shape[..], layout.element_bytes), (&[10][..], 4));
    assert_eq!(layout.index, ChunkIndex::BtreeV1);
}

#[test]
fn third_version() {
    assert_eq!(decode(COMPACT), Ok(Layout::Compact([7, 8].as_slice().into())));
    let contiguous = Layout::Contiguous { address: None, len_bytes: Some(9) };
    assert_eq!(decode(CONTIGUOUS), Ok(contiguous));
    let layout = chunks(CHUNKED);
    assert_eq!((&layout.chunk_shape[..], layout.element_bytes), (&[5, 6][..], 8));
    assert_eq!(layout.address, Some(0x40));
}

#[test]
fn every_index() {
    let filtered = Some(FilteredChunk { len_bytes: 100, filter_mask: 1 });
    assert_eq!(chunks(SINGLE).index, ChunkIndex::Single { filtered });
    let layout = chunks(IMPLICIT);
    assert_eq!((layout.index, &layout.chunk_shape[..]), (ChunkIndex::Implicit, &[261][..]));
    let layout = chunks(FIXED_ARRAY);
    assert_eq!(layout.index, ChunkIndex::FixedArray { page_bits: 10 });
    assert!(layout.edge_chunks_unfiltered);
    assert_eq!(layout.version, 5);
    let parameters = ExtensibleArrayParameters {
        max_entries_bits: 32,
        index_block_entries: 4,
        super_block_min_data_blocks: 4,
        data_block_min_entries: 16,
        page_bits: 10,
    };
    assert_eq!(chunks(EXTENSIBLE_ARRAY).index, ChunkIndex::ExtensibleArray(parameters));
    let tree = ChunkIndex::BtreeV2 { node_bytes: 2048, split_percent: 100, merge_percent: 40 };
    assert_eq!(chunks(BTREE_V2).index, tree);
    assert_eq!(chunks(BTREE_V2).address, Some(0x40));
}

#[test]
fn virtual_mappings_are_in_the_heap() {
    let expected = Layout::Virtual { heap_address: Some(0x40), heap_index: 2 };
    assert_eq!(decode(VIRTUAL), Ok(expected));
}

#[test]
fn impossible_chunks() {
    let zero = [3, 2, 2, 0x40, 0, 0, 0, 0, 0, 8, 0, 0, 0];
    assert!(decode(&zero).is_err());
    let scalar = [3, 2, 1, 0x40, 0, 8, 0, 0, 0];
    assert!(decode(&scalar).is_err());
    let mut huge = vec![4, 2, 0, 3, 8];
    huge.extend([255; 16]);
    huge.extend([8, 0, 0, 0, 0, 0, 0, 0, 2, 0x40, 0]);
    assert!(decode(&huge).is_err());
}

#[test]
fn damage_never_panics() {
    let all = [
        OLD_COMPACT,
        OLD_CONTIGUOUS,
        OLD_CHUNKED,
        COMPACT,
        CONTIGUOUS,
        CHUNKED,
        SINGLE,
        IMPLICIT,
        FIXED_ARRAY,
        EXTENSIBLE_ARRAY,
        BTREE_V2,
        VIRTUAL,
    ];
    for valid in all {
        survive(valid, |bytes| drop(decode(bytes)));
    }
}
