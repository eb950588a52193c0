//! A commit of a netCDF-4 file, from the draft to what is written.
//!
//! ```text
//! flush (values, chunk indexes) -> changed_nodes -> lay_out (objects) -> remove_deleted -> apply
//! ```

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use isotach_format::hdf5::group::symbol_table_entry::EntryCache;
use isotach_format::hdf5::superblock::Superblock;
use isotach_model::shape;

use super::Hdf5Backend;
use super::blocks::{Block, write_together};
use super::content::Maker;
use super::index::{self, Index};
use super::objects::Changes;
use super::planned::Planned;
use super::scales::{Node, Scales};
use crate::draft::{Draft, GroupId, Item, ROOT, VariableDraft, VariableId};
use crate::error::{ErrorKind, Result};
use crate::plan::layout::Placement;
use crate::storage::WriteBehind;
use crate::write::commit::{Commit, CommitError};
use crate::write::data::Store;
use crate::write::target::Target;

impl Hdf5Backend {
    /// Commits the draft and the values of the variables that `changed`. What did not change costs
    /// nothing.
    ///
    /// Where something fails, what is in memory goes on to be what the next commit will have, and
    /// [`Self::pending`] has all that leads there from what is in the file.
    pub(super) fn commit_values(
        &mut self,
        draft: &Draft,
        changed: &BTreeSet<VariableId>,
        is_last: bool,
    ) -> Result<()> {
        self.rows.clear();
        self.flush(draft, changed, is_last)?;
        self.sweep_heap(draft);
        let is_redefined = self.revision != Some(draft.revision());
        let scales = match is_redefined {
            true => Arc::new(Scales::find(draft)),
            false => Arc::clone(&self.scales),
        };
        let nodes = self.changed_nodes(draft, &scales);
        let is_nothing_pending =
            self.rows.is_empty() && self.pending.is_empty() && self.pending_indexes.is_empty();
        if nodes.is_empty() && is_nothing_pending {
            // Values may have gone to places that they have already.
            flush(&self.behind, &self.target)?;
            self.committer.finish_last(&self.target.space)?;
            return if changed.is_empty() { Ok(()) } else { self.committer.sync_values() };
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
        for (id, written) in changed.iter().filter_map(|id| Some((id, variables.get(id)?))) {
            match &written.store {
                Store::Chunked(store) => {
                    store.mark_committed();
                    // Those of a commit that is not over are part of the next, too.
                    if let (Ok(()), Ok(variable)) = (&applied, draft.variable(*id)) {
                        store.mark_rows_committed(&variable.extent);
                    }
                }
                Store::Strided(store) => store.mark_committed(),
                Store::Inline(_) => {}
            }
        }
        applied.map_err(CommitError::into_error)
    }

    /// Brings the values of these variables to the file. Those that begin somewhere else now have to be
    /// written anew.
    fn flush(&mut self, draft: &Draft, ids: &BTreeSet<VariableId>, is_last: bool) -> Result<()> {
        for &id in ids {
            // What was put into a variable that is deleted by now is lost.
            let Ok(variable) = draft.variable(id) else { continue };
            if variable.origin.is_some() && !self.is_written(id) {
                continue;
            }
            self.fit_chunks(draft, id, is_last)?;
            let written = self.written(draft, id)?;
            if let Store::Chunked(store) = &written.store {
                let rows = store.flush_for_commit(&variable.extent)?;
                self.rows.extend(rows.into_iter().map(|(address, bytes)| Block { address, bytes }));
                self.lost = self.lost.take().or_else(|| store.take_lost());
            } else {
                written.store.flush(&variable.extent)?;
            }
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

    /// Has the chunk indexes of these variables be built anew: nothing in the file is what they are in
    /// memory.
    pub(super) fn give_up_indexes(&mut self, ids: &BTreeSet<VariableId>) {
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
            time: self.tracks_times.then(seconds_now),
        };
        self.objects.lay_out(nodes, &mut maker, &self.target, &mut self.pending)
    }

    /// Writes what is pending and makes it the state of the file.
    fn apply(&mut self) -> std::result::Result<(), CommitError> {
        let target = &self.target;
        let indexes = &mut self.pending_indexes;
        for (address, bytes) in
            self.pending.take_freed(&target.space).into_iter().chain(indexes.freed.drain(..))
        {
            target.space.free(address, bytes);
        }
        let fresh = indexes.fresh.iter().chain(&self.pending.fresh).collect();
        write_together(target, fresh).map_err(CommitError::NotBegun)?;
        flush(&self.behind, target).map_err(CommitError::NotBegun)?;
        let mut commit = Commit::new();
        // Values first: the header tells how many there are.
        let in_place = self.rows.iter().chain(&indexes.in_place).chain(&self.pending.in_place);
        for Block { address, bytes } in in_place {
            commit.change(*address, bytes);
        }
        let superblock = |end| self.superblock(end);
        self.committer.apply(&target.space, &commit, 0, superblock)
    }

    /// The superblock of a file that ends at `end`.
    pub(super) fn superblock(&self, end: u64) -> Result<Vec<u8>> {
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

/// Has storage take the small writes that still wait.
fn flush(behind: &WriteBehind, target: &Target) -> Result<()> {
    behind.flush().map_err(|source| {
        let kept = behind.pending();
        target.write_error(kept.start, kept.end - kept.start, source)
    })
}

/// Seconds since 1970-01-01 00:00 UTC, as far as the format has room for them.
fn seconds_now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}
