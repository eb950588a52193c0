//! Files: how they are opened and created, where their bytes are, define and data mode, and what
//! becomes of them in the end.

pub mod closing;
pub mod creating;
pub mod definitions;
mod edited;
pub mod inquiry;
pub mod library;
pub mod memory;
pub mod mode;
pub mod opening;
pub mod parallel;
mod path;
pub mod settings;
pub mod user_format;

pub(crate) use edited::Edited;
pub(crate) use memory::Memory;
