//! Where the corpus of real files is.

use std::path::{Path, PathBuf};

/// The folder of real files with golden answers: `ISOTACH_CORPUS`, else beside the checkout.
/// `None`, said aloud, where there is none: the test that asks is left out.
pub fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("ISOTACH_CORPUS").map_or(beside, PathBuf::from);
    match root.canonicalize() {
        Ok(root) if root.is_dir() => Some(root),
        _ => {
            eprintln!("LEFT OUT: there is no corpus at {} (set ISOTACH_CORPUS)", root.display());
            None
        }
    }
}
