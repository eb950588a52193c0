//! Whether two types are made of the same.

use isotach::model::{DataType, Field, UserClass, UserType};

/// Which names have to be the same beside those of members.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Names {
    /// Those of the types.
    OfTypes,
    /// None: as HDF5 has it, for which a type has no name.
    No,
}

/// Are they made of the same, whichever groups define them?
pub(crate) fn are_alike(one: &UserType, other: &UserType, names: Names) -> bool {
    if one.size != other.size || (names == Names::OfTypes && one.name != other.name) {
        return false;
    }
    let are_alike_parts = |one: &DataType, other: &DataType| match (one, other) {
        (DataType::User(one), DataType::User(other)) => are_alike(one, other, names),
        (one, other) => one == other,
    };
    match (&one.class, &other.class) {
        (UserClass::Vlen(one), UserClass::Vlen(other)) => are_alike_parts(one, other),
        (UserClass::Compound(fields), UserClass::Compound(others)) => {
            let is_same = |(one, other): (&Field, &Field)| {
                (&one.name, one.offset, &one.shape) == (&other.name, other.offset, &other.shape)
                    && are_alike_parts(&one.data_type, &other.data_type)
            };
            fields.len() == others.len() && fields.iter().zip(others).all(is_same)
        }
        (one, other) => one == other,
    }
}
