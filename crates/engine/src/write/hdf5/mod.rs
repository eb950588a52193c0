//! Writing netCDF-4: the draft as HDF5 objects.
//!
//! ```text
//! values -> planned (how they are stored) -> data::Store -> fresh space
//! draft  -> scales -> content -> objects -> fresh space, and what changes in place -> commit
//! ```

mod attributes;
mod blocks;
mod committing;
mod content;
mod datatypes;
mod dense;
mod filters;
mod heap;
mod index;
mod known;
mod objects;
mod origin;
mod planned;
mod refit;
mod scales;
mod sweep;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use foldhash::fast::RandomState;
use isotach_codec::registry::registered_name;
use isotach_format::hdf5::message::layout::Layout;
use isotach_format::hdf5::superblock::{BtreeK, Superblock};
use isotach_format::hdf5::{Encoding, Sizes};
use isotach_model::convert::{RangeReport, Rules};
use isotach_model::selection::Selection;
use isotach_model::{StoredType, Values};

use self::blocks::Block;
use self::heap::FileHeap;
use self::index::Index;
use self::objects::{Changes, Objects};
use self::origin::Origins;
use self::planned::Planned;
use self::scales::{Node, Scales};
use super::Backend;
use super::commit::{CommitError, Committer};
use super::data::Store;
use super::reading_number::ReadingNumber;
use super::target::Target;
use crate::draft::{AttributeOwner, Draft, Item, Place, VariableId};
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::mapping::{hdf5, netcdf4};
use crate::plan::layout::{ArrayId, ArrayLayout};
use crate::read::{Array, Live};
use crate::storage::WriteBehind;
use crate::storage::pinned::Pinned;
use crate::variable::{FilterUse, StorageInfo};
use crate::writer::{CreateOptions, Layout as Structures};

/// What structures are aligned to.
const ALIGNMENT: u64 = 8;
/// Bytes of a superblock of version 2.
const SUPERBLOCK_BYTES: u64 = 48;

/// A netCDF-4 file that is being written.
pub(super) struct Hdf5Backend {
    target: Target,
    /// The storage of the target: a commit begins when it keeps nothing back.
    behind: Arc<WriteBehind>,
    committer: Committer,
    heap: Arc<FileHeap>,
    variables: RwLock<HashMap<VariableId, Arc<WrittenVariable>, RandomState>>,
    /// Shapes of chunks that nobody has said and that are settled.
    told: HashMap<VariableId, Vec<u64>>,
    /// Those that elements were put into since the last commit.
    put_into: Mutex<BTreeSet<VariableId>>,
    objects: Objects,
    scales: Arc<Scales>,
    /// Those that there were when the file was opened.
    opened_scales: Arc<Scales>,
    /// [`Draft::revision`] of the definitions that are in the file.
    revision: Option<u64>,
    indexes: HashMap<VariableId, Index>,
    /// Objects that were there when the file was opened.
    origins: Origins,
    /// Those of them whose dimensions are others since.
    related: HashSet<Node>,
    /// The superblock of a file that was opened.
    opened: Option<Superblock>,
    /// Whether the root group's links were written anew.
    has_new_root: bool,
    /// Bytes before those of the target.
    user_block_bytes: u64,
    /// What a commit has to write for objects: all of it where the last one failed.
    pending: Changes,
    /// The same for chunk indexes, which are built anew after a commit that failed.
    pending_indexes: Changes,
    /// The objects that commits which failed would have written.
    unwritten: HashSet<Node>,
    /// See [`Backend::take_lost`].
    lost: Option<Error>,
    /// What the commit that is under way changes in chunks that are in use.
    rows: Vec<Block>,
    /// Where the values of variables begin, as of the last commit.
    places: HashMap<VariableId, Layout>,
    encoding: Encoding,
    structures: Structures,
    /// See [`crate::EditOptions::track_times`].
    tracks_times: bool,
    /// Half the entries of a node of chunk trees.
    chunk_tree_k: u16,
}

/// How a variable is stored, and where its values go.
struct WrittenVariable {
    planned: Arc<Planned>,
    store: Store,
    reading: ReadingNumber,
    /// Whether it is known to be among [`Hdf5Backend::put_into`].
    is_put_into: AtomicBool,
}

impl WrittenVariable {
    fn new(planned: Planned, store: Store) -> Self {
        let (reading, is_put_into) = (ReadingNumber::new(), AtomicBool::new(false));
        Self { planned: Arc::new(planned), store, reading, is_put_into }
    }
}

impl Hdf5Backend {
    /// An empty file in `target`, committed.
    pub(super) fn create(target: Target, options: &CreateOptions) -> Result<Self> {
        target.space.allocate(SUPERBLOCK_BYTES, ALIGNMENT);
        let storage = Arc::clone(&target.storage);
        let committer = Committer::open(&target.name, storage, 0, 0, options.edit.durability)?;
        let (target, behind) = target.gathering();
        Ok(Self {
            heap: Arc::new(FileHeap::new(target.clone(), Sizes::default())),
            target,
            behind,
            committer,
            variables: RwLock::default(),
            told: HashMap::new(),
            put_into: Mutex::default(),
            objects: Objects::default(),
            scales: Arc::default(),
            opened_scales: Arc::default(),
            revision: None,
            indexes: HashMap::new(),
            origins: Origins::default(),
            related: HashSet::new(),
            opened: None,
            has_new_root: false,
            user_block_bytes: options.user_block_bytes,
            pending: Changes::default(),
            pending_indexes: Changes::default(),
            unwritten: HashSet::new(),
            lost: None,
            rows: Vec::new(),
            places: HashMap::new(),
            encoding: Encoding::default(),
            structures: options.layout,
            tracks_times: options.edit.track_times,
            chunk_tree_k: BtreeK::default().indexed_storage,
        })
    }

    /// The file that `objects` shows, for changing it; `draft` is what is in it.
    pub(super) fn open(
        target: Target,
        committer: Committer,
        draft: &mut Draft,
        objects: &hdf5::Objects,
        tracks_times: bool,
    ) -> Result<Self> {
        let superblock = objects.superblock().clone();
        let sizes = superblock.sizes;
        let widest = sizes.offset.max(sizes.length) as u64;
        let refusal = match objects.has_other_parts()? {
            true => Some((
                "writing where other parts of a file are, superblock version",
                superblock.version.into(),
            )),
            false => (widest > 8).then_some(("writing with addresses or lengths of bytes", widest)),
        };
        if let Some((feature, value)) = refusal {
            let kind = isotach_format::ErrorKind::Unsupported { feature, value };
            let error = isotach_format::Error { structure: "superblock", address: 0, kind };
            return Err(target.error(ErrorKind::Structure(error)));
        }
        let origins = origin::find(draft, objects)?;
        let mut opened = Objects::default();
        let btree_k = objects.btree_k()?;
        opened.adopt(&origins, btree_k);
        let (target, behind) = target.gathering();
        let scales = Arc::new(Scales::find(draft));
        Ok(Self {
            heap: Arc::new(FileHeap::new(target.clone(), sizes)),
            target,
            behind,
            committer,
            variables: RwLock::default(),
            told: HashMap::new(),
            put_into: Mutex::default(),
            objects: opened,
            opened_scales: Arc::clone(&scales),
            scales,
            revision: Some(draft.revision()),
            indexes: HashMap::new(),
            origins,
            related: HashSet::new(),
            opened: Some(superblock),
            has_new_root: false,
            user_block_bytes: 0,
            pending: Changes::default(),
            pending_indexes: Changes::default(),
            unwritten: HashSet::new(),
            lost: None,
            rows: Vec::new(),
            places: HashMap::new(),
            encoding: Encoding { sizes, ..Encoding::default() },
            structures: Structures::Compatible,
            tracks_times,
            chunk_tree_k: btree_k.indexed_storage,
        })
    }

    /// How the variable is stored; settled from the first time on.
    fn written(&self, draft: &Draft, id: VariableId) -> Result<Arc<WrittenVariable>> {
        let known = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&id) {
            return Ok(Arc::clone(known));
        }
        drop(known);
        let mut variables = self.variables.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = variables.get(&id) {
            return Ok(Arc::clone(known));
        }
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        if variable.place == Place::Elsewhere {
            let name = variable.name.to_string();
            return Err(self.fault(DefinitionFault::NotWritable { name }));
        }
        let dataset = self.dataset(id);
        let planned = match dataset {
            Some(dataset) => Planned::opened(dataset, self.encoding.sizes)?,
            None => self.plan(draft, id)?,
        };
        let existing = dataset.map(|dataset| dataset.array()).transpose()?;
        let store =
            index::store(draft, id, &planned, existing.map(|found| &**found), &self.target)?;
        let written = Arc::new(WrittenVariable::new(planned, store));
        variables.insert(id, Arc::clone(&written));
        Ok(written)
    }

    /// Whether the variable has a store.
    fn is_written(&self, id: VariableId) -> bool {
        self.variables.read().unwrap_or_else(PoisonError::into_inner).contains_key(&id)
    }

    /// The data set that the variable was when the file was opened.
    fn dataset(&self, id: VariableId) -> Option<&hdf5::Dataset> {
        self.origins.get(Node::Variable(id))?.dataset.as_ref()
    }

    fn plan(&self, draft: &Draft, id: VariableId) -> Result<Planned> {
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        let planned =
            Planned::new(draft, variable, &self.heap, self.structures, self.told.get(&id));
        planned.map_err(|kind| self.target.error(kind))
    }

    /// Where the elements of a variable are that were flushed after its `number` was told.
    fn layout_of(
        &self,
        draft: &Draft,
        id: VariableId,
        written: &WrittenVariable,
        number: u64,
    ) -> Result<ArrayLayout> {
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        let group = draft.group(variable.group).map_err(|fault| self.fault(fault))?;
        Ok(ArrayLayout {
            id: ArrayId { file: number, address: id.0 as u64 },
            file: Arc::clone(&self.target.name),
            path: group.path_of(&variable.name).into(),
            storage: self.target.readable(),
            shape: variable.extent.clone(),
            element_size: written.planned.element_size(),
            fill: written.planned.fill_element(),
            fill_beyond: written.planned.fill_beyond.clone(),
            placement: written.store.placement(),
        })
    }

    fn fault(&self, fault: DefinitionFault) -> Error {
        self.target.error(ErrorKind::Definition(fault))
    }
}

impl Backend for Hdf5Backend {
    fn stored_type(&self, draft: &Draft, id: VariableId) -> Result<StoredType> {
        if let Some(dataset) = self.dataset(id) {
            return Ok(netcdf4::stored_type(dataset.datatype()?));
        }
        let known = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&id) {
            return Ok(known.planned.stored.clone());
        }
        drop(known);
        Ok(self.written(draft, id)?.planned.stored.clone())
    }

    fn encode(
        &self,
        stored: &StoredType,
        values: &Values,
        rules: Rules,
        into: &mut Vec<u8>,
    ) -> Result<RangeReport> {
        let encoded = stored.encode(values, rules, &mut &*self.heap, into);
        encoded.map_err(|error| self.target.error(heap::encode_error(error)))
    }

    fn check_put(
        &self,
        draft: &Draft,
        id: VariableId,
        selection: &Selection,
        extent: &[u64],
    ) -> Result<()> {
        self.written(draft, id)?.store.check(selection, extent)
    }

    fn put(
        &self,
        draft: &Draft,
        id: VariableId,
        selection: &Selection,
        elements: &[u8],
    ) -> Result<()> {
        let written = self.written(draft, id)?;
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        // Before the elements: some of them may come into the file though not all do.
        if !written.is_put_into.load(Relaxed) {
            self.put_into.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
            written.is_put_into.store(true, Relaxed);
        }
        let put = written.store.write(selection, elements, &variable.extent);
        written.reading.outdate();
        put
    }

    fn grow(&self, draft: &Draft, id: VariableId, _extent: &[u64]) -> Result<()> {
        // Its store knows how far it reached before, and whether it is written here at all.
        self.written(draft, id).map(drop)
    }

    fn array(&self, draft: &Draft, id: VariableId) -> Result<Array> {
        // Before anything is looked up: what is found from now on keeps its place as long as the array lives.
        let pin = self.target.space.pin();
        if !self.is_written(id)
            && let Some(origin) = draft.variable(id).ok().and_then(|found| found.origin.as_ref())
        {
            let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
            let mut array = Array::clone(&*origin.array()?);
            array.layout.storage = Arc::new(Pinned::new(array.layout.storage, pin));
            array.shape = draft.shape(variable).map_err(|fault| self.fault(fault))?;
            if let Some(dataset) = self.dataset(id) {
                // Other variables may have made its dimensions longer since.
                array.layout.fill_beyond = netcdf4::fill_beyond(dataset)?;
            }
            return Ok(array);
        }
        let written = self.written(draft, id)?;
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        let number = written.reading.tell();
        written.store.flush(&variable.extent)?;
        let planned = &written.planned;
        let mut layout = self.layout_of(draft, id, &written, number)?;
        layout.storage = Arc::new(Pinned::new(layout.storage, pin));
        Ok(Array {
            layout,
            shape: draft.shape(variable).map_err(|fault| self.fault(fault))?,
            stored: planned.stored.clone(),
            heap: (!planned.stored.is_flat()).then(|| Arc::clone(&self.heap) as _),
            rules: draft.rules(),
            live: Live::default(),
        })
    }

    fn storage_info(&self, draft: &Draft, id: VariableId) -> Result<StorageInfo> {
        if let Some(origin) = draft.variable(id).ok().and_then(|found| found.origin.as_ref()) {
            return origin.storage().map(|found| StorageInfo::clone(&found));
        }
        let known = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        let planned = match known.get(&id) {
            Some(written) => Arc::clone(&written.planned),
            None => Arc::new(self.plan(draft, id)?),
        };
        let filters = planned.pipeline.filters.iter().map(|filter| FilterUse {
            id: filter.id,
            name: registered_name(filter.id).unwrap_or_default().to_owned(),
            parameters: filter.parameters.clone(),
        });
        Ok(StorageInfo {
            kind: planned.kind,
            chunk_shape: planned.chunk_shape.clone(),
            filters: filters.collect(),
            endianness: crate::mapping::netcdf4::endianness(&planned.datatype),
        })
    }

    fn check_attributes(&self, owner: AttributeOwner, bytes: u64) -> Result<()> {
        let node = match owner {
            AttributeOwner::Group(id) => Node::Group(id),
            AttributeOwner::Variable(id) => Node::Variable(id),
        };
        self.origins.get(node).map_or(Ok(()), |origin| origin.check_attributes(bytes))
    }

    fn has_values(&self, id: VariableId) -> bool {
        self.dataset(id).is_some() || self.is_written(id)
    }

    fn tell_chunks(&mut self, draft: &Draft, id: VariableId) -> Result<()> {
        Hdf5Backend::tell_chunks(self, draft, id)
    }

    fn commit(&mut self, draft: &mut Draft, is_last: bool) -> Result<()> {
        let put_into = self.put_into.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut changed = std::mem::take(put_into);
        let known = self.variables.get_mut().unwrap_or_else(PoisonError::into_inner);
        for written in changed.iter().filter_map(|id| known.get(id)) {
            written.is_put_into.store(false, Relaxed);
        }
        changed.extend(draft.touched().iter().filter_map(|&item| match item {
            Item::Variable(id) => Some(id),
            _ => None,
        }));
        let committed = self.commit_values(draft, &changed, is_last);
        if committed.is_err() {
            self.give_up_indexes(&changed);
            let put_into = self.put_into.get_mut().unwrap_or_else(PoisonError::into_inner);
            put_into.append(&mut changed);
        }
        committed
    }

    fn take_lost(&mut self) -> Option<Error> {
        self.lost.take()
    }

    fn put_into(&self) -> Vec<VariableId> {
        self.put_into.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    fn close(&mut self) -> Result<()> {
        let superblock = |end| self.superblock(end);
        let closed = self.committer.close(&self.target.space, 0, superblock);
        closed.map_err(CommitError::into_error)?;
        // Whoever keeps a closed file keeps no chunks, and none of the memory that others may use for theirs.
        self.variables.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.indexes.clear();
        Ok(())
    }

    fn discard(&mut self) -> Result<()> {
        // The stores wait for chunks that are being written, and forget those that wait.
        self.variables.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.behind.forget();
        self.committer.discard(&self.target.space)
    }
}
