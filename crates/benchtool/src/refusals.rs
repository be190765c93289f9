//! Sources of which nothing is stored, told once for each reason.

use crate::failure::Failure;
use crate::tell;
use crate::units::counted;

/// So many sources are named.
const NAMED_MAX: usize = 5;

/// Why nothing of a source is stored.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What is the same for others that are refused for the same reason.
    pub(crate) reason: String,
    pub(crate) text: String,
}

/// The sources that were refused.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Vec<Refused>);

#[derive(Debug)]
struct Refused {
    first: Refusal,
    others: Vec<String>,
}

impl Refusals {
    pub(crate) fn add(&mut self, source: &str, refusal: Refusal) {
        match self.0.iter_mut().find(|known| known.first.reason == refusal.reason) {
            Some(known) => known.others.push(source.to_owned()),
            None => self.0.push(Refused { first: refusal, others: Vec::new() }),
        }
    }

    /// Warns of all reasons but the first, which is the error.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let mut texts = self.0.into_iter().map(Refused::text);
        let first = texts.next();
        texts.for_each(tell::warning);
        first.map_or(Ok(()), |text| Err(Failure::Input(text)))
    }
}

impl Refused {
    fn text(self) -> String {
        let Refused { first: Refusal { text, .. }, others } = self;
        let named = others.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
        match others.len().saturating_sub(NAMED_MAX) as u64 {
            _ if others.is_empty() => text,
            0 => format!("{text}\nThe same is true of {named}."),
            more => format!("{text}\nThe same is true of {named} and {}.", counted(more, "other source")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_are_refused_for_one_reason_are_told_together() {
        let mut refusals = Refusals::default();
        for source in ["a", "b", "c", "d", "e", "f", "g"] {
            let reason = if source == "b" { "damp" } else { "dry" };
            let refusal = Refusal { reason: reason.to_owned(), text: format!("{source} is {reason}") };
            refusals.add(source, refusal);
        }
        let texts: Vec<String> = refusals.0.into_iter().map(Refused::text).collect();
        assert_eq!(texts, ["a is dry\nThe same is true of c, d, e, f, g.", "b is damp"]);
    }
}
