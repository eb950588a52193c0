//! `isotach generate`: CDL, the text form of netCDF files, into a file.
//!
//! ```text
//! text -> lexer -> parser -> syntax -> resolve -> definitions -> write -> file
//! ```
//!
//! The language is that of ncgen, classic and enhanced, with its rules for what is not written out:
//! types of attributes, lengths of unlimited dimensions, values that are missing. Where ncgen cuts,
//! wraps or ignores values that do not fit, here is an error with its line and column.

mod attribute;
mod chars;
mod column;
mod command;
mod definitions;
mod error;
mod kind;
mod lexer;
mod number;
mod parser;
mod resolve;
mod scope;
mod shape;
mod special;
mod syntax;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use command::{GenerateOptions, run};
pub use command::{bytes, create};
pub use definitions::{Attribute, Definitions, Dimension, Group, Settings, Type, Variable};
pub use error::{CdlError, CdlFault, Refused};
pub(crate) use kind::Kind;
pub use syntax::Position;

/// What a text in CDL defines.
///
/// # Errors
/// [`CdlError`], the first there is.
pub fn definitions(text: &[u8]) -> Result<Definitions, CdlError> {
    let (name, root) = parser::parse(text)?;
    resolve::resolve(&name, &root)
}
