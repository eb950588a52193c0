//! Writing classic files: CDF-1, CDF-2 and CDF-5.
//!
//! ```text
//! header  -> define -> lay_out -> (relocation) ------------------> switch -> storage
//! elements -> write -> place (addresses, fill values) -> behind ------------> storage
//!                                                     \-> held ----> switch
//! ```
//! The definition is a [`Header`]; [`ClassicWriter::define`] places its variables by libnetcdf's
//! rules. Values go straight to their places, small ones through [`behind`]. What was never written
//! is filled as late as can be: each variable has a mark up to which all its values are there; a
//! write behind the mark fills the gap, a commit fills the rest. So who writes a variable in order,
//! in whatever pieces, writes each byte once. What is written over values of the last commit waits ([`held`]) until the
//! next one brings it to its place.
//!
//! Commits: values, then the header or, where only records were added, their count. What they
//! protect, and how values are moved, is in `docs/decisions/0016-moving-classic-data.md`.

mod backend;
mod behind;
mod held;
mod place;
mod relocation;
mod runs;
mod target;
#[cfg(test)]
mod tests;
mod values;

pub(super) use backend::ClassicBackend;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_format::classic::{
    Header, LayoutError, Moved, Overwrite, RecordCount, RecordLayout, Redo, Spacing, Version,
};
use isotach_model::selection::{Axis, Selection, SelectionError};

use self::behind::Behind;
use self::place::Place;
use self::relocation::{Image, Origin, Present};
use self::runs::Runs;
use self::target::Target;
use self::values::Values;
use crate::error::{Error, ErrorKind, Result};
use crate::mapping::classic::{Committed, read_header};
use crate::read::live::Moves;
use crate::storage::{Durability, MetadataReader, Storage, WritableStorage};

/// Where the count of records stands.
const RECORD_COUNT_ADDRESS: u64 = 4;

/// A classic file that is being written.
pub struct ClassicWriter {
    target: Target,
    /// The definition as it will be at the next commit; none yet in a new file. Its count of
    /// records may be an earlier one.
    header: Option<Arc<Header>>,
    /// The header as it stands in the file.
    committed: Option<Arc<Header>>,
    /// Where values go: in the image, where there is one.
    places: Vec<Place>,
    /// Where the values of the last commit are.
    committed_places: Vec<Place>,
    /// Where values stand until the next commit, if the definition has moved them.
    image: Option<Image>,
    values: Mutex<Values>,
    /// Bytes of a file that was opened, as long as it has no commit since: it is left with as many.
    opened_len: Option<u64>,
    /// Counts when values are given other places.
    pub(super) moves: Moves,
}

/// A definition that is to take the place of the one before.
pub struct Definition<'a> {
    /// What the file is to contain. Addresses, stated sizes and the count of records are not looked
    /// at.
    pub header: Header,
    /// For each variable its index in the definition before, or `None` for a new one.
    pub sources: &'a [Option<usize>],
    /// For each variable that is new whether it is filled: its values, or those in the records that are
    /// there.
    pub fill: &'a [bool],
    /// Whether records that come about are filled, of whichever variable.
    pub fills_records: bool,
    /// What is to be left free.
    pub spacing: Spacing,
}

impl ClassicWriter {
    /// A new file in an empty storage; nothing is written before the first definition is committed.
    pub fn create(
        file: &Arc<str>,
        storage: Arc<dyn WritableStorage>,
        durability: Durability,
    ) -> Self {
        Self {
            target: Target::new(Arc::clone(file), storage, durability),
            header: None,
            committed: None,
            places: Vec::new(),
            committed_places: Vec::new(),
            image: None,
            values: Mutex::default(),
            opened_len: None,
            moves: Moves::default(),
        }
    }

    /// Lets small writes gather in so many bytes of memory.
    pub(super) fn gather(&mut self, bytes: u64) {
        self.values.get_mut().unwrap_or_else(PoisonError::into_inner).behind.limit(bytes);
    }

    /// Whether the next commit gives values other places.
    pub(super) fn has_image(&self) -> bool {
        self.image.is_some()
    }

    /// What is read and written.
    pub fn storage(&self) -> Arc<dyn WritableStorage> {
        Arc::clone(&self.target.storage)
    }

    /// The file that `storage` holds. A commit that was interrupted is finished before the first write.
    pub fn open(
        file: &Arc<str>,
        storage: Arc<dyn WritableStorage>,
        durability: Durability,
    ) -> Result<Self> {
        let storage = target::resumed(file, storage, durability)?;
        let mut writer = Self::create(file, storage, durability);
        writer.opened_len = Some(writer.target.len()?);
        let reader = MetadataReader::new(Arc::clone(file), writer.storage() as Arc<dyn Storage>)?;
        let Committed { mut header, records, .. } = read_header(reader)?;
        let record_count = records.record_count;
        header.record_count = RecordCount::Known(record_count);
        writer.places = places(&header, &records, true);
        place::check_apart(&header, &writer.places)
            .map_err(|fault| writer.error(ErrorKind::Structure(fault)))?;
        writer.committed_places = writer.places.clone();
        let ends = writer.places.iter().map(|place| place.values_end(record_count));
        let claimed = ends.max().unwrap_or(0);
        if claimed > i64::MAX as u64 {
            let (what, limit) = ("bytes of the file", i64::MAX as u64);
            return Err(writer.error(ErrorKind::Limit { what, value: claimed, limit }));
        }
        if claimed > writer.target.len()? {
            writer.target.claims(claimed);
        }
        let marks: Vec<u64> = writer.places.iter().map(|place| place.len(record_count)).collect();
        let (written, settled, behind) = (marks.clone(), marks.clone(), Behind::default());
        writer.values = Mutex::new(Values { record_count, marks, written, settled, behind });
        let header = Arc::new(header);
        writer.committed = Some(Arc::clone(&header));
        writer.header = Some(header);
        Ok(writer)
    }

    /// The definition, with the records that were put so far, at the places where values are now. `None` in a new
    /// file that has none.
    pub fn header(&self) -> Option<Header> {
        let record_count = RecordCount::Known(self.values().record_count);
        let header = self.header.as_ref()?;
        let header = self.image.map_or_else(|| Header::clone(header), |image| image.header(header));
        Some(Header { record_count, ..header })
    }

    /// How many records there are.
    pub fn record_count(&self) -> u64 {
        self.values().record_count
    }

    /// Puts a definition in the place of the one before, as `nc__enddef` does. It is committed with what is put
    /// before and after it. Where values that were committed have to move, they are copied at once.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] where the format cannot hold it; the definition before then stays.
    pub fn define(&mut self, definition: Definition<'_>) -> Result<()> {
        self.target.finish()?;
        let Definition { mut header, sources, fill, fills_records, spacing } = definition;
        let is_prefix = self.header.as_ref().is_some_and(|before| {
            let count = before.variables.len();
            let expected = (0..sources.len()).map(|index| (index < count).then_some(index));
            sources.len() >= count && sources.iter().copied().eq(expected)
        });
        let before = self.header.as_deref().filter(|_| is_prefix);
        let record_count = self.record_count();
        header.record_count = RecordCount::Known(record_count);
        header.lay_out(before, &spacing).map_err(|fault| self.layout_error(fault))?;
        let records = self.record_layout(&header)?;
        let places = places(&header, &records, fills_records);
        if !self.target.is_short() {
            self.target.check_len(end_of(&header, &places, record_count))?;
        }
        self.check_claims(&places, sources, fill)?;
        if self.is_filled_otherwise(&places, sources) {
            self.settle()?;
        }
        let is_same = |index: usize, place: &Place| {
            self.places.get(index).is_none_or(|before| before.is_at(place))
        };
        if !is_prefix || !places.iter().enumerate().all(|(index, place)| is_same(index, place)) {
            self.moves.begin();
        }
        let before = self.committed.as_ref().or(self.header.as_ref());
        let is_moved = before.is_some_and(|before| {
            let committed = (&**before, &*self.committed_places);
            self.image.is_some()
                || relocation::is_needed(committed, &self.places, &places, sources, record_count)
        });
        let has_values =
            self.committed.is_some() || self.values().marks.iter().any(|&mark| mark > 0);
        if has_values && is_moved {
            self.target.check_whole()?;
            return self.relocate(header, places, sources, fill);
        }
        let mut values = lock(&self.values);
        let mark = |(index, source): (usize, &Option<usize>)| match source {
            Some(source) => values.marks[*source],
            None if fill[index] => 0,
            None => places[index].len(record_count),
        };
        values.marks = sources.iter().enumerate().map(mark).collect();
        values.take_over(sources, |_| true);
        drop(values);
        self.forget_all_but(|before| sources.contains(&Some(before)));
        self.places = places;
        self.header = Some(Arc::new(header));
        Ok(())
    }

    /// That a new definition writes no more than what the file really has calls for: it may say that there are any
    /// number of records, of no variable at all.
    fn check_claims(
        &self,
        places: &[Place],
        sources: &[Option<usize>],
        fill: &[bool],
    ) -> Result<()> {
        let record_count = self.record_count();
        let mut new = places.iter().zip(sources).zip(fill);
        if self.target.is_short()
            && new
                .any(|((place, source), _)| source.is_none() && place.len(record_count.max(1)) > 0)
        {
            return self.target.check_whole();
        }
        let is_filled = |((place, source), fill): &((&Place, &Option<usize>), &bool)| {
            source.is_none() && **fill && place.record_size.is_some()
        };
        let new = places.iter().zip(sources).zip(fill).filter(is_filled);
        let bytes = new.map(|((place, _), _)| place.len(record_count));
        self.target.check_room(bytes.fold(0, u64::saturating_add))
    }

    /// Takes the selected elements of a variable, big-endian and in row-major order. Records that
    /// are not there yet come about.
    ///
    /// # Errors
    /// [`ErrorKind::Selection`] where an axis is not one of the variable's or reaches beyond it;
    /// [`ErrorKind::Source`] where there are not as many elements as are selected;
    /// [`ErrorKind::Limit`] for a record that the format cannot count.
    pub fn write(&self, variable: usize, selection: &Selection, elements: &[u8]) -> Result<()> {
        let (Some(header), Some(place)) = (&self.header, self.places.get(variable)) else {
            let (what, name) = ("variable", variable.to_string());
            return Err(self.error(ErrorKind::NotFound { what, name }));
        };
        let variable_of = &header.variables[variable];
        let element = variable_of.external_type.size_bytes();
        let lengths: Vec<u64> =
            variable_of.dimension_ids.iter().map(|&id| header.dimensions[id].length).collect();
        let needed = selection.element_count().and_then(|count| count.checked_mul(element));
        self.check(selection, &lengths, variable_of.is_record)?;
        let (needed_bytes, given_bytes) = (needed.unwrap_or(u64::MAX), elements.len() as u64);
        if needed_bytes != given_bytes {
            return Err(self.error(ErrorKind::Source { needed_bytes, given_bytes }));
        }
        if selection.is_empty() {
            return Ok(());
        }
        let mut values = self.values();
        if variable_of.is_record {
            let last = selection.axes.first().and_then(Axis::bounds).map_or(0, |bounds| bounds.1);
            self.reach_record(last, &mut values)?;
        }
        let runs = Runs::new(selection, &lengths, element);
        let step = runs.run_bytes as usize;
        for (start, bytes) in runs.zip(elements.chunks(step.max(1))) {
            let range = start..start + bytes.len() as u64;
            values.put(&self.target, place, variable, range, bytes)?;
        }
        Ok(())
    }

    /// Has at least so many records come about.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] for a record that the format cannot count.
    pub fn reach(&self, record_count: u64) -> Result<()> {
        match record_count.checked_sub(1) {
            Some(last) => self.reach_record(last, &mut self.values()),
            None => Ok(()),
        }
    }

    /// Makes all that was put readable from the storage, at the places that [`Self::header`] says.
    pub fn settle(&self) -> Result<()> {
        self.target.finish()?;
        self.values().settle(&self.target, &self.places)
    }

    /// Makes the definition and all that was put the state of the file. Where that fails, the next call
    /// does it; others may find the new state before that, but then nothing is written before it is whole.
    pub fn commit(&mut self) -> Result<()> {
        self.settle()?;
        let Some(header) = self.header.clone() else { return Ok(()) };
        let record_count = RecordCount::Known(self.values().record_count);
        let has_records = header.record_count != record_count;
        let is_defined = self.committed.as_ref().is_none_or(|old| !Arc::ptr_eq(old, &header));
        let changes = self.target.held_changes()?;
        if !is_defined && !has_records && changes.is_empty() {
            self.mark_committed();
            return self.target.step();
        }
        self.target.storage.give_time();
        let header = Arc::new(Header { record_count, ..Header::clone(&header) });
        if let Some(image) = self.image {
            let places = image.places_of_layout(self.places.clone());
            let end = end_of(&header, &places, self.record_count());
            self.moves.begin();
            relocation::commit(&self.target, &header, image, end, changes)?;
            (self.places, self.image) = (places, None);
        } else if is_defined || !changes.is_empty() {
            self.commit_header(&header, changes)?;
        } else {
            self.commit_record_count(&header)?;
        }
        self.committed = Some(Arc::clone(&header));
        self.committed_places = self.places.clone();
        self.header = Some(header);
        self.opened_len = None;
        self.target.finish()?;
        self.mark_committed();
        Ok(())
    }

    /// Notes that all that was put is in the file.
    fn mark_committed(&self) {
        self.target.held.clear();
        let Values { record_count, written, settled, .. } = &mut *self.values();
        let lens = self.places.iter().map(|place| place.len(*record_count));
        *settled = lens.zip(written).map(|(len, written)| len.min(*written)).collect();
    }

    /// Whether some values of the variable are in the last commit.
    pub fn is_committed(&self, variable: usize) -> bool {
        self.values().settled.get(variable).is_some_and(|&settled| settled > 0)
    }

    /// How many bytes of memory wait for a commit because they take the place of others.
    pub fn held_bytes(&self) -> u64 {
        self.target.held.bytes()
    }

    fn commit_header(&self, header: &Header, changes: Vec<Overwrite>) -> Result<()> {
        let encoded =
            header.encode().map_err(|fault| self.layout_error(LayoutError::Header(fault)))?;
        let end = end_of(header, &self.places, self.values().record_count);
        if self.committed.is_some() {
            let len = self.target.len()?;
            let file_len = if self.target.is_short() { len } else { len.max(end) };
            let redo = Redo { header: encoded, changes, moved: Moved::default(), file_len };
            self.target.switch_next(redo);
            return Ok(());
        }
        self.reach_len(end)?;
        self.target.step()?;
        self.target.storage.publish();
        self.target.write(0, &encoded)?;
        self.target.storage.publish();
        self.target.step()
    }

    /// The count lies within one sector: it is there or it is not.
    fn commit_record_count(&self, header: &Header) -> Result<()> {
        let count = self.values().record_count;
        self.reach_len(end_of(header, &self.places, count))?;
        self.target.step()?;
        match header.version {
            Version::Cdf5 => self.target.write(RECORD_COUNT_ADDRESS, &count.to_be_bytes())?,
            // It is below the limit: see `reach_record`.
            _ => self.target.write(RECORD_COUNT_ADDRESS, &(count as u32).to_be_bytes())?,
        }
        self.target.step()
    }

    /// Forgets what was put and defined since the last commit.
    pub fn discard(&mut self) -> Result<()> {
        lock(&self.values).behind.forget();
        self.target.held.clear();
        self.image = None;
        self.target.finish()?;
        let Some(committed) = &self.committed else { return self.target.set_len(0) };
        let len = self.target.len()?;
        if let Some(opened_len) = self.opened_len {
            return if len > opened_len { self.target.set_len(opened_len) } else { Ok(()) };
        }
        let records = self.record_layout(committed)?;
        let places = places(committed, &records, true);
        let end = end_of(committed, &places, records.record_count);
        if len > end { self.target.set_len(end) } else { Ok(()) }
    }

    /// Whether values that are due by the definition before would be filled with something else, or not
    /// at all, by these places.
    fn is_filled_otherwise(&self, places: &[Place], sources: &[Option<usize>]) -> bool {
        let before = |source: Option<usize>| self.places.get(source?);
        let differs = |(now, &source): (&Place, &Option<usize>)| {
            before(source).is_some_and(|before| before.fill != now.fill)
        };
        places.iter().zip(sources).any(differs)
    }

    fn relocate(
        &mut self,
        header: Header,
        places: Vec<Place>,
        sources: &[Option<usize>],
        fill: &[bool],
    ) -> Result<()> {
        self.settle()?;
        let mut values = lock(&self.values);
        let record_count = values.record_count;
        let before = |index: usize| match sources[index].and_then(|source| self.places.get(source))
        {
            Some(before) => Origin::Moved(before),
            None if fill[index] => Origin::Filled,
            None => Origin::Nothing,
        };
        let origins: Vec<Origin<'_>> = (0..places.len()).map(before).collect();
        let from = (record_count, self.present(record_count));
        let image = relocation::write_new(&self.target, &header, &places, &origins, from)?;
        values.marks = places.iter().map(|place| place.len(record_count)).collect();
        values.take_over(sources, |index| !image.has(places[index].begin));
        drop(values);
        self.forget_all_but(|before| {
            let mut now = sources.iter().zip(&places);
            now.any(|(source, place)| *source == Some(before) && !image.has(place.begin))
        });
        self.places = image.places(places);
        self.image = Some(image);
        self.header = Some(Arc::new(header));
        Ok(())
    }

    /// Forgets what waits for the values at [`Self::places`] but those that stay there.
    fn forget_all_but(&self, stays: impl Fn(usize) -> bool) {
        if self.target.held.bytes() == 0 {
            return;
        }
        for (_, place) in self.places.iter().enumerate().filter(|(index, _)| !stays(*index)) {
            for (address, length) in place.pieces(0..place.len(self.record_count())) {
                self.target.held.forget(address..address.saturating_add(length));
            }
        }
    }

    /// Where values are since a definition moved them.
    fn present(&self, record_count: u64) -> Option<Present> {
        let image = self.image?;
        let places = image.places_of_layout(self.places.clone());
        let end = end_of(self.header.as_ref()?, &places, record_count);
        let committed = self.committed.as_ref().and_then(|header| {
            let RecordCount::Known(count) = header.record_count else { return None };
            Some(end_of(header, &self.committed_places, count))
        });
        Some(Present { image, end, committed_end: committed.unwrap_or(0) })
    }

    /// That the selection lies within the variable; its records may lie behind the last.
    fn check(&self, selection: &Selection, lengths: &[u64], is_record: bool) -> Result<()> {
        let (given, rank) = (selection.axes.len(), lengths.len());
        if given != rank {
            return Err(self.error(ErrorKind::Selection(SelectionError::Rank { given, rank })));
        }
        let axes = selection.axes.iter().zip(lengths).enumerate().skip(usize::from(is_record));
        for (axis, (positions, &len)) in axes {
            if !positions.fits(len) {
                let start = positions.bounds().map_or(0, |bounds| bounds.1);
                let fault = SelectionError::Coordinates { axis, start, len };
                return Err(self.error(ErrorKind::Selection(fault)));
            }
        }
        Ok(())
    }

    /// The records go up to `last`.
    fn reach_record(&self, last: u64, values: &mut Values) -> Result<()> {
        let limit = match self.header.as_ref().map(|header| header.version) {
            Some(Version::Cdf5) => i64::MAX as u64,
            _ => u64::from(u32::MAX) - 1,
        };
        if last >= limit {
            let kind = ErrorKind::Limit { what: "count of records", value: last, limit };
            return Err(self.error(kind));
        }
        if last >= values.record_count {
            self.target.check_whole()?;
        }
        if let Some(end) = self.places.iter().map(|place| place.end(last + 1)).max() {
            self.target.check_len(end)?;
        }
        values.record_count = values.record_count.max(last + 1);
        Ok(())
    }

    fn reach_len(&self, end: u64) -> Result<()> {
        if self.target.len()? >= end || self.target.is_short() {
            return Ok(());
        }
        self.target.set_len(end)
    }

    fn record_layout(&self, header: &Header) -> Result<RecordLayout> {
        RecordLayout::new(header, 0).map_err(|fault| self.layout_error(LayoutError::Header(fault)))
    }

    fn layout_error(&self, fault: LayoutError) -> Error {
        self.error(ErrorKind::Format(fault))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.target.file, kind)
    }

    fn values(&self) -> MutexGuard<'_, Values> {
        lock(&self.values)
    }
}

fn places(header: &Header, records: &RecordLayout, fills_records: bool) -> Vec<Place> {
    let place =
        |variable| Place::new(header, records, variable, fills_records || !variable.is_record);
    header.variables.iter().map(place).collect()
}

/// The length of a file with this header: the end of its last value, or where the first record will
/// be.
fn end_of(header: &Header, places: &[Place], record_count: u64) -> u64 {
    let (records, fixed): (Vec<&Place>, Vec<&Place>) =
        places.iter().partition(|place| place.record_size.is_some());
    let ends = |places: Vec<&Place>| places.into_iter().map(|place| place.end(record_count)).max();
    let first_record = records.iter().map(|place| place.begin).min();
    let records = if record_count == 0 { first_record } else { ends(records) };
    header.size_bytes.max(ends(fixed).unwrap_or(0)).max(records.unwrap_or(0))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
