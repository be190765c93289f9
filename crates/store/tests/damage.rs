//! Stores whose files were altered: each change is found or does no harm, no answer is wrong, and what is whole stays readable.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;

use support::{Row, open, rows, tiny, try_rows};
use tamias_store::io::{Chance, Change, Directory, Medium, Simulated};
use tamias_store::{
    Damage, Direction, Event, OpenError, Options, ReadError, ReadMode, Reader, Repair, Snapshot, Store,
};

/// Two segments of several blocks, and a log of three batches.
fn small_store() -> (Medium, Vec<Row>) {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    let append = |first: u64, count: u64| {
        let documents: Vec<String> = (first..first + count).map(|n| format!("{{\"n\":{n}}}")).collect();
        let events: Vec<Event<'_>> = documents
            .iter()
            .zip(first..)
            .map(|(document, n)| Event { instant: 100 + (n * 7) % 40, bytes: document.as_bytes() })
            .collect();
        store.append(&events).unwrap();
    };
    append(0, 25);
    store.seal().unwrap();
    append(25, 14);
    store.seal().unwrap();
    append(39, 2);
    append(41, 3);
    append(44, 1);
    let expected = rows(&store.snapshot());
    drop(store);
    // What was copied when opening is protected in the same way.
    drop(open(&folder, &tiny()).unwrap());
    (folder.medium(), expected)
}

/// The medium with one file altered.
fn altered(medium: &Medium, name: &str, alter: impl FnOnce(&mut Vec<u8>)) -> Simulated {
    let mut medium = medium.clone();
    let file = medium.find(name).unwrap();
    let mut bytes = medium.contents(file).to_vec();
    alter(&mut bytes);
    medium.apply(&Change::SetLength(file, 0));
    medium.apply(&Change::Write(file, 0, bytes.into()));
    Simulated::with(medium)
}

fn names(medium: &Medium) -> Vec<String> {
    medium.names().filter(|name| name.contains('.')).cloned().collect()
}

/// What is left when damaged blocks are left out, and what was left out.
fn skipping(snapshot: &Snapshot, direction: Direction) -> Result<(Vec<Row>, Vec<Damage>), ReadError> {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    let mut groups = snapshot.groups(0..=u64::MAX, direction).skip_damaged();
    for group in &mut groups {
        for block in group? {
            match block.times().and_then(|_| block.documents()) {
                Err(ReadError::Damaged(damage)) => {
                    left_out.push(damage);
                    continue;
                }
                read => drop(read?),
            }
            for index in 0..block.len() {
                let key = block.key(index).unwrap().unwrap();
                rows.push((key.arrival, key.instant, block.document(index)?.unwrap().to_vec()));
            }
        }
    }
    rows.sort();
    left_out.extend_from_slice(groups.left_out());
    left_out.sort_by_key(|damage| (damage.file.clone(), damage.bytes.start));
    Ok((rows, left_out))
}

/// Checks every way of reading a store that was altered at one place; says whether the damage was found. If not, there are as many
/// rows as one of `lengths` says: what is cut off a log at its end is the same as never acknowledged.
fn check(folder: &Simulated, expected: &[Row], lengths: &[usize], place: &str) -> bool {
    let harmless = |rows: &[Row]| rows == &expected[..rows.len()] && lengths.contains(&rows.len());
    let mut found = false;
    let mut judge = |snapshot: Result<Snapshot, OpenError>| {
        let Ok(snapshot) = snapshot else {
            found = true;
            return;
        };
        match try_rows(&snapshot) {
            Ok(rows) => assert!(harmless(&rows), "{place}: a wrong answer of {} rows", rows.len()),
            Err(ReadError::Damaged(damage)) => {
                found = true;
                assert!(damage.to_string().contains(place), "{damage} names {place}");
                let (rows, left_out) = skipping(&snapshot, Direction::Ascending).unwrap();
                assert!(left_out.contains(&damage));
                assert!(rows.iter().all(|row| expected.contains(row)), "{place}: only what was stored");
                let lost: u64 = left_out.iter().map(|damage| damage.events.unwrap_or(0)).sum();
                let missing: Vec<&Row> = expected.iter().filter(|row| !rows.contains(row)).collect();
                if left_out.iter().all(|damage| damage.events.is_some()) {
                    assert_eq!(missing.len() as u64, lost, "{place}: all that is missing is named");
                }
                for row in missing {
                    let within = |damage: &Damage| {
                        damage
                            .keys
                            .is_none_or(|(first, last)| (first.instant..=last.instant).contains(&row.1))
                    };
                    assert!(left_out.iter().any(within), "{place}: the time of what is missing is named");
                }
                assert_eq!(skipping(&snapshot, Direction::Descending).unwrap().0, rows);
            }
            Err(error) => panic!("{place}: {error}"),
        }
    };
    for read_mode in [ReadMode::Map, ReadMode::Plain] {
        let options = Options { read_mode, ..tiny() };
        let again = Simulated::with(folder.medium());
        judge(
            Reader::open_on(Arc::new(again.clone()), options.clone(), support::codec())
                .and_then(|reader| reader.snapshot()),
        );
        let store = Store::open_on(Arc::new(again), options, support::codec());
        judge(store.map(|store| store.snapshot()));
    }
    // What is damaged stays so, and new events are taken all the same.
    if found && let Ok(store) = open(folder, &tiny()) {
        let before = skipping(&store.snapshot(), Direction::Ascending).unwrap();
        store.append(&[Event { instant: 1, bytes: b"new" }]).unwrap();
        store.seal().unwrap();
        drop(store);
        let store = open(folder, &tiny()).unwrap();
        let after = skipping(&store.snapshot(), Direction::Ascending).unwrap();
        assert_eq!(after.0.len(), before.0.len() + 1, "{place}");
        assert_eq!(after.1, before.1, "{place}");
        drop(store);
        // Repaired it is sound, and holds at least what could be read before.
        let repaired =
            Repair::run_on(Arc::new(folder.clone()), &tiny(), support::codec(), false, &mut |_, _| ())
                .unwrap();
        let store = open(folder, &tiny()).unwrap();
        assert_eq!(store.snapshot().verify().unwrap(), [], "{place}");
        let sound = rows(&store.snapshot());
        assert_eq!(sound.len() as u64, repaired.events, "{place}");
        assert!(after.0.iter().all(|row| sound.contains(row)), "{place}");
        assert!(sound.iter().all(|row| row.2 == b"new" || expected.contains(row)), "{place}");
    }
    found
}

#[test]
fn each_flipped_bit_is_found_or_harmless() {
    let (medium, expected) = small_store();
    let (mut flips, mut found) = (0, 0);
    for name in names(&medium) {
        let length = medium.contents(medium.find(&name).unwrap()).len();
        for bit in 0..length * 8 {
            let folder = altered(&medium, &name, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
            flips += 1;
            let lengths: &[usize] = if name.ends_with(".log") { &[44, 45] } else { &[45] };
            found += usize::from(check(&folder, &expected, lengths, &name));
        }
    }
    println!("{found} of {flips} flipped bits found, the others harmless");
}

#[test]
fn each_cut_is_found_or_harmless() {
    let (medium, expected) = small_store();
    for name in names(&medium) {
        let length = medium.contents(medium.find(&name).unwrap()).len();
        for left in 0..length {
            // A log cut behind its header has fewer batches; the zeros at its end do not matter.
            let folder = altered(&medium, &name, |bytes| bytes.truncate(left));
            // What stands behind a segment's index is in the manifest as well.
            let lengths: &[usize] = if name.ends_with(".log") { &[39, 41, 44, 45] } else { &[45] };
            check(&folder, &expected, lengths, &name);
        }
        let folder = altered(&medium, &name, |bytes| bytes.extend_from_slice(&[0; 100]));
        check(&folder, &expected, &[45], &name);
    }
}

#[test]
fn missing_and_exchanged_files_are_found() {
    let (medium, expected) = small_store();
    for name in names(&medium) {
        let folder = Simulated::with(medium.clone());
        folder.remove(&name).unwrap();
        check(&folder, &expected, &[], &name);
        for other in names(&medium) {
            let bytes = medium.contents(medium.find(&other).unwrap()).to_vec();
            let folder = altered(&medium, &name, |contents| *contents = bytes);
            check(&folder, &expected, if name == other { &[45] } else { &[] }, &name);
        }
    }
}

#[test]
fn many_alterations_at_once_do_no_harm_to_the_process() {
    let (medium, _) = small_store();
    let names = names(&medium);
    let mut chance = Chance(1);
    for _ in 0..20_000 {
        let mut folder = Simulated::with(medium.clone());
        for _ in 0..1 + chance.below(4) {
            let name = &names[chance.below(names.len())];
            folder = altered(&folder.medium(), name, |bytes| match chance.below(4) {
                0 => bytes.truncate(chance.below(bytes.len() + 1)),
                1 => {
                    let from = chance.below(bytes.len() + 1);
                    let piece = bytes[from..bytes.len().min(from + 100)].to_vec();
                    let to = chance.below(bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
                _ => {
                    for _ in 0..chance.below(8) {
                        if !bytes.is_empty() {
                            let at = chance.below(bytes.len());
                            bytes[at] = chance.below(256) as u8;
                        }
                    }
                }
            });
        }
        if let Ok(reader) = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()) {
            let _ = reader.snapshot().map(|snapshot| skipping(&snapshot, Direction::Descending));
        }
        if let Ok(store) = open(&folder, &tiny()) {
            let _ = try_rows(&store.snapshot());
            let _ = store.append(&[Event { instant: 1, bytes: b"new" }]);
            let _ = store.seal();
        }
    }
}

#[test]
fn damage_in_the_middle_of_a_log_is_told_in_full() {
    let (medium, expected) = small_store();
    let log = names(&medium).into_iter().find(|name| name.ends_with(".log")).unwrap();
    let file = medium.find(&log).unwrap();
    let at = medium.contents(file).windows(8).position(|bytes| bytes == b"{\"n\":41}").unwrap();
    let folder = altered(&medium, &log, |bytes| bytes[at + 5] = b'9');
    let store = open(&folder, &tiny()).unwrap();
    let error = try_rows(&store.snapshot()).unwrap_err();
    let expected_text = format!(
        "simulated/{log} is damaged at bytes 208 to 328: a batch in it is not whole, though a later one says it \
         was flushed; 3 events are lost of unknown times"
    );
    assert_eq!(error.to_string(), expected_text);
    let (rows, _) = skipping(&store.snapshot(), Direction::Ascending).unwrap();
    let left: Vec<Row> = expected.iter().filter(|row| !(41..44).contains(&row.0)).cloned().collect();
    assert_eq!(rows, left);
    assert_eq!(store.snapshot().damage().len(), 1);
}
