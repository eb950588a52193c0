//! Groups' tables and heaps.

use isotach_format::Result;
use isotach_format::hdf5::btree::v1::GroupNode;
use isotach_format::hdf5::group::symbol_table_node::SymbolTableNode;
use isotach_format::hdf5::heap::fractal::{BlockRef, FractalHeap};
use isotach_format::hdf5::heap::fractal_block::IndirectBlock;
use isotach_format::hdf5::heap::global::GlobalHeapCollection;
use isotach_format::hdf5::heap::heap_id::HeapId;
use isotach_format::hdf5::heap::local::LocalHeap;
use isotach_format::hdf5::heap::shared_message::{
    SharedMessageList, SharedMessageRecord, SharedMessageTable,
};
use isotach_format::hdf5::message::{FilterPipeline, Message};

use super::sparse::Sparse;

/// Blocks of one heap that are looked at.
const BLOCKS: usize = 64;

/// Offsets and indexes that find every edge of the arithmetic.
pub(super) fn edges() -> impl Iterator<Item = u64> {
    (0..64).flat_map(|bits| [1_u64 << bits, (1 << bits) - 1]).chain([u64::MAX])
}

/// A group of the first kind: B-tree node, symbol table node, local heap.
pub fn group(data: &[u8]) {
    let file = Sparse::new(data);
    let sizes = file.sizes;
    for address in file.addresses() {
        let bytes = file.at(address);
        if let Ok(node) = SymbolTableNode::decode(bytes, address, sizes) {
            assert!(node.entries.len() <= bytes.len());
        }
        if let Ok(heap) = LocalHeap::decode(bytes, address, sizes) {
            let segment = file.at(heap.segment_address);
            for offset in edges() {
                let _ = heap.name(segment, offset);
            }
        }
        if let Ok(node) = GroupNode::decode(bytes, address, sizes) {
            assert_eq!(node.keys.len(), node.children.len() + 1);
            for wanted in edges() {
                let child = node.child_for(|key| Ok::<_, ()>(wanted.cmp(&key)));
                assert!(child.unwrap().is_none_or(|child| node.children.contains(&child)));
            }
        }
    }
}

/// Fractal heaps with their blocks, global heaps, heaps of shared messages.
pub fn heap(data: &[u8]) {
    let mut file = Sparse::new(data);
    let (sizes, choice) = (file.sizes, file.choice);
    for address in file.addresses() {
        match file.at(address).get(..4) {
            Some(b"FRHP") => {
                let heap = file.sealed(address, |bytes| FractalHeap::decode(bytes, address, sizes));
                if let Some(heap) = heap {
                    walk(&mut file, &heap);
                }
            }
            Some(b"GCOL") => global(&file, address),
            Some(b"SMTB") => {
                file.sealed(address, |bytes| {
                    let table = SharedMessageTable::decode(bytes, address, sizes, choice)?;
                    (0..16).for_each(|message_type| {
                        let _ = table.index_for(message_type);
                    });
                    Ok(())
                });
            }
            Some(b"SMLI") => {
                let count = u16::from(choice);
                file.sealed(address, |b| SharedMessageList::decode(b, address, sizes, count));
            }
            _ => {
                let _ = SharedMessageRecord::decode(file.at(address), address, sizes);
            }
        }
    }
}

fn global(file: &Sparse, address: u64) {
    let bytes = file.at(address);
    let Ok(heap) = GlobalHeapCollection::decode(bytes, address, file.sizes) else { return };
    for index in heap.indexes().map(u32::from).chain([0, 0xffff, u32::MAX]) {
        let object = heap.object(bytes, index);
        assert!(object.is_none_or(|object| object.len() as u64 <= heap.byte_len));
    }
}

/// Every block of the heap, as far as there are pieces, and objects in them.
fn walk(file: &mut Sparse, heap: &FractalHeap) {
    let _ = FilterPipeline::decode(&heap.filter_message, heap.address, file.sizes);
    for address in file.addresses() {
        let _ = HeapId::decode(file.at(address), heap);
    }
    let mut blocks: Vec<BlockRef> = heap.root().into_iter().collect();
    for _ in 0..BLOCKS {
        match blocks.pop() {
            Some(BlockRef::Direct(block)) => {
                let verify = |bytes: &[u8]| -> Result<()> { block.verify(bytes, heap) };
                file.seal(block.address, verify);
                let _ = block.stored_bytes();
                for offset in edges() {
                    let offset = block.heap_offset.saturating_add(offset);
                    let _ = block.object(file.at(block.address), heap, offset, 1 + offset % 7);
                }
            }
            Some(BlockRef::Indirect(place)) => {
                let decode = |bytes: &[u8]| IndirectBlock::decode(bytes, &place, heap);
                let Some(block) = file.sealed(place.address, decode) else { continue };
                for offset in edges() {
                    let _ = block.locate(heap, offset);
                }
                blocks.extend(block.children(heap).into_iter().flatten().take(BLOCKS));
            }
            None => break,
        }
    }
}
