//! What a query reads: a snapshot of the store, as groups of blocks.

use std::sync::Arc;

use tamias_query::{Block, Cache, Interest, Source, SourceError};
use tamias_store::{Expected, Groups};

use crate::LeftOut;
use crate::column_cache::ColumnCache;
use crate::groups::{Group, GroupReader, in_columns};
use crate::read_ahead::ReadAhead;

/// The blocks of a snapshot, group by group.
pub(crate) struct SnapshotSource {
    reading: Reading,
    cache: Arc<ColumnCache>,
    /// How many groups were handed out.
    taken: usize,
}

/// Who reads the groups.
enum Reading {
    /// Whoever asks for them.
    Here {
        groups: Box<GroupReader>,
        /// What is read of the blocks, if it is known.
        interest: Option<Interest>,
        /// Whether a group was met that had to be waited for.
        has_waited: bool,
    },
    /// A thread, ahead of whoever asks.
    Ahead(ReadAhead),
    /// Nobody: all were read.
    Done,
}

impl SnapshotSource {
    /// Blocks that fail where one is damaged, for a query that may hold so many bytes, the cache included.
    pub(crate) fn whole(groups: Groups, cache: Arc<ColumnCache>, budget_bytes: usize) -> SnapshotSource {
        let groups = Box::new(GroupReader::new(groups, cache.turn(budget_bytes)));
        let reading = Reading::Here { groups, interest: None, has_waited: false };
        SnapshotSource { reading, cache, taken: 0 }
    }

    /// Blocks without the damaged ones, which `left_out` will tell of.
    pub(crate) fn past_damage(mut self, left_out: LeftOut) -> SnapshotSource {
        if let Reading::Here { groups, .. } = self.reading {
            let groups = Box::new(groups.past_damage(left_out));
            self.reading = Reading::Here { groups, interest: None, has_waited: false };
        }
        self
    }
}

impl Source for SnapshotSource {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        self.reading = std::mem::replace(&mut self.reading, Reading::Done).ahead_where_it_pays(self.taken);
        let group = self.reading.next()?;
        self.taken += 1;
        if self.reading.reads_all() {
            self.reading =
                std::mem::replace(&mut self.reading, Reading::Done).ahead_where_it_pays(self.taken);
        }
        Ok(group.map(|blocks| blocks.into_iter().map(|(block, _)| block).collect()))
    }

    fn expect(&mut self, wanted: Interest) {
        // Damage is told once the query comes to it.
        if let Reading::Here { groups, interest, .. } = &mut self.reading
            && !groups.goes_past_damage()
        {
            if wanted.reads_blocks() {
                groups.expect_first();
            }
            *interest = Some(wanted);
        }
    }

    fn cache(&self) -> Option<Arc<dyn Cache>> {
        Some(self.cache.clone())
    }
}

impl Reading {
    /// A thread goes on where groups have to be waited for. The first of them is read here: it may be all that is wanted, and tells whether columns are read.
    fn ahead_where_it_pays(self, taken: usize) -> Reading {
        match self {
            Reading::Here { groups, interest: Some(interest), has_waited: true } => {
                match ReadAhead::start(*groups, interest, taken) {
                    Ok(ahead) => Reading::Ahead(ahead),
                    Err(groups) => {
                        Reading::Here { groups: Box::new(groups.0), interest: None, has_waited: true }
                    }
                }
            }
            reading => reading,
        }
    }

    /// Whether all groups are read in any case, so that nobody need wait for the second to be asked for.
    fn reads_all(&self) -> bool {
        matches!(self, Reading::Here { interest: Some(interest), .. } if interest.reads_all())
    }

    fn next(&mut self) -> Result<Option<Group>, SourceError> {
        match self {
            Reading::Here { groups, interest, has_waited } => {
                let group = groups.read()?;
                let Some(interest) = interest else { return Ok(group) };
                let blocks = || in_columns(group.as_deref().unwrap_or_default());
                *has_waited |= groups.has_waited() || blocks().any(|block| !block.is_at_hand());
                if *has_waited {
                    let mut expected = Expected::default();
                    blocks().for_each(|block| block.expect_columns(&mut expected, interest));
                    expected.ask();
                }
                Ok(group)
            }
            Reading::Ahead(ahead) => ahead.next(),
            Reading::Done => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Options, Store};
    use std::path::Path;
    use tamias_query::{Query, RunOptions};

    /// A store of 24 segments in columns, of 50 events each.
    fn filled(folder: &Path) -> Store {
        let options = Options { segments: Layout::Columns, background: false, ..Options::default() };
        let store = Store::open_with(folder, options).unwrap();
        for hour in 0..24 {
            let event = |n: u32| {
                format!(
                    r#"{{"@t":"2024-05-29T{hour:02}:00:{n:02}Z","n":{},"k":"k{}"}}"#,
                    hour * 50 + n,
                    n % 7
                )
            };
            store.append((0..50).map(event)).unwrap();
            store.seal().unwrap();
        }
        store
    }

    /// The rows of a query, or the error; the second group and all behind it are read here, or by a thread.
    fn told(store: &Store, text: &str, is_ahead: bool) -> Vec<Result<String, String>> {
        let snapshot = store.snapshot().unwrap();
        let query = Query::prepare(text).unwrap();
        let groups = snapshot.events.groups(query.instants(), tamias_store::Direction::Ascending);
        let cache = Arc::new(ColumnCache::new(0));
        let mut source = SnapshotSource::whole(groups, cache, usize::MAX);
        if let Reading::Here { has_waited, .. } = &mut source.reading {
            *has_waited = is_ahead;
        }
        let rows = query.run_with(Box::new(source), RunOptions::default());
        rows.map(|row| row.map(|row| format!("{row:?}")).map_err(|error| error.to_string())).collect()
    }

    const QUERIES: [&str; 8] = [
        "select count(*), sum(n) from stream where n > 200",
        "select mean(n) from stream group by k",
        "select max(n), min(n) from stream",
        "select count(*) from stream where n > 700 group by time(1h)",
        "select n, k from stream where k = 'k3' limit 20",
        "select n from stream order by n desc limit 5",
        "select @Data from stream",
        "select @Data from stream where k = 'k3'",
    ];

    #[test]
    fn a_thread_that_reads_ahead_makes_no_difference() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path());
        for text in QUERIES {
            let rows = told(&store, text, true);
            assert!(!rows.is_empty() && rows.iter().all(Result::is_ok), "{text}: {rows:?}");
            assert_eq!(rows, told(&store, text, false), "{text}");
        }
    }

    #[test]
    fn damage_that_a_thread_meets_ahead_is_told_where_the_query_comes_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path());
        let file = store.info().unwrap().segments.get(9).and_then(|segment| segment.file.clone()).unwrap();
        drop(store);
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.iter_mut().skip(48).for_each(|byte| *byte = !*byte);
        std::fs::write(&file, bytes).unwrap();
        let options = Options { segments: Layout::Columns, background: false, ..Options::default() };
        let store = Store::open_with(folder.path(), options).unwrap();
        for text in QUERIES {
            assert_eq!(told(&store, text, true), told(&store, text, false), "{text}");
        }
        // A limit may be reached before.
        assert!(told(&store, QUERIES[4], true).iter().all(Result::is_ok));
        assert!(told(&store, QUERIES[1], true).iter().any(Result::is_err));
    }

    #[test]
    fn a_query_that_is_given_up_ends_the_thread() {
        let folder = tempfile::tempdir().unwrap();
        let store = filled(folder.path());
        let snapshot = store.snapshot().unwrap();
        let groups = snapshot.events.groups(0..=u64::MAX, tamias_store::Direction::Ascending);
        let mut source = SnapshotSource::whole(groups, Arc::new(ColumnCache::new(0)), usize::MAX);
        if let Reading::Here { has_waited, .. } = &mut source.reading {
            *has_waited = true;
        }
        let query = Query::prepare("select n from stream").unwrap();
        let mut rows = query.run_with(Box::new(source), RunOptions::default());
        assert!(rows.next_row().unwrap().is_some());
        drop(rows);
        // Nothing holds the store any more.
        drop((snapshot, store));
        filled_again(folder.path());
    }

    fn filled_again(folder: &Path) {
        std::fs::remove_dir_all(folder).unwrap();
        filled(folder);
    }
}
