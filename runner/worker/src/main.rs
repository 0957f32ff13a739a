//! The worker as a program of its own: what a build for a CPU level carries.

use std::process::ExitCode;

fn main() -> ExitCode {
    worker::main()
}
