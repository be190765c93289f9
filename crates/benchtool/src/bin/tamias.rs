//! `tamias`, the command line of Tamias.

use std::process::ExitCode;

fn main() -> ExitCode {
    benchtool::main()
}
