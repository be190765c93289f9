//! What statistics tell of one key, held against the members of that name.

use super::report::{Member, expect, shown};
use crate::statistics::layout::STEP;
use crate::statistics::read::{Extreme, KeyFacts, Listed, Sum, Tally, Values};
use crate::value::Number;
use memchr::memmem;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use tamias_json::Document;

/// Holds what is told of a key against its members, those that come twice in an event included.
pub(super) fn check(
    documents: &[Document<'_>],
    name: &[u8],
    facts: &KeyFacts<'_>,
    members: &[Member<'_>],
) -> Result<(), String> {
    let mut events: Vec<u32> = members.iter().map(|member| member.event).collect();
    events.dedup();
    expect("events that have it", facts.events as usize, events.len())?;
    check_places(documents, name, facts, &events)?;
    // Of a key that an event has more than once no values are told.
    let Some(values) = &facts.values else { return Ok(()) };
    if events.len() < members.len() {
        return Err("an event has it more than once, where the statistics tell its values".to_owned());
    }
    check_counts(values, documents.len(), members)?;
    let strings: Vec<Member<'_>> = members.iter().filter_map(|member| inside_quotes(*member)).collect();
    check_strings(values, &strings)?;
    let numbers: Vec<Member<'_>> = members.iter().filter(|member| is_number(member)).copied().collect();
    if let Some(listed) = values.listed_numbers {
        check_list("numbers", listed, &distinct(&numbers))?;
    }
    if let Some((least, greatest)) = values.range {
        check_extreme("the least number", least, Ordering::Less, &numbers)?;
        check_extreme("the greatest number", greatest, Ordering::Greater, &numbers)?;
    }
    values.sum.map_or(Ok(()), |sum| check_sum(sum, &numbers))
}

/// Where the bytes `"key":` are told to be nothing but this key, they are.
fn check_places(
    documents: &[Document<'_>],
    name: &[u8],
    facts: &KeyFacts<'_>,
    events: &[u32],
) -> Result<(), String> {
    let elsewhere = match (facts.is_simple, facts.values.and_then(|values| values.elsewhere)) {
        (true, _) => Vec::new(),
        // They are told in their order.
        (false, Some(elsewhere)) => elsewhere.collect(),
        (false, None) => return Ok(()),
    };
    if name.contains(&STEP) {
        return Err("where the bytes of a nested path stand is told, which only is of keys".to_owned());
    }
    let needle = [b"\"", name, b"\":"].concat();
    let finder = memmem::Finder::new(&needle);
    for (event, document) in (0..).zip(documents) {
        let is_there = usize::from(events.binary_search(&event).is_ok());
        let found = finder.find_iter(document.bytes()).take(2).count();
        if found != is_there && elsewhere.binary_search(&event).is_err() {
            return Err(format!("in event {event} its bytes stand elsewhere too, which the statistics deny"));
        }
    }
    Ok(())
}

fn check_counts(values: &Values<'_>, events: usize, members: &[Member<'_>]) -> Result<(), String> {
    let before = (0..).zip(members).take_while(|(event, member)| member.event == *event).count() as u32;
    let count = events.saturating_sub(members.len()) as u32;
    let missing = Tally { count, first: if count > 0 { before } else { 0 } };
    expect("events without it", values.missing, missing)?;
    let of = |value: &[u8]| tally(members.iter().filter(|member| member.value == value));
    expect("null", values.null, of(b"null"))?;
    expect("false", values.falsehood, of(b"false"))?;
    expect("true", values.truth, of(b"true"))?;
    let beginning =
        |byte: u8| members.iter().filter(|member| member.value.first() == Some(&byte)).count() as u32;
    expect("objects", values.maps, beginning(b'{'))?;
    expect("arrays", values.arrays, beginning(b'['))?;
    expect("strings", values.strings, beginning(b'"'))?;
    expect("numbers", values.numbers, members.iter().filter(|member| is_number(member)).count() as u32)
}

fn check_strings(values: &Values<'_>, strings: &[Member<'_>]) -> Result<(), String> {
    let strings = distinct(strings);
    if let Some(listed) = values.listed_strings {
        return check_list("strings", listed, &strings);
    }
    match strings.iter().find(|(text, _)| !values.may_hold(text)) {
        Some((text, _)) => Err(format!("the filter lacks the string \"{}\"", shown(text))),
        None => Ok(()),
    }
}

fn check_list(what: &str, mut listed: Listed<'_>, found: &[(&[u8], Tally)]) -> Result<(), String> {
    for (text, tally) in found {
        match listed.next() {
            Some((told, of)) if told == *text => {
                expect(&format!("{what}, {}", shown(text)), of, *tally)?;
            }
            told => {
                let told = told.map_or("nothing".to_owned(), |(told, _)| shown(told));
                let text = shown(text);
                return Err(format!(
                    "the next of all {what}: {told} in the statistics, {text} in the documents"
                ));
            }
        }
    }
    match listed.next() {
        Some((told, _)) => Err(format!("{what}: {} is listed, and not there", shown(told))),
        None => Ok(()),
    }
}

/// The extreme is the number of its event, as it is spelled there; none is beyond it, and no earlier one equals it.
fn check_extreme(
    what: &str,
    told: Extreme<'_>,
    beyond: Ordering,
    numbers: &[Member<'_>],
) -> Result<(), String> {
    let at = numbers.binary_search_by_key(&told.event, |number| number.event);
    let there = at.ok().and_then(|at| numbers.get(at)).map_or("none", |number| text(number));
    expect(&format!("{what}, of event {}", told.event), told.text, there)?;
    for number in numbers {
        let order = tamias_json::number::compare(text(number), told.text);
        if order == beyond || order.is_eq() && number.event < told.event {
            return Err(format!(
                "{what}: {} in the statistics, {} in event {}",
                told.text,
                text(number),
                number.event
            ));
        }
    }
    Ok(())
}

/// The sums are compared as numbers: how the digits are shared out among the scales is of no account.
fn check_sum(told: Sum<'_>, numbers: &[Member<'_>]) -> Result<(), String> {
    let wrong = || "the sum of the numbers is not that of the documents".to_owned();
    let mut differences = [0i128; 29];
    let mut add = |scale: u32, part: i128| {
        let difference = differences.get_mut(scale as usize)?;
        *difference = difference.checked_add(part)?;
        Some(())
    };
    for (scale, part) in told {
        add(scale, part).ok_or_else(wrong)?;
    }
    for number in numbers {
        let decimal = Number::Stored(text(number)).decimal().ok_or_else(wrong)?;
        add(decimal.scale(), -decimal.mantissa()).ok_or_else(wrong)?;
    }
    // What is left of each scale must be whole in the next coarser one.
    let left = differences.iter().rev().try_fold(0i128, |carried, difference| {
        if carried % 10 != 0 { None } else { difference.checked_add(carried / 10) }
    });
    if left == Some(0) { Ok(()) } else { Err(wrong()) }
}

/// The distinct values in the order in which they first come, with the events that have them.
fn distinct<'d>(values: &[Member<'d>]) -> Vec<(&'d [u8], Tally)> {
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    let mut found: Vec<(&[u8], Tally)> = Vec::new();
    for Member { event, value } in values {
        let place = *places.entry(value).or_insert(found.len());
        match found.get_mut(place) {
            Some((_, tally)) => tally.count += 1,
            None => found.push((value, Tally { count: 1, first: *event })),
        }
    }
    found
}

fn tally<'m>(members: impl Iterator<Item = &'m Member<'m>>) -> Tally {
    let mut members = members.peekable();
    let first = members.peek().map_or(0, |member| member.event);
    Tally { count: members.count() as u32, first }
}

/// The text of a string, as it is stored.
fn inside_quotes<'d>(Member { event, value }: Member<'d>) -> Option<Member<'d>> {
    let value = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Some(Member { event, value })
}

fn is_number(member: &Member<'_>) -> bool {
    matches!(member.value.first(), Some(b'-' | b'0'..=b'9'))
}

fn text<'d>(number: &Member<'d>) -> &'d str {
    std::str::from_utf8(number.value).unwrap_or_default()
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => f.write_str("none"),
            count => write!(f, "{count} from event {}", self.first),
        }
    }
}
