//! Strings and sequences on their way into the file's global heap.
//!
//! Objects gather in one collection after the other; a collection is written when it is full, and the
//! last one before a commit. What was written is found again here too, for those who read what they have
//! just written.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::heap::global::{GlobalHeapBuilder, GlobalHeapCollection};
use isotach_model::{EncodeError, Heap, HeapWriter};

use crate::error::{Error, ErrorKind, Result};
use crate::storage::uninit;
use crate::write::target::Target;

/// The collections that are written where nothing larger is needed; each is twice as large as the one
/// before, up to the greatest.
const FIRST_COLLECTION_BYTES: u64 = 4 << 10;
const LARGEST_COLLECTION_BYTES: u64 = 256 << 10;
/// At least so many bytes are put before it is looked what of them is still referred to.
const SWEPT_BYTES: u64 = 64 << 10;
/// Collections that are kept after they were written, for reading.
const KEPT_COLLECTIONS: usize = 16;

/// See the module.
pub(super) struct FileHeap {
    target: Target,
    sizes: Sizes,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: Option<Open>,
    next_bytes: u64,
    kept: HashMap<u64, Arc<Kept>>,
    /// The collections that were made since the file was opened, by address.
    made: HashMap<u64, Made>,
    /// Bytes of those that values may refer to: that did so when it was last looked, and made since.
    known_bytes: u64,
    new_bytes: u64,
}

/// What a collection takes.
#[derive(Debug, Default)]
struct Made {
    /// Bytes of it in the file; 0 for one that still takes objects.
    bytes: u64,
    /// Objects in it that attributes refer to, who say when they no longer do.
    attribute_objects: u64,
    /// Whether values of variables may refer to it, who do not.
    has_values: bool,
}

/// Who refers to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Attribute,
    Values,
}

impl Made {
    fn add(&mut self, owner: Owner) {
        match owner {
            Owner::Attribute => self.attribute_objects += 1,
            Owner::Values => self.has_values = true,
        }
    }

    fn is_unused(&self) -> bool {
        self.attribute_objects == 0 && !self.has_values
    }
}

/// The collection that takes objects.
struct Open {
    address: u64,
    /// Bytes that are reserved for it.
    capacity: u64,
    builder: GlobalHeapBuilder,
    objects: Vec<Vec<u8>>,
}

struct Kept {
    bytes: Vec<u8>,
    collection: GlobalHeapCollection,
}

/// Why values could not be encoded; the heap's own errors are told apart.
pub(super) fn encode_error(error: EncodeError<ErrorKind>) -> ErrorKind {
    let kind: EncodeError<Infallible> = match error {
        EncodeError::Heap(kind) => return kind,
        EncodeError::Type(fault) => EncodeError::Type(fault),
        EncodeError::Kind { given, stored } => EncodeError::Kind { given, stored },
        EncodeError::TextTooLong { text_bytes, room_bytes } => {
            EncodeError::TextTooLong { text_bytes, room_bytes }
        }
        EncodeError::MissingMember { name } => EncodeError::MissingMember { name },
        EncodeError::UnknownMember { name } => EncodeError::UnknownMember { name },
        EncodeError::Ragged { expected_count, found_count } => {
            EncodeError::Ragged { expected_count, found_count }
        }
    };
    ErrorKind::Values(kind)
}

impl FileHeap {
    pub(super) fn new(target: Target, sizes: Sizes) -> Self {
        let state = State { next_bytes: FIRST_COLLECTION_BYTES, ..State::default() };
        Self { target, sizes, state: Mutex::new(state) }
    }

    /// Widths of addresses and lengths in the file.
    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Writes the collection that is not full yet: what was put is in the file now. Where that fails,
    /// it is written the next time.
    pub(super) fn flush(&self) -> Result<()> {
        let mut state = self.lock();
        state.next_bytes = FIRST_COLLECTION_BYTES;
        match state.open.take() {
            Some(open) => self.write(&mut state, open),
            None => Ok(()),
        }
    }

    /// Says that an attribute no longer refers to an object of each of these collections. The space of
    /// one to which nothing refers is given back.
    pub(super) fn release(&self, collections: &[u64]) {
        let mut state = self.lock();
        for address in collections {
            let Some(made) = state.made.get_mut(address) else { continue };
            made.attribute_objects = made.attribute_objects.saturating_sub(1);
            self.give_back(&mut state, *address);
        }
    }

    /// Whether so much was put since [`Self::sweep`] that it is worth while to look at `cost_bytes`
    /// of references: all that are looked at, in all sweeps together, cost no more than writing did.
    pub(super) fn is_sweep_due(&self, cost_bytes: u64) -> bool {
        let state = self.lock();
        state.new_bytes > SWEPT_BYTES.max(state.known_bytes).max(cost_bytes)
    }

    /// Gives back the collections to which neither attributes refer nor the values of any variable,
    /// which refer to those `in_use`. None may be open.
    pub(super) fn sweep(&self, in_use: &HashSet<u64>) {
        let mut state = self.lock();
        let known: Vec<u64> = state.made.keys().copied().collect();
        for address in known {
            if let Some(made) = state.made.get_mut(&address) {
                made.has_values &= in_use.contains(&address);
            }
            self.give_back(&mut state, address);
        }
        let with_values = state.made.values().filter(|made| made.has_values);
        state.known_bytes = with_values.map(|made| made.bytes).sum();
        state.new_bytes = 0;
    }

    /// Gives back the space of a collection that is in the file, where nothing refers to it.
    fn give_back(&self, state: &mut State, address: u64) {
        let Some(made) = state.made.get(&address) else { return };
        if made.is_unused() && made.bytes > 0 {
            self.target.space.free(address, made.bytes);
            state.made.remove(&address);
            state.kept.remove(&address);
        }
    }

    /// Keeps an object; gives its collection's address and its index there.
    fn keep(&self, object: &[u8], owner: Owner) -> Result<(u64, u32)> {
        let mut state = self.lock();
        if let Some(mut open) = state.open.take() {
            if open.builder.byte_len_with(object.len() as u64) <= open.capacity
                && let Some(index) = open.push(object)
            {
                let address = open.address;
                state.open = Some(open);
                state.made.entry(address).or_default().add(owner);
                return Ok((address, index));
            }
            self.write(&mut state, open)?;
            state.next_bytes = (2 * state.next_bytes).min(LARGEST_COLLECTION_BYTES);
        }
        let builder = GlobalHeapBuilder::new(self.sizes);
        let capacity = state.next_bytes.max(builder.byte_len_with(object.len() as u64));
        let address = self.target.space.allocate_for_values(capacity, 8);
        let mut open = Open { address, capacity, builder, objects: Vec::new() };
        // The first object of a collection always has an index.
        let index = open.push(object).unwrap_or_default();
        state.open = Some(open);
        state.made.entry(address).or_default().add(owner);
        Ok((address, index))
    }

    fn write(&self, state: &mut State, open: Open) -> Result<()> {
        let bytes = open.builder.encode();
        if state.made.get(&open.address).is_none_or(Made::is_unused) {
            self.target.space.free(open.address, open.capacity);
            state.made.remove(&open.address);
            return Ok(());
        }
        if let Err(error) = self.target.write(open.address, &bytes) {
            state.open = Some(open);
            return Err(error);
        }
        let made = state.made.entry(open.address).or_default();
        made.bytes = bytes.len() as u64;
        state.new_bytes += if made.has_values { made.bytes } else { 0 };
        let unused = open.capacity.saturating_sub(bytes.len() as u64);
        if unused > 0 {
            self.target.space.free(open.address + bytes.len() as u64, unused);
        }
        let kept = self.kept(open.address, bytes)?;
        state.keep(open.address, kept);
        Ok(())
    }

    fn kept(&self, address: u64, bytes: Vec<u8>) -> Result<Arc<Kept>> {
        let collection = GlobalHeapCollection::decode(&bytes, address, self.sizes)
            .map_err(|error| self.target.error(ErrorKind::Structure(error)))?;
        Ok(Arc::new(Kept { bytes, collection }))
    }

    /// The collection at `address`, from the file where it is not kept.
    fn find(&self, state: &mut State, address: u64) -> Result<Arc<Kept>> {
        if let Some(kept) = state.kept.get(&address) {
            return Ok(Arc::clone(kept));
        }
        let mut len = FIRST_COLLECTION_BYTES;
        let kept = loop {
            let mut bytes = Vec::new();
            let count = usize::try_from(len).unwrap_or(usize::MAX);
            uninit::read_vec(self.target.storage.as_ref(), address, count, &mut bytes)
                .map_err(|source| self.target.read_error(address, len, source))?;
            match GlobalHeapCollection::decode(&bytes, address, self.sizes) {
                Ok(collection) => break Arc::new(Kept { bytes, collection }),
                Err(isotach_format::Error {
                    kind: isotach_format::ErrorKind::NeedMore { bytes: needed },
                    ..
                }) if needed > len => len = needed,
                Err(error) => return Err(self.target.error(ErrorKind::Structure(error))),
            }
        };
        state.keep(address, Arc::clone(&kept));
        Ok(kept)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn push(&mut self, object: &[u8]) -> Option<u32> {
        let index = self.builder.push(object)?;
        self.objects.push(object.to_vec());
        Some(index.into())
    }
}

impl State {
    fn keep(&mut self, address: u64, kept: Arc<Kept>) {
        if self.kept.len() >= KEPT_COLLECTIONS {
            self.kept.clear();
        }
        self.kept.insert(address, kept);
    }
}

impl FileHeap {
    /// Keeps an object and appends what refers to it; gives the address of its collection.
    pub(super) fn put(
        &self,
        owner: Owner,
        element_count: u64,
        bytes: &[u8],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> std::result::Result<u64, ErrorKind> {
        let count = u32::try_from(element_count).map_err(|_| ErrorKind::Limit {
            what: "elements of a sequence",
            value: element_count,
            limit: u32::MAX.into(),
        })?;
        // An empty string has an object too: without one it would be a null pointer.
        let (address, index) = self.keep(bytes, owner).map_err(|error| error.kind)?;
        let end = into.len() + reference_size;
        into.extend_from_slice(&count.to_le_bytes());
        let address_bytes = address.to_le_bytes();
        let (bytes, rest) = address_bytes.split_at(self.sizes.offset.min(address_bytes.len()));
        if rest.iter().any(|&byte| byte != 0) {
            let limit = u64::MAX >> (8 * rest.len());
            return Err(ErrorKind::Limit { what: "address", value: address, limit });
        }
        into.extend_from_slice(bytes);
        into.extend_from_slice(&index.to_le_bytes());
        into.resize(end, 0);
        Ok(address)
    }
}

impl HeapWriter for &FileHeap {
    type Error = ErrorKind;

    fn put(
        &mut self,
        element_count: u64,
        bytes: &[u8],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> std::result::Result<(), ErrorKind> {
        let owner = Owner::Values;
        FileHeap::put(self, owner, element_count, bytes, reference_size, into).map(drop)
    }
}

impl Heap for FileHeap {
    type Error = Error;

    fn look_up(&self, reference: &[u8], element_size: usize) -> Result<Option<(u64, Vec<u8>)>> {
        let field = |range: std::ops::Range<usize>| {
            let bytes = reference.get(range).unwrap_or_default();
            bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
        };
        let behind = 4 + self.sizes.offset;
        let (count, address) = (field(0..4), field(4..behind));
        let index = field(behind..behind + 4) as u32;
        if address == 0 {
            return Ok(None);
        }
        let wanted = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(element_size);
        let missing = || {
            let kind = isotach_format::ErrorKind::Field { field: "index", value: index.into() };
            let structure = "global heap collection";
            self.target.error(ErrorKind::Structure(isotach_format::Error {
                structure,
                address,
                kind,
            }))
        };
        let mut state = self.lock();
        if let Some(open) = state.open.as_ref().filter(|open| open.address == address) {
            let object = (index as usize).checked_sub(1).and_then(|index| open.objects.get(index));
            let object = object.and_then(|object| object.get(..wanted));
            return object.map(|object| Some((count, object.to_vec()))).ok_or_else(missing);
        }
        let kept = self.find(&mut state, address)?;
        let object = kept.collection.object(&kept.bytes, index);
        let object = object.and_then(|object| object.get(..wanted)).ok_or_else(missing)?;
        Ok(Some((count, object.to_vec())))
    }
}
