//! New user-defined types, held against what netCDF and HDF5 can keep.

use std::collections::HashSet;
use std::fmt;

use super::layout::{self, SEQUENCE_BYTES};
use super::{Atomic, DataType, Field, UserClass, UserType};
use crate::names::{self, NameFault};

/// HDF5 keeps the size of a type in 32 bits.
const MAX_TYPE_BYTES: usize = u32::MAX as usize;

/// HDF5 has no arrays with more axes.
const MAX_AXES: usize = 32;

/// Why there can be no such type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DefinitionFault {
    /// Of the type or of a member.
    Name {
        name: String,
        fault: NameFault,
    },
    NoMembers,
    /// Two members of that name.
    DuplicateMember {
        name: String,
    },
    /// Two members of an enumeration have that value.
    DuplicateValue {
        value: i128,
    },
    /// A value of an enumeration that its base type cannot have.
    ValueOutside {
        name: String,
        value: i128,
        base: Atomic,
    },
    /// The base of an enumeration is no integer.
    NotAnInteger {
        base: Atomic,
    },
    /// A type without bytes, or a member with an axis without elements.
    NoSize,
    /// More axes than an array in HDF5 has.
    TooManyAxes {
        count: usize,
        limit: usize,
    },
    /// More bytes than a type in HDF5 has.
    TooLarge {
        limit_bytes: usize,
    },
    /// A part is of a type that netCDF cannot say.
    Foreign {
        description: String,
    },
}

impl UserType {
    /// Named members, where a C compiler would put them; in the root group.
    ///
    /// # Errors
    /// [`DefinitionFault`].
    pub fn compound(
        name: &str,
        fields: impl IntoIterator<Item = Field>,
    ) -> Result<Self, DefinitionFault> {
        let mut fields: Vec<Field> = fields.into_iter().collect();
        checked_names(fields.iter_mut().map(|field| &mut field.name))?;
        for Field { data_type, shape, .. } in &fields {
            known(data_type)?;
            if shape.contains(&0) {
                return Err(DefinitionFault::NoSize);
            }
            if shape.len() > MAX_AXES {
                return Err(DefinitionFault::TooManyAxes { count: shape.len(), limit: MAX_AXES });
            }
        }
        let size = layout::place(&mut fields);
        Self::new(name, size, UserClass::Compound(fields))
    }

    /// Names for integers; in the root group.
    ///
    /// # Errors
    /// [`DefinitionFault`].
    pub fn enumeration(
        name: &str,
        base: Atomic,
        members: impl IntoIterator<Item = (String, i128)>,
    ) -> Result<Self, DefinitionFault> {
        let range = base.integer_range().ok_or(DefinitionFault::NotAnInteger { base })?;
        let mut members: Vec<(String, i128)> = members.into_iter().collect();
        checked_names(members.iter_mut().map(|(name, _)| name))?;
        let mut values = HashSet::new();
        for (name, value) in &members {
            if !range.contains(value) {
                let (name, value) = (name.clone(), *value);
                return Err(DefinitionFault::ValueOutside { name, value, base });
            }
            if !values.insert(*value) {
                return Err(DefinitionFault::DuplicateValue { value: *value });
            }
        }
        Self::new(name, base.size(), UserClass::Enum { base, members })
    }

    /// `size` bytes without a meaning; in the root group.
    ///
    /// # Errors
    /// [`DefinitionFault`].
    pub fn opaque(name: &str, size: usize) -> Result<Self, DefinitionFault> {
        Self::new(name, size, UserClass::Opaque)
    }

    /// Sequences of any length; in the root group.
    ///
    /// # Errors
    /// [`DefinitionFault`].
    pub fn vlen(name: &str, base: impl Into<DataType>) -> Result<Self, DefinitionFault> {
        let base = base.into();
        known(&base)?;
        Self::new(name, SEQUENCE_BYTES, UserClass::Vlen(base))
    }

    /// The same in the group of that path.
    #[must_use]
    pub fn in_group(self, path: &str) -> Self {
        Self { group: path.to_owned(), ..self }
    }

    fn new(name: &str, size: usize, class: UserClass) -> Result<Self, DefinitionFault> {
        match size {
            0 => return Err(DefinitionFault::NoSize),
            1..=MAX_TYPE_BYTES => {}
            _ => return Err(DefinitionFault::TooLarge { limit_bytes: MAX_TYPE_BYTES }),
        }
        Ok(Self { name: checked_name(name)?, group: "/".to_owned(), size, class })
    }
}

fn checked_name(name: &str) -> Result<String, DefinitionFault> {
    match names::check(name) {
        Ok(name) => Ok(name.into_owned()),
        Err(fault) => Err(DefinitionFault::Name { name: name.to_owned(), fault }),
    }
}

/// Brings the names of members to the form in which they are written.
fn checked_names<'a>(names: impl Iterator<Item = &'a mut String>) -> Result<(), DefinitionFault> {
    let mut seen = HashSet::new();
    for name in names {
        *name = checked_name(name)?;
        if !seen.insert(&*name) {
            return Err(DefinitionFault::DuplicateMember { name: name.clone() });
        }
    }
    if seen.is_empty() { Err(DefinitionFault::NoMembers) } else { Ok(()) }
}

fn known(data_type: &DataType) -> Result<(), DefinitionFault> {
    match data_type {
        DataType::Foreign(foreign) => {
            Err(DefinitionFault::Foreign { description: foreign.description.clone() })
        }
        DataType::Atomic(_) | DataType::SmallFloat(_) | DataType::User(_) => Ok(()),
    }
}

impl fmt::Display for DefinitionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name, fault } => write!(f, "{name:?}: {fault}"),
            Self::NoMembers => f.write_str("the type has no members"),
            Self::DuplicateMember { name } => write!(f, "two members are called {name}"),
            Self::DuplicateValue { value } => write!(f, "two members have the value {value}"),
            Self::ValueOutside { name, value, base } => {
                write!(f, "the value {value} of {name} does not fit {}", base.name())
            }
            Self::NotAnInteger { base } => {
                write!(f, "an enumeration cannot be made of {}", base.name())
            }
            Self::NoSize => f.write_str("an element of the type would have no bytes"),
            Self::TooManyAxes { count, limit } => {
                write!(f, "a member has {count} axes, more than {limit}")
            }
            Self::TooLarge { limit_bytes } => {
                write!(f, "an element of the type would have more than {limit_bytes} bytes")
            }
            Self::Foreign { description } => {
                write!(f, "{description} cannot be part of a netCDF type")
            }
        }
    }
}

impl std::error::Error for DefinitionFault {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn user(user: UserType) -> DataType {
        DataType::User(Arc::new(user))
    }

    fn offsets(user: &UserType) -> Vec<usize> {
        match &user.class {
            UserClass::Compound(fields) => fields.iter().map(|field| field.offset).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// Offsets and sizes are those that gcc gives on x86-64.
    #[test]
    fn members_lie_as_a_compiler_puts_them() {
        let inner = UserType::compound(
            "inner",
            [Field::new("a", Atomic::Byte), Field::new("b", Atomic::Short)],
        )
        .unwrap();
        assert_eq!((offsets(&inner), inner.size), (vec![0, 2], 4));
        let list = UserType::vlen("list", Atomic::Int).unwrap();
        let outer = UserType::compound(
            "outer",
            [
                Field::new("c", Atomic::Char).with_shape([3]),
                Field::new("i", user(inner)).with_shape([2, 3]),
                Field::new("s", Atomic::String),
                Field::new("o", user(UserType::opaque("o", 5).unwrap())),
                Field::new("v", user(list)),
                Field::new("e", Atomic::UByte),
            ],
        )
        .unwrap();
        assert_eq!((offsets(&outer), outer.size), (vec![0, 4, 32, 40, 48, 64], 72));
        assert_eq!(outer.clone().in_group("/g").group, "/g");
        let zeros = crate::Values::zeros(&user(outer), 2);
        assert_eq!(zeros.len(), 2);
        let bytes_per_row = 3 + 6 * 3 + 4 + 5 + 4 + 1;
        assert_eq!(zeros.canonical_bytes(), vec![0; 2 * bytes_per_row]);
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        use DefinitionFault::*;
        let byte = |name: &str| Field::new(name, Atomic::Byte);
        let compound = |members: Vec<Field>| UserType::compound("c", members).unwrap_err();
        assert_eq!(compound(vec![]), NoMembers);
        assert_eq!(
            compound(vec![byte("caf\u{e9}"), byte("cafe\u{301}")]),
            DuplicateMember { name: "caf\u{e9}".into() }
        );
        assert_eq!(compound(vec![byte("a").with_shape([2, 0])]), NoSize);
        let axes = compound(vec![byte("a").with_shape([1; 33])]);
        assert_eq!(axes, TooManyAxes { count: 33, limit: 32 });
        let large = compound(vec![byte("a").with_shape([1 << 31, 2])]);
        assert_eq!(large, TooLarge { limit_bytes: 4_294_967_295 });
        let huge = compound(vec![byte("a"), byte("b").with_shape([usize::MAX, 2]), byte("c")]);
        assert_eq!(huge, TooLarge { limit_bytes: 4_294_967_295 });
        let slash = compound(vec![byte("a/b")]);
        assert!(matches!(slash, Name { fault: NameFault::Character { character: '/' }, .. }));
        assert_eq!(UserType::opaque("o", 0).unwrap_err(), NoSize);
        assert!(matches!(UserType::opaque("", 4), Err(Name { fault: NameFault::Empty, .. })));

        let members = |pairs: &[(&str, i128)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect::<Vec<_>>()
        };
        let fault = |base, pairs: &[(&str, i128)]| {
            UserType::enumeration("e", base, members(pairs)).unwrap_err()
        };
        let base = Atomic::Float;
        assert_eq!(fault(base, &[("a", 1)]), NotAnInteger { base });
        assert_eq!(fault(Atomic::Byte, &[]), NoMembers);
        let (name, base) = ("b".to_owned(), Atomic::UByte);
        assert_eq!(fault(base, &[("a", 255), ("b", 256)]), ValueOutside { name, value: 256, base });
        assert_eq!(fault(base, &[("a", 1), ("b", 1)]), DuplicateValue { value: 1 });
        assert_eq!(fault(base, &[("a", 1), ("a", 2)]), DuplicateMember { name: "a".into() });
        let widest = members(&[("low", 0), ("high", i128::from(u64::MAX))]);
        assert!(UserType::enumeration("e", Atomic::UInt64, widest).is_ok());
    }
}
