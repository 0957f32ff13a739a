//! `edge-eval`: thin on purpose. The only place that ends the process.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == runner::cli::WORKER) {
        return runner::worker::main();
    }
    match runner::cli::main(std::env::args_os()) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "edge-eval: {failure}");
            failure.exit.into()
        }
    }
}
