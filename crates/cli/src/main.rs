//! The `isotach` command.

/// Listing makes many small objects: a quarter of its time with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    std::process::exit(isotach_cli::main_with(std::env::args_os()));
}
