//! How names are compared, and which ones there can be.

use std::borrow::Cow;
use std::fmt;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The name in Unicode's composed form (NFC), in which netCDF writes names and looks them up.
pub fn normalized(name: &str) -> Cow<'_, str> {
    match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => Cow::Borrowed(name),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(name.nfc().collect()),
    }
}

/// Bytes of the longest name.
pub const MAX_NAME_BYTES: usize = 256;

/// Why a name cannot be that of a dimension, variable, attribute, group, type or member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NameFault {
    Empty,
    /// A name begins with a letter, a digit, an underscore or a character beyond ASCII.
    First {
        character: char,
    },
    /// A slash or a control character.
    Character {
        character: char,
    },
    TrailingSpace,
    /// More than [`MAX_NAME_BYTES`] in UTF-8, as it was given or composed; netCDF's `NC_EMAXNAME`.
    TooLong {
        bytes: usize,
    },
}

/// The name as it is written to a file: composed (NFC).
///
/// # Errors
/// [`NameFault`] where libnetcdf would refuse it too: `NC_EBADNAME` or `NC_EMAXNAME`.
pub fn check(name: &str) -> Result<Cow<'_, str>, NameFault> {
    let not_too_long = |bytes| match bytes > MAX_NAME_BYTES {
        true => Err(NameFault::TooLong { bytes }),
        false => Ok(()),
    };
    let first = name.chars().next().ok_or(NameFault::Empty)?;
    let is_forbidden = |character: char| character == '/' || character.is_ascii_control();
    if let Some(character) = name.chars().find(|&character| is_forbidden(character)) {
        return Err(NameFault::Character { character });
    }
    if first.is_ascii() && !first.is_ascii_alphanumeric() && first != '_' {
        return Err(NameFault::First { character: first });
    }
    if name.ends_with(' ') {
        return Err(NameFault::TrailingSpace);
    }
    not_too_long(name.len())?;
    let name = normalized(name);
    not_too_long(name.len())?;
    Ok(name)
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a name has at least one character"),
            Self::First { character } => write!(f, "a name cannot begin with {character:?}"),
            Self::Character { character } => write!(f, "a name cannot contain {character:?}"),
            Self::TrailingSpace => f.write_str("a name cannot end with a blank"),
            Self::TooLong { bytes } => {
                write!(f, "a name of {bytes} bytes is longer than {MAX_NAME_BYTES}")
            }
        }
    }
}

impl std::error::Error for NameFault {}

#[cfg(test)]
mod tests {
    use super::*;

    /// As libnetcdf 4.9.4 answers.
    #[test]
    fn names_are_checked() {
        for name in ["a", "_x", "1st", "a b", "a.b-c+d@e", "\u{e9}", "a:b", "x\\y", "\u{a0}"] {
            assert_eq!(check(name).as_deref(), Ok(name));
        }
        assert_eq!(check("cafe\u{301}").as_deref(), Ok("caf\u{e9}"));
        let fault = |name: &str| check(name).unwrap_err();
        assert_eq!(fault(""), NameFault::Empty);
        for character in [' ', '-', '.', '+', '@', ':', '('] {
            assert_eq!(fault(&format!("{character}a")), NameFault::First { character });
        }
        for character in ['/', '\n', '\0', '\x7f', '\x1f'] {
            assert_eq!(fault(&format!("a{character}b")), NameFault::Character { character });
        }
        assert_eq!(fault("/"), NameFault::Character { character: '/' });
        assert_eq!(fault("a "), NameFault::TrailingSpace);
        assert!(check(&"n".repeat(256)).is_ok());
        assert_eq!(fault(&"n".repeat(257)), NameFault::TooLong { bytes: 257 });
        // What is wrong with the characters is told first.
        assert_eq!(fault(&"/".repeat(257)), NameFault::Character { character: '/' });
        // Composition makes this one longer.
        assert_eq!(fault(&"\u{958}".repeat(64)), NameFault::TooLong { bytes: 384 });
    }

    #[test]
    fn composes() {
        assert_eq!(normalized("cafe\u{301}"), "caf\u{e9}");
        assert!(matches!(normalized("temp_2m"), Cow::Borrowed("temp_2m")));
    }
}
