//! What is warned of beside the rows, and what is not.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod memory;

use memory::{Event, Memory};
use tamias_query::{Direction, Parameters, Query, RunOptions};

/// Two groups of blocks, of events that differ.
fn events() -> Memory {
    let event = |n: u64| {
        let document = match n {
            0..50 => format!(r#"{{"Elapsed":{n},"Path":"/","@l":"Error","id.host":"h","Status":200}}"#),
            _ => format!(
                r#"{{"Elapsed":{n}.5,"Code":"{n}","Took":"{}","Ship":{{"City":"Athens"}},"Odd":{{}},"Tags":["sale"],"span_id":"7","@st":"2024-05-29T10:56:01Z","At":17321{n}000000,"Robot":{},"x-request-id":"a","@tr":"x","Status":"Healthy"}}"#,
                n - 45,
                n.is_multiple_of(2)
            ),
        };
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..100).map(event).collect();
    Memory::blocks(&[&[&events[..50]], &[&events[50..]]])
}

fn warnings(text: &str) -> Vec<String> {
    let memory = events();
    let query = Query::prepare(text).unwrap();
    let all = [false, true].map(|plain| {
        let options = RunOptions { plain, ..RunOptions::default() };
        let mut rows = query.run_with(memory.source(Direction::Ascending), options);
        while rows.next_row().unwrap().is_some() {}
        rows.warnings().iter().map(ToString::to_string).collect::<Vec<String>>()
    });
    assert_eq!(all[0], all[1], "{text}: the plain way warns of the same");
    all[0].clone()
}

/// Queries, and what each is warned of.
const MISLEADING: &[(&str, &str)] = &[
    ("select Elapsd from stream", "no event that was read has a key `Elapsd`; did you mean `Elapsed`?"),
    ("select elapsed from stream", "no event that was read has a key `elapsed`; did you mean `Elapsed`?"),
    (
        "select count(*) from stream where Nothing.alike = 1",
        "no event that was read has a key `Nothing.alike`; names of keys are case-sensitive",
    ),
    (
        "select count(*) from stream where Code > 60",
        "`Code` is never a number, so `Code` > a number is undefined for every event; `ToNumber(Code)` reads numbers in text",
    ),
    (
        "select count(*) from stream where Code > DateTime('2026-03-01')",
        "`Code` is never a number, so `Code` > a number is undefined for every event; `DateTime(Code)` reads times in text, and \
         `ToNumber(Code)` numbers",
    ),
    (
        "select count(*) from stream where '60' < Elapsed",
        "`Elapsed` is never a string, so `Elapsed` > a string is undefined for every event; compare it with a number, or \
         `ToString(Elapsed)` with the string",
    ),
    (
        "select count(*) from stream where Odd like 'a%'",
        "`Odd` is never a string, so `Odd` like a string is undefined for every event; its values are objects: name a key in them, as in \
         `Odd.Name`",
    ),
    (
        "select count(*) from stream where Code = 60",
        "`Code` is never a number, so `Code` = a number is false for every event; `ToNumber(Code)` reads numbers in text",
    ),
    (
        "select count(*) from stream where Elapsed not in ['60', '61']",
        "`Elapsed` is never a string, so `Elapsed` not in a string is true for every event; compare it with a number, or \
         `ToString(Elapsed)` with the string",
    ),
    (
        "select count(*) from stream where Robot = 'true'",
        "`Robot` is never a string, so `Robot` = a string is false for every event; its values are Booleans: write `Robot = true` or `Robot = false`",
    ),
    (
        "select count(*) from stream where Robot = 1",
        "`Robot` is never a number, so `Robot` = a number is false for every event; its values are Booleans: write `Robot = true` or `Robot = false`",
    ),
    (
        "select count(*) from stream where Elapsed > 200ms",
        "`Elapsed` is compared with 200ms, which is 2000000 ticks of 100 nanoseconds; if `Elapsed` is in milliseconds, write 200",
    ),
    (
        "select count(*) from stream where 10us < Ship.Duration or Elapsed > 0",
        "`Ship.Duration` is compared with 10us, which is 100 ticks of 100 nanoseconds; if `Ship.Duration` is in milliseconds, write 0.01",
    ),
    (
        "select sum(Code) from stream",
        "`sum(Code)` passes over texts, and no value of `Code` is a number; `sum(ToNumber(Code))` reads numbers in text",
    ),
    (
        "select percentile(Code, 95) from stream group by Elapsed",
        "`percentile(Code, 95)` passes over texts, and no value of `Code` is a number; `percentile(ToNumber(Code), 95)` reads \
         numbers in text",
    ),
    (
        "select max(Took) from stream",
        "`max(Took)` ranks texts, in which '10' comes before '9', and `Took` has numbers in text; `max(ToNumber(Took))` reads \
         numbers in text",
    ),
    (
        "select count(*) from stream where Code + 'a' = '60a'",
        "`Code` is never a number, so `Code + 'a'` is undefined for every event; `Concat(Code, 'a')` joins texts",
    ),
    // Each part used to be warned of, as if it were a key.
    (
        "select count(*) from stream where x-request-id = 'a'",
        "`x-request-id` was read as arithmetic; for the key of this name write `@Properties['x-request-id']`",
    ),
    (
        "select count(*) from stream where Ship.User-Agent = 'a'",
        "no event that was read has a key `Agent`; did you mean `Ship['User-Agent']`?",
    ),
    // Some texts there are none in quotes.
    (
        "select count(*) from stream where Status = '500'",
        "no `Status` is the string '500' or another number in quotes, but some are numbers; write 500 without quotes",
    ),
    (
        "select count(*) from stream where @Level <= 3",
        "`@Level` is never a number, so `@Level` <= a number is undefined for every event; levels are compared as strings, as in \
         `@Level in ['Error', 'Fatal']`",
    ),
    (
        "select count(*) from stream where trace_id = 'a'",
        "no event that was read has a key `trace_id`; did you mean `@TraceId`?",
    ),
    (
        "select count(*) from stream where @Timestamp > now - 1d",
        "no event that was read has a key `now`; did you mean `Now()`?",
    ),
    // `@Exception` was suggested.
    (
        "select count(*) from stream where @Level = Error",
        "no event that was read has a key `Error`; did you mean `'Error'`?",
    ),
    (
        "select count(*) from stream where Path = Somewhere.Else",
        "no event that was read has a key `Somewhere.Else`; did you mean `'Somewhere.Else'`?",
    ),
    (
        "select count(*) from stream where Level = 'Error'",
        "no event that was read has a key `Level`; did you mean `@Level`?",
    ),
    (
        "select count(*) from stream where @t > 2024-05-30",
        "an instant is compared with 2024-05-30, which is a number of ticks; a date is written in quotes, as in '2024-05-29'",
    ),
    (
        "select count(*) from stream where @t in ['2024-05-30', 'May']",
        "an instant is compared with 'May', which is not an ISO 8601 date or time, so the comparison is undefined; \
         write it as in '2024-05-29T10:56:01Z'",
    ),
    (
        "select count(*) from stream where @Level = 'error'",
        "no event has the level 'error', but some have 'Error'; write that, or `ci` after the comparison",
    ),
    (
        "select count(*) from stream where @Level in ['Fatal', 'information']",
        "no event has the level 'information', but some have 'Information'; write that, or `ci` after the comparison",
    ),
    (
        "select count(*) from stream where @Level like 'err%'",
        "no event has the level 'err%', but some have 'Error'; write that, or `ci` after the comparison",
    ),
    (
        "select count(*) from stream where @Level = 'Eror'",
        "no event that was read has the level 'Eror'; their levels are 'Error', 'Information'",
    ),
    // `@Id` was suggested, for the first part of the path.
    (
        "select count(*) from stream where id.hots = 'h'",
        "no event that was read has a key `id.hots`; did you mean `id.host`?",
    ),
    (
        "select count(*) from stream where id.nothing = 'h'",
        "no event that was read has a key `id.nothing`; names of keys are case-sensitive",
    ),
    (
        "select count(*) from stream where Tags = 'sale'",
        "`Tags` is never a string, so `Tags` = a string is false for every event; its values are arrays: write `Tags[?]` for any of \
         their elements",
    ),
    // Counts were compared with texts without a word.
    (
        "select count(*) as n from stream group by Path having n > '5'",
        "`n` is never a string, so `n` > a string is undefined for every event; compare it with a number, or `ToString(n)` with the string",
    ),
    (
        "select Path from stream where Length(Path) in ['5', '6']",
        "`Length(Path)` is never a string, so `Length(Path)` in a string is false for every event; compare it with a number, or \
         `ToString(Length(Path))` with the string",
    ),
    (
        "select count(*) from stream where At > DateTime('2026-11-23')",
        "`At` is compared with an instant, which is a number of ticks, and its values look like Unix milliseconds; the instant is \
         `At * 10000 + 621355968000000000`",
    ),
    (
        "select count(*) from stream where Now() - 1d < At",
        "`At` is compared with an instant, which is a number of ticks, and its values look like Unix milliseconds; the instant is \
         `At * 10000 + 621355968000000000`",
    ),
    (
        "select @SpanId from stream",
        "no event that was read has `@sp`, so `@SpanId` is undefined for each; did you mean `span_id`?",
    ),
    (
        "select @Message from stream",
        "no event that was read has `@m` or `@mt`, so `@Message` is undefined for each",
    ),
    (
        "select percentile(Elapsed, 0.95) from stream",
        "`percentile(Elapsed, 0.95)` is not what it may look like: percentiles go from 0 to 100; did you mean 95?",
    ),
    (
        "select count(*) from stream where @Timestamp > 'yesterday'",
        "an instant is compared with 'yesterday', which is not an ISO 8601 date or time, so the comparison is undefined; write it as in \
         '2024-05-29T10:56:01Z'",
    ),
];

#[test]
fn what_misleads_is_warned_of() {
    for (query, warning) in MISLEADING {
        assert_eq!(warnings(query), [*warning], "{query}");
    }
}

#[test]
fn what_is_as_it_looks_is_not_warned_of() {
    for query in [
        "select Elapsed, Path, Code, Ship.City, id.host from stream",
        "select count(*) from stream where Elapsed > 60 and Code > '60' and Code like '6%'",
        "select count(*) from stream where Code = '60' or Code in ['60', 61] or Elapsed in [60.5]",
        "select count(*) from stream where @Timestamp > 20240530 - 1 and @Timestamp > 63000000000",
        "select count(*) from stream where @Level = 'Error' or @Level in ['Error', 'Information', 'Fatal'] or @Level = 'error' ci",
        "select count(*) from stream where @Exception is not null and @TraceId = 'x'",
        "select count(*) as n from stream group by Path having n > 5 and max(Path) > 'a'",
        "select count(*) from stream where At * 10000 + 621355968000000000 > DateTime('2024-11-23') and Elapsed < 621355968000000001",
        "select percentile(Elapsed, 95), percentile(Elapsed, 0), percentile(Elapsed, 1) from stream",
        "select count(*) from stream where @Timestamp > '2024-05-29'",
        "select count(*) from stream where @Elapsed > 200ms and @Timestamp - @Start > 1s",
        "select max(@Timestamp) - min(@Timestamp) as Span from stream group by Path having Span > 1s",
        "select sum(Elapsed), max(Elapsed), max(Path), count(Code), min(Robot), first(Code) from stream",
        // Numbers of one length are in order as texts too.
        "select max(Code), min(Code) from stream",
        // The condition tells the kinds apart itself.
        "select count(*) from stream where (TypeOf(Code) = 'number' and Code * 2 > 3) or Code = '60'",
        "select count(*) from stream where TypeOf(Code) = 'number' and Code > 3",
        "select Elapsed - Elapsed from stream",
        "select count(*) from stream where Elapsed in []",
        "select 1 + 1",
    ] {
        assert_eq!(warnings(query), [""; 0], "{query}");
    }
    for query in [
        "@Level like 'Err%'",
        "@Level like 'ERR%' ci",
        "@Level not like 'x%' or @Level = 'Error'",
        "@Level = 'Fatal'",
        "@Level like 'Fat%'",
        // Nothing is wrong with leaving out what is not there.
        "@Level <> 'NOTICE'",
        "@Level not in ['NOTICE', 'ALERT']",
        "@Level not like 'N%'",
        "Path like 'api' ci or Path like '%__%' or Path like '/_pi'",
    ] {
        assert_eq!(warnings(&format!("select count(*) from stream where {query}")), [""; 0], "{query}");
    }
    // What is compared is looked at once, however deep it lies.
    let nested = (0..100).fold("Path".to_owned(), |left, _| format!("({left} = Code)"));
    assert_eq!(warnings(&format!("select count(*) from stream where {nested}")), [""; 0]);
    let query = Query::prepare_with("select Missing from stream", &Parameters::new()).unwrap();
    let mut rows = query.run(Memory::default().source(Direction::Ascending));
    assert!(rows.next_row().unwrap().is_none());
    assert_eq!(rows.warnings(), [], "where there are no events, nothing is said of them");
}

/// Conditions that mean something else in other languages, and what each is warned of.
const HABITS: &[(&str, &str)] = &[
    (
        "DatePart(@Timestamp, 'dow') = 1",
        "`DatePart(@Timestamp, 'dow')` is undefined, as times have no such part; the parts are date, time, year, quarter, month, week, day, yearday, \
         weekday, hour, minute, second, millisecond",
    ),
    (
        "Round(Elapsed, -2) = 100",
        "`Round(Elapsed, -2)` is undefined, as places are counted from zero on; write `Round(Elapsed / 100) * 100`",
    ),
    (
        "Substring(Path, -1) = '/'",
        "`Substring(Path, -1)` is undefined, as places are counted from the start; write `Substring(Path, Length(Path) - 1)`",
    ),
    (
        "Tags[-1] = 'sale'",
        "`Tags[-1]` is undefined, as elements are counted from zero on; write `Tags[Length(Tags) - 1]`",
    ),
    (
        r"Replace(Path, /(.)/, '\1') = '/'",
        r"`Replace(Path, /(.)/, '\1')` puts `\1` there as it is written; write `$1` for a group",
    ),
    (
        r"Path = 'C:\\Windows\\cmd.exe'",
        r"`Path = 'C:\\Windows\\cmd.exe'` looks for two backslashes, as they are not doubled in quotes; write 'C:\Windows\cmd.exe'",
    ),
    (
        r"Path like '%\n%'",
        r"`Path like '%\n%'` looks for a backslash and a letter, as there are no escapes in quotes; write `IsMatch(Path, /\n/)`",
    ),
    (
        r"Contains(Path, '\t')",
        r"`Contains(Path, '\t')` looks for a backslash and a letter, as there are no escapes in quotes; write `IsMatch(Path, /\t/)`",
    ),
    // The warning had a parenthesis too many.
    (
        "Elapsed > 5 and ( not Path = '/' ci )",
        "`not Path = '/' ci` is read as `(not Path) = '/' ci`; write `not (Path = '/' ci)`",
    ),
    (
        "(Path like 'api')",
        "`Path like 'api'` has no `%`, so it compares the whole text; write `Path like '%api%'` for a part of it",
    ),
    ("not Path = '/'", "`not Path = '/'` is read as `(not Path) = '/'`; write `not (Path = '/')`"),
    (
        "Elapsed > 5 and not Code in ['60']",
        "`not Code in ['60']` is read as `(not Code) in ['60']`; write `not (Code in ['60'])`",
    ),
    ("not Elapsed >= 5", "`not Elapsed >= 5` is read as `(not Elapsed) >= 5`; write `not (Elapsed >= 5)`"),
    (
        "NOT Path like '/%' ci",
        "`NOT Path like '/%' ci` is read as `(NOT Path) like '/%' ci`; write `not (Path like '/%' ci)`",
    ),
    (
        "Code = '60' or '61'",
        "`'61'` beside `or` is no condition, and counts as false; write a comparison on each side, or `x in ['a', 'b']`",
    ),
    (
        "Elapsed = 60 or 61",
        "`61` beside `or` is no condition, and counts as false; write a comparison on each side, or `x in ['a', 'b']`",
    ),
    (
        "5 < Elapsed < 9",
        "`5 < Elapsed < 9` compares a condition with a value, which is undefined; write `5 < Elapsed and Elapsed < 9`",
    ),
    (
        "Path = '/api/%'",
        "`Path = '/api/%'` compares the whole text, in which the sign stands for itself; write `Path like '/api/%'`",
    ),
    (
        "Path <> '*a_b*'",
        "`Path <> '*a_b*'` compares the whole text, in which the sign stands for itself; write `Path not like '%a__b%'`",
    ),
    (
        "Path like 'api'",
        "`Path like 'api'` has no `%`, so it compares the whole text; write `Path like '%api%'` for a part of it",
    ),
    (
        "Path not like '*api*'",
        "`Path not like '*api*'` has no `%`, and `*` stands for itself; write `Path not like '%api%'`",
    ),
    (
        "Path like '%%'",
        "`Path like '%%'` looks for a `%`, as `%%` is that sign itself; write `Path like '%'` for any text",
    ),
    (
        "Path like '%/___ms%'",
        r"`Path like '%/___ms%'` looks for a `_`, as `__` is that sign itself; write `IsMatch(Path, /\/...ms/)` for any characters in their place",
    ),
    (
        "Path not like 'a.___' ci",
        r"`Path not like 'a.___' ci` looks for a `_`, as `__` is that sign itself; write `Path <> /a\..../ ci` for any characters in their place",
    ),
    ("Path = /api/", "`Path = /api/` compares the whole text; write `IsMatch(Path, /api/)` for a part of it"),
    (
        "Code in '60'",
        "`Code in '60'` is undefined, as there is no array on the right; write `Code in ['60']`",
    ),
    ("Has('Code')", "`Has('Code')` is true for every event, as it asks of a text; write `Has(Code)`"),
    (
        "has('x-request-id')",
        "`has('x-request-id')` is true for every event, as it asks of a text; write `Has(@Properties['x-request-id'])`",
    ),
    (
        "ToLower(Path) like '%API%'",
        "`ToLower(Path) like '%API%'` compares what ToLower gives with other letters; write '%api%'",
    ),
    (
        "ToUpper(Path) = 'straße'",
        "`ToUpper(Path) = 'straße'` compares what ToUpper gives with other letters; write 'STRAßE'",
    ),
    (
        "@Level >= 'Error'",
        "`@Level >= 'Error'` compares levels as texts, by their letters; name them, as in `@Level in ['Error', 'Fatal']`",
    ),
];

/// What is right here and means something else elsewhere: each gave no row, or all, without a word.
#[test]
fn habits_of_other_languages_are_warned_of() {
    for (condition, warning) in HABITS {
        assert_eq!(
            warnings(&format!("select count(*) from stream where {condition}")),
            [*warning],
            "{condition}"
        );
    }
    for (aggregate, condition) in
        [("count(Elapsed > 5)", "Elapsed > 5"), ("sum(Code is null)", "Code is null")]
    {
        let warning = format!(
            "`{aggregate}` does not count the events that meet the condition; write `sum(if {condition} then 1 else 0)`, or `count(*)` \
             with `where {condition}`"
        );
        assert_eq!(warnings(&format!("select {aggregate} from stream")), [warning], "{aggregate}");
        let grouped = warnings(&format!("select {aggregate} as n from stream group by Path having n > 1"));
        assert_eq!(grouped.len(), 1, "{grouped:?}");
    }
    for condition in [
        "@Timestamp > 638525769611234567 and @Timestamp >= '2024-05-29' and @Timestamp > Now() - 1h",
        "Contains(Path, 'a') and StartsWith(Code, '6') and IsMatch(Path, /a/)",
        "not (Path = '/') and (not Robot) = true and not Robot = true",
        "not Contains(Path, 'a') and not Code is null",
        "Path = '/' or true",
        "Path <> '100%' and Path <> '*' and Path <> 'a%b'",
        "Path like '/%' and Path like '100%%' and Path like '_'",
        "Path = /.*api.*/ and Path = /[a-z]+/",
        "ToUpper(Path) = 'STRAßE'",
        "Has(Code) and ToLower(Path) = 'api' and ToLower(Path) = 'API' ci",
        "(Elapsed < 9) = Robot",
        "@Level = 'Error'",
        "DatePart(@Timestamp, 'WeekDay') = 1 and Round(Elapsed, 2) > 1 and Tags[0] <> 'x' and Substring(Path, 0, 1) <> 'x'",
        r"Path <> '\\server\share' and Path not like '%\\%' and Path <> 'a\b' and Replace(Path, /(.)/, '$1\n') <> 'x'",
    ] {
        assert_eq!(
            warnings(&format!("select count(*) from stream where {condition}")),
            [""; 0],
            "{condition}"
        );
    }
}

/// The day of an example was in it, which would be copied into a delete, and the greatest ticks were taken for a Unix time.
#[test]
fn what_is_advised_for_instants_is_of_what_was_written() {
    let warned = |condition: &str| warnings(&format!("select count(*) from stream where {condition}"));
    for (condition, remedy) in [
        ("@Timestamp like '2023-01-02%'", "write `@Timestamp >= '2023-01-02' and @Timestamp < '…'` with"),
        (
            "@Timestamp not like '2023-01-02T%'",
            "write `not (@Timestamp >= '2023-01-02' and @Timestamp < '…')`",
        ),
        ("@Timestamp like '2023-01-02T10%'", "write `@Timestamp >= '…' and @Timestamp < '…'`, or"),
        ("@Timestamp > 1716980161000000000", "write '2024-05-29T10:56:01Z'"),
    ] {
        let warned = warned(condition);
        assert!(warned.iter().any(|warning| warning.contains(remedy)), "{warned:?}");
    }
    for ticks in ["3155378975999999999", "3000000000000000000"] {
        assert_eq!(warned(&format!("@Timestamp < {ticks}")), [""; 0]);
    }
}

/// Levels that are numbers, as journald and pino have them, were compared with names without a word.
#[test]
fn levels_of_other_logs_are_told() {
    let event = |n: u64, level: &str| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"@l":{level},"N":{n}}}"#),
    };
    for (levels, told) in [(["\"3\"", "\"6\""], "'3', '6'"), (["30", "50"], "30, 50")] {
        let events: Vec<Event> = (0..40).map(|n| event(n, levels[usize::from(n % 2 == 0)])).collect();
        let memory = Memory::blocks(&[&[&events]]);
        let asked = |text: &str| {
            let query = Query::prepare(text).unwrap();
            let mut rows = query.run(memory.source(Direction::Ascending));
            while rows.next_row().unwrap().is_some() {}
            rows.warnings().iter().map(ToString::to_string).collect::<Vec<String>>()
        };
        let expected = format!("no event that was read has the level 'Error'; their levels are {told}");
        assert_eq!(asked("select count(*) from stream where @Level = 'Error'"), [expected]);
    }
}

/// A delete was refused though its condition was right.
#[test]
fn who_names_what_else_may_be_meant_is_not_warned() {
    let event = |n: u64| {
        let level = ["error", "critical", "info"][n as usize % 3];
        let document = format!(r#"{{"@t":"2024-05-29T10:56:01Z","trace_id":"7","Err":1,"level":"{level}"}}"#);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..40).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    let asked = |condition: &str| {
        let query = Query::prepare(&format!("select count(*) from stream where {condition}")).unwrap();
        let mut rows = query.run(memory.source(Direction::Ascending));
        while rows.next_row().unwrap().is_some() {}
        rows.warnings().len()
    };
    let many: Vec<String> = (0..21).map(|n| format!("'v{n}'")).collect();
    for fine in [
        "@TraceId = 'x' or trace_id = 'x'".to_owned(),
        "level in ['error', 'fatal']".to_owned(),
        "level like 'inf%' or level = 'Info'".to_owned(),
        format!("level in ['Error', {}, 'error']", many.join(", ")),
    ] {
        assert_eq!(asked(&fine), 0, "{fine}");
    }
    for misleading in ["@TraceId = 'x'", "level in ['Error', 'info']", "level <> 'Error'", "level = 'fatal'"]
    {
        assert_eq!(asked(misleading), 1, "{misleading}");
    }
}

/// Queries that ask for values within others, and what each is warned of where statistics of columns tell it.
const MISLEADING_WITHIN: &[(&str, &str)] = &[
    (
        "select count(*) from stream where host.ip = '10.0.0.1'",
        "`host.ip` is never a string, so `host.ip` = a string is false for every event; its values are arrays: write `host.ip[?]` for any of \
         their elements",
    ),
    (
        "select count(*) from stream where Contains(host.ip, '10.')",
        "`host.ip` is never a string, so `Contains(host.ip, …)` is undefined for every event; its values are arrays: write `'…' in host.ip` for \
         one of their elements",
    ),
    (
        "select count(*) from stream where host.code > 60",
        "`host.code` is never a number, so `host.code` > a number is undefined for every event; `ToNumber(host.code)` reads numbers in text",
    ),
    (
        "select mean(host.code) from stream",
        "`mean(host.code)` passes over texts, and no value of `host.code` is a number; `mean(ToNumber(host.code))` reads numbers in text",
    ),
    (
        "select sum(host.ip) from stream",
        "no `host.ip` is a number, so `sum(host.ip)` has nothing to take; its values are arrays: `from stream lateral unnest(host.ip) as x` gives \
         a row for each element",
    ),
    (
        "select max(host['the-port'] - 1) from stream group by host.code - 1",
        "`host.code` is never a number, so `host.code - 1` is undefined for every event; `ToNumber(host.code)` reads numbers in text, and \
         `DateTime(host.code)` times",
    ),
    (
        "select count(*) from stream where host.name = 'web'",
        "no `host.name` is 'web', but some are 'Web'; write that, or write `ci` after the comparison",
    ),
    (
        "select count(*) from stream where host['the-port'] = host.code",
        "`host['the-port']` and `host.code` are never of one kind, so `host['the-port'] = host.code` is never true; `ToNumber(host.code)` reads numbers in text",
    ),
];

#[test]
fn values_within_others_are_warned_of_in_columns() {
    let event = |n: u64| {
        let document = format!(
            r#"{{"n":{n},"host":{{"ip":["10.0.0.{n}"],"code":"{n}","name":"Web","the-port":{n},"up":true}}}}"#
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..60).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    let warnings = |memory: &Memory, text: &str| {
        let query = Query::prepare(text).unwrap();
        let mut rows = query.run_with(memory.source(Direction::Ascending), RunOptions::default());
        while rows.next_row().unwrap().is_some() {}
        rows.warnings().iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    let columns = memory.in_columns();
    for (text, warning) in MISLEADING_WITHIN {
        assert_eq!(warnings(&columns, text), [*warning], "{text}");
        // Nothing is known of what lies within others in text.
        assert_eq!(warnings(&memory, text), [""; 0], "{text}");
    }
    for text in [
        "select count(*) from stream where host.ip[?] = '10.0.0.1' and host.name = 'Web' and host.up",
        "select max(host['the-port']), count(host.ip), first(host.code) from stream where host.code = '7'",
        "select count(*) from stream where TypeOf(host.code) = 'number' and host.code > 5",
        "select ToNumber(host.code) + 1 as x from stream where ToNumber(host.code) > 5 order by x",
    ] {
        assert_eq!(warnings(&columns, text), [""; 0], "{text}");
    }
}
