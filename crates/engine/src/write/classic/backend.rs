//! A classic file as the target of a draft.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use indexmap::IndexSet;
use isotach_format::classic::{
    self, ExternalType, Header, RecordCount, RecordLayout, Spacing, Version,
};
use isotach_model::convert::{RangeReport, Rules};
use isotach_model::selection::Selection;
use isotach_model::{Atomic, DataType, NoHeap, StoredType, Values};

use super::{ClassicWriter, Definition, lock};
use crate::attribute::{Attribute, Source};
use crate::draft::{AttributeList, DimensionId, Draft, ROOT, VariableDraft, VariableId};
use crate::error::{DefinitionFault, Error, ErrorKind, Result};
use crate::file::Format;
use crate::mapping::classic::{stored_fill, stored_type};
use crate::plan::layout::{ArrayId, ArrayLayout, BeyondEnd, Placement};
use crate::read::live::Moves;
use crate::read::{Array, Live};
use crate::storage::WritableStorage;
use crate::variable::{Endianness, StorageInfo, StorageKind};
use crate::write::Backend;
use crate::write::reading_number::ReadingNumber;
use crate::write::target::Target;
use crate::writer::{EditOptions, Fill, HeaderRoom};

/// A classic file that is being written.
pub(in crate::write) struct ClassicBackend {
    target: Target,
    spacing: Spacing,
    /// Counts when values are given other places.
    moves: Moves,
    /// Whether the header of the file that was opened is what the draft made of it: names that are there twice, in
    /// a damaged one, would make variables lie along other dimensions.
    is_as_drafted: bool,
    state: RwLock<State>,
}

struct State {
    writer: ClassicWriter,
    /// The draft's revision that the writer has the definition of.
    revision: Option<u64>,
    /// The draft's variables in the order of the header.
    variables: IndexSet<VariableId>,
    /// Those that elements were put into since the last commit.
    put_into: Mutex<BTreeSet<VariableId>>,
    reading: ReadingNumber,
}

impl ClassicBackend {
    /// A new file in an empty storage.
    pub(in crate::write) fn create(target: Target, options: &EditOptions) -> Self {
        let storage = Arc::clone(&target.storage);
        let mut writer = ClassicWriter::create(&target.name, storage, options.durability);
        writer.gather(options.gathered_bytes);
        let moves = Moves::default();
        writer.moves = moves.clone();
        let target = Target { storage: writer.storage(), ..target };
        let state = State {
            writer,
            revision: None,
            variables: IndexSet::new(),
            put_into: Mutex::default(),
            reading: ReadingNumber::new(),
        };
        let (spacing, state) = (spacing(options.header_room), RwLock::new(state));
        Self { target, spacing, moves, is_as_drafted: true, state }
    }

    /// The file that the storage holds; a commit that was interrupted is finished before the first write.
    pub(in crate::write) fn open(target: Target, options: &EditOptions) -> Result<Self> {
        let storage = Arc::clone(&target.storage);
        let name = Arc::clone(&target.name);
        let mut backend = Self::create(target, options);
        let state = backend.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.writer = ClassicWriter::open(&name, storage, options.durability)?;
        state.writer.gather(options.gathered_bytes);
        backend.target.storage = state.writer.storage();
        state.writer.moves = backend.moves.clone();
        Ok(backend)
    }

    /// What is read and written.
    pub(in crate::write) fn storage(&self) -> Arc<dyn WritableStorage> {
        Arc::clone(&self.target.storage)
    }

    /// Says that the writer has what is in `draft`.
    pub(in crate::write) fn adopt(&mut self, draft: &Draft) -> Result<()> {
        let fault = |fault| self.target.error(ErrorKind::Definition(fault));
        let root = draft.group(ROOT).map_err(fault)?;
        let variables: IndexSet<VariableId> = root.variables.values().copied().collect();
        let dimensions: IndexSet<DimensionId> = root.dimensions.values().copied().collect();
        let drafted = self.header(draft, &dimensions, &variables);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.is_as_drafted = match (drafted, state.writer.header()) {
            (Ok(drafted), Some(header)) => is_same_definition(&drafted, &header),
            _ => false,
        };
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.variables = variables;
        state.revision = Some(draft.revision());
        Ok(())
    }

    /// The writer with the draft's definition.
    fn defined(&self, draft: &Draft) -> Result<RwLockReadGuard<'_, State>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.revision == Some(draft.revision()) {
            return Ok(state);
        }
        drop(state);
        self.define(draft, &mut self.alone(), self.spacing)?;
        Ok(self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn define(&self, draft: &Draft, state: &mut State, spacing: Spacing) -> Result<()> {
        if state.revision == Some(draft.revision()) {
            return Ok(());
        }
        if !self.is_as_drafted {
            let feature = "definitions where names are there twice, variables:";
            let value = state.variables.len() as u64;
            let kind = isotach_format::ErrorKind::Unsupported { feature, value };
            let fault = isotach_format::Error { structure: "classic header", address: 0, kind };
            return Err(self.target.error(ErrorKind::Structure(fault)));
        }
        let fault = |fault| self.target.error(ErrorKind::Definition(fault));
        let root = draft.group(ROOT).map_err(fault)?;
        let dimensions: IndexSet<DimensionId> = root.dimensions.values().copied().collect();
        let variables: IndexSet<VariableId> = root.variables.values().copied().collect();
        let header = self.header(draft, &dimensions, &variables)?;
        let source = |id: &VariableId| state.variables.get_index_of(id);
        let sources: Vec<Option<usize>> = variables.iter().map(source).collect();
        let has_fill = |&id: &VariableId| {
            // What is no fill value fills nothing.
            let fills = |variable: &VariableDraft| {
                variable.options.fill != Fill::None && variable.has_fitting_fill()
            };
            draft.variable(id).is_ok_and(fills)
        };
        let fill: Vec<bool> = variables.iter().map(has_fill).collect();
        let definition = Definition {
            header,
            sources: &sources,
            fill: &fill,
            fills_records: draft.fills,
            spacing,
        };
        // What is kept of values by their old places, or by the places of variables that are deleted, is not true
        // any more.
        state.reading.outdate();
        state.writer.define(definition)?;
        state.revision = Some(draft.revision());
        state.variables = variables;
        Ok(())
    }

    /// That new variables are filled with fill values, if at all.
    fn check_fill(&self, draft: &Draft, state: &State) -> Result<()> {
        let has_records = state.writer.record_count() > 0;
        let is_filled = |variable: &VariableDraft| {
            variable.options.fill != Fill::None && (has_records || !draft.is_record(variable))
        };
        let is_new = |id: &VariableId| !state.variables.contains(id);
        let mut new = draft.variables().filter(|(id, _)| is_new(id));
        match new.any(|(_, variable)| is_filled(variable) && !variable.has_fitting_fill()) {
            true => Err(self.target.error(ErrorKind::Definition(DefinitionFault::FillValue))),
            false => Ok(()),
        }
    }

    fn header(
        &self,
        draft: &Draft,
        dimensions: &IndexSet<DimensionId>,
        variables: &IndexSet<VariableId>,
    ) -> Result<Header> {
        let fault = |fault| self.target.error(ErrorKind::Definition(fault));
        let dimension = |&id: &DimensionId| {
            let dimension = draft.dimension(id)?;
            let length = if dimension.is_unlimited { 0 } else { dimension.len };
            let (name, name_room) = (dimension.name.to_string(), dimension.name_room);
            Ok(classic::Dimension { name, name_room, length, is_record: dimension.is_unlimited })
        };
        let root = draft.group(ROOT).map_err(fault)?;
        let mut header = Header {
            version: match draft.format {
                Format::Offset64Bit => Version::Cdf2,
                Format::Data64Bit => Version::Cdf5,
                _ => Version::Cdf1,
            },
            record_count: RecordCount::Known(0),
            dimensions: dimensions
                .iter()
                .map(dimension)
                .collect::<crate::draft::Defined<_>>()
                .map_err(fault)?,
            attributes: self.attributes(&root.attributes)?,
            variables: Vec::with_capacity(variables.len()),
            size_bytes: 0,
        };
        for &id in variables {
            let variable = draft.variable(id).map_err(fault)?;
            header.variables.push(self.variable(variable, dimensions, &header)?);
        }
        Ok(header)
    }

    fn variable(
        &self,
        variable: &VariableDraft,
        dimensions: &IndexSet<DimensionId>,
        header: &Header,
    ) -> Result<classic::Variable> {
        let index = |id: &DimensionId| dimensions.get_index_of(id);
        let dimension_ids: Option<Vec<usize>> = variable.dimensions.iter().map(index).collect();
        let deleted = DefinitionFault::Deleted { what: "dimension" };
        let dimension_ids =
            dimension_ids.ok_or_else(|| self.target.error(ErrorKind::Definition(deleted)))?;
        let first = dimension_ids.first().map(|&id| &header.dimensions[id]);
        Ok(classic::Variable {
            name: variable.name.to_string(),
            name_room: variable.name_room,
            is_record: first.is_some_and(|dimension| dimension.is_record),
            attributes: self.attributes(&variable.attributes)?,
            external_type: self.external_type(&variable.data_type)?,
            stated_size_bytes: 0,
            begin: 0,
            dimension_ids,
        })
    }

    fn attributes(&self, list: &AttributeList) -> Result<Arc<[classic::Attribute]>> {
        list.iter().map(|(name, attribute)| self.attribute(name, attribute)).collect()
    }

    fn attribute(&self, name: &str, attribute: &Attribute) -> Result<classic::Attribute> {
        let decoded;
        let values = match &attribute.source {
            Source::Draft(set) => &*set.values,
            _ => {
                decoded = attribute.values()?;
                &decoded
            }
        };
        let external_type = self.external_type(attribute.data_type())?;
        let mut value_bytes = Vec::new();
        let stored = stored_type(external_type);
        self.encode_values(&stored, values, Rules::CLASSIC, &mut value_bytes)?;
        let value_count = value_bytes.len() as u64 / external_type.size_bytes();
        let (name, name_room) = (name.to_owned(), attribute.name_room());
        Ok(classic::Attribute { name, name_room, external_type, value_count, value_bytes })
    }

    fn encode_values(
        &self,
        stored: &StoredType,
        values: &Values,
        rules: Rules,
        into: &mut Vec<u8>,
    ) -> Result<RangeReport> {
        // Classic files have no heap, and no type that would need one.
        let encoded = stored.encode(values, rules, &mut NoHeap, into);
        encoded.map_err(|error| self.target.error(ErrorKind::Values(error)))
    }

    fn external_type(&self, data_type: &DataType) -> Result<ExternalType> {
        let external_type = data_type.atomic().and_then(external_type);
        external_type.ok_or_else(|| {
            let description = data_type.name().to_owned();
            self.target.error(ErrorKind::Definition(DefinitionFault::ForeignType { description }))
        })
    }

    fn alone(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn deleted(&self) -> Error {
        let what = "variable";
        self.target.error(ErrorKind::Definition(DefinitionFault::Deleted { what }))
    }
}

/// Whether two headers define the same, wherever the values are.
fn is_same_definition(one: &Header, other: &Header) -> bool {
    let is_same = |(one, other): (&classic::Variable, &classic::Variable)| {
        let classic::Variable { begin, stated_size_bytes, .. } = *other;
        classic::Variable { begin, stated_size_bytes, ..one.clone() } == *other
    };
    one.dimensions == other.dimensions
        && one.attributes == other.attributes
        && one.variables.len() == other.variables.len()
        && one.variables.iter().zip(&other.variables).all(is_same)
}

fn spacing(room: HeaderRoom) -> Spacing {
    Spacing {
        h_minfree: room.header_free,
        v_align: room.fixed_alignment,
        v_minfree: room.fixed_free,
        r_align: room.record_alignment,
    }
}

fn external_type(atomic: Atomic) -> Option<ExternalType> {
    Some(match atomic {
        Atomic::Byte => ExternalType::Byte,
        Atomic::Char => ExternalType::Char,
        Atomic::Short => ExternalType::Short,
        Atomic::Int => ExternalType::Int,
        Atomic::Float => ExternalType::Float,
        Atomic::Double => ExternalType::Double,
        Atomic::UByte => ExternalType::UByte,
        Atomic::UShort => ExternalType::UShort,
        Atomic::UInt => ExternalType::UInt,
        Atomic::Int64 => ExternalType::Int64,
        Atomic::UInt64 => ExternalType::UInt64,
        Atomic::String => return None,
    })
}

impl State {
    fn index(&self, id: VariableId) -> Option<usize> {
        self.variables.get_index_of(&id)
    }
}

impl Backend for ClassicBackend {
    fn moves(&self) -> Moves {
        self.moves.clone()
    }

    fn stored_type(&self, draft: &Draft, id: VariableId) -> Result<StoredType> {
        let variable = draft.variable(id).map_err(|_| self.deleted())?;
        Ok(stored_type(self.external_type(&variable.data_type)?))
    }

    fn encode(
        &self,
        stored: &StoredType,
        values: &Values,
        rules: Rules,
        into: &mut Vec<u8>,
    ) -> Result<RangeReport> {
        self.encode_values(stored, values, rules, into)
    }

    fn put(
        &self,
        draft: &Draft,
        id: VariableId,
        selection: &Selection,
        elements: &[u8],
    ) -> Result<()> {
        let state = self.defined(draft)?;
        let index = state.index(id).ok_or_else(|| self.deleted())?;
        lock(&state.put_into).insert(id);
        let written = state.writer.write(index, selection, elements);
        // Some of them may be there also where not all are.
        state.reading.outdate();
        written
    }

    fn grow(&self, draft: &Draft, _id: VariableId, extent: &[u64]) -> Result<()> {
        let state = self.defined(draft)?;
        let reached = state.writer.reach(extent.first().copied().unwrap_or(0));
        state.reading.outdate();
        reached
    }

    fn array(&self, draft: &Draft, id: VariableId) -> Result<Array> {
        let state = self.defined(draft)?;
        let reading = state.reading.tell();
        state.writer.settle()?;
        let index = state.index(id).ok_or_else(|| self.deleted())?;
        let header = state.writer.header().ok_or_else(|| self.deleted())?;
        let structure = |fault| self.target.error(ErrorKind::Structure(fault));
        let file_len = self.target.len()?;
        let records = RecordLayout::new(&header, file_len).map_err(structure)?;
        let variable = &header.variables[index];
        let layout = records.variable(&header, variable).map_err(structure)?;
        let stored = stored_type(variable.external_type);
        let array = ArrayLayout {
            id: ArrayId { file: reading, address: index as u64 },
            file: Arc::clone(&self.target.name),
            path: format!("/{}", variable.name).into(),
            storage: self.target.readable(),
            shape: layout.shape.clone(),
            element_size: stored.size(),
            fill: stored_fill(variable).into(),
            fill_beyond: None,
            placement: Placement::Strided {
                address: layout.begin,
                strides_bytes: layout.byte_strides,
                beyond_end: BeyondEnd::Zeros,
            },
        };
        Ok(Array {
            layout: array,
            shape: layout.shape,
            stored,
            heap: None,
            rules: draft.rules(),
            live: Live::default(),
        })
    }

    fn storage_info(&self, _draft: &Draft, _id: VariableId) -> Result<StorageInfo> {
        Ok(StorageInfo {
            kind: StorageKind::Contiguous,
            chunk_shape: None,
            filters: Vec::new(),
            endianness: Endianness::Big,
        })
    }

    fn has_values(&self, _id: VariableId) -> bool {
        false
    }

    fn end_definitions(&mut self, draft: &Draft, room: HeaderRoom) -> Result<()> {
        let spacing = spacing(room);
        let mut state = self.alone();
        self.check_fill(draft, &state)?;
        if spacing != self.spacing {
            // Room that is asked for is made even where nothing else changed.
            state.revision = None;
        }
        self.define(draft, &mut state, spacing)
    }

    fn commit(&mut self, draft: &mut Draft, _is_last: bool) -> Result<()> {
        drop(self.defined(draft)?);
        let mut state = self.alone();
        if state.writer.has_image() {
            // As in `define`.
            state.reading.outdate();
        }
        state.writer.commit()?;
        lock(&state.put_into).clear();
        Ok(())
    }

    fn may_hold(&self, id: VariableId) -> bool {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.index(id).is_some_and(|index| state.writer.is_committed(index))
    }

    fn held_bytes(&self) -> u64 {
        self.state.read().unwrap_or_else(PoisonError::into_inner).writer.held_bytes()
    }

    fn put_into(&self) -> Vec<VariableId> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        lock(&state.put_into).iter().copied().collect()
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    fn discard(&mut self) -> Result<()> {
        self.alone().writer.discard()
    }
}
