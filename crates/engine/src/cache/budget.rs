//! How much memory the cache may take when nobody says so.

/// The largest budget that is taken without being asked for.
const LARGEST_DEFAULT: u64 = 256 << 20;
/// The default's share of the machine's memory.
const SHARE_OF_MEMORY: u64 = 8;

/// `ISOTACH_CACHE`, such as `256M`; else an eighth of the memory, at most 256 MiB.
pub(super) fn default_budget() -> u64 {
    let asked = std::env::var("ISOTACH_CACHE").ok().and_then(|text| parse_bytes(&text));
    asked.unwrap_or_else(|| (physical_memory() / SHARE_OF_MEMORY).min(LARGEST_DEFAULT))
}

fn physical_memory() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit))
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
        assert!(
            (1..=LARGEST_DEFAULT)
                .contains(&(physical_memory() / SHARE_OF_MEMORY).min(LARGEST_DEFAULT))
        );
    }
}
