//! Arrays in the elements of others, however deep, and what is asked of them.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Trips of legs of parts, some of which are something else.
fn trips() -> Memory {
    let event = |n: u64| {
        let parts = |leg: u64| {
            let part = |part: u64| match (n + leg + part) % 7 {
                0 => format!(r#"{{"km":{}.5,"by":["a{part}","b"]}}"#, n % 90),
                1 => r#"{"by":[]}"#.to_owned(),
                2 => "null".to_owned(),
                3 => format!(r#"{{"km":"{part} km","no":{{"of":[{n},[{part}]]}}}}"#),
                _ => format!(r#"{{"km":{},"no":{{"of":[{leg},{part}]}},"by":["c"]}}"#, n * part % 40),
            };
            (0..(n + leg) % 4).map(part).collect::<Vec<_>>().join(",")
        };
        let leg = |leg: u64| match (n + leg) % 11 {
            0 => format!(r#"{{"alt":{leg}}}"#),
            1 => format!(r#"{{"alt":null,"parts":"{n} parts"}}"#),
            2 => format!(r#"{{"parts":{{"km":{n}}},"alt":{leg}}}"#),
            3 => "7".to_owned(),
            _ => format!(r#"{{"alt":{},"parts":[{}]}}"#, n % 5, parts(leg)),
        };
        let legs = (0..n % 5).map(leg).collect::<Vec<_>>().join(",");
        let grid = (0..n % 3).map(|row| format!("[{row},{}]", n % 8)).collect::<Vec<_>>().join(",");
        let document = match n % 23 {
            0 => format!(r#"{{"n":{n}}}"#),
            1 => format!(r#"{{"n":{n},"legs":"none","grid":null}}"#),
            _ => format!(
                r#"{{"n":{n},"kind":"k{}","legs":[{legs}],"inner":{{"legs":[{legs}]}},"grid":[{grid}]}}"#,
                n % 4
            ),
        };
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..700).map(event).collect();
    Memory::blocks(&[&[&events[..450]], &[&events[450..]]])
}

#[test]
fn arrays_in_elements_of_arrays_are_those_of_events() {
    let memory = trips();
    for text in [
        "select sum(p.km), count(*), max(p.km) from stream lateral unnest(legs) as l lateral unnest(l.parts) as p",
        "select mean(p.km / l.alt), first(n), last(p) from stream lateral unnest(legs) as l lateral unnest(l.parts) as p group by kind",
        "select count(*) from stream lateral unnest(inner.legs) as l lateral unnest(l.parts) as p lateral unnest(p.by) as b where l.alt > 1 and n < 600 group by b, l.alt",
        "select n, l.alt, p, b from stream lateral unnest(legs) as l lateral unnest(l.parts) as p lateral unnest(p.no.of) as b where p.km > 3 limit 50",
        "select n, p.km from stream lateral unnest(legs) as l lateral unnest(l.parts) as p order by time desc limit 50",
        "select count(*) from stream lateral unnest(legs) as l lateral unnest(l.parts) as p group by l, time(100us)",
        "select count(*) from stream lateral unnest(legs[0].parts) as p group by p.by[0]",
        "select count(*) from stream lateral unnest(legs) as l lateral unnest(legs) as m group by l.alt, m.alt",
        "select sum(legs[0].parts[0].km), count(legs[1].parts[2].by[0]) from stream group by legs[0].parts[1].no.of[1]",
        "select n, legs[0].parts, legs[0].parts[1], legs[2].parts[1].no.of[1][0] from stream where n > 40 limit 60",
        "select count(*) from stream group by Length(legs[0].parts), Length(legs[1].parts[0].by)",
        "select count(*), sum(Length(l.parts)), max(Length(l.parts[0].by)) from stream lateral unnest(legs) as l group by l.parts[1].km",
        "select count(*) from stream where legs[?].parts[?].km > 30",
        "select count(*) from stream where legs[*].parts[?].by[*] = 'c' and n > 9",
        "select count(*) from stream where legs[?].parts[0].km = n or legs[1].parts[?].km < n",
        "select count(*) from stream where Some(legs, |l| Some(l.parts, |p| p.km > l.alt))",
        "select count(*) from stream where Every(legs, |l| Length(l.parts) > 1 and l.alt < n) group by kind",
        "select count(*) from stream lateral unnest(legs) as l where l.parts[?].by[?] = 'a1' or 'b' in l.parts[0].by group by kind",
        "select count(*) from stream where 'c' in legs[0].parts[1].by",
        "select sum(c), count(*) from stream lateral unnest(grid) as g lateral unnest(g) as c group by g[1]",
        "select sum(grid[1][1]), count(*) from stream where grid[?][?] = 7 and grid[0][*] < 8",
        "select count(*) from stream where let |g: grid[0]| Some(g, |c| c = 3)",
        "select count(*) from stream lateral unnest(legs) as l lateral unnest(l.nothing) as p where p.km > 3",
        // No place of an element is as great, and the number of one before it is added to it.
        "select sum(legs[4294967295].alt), count(legs[0].parts[4294967290].km) from stream",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn elements_of_arrays_beside_each_other_are_those_of_events() {
    let memory = trips();
    for text in [
        "select count(*), sum(l.alt), sum(g[0]) from stream lateral unnest(legs) as l lateral unnest(grid) as g",
        "select count(*), first(n), last(g[1]) from stream lateral unnest(grid) as g lateral unnest(legs) as l group by l.alt, kind",
        "select sum(p.km), count(*) from stream lateral unnest(legs) as l lateral unnest(grid) as g lateral unnest(l.parts) as p where g[0] < 1 group by l.alt",
        "select sum(p.km), max(c) from stream lateral unnest(legs) as l lateral unnest(l.parts) as p lateral unnest(grid) as g lateral unnest(g) as c group by kind, g[1]",
        "select n, l.alt, m.alt, c from stream lateral unnest(legs) as l lateral unnest(inner.legs) as m lateral unnest(grid[0]) as c where n > 90 limit 70",
        "select n, l.alt, c from stream lateral unnest(legs) as l lateral unnest(grid[1]) as c order by time desc limit 70",
        "select count(*), sum(p.km * q.km) from stream lateral unnest(legs) as l lateral unnest(l.parts) as p lateral unnest(l.parts) as q group by p.by[0]",
        "select count(*), sum(Length(l.parts)) from stream lateral unnest(grid) as g lateral unnest(legs) as l where l.parts[?].km > 30 and g[?] = n % 8 group by kind",
        "select count(*) from stream lateral unnest(grid) as g lateral unnest(nothing) as x",
        "select count(*), sum(n) from stream lateral unnest(grid) as g lateral unnest(legs) as l where n > 300 and n < 520",
    ] {
        agree(&memory, text);
    }
}

/// Events with objects whose members are asked as elements are.
fn timings() -> Memory {
    let event = |n: u64| {
        let delays = match n % 13 {
            0 => "null".to_owned(),
            1 => "{}".to_owned(),
            2 => format!(r#"{{"queue":{n},"tls":null}}"#),
            3 => format!(r#"{{"queue":"{n}","data":{}.5}}"#, n % 9),
            _ => format!(r#"{{"queue":{},"tls":{}.25,"data":{}}}"#, n % 7, n % 5, n % 400),
        };
        let steps = match n % 4 {
            0 => format!(r#"{{"a":{{"ms":{n},"of":["x",{}]}},"b":{{"ms":7}}}}"#, n % 3),
            1 => r#"{"a":{"ms":"late"},"c":[1]}"#.to_owned(),
            _ => format!(r#"{{"a":{{"of":["y"]}},"b":{{"ms":{}}}}}"#, n % 90),
        };
        let mixed = ["[1,2]", "{\"x\":1}", "7"][(n % 3) as usize];
        let document = match n % 17 {
            0 => format!(r#"{{"n":{n}}}"#),
            _ => format!(
                r#"{{"n":{n},"name":"x{}","delays":{delays},"sub":{{"delays":{delays}}},"steps":{steps},"mixed":{mixed},"names":["x1","x{}",{n}],"other":"x{}"}}"#,
                n % 9,
                n % 5,
                n % 3,
            ),
        };
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..700).map(event).collect();
    Memory::blocks(&[&[&events[..400]], &[&events[400..]]])
}

#[test]
fn elements_are_counted_from_the_end_as_from_the_start() {
    let memory = trips();
    for text in [
        "select count(*), sum(legs[Length(legs) - 1].alt) from stream group by legs[Length(legs) - 2].alt",
        "select n, legs[Length(legs) - 1].parts[0] as p, grid[Length(grid) - 3] as g from stream",
        "select count(*) from stream where grid[Length(grid) - 1][?] = 1 or legs[Length(legs) - 4].alt > 2",
        "select n from stream where inner.legs[Length(inner.legs) - 1].parts[Length(inner.legs) - 1] is not null",
        "select n, l.parts[Length(l.parts) - 1].km from stream lateral unnest(legs) as l where n > 600",
        "select legs[Length(grid) - 1], legs[Length(legs) - 0], kind[Length(kind) - 1], legs[Length(legs) - 0.5] from stream",
        "select sum(legs[Length(legs) - 2].parts[Length(legs[Length(legs) - 2].parts) - 1].km) from stream",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn members_of_objects_are_asked_as_elements_are() {
    let memory = timings();
    for text in [
        "select count(*) from stream where delays[?] > 5",
        "select count(*) from stream where delays[*] < 5",
        "select count(*), sum(n) from stream where not (delays[*] < 5)",
        "select n, delays[?] > 5 as late, delays[*] < 300 as soon from stream limit 100",
        "select count(*) from stream where sub.delays[?] = n or sub.delays[?] is null group by n % 3",
        "select count(*) from stream where Every(delays, |d| d is not null)",
        "select count(*) from stream where Some(delays, |d| TypeOf(d) = 'string' and n > 40)",
        "select count(*) from stream where Every(delays, |d| d < 100 or n % 2 = 0) group by Some(delays, |d| d = 3)",
        "select count(*) from stream where steps[?].ms > 6",
        "select count(*) from stream where steps[?].of[?] = 'x' or steps[*].ms < 50",
        "select count(*) from stream where mixed[?] = 1",
        "select count(*) from stream where 7 in delays or 1 in mixed",
        "select count(*) from stream where nothing[?] = 1 or Every(nothing, |x| x = 1)",
        "select count(*) from stream where steps[?][?] = 7",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn what_another_path_has_is_sought_in_arrays() {
    let memory = timings();
    for text in [
        "select count(*) from stream where name in names",
        "select count(*), sum(n) from stream where not (name in names) and n > 9",
        "select count(*) from stream where name in names or other in names or n in names",
        "select count(*) from stream where name not in names",
        "select n, name in names as found, nothing in names as no from stream limit 60",
        "select count(*) from stream where nothing in names or name in nothing or name in delays or name in other",
        "select count(*) from stream where name in names ci and Length(names) = 3 group by name",
        "select sum(if name in names then n else 0) from stream where not (other in mixed)",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn whether_arrays_are_there_is_told_beside_what_else_is_asked_of_them() {
    let memory = trips();
    for text in [
        "select sum(Length(legs)) as s, count(legs) as c from stream where Has(legs)",
        "select count(*) as c from stream where legs is not null and Length(legs) > 2",
        "select count(*) as c from stream where legs is null or Some(legs, |l| l.alt = n)",
        "select count(*) as c from stream where Has(grid) and grid[0][1] = n % 8",
        "select sum(l.alt) as s from stream lateral unnest(legs) as l where Has(legs) and inner.legs is not null",
        "select count(*) as c from stream where Has(inner.legs) group by Length(inner.legs) as g, kind",
        "select count(*) as c from stream where Has(kind) and Some(legs, |l| l.alt = 3 and kind = 'k1')",
        "select n, legs from stream where Has(legs) and Length(legs) = 1",
        "select count(*) as c from stream where Has(legs) and TypeOf(legs) = 'array' and Length(legs) > 1",
        "select max(if Has(n) then Length(grid) else n) as m from stream group by Has(kind) as h",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn arrays_of_when_events_happened_are_unnested_where_nothing_else_asks_for_times() {
    let memory = trips();
    for text in [
        "select count(*) as c from stream lateral unnest([@Timestamp]) as x",
        "select count(*) as c from stream lateral unnest([@Timestamp, n]) as x group by kind",
        "select count(*) as c from stream lateral unnest([n]) as x lateral unnest([@Timestamp, x]) as y where y > 3",
        "select sum(x) as s from stream lateral unnest([@Timestamp]) as x",
    ] {
        agree(&memory, text);
    }
}
