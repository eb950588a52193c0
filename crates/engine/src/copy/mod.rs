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
mod values;

use self::definitions::Definitions;
pub use self::definitions::Widened;
pub use self::storage::CutChunks;
use self::values::Failure;
pub use self::values::Gap;
use crate::error::Result;
use crate::file::{File, LeftOut};
use crate::writer::Writer;

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
    /// What cannot be read, or cannot be in the new file, is left out: of a variable of which a part can be read, the
    /// rest has the fill value. Else it is an error. A storage that fails always is one.
    pub leave_out: bool,
}

/// What is in a copy otherwise than in the file that was copied, beside what the options asked for.
#[derive(Debug, Clone, Default)]
pub struct Copied {
    /// What is not there at all.
    pub left_out: Vec<LeftOut>,
    /// Variables of which a part could not be read.
    pub gaps: Vec<Gap>,
    /// Variables whose chunks are not as long as was asked.
    pub cut_chunks: Vec<CutChunks>,
    /// Variables, attributes and types that have larger numbers, as the new format has none as small.
    pub widened: Vec<Widened>,
}

/// Copies all that `from` shows into the new file `into`, which is not committed. Its format is its
/// own. `progress` is told the bytes of elements that were copied, as they are without filters.
/// Gives back what is otherwise than in `from`.
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
) -> Result<Copied> {
    let mut definitions = Definitions::new(from, into, options)?;
    definitions.define(from.root())?;
    let Definitions { variables, left_out, cut_chunks, widened, .. } = definitions;
    let mut copied = Copied { left_out, cut_chunks, widened, gaps: Vec::new() };
    for variable in variables {
        let path = variable.from.path();
        match values::copy(&variable, options.leave_out, progress) {
            Ok(gap) => copied.gaps.extend(gap),
            Err(Failure::Reading(reason)) if options.leave_out && !reason.fault().is_failure() => {
                variable.to.delete()?;
                copied.left_out.push(LeftOut { path, reason });
            }
            Err(Failure::Reading(error) | Failure::Writing(error)) => return Err(error.at(&path)),
        }
    }
    Ok(copied)
}
