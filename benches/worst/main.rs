//! Queries over data made to defeat their short cuts, over segments of text and in columns, beside the plain path over text.
//! `cargo bench -p tamias-benches --bench worst` prints a table, and fails where a query is slower than its guard allows.
//! `… --bench worst -- nested` takes the sets with `nested` in their names alone, and tells of every query.
//!
//! Each set is stored in sealed blocks, in the page cache, and each block was verified before anything is timed. The answers are
//! asserted equal to those of the plain path first, row by row. One thread; contenders take turns, and the least processor time counts.

mod hostile;

use hostile::{Hostile, Names};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;
use tamias::{Batch, Layout, Options, Query, Row, Rows, RunOptions, Store};
use tamias_benches::{Contender, gigabytes_per_second, take_turns};
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The least speed, the plain path's being 1.
const GUARD: f64 = 0.8;
/// The most time for twice and for four times the bytes, that for once being 1: with room for noise, and for caches that overflow.
const GROWTH: [f64; 2] = [3.0, 6.0];
/// Times that differ by less are the same.
const NOISE: Duration = Duration::from_micros(20);

const ROUNDS: usize = 5;
/// So many rounds tell whether a guard is really missed.
const ROUNDS_IN_DOUBT: usize = 25;

fn main() -> ExitCode {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_wanted =
        |hostile: &Hostile| wanted.is_empty() || wanted.iter().any(|part| hostile.events.name.contains(part));
    let mut missed = Vec::new();

    println!("Speed to the plain path's, by set; times are processor time, least of {ROUNDS} or more\n");
    println!(
        "| set | segments | events | bytes each | least | of the query | median | plain GB/s |\n|---|---|---|---|---|---|---|---|"
    );
    for hostile in hostile::sets().iter().filter(|hostile| is_wanted(hostile)) {
        let text = Stored::new(hostile, Layout::Text);
        let columns = Stored::new(hostile, Layout::Columns);
        for (stored, segments) in [(&text, "text"), (&columns, "columns")] {
            let mut ratios: Vec<(f64, String, Duration, Duration)> = Vec::new();
            for query in queries(&hostile.names) {
                let (fast, plain) = compare(stored, &text, &query);
                let ratio = plain.as_secs_f64() / fast.as_secs_f64();
                let of_both = format!("{ratio:.2}× ({:.3} ms, plain {:.3} ms)", ms(fast), ms(plain));
                if !wanted.is_empty() {
                    println!("{of_both}, {segments}: {query}");
                }
                if is_too_slow(fast, plain) {
                    missed.push(format!("{of_both}, {}, {segments}: {query}", hostile.events.name));
                }
                ratios.push((ratio, query, fast, plain));
            }
            ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
            let (least, query, ..) = &ratios[0];
            let (median, ..) = ratios[ratios.len() / 2];
            let plain = ratios.iter().map(|(.., plain)| *plain).min().unwrap_or_default();
            println!(
                "| {} | {segments} | {} | {} | {least:.2}× | `{query}` | {median:.2}× | {:.1} |",
                hostile.events.name,
                hostile.events.spans.len(),
                hostile.events.mean(),
                gigabytes_per_second(hostile.events.bytes.len(), plain),
            );
        }
    }

    println!("\nTime for twice and for four times the bytes\n");
    println!(
        "| set | segments | bytes | most for 2× | of the query | most for 4× | of the query |\n|---|---|---|---|---|---|---|"
    );
    let [once, twice, four_times] = [1, 2, 4].map(hostile::growing);
    for ((once, twice), four_times) in
        once.iter().zip(&twice).zip(&four_times).filter(|((set, _), _)| is_wanted(set))
    {
        for (layout, segments) in [(Layout::Text, "text"), (Layout::Columns, "columns")] {
            let sizes = [once, twice, four_times].map(|set| Stored::new(set, layout));
            let mut most = [(0.0, String::new()), (0.0, String::new())];
            for query in queries(&once.names) {
                let growth = growth(&sizes, &query);
                for ((most, growth), guard) in most.iter_mut().zip(growth).zip(GROWTH) {
                    if growth > guard {
                        missed.push(format!(
                            "{growth:.1}× the time, {}, {segments}: {query}",
                            once.events.name
                        ));
                    }
                    if growth > most.0 {
                        *most = (growth, query.clone());
                    }
                }
            }
            let [(twice, of_twice), (four_times, of_four_times)] = &most;
            println!(
                "| {} | {segments} | {} | {twice:.1}× | `{of_twice}` | {four_times:.1}× | `{of_four_times}` |",
                once.events.name,
                once.events.bytes.len()
            );
        }
    }

    if missed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nMISSED:");
    missed.iter().for_each(|line| println!("{line}"));
    ExitCode::FAILURE
}

/// Queries that take each of the short cuts.
fn queries(names: &Names) -> Vec<String> {
    let Names {
        number,
        text,
        user,
        word,
        note,
        nested,
        literal,
        prefix,
        known_user,
        known_word,
        nested_prefix,
    } = names;
    let ten: Vec<String> = (900..910).map(|value| format!("{number} = {value}")).collect();
    let ten = ten.join(" or ");
    let likes: Vec<String> = (1..=8).map(|value| format!("{text} like '%/{value}77%'")).collect();
    let likes = likes.join(" or ");
    [
        format!("count(*), sum(length({text})) from stream where {number} > 900"),
        format!("count(*) from stream where {number} > 0.5"),
        format!("count(*) from stream where not ({number} > 500)"),
        format!("count(*) from stream where {ten}"),
        format!("{text} from stream where {number} > 900"),
        format!("@Data from stream where {number} > 900"),
        format!("count(*), sum(length({text})) from stream where match({text}, '{literal}')"),
        format!("{text} from stream where match({text}, '{literal}')"),
        format!("count(*) from stream where not match({text}, '{literal}')"),
        format!("count(*) from stream where match({text}, '{literal}/[0-9]+ took 1')"),
        format!("count(*) from stream where {text} like '%{literal}%'"),
        format!("count(*) from stream where {text} like '{prefix}%'"),
        format!("count(*) from stream where {text} like '{prefix}%ms'"),
        format!("{user} from stream where {user} = '{known_user}'"),
        format!("count(*) from stream where {user} <> '{known_user}'"),
        format!("count(*) from stream where {user} in ['{known_user}', 'user-1', 'user-2', 'user-3']"),
        format!("count(*) from stream where {likes}"),
        format!("count(*) from stream where {note} is null"),
        format!("count(*) from stream where {note} is not null"),
        format!("count(*) from stream where {number} > 900 or {user} = '{known_user}'"),
        format!("count(*) from stream where {number} > 100 and match({text}, '{literal}')"),
        format!("count(*) from stream where {word} = '{known_word}' and {number} > 500 group by {user}"),
        format!("count(*) from stream group by {word}"),
        format!("count(*) from stream group by {user}"),
        format!("sum(length({text})) from stream"),
        format!("sum({number}), min({number}), max({number}) from stream"),
        format!("percentile({number}, 95) from stream"),
        format!("distinct({user}) from stream"),
        format!("count(*) from stream where {nested} = '{nested_prefix}'"),
        format!("count(*) from stream where {nested} like '{nested_prefix}%'"),
        format!("{number}, {user}, {text} from stream"),
        format!("{number}, {user}, {text}, {word}, {note} from stream"),
        format!("{text} from stream order by time desc limit 100"),
    ]
    .map(|query| format!("select {query}"))
    .into()
}

/// A set in a store.
struct Stored {
    _folder: TempDir,
    store: Store,
}

impl Stored {
    fn new(hostile: &Hostile, segments: Layout) -> Stored {
        let folder = tempfile::tempdir().expect("a folder for the store");
        let store =
            Store::open_with(folder.path(), Options { segments, ..Options::default() }).expect("a new store");
        let mut batch = Batch::new();
        for event in hostile.events.documents() {
            batch.push(event, &hostile.format).expect("the event is valid");
        }
        store.append_batch(&mut batch).expect("events are stored");
        store.seal().expect("events are sealed");
        Stored { _folder: folder, store }
    }

    /// The rows of a query, the fast or the plain way.
    fn rows(&self, query: &Query, plain: bool) -> Rows {
        let options = RunOptions { plain, ..RunOptions::default() };
        self.store.run_with(query, options).expect("a snapshot")
    }

    /// Reads all rows, of all cells the bytes.
    fn consume(&self, query: &Query, plain: bool) -> usize {
        let (mut rows, mut cells) = (self.rows(query, plain), 0);
        while let Some(row) = rows.next_row().expect("a row") {
            cells += row.cells().map(|cell| cell.json().map_or(0, <[u8]>::len)).sum::<usize>();
        }
        black_box(cells)
    }
}

/// The times of a query over a set and of the plain path over it as text, after their answers were found to be the same.
fn compare(stored: &Stored, text: &Stored, query: &str) -> (Duration, Duration) {
    let prepared = Query::prepare(query).expect("a query");
    assert_same(stored.rows(&prepared, false), text.rows(&prepared, true), query);
    let mut contenders = [
        Contender::new("fast", || stored.consume(&prepared, false)),
        Contender::new("plain", || text.consume(&prepared, true)),
    ];
    let mut times = take_turns(&mut contenders, ROUNDS);
    if is_too_slow(times[0].least, times[1].least) {
        times = take_turns(&mut contenders, ROUNDS_IN_DOUBT);
    }
    (times[0].least, times[1].least)
}

fn assert_same(mut fast: Rows, mut plain: Rows, query: &str) {
    for number in 0.. {
        let (fast, plain) = (fast.next_row().expect("a row"), plain.next_row().expect("a row"));
        assert!(fast.as_ref().map(cells).eq(&plain.as_ref().map(cells)), "row {number} of {query}");
        if plain.is_none() {
            return;
        }
    }
}

fn cells<'r>(row: &Row<'r>) -> Vec<Option<&'r [u8]>> {
    row.cells().map(|cell| cell.json()).collect()
}

fn is_too_slow(fast: Duration, plain: Duration) -> bool {
    fast.mul_f64(GUARD) > plain && fast > plain + NOISE
}

/// How many times the time a query takes over twice and four times the bytes.
fn growth(sizes: &[Stored; 3], text: &str) -> [f64; 2] {
    let query = Query::prepare(text).expect("a query");
    let mut contenders =
        sizes.each_ref().map(|stored| Contender::new("a size", || stored.consume(&query, false)));
    let mut of = |rounds| {
        let times = take_turns(&mut contenders, rounds);
        let [once, twice, four_times] =
            [0, 1, 2].map(|size: usize| (times[size].least + NOISE).as_secs_f64());
        [twice / once, four_times / once]
    };
    let first = of(ROUNDS);
    match first.iter().zip(GROWTH).any(|(growth, guard)| *growth > guard) {
        true => of(ROUNDS_IN_DOUBT),
        false => first,
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
