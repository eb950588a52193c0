//! CDL, the text form of netCDF files: what a text defines.
//!
//! ```text
//! text -> lexer -> parser -> syntax -> resolve -> definitions
//! ```
//!
//! The language is that of ncgen, classic and enhanced, with its rules for what is not written out:
//! types of attributes, lengths of unlimited dimensions, values that are missing. Where ncgen cuts,
//! wraps or ignores values that do not fit, here is an error with its line and column.

mod attribute;
mod chars;
mod column;
mod definitions;
mod error;
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

pub use definitions::{
    Attribute, Definitions, Dimension, Endianness, Format, Group, Settings, Storage, Variable,
};
pub use error::{CdlError, CdlFault};
pub use syntax::Position;

/// What a text in CDL defines.
///
/// # Errors
/// [`CdlError`], the first there is.
pub fn definitions(text: &[u8]) -> Result<Definitions, CdlError> {
    resolve::resolve(&parser::parse(text)?)
}
