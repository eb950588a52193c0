//! Objects of the draft in the file: where each of them is, and writing those that changed.
//!
//! A new object goes to fresh space whole. One that is in the file keeps its address and the size of
//! its header's first block; what does not fit there goes to one continuation block in fresh space.

use std::collections::HashMap;

use isotach_format::hdf5::Encoding;
use isotach_format::hdf5::group::symbol_table_build::{SymbolTableBuilder, SymbolTableLink};
use isotach_format::hdf5::message::link::{Link, LinkTarget};
use isotach_format::hdf5::message::modification_time::ModificationTime;
use isotach_format::hdf5::message::{
    GroupInfo, Message, MessageFlags, MessageType, NewMessage, SymbolTable,
};

use isotach_format::hdf5::object_header::{NewHeader, ObjectHeader, Properties, Times};

use super::attributes::Encoded;
use super::blocks::Block;
use super::content::{Content, Links, Maker};
use super::dense;
use super::heap::FileHeap;
use super::known::KnownAttributes;
use super::origin::{Origin, Origins};
use super::scales::Node;
use isotach_format::hdf5::superblock::BtreeK;

use crate::error::{ErrorKind, Result};
use crate::mapping::hdf5::Pieces;
use crate::storage::uninit;
use crate::write::space::Space;
use crate::write::target::Target;

/// Links that a group has in its header: libhdf5's own default.
const MOST_COMPACT_LINKS: usize = 8;
/// Bytes of attributes that an object has in its header. One message can have 64 KiB.
const MOST_COMPACT_ATTRIBUTE_BYTES: usize = 32 << 10;

/// An object that is in the file.
#[derive(Debug, Default)]
pub(super) struct Placed {
    pub(super) address: u64,
    /// Bytes there, as long as the header is not made.
    reserved_bytes: u64,
    /// Its header's first block, prefix and checksum included, as it is in the file.
    pub(super) first_block: Vec<u8>,
    /// Other space that it takes: address and bytes.
    blocks: Vec<(u64, u64)>,
    /// Space of links and attributes as they were when the file was opened, until they are made anew.
    opened_links: Pieces,
    opened_attributes: Pieces,
    known: KnownAttributes,
    /// The content of an object that grows with its records, and the draft's revision of it.
    content: Option<(u64, Content)>,
}

/// All objects that are in the file.
#[derive(Debug, Default)]
pub(super) struct Objects {
    placed: HashMap<Node, Placed>,
    addresses: HashMap<Node, u64>,
    /// Sizes of the B-trees of symbol tables.
    btree_k: BtreeK,
}

/// What a commit has to write for the objects that changed.
#[derive(Default)]
pub(super) struct Changes {
    /// Bytes for fresh space.
    pub(super) fresh: Vec<Block>,
    /// Bytes for places that are in use, in the order in which they are to be changed.
    pub(super) in_place: Vec<Block>,
    /// Space that is free when the commit is done.
    pub(super) freed: Vec<(u64, u64)>,
}

impl Changes {
    /// True where nothing is to be done.
    pub(super) fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.in_place.is_empty() && self.freed.is_empty()
    }

    /// Takes out the space that becomes free. What a commit that failed was to write there is not
    /// written: others may have the space by then.
    pub(super) fn take_freed(&mut self, space: &Space) -> Vec<(u64, u64)> {
        let mut freed = std::mem::take(&mut self.freed);
        freed.retain(|&(address, bytes)| space.is_used(address, bytes));
        freed.sort_unstable();
        let is_kept = |block: &Block| {
            let before = freed.partition_point(|&(address, _)| address <= block.address);
            let around = before.checked_sub(1).map(|index| freed[index]);
            around.is_none_or(|(address, bytes)| block.address - address >= bytes)
        };
        self.fresh.retain(is_kept);
        self.in_place.retain(is_kept);
        freed
    }
}

impl Objects {
    /// Where the object is.
    pub(super) fn address(&self, node: Node) -> Option<u64> {
        self.addresses.get(&node).copied()
    }

    /// Has an object be made anew, and not only grow, when it is laid out next.
    pub(super) fn forget_content(&mut self, node: Node) {
        if let Some(placed) = self.placed.get_mut(&node) {
            placed.content = None;
        }
    }

    /// Lays out the objects `nodes`, children before parents, for the next commit.
    pub(super) fn lay_out(
        &mut self,
        nodes: &[Node],
        maker: &mut Maker<'_>,
        target: &Target,
        changes: &mut Changes,
    ) -> Result<()> {
        let error = |kind| target.error(kind);
        for &node in nodes {
            let is_placed = |placed: &Placed| placed.reserved_bytes == 0;
            if self.placed.get(&node).is_some_and(is_placed) {
                continue;
            }
            let mut placed = self.placed.remove(&node).unwrap_or_default();
            if placed.reserved_bytes > 0 {
                // An attempt failed before its header was made, which may be longer now.
                target.space.free(placed.address, placed.reserved_bytes);
            }
            let content = maker.content(node, &mut placed.known).map_err(error)?;
            let header = new_header(&content, None, maker).map_err(error)?;
            placed.reserved_bytes = header.len_bytes(maker.encoding.sizes) as u64;
            placed.address = target.space.allocate(placed.reserved_bytes, 8);
            self.addresses.insert(node, placed.address);
            self.placed.insert(node, placed);
        }
        for &node in nodes {
            let Some(placed) = self.placed.get_mut(&node) else { continue };
            let maker = Maker { addresses: Some(&self.addresses), ..*maker };
            if placed.first_block.is_empty()
                && let Some(origin) = maker.origins.get(node)
            {
                placed.open(origin, self.btree_k, target)?;
            }
            let revision = maker.draft.revision();
            let content = match placed.content.take() {
                Some((known, content)) if known == revision => maker.grown(node, content),
                _ => maker.content(node, &mut placed.known),
            };
            let content = content.map_err(error)?;
            placed.lay_out(&content, target, self.btree_k, &maker, changes).map_err(error)?;
            placed.content = maker.grows(node).then_some((revision, content));
        }
        Ok(())
    }

    /// Takes objects over that were there when the file was opened.
    pub(super) fn adopt(&mut self, origins: &Origins, btree_k: BtreeK) {
        self.btree_k = btree_k;
        for (node, origin) in origins.iter() {
            let address = origin.object.address();
            self.addresses.insert(node, address);
            self.placed.insert(node, Placed { address, ..Placed::default() });
        }
    }

    /// Takes an object out of the file that nothing refers to any more; gives the space that it took.
    pub(super) fn remove(
        &mut self,
        node: Node,
        origin: Option<&Origin>,
        heap: &FileHeap,
        target: &Target,
    ) -> Result<Vec<(u64, u64)>> {
        self.addresses.remove(&node);
        let Some(mut placed) = self.placed.remove(&node) else { return Ok(Vec::new()) };
        if placed.first_block.is_empty()
            && let Some(origin) = origin
        {
            placed.open(origin, self.btree_k, target)?;
        }
        std::mem::take(&mut placed.known).release(heap);
        Ok(placed.into_space())
    }

    /// All objects that are in the file.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> {
        self.placed.keys().copied()
    }
}

impl Placed {
    /// All space that it takes: address and bytes.
    fn into_space(self) -> Vec<(u64, u64)> {
        let mut space = self.blocks;
        space.extend(self.opened_links);
        space.extend(self.opened_attributes);
        space.push((self.address, self.reserved_bytes.max(self.first_block.len() as u64)));
        space
    }

    /// Reads the header of an object that was there when the file was opened.
    fn open(&mut self, origin: &Origin, btree_k: BtreeK, target: &Target) -> Result<()> {
        let header = origin.object.header().format();
        let len = header.first_block_bytes();
        let count = usize::try_from(len).unwrap_or(usize::MAX);
        uninit::read_vec(target.storage.as_ref(), self.address, count, &mut self.first_block)
            .map_err(|source| target.read_error(self.address, len, source))?;
        let blocks = header.continuations().iter();
        self.blocks = blocks.map(|block| (block.address, block.len_bytes)).collect();
        self.opened_links = origin.link_space(btree_k)?;
        self.opened_attributes = origin.object.attribute_space()?;
        Ok(())
    }

    fn lay_out(
        &mut self,
        content: &Content,
        target: &Target,
        btree_k: BtreeK,
        maker: &Maker<'_>,
        changes: &mut Changes,
    ) -> Encoded<()> {
        let encoding = maker.encoding;
        let space = &*target.space;
        changes.freed.append(&mut self.blocks);
        if content.links.is_some() {
            changes.freed.append(&mut self.opened_links);
        }
        if content.attributes.is_some() {
            changes.freed.append(&mut self.opened_attributes);
        }
        let fresh_before = changes.fresh.len();
        let dense = Dense { space, blocks: &mut changes.fresh };
        if self.first_block.is_empty() {
            let header = new_header(content, Some(dense), maker)?;
            self.first_block = header.encode(encoding.sizes)?;
            self.reserved_bytes = 0;
            changes.fresh.push(Block { address: self.address, bytes: self.first_block.clone() });
            let own = changes.fresh[fresh_before..].iter();
            let others = own.filter(|block| block.address != self.address);
            self.blocks.extend(others.map(|block| (block.address, block.bytes.len() as u64)));
            return Ok(());
        }
        let mut header =
            ObjectHeader::decode_prefix(&self.first_block, self.address, encoding.sizes)?;
        let form = Form {
            has_dense: header.version > 1,
            tracks_order: header.attribute_order_tracked,
            btree_k,
        };
        let mut messages = messages(content, form, Some(dense), encoding)?;
        if let Some(now) = maker.time {
            set_time(now, &mut header, &mut messages, encoding)?;
        }
        let rewrite = header.rewrite(&messages, encoding.sizes)?;
        let continuation = rewrite.continuation_bytes().map(|len| space.allocate(len, 8));
        let rewritten = rewrite.finish(continuation)?;
        if let (Some(address), Some(bytes)) = (continuation, rewritten.continuation) {
            changes.fresh.push(Block { address, bytes });
        }
        let own = changes.fresh[fresh_before..].iter();
        self.blocks.extend(own.map(|block| (block.address, block.bytes.len() as u64)));
        if let Some(changed) = changed_range(&self.first_block, &rewritten.first) {
            changes.in_place.push(Block::of_words(self.address, &rewritten.first, changed));
        }
        self.first_block = rewritten.first;
        Ok(())
    }
}

/// Sets the times that an object keeps: in its header, or, where that is of version 1, in a message.
fn set_time(
    now: u32,
    header: &mut ObjectHeader,
    messages: &mut [NewMessage],
    encoding: Encoding,
) -> Encoded<()> {
    let changed = |times: Times| Times { access: now, modification: now, change: now, ..times };
    header.times = header.times.map(changed);
    let is_time = |message: &&mut NewMessage| message.message_type == ModificationTime::TYPE;
    for message in messages.iter_mut().filter(is_time) {
        *message = encoded(&ModificationTime(now), message.flags, encoding)?;
    }
    Ok(())
}

/// From the first byte that differs to the last.
fn changed_range(old: &[u8], new: &[u8]) -> Option<std::ops::Range<usize>> {
    let differs = |(a, b): (&u8, &u8)| a != b;
    let start = old.iter().zip(new).position(differs)?;
    let end = old.len() - old.iter().rev().zip(new.iter().rev()).position(differs)?;
    Some(start..end)
}

/// Where dense storage goes.
struct Dense<'d> {
    space: &'d Space,
    blocks: &'d mut Vec<Block>,
}

/// What an object's header can say of attributes.
#[derive(Clone, Copy)]
struct Form {
    /// Version 1 has no dense storage of attributes.
    has_dense: bool,
    /// Whether it keeps the order in which attributes were made.
    tracks_order: bool,
    btree_k: BtreeK,
}

impl Form {
    const NEW: Self = Self {
        has_dense: true,
        tracks_order: true,
        btree_k: BtreeK { group_leaf: 4, group_internal: 16, indexed_storage: 32 },
    };
}

fn new_header(
    content: &Content,
    dense: Option<Dense<'_>>,
    maker: &Maker<'_>,
) -> Encoded<NewHeader> {
    let messages = messages(content, Form::NEW, dense, maker.encoding)?;
    let has_attributes = content.attributes.as_ref().is_some_and(|found| !found.is_empty());
    let tracks = content.links.is_some() || has_attributes;
    let properties = Properties {
        attribute_order_tracked: tracks,
        attribute_order_indexed: tracks,
        times: maker.time.map(|now| Times {
            access: now,
            modification: now,
            change: now,
            birth: now,
        }),
        ..Properties::default()
    };
    Ok(NewHeader { properties, messages, spare_bytes: 0 })
}

/// All messages of the header. Without dense storage they have their sizes and lead nowhere.
fn messages(
    content: &Content,
    form: Form,
    mut dense: Option<Dense<'_>>,
    encoding: Encoding,
) -> Encoded<Vec<NewMessage>> {
    let mut all = Vec::new();
    match &content.links {
        Some(Links::New { links, tracks_order }) => {
            put_links(links, *tracks_order, dense.as_mut(), encoding, &mut all)?;
            let has_info = |message: &NewMessage| message.message_type == MessageType::GROUP_INFO;
            if !content.messages.iter().any(has_info) {
                let info = GroupInfo { phase_change: None, estimates: None };
                all.push(encoded(&info, MessageFlags::CONSTANT, encoding)?);
            }
        }
        Some(Links::SymbolTable(links)) => {
            all.push(symbol_table(links, form.btree_k, dense.as_mut(), encoding)?);
        }
        None => {}
    }
    all.extend(content.messages.iter().cloned());
    if let Some(attributes) = content.attributes.as_ref().filter(|found| !found.is_empty()) {
        put_attributes(attributes, form, dense.as_mut(), encoding, &mut all)?;
    }
    Ok(all)
}

fn put_links(
    links: &[Link],
    tracks_order: bool,
    dense: Option<&mut Dense<'_>>,
    encoding: Encoding,
    into: &mut Vec<NewMessage>,
) -> Encoded<()> {
    let is_compact = links.len() <= MOST_COMPACT_LINKS;
    let info = match dense.filter(|_| !is_compact) {
        Some(dense) => dense::links(links, tracks_order, dense.space, encoding, dense.blocks)?,
        None => dense::no_links(links, tracks_order),
    };
    into.push(encoded(&info, MessageFlags::NONE, encoding)?);
    if is_compact {
        for link in links {
            into.push(encoded(link, MessageFlags::NONE, encoding)?);
        }
    }
    Ok(())
}

fn symbol_table(
    links: &[Link],
    btree_k: BtreeK,
    dense: Option<&mut Dense<'_>>,
    encoding: Encoding,
) -> Encoded<NewMessage> {
    let mut sorted: Vec<&Link> = links.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let soft_value = |link: &Link| match &link.target {
        LinkTarget::Soft { path } => Some(path.to_vec()),
        _ => None,
    };
    let soft: Vec<Option<Vec<u8>>> = sorted.iter().map(|link| soft_value(link)).collect();
    let named = sorted
        .iter()
        .zip(&soft)
        .map(|(link, soft)| SymbolTableLink { name: &link.name, soft_value: soft.as_deref() });
    let table = SymbolTableBuilder::new(&named.collect::<Vec<_>>(), btree_k, encoding.sizes)?;
    let address = match dense {
        Some(dense) => {
            let address = dense.space.allocate(table.byte_len(), 8);
            let targets = sorted.iter().map(|link| match link.target {
                LinkTarget::Hard { address } => Some(address),
                _ => None,
            });
            let bytes = table.encode(address, &targets.collect::<Vec<_>>())?;
            dense.blocks.push(Block { address, bytes });
            address
        }
        None => 0,
    };
    let message = SymbolTable {
        btree_address: table.btree_address(address),
        heap_address: table.heap_address(address),
    };
    encoded(&message, MessageFlags::NONE, encoding)
}

fn put_attributes(
    attributes: &[NewMessage],
    form: Form,
    dense: Option<&mut Dense<'_>>,
    encoding: Encoding,
    into: &mut Vec<NewMessage>,
) -> Encoded<()> {
    let bytes: usize = attributes.iter().map(|message| message.bytes.len()).sum();
    let is_compact = bytes <= MOST_COMPACT_ATTRIBUTE_BYTES || !form.has_dense;
    if form.has_dense {
        let info = match dense.filter(|_| !is_compact) {
            Some(dense) => dense::attributes(
                attributes,
                form.tracks_order,
                dense.space,
                encoding,
                dense.blocks,
            )?,
            None => dense::no_attributes(attributes.len() as u64, form.tracks_order),
        };
        into.push(encoded(&info, MessageFlags::NOT_SHARED, encoding)?);
    }
    if is_compact {
        for (order, attribute) in attributes.iter().enumerate() {
            let creation_order = form.tracks_order.then_some(order as u16);
            into.push(NewMessage { creation_order, ..attribute.clone() });
        }
    }
    Ok(())
}

fn encoded<M: Message>(
    message: &M,
    flags: MessageFlags,
    encoding: Encoding,
) -> Encoded<NewMessage> {
    NewMessage::new(message, flags, encoding).map_err(ErrorKind::Structure)
}

impl From<isotach_format::Error> for ErrorKind {
    fn from(error: isotach_format::Error) -> Self {
        Self::Structure(error)
    }
}
