//! A file copied into a new one, of the same or another of netCDF's formats.
//!
//! ```text
//! File -> definitions (groups, dimensions, types, variables, attributes) -> Writer
//!      -> values (whole chunks, slab by slab)                            -> Writer
//! ```
//! Definitions come first, all of them: a classic file is laid out once. What is copied is what netCDF
//! shows: links, references and what else is HDF5's own has no place in it.

mod definitions;
mod slabs;
mod storage;

use isotach_model::selection::Selection;

use self::definitions::{Copied, Definitions};
use self::slabs::Slabs;
use crate::error::Result;
use crate::file::{File, LeftOut};
use crate::read::Array;
use crate::variable::Variable;
use crate::writer::{VariableWriter, Writer};

/// How to copy a file; the default copies all of it as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// Unlimited dimensions become ones of the length that they have.
    pub fix_unlimited: bool,
    /// Deflate at that level in place of all filters but the checksum and shuffle; 0 for none.
    pub deflate_level: Option<u32>,
    /// Where `deflate_level` is given: shuffle before it.
    pub shuffle: bool,
    /// Lengths of chunks along the dimensions of these names, for all variables that have one of
    /// them; `None` is the whole dimension.
    pub chunk_lens: Vec<(String, Option<u64>)>,
    /// What cannot be read, or cannot be in the new file, is left out. Else it is an error.
    pub leave_out: bool,
}

/// Copies all that `from` shows into the new file `into`, which is not committed. Its format is its
/// own. `progress` is told the bytes of elements that were copied, as they are without filters.
/// Gives back what was left out.
///
/// Memory: a few chunks or 32 MiB, and what the writer keeps.
///
/// # Errors
/// Where `options.leave_out` does not say otherwise, anything that cannot be read or that the new
/// file's format cannot hold, with the object's path; what `from` itself leaves out is the reason that
/// it gives for that. In all cases what goes wrong with writing.
pub fn copy(
    from: &File,
    into: &Writer,
    options: &CopyOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<LeftOut>> {
    let mut definitions = Definitions::new(from, into, options)?;
    definitions.define(from.root())?;
    let Definitions { variables, mut left_out, .. } = definitions;
    for variable in variables {
        let path = variable.from.path();
        match copy_values(&variable, progress) {
            Ok(()) => {}
            Err(Failure::Reading(reason)) if options.leave_out => {
                variable.to.delete()?;
                left_out.push(LeftOut { path, reason });
            }
            Err(Failure::Reading(error) | Failure::Writing(error)) => return Err(error.at(&path)),
        }
    }
    Ok(left_out)
}

/// On which side copying values failed.
enum Failure {
    Reading(crate::Error),
    Writing(crate::Error),
}

fn copy_values(copied: &Copied, progress: &mut dyn FnMut(u64)) -> std::result::Result<(), Failure> {
    let Copied { from, to } = copied;
    let array = from.array().map_err(Failure::Reading)?;
    let new = to.variable().and_then(|variable| variable.array()).map_err(Failure::Writing)?;
    // Numbers that are alike on both sides need not become values between.
    let number = array.stored.number().filter(|_| from.data_type().atomic().is_some());
    let is_alike = number.is_some() && number == new.stored.number();
    let mut elements = Vec::new();
    let shown = from.shape().map_err(Failure::Reading)?;
    for selection in Slabs::new(&array, &new, &shown) {
        let count = selection.element_count().unwrap_or(0);
        match is_alike {
            true => copy_numbers(from, to, &array, &selection, &mut elements)?,
            false => {
                let values = array.read(&selection).map_err(Failure::Reading)?;
                to.write(&selection, &values).map_err(Failure::Writing)?;
            }
        }
        progress(count.saturating_mul(array.layout.element_size as u64));
    }
    Ok(())
}

fn copy_numbers(
    from: &Variable,
    to: &VariableWriter,
    array: &Array,
    selection: &Selection,
    elements: &mut Vec<u8>,
) -> std::result::Result<(), Failure> {
    let count = selection.element_count().unwrap_or(0) as usize;
    elements.clear();
    elements.reserve(count.saturating_mul(array.layout.element_size));
    let spare = &mut elements.spare_capacity_mut()[..count * array.layout.element_size];
    let read = from.read_native_into(selection, spare).map_err(Failure::Reading)?;
    to.write_native(selection, read).map_err(Failure::Writing)
}
