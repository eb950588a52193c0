//! Objects of the draft in the file: where each of them is, and writing those that changed.
//!
//! A new object goes to fresh space whole. One that is in the file keeps its address and the size of
//! its header's first block; what does not fit there goes to one continuation block in fresh space.

use std::collections::HashMap;

use isotach_format::hdf5::Encoding;
use isotach_format::hdf5::message::{GroupInfo, Message, MessageFlags, NewMessage};
use isotach_format::hdf5::object_header::{NewHeader, ObjectHeader, Properties};

use super::attributes::Encoded;
use super::content::{Content, KnownAttributes, Maker};
use super::dense::{self, Block};
use super::scales::Node;
use crate::error::{ErrorKind, Result};
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
    /// Its header's first block, prefix and checksum included, as it is in the file.
    pub(super) first_block: Vec<u8>,
    /// Other space that it takes: address and bytes.
    pub(super) blocks: Vec<(u64, u64)>,
    known: KnownAttributes,
}

/// All objects that are in the file.
#[derive(Debug, Default)]
pub(super) struct Objects {
    placed: HashMap<Node, Placed>,
    addresses: HashMap<Node, u64>,
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
    /// Both together; what is in place in `other` comes last.
    pub(super) fn add(&mut self, other: Self) {
        self.fresh.extend(other.fresh);
        self.in_place.extend(other.in_place);
        self.freed.extend(other.freed);
    }
}

impl Objects {
    /// Where the object is.
    pub(super) fn address(&self, node: Node) -> Option<u64> {
        self.addresses.get(&node).copied()
    }

    /// Lays out the objects `nodes`, children before parents, for the next commit.
    pub(super) fn lay_out(
        &mut self,
        nodes: &[Node],
        maker: &mut Maker<'_>,
        target: &Target,
    ) -> Result<Changes> {
        let error = |kind| target.error(kind);
        for &node in nodes {
            if self.addresses.contains_key(&node) {
                continue;
            }
            let mut placed = Placed::default();
            let content = maker.content(node, &mut placed.known).map_err(error)?;
            let header = new_header(&content, None, maker.encoding).map_err(error)?;
            placed.address =
                target.space.allocate(header.len_bytes(maker.encoding.sizes) as u64, 8);
            self.addresses.insert(node, placed.address);
            self.placed.insert(node, placed);
        }
        let mut changes = Changes::default();
        for &node in nodes {
            let Some(placed) = self.placed.get_mut(&node) else { continue };
            let maker = Maker { addresses: Some(&self.addresses), ..*maker };
            let content = maker.content(node, &mut placed.known).map_err(error)?;
            placed.lay_out(&content, &target.space, maker.encoding, &mut changes).map_err(error)?;
        }
        Ok(changes)
    }

    /// Takes an object out of the file that nothing refers to any more.
    pub(super) fn remove(&mut self, node: Node, changes: &mut Changes) {
        self.addresses.remove(&node);
        if let Some(placed) = self.placed.remove(&node) {
            changes.freed.push((placed.address, placed.first_block.len() as u64));
            changes.freed.extend(placed.blocks);
        }
    }

    /// All objects that are in the file.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node> {
        self.placed.keys().copied()
    }
}

impl Placed {
    fn lay_out(
        &mut self,
        content: &Content,
        space: &Space,
        encoding: Encoding,
        changes: &mut Changes,
    ) -> Encoded<()> {
        changes.freed.append(&mut self.blocks);
        let fresh_before = changes.fresh.len();
        let dense = Dense { space, blocks: &mut changes.fresh };
        if self.first_block.is_empty() {
            let header = new_header(content, Some(dense), encoding)?;
            self.first_block = header.encode(encoding.sizes)?;
            changes.fresh.push(Block { address: self.address, bytes: self.first_block.clone() });
            let own = changes.fresh[fresh_before..].iter();
            let others = own.filter(|block| block.address != self.address);
            self.blocks.extend(others.map(|block| (block.address, block.bytes.len() as u64)));
            return Ok(());
        }
        let messages = messages(content, Some(dense), encoding)?;
        let header = ObjectHeader::decode_prefix(&self.first_block, self.address, encoding.sizes)?;
        let rewrite = header.rewrite(&messages, encoding.sizes)?;
        let continuation = rewrite.continuation_bytes().map(|len| space.allocate(len, 8));
        let rewritten = rewrite.finish(continuation)?;
        if let (Some(address), Some(bytes)) = (continuation, rewritten.continuation) {
            changes.fresh.push(Block { address, bytes });
        }
        let own = changes.fresh[fresh_before..].iter();
        self.blocks.extend(own.map(|block| (block.address, block.bytes.len() as u64)));
        if let Some(changed) = changed_range(&self.first_block, &rewritten.first) {
            let address = self.address + changed.start as u64;
            changes.in_place.push(Block { address, bytes: rewritten.first[changed].to_vec() });
        }
        self.first_block = rewritten.first;
        Ok(())
    }
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

fn new_header(
    content: &Content,
    dense: Option<Dense<'_>>,
    encoding: Encoding,
) -> Encoded<NewHeader> {
    let messages = messages(content, dense, encoding)?;
    let tracks = content.links.is_some() || !content.attributes.is_empty();
    let properties = Properties {
        attribute_order_tracked: tracks,
        attribute_order_indexed: tracks,
        ..Properties::default()
    };
    Ok(NewHeader { properties, messages, spare_bytes: 0 })
}

/// All messages of the header. Without dense storage they have their sizes and lead nowhere.
fn messages(
    content: &Content,
    mut dense: Option<Dense<'_>>,
    encoding: Encoding,
) -> Encoded<Vec<NewMessage>> {
    let mut all = Vec::with_capacity(content.messages.len() + content.attributes.len() + 4);
    if let Some(links) = &content.links {
        let is_compact = links.len() <= MOST_COMPACT_LINKS;
        let info = match dense.as_mut().filter(|_| !is_compact) {
            Some(dense) => dense::links(links, dense.space, encoding, dense.blocks)?,
            None => dense::no_links(links.len() as u64),
        };
        all.push(encoded(&info, MessageFlags::NONE, encoding)?);
        let info = GroupInfo { phase_change: None, estimates: None };
        all.push(encoded(&info, MessageFlags::CONSTANT, encoding)?);
        if is_compact {
            for link in links {
                all.push(encoded(link, MessageFlags::NONE, encoding)?);
            }
        }
    }
    all.extend(content.messages.iter().cloned());
    let attributes = &content.attributes;
    if attributes.is_empty() {
        return Ok(all);
    }
    let bytes: usize = attributes.iter().map(|message| message.bytes.len()).sum();
    let is_compact = bytes <= MOST_COMPACT_ATTRIBUTE_BYTES;
    let info = match dense.filter(|_| !is_compact) {
        Some(dense) => dense::attributes(attributes, dense.space, encoding, dense.blocks)?,
        None => dense::no_attributes(attributes.len() as u64),
    };
    all.push(encoded(&info, MessageFlags::NOT_SHARED, encoding)?);
    if is_compact {
        for (order, attribute) in attributes.iter().enumerate() {
            all.push(NewMessage { creation_order: Some(order as u16), ..attribute.clone() });
        }
    }
    Ok(all)
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
