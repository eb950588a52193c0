//! Fractal heaps: from a heap ID to the object's bytes.
//!
//! ```text
//! ID -> managed: root block -> indirect blocks -> direct block -> object
//!       huge:    (version-2 B-tree by key ->) its own place in the file
//!       tiny:    in the ID
//! ```

use std::sync::Arc;

use isotach_codec::{Pipeline, Scratch};
use isotach_format::hdf5::btree::v2_record::{self, HugeRecord};
use isotach_format::hdf5::heap::fractal::{self, BlockRef, DirectBlockRef, IndirectBlockRef};
use isotach_format::hdf5::heap::fractal_block::IndirectBlock;
use isotach_format::hdf5::heap::heap_id::{HeapId, HugeObject};
use isotach_format::hdf5::message::{FilterPipeline, Message};

use super::btree2::BTree2;
use super::context::Context;
use super::filters::pipeline_of;
use super::kept::Kept;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Readable;
use crate::storage::MetadataBytes;
use crate::sync::OnceLock;

/// Bytes of blocks that one heap keeps.
const KEPT_BLOCK_BYTES: u64 = 4 << 20;
/// Bytes of the usual header without filters.
const HEADER_BYTES: u64 = 146;
/// What a filtered block or object may decode to at most, however little is stored: the largest
/// block that the libraries' settings in use today give.
const ALWAYS_ALLOWED_BYTES: u64 = 16 << 20;
/// No filter of the library makes more than this of one byte (deflate: 1,032).
const LARGEST_EXPANSION: u64 = 1_100;

const STRUCTURE: &str = "fractal heap";

/// An opened fractal heap.
pub(super) struct FractalHeap {
    header: fractal::FractalHeap,
    pipeline: Option<Pipeline>,
    huge: OnceLock<BTree2>,
    indirect: Kept<u64, Arc<IndirectBlock>>,
    direct: Kept<u64, Block>,
}

/// A direct block's bytes, filters undone, verified.
#[derive(Clone)]
enum Block {
    Stored(MetadataBytes),
    Own(Arc<Vec<u8>>),
}

/// The block that a walk over a heap's objects in their order is in.
#[derive(Default)]
pub(super) struct HeapWalk {
    block: Option<(DirectBlockRef, Block)>,
}

impl Block {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Stored(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

impl Context {
    /// The fractal heap at `address`; kept.
    pub(super) fn heap(&self, address: u64) -> Result<Arc<FractalHeap>> {
        self.heaps.get_or_make(address, || Ok((Arc::new(FractalHeap::open(self, address)?), 1)))
    }
}

impl FractalHeap {
    fn open(context: &Context, address: u64) -> Result<Self> {
        let sizes = context.sizes();
        let header = context.structure(address, HEADER_BYTES, |bytes| {
            fractal::FractalHeap::decode(bytes, address, sizes)
        })?;
        let pipeline = match header.is_filtered() {
            true => {
                let message = FilterPipeline::decode(&header.filter_message, address, sizes)
                    .map_err(|error| context.structure_error(error))?;
                Some(pipeline_of(&message))
            }
            false => None,
        };
        Ok(Self {
            header,
            pipeline,
            huge: OnceLock::new(),
            indirect: Kept::new(KEPT_BLOCK_BYTES),
            direct: Kept::new(KEPT_BLOCK_BYTES),
        })
    }

    /// Calls `with` on the bytes of the object `id`, and an address for errors about them.
    pub(super) fn object<T>(
        &self,
        context: &Context,
        id: &[u8],
        with: impl FnOnce(&[u8], u64) -> Result<T>,
    ) -> Result<T> {
        let heap_address = self.header.address;
        match HeapId::decode(id, &self.header).map_err(|e| context.structure_error(e))? {
            HeapId::Tiny(bytes) => with(bytes, heap_address),
            HeapId::Managed { offset, byte_len } => {
                let place = self.direct_block(context, offset)?;
                let block = self.block(context, &place)?;
                let object = place
                    .object(block.bytes(), &self.header, offset, byte_len)
                    .map_err(|e| context.structure_error(e))?;
                with(object, place.address.saturating_add(offset - place.heap_offset))
            }
            HeapId::Huge(object) => {
                with(self.huge_object(context, &object)?.bytes(), object.address)
            }
            HeapId::HugeKey(key) => {
                let object = self.huge_by_key(context, key)?;
                with(self.huge_object(context, &object)?.bytes(), object.address)
            }
        }
    }

    /// [`FractalHeap::object`] for one of many objects in the order of [`FractalHeap::place`]: a
    /// block is held as long as the walk is in it, and then not kept.
    pub(super) fn object_in_walk<T>(
        &self,
        context: &Context,
        id: &[u8],
        walk: &mut HeapWalk,
        with: impl FnOnce(&[u8], u64) -> Result<T>,
    ) -> Result<T> {
        let id_parts = HeapId::decode(id, &self.header).map_err(|e| context.structure_error(e))?;
        let HeapId::Managed { offset, byte_len } = id_parts else {
            return self.object(context, id, with);
        };
        let is_in = |(place, _): &&mut (DirectBlockRef, Block)| {
            offset.checked_sub(place.heap_offset).is_some_and(|at| at < place.block_bytes)
        };
        let (place, block) = match walk.block.as_mut().filter(is_in) {
            Some(held) => held,
            None => {
                let place = self.direct_block(context, offset)?;
                let stored = match context.fetch_once(place.address, place.stored_bytes())? {
                    Some(bytes) => Block::Own(Arc::new(bytes)),
                    None => Block::Stored(context.fetch(place.address, place.stored_bytes())?),
                };
                let block = self.verified(context, &place, stored)?;
                walk.block.insert((place, block))
            }
        };
        let object = place
            .object(block.bytes(), &self.header, offset, byte_len)
            .map_err(|e| context.structure_error(e))?;
        with(object, place.address.saturating_add(offset - place.heap_offset))
    }

    /// Says to storage which blocks hold the objects at `places`, which are in order.
    pub(super) fn expect(
        &self,
        context: &Context,
        places: impl Iterator<Item = u64>,
    ) -> Result<()> {
        if !context.is_costly() {
            return Ok(());
        }
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        let mut known_end = 0;
        for offset in places.filter(|&offset| offset > 0) {
            if offset < known_end {
                continue;
            }
            // What is broken is said when it is read.
            let Some(place) = self.direct_block(context, offset).readable()? else { break };
            known_end = place.heap_offset.saturating_add(place.block_bytes);
            blocks.push((place.address, place.stored_bytes()));
        }
        context.expect(blocks.into_iter());
        Ok(())
    }

    /// Where in the heap the object `id` lies; 0 for one that lies elsewhere.
    pub(super) fn place(&self, id: &[u8]) -> u64 {
        match HeapId::decode(id, &self.header) {
            Ok(HeapId::Managed { offset, .. }) => offset,
            _ => 0,
        }
    }

    /// The direct block that holds `offset` of the heap.
    fn direct_block(&self, context: &Context, offset: u64) -> Result<DirectBlockRef> {
        let missing = || context.bad_field(STRUCTURE, self.header.address, "root block", u64::MAX);
        let mut next = self.header.root().ok_or_else(missing)?;
        // Rows become fewer with each step, so it ends.
        loop {
            match next {
                BlockRef::Direct(place) => return Ok(place),
                BlockRef::Indirect(place) => {
                    let block = self.indirect_block(context, &place)?;
                    next = block
                        .locate(&self.header, offset)
                        .map_err(|error| context.structure_error(error))?;
                }
            }
        }
    }

    fn indirect_block(
        &self,
        context: &Context,
        place: &IndirectBlockRef,
    ) -> Result<Arc<IndirectBlock>> {
        self.indirect.get_or_make(place.address, || {
            let mut byte_len = 0;
            let block = context.structure(place.address, 512, |bytes| {
                byte_len = bytes.len() as u64;
                IndirectBlock::decode(bytes, place, &self.header)
            })?;
            Ok((Arc::new(block), byte_len))
        })
    }

    fn block(&self, context: &Context, place: &DirectBlockRef) -> Result<Block> {
        self.direct.get_or_make(place.address, || {
            let stored = Block::Stored(context.fetch(place.address, place.stored_bytes())?);
            Ok((self.verified(context, place, stored)?, place.block_bytes))
        })
    }

    /// The block at `place` out of what is `stored` there: filters undone, checksum held against it.
    fn verified(&self, context: &Context, place: &DirectBlockRef, stored: Block) -> Result<Block> {
        let block = match place.filtered {
            Some(filtered) => {
                let (address, mask) = (place.address, filtered.filter_mask);
                self.decoded(context, address, stored.bytes(), mask, place.block_bytes)?
            }
            None => stored,
        };
        place
            .verify(block.bytes(), &self.header)
            .map_err(|e| context.structure_error(e.at_end(block.bytes().len() as u64)))?;
        Ok(block)
    }

    fn huge_object(&self, context: &Context, object: &HugeObject) -> Result<Block> {
        let stored = context.fetch(object.address, object.stored_bytes)?;
        match object.filtered {
            Some(filtered) => self.decoded(
                context,
                object.address,
                &stored,
                filtered.filter_mask,
                filtered.byte_len,
            ),
            None => Ok(Block::Stored(stored)),
        }
    }

    fn huge_by_key(&self, context: &Context, key: u64) -> Result<HugeObject> {
        let heap = self.header.address;
        let missing = || context.bad_field(STRUCTURE, heap, "huge object key", key);
        let tree = match self.huge.get() {
            Some(tree) => tree,
            None => {
                let address = self.header.huge_btree_address.ok_or_else(missing)?;
                let types = [v2_record::HUGE_BY_KEY, v2_record::HUGE_FILTERED_BY_KEY];
                let tree = BTree2::open(context, address, &types)?;
                self.huge.get_or_init(|| tree)
            }
        };
        let decode = |record: &[u8]| {
            let header = &tree.header;
            HugeRecord::decode(record, header.address, header.record_type, context.sizes())
                .map_err(|error| context.structure_error(error))
        };
        let found = tree.find(context, |record| Ok(Some(key).cmp(&decode(record)?.key)))?;
        Ok(decode(&found.ok_or_else(missing)?)?.object)
    }

    /// Undoes the heap's filters.
    fn decoded(
        &self,
        context: &Context,
        address: u64,
        stored: &[u8],
        filter_mask: u32,
        byte_len: u64,
    ) -> Result<Block> {
        let limit =
            (stored.len() as u64).saturating_mul(LARGEST_EXPANSION).max(ALWAYS_ALLOWED_BYTES);
        if byte_len > limit {
            let what = "filtered fractal heap object's size";
            return Err(context.error(ErrorKind::Limit { what, value: byte_len, limit }));
        }
        let Some(pipeline) = &self.pipeline else {
            return Err(context.bad_field(STRUCTURE, address, "filters", 0));
        };
        let mut out = vec![std::mem::MaybeUninit::uninit(); byte_len as usize];
        let decoded = pipeline
            .decode(stored, filter_mask, &mut Scratch::default(), &mut out)
            .map_err(|source| -> Error {
                let (coordinates, source) = (Vec::new(), Box::new(source));
                context.error(ErrorKind::Chunk { address, coordinates, source })
            })?;
        Ok(Block::Own(Arc::new(decoded.to_vec())))
    }
}
