//! What a writing process tells on its pipe, a line each.

use std::fmt;

/// A line of the writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// The store is open.
    Opened,
    /// The writer waits for its next step.
    Ready,
    /// It begins to append this batch.
    Begin(u64),
    /// This batch is stored: its first arrival number.
    Stored(u64, u64),
    /// Nothing of this batch is stored, and the store takes others.
    Refused(u64, String),
    /// It begins another step: sealing, compacting and so on.
    Doing(String),
    /// That step has succeeded.
    Done(String),
    /// That step has failed, and the store works on.
    Trouble(String, String),
    /// It begins to remove what lies before this instant.
    Removing(u64),
    /// So many events were removed.
    Removed(u64),
    /// It begins to delete the events of this deletion.
    Deleting(u64),
    /// They are deleted.
    Deleted(u64),
    /// A receipt says that no file holds what was deleted.
    Erased,
    /// It stops for this reason.
    Failed(String),
    /// The store is closed.
    Closed,
}

/// On one line.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Opened => write!(f, "opened"),
            Line::Ready => write!(f, "ready"),
            Line::Begin(id) => write!(f, "begin {id}"),
            Line::Stored(id, first) => write!(f, "stored {id} {first}"),
            Line::Refused(id, why) => write!(f, "refused {id} {}", plain(why)),
            Line::Doing(what) => write!(f, "doing {what}"),
            Line::Done(what) => write!(f, "done {what}"),
            Line::Trouble(what, why) => write!(f, "trouble {what} {}", plain(why)),
            Line::Removing(before) => write!(f, "removing {before}"),
            Line::Removed(events) => write!(f, "removed {events}"),
            Line::Deleting(id) => write!(f, "deleting {id}"),
            Line::Deleted(id) => write!(f, "deleted {id}"),
            Line::Erased => write!(f, "erased"),
            Line::Failed(why) => write!(f, "failed {}", plain(why)),
            Line::Closed => write!(f, "closed"),
        }
    }
}

impl Line {
    /// Reads a line; `None` where it is none of a writer, the half line of one that was killed for example.
    pub(crate) fn parse(text: &str) -> Option<Line> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (second, third) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(match word {
            "opened" => Line::Opened,
            "ready" => Line::Ready,
            "begin" => Line::Begin(rest.parse().ok()?),
            "stored" => Line::Stored(second.parse().ok()?, third.parse().ok()?),
            "refused" => Line::Refused(second.parse().ok()?, third.to_owned()),
            "doing" => Line::Doing(rest.to_owned()),
            "done" => Line::Done(rest.to_owned()),
            "trouble" => Line::Trouble(second.to_owned(), third.to_owned()),
            "removing" => Line::Removing(rest.parse().ok()?),
            "removed" => Line::Removed(rest.parse().ok()?),
            "deleting" => Line::Deleting(rest.parse().ok()?),
            "deleted" => Line::Deleted(rest.parse().ok()?),
            "erased" => Line::Erased,
            "failed" => Line::Failed(rest.to_owned()),
            "closed" => Line::Closed,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back() {
        for line in [
            Line::Opened,
            Line::Ready,
            Line::Begin(7),
            Line::Stored(7, 1 << 41),
            Line::Refused(7, "no room left".into()),
            Line::Doing("seal".into()),
            Line::Done("seal".into()),
            Line::Trouble("compact".into(), "no room left".into()),
            Line::Removing(9),
            Line::Removed(0),
            Line::Deleting(3),
            Line::Deleted(3),
            Line::Erased,
            Line::Failed("cannot open x".into()),
            Line::Closed,
        ] {
            assert_eq!(Line::parse(&line.to_string()), Some(line));
        }
        assert_eq!(Line::parse("sto"), None);
    }
}
