//! Calls of the operating system that fail, each of them once and for ever: an error, never a loss, never half a batch.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use support::{faulty, open, rows, tiny};
use tamias_store::io::{Chance, Crash, Fault, FaultKind, Simulated};
use tamias_store::{AppendError, Durability, Event, Options, Store};

/// More calls than the workload makes: later faults do not happen.
const CALLS: u64 = 400;

#[test]
fn any_call_may_fail() {
    let kinds = [FaultKind::Device, FaultKind::NoSpace, FaultKind::Short, FaultKind::Interrupted];
    for kind in kinds {
        for at in 0..CALLS {
            for forever in [false, true] {
                let history = faulty(kind, at, forever, Durability::Sync, at);
                history.folder.fail(None);
                if matches!(kind, FaultKind::Short | FaultKind::Interrupted) {
                    let stored = history.attempts.iter().all(|attempt| attempt.acknowledged.is_some());
                    assert!(stored, "{kind:?} at call {at} is no failure");
                }
                let changes = history.folder.change_count();
                // A restarted process, then one after a loss of power.
                let shown = history.check(&history.folder, changes);
                let left = history.folder.medium().after(Crash::Nothing, &mut Chance(at));
                assert_eq!(history.check(&Simulated::with(left), usize::MAX), shown);
            }
        }
    }
}

#[test]
fn weaker_durability_loses_the_latest_batches_only() {
    for durability in [Durability::None, Durability::Interval(std::time::Duration::from_secs(3600))] {
        for seed in 0..20 {
            let history = faulty(FaultKind::Device, u64::MAX, false, durability, seed);
            let mut medium = tamias_store::io::Medium::default();
            let mut chance = Chance(seed);
            for change in history.folder.changes() {
                for crash in Crash::ALL {
                    let left = medium.after(crash, &mut chance);
                    let store = open(&Simulated::with(left), &tiny()).unwrap();
                    // Whole batches without gaps: everything but that nothing is lost.
                    let mut lenient = history.clone();
                    lenient.attempts.iter_mut().for_each(|attempt| attempt.acknowledged = None);
                    lenient.check_rows(&rows(&store.snapshot()), usize::MAX);
                }
                medium.apply(&change);
            }
            // Closing the store flushed it.
            let left = medium.after(Crash::Nothing, &mut chance);
            history.check(&Simulated::with(left), usize::MAX);
        }
    }
}

fn event(bytes: &[u8]) -> [Event<'_>; 1] {
    [Event { instant: 7, bytes }]
}

#[test]
fn a_full_disk_refuses_events_until_there_is_room() {
    for sealed in [false, true] {
        for at in 0..30 {
            let folder = Simulated::new();
            let store = open(&folder, &tiny()).unwrap();
            if at % 2 == 0 {
                store.append(&event(b"before")).unwrap();
            }
            let before = store.snapshot().events();
            folder.fail(Some(Fault { at: folder.calls() + at, forever: true, kind: FaultKind::NoSpace }));
            let document = vec![b'x'; 900];
            let append = |store: &Store| match sealed {
                true => store.append_sealed(&event(&document), None),
                false => store.append(&event(&document)),
            };
            let mut stored = before;
            for _ in 0..10 {
                match append(&store) {
                    Ok(_) => stored += 1,
                    Err(AppendError::Failure(failure)) => assert!(failure.to_string().contains("space")),
                    // A renaming that failed may have happened.
                    Err(AppendError::Poisoned(failure)) => {
                        assert_eq!(failure.operation, tamias_store::Operation::Rename);
                    }
                    Err(error) => panic!("{error}"),
                }
                assert_eq!(store.snapshot().events(), stored);
            }
            folder.fail(None);
            let works = append(&store);
            match works {
                // The numbers of batches that could not be sealed stay unused.
                Ok(arrivals) if sealed => {
                    assert!(arrivals.start >= stored && arrivals.end == arrivals.start + 1)
                }
                Ok(arrivals) => assert_eq!(arrivals, stored..stored + 1),
                Err(error) => assert!(matches!(error, AppendError::Poisoned(_)), "{error}"),
            }
            stored = store.snapshot().events();
            drop(store);
            assert_eq!(open(&folder, &tiny()).unwrap().snapshot().events(), stored);
        }
    }
}

#[test]
fn after_a_failed_flush_nothing_is_taken_any_more() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    store.append(&event(b"kept")).unwrap();
    // The write is the first call of an append, the flush the second.
    folder.fail(Some(Fault { at: folder.calls() + 1, forever: false, kind: FaultKind::Device }));
    let failed = store.append(&event(b"lost")).unwrap_err();
    assert_eq!(
        failed.to_string(),
        "cannot flush simulated/0000000000000001.log: simulated failure of the device"
    );
    let refused = store.append(&event(b"later")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the store takes no more events since an earlier failure: cannot flush simulated/0000000000000001.log: \
         simulated failure of the device; open it again"
    );
    assert!(
        store.seal().is_err() && store.flush().is_err() && store.append_sealed(&event(b"x"), None).is_err()
    );
    assert_eq!(store.snapshot().events(), 1, "reading goes on");
}

#[test]
fn threads_share_a_flush() {
    const THREADS: usize = 8;
    const EACH: usize = 50;
    let folder = Simulated::new();
    let store = open(&folder, &Options::default()).unwrap();
    store.append(&event(b"first")).unwrap();
    let finished = Arc::new(AtomicUsize::new(0));
    // Each flush is held until every thread has written a batch that no earlier flush covered, or appends no more.
    let hold = {
        let (folder, store, finished) = (folder.clone(), store.clone(), Arc::clone(&finished));
        let (before, flushes) = (folder.change_count(), AtomicUsize::new(0));
        move || {
            let flushes = flushes.fetch_add(1, SeqCst);
            let covered = store.snapshot().events() as usize - 1;
            while folder.change_count() - before - flushes - covered < THREADS - finished.load(SeqCst) {
                std::thread::yield_now();
            }
        }
    };
    folder.before_flush(hold);
    let before = store.flush_stats().log_flushes;
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    store.append(&event(b"shared")).unwrap();
                }
                finished.fetch_add(1, SeqCst);
            });
        }
    });
    folder.before_flush(|| ());
    let flushes = store.flush_stats().log_flushes - before;
    assert!(flushes as usize <= THREADS * EACH / 4, "{flushes} flushes for {} appends", THREADS * EACH);
    assert_eq!(store.snapshot().events() as usize, THREADS * EACH + 1);
}

#[test]
fn an_interval_passes_and_what_was_appended_is_flushed() {
    let folder = Simulated::new();
    let options = Options { durability: Durability::Interval(std::time::Duration::from_millis(5)), ..tiny() };
    let store = open(&folder, &options).unwrap();
    store.append(&event(b"soon")).unwrap();
    assert_eq!(store.snapshot().events(), 1);
    let begun = std::time::Instant::now();
    while store.flush_stats().log_flushes == 0 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let left = Simulated::with(folder.medium().after(Crash::Nothing, &mut Chance(1)));
    assert_eq!(open(&left, &tiny()).unwrap().snapshot().events(), 1);
}

/// It used to be promised that a batch is not stored whose append has failed; after a failed flush it is in the log whole.
#[test]
fn a_batch_is_not_stored_after_an_error_unless_that_is_said_to_be_unknown() {
    let (mut shown, mut refused) = (0, 0);
    for kind in [FaultKind::Device, FaultKind::NoSpace] {
        for (at, sealed) in (0..60).flat_map(|at| [(at, false), (at, true)]) {
            let folder = Simulated::new();
            let store = open(&folder, &tiny()).unwrap();
            store.append(&[Event { instant: 1, bytes: b"before" }]).unwrap();
            folder.fail(Some(Fault { at: folder.calls() + at, forever: false, kind }));
            let batch = [Event { instant: 2, bytes: b"doubtful" }];
            let result = if sealed { store.append_sealed(&batch, None) } else { store.append(&batch) };
            folder.fail(None);
            let Err(error) = result else { continue };
            drop(store);
            let is_stored = rows(&open(&folder, &tiny()).unwrap().snapshot()).len() == 2;
            assert!(error.is_unknown() || !is_stored, "{error}");
            shown += u32::from(is_stored);
            refused += u32::from(!error.is_unknown());
        }
    }
    assert!(shown > 0 && refused > 0, "{shown} shown, {refused} refused");
}
