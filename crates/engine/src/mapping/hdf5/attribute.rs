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
use super::packed::{self, Packed};
use super::stored::stored_type;
use super::values::decode_values;
use crate::error::{Error, Result};
use crate::fault::Readable;

/// An attribute of an object. Cheap to clone.
#[derive(Clone)]
pub struct Attribute {
    set: Arc<Set>,
    index: usize,
}

/// Attributes that were read together: their names share an allocation, their values a few.
struct Set {
    context: Arc<Context>,
    /// Path of the object.
    path: Arc<str>,
    entries: Box<[Entry]>,
    /// Most attributes of an object are of the same few kinds.
    kinds: Vec<Kind>,
    names: String,
    data: Packed,
}

struct Entry {
    name: Range<usize>,
    data: packed::Place,
    kind: usize,
    creation_order: Option<u32>,
}

/// What an attribute's elements are and how they are arranged.
struct Kind {
    datatype: Datatype,
    committed_datatype: Option<u64>,
    dataspace: Dataspace,
}

/// The latest kinds that are compared with that of a further attribute.
const KINDS_COMPARED: usize = 8;
/// Room for a usual object's attributes: how many, of how many kinds, their names and values. In less than
/// 1 KiB each: for more, glibc first joins all small pieces that were freed.
const USUAL_COUNT: usize = 13;
const USUAL_KINDS: usize = 4;
const USUAL_NAME_BYTES: usize = 192;
const USUAL_DATA_BYTES: usize = 256;
/// Room for the records of its index, of 17 bytes each.
const USUAL_RECORD_BYTES: usize = 512;

/// Where an attribute stands among those of its object: in order of creation where the object
/// tracks that, else as the file has them.
type Place = (Option<u32>, usize);

/// The attributes of an object.
#[derive(Clone)]
pub struct Attributes {
    /// Those that can be read.
    set: Arc<Set>,
    /// Why the file does not have others that can be.
    pub errors: Arc<[Error]>,
}

impl Attributes {
    /// How many can be read.
    pub fn len(&self) -> usize {
        self.set.entries.len()
    }

    /// True where none can be read.
    pub fn is_empty(&self) -> bool {
        self.set.entries.is_empty()
    }

    /// Those that can be read, in the order of [`super::Node::attributes`].
    pub fn iter(&self) -> impl Iterator<Item = Attribute> {
        (0..self.len()).map(|index| self.at(index))
    }

    /// The attribute `name`.
    pub fn get(&self, name: &str) -> Option<Attribute> {
        // Most names differ in length, which is told without looking at them.
        let is_called =
            |entry: &Entry| entry.name.len() == name.len() && self.set.name(entry) == name;
        self.set.entries.iter().position(is_called).map(|index| self.at(index))
    }

    fn at(&self, index: usize) -> Attribute {
        Attribute { set: Arc::clone(&self.set), index }
    }

    /// All attributes of an object.
    pub(super) fn read(node: &NodeInner) -> Result<Self> {
        let mut set = Set::new(node);
        let mut entries: Vec<(Place, Entry)> = Vec::new();
        if may_have_attributes(node) {
            set.reserve_usual();
            entries.reserve(USUAL_COUNT);
        }
        let mut errors = Vec::new();
        walk(node, &mut |place, found| {
            let added = found.and_then(|(view, order)| set.add(view, order));
            match added {
                Ok(entry) => entries.push((place, entry)),
                Err(error) => error.at(&node.path).leave_out(&mut errors)?,
            }
            Ok(())
        })?;
        entries.sort_unstable_by_key(|(place, _)| *place);
        // Not collected from the vector, which would go on in its larger allocation.
        let mut exactly = Vec::with_capacity(entries.len());
        exactly.extend(entries.into_iter().map(|(_, entry)| entry));
        set.entries = exactly.into();
        // Made of an empty vector it would be an allocation.
        let errors = if errors.is_empty() { Arc::default() } else { errors.into() };
        Ok(Self { set: Arc::new(set), errors })
    }

    /// How many there are in dense storage, by what its index says; `None` where that is not used.
    pub(super) fn dense_count(node: &NodeInner) -> Result<Option<u64>> {
        Ok(Dense::open(node)?.map(|dense| dense.by_name.header.record_count))
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
            if let Some(Some(attribute)) = found.readable()? {
                return attribute.map(Some);
            }
        }
        match Dense::open(node)? {
            Some(dense) => dense.find(node, name),
            None => Ok(None),
        }
    }
}

fn may_have_attributes(node: &NodeInner) -> bool {
    let kinds = [MessageType::ATTRIBUTE, MessageType::ATTRIBUTE_INFO];
    kinds.iter().any(|&kind| node.header.find(kind).is_some())
}

/// What a walk finds: an attribute and its order of creation.
type Found<'a> = Result<(AttributeView<'a>, Option<u32>)>;

/// Calls `visit` with every attribute of an object, and with what keeps others from being read, until it does
/// not go on after that.
fn walk(node: &NodeInner, visit: &mut dyn FnMut(Place, Found<'_>) -> Result<()>) -> Result<()> {
    let context = &node.context;
    let tracked = node.header.tracks_attribute_order();
    let mut count = 0;
    for raw in node.header.all(MessageType::ATTRIBUTE) {
        let order = raw.creation_order.map(u32::from);
        let place = (order.filter(|_| tracked), count);
        count += 1;
        match with_view(context, raw, |view| visit(place, Ok((view, order)))) {
            Ok(visited) => visited?,
            Err(error) => visit(place, Err(error))?,
        }
    }
    let place = (None, count);
    match Dense::open(node) {
        Ok(Some(dense)) => dense.walk(context, &mut |index, found| {
            let order = found.as_ref().ok().and_then(|(_, order)| *order);
            visit((order.filter(|_| tracked), count + index), found)
        }),
        Ok(None) => Ok(()),
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
            entries: Box::default(),
            kinds: Vec::new(),
            names: String::new(),
            data: Packed::default(),
        }
    }

    fn reserve_usual(&mut self) {
        self.kinds.reserve(USUAL_KINDS);
        self.names.reserve(USUAL_NAME_BYTES);
        self.data.reserve(USUAL_DATA_BYTES);
    }

    fn name(&self, entry: &Entry) -> &str {
        &self.names[entry.name.clone()]
    }

    /// Takes an attribute in; the caller puts its entry among the others.
    fn add(&mut self, view: AttributeView<'_>, creation_order: Option<u32>) -> Result<Entry> {
        let (datatype, committed_datatype) = self.context.datatype_of(view.datatype)?;
        let dataspace = self.context.own(view.dataspace)?;
        let latest = self.kinds.len().saturating_sub(KINDS_COMPARED);
        let same = self.kinds[latest..].iter().position(|kind| {
            (kind.committed_datatype, &kind.dataspace) == (committed_datatype, &dataspace)
                && kind.datatype == datatype
        });
        let kind = same.map_or(self.kinds.len(), |place| latest + place);
        if same.is_none() {
            self.kinds.push(Kind { datatype, committed_datatype, dataspace });
        }
        let name_start = self.names.len();
        match std::str::from_utf8(view.name) {
            Ok(name) => self.names.push_str(name),
            Err(_) => self.names.push_str(&text(view.name)),
        }
        Ok(Entry {
            name: name_start..self.names.len(),
            data: self.data.add(view.data),
            kind,
            creation_order,
        })
    }
}

impl Attribute {
    fn new(node: &NodeInner, view: AttributeView<'_>, creation_order: Option<u32>) -> Result<Self> {
        let mut set = Set::new(node);
        set.entries = Box::new([set.add(view, creation_order)?]);
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
        self.set.name(self.entry())
    }

    /// The type of its elements.
    pub fn datatype(&self) -> &Datatype {
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
        self.set.data.get(&self.entry().data)
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
    fn walk(
        &self,
        context: &Context,
        visit: &mut dyn FnMut(usize, Found<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut records = Vec::with_capacity(USUAL_RECORD_BYTES);
        let walked = self.by_name.for_each(context, &mut |record| {
            records.extend_from_slice(record);
            Ok(())
        });
        let walked = walked.or_fault()?;
        let records = records.chunks_exact(self.by_name.header.record_bytes);
        let count = records.len();
        let mut by_place: Vec<(u64, usize, &[u8])> = Vec::with_capacity(count);
        for (index, bytes) in records.enumerate() {
            let place = self.record(context, bytes).map(|record| self.heap.place(record.heap_id));
            by_place.push((place.unwrap_or(0), index, bytes));
        }
        by_place.sort_unstable();
        self.heap.expect(context, by_place.iter().map(|(place, ..)| *place))?;
        let mut walk = HeapWalk::default();
        for (_, index, bytes) in by_place {
            let read = self.record(context, bytes).and_then(|record| {
                self.with_view(context, &record, &mut walk, |view| {
                    visit(index, Ok((view, Some(record.creation_order))))
                })
            });
            match read {
                Ok(visited) => visited?,
                Err(error) => visit(index, Err(error))?,
            }
        }
        walked.map_or_else(|error| visit(count, Err(error)), Ok)
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
