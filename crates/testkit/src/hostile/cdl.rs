//! Text in CDL: read, made a file of, and told again.

use std::sync::Arc;

use isotach::storage::Memory;
use isotach::{AllowExternal, OpenOptions};
use isotach_cli::generate::{Definitions, bytes, definitions};
use isotach_cli::{Shown, cdl as told};

/// Elements of all variables together, beyond which no file is made.
const ELEMENTS: u64 = 1 << 14;

/// Text that may be CDL. What describes a file can be told, and what is told describes a file again.
///
/// # Panics
/// Where it does not.
pub fn cdl(data: &[u8]) {
    let Ok(defined) = definitions(data) else { return };
    if element_count(&defined).is_none_or(|count| count > ELEMENTS) {
        return;
    }
    let Ok(made) = bytes(&defined, None) else { return };
    let text = text_of(made);
    // Types without a name cannot be said.
    if text.contains("_Anonymous") {
        return;
    }
    let again = definitions(text.as_bytes()).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    bytes(&again, None).unwrap_or_else(|error| panic!("{error}:\n{text}"));
}

/// Of all variables; `None` where that is no number.
fn element_count(defined: &Definitions) -> Option<u64> {
    defined.variables.iter().try_fold(0_u64, |sum, variable| {
        let mut shape = defined.shape(variable).into_iter();
        sum.checked_add(shape.try_fold(1_u64, u64::checked_mul)?)
    })
}

fn text_of(bytes: Vec<u8>) -> String {
    let options = OpenOptions { allow_external: Some(AllowExternal::No), ..OpenOptions::default() };
    let file = options.open_storage("made.nc", Arc::new(Memory::new(bytes))).unwrap();
    told(&file, Shown::Everything).unwrap()
}
