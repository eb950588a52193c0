//! Data sets: type, shape, layout, filters, fill value.

use std::sync::Arc;

use isotach_format::hdf5::heap::local::LocalHeap;
use isotach_format::hdf5::message::dataspace::Dimension;
use isotach_format::hdf5::message::external_files::ExternalFileList;
use isotach_format::hdf5::message::fill_value::{Fill as FormatFill, OldFillValue};
use isotach_format::hdf5::message::{
    Dataspace, Datatype, FillValue, FilterPipeline, Layout, Message, MessageType,
};
use isotach_format::hdf5::text::text;

use super::context::Context;
use super::node::Node;
use super::virtual_dataset::{self, Mapping, SourceChain};
use crate::error::{Error, Result};
use crate::mapping::once::Once;
use crate::read::Array;

/// A data set. Cheap to clone.
#[derive(Clone)]
pub struct Dataset {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) node: Node,
    /// The virtual data sets through which this one was reached.
    pub(super) chain: SourceChain,
    datatype: Once<(Arc<Datatype>, Option<u64>)>,
    dataspace: Once<Dataspace>,
    layout: Once<Arc<Layout>>,
    filters: Once<Arc<FilterPipeline>>,
    array: Once<Arc<Array>>,
    pub(super) mappings: Once<Arc<[Mapping]>>,
}

/// The kinds of layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutKind {
    /// In the object header.
    Compact,
    /// In one piece (or in external files).
    Contiguous,
    /// In chunks.
    Chunked,
    /// Put together from other data sets.
    Virtual,
}

/// Whether a data set has a fill value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillStatus {
    /// None: what was never written is anything.
    Undefined,
    /// The library's, all bytes zero.
    Default,
    /// One that the writer chose.
    User,
}

/// A data set's fill value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    /// Whose it is.
    pub status: FillStatus,
    /// One element in stored form, for [`FillStatus::User`].
    pub value: Option<Arc<[u8]>>,
}

/// A raw data file that holds a part of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalFile {
    /// Its name as the file has it.
    pub name: String,
    /// First byte of the data in it.
    pub offset: u64,
    /// Bytes of data in it; `None` is unlimited.
    pub size: Option<u64>,
}

/// A source of a virtual data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualSource {
    /// Name of its file; `.` for the same file. May have `%b` for the number of a block.
    pub file: String,
    /// Path of the data set in it. May have `%b` too.
    pub dataset: String,
}

impl Dataset {
    pub(super) fn new(node: Node) -> Self {
        Self::in_chain(node, SourceChain::default())
    }

    /// The data set as the source of a virtual one.
    pub(super) fn in_chain(node: Node, chain: SourceChain) -> Self {
        let inner = Inner {
            node,
            chain,
            datatype: Once::new(),
            dataspace: Once::new(),
            layout: Once::new(),
            filters: Once::new(),
            array: Once::new(),
            mappings: Once::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What every object has: address, path, attributes.
    pub fn node(&self) -> &Node {
        &self.inner.node
    }

    /// The type of its elements.
    pub fn datatype(&self) -> Result<&Arc<Datatype>> {
        self.type_and_committed().map(|(datatype, _)| datatype)
    }

    /// Address of the committed data type that its type is, if it is one.
    pub fn committed_datatype(&self) -> Result<Option<u64>> {
        self.type_and_committed().map(|(_, committed)| *committed)
    }

    /// Its shape. That of a virtual data set with unlimited mappings is found from the present
    /// shapes of its sources, where other files may be opened.
    pub fn dataspace(&self) -> Result<&Dataspace> {
        let read = || {
            let stored = self.required::<Dataspace>()?;
            match &**self.layout()? {
                Layout::Virtual { .. } => virtual_dataset::extent(self, stored),
                _ => Ok(stored),
            }
        };
        self.inner.dataspace.get_or_find(|| self.at(read()))
    }

    /// Its shape as the file has it.
    pub fn stored_dataspace(&self) -> Result<Dataspace> {
        self.at(self.required::<Dataspace>())
    }

    /// Its axes; none for a scalar and for a null space.
    pub fn dimensions(&self) -> Result<&[Dimension]> {
        self.dataspace().map(Dataspace::dimensions)
    }

    /// The layout message.
    pub fn layout(&self) -> Result<&Arc<Layout>> {
        let read = || self.at(self.required::<Layout>().map(Arc::new));
        self.inner.layout.get_or_find(read)
    }

    /// The kind of layout.
    pub fn layout_kind(&self) -> Result<LayoutKind> {
        Ok(match &**self.layout()? {
            Layout::Compact(_) => LayoutKind::Compact,
            Layout::Contiguous { .. } => LayoutKind::Contiguous,
            Layout::Chunked(_) => LayoutKind::Chunked,
            Layout::Virtual { .. } => LayoutKind::Virtual,
        })
    }

    /// Elements of a chunk along each axis; `None` where there are no chunks.
    pub fn chunk_shape(&self) -> Result<Option<&[u64]>> {
        Ok(match &**self.layout()? {
            Layout::Chunked(chunked) => Some(&chunked.chunk_shape),
            _ => None,
        })
    }

    /// The filters in the order in which they were applied; none for none.
    pub fn filters(&self) -> Result<&Arc<FilterPipeline>> {
        let read = || {
            let found = self.node().header().message::<FilterPipeline>(self.context());
            self.at(found.map(|filters| Arc::new(filters.unwrap_or_default())))
        };
        self.inner.filters.get_or_find(read)
    }

    /// The fill value.
    pub fn fill(&self) -> Result<Fill> {
        let (context, header) = (self.context(), self.node().header());
        let read = || {
            let message = match header.message::<FillValue>(context)? {
                Some(message) => Some(message),
                None => header.message::<OldFillValue>(context)?.map(FillValue::from),
            };
            Ok(match message.map(|message| message.value) {
                Some(FormatFill::Default) => Fill { status: FillStatus::Default, value: None },
                // Libraries before 1.6 wrote no message where nobody set a value.
                None | Some(FormatFill::Undefined) => {
                    Fill { status: FillStatus::Undefined, value: None }
                }
                Some(FormatFill::User(value)) => {
                    Fill { status: FillStatus::User, value: Some(value) }
                }
            })
        };
        self.at(read())
    }

    /// The fill value message: also when space is reserved and filled.
    pub fn fill_message(&self) -> Result<Option<FillValue>> {
        self.at(self.node().header().message::<FillValue>(self.context()))
    }

    /// The raw data files that hold its elements; none for none.
    pub fn external_files(&self) -> Result<Vec<ExternalFile>> {
        self.at(self.read_external_files())
    }

    /// The sources of a virtual data set as its mappings name them; none for other layouts.
    pub fn virtual_sources(&self) -> Result<Vec<VirtualSource>> {
        let mappings = self.at(virtual_dataset::mappings(self))?;
        let source = |mapping: &Mapping| VirtualSource {
            file: text(&mapping.message.source_file),
            dataset: text(&mapping.message.source_data_set),
        };
        Ok(mappings.iter().map(source).collect())
    }

    /// Bytes of its elements in the file, as they are stored (filtered).
    pub fn storage_size(&self) -> Result<u64> {
        match &**self.layout()? {
            Layout::Compact(data) => Ok(data.len() as u64),
            Layout::Contiguous { address: None, .. } if self.external_files()?.is_empty() => Ok(0),
            Layout::Contiguous { len_bytes: Some(len_bytes), .. } => Ok(*len_bytes),
            Layout::Contiguous { .. } => {
                let elements = self.dataspace()?.element_count().unwrap_or(u64::MAX);
                Ok(elements.saturating_mul(u64::from(self.datatype()?.size())))
            }
            Layout::Chunked(_) => {
                let mut sum = 0_u64;
                if let crate::plan::layout::Placement::Chunked(chunked) =
                    &self.array()?.layout.placement
                {
                    chunked.index.for_each(&mut |_, place| {
                        sum = sum.saturating_add(place.stored_bytes);
                        Ok(())
                    })?;
                }
                Ok(sum)
            }
            Layout::Virtual { .. } => Ok(0),
        }
    }

    /// Where its elements lie and how one is stored, for reading them.
    pub fn array(&self) -> Result<&Arc<Array>> {
        let build = || self.at(super::array::build(self).map(Arc::new));
        self.inner.array.get_or_find(build)
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.inner.node.inner.context
    }

    /// `result` with this data set's path in its error.
    pub(super) fn at<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.at(self.node().path()))
    }

    /// The error that `field` of `structure` cannot be `value`.
    pub(super) fn bad_field(
        &self,
        structure: &'static str,
        field: &'static str,
        value: u64,
    ) -> Error {
        self.context().bad_field(structure, self.node().address(), field, value)
    }

    fn type_and_committed(&self) -> Result<&(Arc<Datatype>, Option<u64>)> {
        let read = || self.node().datatype_message();
        self.inner.datatype.get_or_find(read)
    }

    /// A message that every data set has.
    fn required<M: Message>(&self) -> Result<M> {
        let found = self.node().header().message::<M>(self.context())?;
        found.ok_or_else(|| {
            let value = u64::from(M::TYPE.0);
            self.bad_field("object header", "missing message's type", value)
        })
    }

    fn read_external_files(&self) -> Result<Vec<ExternalFile>> {
        let (context, header) = (self.context(), self.node().header());
        if header.find(MessageType::EXTERNAL_FILES).is_none() {
            return Ok(Vec::new());
        }
        let list = self.required::<ExternalFileList>()?;
        let (address, sizes) = (list.heap_address, context.sizes());
        let heap =
            context.structure(address, 32, |bytes| LocalHeap::decode(bytes, address, sizes))?;
        let segment = context.fetch(heap.segment_address, heap.segment_bytes)?;
        list.slots
            .iter()
            .map(|slot| {
                let name = heap
                    .name(&segment, slot.name_offset)
                    .map_err(|error| context.structure_error(error))?;
                Ok(ExternalFile {
                    name: text(name),
                    offset: slot.file_offset,
                    size: slot.len_bytes,
                })
            })
            .collect()
    }
}
