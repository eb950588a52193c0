//! Groups: their links in all three forms of storage, listed or found by name.
//!
//! ```text
//! symbol table: B-tree v1 (keys: names in the local heap) -> symbol table nodes -> links
//! compact:      link messages in the group's header
//! dense:        B-tree v2 (keys: hashes of names) -> link messages in the fractal heap
//! ```
//! A link is found by name with one descent; only listing reads them all.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use isotach_format::checksum::lookup3;
use isotach_format::hdf5::btree::v1::GroupNode;
use isotach_format::hdf5::btree::v2_record::{self, LinkCreationOrderRecord, LinkNameRecord};
use isotach_format::hdf5::group::symbol_table_entry::{EntryCache, SymbolTableEntry};
use isotach_format::hdf5::group::symbol_table_node::SymbolTableNode;
use isotach_format::hdf5::heap::local::LocalHeap;
use isotach_format::hdf5::message::{self, LinkInfo, Message, MessageType, SymbolTable};
use isotach_format::hdf5::object_header::USUAL_BYTES;

use super::btree2::BTree2;
use super::context::{Context, WalkBudget};
use super::fractal_heap::{FractalHeap, HeapWalk};
use super::link::{Link, LinkTarget};
use super::node::Node;
use crate::error::{Error, Result};
use crate::fault::Readable;
use crate::mapping::once::Once;
use crate::storage::MetadataBytes;

/// Bytes of the usual symbol table node and B-tree node, with the default K.
const SYMBOL_NODE_BYTES: u64 = 328;
const GROUP_NODE_BYTES: u64 = 544;

/// A group. Cheap to clone.
#[derive(Clone)]
pub struct Group {
    inner: Arc<Inner>,
}

struct Inner {
    node: Node,
    storage: Once<Storage>,
    links: Once<Links>,
}

/// Where a group keeps its links.
enum Storage {
    SymbolTable {
        btree_address: u64,
        names: Names,
    },
    Compact {
        tracks_creation_order: bool,
    },
    Dense {
        heap: Arc<FractalHeap>,
        by_name: BTree2,
        by_creation_order: Option<u64>,
        tracks_creation_order: bool,
    },
}

/// The local heap of a symbol table.
struct Names {
    heap: LocalHeap,
    segment: MetadataBytes,
}

/// All links of a group.
#[derive(Clone)]
struct Links {
    /// In the order of their names' bytes.
    by_name: Arc<[Link]>,
    errors: Arc<[Error]>,
}

impl Group {
    pub(super) fn new(node: Node) -> Self {
        let (storage, links) = (Once::new(), Once::new());
        Self { inner: Arc::new(Inner { node, storage, links }) }
    }

    /// What every object has: address, path, attributes.
    pub fn node(&self) -> &Node {
        &self.inner.node
    }

    /// All links in the order of their names' bytes; read on first use, then kept.
    ///
    /// # Errors
    /// Storage failed, or the structures that hold the links cannot be read at all. Where some can be read,
    /// what is damaged or not supported is in [`Group::link_errors`].
    pub fn links(&self) -> Result<Arc<[Link]>> {
        self.all_links().map(|links| Arc::clone(&links.by_name))
    }

    /// All links in order of creation where the group tracks that, else by name: libhdf5's order
    /// of iteration as netCDF asks for it.
    pub fn links_by_creation_order(&self) -> Result<Arc<[Link]>> {
        let links = self.links()?;
        if !self.tracks_creation_order()? {
            return Ok(links);
        }
        let mut ordered = links.to_vec();
        ordered.sort_by_key(|link| link.creation_order);
        Ok(ordered.into())
    }

    /// Says to storage that the objects will be opened to which `links` lead: headers that lie
    /// together are read together where calls are costly.
    pub(in crate::mapping) fn expect_targets(&self, links: &[Link]) {
        let addresses = links.iter().filter_map(|link| match link.target {
            LinkTarget::Hard { address } => Some((address, USUAL_BYTES as u64)),
            _ => None,
        });
        self.context().expect(addresses);
    }

    /// Whether several threads find its objects sooner than one.
    pub(in crate::mapping) fn is_read_in_parallel(&self) -> bool {
        let context = self.context();
        !context.is_costly() && context.storage.parallel()
    }

    /// The first links in the order of creation, about `count`, where the file has an index of
    /// that order, so that the others are not read; else all links.
    pub fn oldest_links(&self, count: usize) -> Result<Vec<Link>> {
        if let (None, Storage::Dense { heap, by_creation_order: Some(tree), .. }) =
            (self.inner.links.found(), self.storage()?)
        {
            let read = oldest_dense_links(self.context(), heap, *tree, count);
            return read.map_err(|error| self.error_at(error));
        }
        Ok(self.links_by_creation_order()?.to_vec())
    }

    /// Why some links are missing from the lists.
    pub fn link_errors(&self) -> Result<Arc<[Error]>> {
        self.all_links().map(|links| Arc::clone(&links.errors))
    }

    /// Whether the group knows the order in which its links were created.
    pub fn tracks_creation_order(&self) -> Result<bool> {
        Ok(match self.storage()? {
            Storage::SymbolTable { .. } => false,
            Storage::Compact { tracks_creation_order }
            | Storage::Dense { tracks_creation_order, .. } => *tracks_creation_order,
        })
    }

    /// The link `name`; found without reading all names. `None` where there is none.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        self.link_by_bytes(name.as_bytes())
    }

    /// The link whose name has these bytes.
    pub fn link_by_bytes(&self, name: &[u8]) -> Result<Option<Link>> {
        if let Some(links) = self.inner.links.found() {
            let found = links.by_name.binary_search_by(|link| link.name_bytes().cmp(name));
            return Ok(found.ok().map(|index| links.by_name[index].clone()));
        }
        let context = self.context();
        let found = match self.storage()? {
            Storage::SymbolTable { btree_address, names } => {
                names.find(context, *btree_address, name)
            }
            Storage::Compact { .. } => self.find_compact(name),
            Storage::Dense { heap, by_name, .. } => find_dense(context, heap, by_name, name),
        };
        found.map_err(|error| self.error_at(error))
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.inner.node.inner.context
    }

    fn error_at(&self, error: Error) -> Error {
        error.at(self.node().path())
    }

    fn all_links(&self) -> Result<&Links> {
        let read = || self.read_links().map_err(|error| self.error_at(error));
        self.inner.links.get_or_find(read)
    }

    fn storage(&self) -> Result<&Storage> {
        let find = || self.find_storage().map_err(|error| self.error_at(error));
        self.inner.storage.get_or_find(find)
    }

    fn find_storage(&self) -> Result<Storage> {
        let (context, header) = (self.context(), self.node().header());
        if let Some(info) = header.message::<LinkInfo>(context)? {
            let tracks_creation_order = info.max_creation_order.is_some();
            return match (info.heap_address, info.name_index_address) {
                (Some(heap), Some(tree)) => Ok(Storage::Dense {
                    heap: context.heap(heap)?,
                    by_name: BTree2::open(context, tree, &[v2_record::LINK_NAME])?,
                    by_creation_order: info.creation_order_index_address,
                    tracks_creation_order,
                }),
                _ => Ok(Storage::Compact { tracks_creation_order }),
            };
        }
        match header.message::<SymbolTable>(context)? {
            Some(table) => Ok(Storage::SymbolTable {
                btree_address: table.btree_address,
                names: Names::open(context, table.heap_address)?,
            }),
            None => Ok(Storage::Compact { tracks_creation_order: false }),
        }
    }

    fn read_links(&self) -> Result<Links> {
        let context = self.context();
        let mut links = Vec::new();
        let mut errors = Vec::new();
        match self.storage()? {
            Storage::SymbolTable { .. } => {
                let address = self.node().address();
                let found = TableLinks::read(context, address)?;
                (links, errors) = (found.links, found.errors);
                context.expect_objects(links.len() as u64);
            }
            Storage::Compact { .. } => {
                for message in self.node().header().all(MessageType::LINK) {
                    match message.decode_own::<message::Link>(context.sizes()) {
                        Ok(link) => links.push(Link::from_message(&link)),
                        Err(error) => errors.push(context.structure_error(error)),
                    }
                }
            }
            Storage::Dense { heap, by_name, .. } => {
                context.expect_objects(by_name.header.record_count);
                let mut take = |read: Result<Link>| {
                    match read {
                        Ok(link) => links.push(link),
                        Err(error) => error.leave_out(&mut errors)?,
                    }
                    Ok(())
                };
                dense_links(context, heap, by_name, &mut take)?;
            }
        }
        if let (true, Some(error)) = (links.is_empty(), errors.first()) {
            return Err(error.clone());
        }
        links.sort_by(|a: &Link, b| a.name_bytes().cmp(b.name_bytes()));
        let errors = errors.into_iter().map(|error| self.error_at(error)).collect();
        Ok(Links { by_name: links.into(), errors })
    }

    fn find_compact(&self, name: &[u8]) -> Result<Option<Link>> {
        let context = self.context();
        for message in self.node().header().all(MessageType::LINK) {
            // A link that cannot be decoded does not cost the others.
            if let Ok(link) = message.decode_own::<message::Link>(context.sizes())
                && *link.name == *name
            {
                return Ok(Some(Link::from_message(&link)));
            }
        }
        Ok(None)
    }
}

/// All links of dense storage, in the heap's order, so that each of its blocks is decoded once.
fn dense_links(
    context: &Context,
    heap: &FractalHeap,
    tree: &BTree2,
    take: &mut dyn FnMut(Result<Link>) -> Result<()>,
) -> Result<()> {
    let mut ids: Vec<(u64, Vec<u8>)> = Vec::new();
    let walked = tree.for_each(context, &mut |record| {
        match LinkNameRecord::decode(record, tree.header.address) {
            Ok(record) => ids.push((heap.place(record.heap_id), record.heap_id.to_vec())),
            Err(error) => take(Err(context.structure_error(error)))?,
        }
        Ok(())
    });
    let walked = walked.or_fault()?;
    ids.sort_unstable();
    heap.expect(context, ids.iter().map(|(place, _)| *place))?;
    let mut walk = HeapWalk::default();
    for (_, id) in &ids {
        take(dense_link(context, heap, id, &mut walk))?;
    }
    walked.map_or_else(|error| take(Err(error)), Ok)
}

/// The first `count` links of dense storage by the index of creation order at `tree`.
fn oldest_dense_links(
    context: &Context,
    heap: &FractalHeap,
    tree: u64,
    count: usize,
) -> Result<Vec<Link>> {
    let tree = BTree2::open(context, tree, &[v2_record::LINK_CREATION_ORDER])?;
    let mut links = Vec::new();
    let mut walk = HeapWalk::default();
    tree.for_each_until(context, &mut |record| {
        let record = LinkCreationOrderRecord::decode(record, tree.header.address)
            .map_err(|error| context.structure_error(error))?;
        links.push(dense_link(context, heap, record.heap_id, &mut walk)?);
        Ok(match links.len() < count {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })
    })?;
    Ok(links)
}

/// The link message `id` of the dense storage's heap.
fn dense_link(
    context: &Context,
    heap: &FractalHeap,
    id: &[u8],
    walk: &mut HeapWalk,
) -> Result<Link> {
    heap.object_in_walk(context, id, walk, |bytes, address| {
        let link = message::Link::decode(bytes, address, context.sizes())
            .map_err(|error| context.structure_error(error))?;
        Ok(Link::from_message(&link))
    })
}

fn find_dense(
    context: &Context,
    heap: &FractalHeap,
    tree: &BTree2,
    name: &[u8],
) -> Result<Option<Link>> {
    let hash = lookup3(name);
    let mut found = None;
    tree.find(context, |bytes| {
        let record = LinkNameRecord::decode(bytes, tree.header.address)
            .map_err(|error| context.structure_error(error))?;
        match hash.cmp(&record.hash) {
            // Names with the same hash stand in the order of the names.
            Ordering::Equal => {
                let link = dense_link(context, heap, record.heap_id, &mut HeapWalk::default())?;
                let order = name.cmp(link.name_bytes());
                found = Some(link).filter(|_| order.is_eq());
                Ok(order)
            }
            unequal => Ok(unequal),
        }
    })?;
    Ok(found)
}

impl Names {
    fn open(context: &Context, address: u64) -> Result<Self> {
        let sizes = context.sizes();
        let heap =
            context.structure(address, 32, |bytes| LocalHeap::decode(bytes, address, sizes))?;
        let segment = context.fetch(heap.segment_address, heap.segment_bytes)?;
        Ok(Self { heap, segment })
    }

    fn name(&self, context: &Context, offset: u64) -> Result<&[u8]> {
        self.heap.name(&self.segment, offset).map_err(|error| context.structure_error(error))
    }

    /// Descends to the one symbol table node that may have `name`.
    fn find(&self, context: &Context, btree_address: u64, name: &[u8]) -> Result<Option<Link>> {
        let mut address = btree_address;
        let mut level = None;
        loop {
            let node = group_node(context, address, level)?;
            let child =
                node.child_for(|offset| self.name(context, offset).map(|key| name.cmp(key)))?;
            let Some(child) = child else { return Ok(None) };
            address = child;
            match node.header.level.checked_sub(1) {
                Some(below) => level = Some(below),
                None => break,
            }
        }
        for entry in &symbol_node(context, address)?.entries {
            if self.name(context, entry.name_offset)? == name {
                return self.link(context, entry).map(Some);
            }
        }
        Ok(None)
    }

    fn link(&self, context: &Context, entry: &SymbolTableEntry) -> Result<Link> {
        let name = self.name(context, entry.name_offset)?;
        let target = match (&entry.cache, entry.header_address) {
            (EntryCache::SoftLink { value_offset }, _) => {
                let path = self.name(context, u64::from(*value_offset))?;
                LinkTarget::soft(path)
            }
            (_, Some(address)) => LinkTarget::Hard { address },
            // No file has it: an object that cannot be opened says so when it is.
            (_, None) => LinkTarget::Hard { address: u64::MAX },
        };
        Ok(Link::new(name, target, None))
    }
}

/// All links of a symbol table, and why some are missing.
struct TableLinks {
    links: Vec<Link>,
    errors: Vec<Error>,
}

impl TableLinks {
    /// Those of the group whose header is at `address`.
    fn read(context: &Context, address: u64) -> Result<Self> {
        let table = context.header(address)?.message::<SymbolTable>(context)?;
        let missing = || context.bad_field("object header", address, "symbol tables", 0);
        let table = table.ok_or_else(missing)?;
        let names = &Names::open(context, table.heap_address)?;
        let mut reader =
            SymbolTableReader { context, names, links: Vec::new(), errors: Vec::new() };
        let walked = reader.walk(table.btree_address, None, &mut WalkBudget::new(context));
        let SymbolTableReader { links, mut errors, .. } = reader;
        if let Err(error) = walked {
            error.leave_out(&mut errors)?;
        }
        Ok(Self { links, errors })
    }
}

/// Gathers the links of a symbol table; what cannot be read costs only itself.
struct SymbolTableReader<'a> {
    context: &'a Context,
    names: &'a Names,
    links: Vec<Link>,
    errors: Vec<Error>,
}

impl SymbolTableReader<'_> {
    /// The links of a B-tree node and below; as deep as its level, which decoding bounds.
    fn walk(&mut self, address: u64, level: Option<u8>, budget: &mut WalkBudget) -> Result<()> {
        let node = group_node(self.context, address, level)?;
        let byte_len = 24 + 16 * node.children.len() as u64;
        budget.spend(self.context, byte_len, "version 1 B-tree node", address)?;
        let child_bytes = if node.header.level > 0 { GROUP_NODE_BYTES } else { SYMBOL_NODE_BYTES };
        self.context.expect(node.children.iter().map(|&child| (child, child_bytes)));
        for &child in &node.children {
            let read = match node.header.level.checked_sub(1) {
                Some(below) => self.walk(child, Some(below), budget),
                None => self.leaf(child, budget),
            };
            if let Err(error) = read {
                error.leave_out(&mut self.errors)?;
            }
        }
        Ok(())
    }

    fn leaf(&mut self, address: u64, budget: &mut WalkBudget) -> Result<()> {
        let node = symbol_node(self.context, address)?;
        let entry_bytes = SymbolTableEntry::byte_len(self.context.sizes()) as u64;
        let byte_len = 8 + entry_bytes * node.entries.len() as u64;
        budget.spend(self.context, byte_len, "symbol table node", address)?;
        for entry in &node.entries {
            match self.names.link(self.context, entry) {
                Ok(link) => self.links.push(link),
                Err(error) => error.leave_out(&mut self.errors)?,
            }
        }
        Ok(())
    }
}

/// The B-tree node at `address`, which must be of the `level` that the node above it says.
fn group_node(context: &Context, address: u64, level: Option<u8>) -> Result<GroupNode> {
    let sizes = context.sizes();
    let node = context
        .structure(address, GROUP_NODE_BYTES, |bytes| GroupNode::decode(bytes, address, sizes))?;
    if level.is_some_and(|level| level != node.header.level) {
        let found = u64::from(node.header.level);
        return Err(context.bad_field("version 1 B-tree node", address, "node level", found));
    }
    Ok(node)
}

fn symbol_node(context: &Context, address: u64) -> Result<SymbolTableNode> {
    let sizes = context.sizes();
    context.structure(address, SYMBOL_NODE_BYTES, |bytes| {
        SymbolTableNode::decode(bytes, address, sizes)
    })
}
