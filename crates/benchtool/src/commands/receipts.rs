//! `benchtool receipts`

use tamias::{Instant, Receipt, ReceiptCheck, Store};

use crate::cli::ReceiptsArgs;
use crate::failure::Failure;
use crate::foreign::quoted;
use crate::tell::tell;
use crate::units::{counted, printable};
use crate::{output, program};

pub(crate) fn run(args: &ReceiptsArgs) -> Result<(), Failure> {
    let receipts = Store::receipts(&args.store)?;
    let store = Store::open_read_only(&args.store)?;
    let mut out = output::stdout();
    // What was found is in the exit code, whether anybody hears of it or not.
    let (mut bad, mut heard) = (0, Ok(()));
    for (file, receipt) in &receipts {
        let name = file.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let told = match receipt {
            None => Err("it is damaged, or cannot be read".to_owned()),
            Some(receipt) if args.check => {
                let with = |found: String| format!("{}\n  {found}", text(receipt));
                check(&store, receipt)?.map(with).map_err(with)
            }
            Some(receipt) => Ok(text(receipt)),
        };
        bad += u64::from(told.is_err());
        let (Ok(told) | Err(told)) = told;
        heard = heard.and_then(|()| output::write_line(&mut out, &format!("{}: {told}", printable(&name))));
    }
    let unerased = store.housekeeping()?.unerased;
    if unerased > 0 {
        tell!(
            "an erasure has not ended: {} may still be in files; `{} delete {}` ends it, and writes the receipt",
            counted(unerased, "deleted event"),
            program::name(),
            quoted(&args.store.display().to_string())
        );
    } else if receipts.is_empty() {
        tell!(
            "there are no receipts in this folder: either nothing was erased, or this is a copy that was made without them; \
             the store that it was copied from has them"
        );
    }
    output::unless_closed(heard)?;
    match bad {
        0 if args.check && unerased > 0 => {
            Err(Failure::Damage("deleted events are not erased yet".to_owned()))
        }
        // A check of nothing proves nothing.
        0 if args.check && receipts.is_empty() => {
            Err(Failure::Damage("there is nothing to check".to_owned()))
        }
        0 => Ok(()),
        1 => Err(Failure::Damage("a receipt is not valid".to_owned())),
        bad => Err(Failure::Damage(format!("{bad} receipts are not valid"))),
    }
}

/// What has become of a receipt: well, or not.
fn check(store: &Store, receipt: &Receipt) -> Result<Result<String, String>, Failure> {
    Ok(match store.check_receipt(receipt)? {
        ReceiptCheck::Holds => {
            Ok("valid: no erased event is in the store, and the remaining events are unchanged".to_owned())
        }
        ReceiptCheck::Less(less) => {
            Ok(format!("valid: no erased event is in the store; {less} other events have been removed since"))
        }
        ReceiptCheck::Differs => {
            Err("no erased event is in the store, but the remaining events are not what they were".to_owned())
        }
        ReceiptCheck::Stray(stray) => Err(format!("no erased event is in the store, but {stray}")),
        ReceiptCheck::Back(back) => {
            Err(format!("{back} of the erased events are in the store again: old files were put back"))
        }
    })
}

/// What a receipt says, some lines.
pub(crate) fn text(receipt: &Receipt) -> String {
    let Receipt { began, ended, events, document_bytes, files, stays, blocks, texts, quarantined, .. } =
        receipt;
    let time = |ticks: &u64| Instant::from_ticks(*ticks).map_or(String::new(), |instant| instant.to_string());
    let hash: String = stays.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut text = format!(
        "{} of {document_bytes} bytes, out of {}\n  deleted at {}\n  erased from all files at {}\n",
        counted(*events, "event"),
        counted(*files, "file"),
        time(began),
        time(ended),
    );
    if *blocks > 0 {
        text += &format!(
            "  checked {texts} stored texts in {blocks} blocks: none is left of the erased events\n"
        );
    }
    text += &format!("  {} events remain\n  hash {hash}", stays.events);
    text += "\n  not reached: backups and other copies";
    if *quarantined > 0 {
        text += &format!(", {} in quarantine", counted(*quarantined, "file"));
    }
    text
}
