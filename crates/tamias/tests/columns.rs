//! Stores whose segments are in columns: the same events as text, a fraction of the bytes, and what is lost with a part.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tamias::{Batch, EventFormat, Layout, Options, RunOptions, Start, Store, StoredEvent};

fn open(folder: &Path, segments: Layout) -> Store {
    Store::open_with(folder, Options { segments, background: false, ..Options::default() }).unwrap()
}

/// Generated events, and unkind ones.
fn lines() -> Vec<Vec<u8>> {
    let mut generator = tamias_testdata::Generator::new(11, 3000);
    let mut bytes = Vec::new();
    while generator.write_next(&mut bytes) {}
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec);
    let nasty = tamias_testdata::nasty_documents().into_iter().zip(10..).map(|(document, number)| {
        let mut line =
            format!(r#"{{"@t":"2024-05-29T10:{:02}:{:02}Z","Nasty":"#, number / 60, number % 60).into_bytes();
        line.extend_from_slice(&document);
        line.push(b'}');
        line
    });
    lines.chain(nasty).collect()
}

fn filled(folder: &Path, segments: Layout) -> Store {
    let store = open(folder, segments);
    let mut batch = Batch::new();
    for line in lines() {
        // What is unkind may be refused, in both stores alike.
        let _ = batch.push(&line, &EventFormat::clef());
    }
    store.append_batch(&mut batch).unwrap();
    store.seal().unwrap();
    store
}

fn events(store: &Store) -> Vec<StoredEvent> {
    let mut found = Vec::new();
    let mut start = Start::Earliest;
    loop {
        let page = store.page(start, 1000).unwrap();
        found.extend(page.events);
        match page.next {
            Some(next) => start = Start::Continue(next),
            None => return found,
        }
    }
}

#[test]
fn columns_hold_the_same_events_as_text_in_a_fraction_of_the_bytes() {
    let (text, columns) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text_store = filled(text.path(), Layout::Text);
    let column_store = filled(columns.path(), Layout::Columns);
    let (text, columns) = (text_store.info().unwrap(), column_store.info().unwrap());
    assert_eq!((text.events, text.bytes), (columns.events, columns.bytes));
    let segment = &columns.segments[0];
    assert_eq!((segment.column_blocks, text.segments[0].column_blocks), (segment.blocks, 0));
    assert!(segment.file_bytes * 5 < text.segments[0].file_bytes, "{segment:?}");
    let expected = events(&text_store);
    assert!(expected.len() > 3000);
    assert_eq!(events(&column_store), expected);
    assert_eq!(column_store.verify().unwrap(), []);
    assert_eq!(column_store.verify_deep().unwrap(), []);
    for event in expected.iter().step_by(97) {
        assert_eq!(column_store.get(event.id).unwrap().as_ref(), Some(event));
        assert_eq!(column_store.around(event.id, 3, 2).unwrap(), text_store.around(event.id, 3, 2).unwrap());
    }
}

#[test]
fn compacting_turns_text_into_columns_and_answers_stay() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), Layout::Text);
    let expected = events(&store);
    let ask = |store: &Store| {
        let rows = store.query("select count(*), max(Elapsed) from stream group by StatusCode").unwrap();
        rows.map(|row| format!("{:?}", row.unwrap())).collect::<Vec<_>>()
    };
    let answer = ask(&store);
    drop(store);
    let store = open(folder.path(), Layout::Columns);
    store.compact().unwrap();
    let segments = store.info().unwrap().segments;
    assert!(segments.iter().all(|segment| segment.column_blocks == segment.blocks), "{segments:?}");
    assert_eq!(events(&store), expected);
    assert_eq!(ask(&store), answer);
}

#[test]
fn damage_to_a_frame_names_its_paths_and_a_repair_keeps_the_other_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    for (hour, kind) in [(10, "morning"), (11, "noon")] {
        // Noise that does not compress, in one path: its frame is easily found by its size.
        let noise = |n: u64| (0..40).map(move |i| (n + i * 7919).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8);
        let events = (0..500).map(|n| {
            let text: String = noise(n + hour * 1000).map(|number| format!("{number:x}")).collect();
            format!(r#"{{"@t":"2024-05-29T{hour}:00:00.{n:03}Z","Kind":"{kind}","Noise":"{text}"}}"#)
        });
        store.append(events).unwrap();
        store.seal().unwrap();
    }
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();

    let store = open(folder.path(), Layout::Columns);
    let damage = store.verify().unwrap();
    assert_eq!(damage.len(), 1);
    assert_eq!((damage[0].events(), damage[0].holds()), (Some(500), &["Noise".to_owned()][..]));
    let text = damage[0].to_string();
    assert!(
        text.contains(" (part frame.") && text.contains(" with Noise): its checksum does not hold; "),
        "{text}"
    );
    assert!(
        text.ends_with("500 events are lost, from 2024-05-29T10:00:00Z to 2024-05-29T10:00:00.499Z"),
        "{text}"
    );
    let error = store.query("select Noise from stream").unwrap().find_map(Result::err).unwrap().to_string();
    assert!(error.ends_with(&text), "{error}");
    // What does not need the frame goes on.
    let rows = store.query("select count(*) from stream group by Kind").unwrap();
    assert_eq!(rows.filter(Result::is_ok).count(), 2);
    let query = tamias::Query::prepare("select Noise from stream").unwrap();
    let (rows, left_out) = store.run_past_damage(&query, RunOptions::default()).unwrap();
    assert_eq!((rows.count(), left_out.damage()), (500, damage.clone()));
    drop(store);

    let repair = Store::repair(folder.path(), false, |_, _| ()).unwrap();
    assert_eq!((repair.events, &repair.files[0].damage, repair.files[0].kept), (500, &damage, 0));
    let store = open(folder.path(), Layout::Columns);
    assert_eq!((store.verify().unwrap(), store.info().unwrap().events), (vec![], 500));
}

/// A frame of shapes named nothing, and where it held times as well, a path without a name. Names behind the twelfth were told nowhere.
#[test]
fn damage_to_any_frame_names_all_that_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    let keys: Vec<String> = (0..30).map(|key| format!("Key{key:02}")).collect();
    let events = (0..600u64).map(|n| {
        let odd = |key: &usize| (n * 31 + *key as u64 * 17) % 7 < 3;
        let members =
            (0..keys.len()).filter(odd).map(|key| format!(r#","{}":{}"#, keys[key], n * 7919 % 1000));
        format!(r#"{{"@t":"2024-05-29T10:00:00.{:03}Z"{}}}"#, n % 1000, members.collect::<String>())
    });
    store.append(events).unwrap();
    store.seal().unwrap();
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    drop(store);
    let whole = std::fs::read(&file).unwrap();
    let (mut of_shapes, mut of_many) = (0, 0);
    for at in (100..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let store = open(folder.path(), Layout::Columns);
        for damage in store.verify().unwrap() {
            let (short, long) = (damage.to_string(), format!("{damage:#}"));
            if !short.contains("(part frame.") {
                continue;
            }
            let holds = damage.holds();
            assert!(!holds.is_empty() && holds.iter().all(|name| !name.is_empty()), "{long}");
            assert!(holds.iter().all(|name| long.contains(name)), "{long}");
            assert_eq!(short.contains(" more)"), holds.len() > 12, "{short}");
            of_shapes += usize::from(short.contains("which keys the events have"));
            of_many += usize::from(holds.len() > 12);
        }
    }
    assert!(of_shapes > 0 && of_many > 0, "{of_shapes}, {of_many}");
}

#[test]
fn a_repair_keeps_the_events_that_have_nothing_in_a_damaged_frame() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    // Noise that does not compress, in every third event.
    let noise = |n: u64| (0..40).map(move |i| (n + i * 7919).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8);
    let events = (0..900).map(|n| {
        let text: String = noise(n).map(|number| format!("{number:x}")).collect();
        match n % 3 {
            0 => format!(r#"{{"@t":"2024-05-29T10:00:00.{n:03}Z","Noise":"{text}"}}"#),
            _ => format!(r#"{{"@t":"2024-05-29T10:00:00.{n:03}Z","Count":{n}}}"#),
        }
    });
    store.append(events).unwrap();
    store.seal().unwrap();
    let expected: Vec<StoredEvent> =
        self::events(&store).into_iter().filter(|event| !event.json.contains("Noise")).collect();
    assert_eq!(expected.len(), 600);
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();

    let dry = Store::repair(folder.path(), true, |_, _| ()).unwrap();
    let repair = Store::repair(folder.path(), false, |_, _| ()).unwrap();
    assert_eq!((dry.events, dry.files[0].kept), (600, 600));
    assert_eq!((repair.events, repair.files[0].kept, repair.files[0].damage.len()), (600, 600, 1));
    let store = open(folder.path(), Layout::Columns);
    assert_eq!(store.verify().unwrap(), []);
    assert_eq!(self::events(&store), expected);
}

/// The frames of the only block of a store's only segment: from where to where each lies in its file.
fn frames(folder: &Path) -> Vec<std::ops::Range<usize>> {
    let frames = parts(folder).into_iter().filter(|(name, _)| name.starts_with("frame."));
    frames.map(|(_, range)| range).collect()
}

/// Its parts with their names.
fn parts(folder: &Path) -> Vec<(String, std::ops::Range<usize>)> {
    let options = Options::default();
    let store = tamias_store::Reader::open(folder, options, std::sync::Arc::new(())).unwrap();
    let mut groups = store.snapshot().unwrap().groups(0..=u64::MAX, tamias_store::Direction::Ascending);
    let [block] = groups.next().unwrap().unwrap().try_into().unwrap_or_else(|_| panic!("one block"));
    assert!(groups.next().is_none());
    // They follow upon the header, each at a multiple of eight.
    let mut end = 48usize;
    let parts = block.columns().unwrap().parts().unwrap().into_iter();
    let placed = parts.map(|(name, bytes)| {
        let start = end.next_multiple_of(8);
        end = start + bytes as usize;
        (name, start..end)
    });
    placed.collect()
}

/// It is a part of its own, which is read where a text is asked for that no list tells of.
#[test]
fn nothing_is_lost_with_the_filter_of_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    // Statistics take a fortieth of the documents.
    let note = "so long that there is room for a filter ".repeat(5);
    let event = |n| format!(r#"{{"@t":"2024-05-29T10:56:01Z","User":"user-{n}","Note":"{note}"}}"#);
    store.append((0..2000).map(event)).unwrap();
    store.seal().unwrap();
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    // How many events have a name, and how many blocks were skipped to tell it.
    let asked = |store: &Store, name: &str| {
        let mut rows = store.query(&format!("select count(*) from stream where User = '{name}'")).unwrap();
        let count = rows.next_row().unwrap().unwrap().get(0).unwrap().json().unwrap().to_vec();
        (String::from_utf8(count).unwrap(), rows.stats().blocks_skipped)
    };
    assert_eq!(asked(&store, "nobody"), ("0".to_owned(), 1));
    assert_eq!(asked(&store, "user-7"), ("1".to_owned(), 0));
    assert_eq!((store.verify().unwrap(), store.verify_deep().unwrap()), (vec![], vec![]));
    drop(store);

    let (_, filter) = parts(folder.path()).into_iter().find(|(name, _)| name == "summary.filter").unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[filter.start..filter.end].fill(0);
    std::fs::write(&file, bytes).unwrap();
    let store = open(folder.path(), Layout::Columns);
    assert_eq!(asked(&store, "nobody"), ("0".to_owned(), 0));
    assert_eq!(asked(&store, "user-7"), ("1".to_owned(), 0));
    let damage = store.verify().unwrap();
    assert_eq!(damage.iter().map(|damage| damage.events()).collect::<Vec<_>>(), [Some(0)]);
    assert_eq!(store.verify_deep().unwrap(), vec![]);
    drop(store);

    assert_eq!(Store::repair(folder.path(), false, |_, _| ()).unwrap().events, 2000);
    let store = open(folder.path(), Layout::Columns);
    assert_eq!((store.verify().unwrap(), asked(&store, "nobody")), (vec![], ("0".to_owned(), 1)));
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    drop(store);

    // The directory stands behind it, and everything is lost with that.
    let placed = parts(folder.path());
    let mut bytes = std::fs::read(&file).unwrap();
    for name in ["summary.filter", "directory"] {
        let (_, range) = placed.iter().find(|(part, _)| part == name).unwrap();
        bytes[range.start] ^= 1;
    }
    std::fs::write(&file, bytes).unwrap();
    let damage = open(folder.path(), Layout::Columns).verify().unwrap();
    assert_eq!(damage.iter().map(|damage| damage.events()).collect::<Vec<_>>(), [Some(2000)], "{damage:?}");
}

#[test]
fn of_equal_extremes_the_earliest_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    for (hour, [greatest, least]) in [["50000", "0"], ["50000.00", "0.00"], ["5e4", "-0"]].iter().enumerate()
    {
        let number = |n: u32| match n {
            10 => (*greatest).to_owned(),
            20 => (*least).to_owned(),
            n => (1000 + n).to_string(),
        };
        let event = |n: u32| {
            let number = number(n);
            format!(r#"{{"@t":"2024-05-29T{hour:02}:{:02}:{:02}Z","x":{number}}}"#, n / 60, n % 60)
        };
        store.append((0..3000).map(event)).unwrap();
        store.seal().unwrap();
    }
    for text in ["select max(x), min(x) from stream", "select max(x), min(x) from stream where x >= 0"] {
        let row = store.query(text).unwrap().next().unwrap().unwrap();
        let cells: Vec<&[u8]> = (0..2).map(|at| row.get(at).unwrap().json().unwrap()).collect();
        assert_eq!(cells, [b"50000".as_slice(), b"0"], "{text}");
    }
}

#[test]
fn the_times_of_events_are_read_only_where_they_make_a_difference() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    // Nothing is regular about their times, so that a frame holds them.
    let events = (0..600u64).map(|n| {
        let (second, tick) = (n / 60, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 10_000_000);
        let level = if n % 9 == 0 { "Error" } else { "Information" };
        let elapsed = n * 7919 % 1013;
        let time = format!("2024-05-29T10:{:02}:{:02}.{tick:07}Z", second / 60, second % 60);
        format!(r#"{{"@t":"{time}","@l":"{level}","Elapsed":{elapsed},"Customer":"c{}"}}"#, elapsed % 37)
    });
    store.append(events).unwrap();
    store.seal().unwrap();
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    drop(store);
    let whole = std::fs::read(&file).unwrap();
    let ask = |without: Option<&std::ops::Range<usize>>, text: &str| -> Result<Vec<String>, String> {
        let mut bytes = whole.clone();
        without.into_iter().for_each(|range| bytes[range.clone()].iter_mut().for_each(|byte| *byte = !*byte));
        std::fs::write(&file, bytes).unwrap();
        let rows = open(folder.path(), Layout::Columns).query(text).unwrap();
        rows.map(|row| row.map(|row| format!("{row:?}")).map_err(|error| error.to_string())).collect()
    };
    let frames = frames(folder.path());
    let is_of_times = |range: &&std::ops::Range<usize>| {
        ask(Some(range), "select @Timestamp from stream").is_err()
            && ask(
                Some(range),
                "select sum(Elapsed), sum(Length(Customer)) from stream where @Level = 'Error'",
            )
            .is_ok()
    };
    let times = frames.iter().find(is_of_times).unwrap();
    for text in [
        "select mean(Elapsed), percentile(Elapsed, 95) from stream",
        "select mean(Elapsed), percentile(Elapsed, 95) from stream where Elapsed > 200",
        "select count(distinct(Customer)) from stream",
        "select count(*) from stream where @Level = 'Error'",
        "select count(*), sum(Elapsed) from stream where Customer = 'c7'",
        // In a block whose events have none of others between them, the place in it tells which comes first.
        "select min(Customer) from stream where Elapsed > 200",
        "select first(Elapsed), last(Customer) from stream group by @Level",
        "select count(*) from stream where Elapsed > 200 group by Customer",
        "select mean(Elapsed) from stream where Elapsed > 200 group by Customer, @Level",
    ] {
        assert_eq!(ask(Some(times), text), ask(None, text), "{text}");
        assert!(ask(None, text).is_ok());
    }
    assert!(ask(Some(times), "select count(*) from stream group by time(1s)").is_err());
}

#[test]
fn of_blocks_with_events_between_each_other_groups_are_in_the_order_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    // Each block has the events of every third second, and its first ones are of groups that others begin earlier.
    for block in [2u64, 0, 1] {
        let event = |n: u64| {
            let (second, group) = (3 * n + block, (3 * n + block) / 4 % 50);
            format!(
                r#"{{"@t":"2024-05-29T10:{:02}:{:02}Z","n":{second},"g":"g{group}"}}"#,
                second / 60,
                second % 60
            )
        };
        store.append((0..200).map(event)).unwrap();
        store.seal().unwrap();
    }
    assert_eq!(store.info().unwrap().segments.len(), 3);
    let rows = store.query("select first(n) from stream group by g").unwrap();
    let told = rows.map(|row| {
        let row = row.unwrap();
        let cell = |at| String::from_utf8(row.get(at).unwrap().json().unwrap().to_vec()).unwrap();
        (cell(0), cell(1))
    });
    let expected = (0..50).map(|group| (format!("\"g{group}\""), (4 * group).to_string()));
    assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn a_query_reads_no_frame_of_what_it_does_not_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Layout::Columns);
    // Noise that does not compress has a frame for each path; what is small shares one.
    let noise = |n: u64| -> String {
        let numbers = (0..40).map(|i| (n + i * 7919).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8);
        numbers.map(|number| format!("{number:x}")).collect()
    };
    let events = (0..500).map(|n| {
        let [one, two, three] = [1, 2, 3].map(|path| noise(n + path * 1000));
        format!(
            r#"{{"@t":"2024-05-29T10:00:00.{n:03}Z","Elapsed":{n},"One":"{one}","Two":"{two}","Inner":{{"Three":"{three}"}}}}"#
        )
    });
    store.append(events).unwrap();
    store.seal().unwrap();
    let file = store.info().unwrap().segments[0].file.clone().unwrap();
    drop(store);
    let whole = std::fs::read(&file).unwrap();
    let frames = frames(folder.path());
    let overwrite = |which: &dyn Fn(usize) -> bool| {
        let mut bytes = whole.clone();
        for (_, range) in frames.iter().enumerate().filter(|(number, _)| which(*number)) {
            bytes[range.clone()].iter_mut().for_each(|byte| *byte = !*byte);
        }
        std::fs::write(&file, bytes).unwrap();
        open(folder.path(), Layout::Columns)
    };
    let held: Vec<Vec<String>> = (0..frames.len())
        .map(|number| overwrite(&|other| other == number).verify().unwrap()[0].holds().to_vec())
        .collect();
    for (text, paths) in [
        ("select count(*) from stream where Elapsed > 200", &["Elapsed"][..]),
        ("select sum(Length(One)) from stream", &["One"]),
        ("select max(Two) from stream where Elapsed > 200", &["Elapsed", "Two"]),
        ("select count(*) from stream where Inner.Three like '%abc%'", &["Inner.Three"]),
    ] {
        let ask = |store: &Store| -> Result<Vec<String>, _> {
            store.query(text).unwrap().map(|row| row.map(|row| format!("{row:?}"))).collect()
        };
        // The root's are the shapes of the documents.
        let is_named =
            |number: usize| held[number].iter().any(|path| path.is_empty() || paths.contains(&path.as_str()));
        let (named, others): (Vec<usize>, Vec<usize>) =
            (0..frames.len()).partition(|number| is_named(*number));
        assert!(!named.is_empty() && others.len() >= 2, "{text}: {held:?}");
        let expected = ask(&overwrite(&|_| false)).unwrap();
        assert_eq!(ask(&overwrite(&|number| !is_named(number))).unwrap(), expected, "{text}");
        let error = ask(&overwrite(&is_named)).unwrap_err().to_string();
        assert!(error.contains(" (part frame."), "{text}: {error}");
    }
}
