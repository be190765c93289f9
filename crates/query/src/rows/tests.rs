//! Work that ends soon after it shall: wherever it is done, it is asked often enough whether to go on.

use super::*;
use crate::interrupt::Interrupt;
use crate::query::Query;
use crate::source::Block;
use crate::stored;
use crate::stored::{SourceError, Times};
use std::num::NonZeroUsize;

/// Documents, by their numbers in time.
struct Documents {
    bytes: Vec<u8>,
    ends: Vec<[u8; 4]>,
    numbers: Vec<[u8; 8]>,
}

impl Documents {
    fn block(first: u64, documents: &[String]) -> Arc<dyn Block> {
        let mut block = Documents { bytes: Vec::new(), ends: Vec::new(), numbers: Vec::new() };
        for (number, document) in (first..).zip(documents) {
            block.bytes.extend_from_slice(document.as_bytes());
            block.ends.push((block.bytes.len() as u32).to_le_bytes());
            block.bytes.push(b'\n');
            block.numbers.push(number.to_le_bytes());
        }
        Arc::new(block)
    }
}

impl Block for Documents {
    fn len(&self) -> usize {
        self.numbers.len()
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        Times { instants: &self.numbers, arrivals: crate::Arrivals::Each(&self.numbers) }.range()
    }
    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        Ok(Some(Times { instants: &self.numbers, arrivals: crate::Arrivals::Each(&self.numbers) }))
    }
    fn documents(&self) -> Result<Option<stored::Documents<'_>>, SourceError> {
        Ok(Some(stored::Documents { bytes: &self.bytes, ends: &self.ends }))
    }
    fn statistics(&self) -> Option<&[u8]> {
        None
    }
}

/// Blocks, each a group.
struct Blocks(std::vec::IntoIter<Arc<dyn Block>>);

impl Source for Blocks {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        Ok(self.0.next().map(|block| vec![block]))
    }
}

/// The rows of a query over blocks of documents, which ends when it is asked so many times whether to go on: how many there were, and
/// how it ended.
fn run(text: &str, blocks: &[&[String]], threads: usize, interrupt: Interrupt) -> (u64, Option<ExecError>) {
    let query = Query::prepare(text).unwrap_or_else(|error| panic!("{error}"));
    let firsts =
        blocks.iter().scan(0, |next, block| Some(std::mem::replace(next, *next + block.len() as u64)));
    let blocks: Vec<_> = firsts.zip(blocks).map(|(first, block)| Documents::block(first, block)).collect();
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let options = RunOptions { threads, memory_bytes: 1 << 30, ..RunOptions::default() };
    let mut rows = query.run_with(Box::new(Blocks(blocks.into_iter())), options);
    let control = Arc::get_mut(&mut rows.control).expect("nothing runs yet");
    control.interrupt = Arc::new(interrupt);
    rows.worker = Worker::new(&rows.plan, &rows.control);
    let mut count = 0;
    loop {
        match rows.next_row() {
            Ok(Some(_)) => count += 1,
            Ok(None) => return (count, None),
            Err(error) => return (count, Some(error)),
        }
    }
}

/// A single event, of which a query has work for seconds.
fn large() -> String {
    let list: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let text = "abcdefghij".repeat(10_000);
    format!(r#"{{"list":[{}],"text":"{text}","n":1}}"#, list.join(","))
}

#[test]
fn work_within_an_event_is_charged() {
    let digits = "[0,1,2,3,4,5,6,7,8,9]";
    let nested = format!("{}true{}", format!("Every({digits}, |x| ").repeat(6), ")".repeat(6));
    for text in [
        "select count(*) from stream lateral unnest(list) as a lateral unnest(list) as b lateral unnest(list) as c",
        "select n from stream lateral unnest(list) as a lateral unnest(list) as b lateral unnest(list) as c where c = 'x'",
        "select b from stream lateral unnest(list) as a lateral unnest(list) as b lateral unnest(list) as c order by b",
        "select n from stream where Some(list, |a| Some(list, |b| Some(list, |c| c = a + 1000)))",
        "select Every(list, |a| Every(list, |b| Every(list, |c| c <> a + 1000))) from stream",
        "select Every(list, |x| Length(Replace(text, 'a', 'bb')) > x) from stream",
        "select Every(list, |x| IsMatch(text, /hij.*abc/)) from stream",
        "select Every(list, |x| not (text like '%x%y_')) from stream",
        "select Every(list, |x| Replace(text, /b./, 'x') <> text) from stream",
        "select Every(list, |x| Length(Concat(text, text)) > x) from stream",
        "select Every(list, |x| not (text in [Concat(text, 'x')])) from stream",
        "select Every(list, |x| [..list, text, x] <> {a: text}) from stream",
        "select Every(list, |x| IndexOf(ToJson({text}), 'y') = 0 - 1) from stream",
        "select Every(list, |x| Concat(text, 'a') < Concat(text, 'b')) from stream",
        &format!("select count(*) from stream where {nested}"),
        &format!("select count(*) from stream group by n having {nested}"),
        &format!("select {nested}"),
    ] {
        let (_, end) = run(text, &[&[large()]], 1, Interrupt::after(40));
        assert!(matches!(end, Some(ExecError::Cancelled)), "{text}: {end:?}");
        let (count, end) = run(text, &[&[large()]], 1, Interrupt::after(usize::MAX));
        assert!(end.is_none() && count <= 1_000_000, "{text}: {end:?}");
    }
}

fn numbered(events: u64) -> Vec<String> {
    (0..events).map(|n| format!(r#"{{"n":{n},"text":"a text that begins alike, number {n}"}}"#)).collect()
}

/// What is done with all events together goes on for long after the last of them was read.
#[test]
fn work_over_groups_and_sorted_rows_is_charged() {
    let events = numbered(20_000);
    for text in [
        "select n, text from stream order by text",
        "select n, text from stream order by text ci",
        "select [text] as t from stream order by t",
        "select count(*) from stream group by text",
        "select count(*) from stream group by n, text",
    ] {
        // Where they are read it is asked few times.
        let asked = (1..).find(|asked| {
            run("select sum(n) from stream", &[&events], 1, Interrupt::after(*asked)).1.is_none()
        });
        let (count, end) = run(text, &[&events], 1, Interrupt::after(asked.unwrap_or(0) + 15));
        // Rows of groups are made as they are asked for: some were given by then.
        let most = if text.contains("group by") { events.len() as u64 / 2 } else { 0 };
        assert!(matches!(end, Some(ExecError::Cancelled)), "{text}: {end:?}");
        assert!(count <= most, "{text}: {count} rows");
        let (count, end) = run(text, &[&events], 1, Interrupt::after(usize::MAX));
        assert!(end.is_none() && count == 20_000, "{text}: {count} rows, {end:?}");
    }
}
