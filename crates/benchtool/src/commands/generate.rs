//! `benchtool generate`

use std::io::{self, Write};

use tamias_testdata::Generator;

use crate::cli::GenerateArgs;
use crate::failure::Failure;

/// Events are handed on whenever so many bytes have come together.
const OUTPUT_BYTES: usize = 1 << 20;

pub(crate) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    write_events(args, &mut io::stdout().lock()).map_err(|error| Failure::output(&error))
}

fn write_events(args: &GenerateArgs, out: &mut impl Write) -> io::Result<()> {
    let mut generator = Generator::new(args.seed, args.events);
    let mut lines = Vec::with_capacity(OUTPUT_BYTES + (64 << 10));
    while generator.write_next(&mut lines) {
        if lines.len() >= OUTPUT_BYTES {
            out.write_all(&lines)?;
            lines.clear();
        }
    }
    out.write_all(&lines)?;
    out.flush()
}
