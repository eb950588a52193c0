//! Every index structure of the corpus' derived files, found by its signature and decoded whole.
//!
//! Trees and heaps are walked from their headers, so a structure that nothing led to shows up as
//! a difference between what was decoded and what was found.

use std::collections::BTreeSet;

use isotach_format::checksum::lookup3;
use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::btree::v1::{ChunkNode, GroupNode};
use isotach_format::hdf5::btree::v2::{BTreeHeader, Node, NodeRef, Step};
use isotach_format::hdf5::btree::v2_record::{
    ATTRIBUTE_NAME, AttributeRecord, CHUNK, CHUNK_FILTERED, ChunkRecordLayout, HugeRecord,
    LINK_NAME, LinkNameRecord,
};
use isotach_format::hdf5::chunk_index::element::ChunkElement;
use isotach_format::hdf5::chunk_index::extensible_array::ExtensibleArray;
use isotach_format::hdf5::chunk_index::extensible_block::{
    ExtensiblePlace, IndexBlock, SuperBlock,
};
use isotach_format::hdf5::chunk_index::fixed_array::{
    FixedArray, FixedArrayBlock, FixedArrayPlace,
};
use isotach_format::hdf5::group::symbol_table_node::SymbolTableNode;
use isotach_format::hdf5::heap::fractal::{BlockRef, FractalHeap};
use isotach_format::hdf5::heap::fractal_block::IndirectBlock;
use isotach_format::hdf5::heap::global::GlobalHeapCollection;
use isotach_format::hdf5::heap::heap_id::{HeapId, HugeObject};
use isotach_format::hdf5::heap::local::LocalHeap;
use isotach_format::hdf5::heap::shared_message::{
    IndexKind, SharedMessageList, SharedMessageTable,
};
use isotach_format::hdf5::superblock::BtreeK;
use isotach_format::{ErrorKind, Result};
use isotach_testkit::corpus;

/// A file from its superblock on, and what was decoded in it.
struct File {
    name: String,
    bytes: Vec<u8>,
    sizes: Sizes,
    decoded: BTreeSet<([u8; 4], u64)>,
}

impl File {
    fn at(&self, address: u64) -> &[u8] {
        &self.bytes[(address as usize).min(self.bytes.len())..]
    }

    fn addresses(&self, signature: &[u8; 4]) -> Vec<u64> {
        let windows = self.bytes.windows(4).enumerate();
        windows.filter(|(_, window)| window == signature).map(|(place, _)| place as u64).collect()
    }

    fn seen(&mut self, signature: &[u8; 4], address: u64) {
        self.decoded.insert((*signature, address));
    }

    fn expect<T>(&self, result: Result<T>) -> T {
        result.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// What is decoded must encode to the bytes it stands in.
    fn expect_same(&self, address: u64, encoded: &[u8]) {
        let found = &self.at(address)[..encoded.len()];
        assert_eq!(found, encoded, "{}: at {address}", self.name);
    }

    fn expect_all_seen(&self, signatures: &[&[u8; 4]]) {
        for signature in signatures {
            for address in self.addresses(signature) {
                let shown = signature.escape_ascii();
                let is_seen = self.decoded.contains(&(**signature, address));
                assert!(is_seen, "{}: {shown} at {address} was not reached", self.name);
            }
        }
    }

    fn expect_chunk(&self, element: ChunkElement) -> usize {
        let Some(address) = element.address else { return 0 };
        let end = address + element.stored_bytes.unwrap_or(1);
        assert!(end <= self.bytes.len() as u64, "{}: chunk beyond the end", self.name);
        1
    }
}

/// The derived HDF5 files; empty, and said aloud, where there is no corpus.
fn files() -> Vec<File> {
    let Some(corpus) = corpus() else { return Vec::new() };
    let mut files = Vec::new();
    for path in
        std::fs::read_dir(corpus.join("derived")).unwrap().map(|entry| entry.unwrap().path())
    {
        let bytes = std::fs::read(&path).unwrap();
        let signature = b"\x89HDF\r\n\x1a\n";
        let starts = std::iter::once(0).chain((9..20).map(|bits| 1_usize << bits));
        let Some(base) =
            starts.into_iter().find(|&s| bytes[s.min(bytes.len())..].starts_with(signature))
        else {
            continue;
        };
        let bytes = bytes[base..].to_vec();
        let place = if bytes[8] < 2 { 13 } else { 9 };
        let sizes = Sizes { offset: bytes[place].into(), length: bytes[place + 1].into() };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        files.push(File { name, bytes, sizes, decoded: BTreeSet::new() });
    }
    assert!(files.len() > 20);
    files
}

#[test]
fn groups_of_the_first_kind() {
    for mut file in files() {
        let heaps: Vec<LocalHeap> = file
            .addresses(b"HEAP")
            .into_iter()
            .map(|address| file.expect(LocalHeap::decode(file.at(address), address, file.sizes)))
            .collect();
        for heap in &heaps {
            file.expect_same(heap.address, &heap.encode(file.sizes));
        }
        for address in file.addresses(b"SNOD") {
            let node = file.expect(SymbolTableNode::decode(file.at(address), address, file.sizes));
            let has_names = |heap: &LocalHeap| {
                let segment = &file.at(heap.segment_address)[..heap.segment_bytes as usize];
                let names = node.entries.iter().map(|entry| heap.name(segment, entry.name_offset));
                let names: Result<Vec<_>> = names.collect();
                names.is_ok_and(|names| names.is_sorted() && names.iter().all(|n| !n.is_empty()))
            };
            assert!(heaps.iter().any(has_names), "{}: SNOD at {address}", file.name);
        }
        for address in file.addresses(b"TREE") {
            if let Ok(node) = GroupNode::decode(file.at(address), address, file.sizes) {
                let encoded = node.encode(BtreeK::default().group_internal, file.sizes).unwrap();
                let entry_bytes = file.sizes.length + file.sizes.offset;
                let used = 8
                    + 2 * file.sizes.offset
                    + node.children.len() * entry_bytes
                    + file.sizes.length;
                file.expect_same(address, &encoded[..used]);
                for &child in &node.children {
                    let signature = if node.header.level == 0 { b"SNOD" } else { b"TREE" };
                    assert!(file.at(child).starts_with(signature), "{}: {address}", file.name);
                    file.seen(signature, child);
                }
            }
        }
        file.expect_all_seen(&[b"SNOD"]);
    }
}

#[test]
fn chunk_trees_of_version_1() {
    let mut leaves = 0;
    for file in files() {
        for address in file.addresses(b"TREE") {
            if file.at(address)[4] != 1 {
                continue;
            }
            // The rank stands in the layout message; one rank must make sense of the node, and
            // encode it as it stands there.
            let makes_sense = |rank: &usize| {
                let node = ChunkNode::decode(file.at(address), address, file.sizes, *rank);
                let key_bytes = 16 + 8 * rank;
                let k = BtreeK::default().indexed_storage;
                node.is_ok_and(|node| {
                    let entries_bytes = node.entries().len() * (key_bytes + file.sizes.offset);
                    let used_bytes = 8 + 2 * file.sizes.offset + entries_bytes + key_bytes;
                    let encoded = node.encode(k, file.sizes).unwrap();
                    file.at(address).starts_with(&encoded[..used_bytes])
                        && node.entries().iter().enumerate().all(|(index, entry)| {
                            let offset = node.offset(index).unwrap();
                            entry.address.is_some_and(|a| a < file.bytes.len() as u64)
                            // The end may be the last chunk's offset, with the element's size.
                            && node.offset(index + 1).is_some_and(|next| offset <= next)
                            && node.find(offset) == Some(entry)
                        })
                })
            };
            let rank = (1..=8).find(makes_sense);
            assert!(rank.is_some(), "{}: TREE at {address}", file.name);
            leaves += 1;
        }
    }
    assert!(leaves == 0 || leaves > 100);
}

fn walk_tree(file: &mut File, tree: &BTreeHeader, place: NodeRef, records: &mut Vec<Vec<u8>>) {
    let bytes = file.at(place.address).to_vec();
    let node = file.expect(Node::decode(&bytes, &place, tree));
    file.seen(if place.level == 0 { b"BTLF" } else { b"BTIN" }, place.address);
    for (index, record) in node.records().enumerate() {
        if let Some(&child) = node.children().get(index) {
            walk_tree(file, tree, child, records);
        }
        records.push(record.to_vec());
    }
    if let Some(&child) = node.children().last() {
        walk_tree(file, tree, child, records);
    }
}

/// Looks a chunk up as the engine would.
fn find_chunk(file: &File, tree: &BTreeHeader, layout: &ChunkRecordLayout, wanted: &[u64]) -> bool {
    let mut next = tree.root();
    while let Some(place) = next {
        let node = file.expect(Node::decode(file.at(place.address), &place, tree));
        let step = node.step(|record| Ok::<_, ()>(layout.compare(wanted, record))).unwrap();
        next = match step {
            Step::Found(_) => return true,
            Step::Descend(child) => Some(child),
            Step::Absent => None,
        };
    }
    false
}

#[test]
fn trees_of_version_2() {
    for mut file in files() {
        for address in file.addresses(b"BTHD") {
            let tree = file.expect(BTreeHeader::decode(file.at(address), address, file.sizes));
            file.expect_same(address, &tree.encode(file.sizes));
            let mut records = Vec::new();
            if let Some(root) = tree.root() {
                walk_tree(&mut file, &tree, root, &mut records);
            }
            assert_eq!(records.len() as u64, tree.record_count, "{}", file.name);
            if !matches!(tree.record_type, CHUNK | CHUNK_FILTERED) {
                continue;
            }
            let fits = |rank| {
                let (record_type, bytes) = (tree.record_type, tree.record_bytes);
                ChunkRecordLayout::new(record_type, bytes, rank, address, file.sizes).ok()
            };
            let layout = (1..=8).find_map(fits).unwrap();
            for record in &records {
                let chunk = file.expect(layout.decode(record));
                assert!(chunk.address.is_some_and(|a| a < file.bytes.len() as u64));
                assert!(find_chunk(&file, &tree, &layout, &chunk.scaled), "{}", file.name);
            }
            assert!(!find_chunk(&file, &tree, &layout, &[u64::MAX; 8]));
        }
        file.expect_all_seen(&[b"BTIN", b"BTLF"]);
    }
}

fn walk_heap(file: &mut File, heap: &FractalHeap, block: BlockRef) {
    match block {
        BlockRef::Direct(block) => {
            if block.filtered.is_none() {
                file.expect(block.verify(file.at(block.address), heap));
                file.seen(b"FHDB", block.address);
            }
        }
        BlockRef::Indirect(place) => {
            let bytes = file.at(place.address);
            let block = file.expect(IndirectBlock::decode(bytes, &place, heap));
            file.seen(b"FHIB", place.address);
            file.expect_same(place.address, &block.encode(heap));
            for child in file.expect(block.children(heap)) {
                walk_heap(file, heap, child);
            }
        }
    }
}

#[test]
fn fractal_heaps() {
    for mut file in files() {
        for address in file.addresses(b"FRHP") {
            let heap = file.expect(FractalHeap::decode(file.at(address), address, file.sizes));
            file.expect_same(address, &heap.encode().unwrap());
            if let Some(root) = heap.root() {
                walk_heap(&mut file, &heap, root);
            }
        }
        file.expect_all_seen(&[b"FHDB", b"FHIB"]);
    }
}

/// A huge object by the key in its heap ID.
fn huge_object(file: &File, heap: &FractalHeap, key: u64) -> Option<HugeObject> {
    let address = heap.huge_btree_address?;
    let tree = file.expect(BTreeHeader::decode(file.at(address), address, file.sizes));
    let decode = |record: &[u8]| {
        file.expect(HugeRecord::decode(record, address, tree.record_type, file.sizes))
    };
    let mut next = tree.root();
    while let Some(place) = next {
        let node = file.expect(Node::decode(file.at(place.address), &place, &tree));
        let compare = |record| Ok::<_, ()>(key.cmp(&decode(record).key.unwrap()));
        match node.step(compare).unwrap() {
            Step::Found(record) => return Some(decode(record).object),
            Step::Descend(child) => next = Some(child),
            Step::Absent => next = None,
        }
    }
    None
}

/// The object with the heap ID, resolved block by block; `None` where this heap has none.
fn object<'a>(file: &'a File, heap: &FractalHeap, id: &[u8]) -> Option<&'a [u8]> {
    let (offset, byte_len) = match HeapId::decode(id, heap).ok()? {
        HeapId::Managed { offset, byte_len } => (offset, byte_len),
        HeapId::Huge(huge) => {
            return file.at(huge.address).get(..huge.stored_bytes as usize);
        }
        HeapId::HugeKey(key) => {
            let huge = huge_object(file, heap, key)?;
            return file.at(huge.address).get(..huge.stored_bytes as usize);
        }
        HeapId::Tiny(_) => return None,
    };
    let mut block = heap.root()?;
    loop {
        block = match block {
            BlockRef::Direct(block) => {
                return block.object(file.at(block.address), heap, offset, byte_len).ok();
            }
            BlockRef::Indirect(place) => {
                let block = IndirectBlock::decode(file.at(place.address), &place, heap).ok()?;
                block.locate(heap, offset).ok()?
            }
        };
    }
}

/// Takes the name out of a message.
type NameOf = fn(&[u8]) -> Option<&[u8]>;

/// The name in a link message of version 1.
fn link_name(message: &[u8]) -> Option<&[u8]> {
    let flags = *message.get(1)?;
    let optional = [(8, 1), (4, 8), (16, 1)];
    let start: usize =
        2 + optional.iter().map(|(bit, n)| if flags & bit != 0 { *n } else { 0 }).sum::<usize>();
    let width = 1 << (flags & 3);
    let len =
        message.get(start..start + width)?.iter().rev().fold(0, |v, &b| v << 8 | usize::from(b));
    message.get(start + width..start + width + len)
}

/// The name in an attribute message of version 3.
fn attribute_name(message: &[u8]) -> Option<&[u8]> {
    let len = usize::from(u16::from_le_bytes(message.get(2..4)?.try_into().ok()?));
    message.get(9..(9 + len).checked_sub(1)?)
}

#[test]
fn names_hash_as_their_records_say() {
    let mut found = 0;
    for mut file in files() {
        let heaps: Vec<FractalHeap> = file
            .addresses(b"FRHP")
            .into_iter()
            .map(|address| file.expect(FractalHeap::decode(file.at(address), address, file.sizes)))
            .collect();
        for address in file.addresses(b"BTHD") {
            let tree = file.expect(BTreeHeader::decode(file.at(address), address, file.sizes));
            let mut records = Vec::new();
            if let Some(root) = tree.root() {
                walk_tree(&mut file, &tree, root, &mut records);
            }
            for record in &records {
                let (id, hash, name): (_, _, NameOf) = match tree.record_type {
                    LINK_NAME => {
                        let link = file.expect(LinkNameRecord::decode(record, address));
                        (link.heap_id, link.hash, link_name)
                    }
                    ATTRIBUTE_NAME => {
                        let record = AttributeRecord::decode(record, address, ATTRIBUTE_NAME);
                        let record = file.expect(record);
                        (record.heap_id, record.hash.unwrap(), attribute_name)
                    }
                    _ => continue,
                };
                let mut names = heaps.iter().filter_map(|h| object(&file, h, id)).filter_map(name);
                let is_found = names.any(|name| lookup3(name) == hash);
                // To undo a heap's filters is not this crate's part.
                let is_filtered = heaps.iter().any(FractalHeap::is_filtered);
                assert!(is_found || is_filtered, "{}: {id:?}", file.name);
                found += usize::from(is_found);
            }
        }
    }
    assert!(found == 0 || found > 500, "{found}");
}

#[test]
fn fixed_arrays() {
    for mut file in files() {
        for address in file.addresses(b"FAHD") {
            let array = file.expect(FixedArray::decode(file.at(address), address, file.sizes));
            file.expect_same(address, &array.encode(file.sizes));
            let Some(block_address) = array.block_address else { continue };
            file.seen(b"FADB", block_address);
            let bytes = file.at(block_address);
            let block = file.expect(FixedArrayBlock::decode(bytes, block_address, &array));
            let mut chunks = 0;
            for index in 0..array.element_count {
                let elements = match file.expect(block.locate(&array, index)) {
                    FixedArrayPlace::Elements(elements) => elements,
                    FixedArrayPlace::Page(page) => {
                        file.expect(page.decode(file.at(page.address), &array))
                    }
                    FixedArrayPlace::Absent => continue,
                };
                chunks += file.expect_chunk(file.expect(elements.get(index)));
            }
            assert!(chunks > 0, "{}: FAHD at {address}", file.name);
        }
        file.expect_all_seen(&[b"FADB"]);
    }
}

#[test]
fn extensible_arrays() {
    for mut file in files() {
        for address in file.addresses(b"EAHD") {
            let array = file.expect(ExtensibleArray::decode(file.at(address), address, file.sizes));
            file.expect_same(address, &array.encode(file.sizes));
            let Some(index_address) = array.index_block_address else { continue };
            file.seen(b"EAIB", index_address);
            let bytes = file.at(index_address).to_vec();
            let index_block = file.expect(IndexBlock::decode(&bytes, index_address, &array));
            let mut chunks = 0;
            for index in 0..array.element_count {
                let mut place = file.expect(index_block.locate(&array, index));
                if let ExtensiblePlace::SuperBlock(super_place) = place {
                    file.seen(b"EASB", super_place.address);
                    let bytes = file.at(super_place.address);
                    let group = file.expect(SuperBlock::decode(bytes, &super_place, &array));
                    // The bitmap borrows from the file, the place does not.
                    place = match file.expect(group.locate(&array, index)) {
                        ExtensiblePlace::DataBlock(block) => ExtensiblePlace::DataBlock(block),
                        ExtensiblePlace::Page(page) => ExtensiblePlace::Page(page),
                        _ => ExtensiblePlace::Absent,
                    };
                }
                let element = match place {
                    ExtensiblePlace::Elements(elements) => elements.get(index),
                    ExtensiblePlace::DataBlock(block) => {
                        file.seen(b"EADB", block.address);
                        file.expect(block.decode(file.at(block.address), &array)).get(index)
                    }
                    ExtensiblePlace::Page(page) => {
                        file.expect(page.decode(file.at(page.address), &array)).get(index)
                    }
                    ExtensiblePlace::SuperBlock(_) | ExtensiblePlace::Absent => continue,
                };
                chunks += file.expect_chunk(file.expect(element));
            }
            assert!(chunks > 0, "{}: EAHD at {address}", file.name);
        }
        file.expect_all_seen(&[b"EAIB", b"EASB", b"EADB"]);
    }
}

#[test]
fn global_heaps_and_shared_messages() {
    for mut file in files() {
        for address in file.addresses(b"GCOL") {
            let bytes = file.at(address);
            let heap = file.expect(GlobalHeapCollection::decode(bytes, address, file.sizes));
            assert!(heap.indexes().count() > 0, "{}", file.name);
            assert!(heap.indexes().all(|index| heap.object(bytes, index.into()).is_some()));
        }
        for address in file.addresses(b"SMTB") {
            // The count of indexes stands in the superblock extension; the checksum confirms it.
            let decode =
                |count| SharedMessageTable::decode(file.at(address), address, file.sizes, count);
            let table = (1..=8).find_map(|count| decode(count).ok()).unwrap();
            for index in table.indexes.iter().filter(|index| index.kind == IndexKind::List) {
                let Some(list) = index.index_address else { continue };
                let bytes = file.at(list);
                let count = index.message_count;
                let records =
                    file.expect(SharedMessageList::decode(bytes, list, file.sizes, count));
                assert_eq!(records.records.len(), usize::from(count));
                file.seen(b"SMLI", list);
            }
        }
        file.expect_all_seen(&[b"SMLI"]);
    }
}

/// Feeds `decode` as the engine does, from no bytes on; returns how many it needed.
fn needed_bytes(bytes: &[u8], decode: &dyn Fn(&[u8]) -> Result<()>) -> usize {
    let mut len = 0;
    loop {
        match decode(&bytes[..len]) {
            Ok(()) => return len,
            Err(error) => match error.kind {
                ErrorKind::NeedMore { bytes } if bytes as usize > len => len = bytes as usize,
                other => panic!("{other}"),
            },
        }
    }
}

/// Truncations ask for more, and no damage panics: with the checksum made to fit, too.
fn survive(bytes: &[u8], is_sealed: bool, decode: &dyn Fn(&[u8]) -> Result<()>) {
    let valid = &bytes[..needed_bytes(bytes, decode)];
    let stride = valid.len() / 1024 + 1;
    for len in (0..valid.len()).step_by(stride) {
        assert!(decode(&valid[..len]).unwrap_err().is_need_more());
    }
    let mut damaged = valid.to_vec();
    for place in (0..valid.len()).step_by(stride) {
        for byte in (0..8).map(|bit| valid[place] ^ 1 << bit).chain([0, 0x7f, 0xff]) {
            damaged[place] = byte;
            let result = decode(&damaged);
            if is_sealed {
                assert!(byte == valid[place] || result.is_err());
                let end = damaged.len() - 4;
                let checksum = lookup3(&damaged[..end]);
                damaged[end..].copy_from_slice(&checksum.to_le_bytes());
                // What it says does not matter, only that it says it.
                let _ = decode(&damaged);
                damaged[end..].copy_from_slice(&valid[end..]);
            }
        }
        damaged[place] = valid[place];
    }
}

/// Offsets and indexes that find every edge of the arithmetic.
fn edges() -> impl Iterator<Item = u64> {
    (0..64).flat_map(|bits| [1_u64 << bits, (1 << bits) - 1]).chain([u64::MAX])
}

#[test]
fn damaged_groups_and_heaps() {
    for file in files() {
        let sizes = file.sizes;
        let try_all = |signature, is_sealed, decode: &dyn Fn(&[u8], u64) -> Result<()>| {
            for address in file.addresses(signature).into_iter().take(2) {
                survive(file.at(address), is_sealed, &|bytes| decode(bytes, address));
            }
        };
        try_all(b"HEAP", false, &|b, a| LocalHeap::decode(b, a, sizes).map(drop));
        try_all(b"SNOD", false, &|b, a| SymbolTableNode::decode(b, a, sizes).map(drop));
        try_all(b"GCOL", false, &|b, a| GlobalHeapCollection::decode(b, a, sizes).map(drop));
        try_all(b"FRHP", true, &|b, a| {
            let heap = FractalHeap::decode(b, a, sizes)?;
            for id in [[0; 32], [0x10; 32], [0x20; 32], [0x0f; 32], [0x2f; 32]] {
                let _ = HeapId::decode(&id, &heap);
            }
            for offset in edges() {
                let place = heap.table.locate(offset);
                assert!(place.block_offset <= offset && place.column < heap.table.width());
            }
            if let Some(BlockRef::Indirect(place)) = heap.root() {
                let block = IndirectBlock::decode(file.at(place.address), &place, &heap);
                if let Ok(block) = block {
                    let _ = block.children(&heap);
                    edges().for_each(|offset| drop(block.locate(&heap, offset)));
                }
            }
            Ok(())
        });
    }
}

#[test]
fn damaged_trees_and_arrays() {
    for file in files() {
        let sizes = file.sizes;
        let try_all = |signature, decode: &dyn Fn(&[u8], u64) -> Result<()>| {
            for address in file.addresses(signature).into_iter().take(2) {
                survive(file.at(address), true, &|bytes| decode(bytes, address));
            }
        };
        try_all(b"BTHD", &|b, a| {
            let tree = BTreeHeader::decode(b, a, sizes)?;
            if let Some(root) = tree.root() {
                let _ = Node::decode(file.at(root.address), &root, &tree);
            }
            Ok(())
        });
        try_all(b"FAHD", &|b, a| {
            let array = FixedArray::decode(b, a, sizes)?;
            let Some(address) = array.block_address else { return Ok(()) };
            if let Ok(block) = FixedArrayBlock::decode(file.at(address), address, &array) {
                edges().for_each(|index| drop(block.locate(&array, index)));
            }
            Ok(())
        });
        try_all(b"EAHD", &|b, a| {
            let array = ExtensibleArray::decode(b, a, sizes)?;
            let Some(address) = array.index_block_address else { return Ok(()) };
            let Ok(block) = IndexBlock::decode(file.at(address), address, &array) else {
                return Ok(());
            };
            for index in edges() {
                if let Ok(ExtensiblePlace::SuperBlock(place)) = block.locate(&array, index) {
                    let group = SuperBlock::decode(file.at(place.address), &place, &array);
                    let _ = group.and_then(|group| group.locate(&array, index).map(drop));
                }
            }
            Ok(())
        });
    }
}

#[test]
fn damaged_nodes_and_blocks() {
    for file in files() {
        for address in file.addresses(b"BTHD").into_iter().take(3) {
            let tree = file.expect(BTreeHeader::decode(file.at(address), address, file.sizes));
            if let Some(root) = tree.root() {
                survive(file.at(root.address), true, &|b| Node::decode(b, &root, &tree).map(drop));
            }
        }
        for address in file.addresses(b"FRHP") {
            let heap = file.expect(FractalHeap::decode(file.at(address), address, file.sizes));
            if let Some(BlockRef::Indirect(place)) = heap.root() {
                survive(file.at(place.address), true, &|bytes| {
                    IndirectBlock::decode(bytes, &place, &heap).and_then(|b| b.children(&heap))?;
                    Ok(())
                });
            }
        }
        for address in file.addresses(b"TREE").into_iter().take(3) {
            let decode = |bytes: &[u8]| match file.at(address)[4] {
                0 => GroupNode::decode(bytes, address, file.sizes).map(drop),
                _ => ChunkNode::decode(bytes, address, file.sizes, 2).map(drop),
            };
            survive(file.at(address), false, &decode);
        }
    }
}
