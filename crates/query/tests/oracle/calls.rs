//! The scalar functions.

use crate::ast::Expr;
use crate::eval::{Scope, eval, from};
use crate::number::Number;
use crate::value::{Value, upper};
use regex::{Regex, RegexBuilder};

const SECOND: i64 = 10_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The value of a call. An undefined argument poisons it, unless it is an optional one.
pub(crate) fn call(name: &str, arguments: &[Expr], ci: bool, scope: &Scope<'_>) -> Value {
    if let Some(Expr::Regex(regex)) = arguments.get(1) {
        let text = eval(&arguments[0], scope);
        let with = arguments.get(2).map(|with| eval(with, scope));
        return match text {
            Value::Text(text) => with_regex(name, &text, regex, with, ci),
            _ => Value::Undefined,
        };
    }
    let values: Vec<Value> = arguments.iter().map(|argument| eval(argument, scope)).collect();
    let values = values.as_slice();
    match name {
        "Coalesce" | "Has" | "TypeOf" | "Undefined" | "ElementAt" | "Keys" | "Values" | "ToString"
        | "ToNumber" | "ToJson" | "FromJson" => of_any(name, values, ci),
        "Length" | "Concat" | "Contains" | "StartsWith" | "EndsWith" | "IndexOf" | "LastIndexOf"
        | "Replace" | "IsMatch" | "match" | "IndexOfMatch" | "Substring" | "ToUpper" | "ToLower" => {
            of_text(name, values, ci)
        }
        "Round" | "ToHexString" | "TotalMilliseconds" => of_number(name, values),
        "DateTime" | "DatePart" | "TimeOfDay" | "ToIsoString" | "TimeSpan" | "ToTimeString" => {
            of_time(name, values)
        }
        other => panic!("no function {other}"),
    }
}

fn of_any(name: &str, values: &[Value], ci: bool) -> Value {
    match (name, values) {
        ("Coalesce", values) => {
            let there = values.iter().find(|value| !matches!(value, Value::Null | Value::Undefined));
            there.or(values.last()).cloned().unwrap_or(Value::Undefined)
        }
        ("Has", [value]) => Value::Bool(!value.is_undefined()),
        ("TypeOf", [value]) => Value::text(value.kind()),
        ("Undefined", []) => Value::Undefined,
        ("ElementAt", [of, key]) => of.element(key, ci),
        ("Keys", [Value::Object(pairs)]) => {
            Value::Array(pairs.iter().map(|(key, _)| Value::text(key)).collect())
        }
        ("Values", [Value::Object(pairs)]) => {
            Value::Array(pairs.iter().map(|(_, value)| value.clone()).collect())
        }
        ("ToString", [Value::Text(text)]) => Value::text(text),
        ("ToString", [Value::Bool(bool)]) => Value::Text(bool.to_string()),
        ("ToString", [Value::Number(number)]) => Value::text(number.text()),
        ("ToNumber", [Value::Number(number)]) => Value::Number(number.clone()),
        ("ToNumber", [Value::Text(text)]) if is_number(&without_zeros(text)) => {
            Value::Number(Number::literal(&without_zeros(text)))
        }
        ("ToJson", [value]) if !value.is_undefined() => Value::Text(value.json()),
        ("FromJson", [Value::Text(text)]) => match serde_json::from_str::<&serde_json::value::RawValue>(text)
        {
            Ok(raw) => Value::stored(raw.get()),
            Err(_) => Value::Undefined,
        },
        _ => Value::Undefined,
    }
}

fn of_text(name: &str, values: &[Value], ci: bool) -> Value {
    match (name, values) {
        ("Concat", values) => {
            let mut all = String::new();
            for value in values {
                let Value::Text(text) = value else { return Value::Undefined };
                all.push_str(text);
            }
            Value::Text(all)
        }
        ("Contains", [Value::Text(text), Value::Text(part)]) => Value::Bool(!find(text, part, ci).is_empty()),
        ("StartsWith", [Value::Text(text), Value::Text(part)]) => {
            Value::Bool(find(text, part, ci).contains(&0))
        }
        ("EndsWith", [Value::Text(text), Value::Text(part)]) => {
            let (text_length, part_length) = (length(text), length(part));
            Value::Bool(
                part_length <= text_length && find(text, part, ci).contains(&(text_length - part_length)),
            )
        }
        ("IndexOf", [Value::Text(text), Value::Text(part)]) => index(find(text, part, ci).first().copied()),
        ("LastIndexOf", [Value::Text(text), Value::Text(part)]) => {
            index(find(text, part, ci).last().copied())
        }
        ("Replace", [Value::Text(text), Value::Text(part), Value::Text(with)]) => {
            Value::Text(replace(text, part, with, ci))
        }
        ("IsMatch" | "match" | "IndexOfMatch", [Value::Text(text), Value::Text(regex)]) => {
            with_regex(name, text, regex, None, ci)
        }
        ("Length", [Value::Text(text)]) => Value::integer(length(text) as i64),
        ("Length", [Value::Array(elements)]) => Value::integer(elements.len() as i64),
        ("Substring", [Value::Text(text), start, rest @ ..]) => {
            let characters: Vec<char> = text.chars().collect();
            // At most so many characters, however many that is.
            let count = match rest.first() {
                Some(Value::Number(count)) if count.is_integer() && count.is_exact() => {
                    let digits = Number::literal(count.text());
                    let all = (!digits.text().starts_with('-')).then_some(i64::MAX);
                    digits.text().parse().ok().or(all)
                }
                count => optional(count, i64::MAX),
            };
            let (Some(start), Some(count)) = (whole(start), count) else {
                return Value::Undefined;
            };
            // Nothing starts before the beginning or behind the end; what ends behind the end is shorter.
            if start < 0 || count < 0 || start > characters.len() as i64 {
                return Value::Undefined;
            }
            Value::Text(characters.into_iter().skip(start as usize).take(count as usize).collect())
        }
        ("ToUpper", [Value::Text(text)]) => Value::Text(text.chars().map(upper).collect()),
        ("ToLower", [Value::Text(text)]) => Value::Text(text.chars().map(lower).collect()),
        _ => Value::Undefined,
    }
}

fn of_number(name: &str, values: &[Value]) -> Value {
    match (name, values) {
        ("Round", [Value::Number(number), rest @ ..]) => match optional(rest.first(), 0) {
            Some(places @ 0..=28) => from(number.round(places as usize)),
            _ => Value::Undefined,
        },
        ("ToHexString", [Value::Number(number)]) if number.is_integer() && number.is_exact() => {
            match Number::literal(number.text()).text().parse::<u128>() {
                Ok(number) => Value::Text(format!("0x{number:x}")),
                Err(_) => Value::Undefined,
            }
        }
        ("TotalMilliseconds", [Value::Number(number)]) => from(number.divide(&Number::integer(10_000))),
        _ => Value::Undefined,
    }
}

fn of_time(name: &str, values: &[Value]) -> Value {
    match (name, values) {
        ("DateTime", [text]) => parse_instant(text),
        ("DatePart", [instant, Value::Text(part), rest @ ..]) => match civil(instant, rest.first()) {
            Some(civil) => civil.part(&part.to_ascii_lowercase()).map_or(Value::Undefined, Value::integer),
            None => Value::Undefined,
        },
        ("TimeOfDay", [instant, rest @ ..]) => {
            civil(instant, rest.first()).map_or(Value::Undefined, |civil| Value::integer(civil.time))
        }
        ("ToIsoString", [instant, rest @ ..]) => match (civil(instant, rest.first()), offset(rest.first())) {
            (Some(civil), Some(offset)) if offset % MINUTE == 0 && offset.abs() < DAY => iso(&civil, offset),
            _ => Value::Undefined,
        },
        ("TimeSpan", [Value::Text(text)]) => parse_duration(text).map_or(Value::Undefined, Value::integer),
        ("ToTimeString", [duration]) => match whole(duration) {
            Some(ticks) => Value::Text(print_duration(ticks)),
            None => Value::Undefined,
        },
        _ => Value::Undefined,
    }
}

/// An instant as ISO 8601 text, in the zone with that offset, which is whole minutes.
fn iso(civil: &Civil, offset: i64) -> Value {
    let sign = if offset < 0 { '-' } else { '+' };
    let zone = match offset.abs() / MINUTE {
        0 => "Z".to_owned(),
        minutes => format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60),
    };
    let (date, time) = ((civil.year, civil.month, civil.day), civil.time);
    Value::Text(format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:07}{zone}",
        date.0,
        date.1,
        date.2,
        time / HOUR,
        time / MINUTE % 60,
        time / SECOND % 60,
        time % SECOND
    ))
}

fn with_regex(name: &str, text: &str, regex: &str, with: Option<Value>, ci: bool) -> Value {
    let regex: Regex = RegexBuilder::new(regex).case_insensitive(ci).build().unwrap();
    match (name, with) {
        ("IsMatch" | "match", None) => Value::Bool(regex.is_match(text)),
        ("IndexOfMatch", None) => index(regex.find(text).map(|found| length(&text[..found.start()]))),
        ("Replace", Some(Value::Text(with))) => Value::Text(regex.replace_all(text, &with).into_owned()),
        _ => Value::Undefined,
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn index(at: Option<usize>) -> Value {
    Value::integer(at.map_or(-1, |at| at as i64))
}

/// Every place of `part` in `text`, counted in scalars.
fn find(text: &str, part: &str, ci: bool) -> Vec<usize> {
    let fold = |text: &str| -> Vec<char> {
        if ci { text.chars().map(upper).collect() } else { text.chars().collect() }
    };
    let (text, part) = (fold(text), fold(part));
    (0..=text.len()).filter(|&at| text[at..].starts_with(&part)).collect()
}

fn replace(text: &str, part: &str, with: &str, ci: bool) -> String {
    let places = find(text, part, ci);
    let text: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < text.len() {
        // An empty part is nowhere.
        if !part.is_empty() && places.contains(&at) {
            out.push_str(with);
            at += length(part);
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

fn lower(character: char) -> char {
    character.to_lowercase().next().unwrap()
}

/// Without the zeros that a digit comes after.
fn without_zeros(text: &str) -> String {
    let (minus, digits) = if let Some(digits) = text.strip_prefix('-') { ("-", digits) } else { ("", text) };
    let mut digits = digits;
    while digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit() {
        digits = &digits[1..];
    }
    format!("{minus}{digits}")
}

fn is_number(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
        && text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit())
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) if number.is_integer() && number.is_exact() => {
            Number::literal(number.text()).text().parse().ok()
        }
        _ => None,
    }
}

/// An optional argument: left out where it is undefined.
fn optional(value: Option<&Value>, default: i64) -> Option<i64> {
    match value {
        None | Some(Value::Undefined) => Some(default),
        Some(value) => whole(value),
    }
}

/// An offset in ticks; one of at most 24 is in hours.
fn offset(value: Option<&Value>) -> Option<i64> {
    let hours = Number::integer(HOUR);
    match value {
        // A number that no decimal is, is no offset, however near to one it may be.
        Some(Value::Number(number)) if number.is_exact() => match whole(&from(number.multiply(&hours))) {
            Some(ticks) if ticks.abs() <= 24 * HOUR => Some(ticks),
            _ => optional(value, 0),
        },
        value => optional(value, 0),
    }
}

/// The last instant of the year 9999.
const INSTANT_MAX: i64 = 3_155_378_975_999_999_999;

struct Civil {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: i64,
    weekday: i64,
    time: i64,
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The calendar's reading of an instant, by counting years and months from the beginning.
fn civil(instant: &Value, offset: Option<&Value>) -> Option<Civil> {
    let instant = whole(instant).filter(|instant| *instant >= 0)?;
    let instant =
        instant.checked_add(self::offset(offset)?).filter(|instant| (0..=INSTANT_MAX).contains(instant))?;
    let (all_days, time) = (instant / DAY, instant % DAY);
    let (mut days, mut year, mut month) = (all_days, 1, 1);
    while days >= 365 + i64::from(is_leap(year)) {
        days -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let day_of_year = days + 1;
    while days >= days_in(year, month) {
        days -= days_in(year, month);
        month += 1;
    }
    // 0001-01-01 was a Monday.
    Some(Civil { year, month, day: days + 1, day_of_year, weekday: (all_days + 1) % 7, time })
}

impl Civil {
    fn part(&self, name: &str) -> Option<i64> {
        Some(match name {
            "year" => self.year,
            "month" => self.month,
            "day" => self.day,
            "hour" => self.time / HOUR,
            "minute" => self.time / MINUTE % 60,
            "second" => self.time / SECOND % 60,
            "weekday" => self.weekday,
            "yearday" => self.day_of_year,
            _ => return None,
        })
    }
}

/// The instant that an ISO 8601 text tells, in the forms that the generator writes.
pub(crate) fn parse_instant(text: &Value) -> Value {
    let Value::Text(text) = text else { return Value::Undefined };
    let pattern = r"^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?))?)?$";
    let Some(parts) = Regex::new(pattern).unwrap().captures(text) else { return Value::Undefined };
    let number = |index: usize| parts.get(index).map_or(0, |part| part.as_str().parse::<i64>().unwrap());
    let (year, month, day, hour, minute, second) =
        (number(1), number(2), number(3), number(4), number(5), number(6));
    if year < 1 || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return Value::Undefined;
    }
    if hour > 23 || minute > 59 || second > 59 || number(9) > 23 || number(10) > 59 {
        return Value::Undefined;
    }
    let days: i64 = (1..year).map(|year| 365 + i64::from(is_leap(year))).sum::<i64>()
        + (1..month).map(|month| days_in(year, month)).sum::<i64>()
        + day
        - 1;
    let fraction = format!("{:0<7}", parts.get(7).map_or("", |digits| digits.as_str()));
    let time = hour * HOUR + minute * MINUTE + second * SECOND + fraction[..7].parse::<i64>().unwrap();
    let offset = number(9) * HOUR + number(10) * MINUTE;
    let offset = if parts.get(8).is_some_and(|sign| sign.as_str() == "-") { -offset } else { offset };
    let instant = days * DAY + time - offset;
    if (0..=INSTANT_MAX).contains(&instant) { Value::integer(instant) } else { Value::Undefined }
}

fn parse_duration(text: &str) -> Option<i64> {
    let parts =
        Regex::new(r"^(-?)(?:(\d+)\.)?(\d+):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$").unwrap().captures(text)?;
    let number = |index: usize| parts.get(index).map_or(0, |part| part.as_str().parse::<i64>().unwrap());
    let has_days = parts.get(2).is_some();
    if (has_days && number(3) > 23) || number(4) > 59 || number(5) > 59 {
        return None;
    }
    let fraction = format!("{:0<7}", parts.get(6).map_or("", |digits| digits.as_str()));
    let ticks = number(2) * DAY
        + number(3) * HOUR
        + number(4) * MINUTE
        + number(5) * SECOND
        + fraction[..7].parse::<i64>().unwrap();
    Some(if parts[1].is_empty() { ticks } else { -ticks })
}

fn print_duration(ticks: i64) -> String {
    let size = ticks.unsigned_abs() as i64;
    let sign = if ticks < 0 { "-" } else { "" };
    let days = if size >= DAY { format!("{}.", size / DAY) } else { String::new() };
    let seconds = if size % MINUTE == 0 { String::new() } else { format!(":{:02}", size / SECOND % 60) };
    let fraction = format!("{:07}", size % SECOND);
    let fraction = match fraction.trim_end_matches('0') {
        "" => String::new(),
        digits => format!(".{digits}"),
    };
    format!("{sign}{days}{}:{:02}{seconds}{fraction}", size / HOUR % 24, size / MINUTE % 60)
}
