//! Writing netCDF-4: the draft as HDF5 objects.
//!
//! ```text
//! values -> planned (how they are stored) -> data::Store -> fresh space
//! draft  -> scales -> content -> objects -> fresh space, and what changes in place -> commit
//! ```

mod attributes;
mod blocks;
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
mod scales;
mod sweep;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use isotach_codec::registry::registered_name;
use isotach_format::hdf5::group::symbol_table_entry::EntryCache;
use isotach_format::hdf5::message::layout::Layout;
use isotach_format::hdf5::superblock::{BtreeK, Superblock};
use isotach_format::hdf5::{Encoding, Sizes};
use isotach_model::convert::{RangeReport, Rules};
use isotach_model::selection::Selection;
use isotach_model::{StoredType, Values, shape};

use self::blocks::{Block, write_together};
use self::content::Maker;
use self::heap::FileHeap;
use self::index::Index;
use self::objects::{Changes, Objects};
use self::origin::{Origin, Origins};
use self::planned::Planned;
use self::scales::{Node, Scales};
use super::Backend;
use super::commit::{Commit, CommitError, Committer};
use super::data::Store;
use super::target::Target;
use crate::cache::FileNumber;
use crate::draft::{AttributeOwner, Draft, GroupId, Item, Place, ROOT, VariableDraft, VariableId};
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::mapping::hdf5;
use crate::plan::layout::{ArrayId, ArrayLayout, Placement};
use crate::read::Array;
use crate::storage::WriteBehind;
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
    variables: RwLock<HashMap<VariableId, Arc<WrittenVariable>>>,
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
    /// Where the values of variables begin, as of the last commit.
    places: HashMap<VariableId, Layout>,
    encoding: Encoding,
    structures: Structures,
    /// Half the entries of a node of chunk trees.
    chunk_tree_k: u16,
}

/// How a variable is stored, and where its values go.
struct WrittenVariable {
    planned: Arc<Planned>,
    store: Store,
    /// A new one whenever its elements changed, as what is kept of them for reading is not true any
    /// more.
    reading: RwLock<FileNumber>,
    /// Whether somebody was told where the elements are since they changed.
    was_read: AtomicBool,
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
            places: HashMap::new(),
            encoding: Encoding::default(),
            structures: options.layout,
            chunk_tree_k: BtreeK::default().indexed_storage,
        })
    }

    /// The file that `objects` shows, for changing it; `draft` is what is in it.
    pub(super) fn open(
        target: Target,
        committer: Committer,
        draft: &mut Draft,
        objects: &hdf5::Objects,
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
        let survey = objects.clone();
        target.space.set_survey(Box::new(move || survey.used_space().ok()));
        let (target, behind) = target.gathering();
        let scales = Arc::new(Scales::find(draft));
        Ok(Self {
            heap: Arc::new(FileHeap::new(target.clone(), sizes)),
            target,
            behind,
            committer,
            variables: RwLock::default(),
            put_into: Mutex::default(),
            objects: opened,
            opened_scales: Arc::clone(&scales),
            scales,
            revision: None,
            indexes: HashMap::new(),
            origins,
            related: HashSet::new(),
            opened: Some(superblock),
            has_new_root: false,
            user_block_bytes: 0,
            pending: Changes::default(),
            pending_indexes: Changes::default(),
            unwritten: HashSet::new(),
            places: HashMap::new(),
            encoding: Encoding { sizes, ..Encoding::default() },
            structures: Structures::Compatible,
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
        let reading = RwLock::new(FileNumber::new());
        let (planned, was_read) = (Arc::new(planned), AtomicBool::new(false));
        let written = Arc::new(WrittenVariable { planned, store, reading, was_read });
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
        let planned = Planned::new(draft, variable, &self.heap, self.structures);
        planned.map_err(|kind| self.target.error(kind))
    }

    /// Where the elements of a variable are that were flushed.
    fn layout_of(
        &self,
        draft: &Draft,
        id: VariableId,
        written: &WrittenVariable,
    ) -> Result<ArrayLayout> {
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        let group = draft.group(variable.group).map_err(|fault| self.fault(fault))?;
        let number = written.reading.read().unwrap_or_else(PoisonError::into_inner).get();
        Ok(ArrayLayout {
            id: ArrayId { file: number, address: id.0 as u64 },
            file: Arc::clone(&self.target.name),
            path: group.path_of(&variable.name).into(),
            storage: self.target.readable(),
            shape: variable.extent.clone(),
            element_size: written.planned.element_size(),
            fill: written.planned.fill_element(),
            placement: written.store.placement(),
        })
    }

    fn fault(&self, fault: DefinitionFault) -> Error {
        self.target.error(ErrorKind::Definition(fault))
    }

    /// Brings the values of these variables to the file. Those that begin somewhere else now have to be
    /// written anew.
    fn flush(&mut self, draft: &Draft, ids: &BTreeSet<VariableId>) -> Result<()> {
        for &id in ids {
            // What was put into a variable that is deleted by now is lost.
            let Ok(variable) = draft.variable(id) else { continue };
            if variable.origin.is_some() && !self.is_written(id) {
                continue;
            }
            let written = self.written(draft, id)?;
            written.store.flush(&variable.extent)?;
            let k = self.chunk_tree_k;
            let mut index = match (self.indexes.remove(&id), self.dataset(id)) {
                (None, Some(dataset)) => Index::opened(dataset, &written.planned, k)?,
                (known, _) => known,
            };
            let changes = &mut self.pending_indexes;
            let layout =
                index::layout(&written, &variable.extent, k, &mut index, &self.target, changes);
            self.indexes.extend(index.map(|index| (id, index)));
            let layout = layout?;
            if let Some(layout) = layout
                && self.places.get(&id) != Some(&layout)
            {
                self.places.insert(id, layout);
                self.unwritten.insert(Node::Variable(id));
            }
        }
        self.heap.flush()
    }

    /// The objects that have to be written, children before parents.
    fn changed_nodes(&mut self, draft: &Draft, scales: &Scales) -> Vec<Node> {
        let mut changed = std::mem::take(&mut self.unwritten);
        changed.extend(draft.touched().iter().map(|&item| match item {
            Item::Group(id) => Node::Group(id),
            Item::Type(id) => Node::Type(id),
            Item::Dimension(id) => scales.scale(id).unwrap_or(Node::Dimension(id)),
            Item::Variable(id) => Node::Variable(id),
        }));
        // A dimension that another data set stands for now: all that refer to it, too.
        let mut related = HashSet::new();
        let is_redefined = self.revision != Some(draft.revision());
        let dimensions = draft.dimensions().filter(|_| is_redefined);
        for (id, dimension) in dimensions {
            let (before, now) = (self.scales.scale(id), scales.scale(id));
            let Some(now) = now else { continue };
            if before != Some(now) || self.objects.address(now).is_none() {
                changed.insert(Node::Group(dimension.group));
                related.insert(now);
                related.extend(scales.users(id).iter().map(|&(user, _)| Node::Variable(user)));
                related.extend(before);
            }
            if self.scales.users(id) != scales.users(id) {
                related.insert(now);
            }
        }
        // The name of a scale stands in an attribute of it too.
        let variables = draft.variables().filter(|_| is_redefined);
        for (id, variable) in variables {
            let node = Node::Variable(id);
            let is_renamed =
                variable.origin.as_ref().is_some_and(|was| was.name() != &*variable.name);
            if is_renamed && scales.dimension_of(node).is_some() && changed.contains(&node) {
                related.insert(node);
            }
        }
        changed.extend(&related);
        self.related.extend(related);
        let exists = |node: &Node| match *node {
            Node::Group(id) => draft.group(id).is_ok_and(|group| !group.is_elsewhere),
            Node::Type(id) => draft.user_type(id).is_ok(),
            Node::Variable(id) => draft.variable(id).is_ok_and(VariableDraft::is_own),
            Node::Dimension(id) => scales.scale(id) == Some(*node) && draft.dimension(id).is_ok(),
        };
        changed.retain(exists);
        let mut nodes: Vec<Node> = changed.iter().copied().collect();
        self.unwritten = changed;
        // Deeper groups first, the root last.
        let depth = |id: GroupId| draft.with_ancestors(id).count();
        nodes.sort_by_key(|node| match *node {
            Node::Group(id) => (1, usize::MAX - depth(id), id.0),
            Node::Type(id) => (0, 0, id.0),
            Node::Dimension(id) => (0, 1, id.0),
            Node::Variable(id) => (0, 2, id.0),
        });
        nodes
    }
}

impl Hdf5Backend {
    /// Objects of the last commit that are not in the draft any more.
    fn remove_deleted(&mut self, draft: &Draft, scales: &Scales) -> Result<()> {
        let is_there = |node: Node| match node {
            Node::Group(id) => draft.group(id).is_ok(),
            Node::Type(id) => draft.user_type(id).is_ok(),
            Node::Variable(id) => draft.variable(id).is_ok(),
            Node::Dimension(id) => draft.dimension(id).is_ok() && scales.scale(id) == Some(node),
        };
        let gone: Vec<Node> = self.objects.nodes().filter(|&node| !is_there(node)).collect();
        for node in gone {
            let origin = self.origins.get(node);
            let space = self.objects.remove(node, origin, &self.heap, &self.target)?;
            // Other links may lead to an object that was there when the file was opened.
            if origin.is_none_or(|origin| origin.object.reference_count() <= 1) {
                self.pending.freed.extend(space);
                if let Node::Variable(id) = node {
                    self.free_values(id)?;
                }
            }
            self.origins.forget(node);
        }
        Ok(())
    }

    /// Gives back the space of the values of a variable that is not in the draft any more.
    fn free_values(&mut self, id: VariableId) -> Result<()> {
        self.places.remove(&id);
        let index = match (self.indexes.remove(&id), self.dataset(id)) {
            (None, Some(dataset)) => {
                let planned = Planned::opened(dataset, self.encoding.sizes)?;
                Index::opened(dataset, &planned, self.chunk_tree_k)?
            }
            (known, _) => known,
        };
        if let Some(index) = index {
            self.pending.freed.extend(index.into_space(&self.target)?);
        }
        let mut variables = self.variables.write().unwrap_or_else(PoisonError::into_inner);
        let (placement, len) = match (variables.remove(&id), self.dataset(id)) {
            (Some(written), _) => (written.store.placement(), written.store.byte_len()),
            (None, Some(dataset)) => {
                let layout = &dataset.array()?.layout;
                let len = shape::byte_count(&layout.shape, layout.element_size);
                (layout.placement.clone(), len.map(|len| len as u64))
            }
            (None, None) => return Ok(()),
        };
        let freed = &mut self.pending.freed;
        match placement {
            Placement::Chunked(chunked) => chunked.index.for_each(&mut |_, place| {
                freed.push((place.address, place.stored_bytes));
                Ok(())
            }),
            Placement::Strided { address, .. } => {
                freed.extend(len.map(|len| (address, len)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Commits the draft and the values of the variables that `changed`. What did not change costs
    /// nothing.
    ///
    /// Where something fails, what is in memory goes on to be what the next commit will have, and
    /// [`Self::pending`] has all that leads there from what is in the file.
    fn commit_values(&mut self, draft: &Draft, changed: &BTreeSet<VariableId>) -> Result<()> {
        self.flush(draft, changed)?;
        self.sweep_heap(draft);
        let is_redefined = self.revision != Some(draft.revision());
        let scales = match is_redefined {
            true => Arc::new(Scales::find(draft)),
            false => Arc::clone(&self.scales),
        };
        let nodes = self.changed_nodes(draft, &scales);
        if nodes.is_empty() && self.pending.is_empty() && self.pending_indexes.is_empty() {
            return self.committer.finish_last(&self.target.space);
        }
        self.lay_out(draft, &scales, &nodes)?;
        self.heap.flush()?;
        if is_redefined {
            self.has_new_root |= draft.group(ROOT).is_ok_and(|root| root.members_changed);
            self.remove_deleted(draft, &scales)?;
        }
        let applied = self.apply();
        if let Err(CommitError::NotBegun(error)) = applied {
            return Err(error);
        }
        (self.pending, self.pending_indexes) = (Changes::default(), Changes::default());
        self.unwritten.clear();
        self.scales = scales;
        self.revision = Some(draft.revision());
        let variables = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        for written in changed.iter().filter_map(|id| variables.get(id)) {
            match &written.store {
                Store::Chunked(store) => store.mark_committed(),
                Store::Strided(store) => store.mark_committed(),
                Store::Inline(_) => {}
            }
        }
        applied.map_err(CommitError::into_error)
    }

    /// Has the chunk indexes of these variables be built anew: nothing in the file is what they are in
    /// memory.
    fn give_up_indexes(&mut self, ids: &BTreeSet<VariableId>) {
        for block in std::mem::take(&mut self.pending_indexes).fresh {
            self.target.space.free(block.address, block.bytes.len() as u64);
        }
        for id in ids {
            self.indexes.entry(*id).and_modify(|index| *index = Index::Lost);
        }
    }

    /// Adds what is to be written for these objects to what is pending.
    fn lay_out(&mut self, draft: &Draft, scales: &Scales, nodes: &[Node]) -> Result<()> {
        let variables = self.variables.read().unwrap_or_else(PoisonError::into_inner);
        let planned = nodes.iter().filter_map(|node| match node {
            Node::Variable(id) => Some((*id, Arc::clone(&variables.get(id)?.planned))),
            _ => None,
        });
        let mut maker = Maker {
            draft,
            scales,
            heap: &self.heap,
            encoding: self.encoding,
            origins: &self.origins,
            opened_scales: &self.opened_scales,
            related: &self.related,
            planned: &planned.collect(),
            places: &self.places,
            addresses: None,
        };
        self.objects.lay_out(nodes, &mut maker, &self.target, &mut self.pending)
    }

    /// Writes what is pending and makes it the state of the file.
    fn apply(&mut self) -> std::result::Result<(), CommitError> {
        let target = &self.target;
        let indexes = &mut self.pending_indexes;
        for (address, bytes) in self.pending.take_freed().into_iter().chain(indexes.freed.drain(..))
        {
            target.space.free(address, bytes);
        }
        let fresh = indexes.fresh.iter().chain(&self.pending.fresh).collect();
        write_together(target, fresh).map_err(CommitError::NotBegun)?;
        self.behind.flush().map_err(|source| {
            let kept = self.behind.pending();
            let len = kept.end - kept.start;
            CommitError::NotBegun(target.write_error(kept.start, len, source))
        })?;
        let mut commit = Commit::new();
        for Block { address, bytes } in indexes.in_place.iter().chain(&self.pending.in_place) {
            commit.change(*address, bytes);
        }
        let superblock = |end| self.superblock(end);
        self.committer.apply(&target.space, &commit, 0, superblock)
    }

    /// The superblock of a file that ends at `end`.
    fn superblock(&self, end: u64) -> Result<Vec<u8>> {
        let root = self.objects.address(Node::Group(ROOT)).unwrap_or_default();
        let superblock = match &self.opened {
            Some(opened) => {
                let mut superblock = Superblock { end_of_file_address: end, ..opened.clone() };
                // It says where the root's symbol table was, which the root says too.
                if self.has_new_root
                    && let Some(entry) = &mut superblock.root_entry
                {
                    entry.cache = EntryCache::None;
                }
                superblock
            }
            None => Superblock {
                stored_base_address: self.user_block_bytes,
                ..Superblock::new(0, root, end)
            },
        };
        let encoded = superblock.encode();
        encoded.map_err(|error| self.target.error(ErrorKind::Structure(error)))
    }
}

impl Backend for Hdf5Backend {
    fn stored_type(&self, draft: &Draft, id: VariableId) -> Result<StoredType> {
        if let Some(dataset) = self.dataset(id) {
            return Ok(crate::mapping::netcdf4::stored_type(dataset.datatype()?));
        }
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
        self.put_into.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        written.store.write(selection, elements, &variable.extent)?;
        // Only who has read has anything that is kept.
        if written.was_read.swap(false, Relaxed) {
            *written.reading.write().unwrap_or_else(PoisonError::into_inner) = FileNumber::new();
        }
        Ok(())
    }

    fn array(&self, draft: &Draft, id: VariableId) -> Result<Array> {
        if !self.is_written(id)
            && let Some(origin) = draft.variable(id).ok().and_then(|found| found.origin.as_ref())
        {
            let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
            let mut array = Array::clone(&*origin.array()?);
            array.shape = draft.shape(variable).map_err(|fault| self.fault(fault))?;
            return Ok(array);
        }
        let written = self.written(draft, id)?;
        let variable = draft.variable(id).map_err(|fault| self.fault(fault))?;
        written.store.flush(&variable.extent)?;
        written.was_read.store(true, Relaxed);
        let planned = &written.planned;
        let layout = self.layout_of(draft, id, &written)?;
        Ok(Array {
            layout,
            shape: draft.shape(variable).map_err(|fault| self.fault(fault))?,
            stored: planned.stored.clone(),
            heap: (!planned.stored.is_flat()).then(|| Arc::clone(&self.heap) as _),
            rules: draft.rules(),
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

    fn check_attributes(&self, owner: AttributeOwner) -> Result<()> {
        let node = match owner {
            AttributeOwner::Group(id) => Node::Group(id),
            AttributeOwner::Variable(id) => Node::Variable(id),
        };
        self.origins.get(node).map_or(Ok(()), Origin::check_attributes)
    }

    fn has_values(&self, id: VariableId) -> bool {
        self.dataset(id).is_some() || self.is_written(id)
    }

    fn commit(&mut self, draft: &mut Draft) -> Result<()> {
        let put_into = self.put_into.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut changed = std::mem::take(put_into);
        changed.extend(draft.touched().iter().filter_map(|&item| match item {
            Item::Variable(id) => Some(id),
            _ => None,
        }));
        let committed = self.commit_values(draft, &changed);
        if committed.is_err() {
            self.give_up_indexes(&changed);
            let put_into = self.put_into.get_mut().unwrap_or_else(PoisonError::into_inner);
            put_into.append(&mut changed);
        }
        committed
    }

    fn put_into(&self) -> Vec<VariableId> {
        self.put_into.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    fn close(&mut self) -> Result<()> {
        let superblock = |end| self.superblock(end);
        let closed = self.committer.close(&self.target.space, 0, superblock);
        closed.map_err(CommitError::into_error)
    }

    fn discard(&mut self) -> Result<()> {
        // The stores wait for chunks that are being written, and forget those that wait.
        self.variables.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.behind.forget();
        self.committer.discard(&self.target.space)
    }
}
