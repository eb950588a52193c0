//! How much memory may be kept when nobody says so.

use super::machine::physical_memory;

/// The largest cache that is taken without being asked for.
const LARGEST_CACHE: u64 = 256 << 20;
/// The share of the machine's memory that is kept without being asked for.
const SHARE_OF_MEMORY: u64 = 8;

/// The most that is kept because a program asks for it: one of so many parts of the machine's memory.
const SHARE_FOR_THE_ASKING: u64 = 2;
/// Says how much may be kept.
const SETTING: &str = "ISOTACH_CACHE";

/// What the cache may take: `ISOTACH_CACHE`, else an eighth of the memory, at most 256 MiB.
pub(super) fn default_budget() -> u64 {
    memory_setting(SETTING, LARGEST_CACHE)
}

/// What the cache may take where a program asks for so many bytes; `None` where the user has said what it may.
pub(super) fn granted(asked: u64) -> Option<u64> {
    let is_settled = std::env::var(SETTING).is_ok_and(|text| parse_bytes(&text).is_some());
    (!is_settled).then(|| asked.min(physical_memory() / SHARE_FOR_THE_ASKING))
}

/// The bytes that the environment's `variable` says, such as `256M`; else an eighth of the
/// machine's memory, at most `largest_default`.
pub fn memory_setting(variable: &str, largest_default: u64) -> u64 {
    let asked = std::env::var(variable).ok().and_then(|text| parse_bytes(&text));
    asked.unwrap_or_else(|| (physical_memory() / SHARE_OF_MEMORY).min(largest_default))
}

/// A number of bytes with one of the suffixes K, M, G or T (of 1024), also as `KB` or `KiB`.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.trim().parse().ok()?;
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_suffixes() {
        let cases = [("0", Some(0)), ("256M", Some(256 << 20)), (" 4 KiB ", Some(4096))];
        let bad = [("", None), ("M", None), ("-1", None), ("12X", None), ("99999999999T", None)];
        for (text, bytes) in cases.into_iter().chain(bad) {
            assert_eq!(parse_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn the_default_is_some_memory() {
        let unset = memory_setting("ISOTACH_NO_SUCH_SETTING", 1 << 20);
        assert!((1..=1 << 20).contains(&unset), "{unset}");
    }
}
