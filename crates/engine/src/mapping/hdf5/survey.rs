//! Which bytes of the file something is in: the rest is what a writer may use.
//!
//! ```text
//! superblock, its extension
//! objects that hard links and shared messages lead to -> header, links, attributes
//!     data sets -> values or chunks and their index -> references into the global heap
//! global heap collections that anything refers to
//! ```
//! Nothing that the format has is passed over: where a structure is not among these, cannot be read,
//! or lies over another one, the survey fails, and all of the file counts as used.

use std::collections::{BTreeSet, HashSet};

use isotach_format::hdf5::btree::v1::ChunkNode;
use isotach_format::hdf5::heap::global::GlobalHeapCollection;
use isotach_format::hdf5::heap::local::LocalHeap;
use isotach_format::hdf5::message::file_space_info::FileSpaceInfo;
use isotach_format::hdf5::message::layout::{ChunkIndex, ChunkedLayout};
use isotach_format::hdf5::message::{
    Datatype, ExternalFileList, Layout, MessageType, SharedReference,
};
use isotach_format::hdf5::superblock::BtreeK;

use isotach_model::shape;

use super::array::all_chunks;
use super::header::Header;
use super::heap_references::HeapReferences;
use super::space::{Pieces, Walk};
use super::{Dataset, LinkTarget, Node, Object, Objects};
use crate::error::{Error, Result};
use crate::fault::Readable;
use crate::plan::layout::Placement;
use crate::read::for_each_piece;

/// The strategy that gives whole pages to structures or to values.
const PAGES: u8 = 1;

/// See [`Objects::used_space`].
pub(super) fn used_space(objects: &Objects) -> Result<Pieces> {
    let mut survey = Survey::new(objects)?;
    survey.superblock()?;
    survey.lead_to(objects.root().node().address());
    while let Some(address) = survey.waiting.pop() {
        survey.object(address)?;
    }
    survey.heap()?;
    survey.walk.try_finish()
}

/// See [`Objects::check_apart`].
pub(super) fn check_apart(objects: &Objects) -> Result<()> {
    let mut survey = Survey::new(objects)?;
    survey.passes_over = true;
    survey.superblock().readable()?;
    survey.lead_to(objects.root().node().address());
    while let Some(address) = survey.waiting.pop() {
        survey.structures(address)?;
    }
    survey.walk.try_finish().map(drop)
}

struct Survey<'o> {
    objects: &'o Objects,
    walk: Walk<'o>,
    btree_k: BtreeK,
    /// Objects that something leads to, and those of them that were not looked at.
    seen: HashSet<u64>,
    waiting: Vec<u64>,
    /// Global heap collections that something refers to.
    collections: BTreeSet<u64>,
    /// Whether values that are not in the file are none of its.
    passes_over: bool,
}

impl<'o> Survey<'o> {
    fn new(objects: &'o Objects) -> Result<Self> {
        Ok(Self {
            objects,
            walk: Walk::new(&objects.context),
            btree_k: objects.btree_k()?,
            seen: HashSet::new(),
            waiting: Vec::new(),
            collections: BTreeSet::new(),
            passes_over: false,
        })
    }

    fn superblock(&mut self) -> Result<()> {
        let superblock = self.objects.superblock();
        let encoded = superblock.encode();
        let encoded = encoded.map_err(|error| self.walk.context.structure_error(error))?;
        self.walk.add("superblock", 0, encoded.len() as u64)?;
        // Another writer has not closed the file. Before version 3 the flags mean nothing.
        if superblock.version > 2 && superblock.status_flags != 0 {
            return Err(self.unknown("consistency flags", superblock.status_flags.into()));
        }
        if let Some(address) = superblock.free_space_address {
            return Err(self.unknown("free-space information at", address));
        }
        let Some(address) = superblock.extension_address else { return Ok(()) };
        let extension = Header::read(self.walk.context, address)?;
        self.blocks(&extension)?;
        for message in extension.messages() {
            match message.message_type {
                MessageType::NULL | MessageType::CONTINUATION | MessageType::BTREE_K => {}
                MessageType::FILE_SPACE_INFO => {
                    let info = message.decode_own::<FileSpaceInfo>(self.walk.context.sizes());
                    let info = info.map_err(|error| self.walk.context.structure_error(error))?;
                    let has_pages = info.version > 0 && info.strategy == PAGES;
                    if has_pages || !info.manager_addresses.is_empty() {
                        return Err(self.unknown("file space strategy", info.strategy.into()));
                    }
                }
                other => return Err(self.unknown("message in the extension", other.0.into())),
            }
        }
        Ok(())
    }

    /// Has an object be looked at.
    fn lead_to(&mut self, address: u64) {
        if self.seen.insert(address) {
            self.waiting.push(address);
        }
    }

    fn object(&mut self, address: u64) -> Result<()> {
        let context = &self.objects.context;
        let object = Object::open(context, address, "".into())?;
        let node = match &object {
            Object::Unknown(unknown) => return Err(unknown.error.clone()),
            Object::Group(group) => {
                self.walk.links(group, self.btree_k)?;
                if let Some(error) = group.link_errors()?.first() {
                    return Err(error.clone());
                }
                for link in group.links()?.iter() {
                    if let LinkTarget::Hard { address } = link.target {
                        self.lead_to(address);
                    }
                }
                group.node()
            }
            Object::Dataset(dataset) => {
                self.values(dataset)?;
                dataset.node()
            }
            Object::Datatype(datatype) => datatype.node(),
        };
        self.blocks(node.header())?;
        self.messages(node.header())?;
        self.attributes(node)
    }

    /// What of an object is looked at whenever a file is opened for writing. What cannot be read is passed over.
    fn structures(&mut self, address: u64) -> Result<()> {
        let context = &self.objects.context;
        let Some(object) = Object::open(context, address, "".into()).readable()? else {
            return Ok(());
        };
        let Some(node) = object.node() else { return Ok(()) };
        match &object {
            Object::Group(group) => {
                self.walk.links(group, self.btree_k).readable()?;
                for link in group.links().readable()?.iter().flat_map(|links| links.iter()) {
                    if let LinkTarget::Hard { address } = link.target {
                        self.lead_to(address);
                    }
                }
            }
            Object::Dataset(dataset) => self.places(dataset).readable().map(drop)?,
            Object::Datatype(_) | Object::Unknown(_) => {}
        }
        self.blocks(node.header())?;
        self.walk.attributes(node).readable().map(drop)
    }

    /// Where a data set's values are, and the index that leads to them.
    fn places(&mut self, dataset: &Dataset) -> Result<()> {
        match &**dataset.layout()? {
            Layout::Contiguous { address: Some(address), .. } => {
                let layout = &dataset.array()?.layout;
                let read = shape::byte_count(&layout.shape, layout.element_size);
                let read = read.map_or(u64::MAX, |bytes| bytes as u64);
                self.add_values("values", *address, read.max(dataset.storage_size()?))
            }
            Layout::Chunked(layout) => self.chunks(dataset, layout),
            _ => Ok(()),
        }
    }

    fn add_values(&mut self, structure: &'static str, address: u64, bytes: u64) -> Result<()> {
        let is_there = |end| end <= self.walk.context.len();
        if self.passes_over && !address.checked_add(bytes).is_some_and(is_there) {
            return Ok(());
        }
        self.walk.add(structure, address, bytes)
    }

    /// The blocks of a header.
    fn blocks(&mut self, header: &Header) -> Result<()> {
        let header = header.format();
        self.walk.add("object header", header.address, header.first_block_bytes())?;
        header.continuations().iter().try_for_each(|block| {
            self.walk.add("object header's continuation", block.address, block.len_bytes)
        })
    }

    /// What the messages of an object lead to, but for those that are followed by their kind.
    fn messages(&mut self, header: &Header) -> Result<()> {
        let context = self.walk.context;
        for message in header.messages() {
            let kind = message.message_type;
            if kind.name().is_none() || kind == MessageType::BOGUS {
                return Err(self.unknown("message of an object", kind.0.into()));
            }
            if !message.flags.is_shared() {
                continue;
            }
            let reference =
                SharedReference::decode(message.bytes(), message.address, context.sizes());
            match reference.map_err(|error| context.structure_error(error))? {
                SharedReference::Object(address) => self.lead_to(address),
                SharedReference::Heap(_) => {
                    return Err(self.unknown("shared message", kind.0.into()));
                }
            }
        }
        Ok(())
    }

    fn attributes(&mut self, node: &Node) -> Result<()> {
        self.walk.attributes(node)?;
        let all = node.attributes()?;
        if let Some(error) = all.errors.first() {
            return Err(error.clone());
        }
        for attribute in all.iter() {
            attribute.committed_datatype().into_iter().for_each(|address| self.lead_to(address));
            let references = self.references_in(attribute.datatype())?;
            if !references.is_empty() {
                self.collections.extend(references.collections(attribute.data()));
            }
        }
        Ok(())
    }

    fn values(&mut self, dataset: &Dataset) -> Result<()> {
        let context = self.walk.context;
        let references = self.references_in(dataset.datatype()?)?;
        if let Some(fill) = dataset.fill()?.value {
            self.collections.extend(references.collections(&fill));
        }
        match &**dataset.layout()? {
            Layout::Contiguous { address: Some(address), .. } => {
                self.walk.add("values", *address, dataset.storage_size()?)?;
            }
            Layout::Compact(_) | Layout::Contiguous { address: None, .. } => {}
            Layout::Chunked(layout) => self.chunks(dataset, layout)?,
            Layout::Virtual { heap_address, .. } => self.collections.extend(heap_address),
        }
        self.refer(dataset, &references)?;
        if let Some(list) = dataset.node().header().message::<ExternalFileList>(context)? {
            let (address, sizes) = (list.heap_address, context.sizes());
            let heap =
                context.structure(address, 32, |bytes| LocalHeap::decode(bytes, address, sizes))?;
            self.walk.add("local heap", address, LocalHeap::byte_len(sizes) as u64)?;
            self.walk.add("local heap's segment", heap.segment_address, heap.segment_bytes)?;
        }
        Ok(())
    }

    fn chunks(&mut self, dataset: &Dataset, layout: &ChunkedLayout) -> Result<()> {
        let Some(address) = layout.address else { return Ok(()) };
        match layout.index {
            ChunkIndex::BtreeV1 => self.chunk_tree(address, layout.chunk_shape.len())?,
            // Room for all chunks there can be.
            ChunkIndex::Implicit => {
                let size = u64::from(dataset.datatype()?.size());
                let mut axes = dataset.dimensions()?.iter().zip(&layout.chunk_shape);
                let bytes = axes.try_fold(size, |bytes, (axis, &chunk)| {
                    let whole = axis.max?.div_ceil(chunk).checked_mul(chunk)?;
                    bytes.checked_mul(whole)
                });
                let bytes =
                    bytes.ok_or_else(|| self.unknown("implicit chunk index at", address))?;
                self.add_values("chunks", address, bytes)?;
            }
            index => self.walk.chunk_index(index, address)?,
        }
        if layout.index == ChunkIndex::Implicit {
            return Ok(());
        }
        let base = self.objects.user_block_bytes();
        all_chunks(dataset, layout)?.for_each(&mut |_, place| {
            self.add_values("chunk", place.address.saturating_sub(base), place.stored_bytes)
        })
    }

    /// The nodes of a version-1 B-tree of chunks.
    fn chunk_tree(&mut self, root: u64, rank: usize) -> Result<()> {
        let (context, sizes) = (self.walk.context, self.walk.context.sizes());
        let node_bytes = ChunkNode::byte_len(self.btree_k.indexed_storage, rank, sizes) as u64;
        let mut waiting = vec![root];
        while let Some(address) = waiting.pop() {
            self.walk.add("version 1 B-tree node", address, node_bytes)?;
            let node = context.structure(address, node_bytes, |bytes| {
                ChunkNode::decode(bytes, address, sizes, rank)
            })?;
            if node.header.level > 0 {
                waiting.extend(node.entries().iter().filter_map(|entry| entry.address));
            }
        }
        Ok(())
    }

    /// Where elements of a type have addresses of global heap collections.
    fn references_in(&self, datatype: &Datatype) -> Result<HeapReferences> {
        let found = HeapReferences::of(datatype, self.walk.context.sizes());
        found.ok_or_else(|| self.unknown("references in elements of bytes", datatype.size().into()))
    }

    /// Takes note of the collections that the elements of a data set refer to.
    fn refer(&mut self, dataset: &Dataset, references: &HeapReferences) -> Result<()> {
        if references.is_empty() {
            return Ok(());
        }
        let mut layout = dataset.array()?.layout.clone();
        if let (Placement::Chunked(chunked), Layout::Chunked(message)) =
            (&mut layout.placement, &**dataset.layout()?)
        {
            chunked.index = all_chunks(dataset, message)?;
        }
        for_each_piece(&layout, &mut |elements| {
            self.collections.extend(references.collections(elements));
        })
    }

    fn heap(&mut self) -> Result<()> {
        let (context, sizes) = (self.walk.context, self.walk.context.sizes());
        for address in std::mem::take(&mut self.collections) {
            let len = context.structure(address, 16, |bytes| {
                GlobalHeapCollection::decode_byte_len(bytes, address, sizes)
            })?;
            self.walk.add("global heap collection", address, len)?;
        }
        Ok(())
    }

    /// The error that it is not told what something in the file takes.
    fn unknown(&self, feature: &'static str, value: u64) -> Error {
        let kind = isotach_format::ErrorKind::Unsupported { feature, value };
        let structure = "free space";
        self.walk.context.structure_error(isotach_format::Error { structure, address: 0, kind })
    }
}
