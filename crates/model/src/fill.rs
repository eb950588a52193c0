//! The values of elements that were never written, where the file does not say.

use crate::data_type::{Atomic, DataType, UserClass};
use crate::values::Values;

/// Fill value of netCDF's byte.
pub const BYTE: i8 = -127;
/// Fill value of netCDF's char.
pub const CHAR: u8 = 0;
/// Fill value of netCDF's short.
pub const SHORT: i16 = -32767;
/// Fill value of netCDF's int.
pub const INT: i32 = -2_147_483_647;
/// Fill value of netCDF's float: 15 times 2 to the 119.
pub const FLOAT: f32 = 9.969_21e36;
/// Fill value of netCDF's double: 15 times 2 to the 119.
pub const DOUBLE: f64 = 9.969_209_968_386_869e36;
/// Fill value of netCDF's unsigned byte.
pub const UBYTE: u8 = 255;
/// Fill value of netCDF's unsigned short.
pub const USHORT: u16 = 65_535;
/// Fill value of netCDF's unsigned int.
pub const UINT: u32 = 4_294_967_295;
/// Fill value of netCDF's 64-bit integer.
pub const INT64: i64 = -9_223_372_036_854_775_806;
/// Fill value of netCDF's unsigned 64-bit integer.
pub const UINT64: u64 = 18_446_744_073_709_551_614;

/// One element with netCDF's default fill value of the type; an empty string for strings.
pub fn default_fill(atomic: Atomic) -> Values {
    match atomic {
        Atomic::Byte => Values::I8(vec![BYTE]),
        Atomic::Char => Values::Char(vec![CHAR]),
        Atomic::Short => Values::I16(vec![SHORT]),
        Atomic::Int => Values::I32(vec![INT]),
        Atomic::Float => Values::F32(vec![FLOAT]),
        Atomic::Double => Values::F64(vec![DOUBLE]),
        Atomic::UByte => Values::U8(vec![UBYTE]),
        Atomic::UShort => Values::U16(vec![USHORT]),
        Atomic::UInt => Values::U32(vec![UINT]),
        Atomic::Int64 => Values::I64(vec![INT64]),
        Atomic::UInt64 => Values::U64(vec![UINT64]),
        Atomic::String => Values::String(vec![Some(Box::default())]),
    }
}

/// The same of any type: an enumeration has its base's; floats of two bytes that do not hold it, and other
/// types that a user defines, have none.
pub fn default_fill_of(data_type: &DataType) -> Option<Values> {
    match data_type {
        DataType::Atomic(atomic) => Some(default_fill(*atomic)),
        DataType::SmallFloat(format) => {
            format.holds(FLOAT.into()).then(|| default_fill(Atomic::Float))
        }
        DataType::User(user) => match user.class {
            UserClass::Enum { base, .. } => Some(default_fill(base)),
            UserClass::Opaque | UserClass::Vlen(_) | UserClass::Compound(_) => None,
        },
        DataType::Foreign(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_fifteen_times_two_to_the_119() {
        assert_eq!(f64::from(FLOAT), 15.0 * 2f64.powi(119));
        assert_eq!(DOUBLE, 15.0 * 2f64.powi(119));
    }
}
