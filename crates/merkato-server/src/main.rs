//! The command line. Each command is one file under `cli/`.

use std::process::ExitCode;

/// Requests make and drop many small rows; the system's allocator takes a tenth of a page's time for them. Without huge pages: an
/// idle server would hold a third more memory, most of it never touched.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    merkato_server::cli::main()
}
