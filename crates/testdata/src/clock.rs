//! Instants that only go forward, and their text.

use crate::random::Random;

const TICKS_PER_SECOND: u64 = 10_000_000;
const TICKS_PER_DAY: u64 = 86_400 * TICKS_PER_SECOND;

/// How long the events of one generator take, about.
const SPAN_TICKS: u64 = 5 * TICKS_PER_DAY;

/// The mean distance of two events in each hour of the day, in hundredths of that over the whole day: a shop
/// sleeps at night. Their harmonic mean is about 100, so that the span comes out right.
const PACE_BY_HOUR: [u64; 24] = [
    180, 260, 380, 450, 420, 300, 190, 140, 105, 90, 84, 80, 76, 80, 86, 88, 84, 76, 66, 58, 54, 60, 82, 120,
];

/// The day on which each log begins, a Monday.
const FIRST_DAY: (u64, u64, u64) = (2024, 5, 27);

/// Gives each event's instant, from the first day's midnight on, never decreasing, sometimes standing still.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    /// Since the first day's midnight.
    ticks: u64,
    /// The mean distance of two events.
    step: u64,
}

impl Clock {
    /// A clock for so many events over some five days.
    pub(crate) fn new(events: u64) -> Clock {
        Clock { ticks: 0, step: SPAN_TICKS / events.max(1) }
    }

    /// Goes on to the next event; one in sixteen has the instant of the one before it.
    pub(crate) fn advance(&mut self, random: &mut Random) {
        if random.below(16) == 0 {
            return;
        }
        let hour = (self.ticks % TICKS_PER_DAY / (3600 * TICKS_PER_SECOND)) as usize;
        // Twice the mean is the bound of a uniform step; 16/15 makes up for the events that stand still.
        let bound = u128::from(self.step) * u128::from(PACE_BY_HOUR[hour]) * 2 * 16 / (15 * 100);
        self.ticks += random.below(bound as u64 + 1);
    }

    /// Writes the instant as `2024-05-29T10:56:01.1234567Z`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (year, month, day) = date_after(self.ticks / TICKS_PER_DAY);
        let second = self.ticks % TICKS_PER_DAY / TICKS_PER_SECOND;
        let mut text = *b"0000-00-00T00:00:00.0000000Z";
        digits(&mut text[0..4], year);
        digits(&mut text[5..7], month);
        digits(&mut text[8..10], day);
        digits(&mut text[11..13], second / 3600);
        digits(&mut text[14..16], second / 60 % 60);
        digits(&mut text[17..19], second % 60);
        digits(&mut text[20..27], self.ticks % TICKS_PER_SECOND);
        out.extend_from_slice(&text);
    }
}

/// Fills the place with the number, zeros before it.
fn digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The date so many days after the first day.
fn date_after(mut days: u64) -> (u64, u64, u64) {
    let (mut year, mut month, mut day) = FIRST_DAY;
    loop {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let left = length - day;
        if days <= left {
            return (year, month, day + days);
        }
        days -= left + 1;
        day = 1;
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date_after(0), (2024, 5, 27));
        assert_eq!(date_after(4), (2024, 5, 31));
        assert_eq!(date_after(5), (2024, 6, 1));
        assert_eq!(date_after(219), (2025, 1, 1));
        assert_eq!(date_after(1372), (2028, 2, 28));
        assert_eq!(date_after(1373), (2028, 2, 29));
        assert_eq!(date_after(1374), (2028, 3, 1));
    }

    #[test]
    fn instants_print_with_seven_digits() {
        let mut text = Vec::new();
        Clock { ticks: 2 * TICKS_PER_DAY + 39_361 * TICKS_PER_SECOND + 1_234_567, step: 1 }.write(&mut text);
        assert_eq!(text, b"2024-05-29T10:56:01.1234567Z");
    }

    #[test]
    fn the_events_take_about_five_days() {
        for events in [1000, 100_000] {
            let (mut clock, mut random) = (Clock::new(events), Random::new(1));
            (0..events).for_each(|_| clock.advance(&mut random));
            let days = clock.ticks / TICKS_PER_DAY;
            assert!((3..=6).contains(&days), "{days} days for {events} events");
        }
    }
}
