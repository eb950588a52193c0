//! Files: how they are opened and created, where their bytes are, define and data mode, and what
//! becomes of them in the end.

mod closing;
mod creating;
mod definitions;
mod edited;
mod inquiry;
mod library;
mod memory;
pub mod mode;
mod opening;
mod path;

pub(crate) use edited::Edited;
pub(crate) use memory::Memory;
