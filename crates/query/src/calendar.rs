//! Days and dates of the proleptic Gregorian calendar, years 1 to 9999.

pub(crate) const TICKS_PER_SECOND: u64 = 10_000_000;
pub(crate) const TICKS_PER_MILLISECOND: u64 = TICKS_PER_SECOND / 1000;
pub(crate) const TICKS_PER_MINUTE: u64 = 60 * TICKS_PER_SECOND;
pub(crate) const TICKS_PER_HOUR: u64 = 60 * TICKS_PER_MINUTE;
pub(crate) const TICKS_PER_DAY: u64 = 24 * TICKS_PER_HOUR;

/// From the first of March of the year 0, where the arithmetic begins, to the first of January of the year 1.
const DAYS_BEFORE_YEAR_ONE: u32 = 306;
const DAYS_PER_400_YEARS: u32 = 146_097;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: u32,
    /// 1 to 12.
    pub(crate) month: u32,
    /// 1 to 31.
    pub(crate) day: u32,
}

impl Date {
    /// The date, if there is one with these numbers in the years 1 to 9999.
    #[inline]
    pub(crate) fn new(year: u32, month: u32, day: u32) -> Option<Date> {
        let exists = (1..=9999).contains(&year) && day >= 1 && day <= days_in_month(year, month);
        exists.then_some(Date { year, month, day })
    }

    /// Days since 0001-01-01.
    #[inline]
    pub(crate) fn days(self) -> u32 {
        // Years begin with March here, so that the leap day ends one.
        let early = u32::from(self.month <= 2);
        let year = self.year - early;
        let month = self.month + 12 * early - 3;
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + self.day
            - 1
            - DAYS_BEFORE_YEAR_ONE
    }

    /// The date that many days after 0001-01-01.
    #[inline]
    pub(crate) fn from_days(days: u32) -> Date {
        let days = days + DAYS_BEFORE_YEAR_ONE;
        let in_era = days % DAYS_PER_400_YEARS;
        let year_of_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * in_year + 2) / 153;
        let early = u32::from(month >= 10);
        Date {
            year: days / DAYS_PER_400_YEARS * 400 + year_of_era + early,
            month: month + 3 - 12 * early,
            day: in_year - (153 * month + 2) / 5 + 1,
        }
    }
}

#[inline]
fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}

/// Writes the two last decimal digits of `number`.
#[inline]
pub(crate) fn put_two(number: u32, out: &mut [u8; 2]) {
    *out = [b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_there_is() {
        let mut day = jiff::civil::date(1, 1, 1);
        for days in 0.. {
            let date = Date::from_days(days);
            assert_eq!(
                (date.year, date.month, date.day),
                (day.year() as u32, day.month() as u32, day.day() as u32)
            );
            assert_eq!(date.days(), days);
            assert_eq!(Date::new(date.year, date.month, date.day), Some(date));
            let Ok(next) = day.tomorrow() else {
                assert_eq!((date.year, date.month, date.day), (9999, 12, 31));
                break;
            };
            day = next;
        }
    }

    #[test]
    fn dates_that_do_not_exist() {
        for (year, month, day) in [
            (0, 1, 1),
            (10_000, 1, 1),
            (2023, 2, 29),
            (1900, 2, 29),
            (2024, 0, 1),
            (2024, 13, 1),
            (2024, 4, 31),
            (2024, 1, 0),
        ] {
            assert_eq!(Date::new(year, month, day), None, "{year}-{month}-{day}");
        }
        assert!(Date::new(2000, 2, 29).is_some());
    }
}
