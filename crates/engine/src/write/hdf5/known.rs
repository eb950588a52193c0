//! Attributes of one object that were encoded for an earlier commit and have strings or sequences: encoded
//! anew, these would take room in the heap again.

use std::collections::HashMap;
use std::sync::Arc;

use isotach_format::hdf5::message::NewMessage;
use isotach_model::{HeapWriter, Values};

use super::attributes::Encoded;
use super::heap::{FileHeap, Owner};
use crate::draft::AttributeList;
use crate::error::ErrorKind;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct KnownAttributes {
    by_name: HashMap<Arc<str>, Known<Arc<Values>>>,
    /// The scales of each axis.
    dimension_list: Option<Known<Vec<Vec<u64>>>>,
}

/// What an attribute was made of, its message, and the collections of the heap that it refers to.
#[derive(Debug)]
struct Known<T> {
    of: T,
    message: NewMessage,
    collections: Vec<u64>,
}

impl KnownAttributes {
    /// The message of an attribute with these values; `encode` makes it where it is not known.
    pub(super) fn user(
        &mut self,
        name: &Arc<str>,
        values: &Arc<Values>,
        heap: &FileHeap,
        encode: impl FnOnce(&mut Recorder<'_>) -> Encoded<NewMessage>,
    ) -> Encoded<NewMessage> {
        if let Some(known) = self.by_name.get(name).filter(|known| Arc::ptr_eq(&known.of, values)) {
            return Ok(known.message.clone());
        }
        let known = Known::new(Arc::clone(values), heap, |_, heap| encode(heap))?;
        if let Some(old) = self.by_name.remove(name) {
            heap.release(&old.collections);
        }
        if known.collections.is_empty() {
            return Ok(known.message);
        }
        let message = known.message.clone();
        self.by_name.insert(Arc::clone(name), known);
        Ok(message)
    }

    /// The same for the list of scales.
    pub(super) fn dimension_list(
        &mut self,
        scales: Vec<Vec<u64>>,
        heap: &FileHeap,
        encode: impl FnOnce(&Vec<Vec<u64>>, &mut Recorder<'_>) -> Encoded<NewMessage>,
    ) -> Encoded<NewMessage> {
        if let Some(known) = self.dimension_list.as_ref().filter(|known| known.of == scales) {
            return Ok(known.message.clone());
        }
        let known = Known::new(scales, heap, encode)?;
        let message = known.message.clone();
        if let Some(old) = self.dimension_list.replace(known) {
            heap.release(&old.collections);
        }
        Ok(message)
    }

    /// Forgets those that are not in the list any more.
    pub(super) fn retain(&mut self, list: &AttributeList, heap: &FileHeap) {
        self.by_name.retain(|name, known| {
            let is_there = list.get(name).is_some();
            if !is_there {
                heap.release(&known.collections);
            }
            is_there
        });
    }

    /// Forgets all.
    pub(super) fn release(self, heap: &FileHeap) {
        let users = self.by_name.into_values().map(|known| known.collections);
        users.chain(self.dimension_list.map(|known| known.collections)).for_each(|collections| {
            heap.release(&collections);
        });
    }
}

impl<T> Known<T> {
    fn new(
        of: T,
        heap: &FileHeap,
        encode: impl FnOnce(&T, &mut Recorder<'_>) -> Encoded<NewMessage>,
    ) -> Encoded<Self> {
        let mut recorder = Recorder { heap, collections: Vec::new() };
        let message = encode(&of, &mut recorder)?;
        Ok(Self { of, message, collections: recorder.collections })
    }
}

/// The heap, of which is remembered what was put where.
pub(super) struct Recorder<'h> {
    heap: &'h FileHeap,
    collections: Vec<u64>,
}

impl HeapWriter for Recorder<'_> {
    type Error = ErrorKind;

    fn put(
        &mut self,
        element_count: u64,
        bytes: &[u8],
        reference_size: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        let owner = Owner::Attribute;
        let put = self.heap.put(owner, element_count, bytes, reference_size, into);
        self.collections.push(put?);
        Ok(())
    }
}
