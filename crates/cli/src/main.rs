//! The `isotach` command.

fn main() {
    std::process::exit(isotach_cli::main_with(std::env::args_os()));
}
