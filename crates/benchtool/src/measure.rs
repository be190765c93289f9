//! The time of a run, and what several runs of one thing say: the percentile and its distance to the extremes.

use std::time::{Duration, Instant};

use crate::cli::Clock;

/// A run that is being timed.
pub(crate) enum Stopwatch {
    Wall(Instant),
    /// What the process had used of the processors when the run began.
    #[cfg(unix)]
    Processor(Duration),
}

impl Stopwatch {
    pub(crate) fn start(clock: Clock) -> Stopwatch {
        match clock {
            Clock::Wall => Stopwatch::Wall(Instant::now()),
            #[cfg(unix)]
            Clock::Processor => Stopwatch::Processor(processor_time()),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        match self {
            Stopwatch::Wall(started) => started.elapsed(),
            #[cfg(unix)]
            Stopwatch::Processor(before) => processor_time().saturating_sub(*before),
        }
    }
}

#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The durations of at least one run, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Durations(Vec<Duration>);

/// A percentile with its surroundings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Percentile {
    pub(crate) at: Duration,
    /// How much more the slowest run took.
    pub(crate) to_slowest: Duration,
    /// How much less the fastest run took.
    pub(crate) to_fastest: Duration,
}

impl Durations {
    /// The first run, and those after it.
    pub(crate) fn new(first: Duration, others: impl IntoIterator<Item = Duration>) -> Durations {
        let mut durations: Vec<Duration> = std::iter::once(first).chain(others).collect();
        durations.sort_unstable();
        Durations(durations)
    }

    /// All of them, the shortest first.
    pub(crate) fn all(&self) -> &[Duration] {
        &self.0
    }

    /// The percentile by nearest rank: the shortest duration that at least so many percent of the runs do not exceed.
    pub(crate) fn percentile(&self, percent: u8) -> Percentile {
        let runs = self.0.len();
        let rank = (usize::from(percent.min(100)) * runs).div_ceil(100).max(1);
        let at = self.0[rank - 1];
        Percentile { at, to_slowest: self.0[runs - 1] - at, to_fastest: at - self.0[0] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(milliseconds: &[u64], percent: u8, expect: (u64, u64, u64)) {
        let mut durations = milliseconds.iter().map(|number| Duration::from_millis(*number));
        let durations = Durations::new(durations.next().unwrap(), durations);
        let (at, to_slowest, to_fastest) = expect;
        let expect = Percentile {
            at: Duration::from_millis(at),
            to_slowest: Duration::from_millis(to_slowest),
            to_fastest: Duration::from_millis(to_fastest),
        };
        assert_eq!(durations.percentile(percent), expect, "{milliseconds:?} at {percent}");
    }

    #[test]
    fn nearest_rank() {
        let ten = [30, 10, 20, 50, 40, 70, 60, 100, 90, 80];
        check(&ten, 90, (90, 10, 80));
        check(&ten, 91, (100, 0, 90));
        check(&ten, 50, (50, 50, 40));
        check(&ten, 1, (10, 90, 0));
        check(&ten, 0, (10, 90, 0));
        check(&ten, 100, (100, 0, 90));
        check(&[15, 20, 35, 40, 50], 30, (20, 30, 5));
        check(&[15, 20, 35, 40, 50], 40, (20, 30, 5));
        check(&[7], 90, (7, 0, 0));
        check(&[7, 7], 50, (7, 0, 0));
    }
}
