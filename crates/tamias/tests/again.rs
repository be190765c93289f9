//! Queries that come again: what the ones before have found or decoded is used, and says the same.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tamias::{Batch, EventFormat, Layout, Options, Query, RunOptions, Store};

const QUERIES: &[&str] = &[
    "select count(*) from stream where Elapsed > 200",
    "select count(*), sum(Length(Message)) from stream where not (Elapsed > 200.5)",
    "select count(*) from stream where match(Message, '/api/customers')",
    "select Message from stream where Message like '%timeout%' ci",
    "select count(*) from stream where Length(Message) > 60",
    "select mean(Elapsed), count(*) from stream group by Application",
    "select count(*) from stream group by a",
    "select count(*) as n from stream where RequestPath is not null group by RequestPath order by n desc limit 10",
    "select count(distinct(CustomerId)), count(distinct(@TraceId)) from stream",
    "select count(distinct(@TraceId)) from stream",
    "select count(*), max(Elapsed) from stream group by @Level, time(1h)",
    "select count(*) from stream group by StatusCode, Application ci, a",
    "select count(*) from stream where RequestPath = '/login' or a = 1 or a in ['x', null, true]",
    "select @Timestamp, a from stream where a is not null or Actor.Address.City = 'Berlin' order by time desc",
    "select Actor from stream where Actor.Address.City = 'Berlin' and Elapsed > 1000",
    "select max(Elapsed), min(Amount), sum(Amount) from stream group by Currency",
    "select * from stream where a.b.c = 1 or Elapsed = 3 or Elapsed = 5 limit 20",
    "select count(*) from stream group by Replace(RequestPath, /[0-9]+/, 'N')",
    "select count(distinct(Concat(Application, ' ', RequestPath))), max(Substring(RequestPath, 5)) from stream",
    "select count(*) from stream where Length(Replace(Message, ' ', '')) > 50 group by ToLower(a), Application ci",
    "select count(*) from stream where not StartsWith(Message, Substring(RequestPath, 0, 1)) group by RequestPath ci",
];

/// Generated events, and unkind ones, which have what they hold under `Nasty` as well.
fn lines() -> Vec<Vec<u8>> {
    let mut generator = tamias_testdata::Generator::new(21, 6000);
    let mut bytes = Vec::new();
    while generator.write_next(&mut bytes) {}
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec);
    let nasty = tamias_testdata::nasty_documents().into_iter().zip(10..).flat_map(|(document, number)| {
        let begin = format!(r#"{{"@t":"2024-05-29T10:{:02}:{:02}Z""#, number / 60, number % 60).into_bytes();
        let own = document.trim_ascii().get(1..).unwrap_or_default().to_vec();
        [
            [begin.as_slice(), br#","Nasty":"#, &document, b"}"].concat(),
            [begin.as_slice(), b",", &own].concat(),
            [begin.as_slice(), br#","a":1,"Elapsed":7,"#, &own].concat(),
        ]
    });
    lines.chain(nasty).collect()
}

/// The rows of a query, each cell as JSON text.
fn rows(store: &Store, query: &str, plain: bool) -> Vec<Vec<Option<String>>> {
    told(store, query, RunOptions { plain, ..RunOptions::default() }).unwrap()
}

/// The same with other options, or why there are none.
fn told(
    store: &Store,
    query: &str,
    options: RunOptions,
) -> Result<Vec<Vec<Option<String>>>, tamias::ExecError> {
    let mut rows = store.run_with(&Query::prepare(query).unwrap(), options).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next_row()? {
        let cell = |index| {
            row.get(index).and_then(|cell| cell.json().map(|json| String::from_utf8(json.to_vec()).unwrap()))
        };
        found.push((0..row.len()).map(cell).collect());
    }
    Ok(found)
}

fn check(store: &Store, when: &str) {
    for query in QUERIES {
        let expected = rows(store, query, true);
        for time in 1..=4 {
            assert!(rows(store, query, false) == expected, "{query}, {when}, at the {time}. time");
        }
    }
}

#[test]
fn queries_that_come_again_over_text_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { segments: Layout::Text, background: false, ..Options::default() };
    let store = Store::open_with(folder.path(), options).unwrap();
    for lines in lines().chunks(700) {
        let mut batch = Batch::new();
        for line in lines {
            // What is unkind may be refused.
            let _ = batch.push(line, &EventFormat::clef());
        }
        store.append_batch(&mut batch).unwrap();
    }
    check(&store, "unsealed");
    store.seal().unwrap();
    check(&store, "sealed");
    store.delete("Elapsed > 1000 or a = 1").unwrap();
    check(&store, "after a deletion");
}

#[test]
fn what_is_kept_of_text_stays_within_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { segments: Layout::Text, background: false, ..Options::default() };
    // Room for a few keys of a block, so that some are found again and again.
    let store = Store::open_with(folder.path(), options).unwrap().with_column_cache(100_000);
    let mut batch = Batch::new();
    for line in lines() {
        let _ = batch.push(&line, &EventFormat::clef());
    }
    store.append_batch(&mut batch).unwrap();
    store.seal().unwrap();
    check(&store, "with little room");
}

#[test]
fn rows_of_text_go_on_as_they_began_whatever_goes_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { segments: Layout::Text, background: false, ..Options::default() };
    let store = Store::open_with(folder.path(), options).unwrap();
    let events = (0..5000).map(|n| format!(r#"{{"@t":"2024-05-29T10:00:00Z","N":{n},"K":{}}}"#, n % 7));
    store.append(events).unwrap();
    store.seal().unwrap();
    let expected: Vec<Vec<Option<String>>> = (0..5000).map(|n| vec![Some(n.to_string())]).collect();
    let query = Query::prepare("select N from stream").unwrap();
    assert_eq!(rows(&store, "select N from stream", false), expected);
    // Now by a column, which is dropped before the rows have come to their end, as a query that may hold little finds no room.
    let mut going_on = store.run(&query).unwrap();
    assert!(going_on.next_row().unwrap().is_some());
    let little = RunOptions { memory_bytes: 1 << 16, ..RunOptions::default() };
    let count = Query::prepare("select count(*) from stream where K = 1").unwrap();
    for _ in 0..3 {
        let mut counted = store.run_with(&count, little.clone()).unwrap();
        while counted.next_row().unwrap().is_some() {}
    }
    let mut others = 0;
    while going_on.next_row().unwrap().is_some() {
        others += 1;
    }
    assert_eq!(others, 4999);
}

/// A store of generated and unkind events in columns, in segments of so many events.
fn in_columns(folder: &std::path::Path, events: usize, lines: &[Vec<u8>]) -> Store {
    let options = Options { segments: Layout::Columns, background: false, ..Options::default() };
    let store = Store::open_with(folder, options).unwrap();
    for lines in lines.chunks(events) {
        let mut batch = Batch::new();
        for line in lines {
            let _ = batch.push(line, &EventFormat::clef());
        }
        store.append_batch(&mut batch).unwrap();
        store.seal().unwrap();
    }
    store
}

#[test]
fn queries_that_come_again_over_columns_say_the_same_however_much_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = in_columns(folder.path(), 1500, &lines());
    for bytes_max in [0, 200_000, 800_000, 3_000_000] {
        store = store.with_column_cache(bytes_max);
        check(&store, &format!("with {bytes_max} bytes of cache"));
    }
}

#[test]
fn several_keys_are_shown_as_their_group_first_appeared() {
    let cases = [
        ("k ci", [r#""Get""#, r#""GET""#]),
        ("k", ["1", "1.0"]),
        ("k", ["1.0", "1"]),
        ("k", [r#""\ud800""#, "\"\u{FFFD}\""]),
        ("k", ["\"\u{FFFD}\"", r#""\ud800""#]),
        ("k", [r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#]),
    ];
    for (key, [first, second]) in cases {
        let lines: Vec<Vec<u8>> = (0..100)
            .map(|n| {
                let (k, g) = if n < 50 { (first, 1) } else { (second, 2) };
                format!(r#"{{"@t":"2024-05-29T10:00:{n:02}Z","k":{k},"g":{g}}}"#, n = n % 60 + n / 60)
                    .into_bytes()
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let store = in_columns(folder.path(), 50, &lines);
        let query = format!("select count(*) from stream group by {key}, g");
        for time in 1..=4 {
            for plain in [false, true] {
                let shown: Vec<String> =
                    rows(&store, &query, plain).iter().filter_map(|row| row.first()?.clone()).collect();
                assert_eq!(shown, [first, second], "{query}, at the {time}. time, plain: {plain}");
            }
        }
    }
}

/// A store of 24,000 generated events in columns, with so many bytes of cache, and what each of some queries reads of it, one after another.
fn read_bytes<const N: usize>(cache_bytes: usize, queries: [&str; N]) -> [u64; N] {
    let mut generator = tamias_testdata::Generator::new(21, 24_000);
    let mut bytes = Vec::new();
    while generator.write_next(&mut bytes) {}
    let lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let folder = tempfile::tempdir().unwrap();
    let store = in_columns(folder.path(), 8000, &lines).with_column_cache(cache_bytes);
    queries.map(|query| {
        let expected = rows(&store, query, true);
        assert_eq!(rows(&store, query, false), expected);
        let query = Query::prepare(query).unwrap();
        let mut rows = store.run(&query).unwrap();
        while rows.next_row().unwrap().is_some() {}
        rows.stats().column_bytes
    })
}

#[test]
fn columns_that_fit_in_few_bytes_only_are_not_read_again() {
    // As they are evaluated, the columns take a third more.
    let query = "select mean(Elapsed), count(*) from stream group by Application, time(1h)";
    assert_eq!(read_bytes(900_000, [query; 3]), [0; 3]);
}

#[test]
fn lengths_of_texts_stay_where_the_texts_do_not_fit() {
    // The texts take 1.6 MB.
    let queries = [
        "select count(*) from stream where match(Message, 'x')",
        "select count(*) from stream where Length(Message) > 60",
        "select count(*) from stream where Length(Message) > 60",
        "select sum(Length(Message)), max(Length(Message)) from stream where Elapsed > 200",
        "select count(*) from stream where Length(Message) > 20 and match(Message, 'x')",
    ];
    let read = read_bytes(450_000, queries);
    assert!(read[0] > 0 && read[4] > 0, "{read:?}");
    assert_eq!(read[2], 0, "{read:?}");
}

#[test]
fn texts_that_were_put_together_stay_without_their_pieces_where_both_do_not_fit() {
    let query = "select count(*) from stream where RequestPath = '/login'";
    let read = read_bytes(600_000, [query; 4]);
    assert_eq!(read[2..], [0; 2], "{read:?}");
}

#[test]
fn texts_that_are_keys_stay_as_numbers_where_they_do_not_fit() {
    let text = |n: u32| (0..40).map(|part| format!("{:x} ", (n + 1) * 7919 * (part + 3))).collect::<String>();
    let lines: Vec<Vec<u8>> = (0..12_000u32)
        .map(|n| {
            let (second, milli) = (n / 1000, n % 1000);
            let text = text(n * 31 % 300);
            format!(r#"{{"@t":"2024-05-29T10:00:{second:02}.{milli:03}Z","S":"{text}"}}"#).into_bytes()
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    // Each of twelve blocks has all texts, some 100 kB.
    let store = in_columns(folder.path(), 1000, &lines).with_column_cache(750_000);
    let read = |query: &str| {
        let prepared = Query::prepare(query).unwrap();
        let mut rows = store.run(&prepared).unwrap();
        while rows.next_row().unwrap().is_some() {}
        rows.stats().column_bytes
    };
    let by_text = "select count(*) as n from stream group by S order by n desc, S limit 3";
    let first = read(by_text);
    read(by_text);
    read(by_text);
    for query in [by_text, "select count(distinct(S)) from stream", by_text] {
        assert_eq!(read(query), 0, "{query}; at first {first}");
    }
    // Texts that are asked for are read.
    assert!(read("select count(*) from stream where S like '%7%'") > 0);
}

/// Texts that nearly all differ, and few that come again.
const MANY_KEYS: &[&str] = &[
    "select count(*) as n, min(N) from stream group by K order by n desc, K limit 20",
    "select count(distinct(K)), count(distinct(S)) from stream",
    "select count(*) as n from stream where K is not null group by K having n > 1",
    "select count(*) from stream where N % 7 = 3 group by S",
    "select count(*) from stream where Contains(K, '77') and K <> S",
    "select max(K), min(K), count(*) from stream group by S",
    "select count(*) as n from stream where EndsWith(K, '9') group by K order by n desc, K limit 10",
    "select count(*) from stream group by ToUpper(S)",
    "select count(*) from stream group by S, K order by K desc limit 7",
    "select count(*), min(N) from stream group by Substring(K, 4)",
    "select count(distinct(Concat(K, S))), count(distinct(Replace(K, /[0-9]/, ''))) from stream",
    "select count(*), sum(Length(Replace(K, ' ', ''))) from stream group by K ci",
    "select count(*) from stream where ToNumber(Substring(S, 17)) > 100 group by Replace(S, 'source', ''), K ci",
];

#[test]
fn keys_without_their_texts_are_the_same_whatever_becomes_of_their_table() {
    let lines: Vec<Vec<u8>> = (0..9000u32)
        .map(|n| {
            let spelled = if n % 50 == 3 { r"\u006b" } else { "k" };
            let key = match n % 10 {
                0 => String::new(),
                1 => r#""K":null,"#.to_owned(),
                _ => {
                    format!(r#""K":"{}ey {} of the events","#, spelled.replace(r"\\", r"\"), n * 7919 % 7001)
                }
            };
            format!(
                r#"{{"@t":"2024-05-29T10:{:02}:{:02}Z",{key}"N":{n},"S":"a text of source {}"}}"#,
                n / 3000,
                n / 50 % 60,
                n % 400
            )
            .into_bytes()
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let mut store = in_columns(folder.path(), 1500, &lines);
    for bytes_max in [150_000, 400_000, 700_000, 1_500_000] {
        store = store.with_column_cache(bytes_max);
        for round in 0..3 {
            for (nth, query) in MANY_KEYS.iter().enumerate() {
                let expected = rows(&store, query, true);
                for time in 0..3 {
                    let threads = (1 + (nth + time + round) % 2).try_into().unwrap();
                    let options = RunOptions { threads, ..RunOptions::default() };
                    let when =
                        format!("with {bytes_max} bytes of cache, in round {round}, at the {time}. time");
                    assert!(told(&store, query, options).unwrap() == expected, "{query}, {when}");
                }
                // Who may hold little takes the memory from what is kept.
                let options = RunOptions { memory_bytes: 300_000, ..RunOptions::default() };
                if let Ok(told) = told(&store, query, options) {
                    assert!(told == expected, "{query}, with little memory");
                }
            }
        }
    }
}

/// Events whose keys come again in other blocks, some of them spelled otherwise there.
fn with_keys(numbers: std::ops::Range<u32>) -> impl Iterator<Item = String> {
    numbers.map(|n| {
        let key = match n * 7919 % 211 {
            0..20 => format!(r#""K":{},"#, n % 5),
            20..40 => format!(r#""K":{}.0,"#, n % 5),
            40..50 => format!(r#""K":{}.5{},"#, n % 3, if n % 2 == 0 { "" } else { "0" }),
            50..60 => r#""K":null,"#.to_owned(),
            60..70 => String::new(),
            other => format!(r#""K":"key number {other} of many","#),
        };
        let (second, milli) = (n / 1000, n % 1000);
        format!(
            r#"{{"@t":"2024-05-29T10:00:{second:02}.{milli:03}Z",{key}"N":{},"Of":{{"K":{}}}}}"#,
            n * 31 % 977,
            n % 300
        )
    })
}

const BY_KEYS: &[&str] = &[
    "select count(*), min(N) from stream group by K",
    "select count(*) from stream where N > 900 group by K",
    "select count(*), max(N) from stream where N < 500 group by K, Of.K",
    "select count(*) from stream group by Of.K",
    "select count(*) from stream group by K ci",
    "select count(*) from stream group by N, time(2s)",
    "select count(distinct(K)), count(distinct(Of.K)), count(distinct(N)) from stream",
    "select count(distinct(K)) from stream where N > 900",
    "select count(*) as n from stream group by K having n > 50 order by n desc limit 5",
];

#[test]
fn keys_that_come_again_are_the_same_whatever_was_known_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { segments: Layout::Columns, background: false, ..Options::default() };
    let mut store = Store::open_with(folder.path(), options).unwrap();
    let check = |store: &Store, when: &str| {
        for query in BY_KEYS {
            let expected = rows(store, query, true);
            for (time, threads) in [1, 1, 2, 1, 2].into_iter().enumerate() {
                let options = RunOptions { threads: threads.try_into().unwrap(), ..RunOptions::default() };
                let told = told(store, query, options).unwrap();
                assert!(told == expected, "{query}, {when}, at the {time}. time: {told:?}, not {expected:?}");
            }
        }
    };
    for part in 0..6 {
        store.append(with_keys(part * 1000..part * 1000 + 1000)).unwrap();
        store.seal().unwrap();
    }
    check(&store, "sealed");
    store.append(with_keys(6000..6300)).unwrap();
    check(&store, "with some that are not sealed");
    store.seal().unwrap();
    check(&store, "sealed again");
    store.delete("N > 950").unwrap();
    check(&store, "after a deletion");
    for bytes_max in [60_000, 300_000] {
        store = store.with_column_cache(bytes_max);
        check(&store, &format!("with {bytes_max} bytes of cache"));
    }
    // Who may hold little takes the memory from what is kept.
    store = store.with_column_cache(4_000_000);
    check(&store, "with room for all");
    for memory_bytes in [20_000, 50_000, 100_000, 200_000] {
        for query in BY_KEYS {
            let options = RunOptions { memory_bytes, ..RunOptions::default() };
            if let Ok(told) = told(&store, query, options) {
                assert!(told == rows(&store, query, true), "{query}, with {memory_bytes} bytes");
            }
        }
    }
    check(&store, "with room again");
}
