//! What a call asks for, and whether it may: netCDF's errors in netCDF's order.
//!
//! The order differs between the formats and between the families of functions, as in netCDF-C, where a
//! classic file has strides and maps taken apart into single elements.

use std::ffi::c_int;
use std::sync::{Arc, RwLockReadGuard};

use isotach::model::selection::{Axis, Selection};
use isotach::model::{Atomic, DataType};
use isotach::{Dimension, Variable};

use super::map;
use crate::model::{GroupNode, OpenFile, Phase, VariableNode};
use crate::status::{Outcome, Status};
use crate::variable::chunk_cache;

/// Strides from here on are refused where netCDF-C walks them itself.
const MAX_STRIDE: i64 = 0x7fff_ffff;

/// The varid that stands for the attributes of a group.
const GLOBAL: c_int = -1;

/// The families of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    One,
    Slab,
    Strided,
    Mapped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Get,
    Put,
}

/// The arguments of a call as the caller gave them.
pub(super) struct Access {
    kind: Kind,
    /// The type in memory; `None` for that of the variable.
    memory: Option<Atomic>,
    start: *const usize,
    count: *const usize,
    stride: *const isize,
    map: *const isize,
}

/// What is to be moved.
pub(super) struct Transfer<'f> {
    pub(super) node: Arc<VariableNode>,
    /// Keeps the file in data mode.
    pub(super) _phase: RwLockReadGuard<'f, Phase>,
    /// The type in memory.
    pub(super) memory: DataType,
    pub(super) selection: Selection,
    /// Elements of memory from one result to the next along each axis; `None` for row-major memory.
    pub(super) map: Option<Vec<isize>>,
    /// How many records of a classic file there must be first; that comes before what does not convert.
    pub(super) records: u64,
    /// Elements of that type do not convert.
    pub(super) misfit: Option<Status>,
    /// What is told when everything was moved: the request reached beyond the variable.
    fault: Option<Status>,
}

impl Transfer<'_> {
    /// What a call ends with that nothing was moved by, for that reason.
    pub(super) fn refused(&self, status: Status) -> Status {
        self.fault.unwrap_or(status)
    }

    /// What the call ends with, when everything was moved and all of it was in range or not.
    pub(super) fn end(&self, is_in_range: bool) -> Outcome {
        match self.fault {
            Some(fault) => Err(fault),
            None if is_in_range => Ok(()),
            None => Err(Status::ERANGE),
        }
    }
}

/// A request against the shape of its variable.
struct Request<'r> {
    file: &'r OpenFile,
    direction: Direction,
    kind: Kind,
    variable: &'r Variable,
    memory: Option<Atomic>,
    along: &'r [Dimension],
    shape: Vec<u64>,
    /// Whether the first dimension is an unlimited one of the variable's own group.
    has_records: bool,
    start: Vec<u64>,
    count: Vec<u64>,
    /// As the caller gave them; all 1 where he gave none.
    stride: Vec<i64>,
    map: Option<Vec<isize>>,
}

impl Access {
    pub(super) fn new(
        kind: Kind,
        memory: Option<Atomic>,
        start: *const usize,
        count: *const usize,
        stride: *const isize,
        map: *const isize,
    ) -> Self {
        Self { kind, memory, start, count, stride, map }
    }

    /// True where netCDF-C hands a request to the classic format before it looks at the variable.
    fn is_unseen(&self) -> bool {
        match self.kind {
            Kind::One => !self.start.is_null(),
            Kind::Slab => self.memory.is_some() && !self.start.is_null() && !self.count.is_null(),
            Kind::Whole | Kind::Strided | Kind::Mapped => false,
        }
    }

    /// Finds the variable and checks the request; `None` where there is nothing to do.
    ///
    /// # Errors
    /// `NC_ENOTVAR`, `NC_EPERM`, `NC_EINDEFINE`, `NC_EINVALCOORDS`, `NC_EEDGE`, `NC_ESTRIDE`, `NC_ECHAR`,
    /// `NC_EBADTYPE`, `NC_EMAPTYPE`.
    ///
    /// # Safety
    /// Each of the lists is NULL or has an entry for each dimension of the variable.
    pub(super) unsafe fn resolve<'f>(
        &self,
        file: &'f OpenFile,
        group: &GroupNode,
        variable: c_int,
        direction: Direction,
    ) -> Outcome<Option<Transfer<'f>>> {
        if !file.is_hdf5() && self.is_unseen() {
            drop(ready(file, direction)?);
            if variable == GLOBAL {
                return Err(Status::EGLOBAL);
            }
        }
        let node = group.variable(variable)?;
        let dimensions = node.variable.dimensions()?;
        if self.start.is_null() && !dimensions.is_empty() && self.kind != Kind::Whole {
            return Err(Status::EINVALCOORDS);
        }
        self.hear(file, &dimensions, direction)?;
        // SAFETY: by this function's contract.
        let request = unsafe { self.request(file, &node, &dimensions, direction) }?;
        let Some(wanted) = request.check()? else { return Ok(None) };
        let misfit = request.check_type().err().filter(|_| !wanted.is_unseen);
        if let Some(status) = misfit
            && (file.is_hdf5() || direction == Direction::Get)
        {
            return Err(wanted.fault.unwrap_or(status));
        }
        let _phase = ready(file, direction)?;
        let memory = match self.memory {
            Some(memory) => DataType::Atomic(memory),
            // Numbers that C has no type for are moved as the type that it is told.
            None => match node.variable.data_type() {
                DataType::SmallFloat(_) => Atomic::Float.into(),
                data_type => data_type.clone(),
            },
        };
        let Wanted { selection, map, records, fault, .. } = wanted;
        if direction == Direction::Get {
            chunk_cache::take_effect(file, &node)?;
        }
        Ok(Some(Transfer { node, _phase, memory, selection, map, records, misfit, fault }))
    }

    /// A caller who gives no counts hears how long the dimensions are; one who writes changes that, and does not.
    fn hear(&self, file: &OpenFile, along: &[Dimension], direction: Direction) -> Outcome {
        if self.count.is_null() && self.kind != Kind::One {
            along.iter().try_for_each(|dimension| file.hear(dimension))?;
        }
        if direction == Direction::Put { file.keep_heard(along) } else { Ok(()) }
    }

    /// # Safety
    /// As for `resolve`.
    unsafe fn request<'r>(
        &self,
        file: &'r OpenFile,
        node: &'r VariableNode,
        dimensions: &'r [Dimension],
        direction: Direction,
    ) -> Outcome<Request<'r>> {
        let rank = dimensions.len();
        let shape = dimensions.iter().map(Dimension::len).collect::<Result<Vec<u64>, _>>()?;
        // SAFETY: by the contract of `resolve`.
        let (start, count, stride, map) = unsafe {
            (
                entries(self.start, rank),
                entries(self.count, rank),
                entries(self.stride, rank),
                entries(self.map, rank),
            )
        };
        let count = match (count, self.kind) {
            (_, Kind::One) => vec![1; rank],
            (Some(count), _) => count.iter().map(|&count| count as u64).collect(),
            (None, _) => shape.clone(),
        };
        let start = start.map(|start| start.iter().map(|&start| start as u64).collect());
        let stride = stride.map(|stride| stride.iter().map(|&stride| stride as i64).collect());
        Ok(Request {
            file,
            direction,
            kind: self.kind,
            variable: &node.variable,
            memory: self.memory,
            along: dimensions,
            has_records: dimensions.first().is_some_and(|first| {
                first.is_unlimited() && first.group() == node.variable.group_path()
            }),
            shape,
            start: start.unwrap_or_else(|| vec![0; rank]),
            count,
            stride: stride.unwrap_or_else(|| vec![1; rank]),
            map: map.map(<[isize]>::to_vec),
        })
    }
}

/// What is left of a request when it was checked.
struct Wanted {
    selection: Selection,
    map: Option<Vec<isize>>,
    records: u64,
    fault: Option<Status>,
    /// No element is looked at, so that nobody finds out what does not convert: netCDF-C walks along the first axis,
    /// where it cannot move all elements at once.
    is_unseen: bool,
}

impl Request<'_> {
    /// `None` where there is nothing to do.
    fn check(&self) -> Outcome<Option<Wanted>> {
        match self.kind {
            Kind::Strided if !self.file.is_hdf5() => self.check_strided(),
            Kind::Mapped => self.check_mapped(),
            Kind::Whole | Kind::One | Kind::Slab | Kind::Strided => self.check_slab(),
        }
    }

    /// What every transfer has to pass in the end.
    fn check_slab(&self) -> Outcome<Option<Wanted>> {
        if self.file.is_hdf5() {
            self.check_text()?;
            self.check_phase()?;
            if self.stride.iter().any(|&stride| stride <= 0) {
                return Err(Status::ESTRIDE);
            }
            self.check_room()?;
            self.check_bounds_hdf5()?;
            if self.is_beyond_counting()
                || (self.direction == Direction::Put && self.is_read_only() && self.grows()?)
            {
                return Err(Status::EHDFERR);
            }
        } else {
            self.check_phase()?;
            self.check_text()?;
            self.check_bounds_classic()?;
        }
        let mut records = 0;
        let is_part = |axis: usize| self.count[axis] < self.shape[axis];
        let mut is_unseen = !self.file.is_hdf5() && (1..self.shape.len()).any(is_part);
        if self.is_record(0) {
            records = self.start[0].saturating_add(self.count[0]);
            is_unseen = true;
        }
        is_unseen &= self.count.first() == Some(&0);
        Ok(Some(Wanted { selection: self.selection(), map: None, records, fault: None, is_unseen }))
    }

    /// Strides in a classic file: whoever goes through all elements one by one finds those beyond the end
    /// last.
    fn check_strided(&self) -> Outcome<Option<Wanted>> {
        let is_user = self.memory.is_some() && self.variable.data_type().atomic().is_none();
        if is_user {
            return Err(Status::EBADTYPE);
        }
        self.check_text()?;
        if self.shape.is_empty() {
            return self.check_slab();
        }
        for axis in 0..self.shape.len() {
            if !self.may_grow(axis) {
                self.check_corner(axis)?;
            }
            self.check_stride(axis)?;
        }
        let is_nothing = self.count.contains(&0);
        let is_simple = self.stride.iter().all(|&stride| stride == 1);
        match (is_nothing, is_simple, self.direction) {
            (true, _, Direction::Get) | (true, false, Direction::Put) => Ok(None),
            (_, true, _) => self.check_slab(),
            (false, false, _) => self.check_elements(),
        }
    }

    fn check_mapped(&self) -> Outcome<Option<Wanted>> {
        if self.variable.data_type().atomic().is_none() {
            return Err(Status::EMAPTYPE);
        }
        self.check_text()?;
        if self.shape.is_empty() {
            return self.check_slab();
        }
        self.along.iter().try_for_each(|dimension| self.file.hear(dimension))?;
        let axes = 0..self.shape.len();
        axes.clone().try_for_each(|axis| self.check_stride(axis))?;
        if self.map.is_none() && self.stride.iter().all(|&stride| stride == 1) {
            return self.check_slab();
        }
        match self.direction {
            Direction::Get => axes.rev().try_for_each(|axis| self.check_corner(axis))?,
            Direction::Put => {
                let first = usize::from(self.has_records);
                axes.skip(first).try_for_each(|axis| self.check_corner(axis))?;
            }
        }
        if self.count.contains(&0) { Ok(None) } else { self.check_elements() }
    }

    /// The elements that lie inside, each at its place in memory, and the error of those that do not.
    fn check_elements(&self) -> Outcome<Option<Wanted>> {
        self.check_phase()?;
        if self.is_record(0) && self.start[0] > u64::from(u32::MAX) && self.kind == Kind::Mapped {
            return Err(Status::EINVALCOORDS);
        }
        let stop = (self.count[0]).wrapping_mul(self.stride[0].cast_unsigned());
        if self.kind == Kind::Strided && self.start[0].wrapping_add(stop) <= self.start[0] {
            // Beyond the last record that can be counted the walk ends before it begins.
            return Ok(None);
        }
        let map = self.map.clone().unwrap_or_else(|| map::row_major(&self.count));
        let mut selection = self.selection();
        let mut fault = None;
        for (index, axis) in selection.axes.iter_mut().enumerate() {
            let len = self.shape[index];
            let Axis::Range { start, count, stride } = axis else { continue };
            if self.may_grow(index) || Axis::range(*start, *count, *stride).fits(len) {
                continue;
            }
            *count = len.saturating_sub(*start).div_ceil(stride.unsigned_abs().max(1));
            let is_record = self.is_record(index) && !self.is_read_only();
            if !is_record {
                fault = Some(Status::EINVALCOORDS);
            } else {
                fault.get_or_insert(Status::EEDGE);
            }
        }
        let last = selection.axes.first().and_then(Axis::bounds).map(|bounds| bounds.1);
        let last = last.filter(|_| self.is_record(0) && !selection.is_empty());
        let records = last.map_or(0, |last| last.saturating_add(1));
        Ok(Some(Wanted { selection, map: Some(map), records, fault, is_unseen: false }))
    }

    fn selection(&self) -> Selection {
        let starts = self.start.iter().zip(&self.count).zip(&self.stride);
        let axes = starts.map(|((&start, &count), &stride)| Axis::range(start, count, stride));
        Selection { axes: axes.collect() }
    }

    fn check_phase(&self) -> Outcome {
        ready(self.file, self.direction).map(drop)
    }

    /// Text goes with text only.
    fn check_text(&self) -> Outcome {
        let Some(memory) = self.memory else { return Ok(()) };
        let stored = self.variable.data_type().atomic();
        let is_text = [stored == Some(Atomic::Char), memory == Atomic::Char];
        if is_text[0] == is_text[1] { Ok(()) } else { Err(Status::ECHAR) }
    }

    /// Numbers go with numbers only, strings with strings.
    fn check_type(&self) -> Outcome {
        let Some(memory) = self.memory else { return Ok(()) };
        let Some(stored) = self.variable.data_type().atomic() else { return Err(Status::EBADTYPE) };
        let is_string = [stored == Atomic::String, memory == Atomic::String];
        if is_string[0] == is_string[1] { Ok(()) } else { Err(Status::EBADTYPE) }
    }

    fn check_stride(&self, axis: usize) -> Outcome {
        if (1..MAX_STRIDE).contains(&self.stride[axis]) { Ok(()) } else { Err(Status::ESTRIDE) }
    }

    /// The first position and the count along one axis, whatever the stride.
    fn check_corner(&self, axis: usize) -> Outcome {
        let (start, count, len) = (self.start[axis], self.count[axis], self.shape[axis]);
        if start > len || (start == len && count > 0) {
            return Err(Status::EINVALCOORDS);
        }
        if count > len - start { Err(Status::EEDGE) } else { Ok(()) }
    }

    /// First positions that lie beyond the end before all others, and the end of the records last.
    fn check_bounds_classic(&self) -> Outcome {
        let (records, others): (Vec<usize>, Vec<usize>) =
            (0..self.shape.len()).partition(|&axis| self.is_record(axis));
        for &axis in &records {
            let is_beyond = self.check_corner(axis) == Err(Status::EINVALCOORDS);
            if (is_beyond && self.is_read_only()) || self.start[axis] > u64::from(u32::MAX) {
                return Err(Status::EINVALCOORDS);
            }
        }
        if others.iter().any(|&axis| self.start[axis] > self.shape[axis]) {
            return Err(Status::EINVALCOORDS);
        }
        others.iter().try_for_each(|&axis| self.check_corner(axis))?;
        let is_inside = |&axis: &usize| self.may_grow(axis) || self.check_corner(axis).is_ok();
        if records.iter().all(is_inside) { Ok(()) } else { Err(Status::EEDGE) }
    }

    /// What is converted is read to memory first, which libnetcdf asks for before it looks at the bounds.
    fn check_room(&self) -> Outcome {
        let stored = self.variable.data_type();
        let is_converted = self.memory.is_some_and(|memory| stored.atomic() != Some(memory));
        let elements = self.count.iter().fold(1, |count: u64, &more| count.wrapping_mul(more));
        let bytes = elements.wrapping_mul(stored.layout().size as u64);
        let has_no_room =
            self.direction == Direction::Get && is_converted && i64::try_from(bytes).is_err();
        if has_no_room { Err(Status::ENOMEM) } else { Ok(()) }
    }

    /// Axis by axis.
    fn check_bounds_hdf5(&self) -> Outcome {
        let is_nothing = self.count.contains(&0);
        for axis in (0..self.shape.len()).filter(|&axis| !self.may_grow(axis)) {
            let (start, count, len) = (self.start[axis], self.count[axis], self.shape[axis]);
            self.file.hear(&self.along[axis])?;
            if start > len || (start == len && count > 0) {
                return Err(Status::EINVALCOORDS);
            }
            let is_looked_at = match self.direction {
                Direction::Get => count > 0,
                Direction::Put => !is_nothing,
            };
            if is_looked_at && !Axis::range(start, count, self.stride[axis]).fits(len) {
                return Err(Status::EEDGE);
            }
        }
        Ok(())
    }

    /// True where writing beyond the end makes the dimension longer.
    fn may_grow(&self, axis: usize) -> bool {
        self.direction == Direction::Put && self.along[axis].is_unlimited()
    }

    /// True where a dimension would become longer than can be said.
    fn is_beyond_counting(&self) -> bool {
        let is_beyond = |axis: usize| {
            let steps = u128::from(self.stride[axis].unsigned_abs())
                * u128::from(self.count[axis].saturating_sub(1));
            self.may_grow(axis) && u128::from(self.start[axis]) + steps >= u128::from(u64::MAX)
        };
        !self.count.contains(&0) && (0..self.shape.len()).any(is_beyond)
    }

    /// True for a request that reaches beyond what the variable has itself.
    fn grows(&self) -> Outcome<bool> {
        let array = self.variable.array()?;
        let axes = self.start.iter().zip(&self.count).zip(&self.stride).zip(&array.layout.shape);
        let is_beyond = |(((&start, &count), &stride), &len): (((&u64, &u64), &i64), &u64)| {
            !Axis::range(start, count, stride).fits(len)
        };
        Ok(!self.count.contains(&0) && axes.into_iter().any(is_beyond))
    }

    fn is_record(&self, axis: usize) -> bool {
        !self.file.is_hdf5() && self.along.get(axis).is_some_and(Dimension::is_unlimited)
    }

    fn is_read_only(&self) -> bool {
        self.file.writer.is_none()
    }
}

/// Makes sure that values may be moved now. That a netCDF-4 file cannot be written is found last, by whoever
/// writes.
fn ready(file: &OpenFile, direction: Direction) -> Outcome<RwLockReadGuard<'_, Phase>> {
    if direction == Direction::Put && !file.is_hdf5() {
        file.writer()?;
    }
    file.moving_values()
}

/// # Safety
/// `list` is NULL or has `len` entries.
unsafe fn entries<'a, T>(list: *const T, len: usize) -> Option<&'a [T]> {
    // SAFETY: by this function's contract.
    (!list.is_null()).then(|| unsafe { std::slice::from_raw_parts(list, len) })
}
