//! The Rust types in which numbers are handed over.

use bytemuck::Pod;

use crate::convert::Cast;
use crate::data_type::Atomic;
use crate::fill;
use crate::values::Values;

mod sealed {
    pub trait Sealed {}
}

/// One of the ten types of numbers that netCDF and Rust have in common. Sealed.
pub trait Number:
    sealed::Sealed + Pod + PartialOrd + std::fmt::Debug + std::fmt::Display + Send + Sync + Cast<f64>
{
    /// netCDF's name for the type.
    const ATOMIC: Atomic;
    /// The value of elements that were never written, when nothing else is said.
    const DEFAULT_FILL: Self;

    /// The numbers as a column.
    fn into_values(numbers: Vec<Self>) -> Values;

    /// The column, if it is of this type.
    fn slice_of(values: &Values) -> Option<&[Self]>;

    /// The same bits with the bytes in the other order.
    #[must_use]
    fn swap_bytes(self) -> Self;
}

macro_rules! numbers {
    ($($type:ident $variant:ident $atomic:ident $fill:ident;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Number for $type {
            const ATOMIC: Atomic = Atomic::$atomic;
            const DEFAULT_FILL: Self = fill::$fill;

            fn into_values(numbers: Vec<Self>) -> Values {
                Values::$variant(numbers)
            }

            fn slice_of(values: &Values) -> Option<&[Self]> {
                match values {
                    Values::$variant(numbers) => Some(numbers),
                    _ => None,
                }
            }

            fn swap_bytes(self) -> Self {
                let mut bytes = self.to_ne_bytes();
                bytes.reverse();
                Self::from_ne_bytes(bytes)
            }
        }

        impl From<Vec<$type>> for Values {
            fn from(numbers: Vec<$type>) -> Self {
                Values::$variant(numbers)
            }
        }

        impl From<&[$type]> for Values {
            fn from(numbers: &[$type]) -> Self {
                Values::$variant(numbers.to_vec())
            }
        }

        impl<const N: usize> From<[$type; N]> for Values {
            fn from(numbers: [$type; N]) -> Self {
                Values::$variant(numbers.to_vec())
            }
        }

        impl From<$type> for Values {
            fn from(number: $type) -> Self {
                Values::$variant(vec![number])
            }
        }
    )*};
}

numbers! {
    i8 I8 Byte BYTE;
    u8 U8 UByte UBYTE;
    i16 I16 Short SHORT;
    u16 U16 UShort USHORT;
    i32 I32 Int INT;
    u32 U32 UInt UINT;
    i64 I64 Int64 INT64;
    u64 U64 UInt64 UINT64;
    f32 F32 Float FLOAT;
    f64 F64 Double DOUBLE;
}
