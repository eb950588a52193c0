//! Attributes.

use isotach_model::{DataType, Values};

use crate::error::Result;

/// An attribute of a group or variable.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub data_type: DataType,
    /// Number of elements; a char attribute's bytes.
    pub len: u64,
    /// Its values, or why they cannot be read.
    pub values: Result<Values>,
}
