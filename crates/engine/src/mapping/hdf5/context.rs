//! The open file: what is known of it, and the structures of it that are kept.

use std::io;
use std::sync::Arc;

use isotach_format::Error as FormatError;
use isotach_format::hdf5::Sizes;
use isotach_format::hdf5::superblock::{self, Superblock};

use super::btree2::NodeKey;
use super::fractal_heap::FractalHeap;
use super::global_heap::Collection;
use super::group::Group;
use super::header::Header;
use super::kept::Kept;
use super::node::Object;
use super::other_files::OtherFiles;
use super::shared_message::SharedMessages;
use crate::cache::FileNumber;
use crate::error::{Error, ErrorKind, Result};
use crate::file::OpenOptions;
use crate::mapping::once::Once;
use crate::storage::{
    MetadataBytes, MetadataReader, Storage, became_shorter, is_past_end, storage_error, uninit,
};
use crate::write::recovery;

/// Object headers that are kept decoded, in bytes of their blocks.
const KEPT_HEADER_BYTES: u64 = 4 << 20;
/// Global heap collections that are kept, in bytes. The libraries write collections of 4 KiB.
const KEPT_COLLECTION_BYTES: u64 = 8 << 20;
/// Nodes of version-2 B-trees that are kept, in bytes. The libraries write nodes of 512 to 2,048
/// bytes; these are the upper levels of any tree and many of its leaves.
const KEPT_NODE_BYTES: u64 = 1 << 20;
/// Fractal heaps that are kept, by count; each keeps its blocks within a bound of its own.
const KEPT_HEAPS: u64 = 64;

/// An open HDF5 file.
pub(super) struct Context {
    pub(super) name: Arc<str>,
    /// Unique for each opened file in this process.
    pub(super) file_number: FileNumber,
    pub(super) storage: Arc<dyn Storage>,
    pub(super) superblock: Superblock,
    pub(super) options: OpenOptions,
    pub(super) others: OtherFiles,
    reader: MetadataReader,
    headers: Kept<u64, Arc<Header>>,
    pub(super) collections: Kept<u64, Arc<Collection>>,
    pub(super) nodes: Kept<NodeKey, Arc<[u8]>>,
    pub(super) heaps: Kept<u64, Arc<FractalHeap>>,
    pub(super) shared_messages: Once<Option<Arc<SharedMessages>>>,
}

/// The place of the superblock in what `reader` delivers; `None` where it is not HDF5.
pub(crate) fn find_superblock(reader: &MetadataReader) -> Result<Option<u64>> {
    for address in superblock::candidate_addresses(reader.file_len()) {
        let bytes = reader.fetch(address, superblock::SIGNATURE.len() as u64)?;
        if superblock::is_signature(&bytes) {
            return Ok(Some(address));
        }
    }
    Ok(None)
}

/// `reader` and the superblock that it finds.
fn with_superblock(reader: MetadataReader) -> Result<(MetadataReader, Superblock)> {
    let Some(address) = find_superblock(&reader)? else {
        let shown = reader.fetch(0, reader.file_len().min(8))?;
        let kind = ErrorKind::UnknownFormat { first_bytes: shown.to_vec() };
        return Err(Error::new(reader.file(), kind));
    };
    let superblock = reader.structure(address, superblock::USUAL_BYTES as u64, |bytes| {
        Superblock::decode(bytes, address)
    })?;
    Ok((reader, superblock))
}

/// The length of the storage, as a writer has made it by now: the end that its superblock says may be later than
/// what was found when `reader` was made.
fn len_beside_writer(reader: &MetadataReader) -> Result<u64> {
    if reader.is_costly() {
        return Ok(reader.file_len());
    }
    let len = reader.storage().len();
    len.map_err(|source| storage_error(reader.file(), 0, 0, source))
}

impl Context {
    /// Opens what `reader` delivers; reads the superblock only.
    pub(super) fn open(
        reader: MetadataReader,
        options: &OpenOptions,
        others: OtherFiles,
    ) -> Result<Arc<Self>> {
        let (name, mut storage) = (Arc::clone(reader.file()), Arc::clone(reader.storage()));
        let mut opened = with_superblock(reader)?;
        // Behind the end there may be what a writer has committed and not yet changed in place.
        let (base, end) = (opened.1.base_address, opened.1.end_of_file_address);
        if len_beside_writer(&opened.0)? > end
            && let Some(committed) =
                recovery::lay_over(&name, &storage, base, end.saturating_sub(base))?
        {
            storage = committed;
            let reader = MetadataReader::new(Arc::clone(&name), Arc::clone(&storage))?;
            opened = with_superblock(reader)?;
        } else if opened.0.file_len() < end {
            // It became longer before the superblock was read.
            let reader = MetadataReader::new(Arc::clone(&name), Arc::clone(&storage))?;
            opened = with_superblock(reader)?;
        }
        // What was read counts only if no record was taken away meanwhile.
        storage.ensure_state().map_err(|source| storage_error(&name, base, 0, source))?;
        Ok(Arc::new(Self::of(&name, storage, opened, options, others)))
    }

    fn of(
        name: &Arc<str>,
        storage: Arc<dyn Storage>,
        (reader, superblock): (MetadataReader, Superblock),
        options: &OpenOptions,
        others: OtherFiles,
    ) -> Self {
        Self {
            name: Arc::clone(name),
            file_number: FileNumber::new(),
            storage,
            superblock,
            options: options.clone(),
            others,
            reader,
            headers: Kept::new(KEPT_HEADER_BYTES),
            collections: Kept::new(KEPT_COLLECTION_BYTES),
            nodes: Kept::new(KEPT_NODE_BYTES),
            heaps: Kept::new(KEPT_HEAPS),
            shared_messages: Once::new(),
        }
    }

    /// Widths of addresses and lengths.
    pub(super) fn sizes(&self) -> Sizes {
        self.superblock.sizes
    }

    /// Offset in the storage of an address of the file.
    pub(super) fn offset(&self, address: u64) -> u64 {
        // What is beyond 64 bits is beyond the end too, where reading it says so.
        self.superblock.base_address.saturating_add(address)
    }

    /// Length of the file, counted in its own addresses.
    pub(super) fn len(&self) -> u64 {
        self.reader.file_len().saturating_sub(self.superblock.base_address)
    }

    /// The structure at `address`; see [`MetadataReader::structure`].
    pub(super) fn structure<T>(
        &self,
        address: u64,
        first_guess: u64,
        decode: impl FnMut(&[u8]) -> isotach_format::Result<T>,
    ) -> Result<T> {
        self.reader.structure(self.offset(address), first_guess, decode)
    }

    /// Exactly `length` bytes at `address`.
    pub(super) fn fetch(&self, address: u64, length: u64) -> Result<MetadataBytes> {
        self.reader.fetch(self.offset(address), length)
    }

    /// Exactly `length` bytes at `address` of what no commit changes where it stands; not kept.
    pub(super) fn fetch_held(&self, address: u64, length: u64) -> Result<MetadataBytes> {
        self.reader.fetch_held(self.offset(address), length)
    }

    /// See [`MetadataReader::keep_all`].
    pub(super) fn keep_all(&self) {
        self.reader.keep_all();
    }

    /// Whether [`Context::expect`] spares calls.
    pub(super) fn is_costly(&self) -> bool {
        self.reader.is_costly()
    }

    /// Says that structures at addresses with lengths will be asked for; see
    /// [`MetadataReader::expect`].
    pub(super) fn expect(&self, structures: impl Iterator<Item = (u64, u64)>) {
        self.reader.expect(structures.map(|(address, length)| (self.offset(address), length)));
    }

    /// Says that `count` objects will be opened; see [`MetadataReader::expect_objects`].
    pub(super) fn expect_objects(&self, count: u64) {
        self.reader.expect_objects(count);
    }

    /// Exactly `length` bytes at `address`, which are wanted once and not kept; `None` where they
    /// are better fetched with others, or lie in memory.
    pub(super) fn fetch_once(&self, address: u64, length: u64) -> Result<Option<Vec<u8>>> {
        let offset = self.offset(address);
        let cost = self.storage.call_cost_bytes();
        let is_within = offset.checked_add(length).is_some_and(|end| end <= self.reader.file_len());
        let is_kept = self.reader.keeps_all() || self.storage.as_slice().is_some();
        if length < cost || !is_within || is_kept {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        usize::try_from(length)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
            .and_then(|len| uninit::read_vec(self.storage.as_ref(), offset, len, &mut bytes))
            .map_err(|source| if is_past_end(&source) { became_shorter() } else { source })
            .and_then(|()| self.storage.ensure_state())
            .map_err(|source| storage_error(&self.name, offset, length, source))?;
        Ok(Some(bytes))
    }

    /// The object header at `address`; kept.
    pub(super) fn header(&self, address: u64) -> Result<Arc<Header>> {
        self.headers.get_or_make(address, || {
            let header = Header::read(self, address)?;
            let weight = header.byte_len();
            Ok((Arc::new(header), weight))
        })
    }

    /// The root group.
    pub(super) fn root(self: &Arc<Self>) -> Result<Group> {
        let address = self.superblock.root_address;
        match Object::open(self, address, "/".into())? {
            Object::Group(group) => Ok(group),
            Object::Unknown(unknown) => Err(unknown.error),
            Object::Dataset(_) | Object::Datatype(_) => Err(self.structure_error(FormatError {
                structure: "superblock",
                address: self.superblock.base_address,
                kind: isotach_format::ErrorKind::Field {
                    field: "root group's address",
                    value: address,
                },
            })),
        }
    }

    /// An error of `kind` in this file.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.name, kind)
    }

    /// The error that a structure is broken.
    pub(super) fn structure_error(&self, error: FormatError) -> Error {
        self.error(ErrorKind::Structure(error))
    }

    /// The error that `field` of `structure` at `address` cannot be `value`.
    pub(super) fn bad_field(
        &self,
        structure: &'static str,
        address: u64,
        field: &'static str,
        value: u64,
    ) -> Error {
        let kind = isotach_format::ErrorKind::Field { field, value };
        self.structure_error(FormatError { structure, address, kind })
    }
}

/// Bounds the walk over a tree: the nodes of a tree do not overlap, so together they are no larger
/// than the file. What is larger leads back to itself.
pub(super) struct WalkBudget {
    remaining_bytes: u64,
}

impl WalkBudget {
    /// A budget for one walk in `context`'s file.
    pub(super) fn new(context: &Context) -> Self {
        Self { remaining_bytes: context.len() }
    }

    /// Takes the `bytes` of the `structure` at `address` off what is left.
    pub(super) fn spend(
        &mut self,
        context: &Context,
        bytes: u64,
        structure: &'static str,
        address: u64,
    ) -> Result<()> {
        match self.remaining_bytes.checked_sub(bytes) {
            Some(remaining) => {
                self.remaining_bytes = remaining;
                Ok(())
            }
            None => Err(context.structure_error(FormatError {
                structure,
                address,
                kind: isotach_format::ErrorKind::Cycle,
            })),
        }
    }
}
