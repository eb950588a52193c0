//! The structures by which a group of the first kind finds its links.

pub mod symbol_table_build;
pub mod symbol_table_entry;
pub mod symbol_table_node;
