//! The command line. Each command is one file under `cli/`.

use std::process::ExitCode;

/// Requests make and drop many small rows; the system's allocator takes a tenth of a page's time for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    merkato_server::cli::main()
}
