//! What can be wrong with a text in CDL.

use std::fmt;

use isotach::model::{DefinitionFault, NameFault};

use super::syntax::Position;

/// A fault and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdlError {
    /// Where the text is not as it should be.
    pub at: Position,
    /// What is wrong there.
    pub fault: CdlFault,
}

/// What is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CdlFault {
    /// A byte with which nothing begins.
    Byte {
        byte: u8,
    },
    /// A comment or text that does not end.
    Unterminated {
        what: &'static str,
    },
    /// Between single quotes is not one byte.
    Char,
    /// A number that is none.
    Number {
        text: String,
    },
    /// Between the brackets of `time("...")` is no date.
    Time,
    /// An integer that its type does not have.
    NumberRange {
        text: String,
    },
    /// A name that is not UTF-8.
    NotUtf8,
    /// The grammar wants something else here.
    Expected {
        expected: &'static str,
        found: String,
    },
    /// Groups or braces nested deeper than anything needs.
    TooDeep {
        limit: usize,
    },
    /// Nothing of that kind and name has been declared before.
    Unknown {
        what: &'static str,
        name: String,
    },
    /// A type's name that several groups have, without a path.
    Ambiguous {
        name: String,
    },
    /// A second one of the same name in one group.
    Duplicate {
        what: &'static str,
        name: String,
    },
    Name {
        name: String,
        fault: NameFault,
    },
    Definition(DefinitionFault),
    /// A constant that is none of the type.
    Constant {
        data_type: String,
    },
    /// A list in braces where one constant belongs, or one constant where a list belongs.
    Braces {
        wanted: bool,
    },
    /// More values than there is room for.
    TooMany {
        room: u64,
    },
    /// More values than memory has room for.
    TooLarge,
    /// Values of an attribute that no one type has.
    MixedAttribute,
    /// `_` or `NIL` where there is none.
    NoFill,
    /// A special attribute with a value that it cannot have.
    Special {
        name: String,
    },
    /// Several fill values, or none.
    FillCount {
        variable: String,
    },
    /// A fill value of another type than its variable.
    FillType {
        variable: String,
    },
}

/// What the text defines and the file cannot have, or could not be written.
#[derive(Debug, Clone)]
pub struct Refused {
    /// What of the text it is about.
    pub at: Position,
    /// Why.
    pub source: Box<isotach::Error>,
}

impl CdlFault {
    pub(super) fn at(self, at: Position) -> CdlError {
        CdlError { at, fault: self }
    }
}

impl fmt::Display for CdlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.at.line, self.at.column, self.fault)
    }
}

impl fmt::Display for CdlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte { byte } => write!(f, "unexpected {:?}", char::from(*byte)),
            Self::Unterminated { what } => write!(f, "the {what} does not end"),
            Self::Char => f.write_str("single quotes hold one byte"),
            Self::Time => f.write_str("the double quotes hold no date"),
            Self::Number { text } => write!(f, "{text:?} is no number"),
            Self::NumberRange { text } => write!(f, "{text} does not fit its type"),
            Self::NotUtf8 => f.write_str("a name is not UTF-8"),
            Self::Expected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::TooDeep { limit } => write!(f, "nested deeper than {limit}"),
            Self::Unknown { what, name } => write!(f, "no {what} {name:?} has been declared"),
            Self::Ambiguous { name } => write!(f, "several groups have a type {name:?}"),
            Self::Duplicate { what, name } => write!(f, "a second {what} {name:?}"),
            Self::Name { name, fault } => write!(f, "{name:?}: {fault}"),
            Self::Definition(fault) => fault.fmt(f),
            Self::Constant { data_type } => write!(f, "the constant is no {data_type}"),
            Self::Braces { wanted: true } => f.write_str("values in braces belong here"),
            Self::Braces { wanted: false } => {
                f.write_str("one constant without braces belongs here")
            }
            Self::TooMany { room } => write!(f, "more values than the {room} there is room for"),
            Self::TooLarge => f.write_str("more values than memory has room for"),
            Self::MixedAttribute => {
                f.write_str("an attribute whose values are of no one type needs a type")
            }
            Self::NoFill => f.write_str("no fill value can stand here"),
            Self::Special { name } => write!(f, "{name} cannot have this value"),
            Self::FillCount { variable } => {
                write!(f, "the fill value of {variable} must be one value")
            }
            Self::FillType { variable } => {
                write!(f, "the fill value of {variable} has another type than the variable")
            }
        }
    }
}

impl std::error::Error for CdlError {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.at.line, self.at.column, self.source)
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}
