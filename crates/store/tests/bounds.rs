//! Settings that live in the store: bounds of age and size, a full medium, what is told of what went.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use support::{Row, open, rows, tiny};
use tamias_store::io::{Chance, Change, Crash, Directory, Fault, FaultKind, Simulated};
use tamias_store::{
    Cause, Event, Housekeeping, Key, Options, Reader, Retention, Settings, Store, Traffic, WhenFull,
};

const SECOND: u64 = 10_000_000;

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    621_355_968_000_000_000 + since.as_nanos() as u64 / 100
}

/// Appends events of these instants, in one batch. Their documents tell their arrival numbers.
fn append(store: &Store, first: u64, instants: &[u64]) {
    append_wide(store, first, instants, 60);
}

/// The same with documents of so many bytes.
fn append_wide(store: &Store, first: u64, instants: &[u64], width: usize) {
    let documents: Vec<String> =
        (0..instants.len()).map(|n| format!("{:0>width$}", first + n as u64)).collect();
    let events: Vec<Event<'_>> = instants
        .iter()
        .zip(&documents)
        .map(|(instant, document)| Event { instant: *instant, bytes: document.as_bytes() })
        .collect();
    assert_eq!(store.append(&events).unwrap().start, first);
}

fn sized(bytes: u64) -> Settings {
    Settings { max_bytes: Some(bytes), ..Settings::default() }
}

fn aged(seconds: u64) -> Settings {
    Settings { max_age: Some(Duration::from_secs(seconds)), ..Settings::default() }
}

fn settled(store: &Store, settings: Settings) {
    store.set_settings(settings).unwrap();
    assert_eq!(store.settings(), settings);
}

/// How many events the history tells of.
fn went(housekeeping: &Housekeeping) -> u64 {
    housekeeping.history.iter().map(|entry| entry.events).sum()
}

/// All that was stored is there, or the history tells that it went.
fn accounted(store: &Store, stored: u64) {
    let housekeeping = store.housekeeping().unwrap();
    assert_eq!(rows(&store.snapshot()).len() as u64 + went(&housekeeping), stored);
}

#[test]
fn settings_live_in_the_store() {
    let folder = Simulated::new();
    let settings = Settings {
        max_age: Some(Duration::new(90 * 86_400, 700)),
        max_bytes: Some(20_000_000_000),
        when_full: WhenFull::RemoveOldest,
    };
    let store = open(&folder, &Options { settings: Some(settings), ..tiny() }).unwrap();
    append(&store, 0, &[now()]);
    drop(store);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(store.settings(), settings, "those of the store, not those of the options");
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    assert_eq!(reader.housekeeping().unwrap().settings, settings);
    for settings in [aged(1), sized(1), Settings::default()] {
        settled(&store, settings);
        assert_eq!(reader.housekeeping().unwrap().settings, settings);
    }
    accounted(&store, 1);
}

#[test]
fn a_bound_of_size_holds_at_every_step() {
    for bulk in [false, true] {
        let folder = Simulated::new();
        let store = open(&folder, &tiny()).unwrap();
        let most = 12_000;
        settled(&store, sized(most));
        // Beside the bound: the log, what one sealing writes, and a manifest that is being replaced.
        let above = 8_000;
        let mut stored = 0;
        for round in 0..120 {
            let instants: Vec<u64> = (0..5).map(|n| round * 10 + n).collect();
            if bulk {
                let events: Vec<Event<'_>> =
                    instants.iter().map(|instant| Event { instant: *instant, bytes: &[b'x'; 60] }).collect();
                store.append_sealed(&events, None).unwrap();
            } else {
                append(&store, stored, &instants);
            }
            stored += 5;
            match round % 7 {
                3 => store.seal().unwrap(),
                6 => store.compact().unwrap(),
                _ => {}
            }
            let housekeeping = store.housekeeping().unwrap();
            assert!(housekeeping.usage.bounded() <= most + above, "{round}: {housekeeping:?}");
            assert!(folder.medium().bytes() <= most + above);
            accounted(&store, stored);
        }
        let housekeeping = store.housekeeping().unwrap();
        assert!(went(&housekeeping) > 100);
        assert!(housekeeping.history.iter().all(|entry| entry.cause == Cause::Size));
        // The oldest went.
        let left = rows(&store.snapshot());
        assert!(left.iter().map(|row| row.0).eq(stored - left.len() as u64..stored));
        drop(store);
        let store = open(&folder, &tiny()).unwrap();
        accounted(&store, stored);
        assert_eq!(store.snapshot().verify().unwrap(), []);
    }
}

#[test]
fn the_latest_segment_stays_whatever_the_bound() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    settled(&store, sized(1));
    append(&store, 0, &[5, 6, 7]);
    store.seal().unwrap();
    append(&store, 3, &[8]);
    store.seal().unwrap();
    assert_eq!(rows(&store.snapshot()).len(), 1);
    accounted(&store, 4);
}

#[test]
fn a_bound_of_age_takes_whole_segments_and_cuts_the_one_at_the_border() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let now = now();
    let ago = |seconds: u64| now - seconds * SECOND;
    append(&store, 0, &[ago(9000), ago(5000)]);
    store.seal().unwrap();
    // Half a day's slack around each border.
    append(&store, 2, &[ago(8000), ago(4100), ago(2000), ago(10)]);
    store.seal().unwrap();
    append(&store, 6, &[ago(20)]);
    store.seal().unwrap();
    let held = store.snapshot();
    settled(&store, aged(4000));
    // The first segment went whole.
    let arrivals = |store: &Store| rows(&store.snapshot()).iter().map(|row| row.0).collect::<Vec<_>>();
    assert_eq!(arrivals(&store), [2, 3, 4, 5, 6]);
    store.compact().unwrap();
    assert_eq!(arrivals(&store), [4, 5, 6]);
    assert_eq!(rows(&held).len(), 7, "a snapshot keeps what it has");
    accounted(&store, 7);
    let history = store.housekeeping().unwrap().history;
    assert_eq!(history.len(), 1, "of one day and one cause");
    assert_eq!((history[0].cause, history[0].segments, history[0].events), (Cause::Age, 1, 4));
    assert_eq!(history[0].instants, (ago(9000), ago(4100)));
    // What is sealed and too old already never shows.
    append(&store, 7, &[ago(7000)]);
    store.seal().unwrap();
    assert_eq!(arrivals(&store), [4, 5, 6]);
    accounted(&store, 8);
    let segments = folder.medium().names().filter(|name| name.contains(".segment")).count();
    assert_eq!(segments, store.snapshot().segments().len() + 3, "and those that the snapshot holds");
    drop(store);
    drop(held);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!(arrivals(&store), [4, 5, 6]);
    assert_eq!(store.append(&[Event { instant: now, bytes: b"next" }]).unwrap(), 8..9);
}

#[test]
fn little_beyond_the_border_is_not_cut_again_and_again() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let now = now();
    // Less than a sixteenth too old.
    append(&store, 0, &[now - 4100 * SECOND, now - 10 * SECOND]);
    store.seal().unwrap();
    settled(&store, aged(4000));
    let before = store.housekeeping().unwrap().traffic.rewritten;
    store.compact().unwrap();
    assert_eq!(store.housekeeping().unwrap().traffic.rewritten, before);
    assert_eq!(rows(&store.snapshot()).len(), 2);
}

#[test]
fn in_the_background_what_grows_too_old_goes() {
    let folder = Simulated::new();
    let store = open(&folder, &Options { background: true, ..tiny() }).unwrap();
    append(&store, 0, &[now()]);
    store.seal().unwrap();
    append(&store, 1, &[now() + 3600 * SECOND]);
    store.seal().unwrap();
    settled(&store, aged(1));
    let begun = std::time::Instant::now();
    while rows(&store.snapshot()).len() > 1 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(10));
    }
    accounted(&store, 2);
}

#[test]
fn whatever_interrupts_it_all_is_there_or_told_to_have_gone() {
    let folder = Simulated::new();
    let now = now();
    let store = open(&folder, &tiny()).unwrap();
    for round in 0..6 {
        let instants: Vec<u64> = (0..4).map(|n| now - (60 - round * 10 - n) * 100 * SECOND).collect();
        append(&store, round * 4, &instants);
        store.seal().unwrap();
    }
    append(&store, 24, &[now]);
    let all = rows(&store.snapshot());
    let (before, from) = (folder.medium(), folder.change_count());
    settled(&store, Settings { max_bytes: Some(4_000), ..aged(3000) });
    store.compact().unwrap();
    append(&store, 25, &[now + SECOND; 3]);
    store.seal().unwrap();
    let changes = folder.changes().split_off(from);
    let last = rows(&store.snapshot());
    assert!(last.len() < 20, "{}", last.len());
    let (mut medium, mut chance) = (before, Chance(3));
    for at in 0..=changes.len() {
        for crash in Crash::ALL {
            let left = Simulated::with(medium.after(crash, &mut chance));
            let store = open(&left, &tiny()).unwrap();
            let shown: BTreeSet<Row> = rows(&store.snapshot()).into_iter().collect();
            let stored = store.append(&[Event { instant: now, bytes: b"next" }]).unwrap().start;
            accounted(&store, stored + 1);
            assert!(stored >= 25);
            // What is gone is older than what is left, or beyond the border.
            let least = shown.iter().map(|row| row.1).min().unwrap();
            assert!(all.iter().all(|row| row.1 < least || shown.contains(row)), "after {at} changes");
            assert_eq!(store.snapshot().verify().unwrap(), []);
        }
        if let Some(change) = changes.get(at) {
            medium.apply(change);
        }
    }
}

#[test]
fn whichever_call_fails_nothing_goes_unaccounted() {
    for at in 0..120 {
        for kind in [FaultKind::Device, FaultKind::NoSpace] {
            let folder = Simulated::new();
            let store = open(&folder, &tiny()).unwrap();
            for round in 0..4 {
                append(&store, round * 3, &[round * 10; 3]);
                store.seal().unwrap();
            }
            folder.fail(Some(Fault { at: folder.calls() + at, forever: false, kind }));
            drop(store.set_settings(Settings { when_full: WhenFull::RemoveOldest, ..sized(3_000) }));
            drop(store.append(&[Event { instant: 100, bytes: b"more" }]));
            drop(store.seal());
            folder.fail(None);
            drop(store);
            let store = open(&folder, &tiny()).unwrap();
            let next = store.append(&[Event { instant: 100, bytes: b"last" }]).unwrap().start;
            accounted(&store, next + 1);
            assert_eq!(store.snapshot().verify().unwrap(), []);
        }
    }
}

/// Segments that make more room than a manifest takes.
fn large() -> Options {
    Options { segment_bytes: 30_000, block_bytes: 10_000, ..tiny() }
}

/// A store of some segments whose medium has no room left for more than a few bytes.
fn full(settings: Settings) -> (Simulated, Store, u64) {
    let folder = Simulated::new();
    let store = open(&folder, &Options { settings: Some(settings), ..large() }).unwrap();
    for round in 0..10 {
        let instants: Vec<u64> = (0..20).map(|n| round * 100 + n).collect();
        append_wide(&store, round * 20, &instants, 1000);
        store.seal().unwrap();
    }
    folder.set_room(Some(folder.medium().bytes() + 300));
    (folder, store, 200)
}

#[test]
fn on_a_full_medium_the_oldest_go_if_so_set_and_only_then() {
    let (_folder, store, stored) = full(Settings::default());
    let refused =
        (0..30).any(|n| store.append(&[Event { instant: 5000 + n, bytes: &[b'x'; 1000] }]).is_err());
    assert!(refused);
    assert!(store.housekeeping().unwrap().history.is_empty());
    assert!(rows(&store.snapshot()).len() as u64 >= stored);

    let (folder, store, mut stored) =
        full(Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() });
    for round in 0..20 {
        for n in 0..20 {
            append_wide(&store, stored + n, &[5000 + round * 100 + n], 1000);
        }
        stored += 20;
        if round % 3 == 0 {
            store.seal().unwrap();
        }
        if round % 5 == 0 {
            store.append_sealed(&[Event { instant: 5000 + round * 100, bytes: &[b'x'; 500] }], None).unwrap();
            stored += 1;
        }
        accounted(&store, stored);
    }
    let housekeeping = store.housekeeping().unwrap();
    assert!(housekeeping.history.iter().all(|entry| entry.cause == Cause::FullMedium));
    assert!(went(&housekeeping) > 100);
    let left: Vec<Row> = rows(&store.snapshot());
    assert!(left.iter().all(|row| row.1 >= 900), "the oldest went");
    assert!(left.iter().any(|row| row.0 == stored - 1), "the latest stay");
    drop(store);
    accounted(&open(&folder, &large()).unwrap(), stored);
}

fn removing() -> Settings {
    Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() }
}

/// Appends one event after another until the medium has been full a few times over; each has to be taken.
fn append_past_the_room(store: &Store, room: u64) -> u64 {
    let stored = room / 50;
    for n in 0..stored {
        append_wide(store, n, &[n], 100);
        accounted(store, n + 1);
    }
    stored
}

/// The medium used to be full of a log, for which there was no room as a segment, and no other segment to go.
#[test]
fn a_store_without_segments_does_not_stand_still_on_a_full_medium() {
    for room in [20_000, 40_000, 90_000] {
        let folder = Simulated::new();
        folder.set_room(Some(room));
        let store = open(&folder, &Options { settings: Some(removing()), ..large() }).unwrap();
        let stored = append_past_the_room(&store, room);
        let left = rows(&store.snapshot());
        assert!(left.iter().map(|row| row.0).eq(stored - left.len() as u64..stored), "the oldest went");
        // Half of the least room is that for the next manifest.
        assert!(left.len() as u64 * 130 > (room - 10_000) / 3, "{} stay in {room} bytes", left.len());
        assert!(store.housekeeping().unwrap().history.iter().all(|entry| entry.cause == Cause::FullMedium));
        drop(store);
        let store = open(&folder, &large()).unwrap();
        accounted(&store, stored);
        append(&store, stored, &[stored]);
        assert_eq!(store.snapshot().verify().unwrap(), []);
    }
}

/// The system need not tell how much room there is: of a quota it does not.
#[test]
fn a_log_is_sealed_when_another_program_has_filled_the_medium() {
    for segments in [0, 1] {
        let folder = Simulated::new();
        let store = open(&folder, &Options { settings: Some(removing()), ..large() }).unwrap();
        let mut stored = 0;
        for _ in 0..segments {
            append_wide(&store, stored, &[stored; 20], 1000);
            store.seal().unwrap();
            stored += 20;
        }
        for _ in 0..20 {
            append_wide(&store, stored, &[stored], 1000);
            stored += 1;
        }
        // What is free is gone at once.
        folder.set_room(Some(folder.medium().bytes()));
        for _ in 0..50 {
            append_wide(&store, stored, &[stored], 1000);
            stored += 1;
            accounted(&store, stored);
        }
        let left = rows(&store.snapshot());
        assert!(left.iter().map(|row| row.0).eq(stored - left.len() as u64..stored), "the oldest went");
        assert!(left.len() > 15, "{} stay", left.len());
    }
}

/// The compaction of the same process used to hold the oldest segment while it read it, and so the append failed.
#[test]
fn a_compaction_in_the_background_keeps_no_append_from_making_room() {
    let folder = Simulated::new();
    folder.set_room(Some(60_000));
    let options = Options { settings: Some(removing()), background: true, ..large() };
    let store = open(&folder, &options).unwrap();
    for n in 0..2000 {
        append_wide(&store, n, &[n], 100);
        if n % 5 == 0 {
            store.seal().unwrap();
        }
    }
    drop(store);
    accounted(&open(&folder, &large()).unwrap(), 2000);
}

#[test]
fn erasing_needs_room_for_one_segment() {
    for when_full in [WhenFull::Fail, WhenFull::RemoveOldest] {
        let (folder, store, stored) = full(Settings { when_full, ..Settings::default() });
        let deleted: Vec<Key> =
            (0..10).map(|round| Key { instant: round * 100, arrival: round * 20 }).collect();
        folder.set_room(None);
        assert_eq!(store.delete(&deleted).unwrap().events, 10);
        let largest = store.snapshot().segments().iter().map(|segment| segment.file_bytes).max().unwrap();
        let manifests = 2 * 8192;
        folder.set_room(Some(folder.medium().bytes() + largest + manifests));
        let erased = store.erase().unwrap();
        assert_eq!(erased.receipt.unwrap().events, 10);
        assert_eq!(store.snapshot().events(), stored - 10);
        assert!(store.housekeeping().unwrap().history.iter().all(|entry| entry.cause == Cause::Deleted));
    }
}

#[test]
fn a_batch_that_no_room_is_large_enough_for_drives_nothing_out() {
    let folder = Simulated::new();
    folder.set_room(Some(60_000));
    let text = tamias_store::Layout::Text;
    let store = open(&folder, &Options { settings: Some(removing()), segments: text, ..large() }).unwrap();
    append_wide(&store, 0, &[1; 20], 1000);
    store.seal().unwrap();
    let document = vec![b'x'; 70_000];
    let error = store.append(&[Event { instant: 2, bytes: &document }]).unwrap_err();
    assert!(error.is_lack_of_room(), "{error}");
    assert_eq!((went(&store.housekeeping().unwrap()), store.snapshot().events()), (0, 20));
}

#[test]
fn on_a_full_medium_nothing_acknowledged_is_lost_whatever_interrupts_it() {
    let room = 20_000;
    let folder = Simulated::new();
    folder.set_room(Some(room));
    let store = open(&folder, &Options { settings: Some(removing()), ..large() }).unwrap();
    let mut acknowledged = Vec::new();
    for n in 0..220 {
        append_wide(&store, n, &[n], 100);
        acknowledged.push(folder.change_count());
    }
    let changes = folder.changes();
    let (mut medium, mut chance) = (Simulated::new().medium(), Chance(7));
    let begin = changes.len() * 3 / 4;
    for (at, change) in changes.iter().enumerate() {
        if at >= begin {
            let crash = Crash::ALL[at % Crash::ALL.len()];
            let left = Simulated::with(medium.after(crash, &mut chance));
            // Names that were not lost hold their room.
            left.set_room(Some(room.max(left.medium().bytes())));
            let store = open(&left, &large()).unwrap();
            let next = store.append(&[Event { instant: 1000, bytes: b"next" }]).unwrap().start;
            let least = acknowledged.iter().filter(|count| **count <= at).count() as u64;
            assert!(next >= least, "{crash:?} after {at} changes");
            accounted(&store, next + 1);
            assert_eq!(store.snapshot().verify().unwrap(), []);
        }
        medium.apply(change);
    }
}

#[test]
fn whichever_call_finds_no_room_the_store_goes_on_with_all_it_has_acknowledged() {
    for forever in [false, true] {
        for at in (0..400).step_by(3) {
            let folder = Simulated::new();
            folder.set_room(Some(20_000));
            let store = open(&folder, &Options { settings: Some(removing()), ..large() }).unwrap();
            let mut stored = 0;
            while stored < 150 {
                append_wide(&store, stored, &[stored], 100);
                stored += 1;
            }
            folder.fail(Some(Fault { at: folder.calls() + at, forever, kind: FaultKind::NoSpace }));
            for n in 0..20 {
                let document = format!("{n:0>100}");
                if let Ok(numbers) = store.append(&[Event { instant: 200, bytes: document.as_bytes() }]) {
                    assert_eq!(numbers.start, stored);
                    stored += 1;
                }
            }
            folder.fail(None);
            accounted(&store, stored);
            append(&store, stored, &[300]);
            drop(store);
            let store = open(&folder, &large()).unwrap();
            accounted(&store, stored + 1);
            assert_eq!(store.snapshot().verify().unwrap(), []);
        }
    }
}

#[test]
fn a_bounded_store_consists_of_several_segments() {
    let folder = Simulated::new();
    let store = open(&folder, &large()).unwrap();
    settled(&store, sized(48_000));
    for n in 0..1000 {
        append_wide(&store, n, &[n], 100);
        store.compact().unwrap();
    }
    accounted(&store, 1000);
    let segments = store.snapshot().segments().len();
    assert!(segments > 8, "{segments}");
    let usage = store.housekeeping().unwrap().usage;
    assert!(usage.bounded() > 40_000 && usage.logs < 6_000, "{usage:?}");
}

#[test]
fn an_import_makes_room_on_a_full_medium_if_so_set() {
    let folder = Simulated::new();
    let settings = Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() };
    let store = open(&folder, &Options { settings: Some(settings), ..large() }).unwrap();
    let mut import = store.import().unwrap();
    let documents: Vec<Vec<u8>> = (0..400).map(|n| format!("{n:0>1000}").into_bytes()).collect();
    for part in 0..20 {
        let events = (part * 20..part * 20 + 20)
            .map(|n| (Key { instant: n, arrival: n }, documents[n as usize].as_slice()));
        import.append(&events.collect::<Vec<_>>()).unwrap();
        if part == 9 {
            folder.set_room(Some(folder.medium().bytes() + 300));
        }
    }
    let went = went(&store.housekeeping().unwrap());
    let left = rows(&store.snapshot());
    assert!(went > 100 && left.iter().map(|row| row.0).eq(went..400), "{went} went");
}

#[test]
fn a_killed_process_or_a_loss_of_power_on_a_full_medium_leaves_a_store_that_opens() {
    let settings = Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() };
    let (folder, store, stored) = full(settings);
    folder.set_room(None);
    for n in 0..30 {
        append(&store, stored + n, &[9000 + n]);
    }
    // A killed process leaves a log that takes no room.
    let killed = Simulated::with(folder.medium());
    killed.set_room(Some(killed.medium().bytes() + 100));
    let next = open(&killed, &tiny()).unwrap();
    assert_eq!((next.snapshot().events(), went(&next.housekeeping().unwrap())), (stored + 30, 0));
    // After a loss of power the log has to be copied. The reserve has the room; where it is lost there is none for the copy.
    for is_lost in [false, true] {
        let left = Simulated::with(folder.medium().after(Crash::Everything, &mut Chance(1)));
        if is_lost {
            left.remove("reserve").unwrap();
        }
        left.set_room(Some(left.medium().bytes() + 100));
        let store = open(&left, &tiny()).unwrap();
        accounted(&store, stored + 30);
        assert_eq!(went(&store.housekeeping().unwrap()) > 0, is_lost);
        append(&store, stored + 30, &[9999]);
    }
}

#[test]
fn what_a_reader_holds_makes_no_room_and_nothing_more_goes_for_it() {
    let settings = Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() };
    let (folder, store, stored) = full(settings);
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    let held = reader.snapshot().unwrap();
    let refused =
        (0..30).any(|n| store.append(&[Event { instant: 5000 + n, bytes: &[b'x'; 1000] }]).is_err());
    assert!(refused);
    assert!(went(&store.housekeeping().unwrap()) <= 20, "one segment at most");
    assert_eq!(rows(&held).len() as u64, stored);
    drop((held, reader));
    // With room for a manifest there is room for everything.
    folder.set_room(Some(folder.medium().bytes() + 3000));
    store.append(&[Event { instant: 6000, bytes: &[b'x'; 15_000] }]).unwrap();
    assert!(went(&store.housekeeping().unwrap()) >= 20);
}

#[test]
fn segments_with_a_second_name_make_no_room_and_stay() {
    let settings = Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() };
    let (folder, store, stored) = full(settings);
    // As a backup beside it has them.
    folder.set_room(None);
    let is_segment = |name: &String| name.ends_with(".segment");
    for name in folder.list().unwrap().into_iter().filter(is_segment) {
        folder.link(&name, &format!("{name}.backup")).unwrap();
    }
    folder.set_room(Some(folder.medium().bytes() + 300));
    let refused =
        (0..30).any(|n| store.append(&[Event { instant: 5000 + n, bytes: &[b'x'; 1000] }]).is_err());
    assert!(refused);
    assert_eq!(went(&store.housekeeping().unwrap()), 0);
    assert!(rows(&store.snapshot()).len() as u64 >= stored);
    // Opening wants to copy the log.
    let left = Simulated::with(folder.medium());
    left.set_room(Some(left.medium().bytes() + 100));
    drop(open(&left, &tiny()));
    left.set_room(None);
    assert_eq!(went(&open(&left, &tiny()).unwrap().housekeeping().unwrap()), 0);
}

#[test]
fn a_limit_of_a_files_length_takes_nothing_out() {
    let settings = Settings { when_full: WhenFull::RemoveOldest, ..Settings::default() };
    let (folder, store, stored) = full(settings);
    folder.set_room(None);
    append(&store, stored, &[4999]);
    let medium = folder.medium();
    let names = folder.list().unwrap().into_iter().filter(|name| name.ends_with(".log"));
    let logs: Vec<usize> = names.filter_map(|name| medium.find(&name)).collect();
    folder.refuse(move |change| {
        let is_log = matches!(change, Change::Write(file, ..) if logs.contains(file));
        is_log.then_some(std::io::ErrorKind::FileTooLarge)
    });
    let error = store.append(&[Event { instant: 5000, bytes: &[b'x'; 1000] }]).unwrap_err();
    assert!(error.is_lack_of_room(), "{error}");
    assert_eq!(went(&store.housekeeping().unwrap()), 0);
    assert_eq!(rows(&store.snapshot()).len() as u64, stored + 1);
}

#[test]
fn each_byte_that_is_written_is_counted() {
    let folder = Simulated::new();
    let mut appended = 0;
    for round in 0..20 {
        if round % 3 == 2 {
            // What another process has left has a manifest published, though the log is gone on with.
            folder.create("00000000000000f0.segment.tmp").unwrap();
        }
        let store = open(&folder, &tiny()).unwrap();
        append(&store, round * 5, &[round; 5]);
        appended += 5 * 61;
        assert_eq!(store.housekeeping().unwrap().traffic.appended, appended);
        let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
        let (read, known) = (reader.housekeeping().unwrap().traffic, store.housekeeping().unwrap().traffic);
        assert_eq!(read, known, "round {round}");
        match round % 5 {
            0 => store.seal().unwrap(),
            1 => {
                store.append_sealed(&[Event { instant: 1, bytes: b"bulk" }], None).unwrap();
                store.remove(Retention { before: Some(1), file_bytes_max: None }, false).unwrap();
                appended += 5;
                drop(store);
                break;
            }
            _ => {}
        }
    }
    let store = open(&folder, &tiny()).unwrap();
    store.compact().unwrap();
    let Traffic { appended: counted, logs, sealed, rewritten, manifests } =
        store.housekeeping().unwrap().traffic;
    assert_eq!(counted, appended);
    let mut written = std::collections::BTreeMap::<&str, u64>::new();
    let mut names: Vec<String> = Vec::new();
    for change in folder.changes() {
        use tamias_store::io::Change;
        match change {
            Change::Create(name) => names.push(name),
            Change::Write(file, _, bytes) => {
                let name = &names[file];
                let kind = ["log", "segment", "manifest"].into_iter().find(|kind| name.contains(kind));
                *written.entry(kind.unwrap_or("other")).or_default() += bytes.len() as u64;
            }
            Change::SetLength(..)
            | Change::Flush(..)
            | Change::Rename(..)
            | Change::Link(..)
            | Change::Remove(_)
            | Change::FlushFolder(..) => {}
        }
    }
    assert_eq!((logs, sealed + rewritten), (written["log"], written["segment"]));
    assert_eq!(manifests, written["manifest"]);
}

#[test]
fn files_of_nobody_drive_no_segment_out() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for first in (0..50).step_by(10) {
        append(&store, first, &[100; 10]);
        store.seal().unwrap();
    }
    for name in ["00000000000fffff.manifest", "00000000000fffff.segment.tmp"] {
        folder.create(name).unwrap().write_at(0, &vec![b'x'; 1 << 20]).unwrap();
    }
    settled(&store, sized(1 << 19));
    let housekeeping = store.housekeeping().unwrap();
    assert_eq!((went(&housekeeping), housekeeping.usage.unnamed), (0, 2 << 20));
    // The bound holds for its own files.
    settled(&store, sized(1));
    assert_eq!(went(&store.housekeeping().unwrap()), 40);
}

/// Fills a medium with what `fill` appends, as long as the store takes it; how many events it took.
fn fill_up(store: &Store, first: u64, width: usize) -> u64 {
    let mut stored = first;
    loop {
        let document = format!("{stored:0>width$}");
        match store.append(&[Event { instant: stored, bytes: document.as_bytes() }]) {
            Ok(_) => stored += 1,
            Err(error) if error.is_lack_of_room() => return stored,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Whoever sees a full medium, and only then says that the oldest events may go, is to have a store that goes on.
#[test]
fn settings_that_come_once_the_medium_is_full_lead_to_retention() {
    for (segments, running) in [(3, true), (3, false), (1, true), (1, false)] {
        let folder = Simulated::new();
        let store = open(&folder, &large()).unwrap();
        let mut stored = 0;
        for _ in 0..segments {
            append_wide(&store, stored, &(stored..stored + 20).collect::<Vec<_>>(), 1000);
            stored += 20;
            store.seal().unwrap();
        }
        folder.set_room(Some(folder.medium().bytes() + 12_000));
        stored = fill_up(&store, stored, 500);
        let (folder, store) = if running {
            store.set_settings(removing()).unwrap();
            (folder, store)
        } else {
            // The process was killed, and the system restarted: opening copies the log.
            let left = Simulated::with(folder.medium().after(Crash::Everything, &mut Chance(1)));
            left.set_room(Some(left.medium().bytes()));
            let options = Options { settings: Some(removing()), ..large() };
            let store = open(&left, &options).unwrap_or_else(|error| panic!("{segments} segments: {error}"));
            (left, store)
        };
        assert_eq!(store.settings(), removing());
        for _ in 0..60 {
            append_wide(&store, stored, &[stored], 500);
            stored += 1;
            accounted(&store, stored);
        }
        let left = rows(&store.snapshot());
        assert!(left.iter().map(|row| row.0).eq(stored - left.len() as u64..stored), "the oldest went");
        drop(store);
        accounted(&open(&folder, &large()).unwrap(), stored);
    }
}

/// A log takes more room than the segment that it becomes, and older segments went for it: whether it was sealed was judged by the bound before.
#[test]
fn a_log_is_sealed_before_segments_go_for_it() {
    let left = |is_sealed_first: bool| {
        let folder = Simulated::new();
        let store = open(&folder, &Options { segment_bytes: 1 << 20, ..tiny() }).unwrap();
        let mut stored = 0;
        for _ in 0..5 {
            append_wide(&store, stored, &[stored; 50], 100);
            stored += 50;
            store.seal().unwrap();
        }
        // Of single events a log has more than of documents.
        for _ in 0..100 {
            append_wide(&store, stored, &[stored], 100);
            stored += 1;
        }
        if is_sealed_first {
            store.seal().unwrap();
        }
        settled(&store, sized(40_000));
        accounted(&store, stored);
        store.snapshot().events()
    };
    assert_eq!(left(false), left(true));
    assert!(left(true) < 350, "some have to go");
}
