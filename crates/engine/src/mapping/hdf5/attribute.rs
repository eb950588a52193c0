//! Attributes in both forms of storage, listed or found by name.
//!
//! ```text
//! compact: attribute messages in the object's header
//! dense:   B-tree v2 (keys: hashes of names) -> attribute messages in the fractal heap
//! either:  the message may stand in the file's heap of shared messages
//! ```

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use isotach_format::checksum::lookup3;
use isotach_format::hdf5::btree::v2_record::{self, AttributeRecord};
use isotach_format::hdf5::message::{
    self, AttributeInfo, AttributeView, Dataspace, Datatype, MessageFlags, MessageType, RawMessage,
};
use isotach_format::hdf5::text::text;
use isotach_model::{StoredType, Values};

use super::btree2::BTree2;
use super::context::Context;
use super::fractal_heap::{FractalHeap, HeapWalk};
use super::node::NodeInner;
use super::stored::stored_type;
use super::values::decode_values;
use crate::error::{Error, Result};

/// An attribute of an object. Cheap to clone.
#[derive(Clone)]
pub struct Attribute {
    set: Arc<Set>,
    index: usize,
}

/// Attributes that were read together: their names and values share an allocation each.
struct Set {
    context: Arc<Context>,
    /// Path of the object.
    path: Arc<str>,
    entries: Vec<Entry>,
    /// Most attributes of an object are of the same few kinds.
    kinds: Vec<Kind>,
    names: String,
    data: Vec<u8>,
}

struct Entry {
    name: Range<usize>,
    data: Range<usize>,
    kind: usize,
    creation_order: Option<u32>,
}

/// What an attribute's elements are and how they are arranged.
struct Kind {
    datatype: Arc<Datatype>,
    committed_datatype: Option<u64>,
    dataspace: Dataspace,
}

/// The latest kinds that are compared with that of a further attribute.
const KINDS_COMPARED: usize = 8;
/// Room for the names and values of a usual object's attributes.
const USUAL_NAME_BYTES: usize = 128;
const USUAL_DATA_BYTES: usize = 256;

/// Where an attribute stands among those of its object: in order of creation where the object
/// tracks that, else as the file has them.
type Place = (Option<u32>, usize);

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
        // Most names differ in length, which is told without looking at them.
        let is_called =
            |found: &&Attribute| found.entry().name.len() == name.len() && found.name() == name;
        self.attributes.iter().find(is_called)
    }

    /// All attributes of an object.
    pub(super) fn read(node: &NodeInner) -> Self {
        let mut set = Set::with_usual_room(node);
        let mut places: Vec<(Place, usize)> = Vec::with_capacity(set.entries.capacity());
        let mut errors = Vec::new();
        walk(node, &mut |place, found| {
            let added = found.and_then(|(view, order)| set.add(view, order));
            match added {
                Ok(()) => places.push((place, places.len())),
                Err(error) => errors.push(error.at(&node.path)),
            }
        });
        places.sort_unstable();
        let set = Arc::new(set);
        let attribute = |(_, index)| Attribute { set: Arc::clone(&set), index };
        Self { attributes: places.into_iter().map(attribute).collect(), errors: errors.into() }
    }

    /// What `make` makes of all attributes that can be read, in their order. No more than one of
    /// them is held at a time.
    pub(super) fn map<T>(
        node: &NodeInner,
        mut make: impl FnMut(&Attribute) -> Option<T>,
    ) -> Vec<T> {
        let mut made: Vec<(Place, T)> = Vec::new();
        walk(node, &mut |place, found| {
            let attribute = found.and_then(|(view, order)| Attribute::new(node, view, order));
            made.extend(attribute.ok().and_then(|found| make(&found)).map(|made| (place, made)));
        });
        made.sort_by_key(|(place, _)| *place);
        made.into_iter().map(|(_, made)| made).collect()
    }

    /// One attribute; in dense storage no other is read.
    pub(super) fn find(node: &NodeInner, name: &str) -> Result<Option<Attribute>> {
        let context = &node.context;
        for raw in node.header.all(MessageType::ATTRIBUTE) {
            // One that cannot be decoded does not cost the others.
            let order = raw.creation_order.map(u32::from);
            let found = with_view(context, raw, |view| {
                (text(view.name) == name).then(|| Attribute::new(node, view, order))
            });
            if let Ok(Some(attribute)) = found {
                return attribute.map(Some);
            }
        }
        match Dense::open(node)? {
            Some(dense) => dense.find(node, name),
            None => Ok(None),
        }
    }
}

/// What a walk finds: an attribute and its order of creation.
type Found<'a> = Result<(AttributeView<'a>, Option<u32>)>;

/// Calls `visit` with every attribute of an object, and with what keeps others from being read.
fn walk(node: &NodeInner, visit: &mut dyn FnMut(Place, Found<'_>)) {
    let context = &node.context;
    let tracked = node.header.tracks_attribute_order();
    let mut count = 0;
    for raw in node.header.all(MessageType::ATTRIBUTE) {
        let order = raw.creation_order.map(u32::from);
        let place = (order.filter(|_| tracked), count);
        count += 1;
        if let Err(error) = with_view(context, raw, |view| visit(place, Ok((view, order)))) {
            visit(place, Err(error));
        }
    }
    let place = (None, count);
    match Dense::open(node) {
        Ok(Some(dense)) => dense.walk(context, &mut |index, found| {
            let order = found.as_ref().ok().and_then(|(_, order)| *order);
            visit((order.filter(|_| tracked), count + index), found);
        }),
        Ok(None) => {}
        Err(error) => visit(place, Err(error)),
    }
}

/// Calls `with` on what the message `raw` says, wherever it stands.
fn with_view<T>(
    context: &Context,
    raw: &RawMessage,
    with: impl FnOnce(AttributeView<'_>) -> T,
) -> Result<T> {
    if raw.flags.is_shared() {
        return Ok(with(context.message::<message::Attribute>(raw)?.view()));
    }
    let view = AttributeView::decode(raw.bytes(), raw.address, context.sizes());
    view.map(with).map_err(|error| context.structure_error(error))
}

impl Set {
    fn new(node: &NodeInner) -> Self {
        let (context, path) = (Arc::clone(&node.context), Arc::clone(&node.path));
        Self {
            context,
            path,
            entries: Vec::new(),
            kinds: Vec::new(),
            names: String::new(),
            data: Vec::new(),
        }
    }

    fn with_usual_room(node: &NodeInner) -> Self {
        let mut set = Self::new(node);
        let header = &node.header;
        let kinds = [MessageType::ATTRIBUTE, MessageType::ATTRIBUTE_INFO];
        if kinds.iter().any(|&kind| header.find(kind).is_some()) {
            set.entries.reserve(16);
            set.kinds.reserve(4);
            set.names.reserve(USUAL_NAME_BYTES);
            set.data.reserve(USUAL_DATA_BYTES);
        }
        set
    }

    fn add(&mut self, view: AttributeView<'_>, creation_order: Option<u32>) -> Result<()> {
        let (datatype, committed_datatype) = self.context.datatype_of(view.datatype)?;
        let dataspace = self.context.own(view.dataspace)?;
        let latest = self.kinds.len().saturating_sub(KINDS_COMPARED);
        let same = self.kinds[latest..].iter().position(|kind| {
            (kind.committed_datatype, &kind.dataspace) == (committed_datatype, &dataspace)
                && *kind.datatype == datatype
        });
        let kind = same.map_or(self.kinds.len(), |place| latest + place);
        if same.is_none() {
            let datatype = Arc::new(datatype);
            self.kinds.push(Kind { datatype, committed_datatype, dataspace });
        }
        let (name_start, data_start) = (self.names.len(), self.data.len());
        match std::str::from_utf8(view.name) {
            Ok(name) => self.names.push_str(name),
            Err(_) => self.names.push_str(&text(view.name)),
        }
        self.data.extend_from_slice(view.data);
        self.entries.push(Entry {
            name: name_start..self.names.len(),
            data: data_start..self.data.len(),
            kind,
            creation_order,
        });
        Ok(())
    }
}

impl Attribute {
    fn new(node: &NodeInner, view: AttributeView<'_>, creation_order: Option<u32>) -> Result<Self> {
        let mut set = Set::new(node);
        set.add(view, creation_order)?;
        Ok(Self { set: Arc::new(set), index: 0 })
    }

    fn entry(&self) -> &Entry {
        &self.set.entries[self.index]
    }

    fn kind(&self) -> &Kind {
        &self.set.kinds[self.entry().kind]
    }

    /// Its name; bytes that are not UTF-8 stand as `\xNN`.
    pub fn name(&self) -> &str {
        &self.set.names[self.entry().name.clone()]
    }

    /// The type of its elements.
    pub fn datatype(&self) -> &Arc<Datatype> {
        &self.kind().datatype
    }

    /// Address of the committed data type that its type is, if it is one.
    pub fn committed_datatype(&self) -> Option<u64> {
        self.kind().committed_datatype
    }

    /// How its elements are arranged.
    pub fn dataspace(&self) -> &Dataspace {
        &self.kind().dataspace
    }

    /// Number of its elements.
    ///
    /// # Errors
    /// More than 64 bits can count.
    pub fn element_count(&self) -> Result<u64> {
        self.dataspace().element_count().ok_or_else(|| {
            let structure = "dataspace message";
            let error = self.set.context.bad_field(structure, 0, "element count", u64::MAX);
            error.at(&self.set.path)
        })
    }

    /// Its bytes as the file has them; may be longer than its elements.
    pub fn data(&self) -> &[u8] {
        &self.set.data[self.entry().data.clone()]
    }

    /// Its place in the order of creation, where the object tracks that.
    pub fn creation_order(&self) -> Option<u32> {
        self.entry().creation_order
    }

    /// Its elements as HDF5's own view shows them; see [`stored_type`].
    ///
    /// # Errors
    /// Fewer bytes than the elements need, or heap data that cannot be read.
    pub fn values(&self) -> Result<Values> {
        self.values_as(&stored_type(self.datatype()))
    }

    /// Its elements, taken for elements of `stored` form.
    ///
    /// # Errors
    /// As [`Attribute::values`].
    pub fn values_as(&self, stored: &StoredType) -> Result<Values> {
        let count = self.element_count()?;
        decode_values(&self.set.context, stored, self.data(), count)
            .map_err(|error| error.at(&self.set.path))
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

    /// Calls `visit` with every attribute and its place among the records of the index. They come
    /// in the heap's order, so that each of its blocks is decoded once.
    fn walk(&self, context: &Context, visit: &mut dyn FnMut(usize, Found<'_>)) {
        let mut records = Vec::new();
        let walked = self.by_name.for_each(context, &mut |record| {
            records.extend_from_slice(record);
            Ok(())
        });
        let records: Vec<&[u8]> = records.chunks_exact(self.by_name.header.record_bytes).collect();
        let mut by_place: Vec<(u64, usize)> = Vec::with_capacity(records.len());
        for (index, bytes) in records.iter().enumerate() {
            let place = self.record(context, bytes).map(|record| self.heap.place(record.heap_id));
            by_place.push((place.unwrap_or(0), index));
        }
        by_place.sort_unstable();
        let mut walk = HeapWalk::default();
        for (_, index) in by_place {
            let read = self.record(context, records[index]).and_then(|record| {
                self.with_view(context, &record, &mut walk, |view| {
                    visit(index, Ok((view, Some(record.creation_order))));
                })
            });
            if let Err(error) = read {
                visit(index, Err(error));
            }
        }
        if let Err(error) = walked {
            visit(records.len(), Err(error));
        }
    }

    /// Calls `with` on the attribute that a record leads to.
    fn with_view<T>(
        &self,
        context: &Context,
        record: &AttributeRecord<'_>,
        walk: &mut HeapWalk,
        with: impl FnOnce(AttributeView<'_>) -> T,
    ) -> Result<T> {
        let decode = |bytes: &[u8], address: u64| {
            AttributeView::decode(bytes, address, context.sizes())
                .map(with)
                .map_err(|error| context.structure_error(error))
        };
        match MessageFlags(record.message_flags).is_shared() {
            true => {
                context.shared_heap(MessageType::ATTRIBUTE)?.object(context, record.heap_id, decode)
            }
            false => self.heap.object_in_walk(context, record.heap_id, walk, decode),
        }
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
                    self.with_view(context, &record, &mut HeapWalk::default(), |view| {
                        let order = name.as_bytes().cmp(view.name);
                        let created = Some(record.creation_order);
                        found = order.is_eq().then(|| Attribute::new(node, view, created));
                        order
                    })
                }
                unequal => Ok(unequal),
            }
        })?;
        found.transpose()
    }
}
