//! B-trees of both versions: the indexes of groups, attributes, chunks and heaps.

pub mod v1;
pub mod v1_build;
pub mod v1_edit;
pub mod v2;
pub mod v2_build;
pub mod v2_record;
