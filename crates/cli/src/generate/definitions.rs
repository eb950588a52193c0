//! What a text in CDL defines: everything in its order, with what it refers to.

use std::sync::Arc;

use isotach::model::{DataType, UserType, Values};
use isotach::{Endianness, Format, Quantization, StorageKind};

use super::syntax::Position;

/// A whole file. What is in a group refers to the group by its index here, and a variable to its
/// dimensions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Definitions {
    /// What the text calls the file, without a suffix.
    pub name: String,
    /// What the file says about its own kind (`_Format`).
    pub format: Option<Format>,
    /// Whether special attributes speak of what only netCDF-4 has: chunks, filters, byte order.
    pub has_specials: bool,
    /// The root group first, parents before their children.
    pub groups: Vec<Group>,
    /// The dimensions of all groups.
    pub dimensions: Vec<Dimension>,
    /// The user-defined types of all groups, each behind those that it is made of.
    pub types: Vec<Type>,
    /// The variables of all groups.
    pub variables: Vec<Variable>,
}

/// A group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Where it stands in the text.
    pub at: Position,
    /// Its path; `/` for the root group.
    pub path: String,
    /// Its name; `/` for the root group.
    pub name: String,
    /// The index of the group that it is in; `None` for the root group.
    pub parent: Option<usize>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

/// A dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Where it stands in the text.
    pub at: Position,
    /// The index of its group.
    pub group: usize,
    /// Its name.
    pub name: String,
    /// Its length; that of the longest variable along it where it is unlimited.
    pub len: u64,
    /// Whether it can grow.
    pub is_unlimited: bool,
}

/// A user-defined type.
#[derive(Debug, Clone, PartialEq)]
pub struct Type {
    /// Where it stands in the text.
    pub at: Position,
    /// The index of its group.
    pub group: usize,
    /// What it is; its `group` is the path.
    pub user: Arc<UserType>,
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Where it stands in the text.
    pub at: Position,
    /// The index of its group.
    pub group: usize,
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub data_type: DataType,
    /// The indices of its dimensions.
    pub dimensions: Vec<usize>,
    /// Its attributes, `_FillValue` among them.
    pub attributes: Vec<Attribute>,
    /// How it is to be stored.
    pub settings: Settings,
    /// Its first elements in row-major order, as many as the text has; the others have its fill
    /// value. `None` where the text has no data for it.
    pub data: Option<Values>,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Where it stands in the text.
    pub at: Position,
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub data_type: DataType,
    /// Its elements.
    pub values: Values,
}

/// What the special attributes say of how a variable is to be stored; `None` where they say
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// `_Storage`
    pub storage: Option<StorageKind>,
    /// `_ChunkSizes`
    pub chunk_shape: Option<Vec<u64>>,
    /// `_DeflateLevel`
    pub deflate_level: Option<u32>,
    /// `_Shuffle`
    pub shuffle: Option<bool>,
    /// `_Fletcher32`
    pub fletcher32: Option<bool>,
    /// `_Endianness`
    pub endianness: Option<Endianness>,
    /// `_NoFill`
    pub no_fill: Option<bool>,
    /// `_QuantizeBitGroomNumberOfSignificantDigits` and those of the other ways of rounding.
    pub quantization: Option<Quantization>,
    /// `_Filter`: numbers of filters and their parameters.
    pub filters: Vec<(u16, Vec<u32>)>,
}

impl Definitions {
    /// The present lengths of a variable's dimensions.
    pub fn shape(&self, variable: &Variable) -> Vec<u64> {
        variable.dimensions.iter().map(|&index| self.dimensions[index].len).collect()
    }
}
