//! Complex numbers, which netCDF and HDF5 before 2.0 have only by convention.
//!
//! h5py, netCDF4-python and others store a compound of two floats, a real and an imaginary one. In
//! the classic formats the two lie along a last dimension.

use super::{Atomic, DataType, Field, UserClass, UserType};

/// The names of the last dimension, of length 2, along which real and imaginary parts lie.
pub const COMPLEX_DIMENSIONS: [&str; 3] = ["_pfnc_complex", "complex", "ri"];

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Complex {
    /// Of two singles: NumPy's complex64.
    Single,
    /// Of two doubles: NumPy's complex128.
    Double,
}

impl Complex {
    /// The name by which programs know it: `complex64` or `complex128`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "complex64",
            Self::Double => "complex128",
        }
    }

    /// The complex number that two of these numbers are.
    pub fn of(part: Atomic) -> Option<Self> {
        match part {
            Atomic::Float => Some(Self::Single),
            Atomic::Double => Some(Self::Double),
            _ => None,
        }
    }
}

impl UserType {
    /// The complex number that an element is: a compound of two floats of one type whose names begin
    /// with r and i, in capitals or not.
    pub fn complex(&self) -> Option<Complex> {
        let UserClass::Compound(fields) = &self.class else { return None };
        let [real, imaginary] = &fields[..] else { return None };
        let begins = |field: &Field, letter: u8| {
            field.name.bytes().next().is_some_and(|first| first.to_ascii_lowercase() == letter)
        };
        let is_pair = begins(real, b'r')
            && begins(imaginary, b'i')
            && real.data_type == imaginary.data_type
            && real.shape.is_empty()
            && imaginary.shape.is_empty();
        match real.data_type {
            DataType::Atomic(part) if is_pair => Complex::of(part),
            _ => None,
        }
    }
}

impl DataType {
    /// The name of a number that netCDF itself has no name for: `float16`, `bfloat16`, `complex64`,
    /// `complex128`.
    pub fn number_name(&self) -> Option<&'static str> {
        match self {
            Self::SmallFloat(format) => Some(format.name()),
            Self::User(user) => user.complex().map(Complex::name),
            Self::Atomic(_) | Self::Foreign(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_floats_are_complex_by_their_names() {
        let pair = |real: Field, imaginary: Field| {
            UserType::compound("pair", [real, imaginary]).unwrap().complex()
        };
        let float = |name| Field::new(name, Atomic::Float);
        let double = |name| Field::new(name, Atomic::Double);
        assert_eq!(pair(float("r"), float("i")), Some(Complex::Single));
        assert_eq!(pair(double("Real"), double("IMAG")), Some(Complex::Double));
        assert_eq!(pair(double("i"), double("r")), None);
        assert_eq!(pair(double("x"), double("y")), None);
        assert_eq!(pair(double("r"), float("i")), None);
        assert_eq!(pair(Field::new("r", Atomic::Int), Field::new("i", Atomic::Int)), None);
        assert_eq!(pair(double("r").with_shape([2]), double("i").with_shape([2])), None);
        let three = UserType::compound("three", [double("r"), double("i"), double("r2")]).unwrap();
        assert_eq!(three.complex(), None);
    }
}
