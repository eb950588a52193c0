//! Messages that stand elsewhere: in another object's header, or in a heap of shared messages.
//!
//! ```text
//! reference -> object:  header -> message of the same type
//!              heap ID: superblock extension -> table -> index of the type -> fractal heap
//! ```

use std::sync::Arc;

use isotach_format::hdf5::heap::shared_message::SharedMessageTable;
use isotach_format::hdf5::message::shared_table::SharedMessageTableLocation;
use isotach_format::hdf5::message::{
    Datatype, MaybeShared, Message, MessageType, RawMessage, SharedReference,
};

use super::context::Context;
use super::fractal_heap::FractalHeap;
use super::header::Header;
use crate::error::Result;

/// Messages that refer to one another in a row. The libraries write one step only.
const REFERENCES_FOLLOWED: u32 = 4;

const STRUCTURE: &str = "shared message";

/// The file's table of shared messages.
pub(super) struct SharedMessages {
    table: SharedMessageTable,
}

impl Context {
    /// What `message` says, wherever it stands.
    pub(super) fn message<M: Message>(&self, message: &RawMessage) -> Result<M> {
        let decoded = message.decode(self.sizes()).map_err(|error| self.structure_error(error))?;
        self.own(decoded)
    }

    /// The message itself, where it may be a reference to it.
    pub(super) fn own<M: Message>(&self, message: MaybeShared<M>) -> Result<M> {
        let mut message = message;
        for _ in 0..REFERENCES_FOLLOWED {
            let reference = match message {
                MaybeShared::Own(message) => return Ok(message),
                MaybeShared::Shared(reference) => reference,
            };
            message = match reference {
                SharedReference::Object(address) => self.message_of_object(address)?,
                SharedReference::Heap(id) => {
                    let heap = self.shared_heap(M::TYPE)?;
                    MaybeShared::Own(heap.object(self, &id, |bytes, address| {
                        M::decode(bytes, address, self.sizes())
                            .map_err(|error| self.structure_error(error))
                    })?)
                }
            };
        }
        let kind = isotach_format::ErrorKind::Cycle;
        Err(self.structure_error(isotach_format::Error { structure: STRUCTURE, address: 0, kind }))
    }

    /// The attribute messages' and other messages' heap ID `id` in the heap of shared messages of
    /// a type: calls `with` on the bytes and their address.
    pub(super) fn shared_heap(&self, message_type: MessageType) -> Result<Arc<FractalHeap>> {
        let missing = || {
            self.bad_field(
                STRUCTURE,
                self.superblock.base_address,
                "message type in the shared message table",
                u64::from(message_type.0),
            )
        };
        let shared = self.shared_messages.get_or_find(|| self.open_shared_messages())?;
        let table = &shared.as_ref().ok_or_else(missing)?.table;
        let index = table.index_for(message_type.0).ok_or_else(missing)?;
        self.heap(index.heap_address.ok_or_else(missing)?)
    }

    /// The data type in an object's header, and the address of the committed type that it refers
    /// to, if it does.
    pub(super) fn datatype_of(
        &self,
        message: MaybeShared<Datatype>,
    ) -> Result<(Datatype, Option<u64>)> {
        let committed = match &message {
            MaybeShared::Shared(SharedReference::Object(address)) => Some(*address),
            _ => None,
        };
        Ok((self.own(message)?, committed))
    }

    fn message_of_object<M: Message>(&self, address: u64) -> Result<MaybeShared<M>> {
        let header = self.header(address)?;
        match header.find(M::TYPE) {
            Some(message) => {
                message.decode(self.sizes()).map_err(|error| self.structure_error(error))
            }
            None => {
                let value = u64::from(M::TYPE.0);
                Err(self.bad_field(STRUCTURE, address, "message type of the object", value))
            }
        }
    }

    fn open_shared_messages(&self) -> Result<Option<Arc<SharedMessages>>> {
        let Some(extension) = self.superblock.extension_address else { return Ok(None) };
        let header = Header::read(self, extension)?;
        let Some(location) = header.find(MessageType::SHARED_MESSAGE_TABLE) else {
            return Ok(None);
        };
        let sizes = self.sizes();
        let location: SharedMessageTableLocation =
            location.decode_own(sizes).map_err(|error| self.structure_error(error))?;
        let table = self.structure(location.address, 256, |bytes| {
            SharedMessageTable::decode(bytes, location.address, sizes, location.index_count)
        })?;
        Ok(Some(Arc::new(SharedMessages { table })))
    }
}
