//! A loss of power after any change of the medium, with any part of what was not flushed surviving: nothing acknowledged is lost, no
//! batch is stored by half, and opening leads to the same events however often it is interrupted itself.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use support::{History, LAYOUT, Row, faulty, open, rows, tiny};
use tamias_store::io::{Chance, Change, Crash, FaultKind, Medium, Simulated};
use tamias_store::{Durability, Event, Layout};

/// How many images are opened, in thousands, half as many again after failed flushes, and a quarter with several threads; the environment variable TAMIAS_CRASH_IMAGES sets another number.
const THOUSANDS: usize = match LAYOUT {
    Layout::Text => 100,
    Layout::Columns => 50,
};

fn budget() -> usize {
    let set = std::env::var("TAMIAS_CRASH_IMAGES").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(THOUSANDS) * 1000
}

struct Check<'a> {
    history: &'a History,
    images: usize,
    /// Of how many killed processes the next one took over the log.
    resumed: usize,
    chance: Chance,
}

impl Check<'_> {
    /// Every change of the history; every kind of crash, or one of them by chance.
    fn all(&mut self, every_kind: bool) {
        let mut medium = Medium::default();
        let changes = self.history.folder.changes();
        for at in 0..=changes.len() {
            let chosen = Crash::ALL[self.chance.below(8)];
            for crash in Crash::ALL.into_iter().filter(|crash| every_kind || *crash == chosen) {
                let left = medium.after(crash, &mut self.chance);
                self.image(&left, at);
            }
            self.killed(&medium, at);
            if let Some(change) = changes.get(at) {
                medium.apply(change);
            }
        }
    }

    fn image(&mut self, left: &Medium, at: usize) {
        self.images += 1;
        if self.images.is_multiple_of(16) {
            self.history.check_reader(left, at);
        }
        let folder = Simulated::with(left.clone());
        let shown = self.history.check(&folder, at);
        // The store works on, and what it acknowledges now survives as well.
        if self.images.is_multiple_of(8) {
            let store = open(&folder, &self.history.options).unwrap();
            store.append(&[Event { instant: 1, bytes: b"after" }]).unwrap();
            drop(store);
            let left = folder.medium().after(Crash::ALL[self.chance.below(8)], &mut self.chance);
            let store = open(&Simulated::with(left), &self.history.options).unwrap();
            assert_eq!(store.snapshot().events(), shown.len() as u64 + 1);
        }
        if self.images % 32 == 1 {
            self.again(left, &shown, 1);
        }
    }

    /// The process is killed there: the next one finds everything that was written, durable or not. What it shows is durable from then on, and so is what it appends to the log that was left.
    fn killed(&mut self, medium: &Medium, at: usize) {
        self.images += 1;
        let folder = Simulated::with(medium.clone());
        let store = open(&folder, &self.history.options).unwrap();
        let shown = rows(&store.snapshot());
        self.history.check_rows(&shown, at);
        let has_copied =
            |change: &Change| matches!(change, Change::Create(name) if name.ends_with(".log.tmp"));
        self.resumed += usize::from(!shown.is_empty() && !folder.changes().iter().any(has_copied));
        let left = folder.medium().after(Crash::ALL[self.chance.below(8)], &mut self.chance);
        let durable = rows(&open(&Simulated::with(left), &self.history.options).unwrap().snapshot());
        assert!(durable == shown, "what is shown is durable");
        store.append(&[Event { instant: 1, bytes: b"after" }]).unwrap();
        let left = folder.medium().after(Crash::ALL[self.chance.below(8)], &mut self.chance);
        let store = open(&Simulated::with(left), &self.history.options).unwrap();
        assert_eq!(store.snapshot().events(), shown.len() as u64 + 1);
        if self.images % 16 == 1 {
            self.killed_again(medium, &shown, at);
        }
    }

    /// The next process is interrupted as it opens what a killed one has left: by its own death nothing changes, by a loss of power nothing acknowledged is lost.
    fn killed_again(&mut self, medium: &Medium, shown: &[Row], at: usize) {
        let folder = Simulated::with(medium.clone());
        drop(open(&folder, &self.history.options).unwrap());
        let mut medium = medium.clone();
        for change in folder.changes() {
            self.images += 2;
            let killed =
                rows(&open(&Simulated::with(medium.clone()), &self.history.options).unwrap().snapshot());
            assert!(killed == shown, "opening again comes to the same events");
            let left = medium.after(Crash::ALL[self.chance.below(8)], &mut self.chance);
            self.history.check(&Simulated::with(left), at);
            medium.apply(&change);
        }
    }

    /// Opening is itself interrupted, three deep: it must come to the same events. Once it has returned they are durable.
    fn again(&mut self, left: &Medium, shown: &[Row], depth: usize) {
        let folder = Simulated::with(left.clone());
        drop(open(&folder, &self.history.options).unwrap());
        let changes = folder.changes();
        let mut medium = left.clone();
        for number in 0..=changes.len() {
            // At the first depth after each change; deeper after some.
            if depth == 1 || number == changes.len() || self.chance.below(4) == 0 {
                let crash = Crash::ALL[self.chance.below(8)];
                let left = medium.after(crash, &mut self.chance);
                self.images += 1;
                let store = open(&Simulated::with(left.clone()), &self.history.options).unwrap();
                assert_eq!(rows(&store.snapshot()), shown, "opening again comes to the same events");
                drop(store);
                if depth < 3 && self.chance.below(4) == 0 {
                    self.again(&left, shown, depth + 1);
                }
            }
            if let Some(change) = changes.get(number) {
                medium.apply(change);
            }
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost() {
    let (mut images, mut resumed) = (0, 0);
    let mut workloads = 0;
    while images < budget() {
        workloads += 1;
        let history = History::run(Simulated::new(), &tiny(), 30, &mut Chance(workloads));
        let mut check = Check { history: &history, images: 0, resumed: 0, chance: Chance(workloads) };
        check.all(true);
        images += check.images;
        resumed += check.resumed;
    }
    assert!(resumed > workloads as usize, "logs are taken over: {resumed}");
    println!("{images} images of {workloads} workloads, {resumed} logs taken over");
}

#[test]
fn nothing_acknowledged_is_lost_after_a_failed_flush() {
    let (mut images, mut resumed) = (0, 0);
    let mut workloads = 0;
    while images < budget() / 2 {
        workloads += 1;
        // Most calls are no flushes, but a failure of any of them must do no harm.
        let history = faulty(FaultKind::Device, workloads * 7 % 300, false, Durability::Sync, workloads);
        let mut check = Check { history: &history, images: 0, resumed: 0, chance: Chance(workloads) };
        check.all(false);
        images += check.images;
        resumed += check.resumed;
    }
    assert!(resumed > workloads as usize, "logs are taken over: {resumed}");
    println!("{images} images of {workloads} workloads, {resumed} logs taken over");
}

#[test]
fn nothing_acknowledged_is_lost_with_several_threads() {
    let (mut images, mut resumed) = (0, 0);
    let mut workloads = 0;
    while images < budget() / 4 {
        workloads += 1;
        let history = History::run_threads(&tiny(), 4, 10, workloads);
        let mut check = Check { history: &history, images: 0, resumed: 0, chance: Chance(workloads) };
        check.all(false);
        images += check.images;
        resumed += check.resumed;
    }
    assert!(resumed > workloads as usize, "logs are taken over: {resumed}");
    println!("{images} images of {workloads} workloads, {resumed} logs taken over");
}
