//! B-trees and chunk indexes.

use isotach_format::Result;
use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::btree::v1::ChunkNode;
use isotach_format::hdf5::btree::v2::{BTreeHeader, Node, Step};
use isotach_format::hdf5::btree::v2_record::{
    AttributeRecord, ChunkRecordLayout, HugeRecord, LinkCreationOrderRecord, LinkNameRecord,
};
use isotach_format::hdf5::chunk_index::extensible_array::ExtensibleArray;
use isotach_format::hdf5::chunk_index::extensible_block::{
    DataBlockRef, ExtensiblePlace, IndexBlock, PageRef, SuperBlock, SuperBlockRef,
};
use isotach_format::hdf5::chunk_index::fixed_array::{
    FixedArray, FixedArrayBlock, FixedArrayPage, FixedArrayPlace,
};
use isotach_format::hdf5::chunk_index::grid::ChunkGrid;
use isotach_format::hdf5::chunk_index::implicit::chunk_address;
use isotach_format::hdf5::heap::shared_message::SharedMessageRecord;

use super::sparse::Sparse;
use super::structures::edges;

/// Nodes of one tree that are looked at.
const NODES: usize = 64;
/// Blocks of one array, of each kind.
const BLOCKS: usize = 8;

/// B-trees of version 1 over chunks, and of version 2 over anything.
pub fn btree(data: &[u8]) {
    let mut file = Sparse::new(data);
    let (sizes, rank) = (file.sizes, usize::from(file.choice.max(1)));
    for address in file.addresses() {
        if let Ok(node) = ChunkNode::decode(file.at(address), address, sizes, rank) {
            for index in 0..=node.entries().len() {
                let offset = node.offset(index).expect("there is one more offset than entries");
                let _ = node.find(offset);
            }
            assert!(node.offset(node.entries().len() + 1).is_none());
        }
        let tree = file.sealed(address, |bytes| BTreeHeader::decode(bytes, address, sizes));
        if let Some(tree) = tree {
            walk(&mut file, &tree, rank);
        }
    }
}

fn walk(file: &mut Sparse, tree: &BTreeHeader, rank: usize) {
    let sizes = file.sizes;
    let layout =
        ChunkRecordLayout::new(tree.record_type, tree.record_bytes, rank, tree.address, sizes).ok();
    let mut places: Vec<_> = tree.root().into_iter().collect();
    for _ in 0..NODES {
        let Some(place) = places.pop() else { break };
        file.seal(place.address, |bytes| Node::decode(bytes, &place, tree).map(drop));
        let Ok(node) = Node::decode(file.at(place.address), &place, tree) else { continue };
        assert_eq!(node.records().len() as u64, place.record_count);
        for record in node.records() {
            records(record, tree, sizes);
            let Some(layout) = &layout else { continue };
            let _ = layout.decode(record);
            let wanted = [3; 32];
            let _ = layout.compare(&wanted[..rank], record);
        }
        for wanted in [0, 0x80, 0xff] {
            let step = node.step(|record| Ok::<_, ()>(record.first().cmp(&Some(&wanted))));
            if let Ok(Step::Descend(child)) = step {
                assert!(node.children().contains(&child));
            }
        }
        places.extend(node.children().iter().copied().take(NODES));
    }
}

/// A record decoded as everything it could be.
fn records(record: &[u8], tree: &BTreeHeader, sizes: Sizes) {
    let _ = HugeRecord::decode(record, tree.address, tree.record_type, sizes);
    let _ = LinkNameRecord::decode(record, tree.address);
    let _ = LinkCreationOrderRecord::decode(record, tree.address);
    let _ = AttributeRecord::decode(record, tree.address, tree.record_type);
    let _ = SharedMessageRecord::decode(record, tree.address, sizes);
}

/// Fixed and extensible arrays of chunks, and the arithmetic of the implicit index.
pub fn chunk_index(data: &[u8]) {
    let mut file = Sparse::new(data);
    let sizes = file.sizes;
    for address in file.addresses() {
        match file.at(address).get(..4) {
            Some(b"FAHD") => {
                let array = file.sealed(address, |bytes| FixedArray::decode(bytes, address, sizes));
                if let Some(array) = array {
                    fixed_array(&mut file, &array);
                }
            }
            Some(b"EAHD") => {
                let array = file.sealed(address, |b| ExtensibleArray::decode(b, address, sizes));
                if let Some(array) = array {
                    extensible_array(&mut file, &array);
                }
            }
            _ => grid(file.at(address)),
        }
    }
}

fn fixed_array(file: &mut Sparse, array: &FixedArray) {
    let Some(address) = array.block_address else { return };
    file.seal(address, |bytes| FixedArrayBlock::decode(bytes, address, array).map(drop));
    let Ok(block) = FixedArrayBlock::decode(file.at(address), address, array) else { return };
    let mut pages: Vec<(FixedArrayPage, u64)> = Vec::new();
    for index in edges() {
        let _ = array.page_end(index);
        match block.locate(array, index) {
            Ok(FixedArrayPlace::Elements(elements)) => drop(elements.get(index)),
            Ok(FixedArrayPlace::Page(page)) => pages.push((page, index)),
            _ => {}
        }
    }
    for (page, index) in pages.into_iter().take(BLOCKS) {
        file.seal(page.address, |bytes| page.decode(bytes, array).map(drop));
        if let Ok(elements) = page.decode(file.at(page.address), array) {
            assert!(elements.get(index).is_ok() || index >= page.first_index + elements.count());
        }
    }
}

/// What a look-up in an extensible array leads to, one step further.
#[derive(Default)]
struct Found {
    groups: Vec<(SuperBlockRef, u64)>,
    blocks: Vec<(DataBlockRef, u64)>,
    pages: Vec<(PageRef, u64)>,
}

impl Found {
    fn add(&mut self, place: Result<ExtensiblePlace<'_>>, index: u64) {
        match place {
            Ok(ExtensiblePlace::Elements(elements)) => drop(elements.get(index)),
            Ok(ExtensiblePlace::SuperBlock(group)) => self.groups.push((group, index)),
            Ok(ExtensiblePlace::DataBlock(block)) => self.blocks.push((block, index)),
            Ok(ExtensiblePlace::Page(page)) => self.pages.push((page, index)),
            Ok(ExtensiblePlace::Absent) | Err(_) => {}
        }
    }
}

fn extensible_array(file: &mut Sparse, array: &ExtensibleArray) {
    let Some(address) = array.index_block_address else { return };
    let mut found = Found::default();
    file.seal(address, |bytes| IndexBlock::decode(bytes, address, array).map(drop));
    let Ok(block) = IndexBlock::decode(file.at(address), address, array) else { return };
    for index in edges() {
        let _ = (array.absent_end(index, false), array.absent_end(index, true));
        found.add(block.locate(array, index), index);
    }
    for (group, index) in std::mem::take(&mut found.groups).into_iter().take(BLOCKS) {
        file.seal(group.address, |bytes| SuperBlock::decode(bytes, &group, array).map(drop));
        if let Ok(block) = SuperBlock::decode(file.at(group.address), &group, array) {
            found.add(block.locate(array, index), index);
        }
    }
    for (block, index) in found.blocks.into_iter().take(BLOCKS) {
        file.seal(block.address, |bytes| block.decode(bytes, array).map(drop));
        let elements = block.decode(file.at(block.address), array);
        assert!(elements.is_err() || elements.is_ok_and(|elements| elements.get(index).is_ok()));
    }
    for (page, index) in found.pages.into_iter().take(BLOCKS) {
        file.seal(page.address, |bytes| page.decode(bytes, array).map(drop));
        let elements = page.decode(file.at(page.address), array);
        assert!(elements.is_err() || elements.is_ok_and(|elements| elements.get(index).is_ok()));
    }
}

/// A grid of chunks of any shape: an index and its coordinates lead to each other.
fn grid(bytes: &[u8]) {
    let counts: Vec<Option<u64>> = bytes
        .chunks_exact(4)
        .take(33)
        .map(|bytes| u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])))
        .map(|count| (count != u64::from(u32::MAX)).then_some(count))
        .collect();
    let Some(grid) = ChunkGrid::new(&counts) else { return };
    for index in edges() {
        let _ = chunk_address(index, index, index);
        if let Some(scaled) = grid.scaled(index) {
            assert_eq!(grid.index(&scaled), Some(index), "{counts:?} {scaled:?}");
        }
        let _ = grid.index(&vec![index; counts.len()]);
    }
}
