//! Variables: what they are, and reading them.

use std::mem::MaybeUninit;
use std::sync::Arc;

use isotach_model::convert::{Number, RangeReport};
use isotach_model::data_type::COMPLEX_DIMENSIONS;
use isotach_model::selection::Selection;
use isotach_model::{Complex, DataType, Values};

use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::Result;
use crate::mapping::VariableMapping;
use crate::read::Array;
use crate::sync::OnceLock;

/// A variable of an open file. Cheap to clone; may be read by many threads at once.
#[derive(Clone)]
pub struct Variable {
    pub(crate) mapping: Arc<dyn VariableMapping>,
    /// Made for the first read.
    array: OnceLock<Arc<Array>>,
}

/// How a variable's elements lie in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageInfo {
    /// The kind of storage.
    pub kind: StorageKind,
    /// Elements of a chunk along each axis, for chunked storage.
    pub chunk_shape: Option<Vec<u64>>,
    /// Filters in the order in which they were applied.
    pub filters: Vec<FilterUse>,
    /// Byte order of numbers.
    pub endianness: Endianness,
}

/// The kinds of storage that `nc_inq_var_chunking` tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum StorageKind {
    Contiguous,
    Chunked,
    Compact,
    Virtual,
    /// External files or a layout netCDF has no name for.
    Unknown,
}

/// A filter of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterUse {
    /// Registered identifier.
    pub id: u16,
    /// The name the registry or the file gives it.
    pub name: String,
    /// Its parameters as the file has them.
    pub parameters: Vec<u32>,
}

/// Byte order of a variable's numbers, as `nc_inq_var_endian` tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Endianness {
    Native,
    Little,
    Big,
}

/// What elements that were never written read as (`nc_inq_var_fill`).
#[derive(Debug, Clone, PartialEq)]
pub struct FillValue {
    /// False where the variable has fill mode "no fill".
    pub fill: bool,
    /// One element: the variable's own fill value or its type's default.
    pub value: Values,
}

impl Variable {
    pub(crate) fn new(mapping: Arc<dyn VariableMapping>) -> Self {
        Self { mapping, array: OnceLock::new() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.mapping.name()
    }

    /// Path of its group; `/` for the root group.
    pub fn group_path(&self) -> &str {
        self.mapping.group()
    }

    /// Its path, as `/group/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.group_path().trim_end_matches('/'), self.name())
    }

    /// The type of its elements.
    pub fn data_type(&self) -> &DataType {
        self.mapping.data_type()
    }

    /// The complex number that an element is, or that two along the last dimension are: a compound of two floats
    /// called r and i, or floats along a last dimension of length 2 called `_pfnc_complex`, `complex` or `ri`.
    pub fn complex(&self) -> Result<Option<Complex>> {
        match self.data_type() {
            DataType::User(user) => Ok(user.complex()),
            DataType::Atomic(part) => {
                let dimensions = self.dimensions()?;
                let Some(last) = dimensions.last() else { return Ok(None) };
                let is_pair = COMPLEX_DIMENSIONS.contains(&last.name()) && last.len()? == 2;
                Ok(Complex::of(*part).filter(|_| is_pair))
            }
            DataType::SmallFloat(_) | DataType::Foreign(_) => Ok(None),
        }
    }

    /// The name of its numbers where netCDF has none: `float16`, `bfloat16`, `complex64`, `complex128`.
    pub fn number_name(&self) -> Result<Option<&'static str>> {
        let complex = self.complex()?.map(Complex::name);
        Ok(complex.or_else(|| self.data_type().number_name()))
    }

    /// Its dimensions, outermost first.
    pub fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        self.mapping.dimensions()
    }

    /// Present length along each dimension.
    pub fn shape(&self) -> Result<Vec<u64>> {
        self.dimensions()?.iter().map(Dimension::len).collect()
    }

    /// Its attributes in netCDF's order, without the reserved ones.
    pub fn attributes(&self) -> Result<Arc<[Attribute]>> {
        self.mapping.attributes()
    }

    /// One attribute; `None` where there is none of that name.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        self.mapping.attribute(name)
    }

    /// Chunks, filters, byte order. The chunks of a new variable that nobody gave a shape may become others until its first
    /// values are committed; see [`Self::settled_storage`].
    pub fn storage(&self) -> Result<Arc<StorageInfo>> {
        self.mapping.storage()
    }

    /// As [`Self::storage`], with the shape of chunks that the variable is going to have. Of a new variable that nobody
    /// gave one, this settles it by what is written so far.
    pub fn settled_storage(&self) -> Result<Arc<StorageInfo>> {
        self.mapping.settled_storage()
    }

    /// What elements that were never written read as.
    pub fn fill_value(&self) -> Result<FillValue> {
        self.mapping.fill_value()
    }

    /// Where its elements lie: for planning, and for tools that look at storage.
    pub fn array(&self) -> Result<Arc<Array>> {
        if let Some(array) = self.array.get() {
            return Ok(Arc::clone(array));
        }
        let array = self.mapping.array()?;
        if self.mapping.is_being_written() {
            return Ok(array);
        }
        Ok(Arc::clone(self.array.get_or_init(|| array)))
    }

    /// The selected elements, of any type.
    pub fn read(&self, selection: &Selection) -> Result<Values> {
        self.array()?.read(selection)
    }

    /// The selected elements into `into`, each as this machine has it; see [`Array::read_native_into`].
    pub fn read_native_into<'m>(
        &self,
        selection: &Selection,
        into: &'m mut [MaybeUninit<u8>],
    ) -> Result<&'m mut [u8]> {
        self.array()?.read_native_into(selection, into)
    }

    /// The selected numbers as `T`, converted by netCDF's rules; the report says how many were
    /// out of `T`'s range. On success every element of `into` is initialised.
    pub fn read_as_into<T: Number>(
        &self,
        selection: &Selection,
        into: &mut [MaybeUninit<T>],
    ) -> Result<RangeReport> {
        self.array()?.read_as_into(selection, into)
    }

    /// The selected numbers as `T`; see [`Variable::read_as_into`].
    pub fn read_as<T: Number>(&self, selection: &Selection) -> Result<(Vec<T>, RangeReport)> {
        self.array()?.read_as(selection)
    }
}
