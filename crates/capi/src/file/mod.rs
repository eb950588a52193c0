//! Files: how they are opened and created, where their bytes are, define and data mode, and what
//! becomes of them in the end.

pub mod closing;
pub mod creating;
pub mod definitions;
mod edited;
pub mod inquiry;
pub mod library;
mod memory;
pub mod mode;
pub mod opening;
mod path;

pub(crate) use edited::Edited;
pub(crate) use memory::Memory;
