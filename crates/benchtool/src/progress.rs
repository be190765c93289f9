//! Progress on a terminal; nothing where standard error is none.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that counts bytes, with an end if that is known.
pub(crate) fn bytes(what: &str, total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{msg} [{bar:30}] {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        None => "{spinner} {msg} {decimal_bytes} {decimal_bytes_per_sec}",
    };
    bar(what, total, template)
}

/// Something that turns for as long as it is not known how long it takes.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    bar(what, None, "{spinner} {msg} {elapsed}")
}

/// A bar that counts events.
pub(crate) fn events(what: &str, total: u64) -> ProgressBar {
    bar(what, Some(total), "{msg} [{bar:30}] {human_pos}/{human_len} {per_sec} {eta}")
}

fn bar(what: &str, total: Option<u64>, template: &str) -> ProgressBar {
    // A bar to standard error draws nothing where that is no terminal.
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.with_message(what.to_owned())
}
