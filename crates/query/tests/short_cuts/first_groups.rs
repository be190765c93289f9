//! The first of many groups by a number that is computed for each, and products of many digits.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// More groups than have places of their own while a column is taken in, some with equal numbers, some without any. The second block is in the order of time as well.
fn payments() -> Memory {
    let event = |n: u64| {
        let group = n * 7919 % 5003;
        let fee = match n % 7 {
            0 => "null".to_owned(),
            1 => return Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"g":{group}}}"#) },
            rest => format!("{}.{}", n * 31 % 17, rest),
        };
        let amount = format!("{}.{:02}", n * 104_729 % 9_000, n % 100);
        let rate = format!("{}.{:06}", n % 3, n * 611_953 % 999_983);
        let risk = if n.is_multiple_of(11) { "-0.0".to_owned() } else { format!("0.{:04}", n * 37 % 9_999) };
        let long = format!("{}.{:09}", n * 13 % 70, n * 7_919_123 % 1_000_000_000);
        let same = group / 100;
        let document = format!(
            r#"{{"n":{n},"g":{group},"s":"g{group}","same":{same},"fee":{fee},"amount":{amount},"rate":{rate},"risk":{risk},"long":{long},"k":{}}}"#,
            n % 36 + 1,
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..14_000).map(event).collect();
    Memory::blocks(&[&[&events[..6_000]], &[&events[6_000..]]])
}

#[test]
fn the_first_of_many_groups_by_a_computed_number_are_those_of_events() {
    let memory = payments();
    for value in [
        "mean(amount / rate)",
        "sum(amount * rate)",
        "sum(fee)",
        "mean(fee)",
        "mean(same)",
        "max(amount / rate)",
        "min(amount / k / rate)",
        "max(amount * rate * long)",
        "min(same)",
        "max(fee)",
        "mean(amount / rate / k)",
    ] {
        agree(
            &memory,
            &format!("select {value} as v, count(*) from stream group by g order by v desc limit 7"),
        );
        agree(&memory, &format!("select {value} as v from stream group by s order by v limit 300"));
        agree(
            &memory,
            &format!("select {value} as v, max(n) as m from stream group by g order by v, m limit 20"),
        );
    }
}

#[test]
fn products_of_many_digits_are_those_of_events() {
    let memory = payments();
    for text in [
        "select sum(amount * rate * long), mean(long * long), max(long * long * rate), min(rate * long) from stream",
        "select sum(amount * rate * long), mean(long * long) as m, max(long * long) from stream group by k",
        "select sum(long * long), max(rate * long * k), min(long * long - 1) from stream group by g order by sum(long * long) desc limit 9",
        "select sum(long * long * long), max(long * long * long * rate), mean(long * long * fee) from stream",
        "select sum(long * long + amount), sum(long * long - rate * long), sum(1 - long * long), sum(long * long / 4) from stream",
        "select sum(fee * long * rate), sum(long * rate * fee), sum(fee * long * long - amount) from stream group by k",
        "select n, long * long * rate as x from stream order by x desc limit 20",
        "select n, fee * long * rate as x, long * rate from stream where n < 40",
        "select count(*) from stream group by Round(long * long * rate, 1) limit 50",
        "select count(*) from stream where long * long * rate > 1000 or fee * long * rate < 0",
        "select sum(if k > 9 then long * long else amount), sum(Coalesce(fee, 1) * long * rate) from stream",
        "select mean(long * long / rate), sum(long * long * (1 + fee / rate)), stddev(long * long), percentile(long * long, 40) from stream",
        "select sum(risk * risk), max(risk * k), mean(risk / k), sum(risk - amount) from stream group by k",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn numbers_or_others_in_place_of_null_are_those_of_events() {
    let memory = payments();
    for text in [
        "select sum(Coalesce(fee, 0)), max(Coalesce(fee, amount)), min(Coalesce(fee, 1) * rate) from stream",
        "select sum(Coalesce(fee, k)), count(Coalesce(fee, null)), max(Coalesce(null, fee)) from stream group by k",
        "select count(*) from stream group by Coalesce(fee, 'none') as f order by f limit 60",
        "select n, Coalesce(fee, risk, 5) as f from stream where n < 60",
        "select count(*) from stream where Coalesce(fee, 3) > 2.5",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn quotients_divided_by_small_numbers_are_those_of_events() {
    let memory = payments();
    for text in [
        "select sum(n / 36 / 24), sum(n / 3600 / 24), mean(n / 7 / 2), mean(n / 3 / 4 / 2) from stream group by k",
        "select sum(n / 3 * 0.5), sum(n / 7 * 0.25), mean(n / k / 8), sum(n / 3 / 0.5), sum(k / (n / 3)) from stream",
        "select sum(n / 900 / 2), sum(n / 7 / k), mean(n / 60 * 0.05 / 8), sum((n / 3 + 1) / 2) from stream group by k",
        "select sum(n * 100000 / 7 / 2), sum(n * 10000 / 3 * 0.15), sum(n * 1000 / 3 / 6), max(n / 3 / 2) from stream",
        "select n, n / 3600 / 24 as d, n / 7 * 0.5 as h from stream where n > 20 order by d limit 200",
    ] {
        agree(&memory, text);
    }
}
