//! `benchtool scrub`

use tamias::{Options, ReadMode, Store};

use crate::cli::ScrubArgs;
use crate::commands::verify::lost;
use crate::failure::Failure;
use crate::units::counted;
use crate::{output, progress, signals};

pub(crate) fn run(args: &ScrubArgs) -> Result<(), Failure> {
    let options = Options { read_mode: ReadMode::Plain, ..Options::default() };
    let store = Store::open_read_only_with(&args.store, options)?;
    signals::catch()?;
    let mut damage = Vec::new();
    let mut scrub = || store.scrub(args.rate, &|| !signals::requested(), &mut |found| damage.push(found));
    let scrub = progress::during("checking", &mut scrub)?;
    let mut out = output::stdout();
    // What was found is in the exit code, whether anybody hears of it or not.
    let told = damage.iter().try_for_each(|damage| output::write_line(&mut out, &format!("{damage:#}")));
    if scrub.ended.is_none() {
        let goes_on = "the next run continues there";
        return Err(match scrub.damaged {
            0 => Failure::Interrupted(format!("scrub: interrupted; {goes_on}")),
            // Whoever looks at the exit code alone is to know of it.
            parts => {
                let found = counted(parts, "damaged part");
                Failure::Damage(format!("scrub: interrupted; {found} so far; {goes_on}"))
            }
        });
    }
    let line =
        format!("scrubbed: {} bytes in this round, {}", scrub.bytes, counted(scrub.damaged, "damaged part"));
    output::unless_closed(told.and_then(|()| output::write_line(&mut out, &line)))?;
    match (damage.is_empty(), scrub.damaged) {
        (true, 0) => Ok(()),
        (true, _) => Err(Failure::Damage(
            "a run of this round that was interrupted found damage: `verify` names it".to_owned(),
        )),
        (false, _) => Err(Failure::Damage(lost(&damage))),
    }
}
