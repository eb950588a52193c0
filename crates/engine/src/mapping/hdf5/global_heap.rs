//! Global heap collections: where strings and sequences of any length lie.
//!
//! A reference is a count, a collection's address and an index. A collection is fetched when a
//! reference first leads to it, and kept while references keep leading to it.
//!
//! ```text
//! | sequence length 4 | collection address   offset | index 4 |
//! ```
//! Specification: IV.B "Disk Format: Level 2B - Data Object Data Storage", variable-length types.

use std::sync::Arc;

use isotach_format::Cursor;
use isotach_format::hdf5::heap::global::GlobalHeapCollection;
use isotach_model::Heap;

use super::context::Context;
use crate::error::{Error, Result};
use crate::storage::MetadataBytes;

/// Bytes of the smallest collection that the libraries write.
const USUAL_BYTES: u64 = 4096;

const STRUCTURE: &str = "global heap collection";

/// A collection and its bytes.
pub(super) struct Collection {
    bytes: MetadataBytes,
    objects: GlobalHeapCollection,
}

/// The heaps of one file, as readers of variable-length data look things up in them.
pub(super) struct GlobalHeap {
    context: Arc<Context>,
}

impl GlobalHeap {
    pub(super) fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context) }
    }
}

impl Context {
    /// Calls `with` on the object `index` of the collection at `address`.
    pub(super) fn heap_object<T>(
        &self,
        address: u64,
        index: u32,
        with: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        let collection = self.collection(address)?;
        match collection.objects.object(&collection.bytes, index) {
            Some(bytes) => with(bytes),
            None => Err(self.bad_field(STRUCTURE, address, "object index", u64::from(index))),
        }
    }

    fn collection(&self, address: u64) -> Result<Arc<Collection>> {
        self.collections.get_or_make(address, || {
            let found = self.present_collection(address);
            let collection = match found {
                Err(error) if error.kind.is_changed() => self.held_collection(address)?,
                found => found?,
            };
            let byte_len = collection.objects.byte_len;
            Ok((Arc::new(collection), byte_len))
        })
    }

    fn present_collection(&self, address: u64) -> Result<Collection> {
        let sizes = self.sizes();
        let objects = self.structure(address, USUAL_BYTES, |bytes| {
            GlobalHeapCollection::decode(bytes, address, sizes)
        })?;
        let bytes = self.fetch(address, objects.byte_len)?;
        Ok(Collection { bytes, objects })
    }

    /// A collection after the file was changed: no commit changes one where it stands, so it is as values are.
    fn held_collection(&self, address: u64) -> Result<Collection> {
        let available = self.len().saturating_sub(address);
        let mut length = USUAL_BYTES.min(available);
        loop {
            let bytes = self.fetch_held(address, length)?;
            let needed = match GlobalHeapCollection::decode(&bytes, address, self.sizes()) {
                Ok(objects) if objects.byte_len <= length => {
                    return Ok(Collection { bytes, objects });
                }
                Ok(objects) => objects.byte_len,
                Err(isotach_format::Error {
                    kind: isotach_format::ErrorKind::NeedMore { bytes },
                    ..
                }) => bytes,
                Err(error) => return Err(self.structure_error(error.at_end(available))),
            };
            if needed <= length || needed > available {
                return Err(self.bad_field(STRUCTURE, address, "collection size", needed));
            }
            length = needed;
        }
    }
}

impl Heap for GlobalHeap {
    type Error = Error;

    fn size_bytes(&self) -> u64 {
        self.context.len()
    }

    fn look_up(&self, reference: &[u8], element_size: usize) -> Result<Option<(u64, Vec<u8>)>> {
        let context = &self.context;
        let mut cursor = Cursor::new(reference, "variable-length reference", 0);
        let mut fields = || {
            let count = cursor.u32()?;
            let address = cursor.address_field(context.sizes().offset)?;
            Ok((count, address, cursor.u32()?))
        };
        let (count, address, index) = fields().map_err(|error: isotach_format::Error| {
            context.structure_error(error.at_end(reference.len() as u64))
        })?;
        let Some(address) = address.filter(|&address| address != 0) else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some((0, Vec::new())));
        }
        let wanted = u64::from(count).saturating_mul(element_size as u64);
        context.heap_object(address, index, |object| {
            let bytes = usize::try_from(wanted).ok().and_then(|wanted| object.get(..wanted));
            let bytes = bytes.ok_or_else(|| {
                context.bad_field(STRUCTURE, address, "sequence length", u64::from(count))
            })?;
            Ok(Some((u64::from(count), bytes.to_vec())))
        })
    }
}
