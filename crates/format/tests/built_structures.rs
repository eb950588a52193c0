//! Structures built whole and decoded again, from none to tens of thousands of entries.

use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::btree::v2::{BTreeHeader, Node, NodeRef, Step};
use isotach_format::hdf5::btree::v2_build::{BTreeBuilder, BTreeKind};
use isotach_format::hdf5::btree::v2_record::HugeRecord;
use isotach_format::hdf5::heap::fractal::{BlockRef, FractalHeap};
use isotach_format::hdf5::heap::fractal_block::IndirectBlock;
use isotach_format::hdf5::heap::fractal_build::FractalHeapBuilder;
use isotach_format::hdf5::heap::heap_id::HeapId;

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
    assert!(builder.encode(u64::from(u32::MAX)).is_err());
    assert!(builder.encode(u64::MAX).is_err());
}
