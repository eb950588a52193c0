//! Walks version-2 B-trees: by a comparison to one record, or over all of them.
//!
//! Nodes on the way of a look-up are kept, so that the next one neither fetches them again nor
//! verifies their checksums again. A walk over all records comes by each node once and keeps none.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use isotach_format::hdf5::btree::v2::{BTreeHeader, Node, NodeRef, Step};

use super::context::{Context, WalkBudget};
use crate::error::Result;
use crate::fault::Readable;
use crate::storage::MetadataBytes;

/// Bytes that hold any header.
const HEADER_BYTES: u64 = 64;

/// Nodes of a level that are told to storage before they are read.
const EXPECTED_NODES: usize = 16 << 10;

/// Which node it is, and what was said of it: address, records, level. Its checksum stands behind
/// so many records.
pub(super) type NodeKey = (u64, u64, u32);

/// An opened version-2 B-tree.
#[derive(Debug, Clone)]
pub(super) struct BTree2 {
    pub(super) header: BTreeHeader,
}

impl BTree2 {
    /// Reads the header at `address`; its records must be of one of `types`.
    pub(super) fn open(context: &Context, address: u64, types: &[u8]) -> Result<Self> {
        let sizes = context.sizes();
        let header = context.structure(address, HEADER_BYTES, |bytes| {
            let header = BTreeHeader::decode(bytes, address, sizes)?;
            header.expect_type(types)?;
            Ok(header)
        })?;
        Ok(Self { header })
    }

    /// The record that `compare` calls equal; it says `Less` where what is wanted comes before.
    pub(super) fn find(
        &self,
        context: &Context,
        mut compare: impl FnMut(&[u8]) -> Result<Ordering>,
    ) -> Result<Option<Vec<u8>>> {
        let mut next = self.header.root();
        // Each step is one level down: the depth is bounded by the header's.
        while let Some(place) = next {
            let bytes = self.verified_bytes(context, &place)?;
            let node = Node::decode_verified(&bytes, &place, &self.header);
            match Self::at_end(context, node, &bytes)?.step(&mut compare)? {
                Step::Found(record) => return Ok(Some(record.to_vec())),
                Step::Descend(child) => next = Some(child),
                Step::Absent => next = None,
            }
        }
        Ok(None)
    }

    /// A node's bytes, whose checksum was verified; kept.
    fn verified_bytes(&self, context: &Context, place: &NodeRef) -> Result<Arc<[u8]>> {
        let key = (place.address, place.record_count, place.level);
        context.nodes.get_or_make(key, || {
            let bytes = self.node_bytes(context, place)?;
            self.node(context, &bytes, place)?;
            Ok((Arc::from(&*bytes), bytes.len() as u64))
        })
    }

    /// Calls `visit` with every record in the tree's order.
    pub(super) fn for_each(
        &self,
        context: &Context,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.expect_nodes(context)?;
        self.for_each_until(context, &mut |record| visit(record).map(ControlFlow::Continue))
    }

    /// Level by level where all nodes stand, if calls are costly. (A walk comes by them in another
    /// order, in which few are known to lie together.) What is broken the walk will say.
    fn expect_nodes(&self, context: &Context) -> Result<()> {
        if !context.is_costly() {
            return Ok(());
        }
        let mut level: Vec<NodeRef> = self.header.root().into_iter().collect();
        while level.first().is_some_and(|place| place.level > 0) {
            let mut below = Vec::new();
            for place in &level {
                let Some(bytes) = self.node_bytes(context, place).readable()? else {
                    return Ok(());
                };
                let Some(node) = self.node(context, &bytes, place).readable()? else {
                    return Ok(());
                };
                below.extend_from_slice(node.children());
            }
            if below.len() > EXPECTED_NODES {
                return Ok(());
            }
            context.expect(below.iter().map(|place| (place.address, self.header.node_bytes)));
            level = below;
        }
        Ok(())
    }

    /// Calls `visit` with the records in the tree's order until it breaks.
    pub(super) fn for_each_until(
        &self,
        context: &Context,
        visit: &mut dyn FnMut(&[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut budget = WalkBudget::new(context);
        match self.header.root() {
            Some(root) => self.walk(context, root, &mut budget, visit).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The records of a node and below; as deep as the node's level, which the header bounds.
    fn walk(
        &self,
        context: &Context,
        place: NodeRef,
        budget: &mut WalkBudget,
        visit: &mut dyn FnMut(&[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        budget.spend(context, self.header.node_bytes, "version 2 B-tree node", place.address)?;
        let bytes = self.node_bytes(context, &place)?;
        let node = self.node(context, &bytes, &place)?;
        let mut children = node.children().iter();
        for record in node.records() {
            if let Some(&child) = children.next()
                && self.walk(context, child, budget, visit)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
            if visit(record)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        match children.next() {
            Some(&last) => self.walk(context, last, budget, visit),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// A node's whole space, or what the file has of it.
    fn node_bytes(&self, context: &Context, place: &NodeRef) -> Result<MetadataBytes> {
        let available = context.len().saturating_sub(place.address);
        context.fetch(place.address, self.header.node_bytes.min(available))
    }

    fn node<'a>(&self, context: &Context, bytes: &'a [u8], place: &NodeRef) -> Result<Node<'a>> {
        Self::at_end(context, Node::decode(bytes, place, &self.header), bytes)
    }

    fn at_end<T>(context: &Context, decoded: isotach_format::Result<T>, bytes: &[u8]) -> Result<T> {
        decoded.map_err(|error| context.structure_error(error.at_end(bytes.len() as u64)))
    }
}
