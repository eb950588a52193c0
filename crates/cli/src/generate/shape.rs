//! The lists of a variable's data against its dimensions.
//!
//! Without an unlimited dimension behind the first, the data is one list. Else an unlimited dimension
//! that is not the first begins a list of its own, in braces, for each position along the
//! dimensions before it:
//!
//! ```text
//! int v(r, n, u)   n = 2, r and u unlimited     v = {1}, {2, 3},  {}, {4} ;     r = 2, u = 2
//! ```

use isotach::model::{Atomic, DataType, UserClass, Values};

use super::chars;
use super::column::{self, Slot};
use super::definitions::Definitions;
use super::error::{CdlError, CdlFault};
use super::syntax::{Constant, Item, Position};

/// Makes the unlimited dimensions of a variable as long as its data.
pub(super) fn grow(
    definitions: &mut Definitions,
    variable: usize,
    items: &[Item],
) -> Result<(), CdlError> {
    let layout = Layout::new(definitions, variable);
    let mut lens = layout.lens.clone();
    layout.grow(0, items, &mut lens)?;
    for (&index, len) in definitions.variables[variable].dimensions.iter().zip(lens) {
        let dimension = &mut definitions.dimensions[index];
        dimension.len = dimension.len.max(len as u64);
    }
    Ok(())
}

/// The elements of a variable, as many as the text has constants for, or all where lists are in
/// lists and of types whose elements without a constant are others than those that the file was never given.
/// Among them those without a constant are `fill`, or the type's own fill value.
pub(super) fn data(
    definitions: &Definitions,
    variable: usize,
    items: &[Item],
    fill: Slot<'_>,
) -> Result<Values, CdlError> {
    let layout = Layout::new(definitions, variable);
    let at = items.first().map_or(Position { line: 1, column: 1 }, |item| item.at);
    let count = layout.lens.iter().try_fold(1_usize, |count, &len| count.checked_mul(len));
    let is_flat = layout.starts.len() == 1 && !layout.is_filled;
    match count {
        Some(count) if is_flat || count <= column::MAX_ELEMENTS => {}
        _ => return Err(CdlFault::TooLarge.at(at)),
    }
    if layout.is_char {
        return layout.chars(items, fill, at).map(Values::Char);
    }
    let mut slots: Vec<Slot<'_>> = Vec::new();
    layout.each_list(0, items, &mut |list, expected| {
        if let Some(extra) = list.get(expected) {
            return Err(CdlFault::TooMany { room: expected as u64 }.at(extra.at));
        }
        let end = if is_flat { list.len() } else { slots.len() + expected };
        let is_fill = |item: &Item| item.constant == Constant::Fill;
        slots.extend(list.iter().map(|item| if is_fill(item) { fill } else { Some(item) }));
        slots.resize(end, fill);
        Ok(())
    })?;
    column::column(&definitions.variables[variable].data_type, &slots)
}

struct Layout {
    lens: Vec<usize>,
    is_unlimited: Vec<bool>,
    is_char: bool,
    /// Of compound types and sequences.
    is_filled: bool,
    /// Where lists begin: the first dimension, and each unlimited one behind it.
    starts: Vec<usize>,
}

impl Layout {
    fn new(definitions: &Definitions, variable: usize) -> Self {
        let variable = &definitions.variables[variable];
        let dimensions = variable.dimensions.iter().map(|&index| &definitions.dimensions[index]);
        let len = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        let (lens, is_unlimited): (Vec<_>, Vec<_>) =
            dimensions.map(|dimension| (len(dimension.len), dimension.is_unlimited)).unzip();
        let behind = (1..lens.len()).filter(|&axis| is_unlimited[axis]);
        let starts = std::iter::once(0).chain(behind).collect();
        let is_char = variable.data_type.atomic() == Some(Atomic::Char);
        let is_filled = matches!(&variable.data_type, DataType::User(user)
            if matches!(user.class, UserClass::Compound(_) | UserClass::Vlen(_)));
        Self { lens, is_unlimited, is_char, is_filled, starts }
    }

    /// The dimensions that a list at this level goes over.
    fn axes(&self, level: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(level + 1).copied().unwrap_or(self.lens.len());
        self.starts[level]..end
    }

    fn is_last(&self, level: usize) -> bool {
        level + 1 == self.starts.len()
    }

    /// How many chars a text is filled up to a multiple of.
    fn row_len(&self) -> usize {
        match (&self.lens[..], &self.is_unlimited[..]) {
            ([_, .., last], [.., false]) => *last,
            _ => 1,
        }
    }

    fn chars(&self, items: &[Item], fill: Slot<'_>, at: Position) -> Result<Vec<u8>, CdlError> {
        let fill = match fill {
            Some(item) => chars::joined(std::slice::from_ref(item))?.first().copied(),
            None => None,
        };
        let fill = fill.unwrap_or(isotach::model::fill::CHAR);
        let mut chars = Vec::new();
        self.each_list(0, items, &mut |list, expected| {
            let end = chars.len() + expected;
            chars.extend(chars::rows(list, self.row_len(), expected, fill)?);
            if self.starts.len() > 1 {
                chars.resize(end, fill);
            }
            if chars.len() > column::MAX_ELEMENTS {
                return Err(CdlFault::TooLarge.at(at));
            }
            Ok(())
        })?;
        Ok(chars)
    }

    /// Makes the unlimited dimensions from this level on as long as the list.
    fn grow(&self, level: usize, items: &[Item], lens: &mut [usize]) -> Result<(), CdlError> {
        let axes = self.axes(level);
        if self.is_unlimited.get(axes.start) == Some(&true) {
            let count = match self.is_char && self.is_last(level) {
                true => chars::count(items, self.row_len())?,
                false => items.len(),
            };
            let others = self.lens[axes.start + 1..axes.end].iter();
            let others = others.fold(1_usize, |product, &len| product.saturating_mul(len));
            let len = count.div_ceil(others.max(1));
            lens[axes.start] = lens[axes.start].max(len);
        }
        if self.is_last(level) {
            return Ok(());
        }
        items.iter().try_for_each(|item| self.grow(level + 1, inner_list(item)?, lens))
    }

    /// Hands every list of constants, with the count of elements that it is for, to `sink`.
    fn each_list<'a>(
        &self,
        level: usize,
        items: &'a [Item],
        sink: &mut dyn FnMut(&'a [Item], usize) -> Result<(), CdlError>,
    ) -> Result<(), CdlError> {
        // The product of all lengths has been held against memory.
        let count: usize = self.lens[self.axes(level)].iter().product();
        if self.is_last(level) {
            return sink(items, count);
        }
        if let Some(extra) = items.get(count) {
            return Err(CdlFault::TooMany { room: count as u64 }.at(extra.at));
        }
        for place in 0..count {
            let list = items.get(place).map(inner_list).transpose()?.unwrap_or_default();
            self.each_list(level + 1, list, sink)?;
        }
        Ok(())
    }
}

fn inner_list(item: &Item) -> Result<&[Item], CdlError> {
    match &item.constant {
        Constant::List(items) => Ok(items),
        Constant::Fill => Ok(&[]),
        _ => Err(CdlFault::Braces { wanted: true }.at(item.at)),
    }
}
