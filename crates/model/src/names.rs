//! How names are compared.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The name in Unicode's composed form (NFC), in which netCDF writes names and looks them up.
pub fn normalized(name: &str) -> Cow<'_, str> {
    match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => Cow::Borrowed(name),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(name.nfc().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composes() {
        assert_eq!(normalized("cafe\u{301}"), "caf\u{e9}");
        assert!(matches!(normalized("temp_2m"), Cow::Borrowed("temp_2m")));
    }
}
