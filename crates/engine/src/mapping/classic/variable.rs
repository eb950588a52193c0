//! Variables of a classic file, and where their values lie.

use std::sync::Arc;

use isotach_format::classic::{ExternalType, Variable, Version};
use isotach_model::{DataType, Rules, StoredType};

use super::{Contents, atomic, attribute, fill};
use crate::attribute::Attribute;
use crate::dimension::Dimension;
use crate::error::{Error, ErrorKind, Result};
use crate::mapping::VariableMapping;
use crate::plan::layout::{ArrayId, ArrayLayout, Placement};
use crate::read::{Array, Live};
use crate::variable::{Endianness, FillValue, StorageInfo, StorageKind};

pub(super) struct ClassicVariable {
    pub(super) contents: Arc<Contents>,
    pub(super) index: usize,
}

impl ClassicVariable {
    fn variable(&self) -> &Variable {
        // The index was found in the list of names of these very variables.
        &self.contents.header.variables[self.index]
    }
}

impl VariableMapping for ClassicVariable {
    fn name(&self) -> &str {
        &self.variable().name
    }

    fn group(&self) -> &str {
        "/"
    }

    fn name_room(&self) -> u64 {
        self.variable().name_room
    }

    fn data_type(&self) -> &DataType {
        data_type(self.variable().external_type)
    }

    fn dimensions(&self) -> Result<Arc<[Dimension]>> {
        let ids = self.variable().dimension_ids.iter();
        Ok(ids.map(|&id| self.contents.dimensions[id].clone()).collect())
    }

    fn attributes(&self) -> Result<Arc<[Attribute]>> {
        Ok(attribute::list(&self.contents.name, &self.variable().attributes))
    }

    fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        Ok(attribute::find(&self.contents.name, &self.variable().attributes, name))
    }

    fn storage(&self) -> Result<Arc<StorageInfo>> {
        Ok(Arc::new(StorageInfo {
            kind: StorageKind::Contiguous,
            chunk_shape: None,
            filters: Vec::new(),
            endianness: Endianness::Big,
        }))
    }

    fn fill_value(&self) -> Result<FillValue> {
        // The format does not keep the fill mode; libnetcdf answers "fill" for whatever it opens.
        Ok(FillValue { fill: true, value: fill::value(self.variable()) })
    }

    fn array(&self) -> Result<Arc<Array>> {
        let (contents, variable) = (&self.contents, self.variable());
        let layout = contents.records.variable(&contents.header, variable).map_err(|fault| {
            Error::new(&contents.name, ErrorKind::Structure(fault)).at(&variable.name)
        })?;
        let placement = Placement::Strided {
            address: layout.begin,
            strides_bytes: layout.byte_strides,
            beyond_end: contents.missing_bytes.into(),
        };
        let stored = stored_type(variable.external_type);
        let array = ArrayLayout {
            // Not where it begins: variables may lie over one another.
            id: ArrayId { file: contents.file_number.get(), address: self.index as u64 },
            file: Arc::clone(&contents.name),
            path: format!("/{}", variable.name).into(),
            storage: Arc::clone(&contents.storage),
            shape: layout.shape.clone(),
            element_size: stored.size(),
            fill: fill::stored(variable).into(),
            fill_beyond: None,
            placement,
        };
        let rules = match contents.header.version {
            Version::Cdf1 | Version::Cdf2 => Rules::CLASSIC,
            Version::Cdf5 => Rules::CLASSIC_64BIT_DATA,
        };
        let (shape, live) = (layout.shape, Live::default());
        Ok(Arc::new(Array { layout: array, shape, stored, heap: None, rules, live }))
    }
}

/// How a value of the type lies in a classic file.
pub(crate) fn stored_type(external_type: ExternalType) -> StoredType {
    let (size, big_endian) = (external_type.size_bytes() as usize, true);
    match external_type {
        ExternalType::Char => StoredType::Char,
        ExternalType::Byte | ExternalType::Short | ExternalType::Int | ExternalType::Int64 => {
            StoredType::Int { size, big_endian }
        }
        ExternalType::UByte | ExternalType::UShort | ExternalType::UInt | ExternalType::UInt64 => {
            StoredType::UInt { size, big_endian }
        }
        ExternalType::Float | ExternalType::Double => StoredType::Float { size, big_endian },
    }
}

/// The type as the model names it; one value for each, as callers borrow it.
pub(super) fn data_type(external_type: ExternalType) -> &'static DataType {
    macro_rules! constants {
        ($($name:ident),*) => {
            match external_type {
                $(ExternalType::$name => {
                    const TYPE: DataType = DataType::Atomic(isotach_model::Atomic::$name);
                    &TYPE
                })*
            }
        };
    }
    debug_assert!(atomic(external_type).size() as u64 == external_type.size_bytes());
    constants!(Byte, Char, Short, Int, Float, Double, UByte, UShort, UInt, Int64, UInt64)
}
