//! Virtual data sets: whose elements stand in other data sets, mostly of other files.
//!
//! ```text
//! layout -> global heap object -> mappings: source file, source data set, two selections
//!        -> sources opened when first needed -> pieces: blocks here <- blocks there
//! ```
//! A mapping whose selections have no end follows its source as that grows. One with `%b` in a
//! name has a source for each block, as many as there are. A source that is not there leaves fill
//! values, as in libhdf5.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isotach_format::hdf5::message::dataspace::Dimension;
use isotach_format::hdf5::message::{Dataspace, Layout};
use isotach_format::hdf5::selection::{RegularAxis, Selection};
use isotach_format::hdf5::text::text;
use isotach_format::hdf5::virtual_mapping::{SAME_FILE, VirtualMapping};

use super::context::Context;
use super::dataset::Dataset;
use super::node::Object;
use super::other_files::ReferenceKind;
use super::stored::{NoConversion, element_conversion};
use super::virtual_selection::{self as selection, Misfit, Pair};
use crate::error::{Error, ErrorKind, OtherFileReason, Result};
use crate::mapping::once::Once;
use crate::plan::layout::{Blocks, VirtualPiece, VirtualSources};

/// Virtual data sets in a row, each a source of the one before.
const VIRTUAL_DEPTH: u32 = 8;
/// Sources of sources, so that data sets which are made of one another many times over come to an
/// end.
const NESTED_SOURCES: u64 = 1 << 16;
/// Blocks of a mapping with `%b`.
const BLOCK_LIMIT: u64 = 1 << 20;

const STRUCTURE: &str = "virtual data set mappings";

/// A mapping.
pub(super) struct Mapping {
    pub(super) message: VirtualMapping,
}

/// How a data set was reached: as the source of a virtual data set, itself perhaps a source.
#[derive(Debug, Clone, Default)]
pub(super) struct SourceChain {
    depth: u32,
    /// Sources of sources that were opened on behalf of the first data set of the chain.
    nested: Arc<AtomicU64>,
}

impl SourceChain {
    /// The chain of a source of the data set that has this one.
    fn next(&self, context: &Context) -> Result<Self> {
        let limited = |what, value, limit| match value > limit {
            true => Err(context.error(ErrorKind::Limit { what, value, limit })),
            false => Ok(()),
        };
        let depth = self.depth + 1;
        limited("virtual data sets in a row", u64::from(depth), u64::from(VIRTUAL_DEPTH))?;
        if self.depth > 0 {
            let nested = self.nested.fetch_add(1, Ordering::Relaxed) + 1;
            limited("sources of sources of a virtual data set", nested, NESTED_SOURCES)?;
        }
        Ok(Self { depth, nested: Arc::clone(&self.nested) })
    }
}

/// The sources of a virtual data set.
pub(super) struct Sources {
    dataset: Dataset,
    pieces: Once<Arc<[VirtualPiece]>>,
}

/// The mappings of a data set; none where it is not virtual.
pub(super) fn mappings(dataset: &Dataset) -> Result<&Arc<[Mapping]>> {
    let read = || {
        let Layout::Virtual { heap_address: Some(address), heap_index } = **dataset.layout()?
        else {
            return Ok(Vec::new().into());
        };
        let context = dataset.context();
        let messages = context.heap_object(address, heap_index, |bytes| {
            VirtualMapping::decode_all(bytes, address, context.sizes())
                .map_err(|error| context.structure_error(error))
        })?;
        Ok(messages.into_iter().map(|message| Mapping { message }).collect())
    };
    dataset.inner.mappings.get_or_find(read)
}

/// The present shape of a virtual data set whose stored one is `stored`: along an axis where
/// mappings have no end, as far as the furthest source reaches.
pub(super) fn extent(dataset: &Dataset, stored: Dataspace) -> Result<Dataspace> {
    let mappings = mappings(dataset)?;
    let axes = stored.dimensions();
    let mut reached: Vec<Option<u64>> = vec![None; axes.len()];
    let mut fewest = vec![0; axes.len()];
    for Mapping { message } in mappings.iter() {
        for (fewest, end) in fewest.iter_mut().zip(selection::ends(&message.virtual_selection)) {
            *fewest = end.unwrap_or(0).max(*fewest);
        }
        let Some((number, axis)) = endless(&message.virtual_selection) else { continue };
        let end = reach(dataset, message, axis)?;
        if let Some(reached) = reached.get_mut(number) {
            *reached = Some(end.max(reached.unwrap_or(0)));
        }
    }
    let axes = axes.iter().zip(reached).zip(fewest).map(|((axis, reached), fewest)| Dimension {
        size: reached.map_or(axis.size, |reached| reached.max(fewest)),
        max: axis.max,
    });
    Ok(match stored {
        Dataspace::Simple(_) => Dataspace::Simple(axes.collect()),
        other => other,
    })
}

/// The axis of a selection that has no end, and its number.
fn endless(selected: &Selection) -> Option<(usize, &RegularAxis)> {
    let number = selection::unlimited_axis(selected)?;
    match selected {
        Selection::Regular(axes) => axes.get(number).map(|axis| (number, axis)),
        _ => None,
    }
}

/// How far a mapping reaches along the `axis` where it has no end.
fn reach(dataset: &Dataset, message: &VirtualMapping, axis: &RegularAxis) -> Result<u64> {
    if let Some((number, source_axis)) = endless(&message.source_selection) {
        let Some(source) = source(dataset, message, 0)? else { return Ok(0) };
        let len = source.dimensions()?.get(number).map_or(0, |axis| axis.size);
        return Ok(selection::extent_for(axis, selection::slices_within(source_axis, len)));
    }
    let mut end = 0;
    for number in 0..block_limit(message) {
        if source(dataset, message, number)?.is_none() {
            break;
        }
        let Blocks { start, block, .. } = block(axis, number);
        end = start.saturating_add(block);
    }
    Ok(end)
}

/// The block `number` of an axis without end.
fn block(axis: &RegularAxis, number: u64) -> Blocks {
    let start = axis.start.saturating_add(number.saturating_mul(axis.stride));
    let block = axis.block.unwrap_or(axis.stride);
    Blocks { start, stride: block.max(1), count: 1, block }
}

/// Blocks that a mapping can have: one, where its names are the same for all.
fn block_limit(message: &VirtualMapping) -> u64 {
    let varies = |name: &[u8]| expand(name, 0) != expand(name, 1);
    let varies = varies(&message.source_file) || varies(&message.source_data_set);
    if varies { BLOCK_LIMIT } else { 1 }
}

/// A source's name: `%b` is the block's number, `%%` is `%`.
fn expand(name: &[u8], number: u64) -> String {
    let name = text(name);
    let mut out = String::with_capacity(name.len());
    let mut rest = name.as_str();
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        rest = match after.as_bytes().first() {
            Some(b'b') => {
                out.push_str(&number.to_string());
                &after[1..]
            }
            Some(b'%') => {
                out.push('%');
                &after[1..]
            }
            _ => {
                out.push('%');
                after
            }
        };
    }
    out.push_str(rest);
    out
}

/// The source of a mapping's block `number`; `None` where it is not there.
fn source(dataset: &Dataset, message: &VirtualMapping, number: u64) -> Result<Option<Dataset>> {
    let context = dataset.context();
    let chain = dataset.inner.chain.next(context)?;
    let file = expand(&message.source_file, number);
    let other = match &*message.source_file == SAME_FILE {
        true => Arc::clone(context),
        false => match context.other_file(&file, ReferenceKind::VirtualSource) {
            Ok(other) => other,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    let path = expand(&message.source_data_set, number);
    match other.root()?.object(&path)? {
        Some(Object::Dataset(source)) => Ok(Some(Dataset::in_chain(source.node().clone(), chain))),
        Some(Object::Unknown(unknown)) => Err(unknown.error),
        Some(_) => Err(broken(context, &file, format!("{path} is not a data set"))),
        None => Ok(None),
    }
}

fn is_missing(error: &Error) -> bool {
    match &error.kind {
        ErrorKind::OtherFile { reason: OtherFileReason::Failed(source), .. } => {
            source.kind() == io::ErrorKind::NotFound
        }
        _ => false,
    }
}

fn broken(context: &Context, file: &str, why: String) -> Error {
    context.other_file_error(file, OtherFileReason::Broken(why))
}

impl Sources {
    pub(super) fn new(dataset: &Dataset) -> Self {
        // A handle of its own: the array that `dataset` keeps refers to this.
        let dataset = Dataset::in_chain(dataset.node().clone(), dataset.inner.chain.clone());
        Self { dataset, pieces: Once::new() }
    }

    fn find(&self) -> Result<Arc<[VirtualPiece]>> {
        let mut pieces = Vec::new();
        for Mapping { message } in mappings(&self.dataset)?.iter() {
            let target = &message.virtual_selection;
            match (endless(target), endless(&message.source_selection)) {
                (None, None) => self.limited(message, 0, target, &mut pieces)?,
                (Some((number, axis)), None) => {
                    let shape = self.dataset.dimensions()?;
                    let end = shape.get(number).map_or(0, |axis| axis.size);
                    for index in 0..block_limit(message) {
                        let blocks = block(axis, index);
                        if blocks.start.saturating_add(blocks.block) > end {
                            break;
                        }
                        let target = selection::with_axis(target, number, blocks);
                        self.limited(message, index, &target, &mut pieces)?;
                    }
                }
                (Some(target), Some(source)) => {
                    self.growing(message, target, source, &mut pieces)?;
                }
                (None, Some(_)) => {
                    return Err(self.dataset.bad_field(STRUCTURE, "selections", 0));
                }
            }
        }
        Ok(pieces.into())
    }

    /// The pieces of a mapping whose virtual selection is `target`.
    fn limited(
        &self,
        message: &VirtualMapping,
        number: u64,
        target: &Selection,
        pieces: &mut Vec<VirtualPiece>,
    ) -> Result<()> {
        let Some(source) = source(&self.dataset, message, number)? else { return Ok(()) };
        self.add(&source, message, target, &message.source_selection, pieces)
    }

    /// The pieces of a mapping that follows its source.
    fn growing(
        &self,
        message: &VirtualMapping,
        (target_number, target_axis): (usize, &RegularAxis),
        (source_number, source_axis): (usize, &RegularAxis),
        pieces: &mut Vec<VirtualPiece>,
    ) -> Result<()> {
        let Some(source) = source(&self.dataset, message, 0)? else { return Ok(()) };
        let len = |dataset: &Dataset, number: usize| -> Result<u64> {
            Ok(dataset.dimensions()?.get(number).map_or(0, |axis| axis.size))
        };
        let there = selection::slices_within(source_axis, len(&source, source_number)?);
        let here = selection::slices_within(target_axis, len(&self.dataset, target_number)?);
        for (target, from) in selection::cut(target_axis, source_axis, there.min(here)) {
            let target = selection::with_axis(&message.virtual_selection, target_number, target);
            let from = selection::with_axis(&message.source_selection, source_number, from);
            self.add(&source, message, &target, &from, pieces)?;
        }
        Ok(())
    }

    fn add(
        &self,
        source: &Dataset,
        message: &VirtualMapping,
        target: &Selection,
        from: &Selection,
        pieces: &mut Vec<VirtualPiece>,
    ) -> Result<()> {
        let context = self.dataset.context();
        let fail = |why: &str| {
            let file = text(&message.source_file);
            broken(context, &file, format!("{}: {why}", source.node().path()))
        };
        let (datatype, source_type) = (self.dataset.datatype()?, source.datatype()?);
        let conversion = element_conversion(source_type, datatype).map_err(|NoConversion| {
            let (from, to) = (source_type.describe(), datatype.describe());
            fail(&format!("elements {from} do not convert to {to} of the virtual data set"))
        })?;
        let conversion = conversion.map(Arc::new);
        if datatype.has_heap_data()
            && source.context().file_number.get() != context.file_number.get()
        {
            return Err(fail("values of variable length in another file"));
        }
        let array = source.array()?;
        let shape: Vec<u64> = self.dataset.dimensions()?.iter().map(|axis| axis.size).collect();
        let pairs: Vec<Pair> =
            selection::pair(target, &shape, from, &array.layout.shape).map_err(|misfit| {
                fail(match misfit {
                    Misfit::Rank => "a selection has another rank than its data set",
                    Misfit::Outside => "a selection reaches beyond its data set",
                    Misfit::Count => "two selections have different numbers of elements",
                    Misfit::TooMany => "a selection has too many parts",
                })
            })?;
        let layout = Arc::new(array.layout.clone());
        pieces.extend(pairs.into_iter().map(|(target, selection)| VirtualPiece {
            target,
            source: Arc::clone(&layout),
            selection,
            conversion: conversion.clone(),
        }));
        Ok(())
    }
}

impl VirtualSources for Sources {
    fn pieces(&self) -> Result<Arc<[VirtualPiece]>> {
        self.pieces.get_or_find(|| self.dataset.at(self.find())).cloned()
    }
}
