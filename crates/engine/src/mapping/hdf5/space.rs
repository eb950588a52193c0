//! Which bytes of the file an object's structures take, beside its header: what a writer gives back
//! when it has made them anew.

use isotach_format::hdf5::btree::v1::GroupNode;
use isotach_format::hdf5::btree::v2::{BTreeHeader, Node as BTreeNode};
use isotach_format::hdf5::btree::v2_record::HugeRecord;
use isotach_format::hdf5::chunk_index::extensible_array::ExtensibleArray;
use isotach_format::hdf5::chunk_index::extensible_block::{IndexBlock, SuperBlock};
use isotach_format::hdf5::chunk_index::fixed_array::FixedArray;
use isotach_format::hdf5::group::symbol_table_node::SymbolTableNode;
use isotach_format::hdf5::heap::fractal::{BlockRef, FractalHeap};
use isotach_format::hdf5::heap::fractal_block::IndirectBlock;
use isotach_format::hdf5::heap::free_space::FreeSpaceManager;
use isotach_format::hdf5::heap::local::LocalHeap;
use isotach_format::hdf5::message::layout::ChunkIndex;
use isotach_format::hdf5::message::{AttributeInfo, Layout, LinkInfo, SymbolTable};
use isotach_format::hdf5::superblock::BtreeK;

use super::context::{Context, WalkBudget};
use super::{Dataset, Group, Node};
use crate::error::{Error, Result};

/// First guess at the bytes of any structure.
const GUESS: u64 = 512;

/// Address and bytes of pieces of the file.
pub(crate) type Pieces = Vec<(u64, u64)>;

impl Group {
    /// What its links take: a symbol table, or a heap with its trees.
    pub(crate) fn link_space(&self, btree_k: BtreeK) -> Result<Pieces> {
        let mut walk = Walk::new(self.context());
        walk.links(self, btree_k)?;
        Ok(walk.finish())
    }
}

impl Node {
    /// What its attributes take that are not in its header.
    pub(crate) fn attribute_space(&self) -> Result<Pieces> {
        let mut walk = Walk::new(&self.inner.context);
        walk.attributes(self)?;
        Ok(walk.finish())
    }
}

impl Dataset {
    /// What the index of its chunks takes, but for version-1 B-trees.
    pub(crate) fn index_space(&self) -> Result<Pieces> {
        let mut walk = Walk::new(&self.node().inner.context);
        if let Layout::Chunked(layout) = &**self.layout()?
            && let Some(address) = layout.address
        {
            walk.chunk_index(layout.index, address)?;
        }
        Ok(walk.finish())
    }
}

/// Gathers the pieces of structures.
pub(super) struct Walk<'c> {
    pub(super) context: &'c Context,
    budget: WalkBudget,
    pieces: Pieces,
    /// Where there are as many pieces, those that touch are made one.
    most_pieces: usize,
    /// The first error of this walk's own: pieces that cannot be all there.
    fault: Option<Error>,
}

/// Pieces that are gathered before they are looked at for the first time.
const PIECES: usize = 1 << 16;

impl<'c> Walk<'c> {
    pub(super) fn new(context: &'c Context) -> Self {
        let budget = WalkBudget::new(context);
        Self { context, budget, pieces: Vec::new(), most_pieces: PIECES, fault: None }
    }

    /// All pieces; none where they lie over each other or beyond the file's end, as those of a broken
    /// file may.
    fn finish(self) -> Pieces {
        self.try_finish().unwrap_or_default()
    }

    /// All pieces in their order, those that touch as one.
    ///
    /// # Errors
    /// They lie over each other or beyond the file's end.
    pub(super) fn try_finish(mut self) -> Result<Pieces> {
        self.fault.take().map_or(Ok(()), Err)?;
        self.join()?;
        Ok(self.pieces)
    }

    /// Makes one of those that touch.
    fn join(&mut self) -> Result<()> {
        let mut end = 0;
        self.pieces.sort_unstable();
        for &(address, len) in &self.pieces {
            match address.checked_add(len) {
                Some(behind) if address >= end && behind <= self.context.len() => end = behind,
                _ => {
                    let (structure, field) =
                        ("piece of the file", "length, into another piece or beyond the end,");
                    return Err(self.context.bad_field(structure, address, field, len));
                }
            }
        }
        self.pieces.dedup_by(|next, before| {
            let touches = before.0 + before.1 == next.0;
            before.1 += if touches { next.1 } else { 0 };
            touches
        });
        self.most_pieces = PIECES.max(2 * self.pieces.len());
        Ok(())
    }

    pub(super) fn add(&mut self, structure: &'static str, address: u64, len: u64) -> Result<()> {
        let added = self.try_add(structure, address, len);
        if let (Err(error), None) = (&added, &self.fault) {
            self.fault = Some(error.clone());
        }
        added
    }

    fn try_add(&mut self, structure: &'static str, address: u64, len: u64) -> Result<()> {
        self.budget.spend(self.context, len.max(1), structure, address)?;
        if len > 0 {
            self.pieces.push((address, len));
        }
        if self.pieces.len() < self.most_pieces { Ok(()) } else { self.join() }
    }

    /// What the links of a group take: a symbol table, or a heap with its trees.
    pub(super) fn links(&mut self, group: &Group, btree_k: BtreeK) -> Result<()> {
        let header = group.node().header();
        if let Some(info) = header.message::<LinkInfo>(self.context)? {
            let trees = [info.name_index_address, info.creation_order_index_address];
            self.dense(info.heap_address, trees)
        } else if let Some(table) = header.message::<SymbolTable>(self.context)? {
            self.symbol_table(&table, btree_k)
        } else {
            Ok(())
        }
    }

    /// What the attributes of an object take that are not in its header.
    pub(super) fn attributes(&mut self, node: &Node) -> Result<()> {
        let Some(info) = node.header().message::<AttributeInfo>(self.context)? else {
            return Ok(());
        };
        let trees = [info.name_index_address, info.creation_order_index_address];
        self.dense(info.heap_address, trees)
    }

    /// A heap and the trees of what is in it.
    fn dense(&mut self, heap: Option<u64>, trees: [Option<u64>; 2]) -> Result<()> {
        heap.map_or(Ok(()), |heap| self.heap(heap))?;
        trees.into_iter().flatten().try_for_each(|tree| self.tree(tree).map(drop))
    }

    fn heap(&mut self, address: u64) -> Result<()> {
        let (context, sizes) = (self.context, self.context.sizes());
        let heap = context
            .structure(address, GUESS, |bytes| FractalHeap::decode(bytes, address, sizes))?;
        self.add("fractal heap", address, heap.header_bytes() as u64)?;
        let mut waiting: Vec<BlockRef> = heap.root().into_iter().collect();
        while let Some(block) = waiting.pop() {
            match block {
                BlockRef::Direct(place) => {
                    self.add("fractal heap direct block", place.address, place.stored_bytes())?;
                }
                BlockRef::Indirect(place) => {
                    let block = context.structure(place.address, GUESS, |bytes| {
                        IndirectBlock::decode(bytes, &place, &heap)
                    })?;
                    let len = IndirectBlock::byte_len(place.rows, &heap) as u64;
                    self.add("fractal heap indirect block", place.address, len)?;
                    let children = block.children(&heap);
                    waiting.extend(children.map_err(|error| context.structure_error(error))?);
                }
            }
        }
        heap.huge_btree_address.map_or(Ok(()), |tree| self.huge_objects(tree))?;
        heap.space.manager_address.map_or(Ok(()), |manager| self.free_space(manager))
    }

    fn huge_objects(&mut self, tree: u64) -> Result<()> {
        let sizes = self.context.sizes();
        let (header, records) = self.tree(tree)?;
        for record in records {
            let record = HugeRecord::decode(&record, header.address, header.record_type, sizes)
                .map_err(|error| self.context.structure_error(error))?;
            self.add("huge object", record.object.address, record.object.stored_bytes)?;
        }
        Ok(())
    }

    fn free_space(&mut self, address: u64) -> Result<()> {
        let sizes = self.context.sizes();
        let manager = self
            .context
            .structure(address, GUESS, |bytes| FreeSpaceManager::decode(bytes, address, sizes))?;
        self.add("free-space manager", address, FreeSpaceManager::byte_len(sizes) as u64)?;
        let (list, len) = manager.sections.unwrap_or_default();
        if len == 0 { Ok(()) } else { self.add("free-space sections", list, len) }
    }

    /// A version-2 B-tree: its header and its records.
    fn tree(&mut self, address: u64) -> Result<(BTreeHeader, Vec<Vec<u8>>)> {
        let (context, sizes) = (self.context, self.context.sizes());
        let header = context
            .structure(address, GUESS, |bytes| BTreeHeader::decode(bytes, address, sizes))?;
        self.add("version 2 B-tree", address, BTreeHeader::byte_len(sizes) as u64)?;
        let mut records = Vec::new();
        let mut waiting: Vec<_> = header.root().into_iter().collect();
        while let Some(place) = waiting.pop() {
            let bytes = context.fetch(place.address, header.node_bytes)?;
            let node = BTreeNode::decode(&bytes, &place, &header)
                .map_err(|error| context.structure_error(error))?;
            self.add("version 2 B-tree node", place.address, header.node_bytes)?;
            records.extend(node.records().map(<[u8]>::to_vec));
            waiting.extend_from_slice(node.children());
        }
        Ok((header, records))
    }

    fn symbol_table(&mut self, table: &SymbolTable, btree_k: BtreeK) -> Result<()> {
        let (context, sizes) = (self.context, self.context.sizes());
        let address = table.heap_address;
        let heap =
            context.structure(address, GUESS, |bytes| LocalHeap::decode(bytes, address, sizes))?;
        self.add("local heap", address, LocalHeap::byte_len(sizes) as u64)?;
        self.add("local heap's segment", heap.segment_address, heap.segment_bytes)?;
        let node_bytes = GroupNode::byte_len(btree_k.group_internal, sizes) as u64;
        let leaf_bytes = SymbolTableNode::byte_len(btree_k.group_leaf, sizes) as u64;
        let mut waiting = vec![table.btree_address];
        while let Some(address) = waiting.pop() {
            let node = context
                .structure(address, GUESS, |bytes| GroupNode::decode(bytes, address, sizes))?;
            self.add("version 1 B-tree node", address, node_bytes)?;
            match node.header.level {
                0 => node
                    .children
                    .iter()
                    .try_for_each(|&leaf| self.add("symbol table node", leaf, leaf_bytes))?,
                _ => waiting.extend_from_slice(&node.children),
            }
        }
        Ok(())
    }

    /// What an index of chunks takes, but for version-1 B-trees.
    pub(super) fn chunk_index(&mut self, index: ChunkIndex, address: u64) -> Result<()> {
        match index {
            ChunkIndex::FixedArray { .. } => self.fixed_array(address),
            ChunkIndex::ExtensibleArray(_) => self.extensible_array(address),
            ChunkIndex::BtreeV2 { .. } => self.tree(address).map(drop),
            ChunkIndex::BtreeV1 | ChunkIndex::Single { .. } | ChunkIndex::Implicit => Ok(()),
        }
    }

    fn fixed_array(&mut self, address: u64) -> Result<()> {
        let sizes = self.context.sizes();
        let array = self
            .context
            .structure(address, GUESS, |bytes| FixedArray::decode(bytes, address, sizes))?;
        self.add("fixed array header", address, FixedArray::byte_len(sizes) as u64)?;
        let block = array.block_address;
        block.map_or(Ok(()), |block| self.add("fixed array data block", block, array.block_bytes()))
    }

    fn extensible_array(&mut self, address: u64) -> Result<()> {
        let (context, sizes) = (self.context, self.context.sizes());
        let array = context
            .structure(address, GUESS, |bytes| ExtensibleArray::decode(bytes, address, sizes))?;
        self.add("extensible array header", address, ExtensibleArray::byte_len(sizes) as u64)?;
        let Some(address) = array.index_block_address else { return Ok(()) };
        let len = IndexBlock::byte_len(&array);
        self.add("extensible array index block", address, len)?;
        let (mut data_blocks, super_blocks) = context.structure(address, GUESS, |bytes| {
            let block = IndexBlock::decode(bytes, address, &array)?;
            Ok((block.data_blocks(&array), block.super_blocks(&array)))
        })?;
        for place in super_blocks {
            self.add("extensible array super block", place.address, place.byte_len(&array))?;
            data_blocks.extend(context.structure(place.address, GUESS, |bytes| {
                Ok(SuperBlock::decode(bytes, &place, &array)?.data_blocks(&array))
            })?);
        }
        let mut data_blocks = data_blocks.into_iter();
        data_blocks
            .try_for_each(|(address, len)| self.add("extensible array data block", address, len))
    }
}
