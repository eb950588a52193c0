//! Structures built whole and decoded again, from none to tens of thousands of entries.

use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::btree::v1::{ChunkEntry, ChunkNode, GroupNode};
use isotach_format::hdf5::btree::v1_build::{ChunkTreeBuilder, TreeChunks};
use isotach_format::hdf5::btree::v2::{BTreeHeader, Node, NodeRef, Step};
use isotach_format::hdf5::btree::v2_build::{BTreeBuilder, BTreeKind};
use isotach_format::hdf5::btree::v2_record::HugeRecord;
use isotach_format::hdf5::chunk_index::element::{ChunkElement, ElementLayout};
use isotach_format::hdf5::chunk_index::extensible_array::{BlockTotals, ExtensibleArray};
use isotach_format::hdf5::chunk_index::extensible_block::{
    ExtensiblePlace, IndexBlock, SuperBlock,
};
use isotach_format::hdf5::chunk_index::extensible_build::ExtensibleArrayBuilder;
use isotach_format::hdf5::chunk_index::fixed_array::{
    FixedArray, FixedArrayBlock, FixedArrayBuilder, FixedArrayPlace,
};
use isotach_format::hdf5::group::symbol_table_build::{SymbolTableBuilder, SymbolTableLink};
use isotach_format::hdf5::group::symbol_table_entry::{EntryCache, SymbolTableEntry};
use isotach_format::hdf5::group::symbol_table_node::SymbolTableNode;
use isotach_format::hdf5::heap::fractal::{BlockRef, FractalHeap};
use isotach_format::hdf5::heap::fractal_block::IndirectBlock;
use isotach_format::hdf5::heap::fractal_build::FractalHeapBuilder;
use isotach_format::hdf5::heap::heap_id::HeapId;
use isotach_format::hdf5::heap::local::LocalHeap;
use isotach_format::hdf5::superblock::BtreeK;

const SIZES: Sizes = Sizes { offset: 8, length: 8 };
const NARROW: Sizes = Sizes { offset: 4, length: 4 };

/// The bytes of one structure and where they stand.
struct Space {
    bytes: Vec<u8>,
    address: u64,
    sizes: Sizes,
}

impl Space {
    fn at(&self, address: u64) -> &[u8] {
        &self.bytes[(address - self.address) as usize..]
    }
}

/// All records of a tree in order; checks what a walk can see of its shape.
fn records(space: &Space, tree: &BTreeHeader) -> Vec<Vec<u8>> {
    fn walk(space: &Space, tree: &BTreeHeader, place: NodeRef, records: &mut Vec<Vec<u8>>) {
        assert!(place.record_count > 0);
        let node = Node::decode(space.at(place.address), &place, tree).unwrap();
        let own: Vec<_> = node.records().collect();
        if place.level == 0 {
            records.extend(own.into_iter().map(<[u8]>::to_vec));
            return;
        }
        assert_eq!(node.children().len(), own.len() + 1);
        for (index, &child) in node.children().iter().enumerate() {
            walk(space, tree, child, records);
            records.extend(own.get(index).map(|record| record.to_vec()));
        }
    }
    let mut found = Vec::new();
    if let Some(root) = tree.root() {
        walk(space, tree, root, &mut found);
    }
    assert_eq!(found.len() as u64, tree.record_count);
    found
}

fn find<'a>(
    space: &'a Space,
    tree: &BTreeHeader,
    compare: impl Fn(&[u8]) -> std::cmp::Ordering,
) -> Option<&'a [u8]> {
    let mut next = tree.root();
    while let Some(place) = next {
        let node = Node::decode(space.at(place.address), &place, tree).unwrap();
        match node.step(|record| Ok::<_, ()>(compare(record))).unwrap() {
            Step::Found(record) => return Some(record),
            Step::Descend(child) => next = Some(child),
            Step::Absent => next = None,
        }
    }
    None
}

#[test]
fn trees_of_version_2() {
    let kinds = [
        (BTreeKind::LINK_NAMES, SIZES),
        (BTreeKind::ATTRIBUTE_NAMES, NARROW),
        (BTreeKind::chunks(3, Some(4), SIZES), SIZES),
        (BTreeKind { record_type: 10, record_bytes: 30, node_bytes: 128 }, SIZES),
    ];
    for (kind, sizes) in kinds {
        let counts = (0..200).chain([500, 1000, 1033, 1034, 1035, 1036, 30_000, 100_003]);
        for count in counts {
            let all: Vec<u8> = (0..count)
                .flat_map(|index: u64| {
                    let mut record = index.to_be_bytes().to_vec();
                    record.resize(kind.record_bytes, 7);
                    record
                })
                .collect();
            let builder = BTreeBuilder::new(kind, count, sizes).unwrap();
            let bytes = builder.encode(4096, &all).unwrap();
            assert_eq!(bytes.len() as u64, builder.byte_len());
            let space = Space { bytes, address: 4096, sizes };
            let tree = BTreeHeader::decode(&space.bytes, 4096, sizes).unwrap();
            assert_eq!(tree.record_type, kind.record_type);
            assert_eq!(records(&space, &tree).concat(), all, "{count}");
            if count > 0 {
                let wanted = (count / 3).to_be_bytes();
                let found = find(&space, &tree, |record| wanted[..].cmp(&record[..8])).unwrap();
                assert_eq!(found[..8], wanted);
            }
            assert!(
                builder.encode(4096, &all[..all.len().saturating_sub(1)]).is_err() || count == 0
            );
        }
    }
    let tiny = BTreeKind { record_type: 5, record_bytes: 30, node_bytes: 64 };
    assert!(BTreeBuilder::new(tiny, 1, SIZES).is_err());
    assert!(BTreeBuilder::new(BTreeKind::LINK_NAMES, u64::MAX, SIZES).is_err());
}

/// The object with the ID `id`, found as the engine finds it.
fn object<'a>(space: &'a Space, heap: &FractalHeap, id: &[u8]) -> &'a [u8] {
    let (offset, byte_len) = match HeapId::decode(id, heap).unwrap() {
        HeapId::Managed { offset, byte_len } => (offset, byte_len),
        HeapId::HugeKey(key) => {
            let address = heap.huge_btree_address.unwrap();
            let tree = BTreeHeader::decode(space.at(address), address, space.sizes).unwrap();
            let decode = |record: &[u8]| {
                HugeRecord::decode(record, address, tree.record_type, space.sizes).unwrap()
            };
            let record = find(space, &tree, |record| key.cmp(&decode(record).key.unwrap()));
            let huge = decode(record.unwrap()).object;
            return &space.at(huge.address)[..huge.stored_bytes as usize];
        }
        other => panic!("{other:?}"),
    };
    let mut block = heap.root().unwrap();
    loop {
        block = match block {
            BlockRef::Direct(block) => {
                let bytes = space.at(block.address);
                return block.object(bytes, heap, offset, byte_len).unwrap();
            }
            BlockRef::Indirect(place) => {
                let block = IndirectBlock::decode(space.at(place.address), &place, heap).unwrap();
                block.locate(heap, offset).unwrap()
            }
        };
    }
}

/// Verifies every block below `block`; returns the bytes of all direct blocks.
fn allocated_bytes(space: &Space, heap: &FractalHeap, block: BlockRef) -> u64 {
    match block {
        BlockRef::Direct(block) => {
            block.verify(space.at(block.address), heap).unwrap();
            block.block_bytes
        }
        BlockRef::Indirect(place) => {
            let bytes = space.at(place.address);
            let block = IndirectBlock::decode(bytes, &place, heap).unwrap();
            let children = block.children(heap).unwrap();
            assert!(!children.is_empty());
            children.into_iter().map(|child| allocated_bytes(space, heap, child)).sum()
        }
    }
}

/// Builds a heap of objects of the sizes that `size` gives and reads all of them back.
fn check_heap(empty: FractalHeap, sizes: Sizes, count: usize, size: impl Fn(usize) -> usize) {
    let objects: Vec<Vec<u8>> = (0..count)
        .map(|index| {
            let mut object = vec![index as u8; size(index)];
            let stamp = (index as u32).to_le_bytes();
            let stamp_bytes = object.len().min(4);
            object[..stamp_bytes].copy_from_slice(&stamp[..stamp_bytes]);
            object
        })
        .collect();
    let borrowed = objects.iter().map(Vec::as_slice).collect();
    let builder = FractalHeapBuilder::new(empty, borrowed).unwrap();
    let address = 8192;
    let bytes = builder.encode(address).unwrap();
    assert_eq!(bytes.len() as u64, builder.byte_len());
    let space = Space { bytes, address, sizes };
    let heap = FractalHeap::decode(&space.bytes, address, sizes).unwrap();
    for (index, expected) in objects.iter().enumerate() {
        assert_eq!(object(&space, &heap, builder.id(index)), expected, "{index} of {count}");
    }
    assert!(builder.id(count).is_empty());
    let managed = objects.iter().filter(|object| object.len() <= 4096).count() as u64;
    assert_eq!(heap.object_counts.managed, managed);
    assert_eq!(heap.object_counts.huge, count as u64 - managed);
    assert_eq!(heap.last_huge_key, heap.object_counts.huge);
    let allocated = heap.root().map_or(0, |root| allocated_bytes(&space, &heap, root));
    assert_eq!(heap.space.allocated, allocated);
    assert!(heap.space.next_block_offset <= heap.space.spanned);
}

#[test]
fn fractal_heaps() {
    for count in [0, 1, 2, 20, 60, 300, 3000, 40_000] {
        check_heap(FractalHeap::for_links(SIZES), SIZES, count, |index| 20 + index % 60);
    }
    for count in [1, 5, 40, 2000, 20_000] {
        let size = |index| if index % 50 == 3 { 4096 } else { 40 + index * 7 % 500 };
        check_heap(FractalHeap::for_attributes(SIZES), SIZES, count, size);
        let size = |index| if index % 7 == 2 { 4097 + index } else { 1 + index % 4000 };
        check_heap(FractalHeap::for_attributes(NARROW), NARROW, count / 10, size);
        check_heap(FractalHeap::for_attributes(SIZES), SIZES, count / 10, |index| 5000 + index);
    }
    check_heap(FractalHeap::for_links(SIZES), SIZES, 1, |_| 4096);
}

#[test]
fn impossible_heaps() {
    let empty = FractalHeap::for_links(SIZES);
    assert!(FractalHeapBuilder::new(empty, vec![b"a", b""]).is_err());
    let narrow = FractalHeap::for_links(Sizes { offset: 2, length: 2 });
    assert!(FractalHeapBuilder::new(narrow, vec![b"a"]).is_err());
    let narrow = FractalHeap::for_links(NARROW);
    let builder = FractalHeapBuilder::new(narrow, vec![b"a"]).unwrap();
    let full = FractalHeap::decode(&builder.encode(64).unwrap(), 64, NARROW).unwrap();
    assert!(FractalHeapBuilder::new(full, vec![b"a"]).is_err());
    assert!(builder.encode(u64::from(u32::MAX)).is_err());
    assert!(builder.encode(u64::MAX).is_err());
}

/// The chunk of a tree at `offset`, as the engine finds it.
fn find_chunk(space: &Space, rank: usize, offset: &[u64]) -> Option<ChunkEntry> {
    let mut address = space.address;
    loop {
        let node = ChunkNode::decode(space.at(address), address, space.sizes, rank).unwrap();
        let entry = *node.find(offset)?;
        if node.header.level == 0 {
            return Some(entry);
        }
        address = entry.address.unwrap();
    }
}

/// Follows a level of nodes from its first one; checks that the keys and siblings fit together.
fn chunk_level(space: &Space, rank: usize, first: u64) -> Vec<ChunkNode> {
    let mut nodes: Vec<ChunkNode> = Vec::new();
    let (mut next, mut previous) = (Some(first), None);
    while let Some(address) = next {
        let node = ChunkNode::decode(space.at(address), address, space.sizes, rank).unwrap();
        assert_eq!(node.header.left, previous);
        if let Some(left) = nodes.last() {
            assert_eq!(left.offset(left.entries().len()), node.offset(0));
            assert_eq!(left.end_key().stored_bytes, node.entries()[0].stored_bytes);
            assert_eq!(left.end_key().element_offset, 0);
        }
        (previous, next) = (Some(address), node.header.right);
        nodes.push(node);
    }
    nodes
}

#[test]
fn chunk_trees_of_version_1() {
    for (k, sizes) in [(32, SIZES), (2, NARROW), (1, SIZES)] {
        for count in [0, 1, 2, 3, 4, 5, 63, 64, 65, 4096, 4097, 30_000] {
            let offsets: Vec<u64> = (0..u64::from(count))
                .flat_map(|index| [index / 100 * 10, index % 100 * 5])
                .collect();
            let entry = |index: u32| ChunkEntry {
                stored_bytes: 100 + index,
                filter_mask: index % 2,
                address: Some(1 << 20 | u64::from(index)),
            };
            let entries: Vec<_> = (0..count).map(entry).collect();
            let builder = ChunkTreeBuilder::new(entries.len(), 2, k, sizes).unwrap();
            let chunks = TreeChunks {
                entries: &entries,
                offsets: &offsets,
                chunk_shape: &[10, 5],
                element_bytes: 4,
            };
            let bytes = builder.encode(2048, chunks).unwrap();
            assert_eq!(bytes.len() as u64, builder.byte_len());
            let space = Space { bytes, address: 2048, sizes };
            for (entry, offset) in entries.iter().zip(offsets.chunks(2)) {
                assert_eq!(find_chunk(&space, 2, offset).as_ref(), Some(entry));
            }
            assert_eq!(find_chunk(&space, 2, &[1, 1]), None);
            let mut first = Some(2048);
            while let Some(address) = first {
                let nodes = chunk_level(&space, 2, address);
                let last = nodes.last().unwrap();
                assert_eq!(last.end_key().element_offset, 4);
                if let Some(corner) = offsets.chunks(2).last() {
                    let end = last.offset(last.entries().len()).unwrap();
                    assert_eq!(end, [corner[0] + 10, corner[1] + 5]);
                }
                let is_leaf = nodes[0].header.level == 0;
                first = nodes[0].entries().first().filter(|_| !is_leaf).and_then(|e| e.address);
            }
            let short = TreeChunks { chunk_shape: &[10], ..chunks };
            assert!(builder.encode(2048, short).is_err());
            assert!(builder.encode(u64::MAX, chunks).is_err());
        }
    }
    assert!(ChunkTreeBuilder::new(1, 2, 0, SIZES).is_err());
    assert!(ChunkTreeBuilder::new(usize::MAX, 2, 32, SIZES).is_err());
}

#[test]
fn groups_of_the_first_kind() {
    for (k, sizes) in [
        (BtreeK::default(), SIZES),
        (BtreeK { group_leaf: 1, group_internal: 1, indexed_storage: 1 }, NARROW),
    ] {
        for count in [0, 1, 2, 8, 9, 256, 257, 258, 10_000] {
            let names: Vec<String> = (0..count).map(|index| format!("link {index:05}")).collect();
            let links: Vec<_> = names
                .iter()
                .enumerate()
                .map(|(index, name)| SymbolTableLink {
                    name: name.as_bytes(),
                    soft_value: (index % 3 == 1).then_some(&b"/where/it/leads"[..]),
                })
                .collect();
            let builder = SymbolTableBuilder::new(&links, k, sizes).unwrap();
            let headers: Vec<_> = (1000..)
                .zip(&links)
                .map(|(address, link)| link.soft_value.is_none().then_some(address))
                .collect();
            let bytes = builder.encode(512, &headers).unwrap();
            assert_eq!(bytes.len() as u64, builder.byte_len());
            let space = Space { bytes, address: 512, sizes };
            let address = builder.heap_address(512);
            let heap = LocalHeap::decode(space.at(address), address, sizes).unwrap();
            let segment = &space.at(heap.segment_address)[..heap.segment_bytes as usize];
            for (index, link) in links.iter().enumerate() {
                let entry = find_link(&space, builder.btree_address(512), &heap, link.name);
                let entry = entry.unwrap();
                assert_eq!(entry.header_address, headers[index]);
                if let EntryCache::SoftLink { value_offset } = entry.cache {
                    let value = heap.name(segment, value_offset.into()).unwrap();
                    assert_eq!(Some(value), link.soft_value);
                }
            }
            assert_eq!(find_link(&space, 512, &heap, b"another"), None);
            assert_eq!(find_link(&space, 512, &heap, b"zzz"), None);
            if count > 0 {
                assert!(builder.encode(512, &headers[1..]).is_err());
            }
        }
    }
    let link = |name| SymbolTableLink { name, soft_value: None };
    for names in [[&b"b"[..], b"a"], [b"a", b"a"], [b"", b"a"], [b"a", b"b\0"]] {
        assert!(SymbolTableBuilder::new(&names.map(link), BtreeK::default(), SIZES).is_err());
    }
}

/// The entry of a name, found through the tree.
fn find_link(space: &Space, tree: u64, heap: &LocalHeap, name: &[u8]) -> Option<SymbolTableEntry> {
    let segment = &space.at(heap.segment_address)[..heap.segment_bytes as usize];
    let mut address = tree;
    loop {
        let node = GroupNode::decode(space.at(address), address, space.sizes).unwrap();
        let compare = |key| heap.name(segment, key).map(|other| name.cmp(other));
        address = node.child_for(compare).unwrap()?;
        if node.header.level == 0 {
            break;
        }
    }
    let node = SymbolTableNode::decode(space.at(address), address, space.sizes).unwrap();
    node.entries.into_iter().find(|e| heap.name(segment, e.name_offset).unwrap() == name)
}

/// Elements of which every `step`th is a chunk.
fn elements(count: u64, step: u64, layout: ElementLayout) -> Vec<ChunkElement> {
    let element = |index| match index % step {
        0 => ChunkElement {
            address: Some(4096 + index),
            stored_bytes: layout.is_filtered().then_some(index % 1000),
            filter_mask: if layout.is_filtered() { index as u32 % 4 } else { 0 },
        },
        _ => ChunkElement::MISSING,
    };
    (0..count).map(element).collect()
}

/// Layouts of elements, and the steps between chunks that are tried with them.
fn layouts() -> impl Iterator<Item = (ElementLayout, Sizes, u64)> {
    [(None, SIZES, 1), (Some(1 << 16), SIZES, 3), (Some(100), NARROW, 5000), (None, NARROW, 1000)]
        .into_iter()
        .map(|(chunk_bytes, sizes, step)| {
            (ElementLayout::for_chunks(chunk_bytes, sizes), sizes, step)
        })
}

#[test]
fn fixed_arrays() {
    for (layout, sizes, step) in layouts() {
        for count in [1, 2, 1023, 1024, 1025, 9000, 50_000] {
            let elements = elements(count, step, layout);
            let builder = FixedArrayBuilder::new(layout, count, sizes).unwrap();
            let bytes = builder.encode(1024, &elements).unwrap();
            assert_eq!(bytes.len() as u64, builder.byte_len());
            let without_last = builder.encode(1024, &elements[..elements.len() - 1]).unwrap();
            assert_eq!(without_last.len(), bytes.len());
            let space = Space { bytes, address: 1024, sizes };
            let array = FixedArray::decode(&space.bytes, 1024, sizes).unwrap();
            let address = array.block_address.unwrap();
            let block = FixedArrayBlock::decode(space.at(address), address, &array).unwrap();
            let stride = elements.len() / 5000 + 1;
            for (index, expected) in (0..).zip(&elements).step_by(stride) {
                let found = match block.locate(&array, index).unwrap() {
                    FixedArrayPlace::Elements(elements) => elements.get(index).unwrap(),
                    FixedArrayPlace::Absent => ChunkElement::MISSING,
                    FixedArrayPlace::Page(page) => {
                        page.decode(space.at(page.address), &array).unwrap().get(index).unwrap()
                    }
                };
                assert_element(found, *expected);
            }
            assert!(builder.encode(0, &vec![ChunkElement::MISSING; count as usize + 1]).is_err());
        }
        assert!(FixedArrayBuilder::new(layout, u64::MAX, sizes).is_err());
    }
}

/// A missing chunk of a filtered array has a stored size: 0.
fn assert_element(found: ChunkElement, expected: ChunkElement) {
    match expected.address {
        Some(_) => assert_eq!(found, expected),
        None => assert_eq!(found.address, None),
    }
}

#[test]
fn extensible_arrays() {
    for (layout, sizes, step) in layouts() {
        for count in [0, 1, 4, 5, 20, 21, 244, 245, 1000, 9000, 140_000] {
            let elements = elements(count, step, layout);
            let builder = ExtensibleArrayBuilder::new(layout, &elements, sizes).unwrap();
            let bytes = builder.encode(1024).unwrap();
            assert!(builder.encode(u64::MAX).is_err());
            assert_eq!(bytes.len() as u64, builder.byte_len());
            let space = Space { bytes, address: 1024, sizes };
            let array = ExtensibleArray::decode(&space.bytes, 1024, sizes).unwrap();
            let Some(address) = array.index_block_address else {
                assert_eq!((count, array.element_count), (0, 0));
                continue;
            };
            assert_eq!(array.element_count, (count - 1) / step * step + 1);
            let index_block = IndexBlock::decode(space.at(address), address, &array).unwrap();
            // Each look-up verifies its block anew; of many elements, some of every block do.
            let stride = elements.len() / 5000 + 1;
            for (index, expected) in (0..).zip(&elements).step_by(stride) {
                let mut place = index_block.locate(&array, index).unwrap();
                if let ExtensiblePlace::SuperBlock(block) = place {
                    let bytes = space.at(block.address);
                    let block = SuperBlock::decode(bytes, &block, &array).unwrap();
                    place = block.locate(&array, index).unwrap();
                }
                let found = match place {
                    ExtensiblePlace::Elements(elements) => elements,
                    ExtensiblePlace::DataBlock(block) => {
                        block.decode(space.at(block.address), &array).unwrap()
                    }
                    ExtensiblePlace::Page(page) => {
                        page.decode(space.at(page.address), &array).unwrap()
                    }
                    ExtensiblePlace::SuperBlock(_) => panic!("twice"),
                    ExtensiblePlace::Absent => {
                        assert_eq!(expected.address, None, "{index} of {count}");
                        continue;
                    }
                };
                assert_element(found.get(index).unwrap(), *expected);
            }
        }
    }
}

#[test]
fn extensible_arrays_total_as_those_of_the_library() {
    // Read from files by libhdf5 1.14: elements, then the totals.
    let layout = ElementLayout::for_chunks(None, SIZES);
    for (count, expected) in [
        (1, [0, 0, 0, 0, 4]),
        (5, [0, 0, 1, 150, 20]),
        (100, [0, 0, 4, 984, 116]),
        (1000, [2, 108, 14, 8372, 1012]),
        (140_000, [10, 2268, 195, 1_134_698, 141_300]),
    ] {
        let elements = elements(count, 1, layout);
        let builder = ExtensibleArrayBuilder::new(layout, &elements, SIZES).unwrap();
        let array = ExtensibleArray::decode(&builder.encode(0).unwrap(), 0, SIZES).unwrap();
        let [super_blocks, super_block_bytes, data_blocks, data_block_bytes, elements] = expected;
        let expected = BlockTotals {
            super_blocks,
            super_block_bytes,
            data_blocks,
            data_block_bytes,
            elements,
        };
        assert_eq!(array.totals, expected);
    }
}
