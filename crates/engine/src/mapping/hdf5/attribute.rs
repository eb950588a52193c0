//! Attributes in both forms of storage, listed or found by name.
//!
//! ```text
//! compact: attribute messages in the object's header
//! dense:   B-tree v2 (keys: hashes of names) -> attribute messages in the fractal heap
//! either:  the message may stand in the file's heap of shared messages
//! ```

use std::cmp::Ordering;
use std::sync::Arc;

use isotach_format::checksum::lookup3;
use isotach_format::hdf5::btree::v2_record::{self, AttributeRecord};
use isotach_format::hdf5::message::{
    self, AttributeInfo, Dataspace, Datatype, Message, MessageFlags, MessageType,
};
use isotach_format::hdf5::text::text;
use isotach_model::{StoredType, Values};

use super::btree2::BTree2;
use super::context::Context;
use super::fractal_heap::FractalHeap;
use super::node::NodeInner;
use super::stored::stored_type;
use super::values::decode_values;
use crate::error::{Error, Result};

/// An attribute of an object. Cheap to clone.
#[derive(Clone)]
pub struct Attribute {
    inner: Arc<Inner>,
}

struct Inner {
    context: Arc<Context>,
    /// Path of the object.
    path: Arc<str>,
    name: String,
    datatype: Arc<Datatype>,
    committed_datatype: Option<u64>,
    dataspace: Dataspace,
    data: Arc<[u8]>,
    creation_order: Option<u32>,
}

/// The attributes of an object.
#[derive(Clone)]
pub struct Attributes {
    /// Those that can be read.
    pub attributes: Arc<[Attribute]>,
    /// Why others cannot.
    pub errors: Arc<[Error]>,
}

impl Attributes {
    /// The attribute `name`.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name() == name)
    }

    /// All attributes of an object.
    pub(super) fn read(node: &NodeInner) -> Result<Self> {
        let context = &node.context;
        let mut attributes = Vec::new();
        let mut errors = Vec::new();
        let mut take = |found: Result<Attribute>| match found {
            Ok(attribute) => attributes.push(attribute),
            Err(error) => errors.push(error.at(&node.path)),
        };
        for raw in node.header.all(MessageType::ATTRIBUTE) {
            let order = raw.creation_order.map(u32::from);
            let decoded = context.message::<message::Attribute>(raw);
            take(decoded.and_then(|message| Attribute::new(node, message, order)));
        }
        let dense = match Dense::open(node) {
            Ok(dense) => dense,
            Err(error) => {
                take(Err(error));
                None
            }
        };
        if let Some(dense) = dense {
            let walked = dense.by_name.for_each(context, &mut |record| {
                take(dense.attribute(node, record));
                Ok(())
            });
            if let Err(error) = walked {
                take(Err(error));
            }
        }
        if node.header.tracks_attribute_order() {
            attributes.sort_by_key(|attribute: &Attribute| attribute.inner.creation_order);
        }
        Ok(Self { attributes: attributes.into(), errors: errors.into() })
    }

    /// One attribute; in dense storage no other is read.
    pub(super) fn find(node: &NodeInner, name: &str) -> Result<Option<Attribute>> {
        let context = &node.context;
        for raw in node.header.all(MessageType::ATTRIBUTE) {
            // One that cannot be decoded does not cost the others.
            if let Ok(message) = context.message::<message::Attribute>(raw)
                && text(&message.name) == name
            {
                let order = raw.creation_order.map(u32::from);
                return Attribute::new(node, message, order).map(Some);
            }
        }
        match Dense::open(node)? {
            Some(dense) => dense.find(node, name),
            None => Ok(None),
        }
    }
}

impl Attribute {
    fn new(
        node: &NodeInner,
        message: message::Attribute,
        creation_order: Option<u32>,
    ) -> Result<Self> {
        let context = &node.context;
        let (datatype, committed_datatype) = context.datatype(message.datatype)?;
        let inner = Inner {
            context: Arc::clone(context),
            path: Arc::clone(&node.path),
            name: text(&message.name),
            datatype,
            committed_datatype,
            dataspace: context.own(message.dataspace)?,
            data: message.data,
            creation_order,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Its name; bytes that are not UTF-8 stand as `\xNN`.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The type of its elements.
    pub fn datatype(&self) -> &Arc<Datatype> {
        &self.inner.datatype
    }

    /// Address of the committed data type that its type is, if it is one.
    pub fn committed_datatype(&self) -> Option<u64> {
        self.inner.committed_datatype
    }

    /// How its elements are arranged.
    pub fn dataspace(&self) -> &Dataspace {
        &self.inner.dataspace
    }

    /// Number of its elements.
    ///
    /// # Errors
    /// More than 64 bits can count.
    pub fn element_count(&self) -> Result<u64> {
        let inner = &self.inner;
        inner.dataspace.element_count().ok_or_else(|| {
            let structure = "dataspace message";
            let error = inner.context.bad_field(structure, 0, "element count", u64::MAX);
            error.at(&inner.path)
        })
    }

    /// Its bytes as the file has them; may be longer than its elements.
    pub fn data(&self) -> &[u8] {
        &self.inner.data
    }

    /// Its place in the order of creation, where the object tracks that.
    pub fn creation_order(&self) -> Option<u32> {
        self.inner.creation_order
    }

    /// Its elements as HDF5's own view shows them; see [`stored_type`].
    ///
    /// # Errors
    /// Fewer bytes than the elements need, or heap data that cannot be read.
    pub fn values(&self) -> Result<Values> {
        self.values_as(&stored_type(&self.inner.datatype))
    }

    /// Its elements, taken for elements of `stored` form.
    ///
    /// # Errors
    /// As [`Attribute::values`].
    pub fn values_as(&self, stored: &StoredType) -> Result<Values> {
        let inner = &self.inner;
        let count = self.element_count()?;
        decode_values(&inner.context, stored, &inner.data, count)
            .map_err(|error| error.at(&inner.path))
    }
}

/// Dense storage of an object's attributes.
struct Dense {
    heap: Arc<FractalHeap>,
    by_name: BTree2,
}

impl Dense {
    fn open(node: &NodeInner) -> Result<Option<Self>> {
        let context = &node.context;
        let Some(info) = node.header.message::<AttributeInfo>(context)? else { return Ok(None) };
        let (Some(heap), Some(tree)) = (info.heap_address, info.name_index_address) else {
            return Ok(None);
        };
        Ok(Some(Self {
            heap: context.heap(heap)?,
            by_name: BTree2::open(context, tree, &[v2_record::ATTRIBUTE_NAME])?,
        }))
    }

    fn record<'a>(&self, context: &Context, record: &'a [u8]) -> Result<AttributeRecord<'a>> {
        let header = &self.by_name.header;
        AttributeRecord::decode(record, header.address, header.record_type)
            .map_err(|error| context.structure_error(error))
    }

    fn message(
        &self,
        context: &Context,
        record: &AttributeRecord<'_>,
    ) -> Result<message::Attribute> {
        let decode = |bytes: &[u8], address: u64| {
            message::Attribute::decode(bytes, address, context.sizes())
                .map_err(|error| context.structure_error(error))
        };
        match MessageFlags(record.message_flags).is_shared() {
            true => {
                context.shared_heap(MessageType::ATTRIBUTE)?.object(context, record.heap_id, decode)
            }
            false => self.heap.object(context, record.heap_id, decode),
        }
    }

    fn attribute(&self, node: &NodeInner, record: &[u8]) -> Result<Attribute> {
        let record = self.record(&node.context, record)?;
        let message = self.message(&node.context, &record)?;
        Attribute::new(node, message, Some(record.creation_order))
    }

    fn find(&self, node: &NodeInner, name: &str) -> Result<Option<Attribute>> {
        let context = &node.context;
        let hash = lookup3(name.as_bytes());
        let mut found = None;
        self.by_name.find(context, |bytes| {
            let record = self.record(context, bytes)?;
            match Some(hash).cmp(&record.hash) {
                // Names with the same hash stand in the order of the names.
                Ordering::Equal => {
                    let message = self.message(context, &record)?;
                    let order = name.as_bytes().cmp(&message.name);
                    found = order.is_eq().then_some((message, record.creation_order));
                    Ok(order)
                }
                unequal => Ok(unequal),
            }
        })?;
        let attribute = found.map(|(message, order)| Attribute::new(node, message, Some(order)));
        attribute.transpose()
    }
}
