//! What an examining process tells of a store, a line each: rows, damage, positions, and what went wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// An event as the store shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) arrival: u64,
    pub(crate) instant: u64,
    pub(crate) document: Vec<u8>,
}

/// A damaged part, as the store names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name of the file.
    pub(crate) file: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// How many events are lost, where that is known.
    pub(crate) events: Option<u64>,
    /// First and last key (instant, arrival number), where they are known.
    pub(crate) keys: Option<((u64, u64), (u64, u64))>,
    pub(crate) found: String,
}

impl Part {
    /// Whether an event of this key may be one of the lost.
    pub(crate) fn covers(&self, key: (u64, u64)) -> bool {
        self.events != Some(0) && self.keys.is_none_or(|(first, last)| (first..=last).contains(&key))
    }
}

/// What was seen of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// In order of arrival.
    pub(crate) rows: Vec<Row>,
    /// What a scan has left out.
    pub(crate) left_out: Vec<Part>,
    /// What `verify` names.
    pub(crate) verified: Vec<Part>,
    /// What a scan that leaves nothing out stopped at.
    pub(crate) stopped: Option<String>,
    pub(crate) sources: BTreeMap<String, u64>,
    /// Sources of which the store says that it was lost where they stood.
    pub(crate) lost_sources: Vec<String>,
    /// Why the store could not be opened, or read.
    pub(crate) error: Option<String>,
    /// What `repair` has put right: the file, the events kept in it.
    pub(crate) repaired: Vec<(String, u64)>,
    /// How many events were removed.
    pub(crate) removed: u64,
    /// What the store says beside that.
    pub(crate) notes: Vec<String>,
    /// It came to its end.
    pub(crate) complete: bool,
}

impl Report {
    /// All damage that was named.
    pub(crate) fn damage(&self) -> Vec<Part> {
        let mut all = self.verified.clone();
        all.extend(self.left_out.iter().filter(|part| !self.verified.contains(part)).cloned());
        all
    }

    /// In lines, each of parts with a tab between them.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        for Row { arrival, instant, document } in &self.rows {
            let _ = writeln!(out, "row\t{arrival}\t{instant}\t{}", document.escape_ascii());
        }
        for (word, parts) in [("left-out", &self.left_out), ("verified", &self.verified)] {
            for part in parts {
                let _ = writeln!(out, "{word}\t{}", print_part(part));
            }
        }
        for (name, position) in &self.sources {
            let _ = writeln!(out, "source\t{position}\t{name}");
        }
        for name in &self.lost_sources {
            let _ = writeln!(out, "lost-source\t{name}");
        }
        for (file, kept) in &self.repaired {
            let _ = writeln!(out, "repaired\t{kept}\t{file}");
        }
        let _ = writeln!(out, "removed\t{}", self.removed);
        let texts = [("stopped", &self.stopped), ("error", &self.error)];
        let texts = texts.into_iter().filter_map(|(word, text)| Some((word, text.as_ref()?)));
        for (word, text) in texts.chain(self.notes.iter().map(|note| ("note", note))) {
            let _ = writeln!(out, "{word}\t{}", text.replace(char::is_control, " "));
        }
        out.push_str("end\n");
        out
    }

    /// Takes a line in; false where it is none.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        self.try_take(line).is_some()
    }

    fn try_take(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once('\t').unwrap_or((line, ""));
        let parts: Vec<&str> = rest.split('\t').collect();
        match (word, &*parts) {
            ("row", [arrival, instant, document]) => self.rows.push(Row {
                arrival: arrival.parse().ok()?,
                instant: instant.parse().ok()?,
                document: document.as_bytes().to_vec(),
            }),
            ("left-out", parts) => self.left_out.push(parse_part(parts)?),
            ("verified", parts) => self.verified.push(parse_part(parts)?),
            ("source", [position, name]) => {
                self.sources.insert((*name).to_owned(), position.parse().ok()?);
            }
            ("lost-source", [name]) => self.lost_sources.push((*name).to_owned()),
            ("repaired", [kept, file]) => self.repaired.push(((*file).to_owned(), kept.parse().ok()?)),
            ("removed", [events]) => self.removed = events.parse().ok()?,
            ("stopped", _) => self.stopped = Some(rest.to_owned()),
            ("error", _) => self.error = Some(rest.to_owned()),
            ("note", _) => self.notes.push(rest.to_owned()),
            ("end", _) => self.complete = true,
            _ => return None,
        }
        Some(())
    }
}

fn print_part(part: &Part) -> String {
    let Part { file, start, end, events, keys, found } = part;
    let events = events.map_or("?".to_owned(), |events| events.to_string());
    let keys = keys.map_or("?\t?\t?\t?".to_owned(), |(first, last)| {
        format!("{}\t{}\t{}\t{}", first.0, first.1, last.0, last.1)
    });
    format!("{file}\t{start}\t{end}\t{events}\t{keys}\t{found}")
}

fn parse_part(parts: &[&str]) -> Option<Part> {
    let [file, start, end, events, a, b, c, d, found] = parts else { return None };
    let number = |text: &str| text.parse::<u64>().ok();
    let keys = || Some(((number(a)?, number(b)?), (number(c)?, number(d)?)));
    Some(Part {
        file: (*file).to_owned(),
        start: number(start)?,
        end: number(end)?,
        events: number(events),
        keys: keys(),
        found: (*found).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_back() {
        let part = Part {
            file: "1.log".into(),
            start: 48,
            end: 100,
            events: None,
            keys: Some(((1, 2), (3, 4))),
            found: "it is torn".into(),
        };
        let report = Report {
            rows: vec![Row { arrival: 1, instant: 2, document: b"0/1/abc".to_vec() }],
            left_out: vec![part.clone()],
            verified: vec![part.clone(), Part { events: Some(7), keys: None, ..part }],
            stopped: Some("it stopped".into()),
            sources: [("source 1".into(), 7)].into(),
            lost_sources: vec!["source 2".into()],
            error: Some("no".into()),
            repaired: vec![("1.log".into(), 3)],
            removed: 9,
            notes: vec!["kept".into()],
            complete: true,
        };
        let mut back = Report::default();
        assert!(report.print().lines().all(|line| back.take(line)));
        assert_eq!(back, report);
    }
}
