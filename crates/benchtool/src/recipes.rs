//! How to make events of text with a time on each line: for each form of it a command.

/// A kind of source that cannot be read as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    pub(crate) what: &'static str,
    /// What converts it, before the name of the file; nothing if nobody can tell.
    pub(crate) command: &'static str,
    /// What the conversion loses, and what reads the result needs for that.
    pub(crate) loses: &'static str,
    pub(crate) options: &'static str,
}

pub(crate) const fn packed(what: &'static str, command: &'static str) -> Foreign {
    Foreign { what, command, loses: "", options: "" }
}

/// What becomes of lines that are not as the first, where each line is an event.
const KEPT_WHOLE: &str = " (lines of another form are kept whole, with the time of the line before)";

/// What becomes of lines without a time, as of stack traces, where they belong to the event before them.
const ADDED: &str = " (lines without a time are added to the event before them)";

/// A command that makes an event of each line by this program. What the program does not take keeps the time of the line before.
macro_rules! each_line {
    (last: $last:literal, $($program:expr),+) => {
        concat!(
            r#"jq -cnR 'foreach (inputs | rtrimstr("\r")) as $line ({}; "#, $last, r#" as $last | $line | ("#,
            $($program),+, r#") // ($last + {"@m": .}))'"#
        )
    };
    ($($program:expr),+) => {
        concat!(
            r#"jq -cnR 'foreach (inputs | rtrimstr("\r")) as $line ({}; .time as $last | $line | ("#, $($program),+, r#") // {time: $last, "@m": .})'"#
        )
    };
}

/// A command that makes an event of each line that begins with such a time, and adds the lines behind it. Its level is the first word
/// that looks like one.
macro_rules! each_time {
    ($time:expr) => {
        concat!(
            r#"jq -cnR 'foreach ((inputs | rtrimstr("\r")), null) as $line ({}; ([$line | strings | capture("^.{0,60}?(?<time>"#,
            $time,
            r#")")][0]) as $new | if $new or $line == null then {out: .next, next: ($new // {} | . + ([$line | strings | capture("#,
            r#""^.{0,100}?\\b(?<level>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|PANIC|VRB|DBG|INF|WRN|ERR|FTL)\\b")][0] // {}) "#,
            r#"+ {"@m": $line})} else {next: (.next | .["@m"] |= ([values, $line] | join("\n")))} end; .out | values)'"#
        )
    };
}

/// What adds the year to a time that names none, with its month as a number from 0, and its day. No log is of the future: a day after
/// tomorrow, as clocks and time zones differ, is one of last year.
macro_rules! year {
    ($month:expr, $day:expr) => {
        concat!(
            r#".time = ((now + 86400 | gmtime) as $next | $next[0] - (if ["#,
            $month,
            ", ",
            $day,
            r#"] > $next[1:3] then 1 else 0 end) | tostring) + " " + .time"#
        )
    };
}

/// How the first line of a text with times looks, and what makes events of such lines. HEURISTIC: in this order, the most particular
/// first.
pub(crate) const TIMED: [(&str, Foreign); 19] = [
    (
        r#"^(\S+:\d+ )?\S+ \S+ .+? \[\d\d/[A-Z][a-z]{2}/\d{4}:[^]]*\] ""#,
        Foreign {
            what: "the access log of a web server, not JSON",
            command: each_line!(
                r#"capture("^((?<vhost>\\S+:\\d+) )?(?<addr>\\S+) \\S+ (?<user>.+?) \\[(?<time>[^]]+)\\] "#,
                r#"\"(?<request>([^\"\\\\]|\\\\.)*)\" (?<status>\\d+) (?<bytes>\\d+|-)"#,
                r#"( \"(?<referrer>([^\"\\\\]|\\\\.)*)\" \"(?<agent>([^\"\\\\]|\\\\.)*)\")?( (?<rest>.*\\S))?\\s*$") "#,
                r#"| .status |= tonumber | .bytes = (.bytes | tonumber? // 0) | map_values(values)"#
            ),
            loses: KEPT_WHOLE,
            options: "",
        },
    ),
    (
        r"^\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(\.\d+)? \d{4}\] ",
        Foreign {
            what: "the error log of a web server, not JSON",
            command: each_line!(
                r#"capture("^\\[\\w{3} (?<time>[^]]+)\\] (\\[((?<module>\\w*):)?(?<level>\\w+)\\] )?"#,
                r#"(\\[pid (?<pid>\\d+)(:tid (?<tid>\\d+))?\\] )?(\\[client (?<client>[^]]+)\\] )?(?<message>.*)$") "#,
                r#"| map_values(values)"#
            ),
            loses: KEPT_WHOLE,
            options: " --time-key time --time-format '%b %e %H:%M:%S%.f %Y' --level-key level --message-key message",
        },
    ),
    (
        r"^#Fields: ",
        Foreign {
            what: "a log in the W3C format, as IIS writes it, not JSON",
            command: concat!(
                r##"jq -cnR 'foreach (inputs | ltrimstr("\ufeff") | rtrimstr("\r")) as $line ({}; if $line[0:9] == "#Fields: " "##,
                r##"then {names: ($line[9:] | [splits("[ \t]")])} "##,
                r##"else .event = (if $line[0:1] == "#" or $line == "" then null else $line | [splits("[ \t]")] end) end; "##,
                r##".names as $names | ($names | length) as $count | .event | values "##,
                r##"| [$names + ["rest"], .[:$count] + (.[$count:] | if . == [] then . else [join(" ")] end)] "##,
                r##"| transpose | map(select(.[1])) "##,
                r##"| map({(.[0]): (.[1] | if test("^(0|-?[1-9][0-9]{0,14})$") then tonumber else . end)}) | add "##,
                r##"| .time = .date + "T" + .time + "Z")'"##
            ),
            loses: "",
            options: "",
        },
    ),
    (
        r"^#separator \\x09",
        Foreign {
            what: "a log of Zeek, not JSON",
            command: concat!(
                r##"jq -cnR 'foreach inputs as $line ({}; if $line[0:8] == "#fields\t" then {names: ($line[8:] | split("\t"))} "##,
                r##"else .event = (if $line[0:1] == "#" or $line == "" then null else $line | split("\t") end) end; "##,
                r##".names as $names | .event | values | [$names, .] | transpose "##,
                r##"| map(select(.[0] and .[1] and .[1] != "-" and .[1] != "(empty)")) "##,
                r##"| map({(.[0]): (.[1] | if test("^(0|-?[1-9][0-9]{0,14})(\\.[0-9]{1,6})?$") then tonumber else . end)}) | add)'"##
            ),
            loses: " (sets of values become text)",
            options: " --time-key ts",
        },
    ),
    (
        r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\] \d+#\d+: ",
        Foreign {
            what: "the error log of nginx, not JSON",
            command: each_line!(
                r#"capture("^(?<time>\\d{4}/\\d\\d/\\d\\d [\\d:]{8}) \\[(?<level>\\w+)\\] (?<pid>\\d+)#(?<tid>\\d+): "#,
                r#"(\\*(?<connection>\\d+) )?(?<message>.*)$") | map_values(values)"#
            ),
            loses: KEPT_WHOLE,
            options: " --time-key time --time-format '%Y/%m/%d %H:%M:%S' --level-key level --message-key message",
        },
    ),
    (
        r"^<\d+>\d+ \d{4}-\d\d-\d\dT\S+ \S+ \S+ \S+ \S+ (-|\[)",
        Foreign {
            what: "syslog (RFC 5424), not JSON",
            command: each_line!(
                r#"capture("^<(?<pri>\\d+)>\\d+ (?<time>\\d\\S+) (?<host>\\S+) (?<app>\\S+) (?<pid>\\S+) (?<id>\\S+) "#,
                r#"(?<data>-|(\\[([^]\\\\]|\\\\.)*\\])+)( (?<message>.*))?$") | .severity = (["emerg", "alert", "crit", "err", "#,
                r#""warning", "notice", "info", "debug"][(.pri | tonumber) % 8]) | map_values(values)"#
            ),
            loses: KEPT_WHOLE,
            options: " --level-key severity --message-key message",
        },
    ),
    (
        r"^(<\d+>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^:]+: ",
        Foreign {
            what: "syslog, not JSON",
            command: each_line!(
                r#"capture("^(<(?<pri>\\d+)>)?(?<time>\\w{3} [ \\d]\\d [\\d:]{8}) (?<host>\\S+) "#,
                r#"(?<app>[^:\\[ ]+)(\\[(?<pid>\\d+)\\])?: (?<message>.*)$") | "#,
                year!(
                    r#"(.time[0:3] as $month | "JanFebMarAprMayJunJulAugSepOctNovDec" | index($month) // 0) / 3"#,
                    r#"(.time[4:6] | ltrimstr(" ") | tonumber)"#
                ),
                " | map_values(values)"
            ),
            loses: " (times are taken for those of the last twelve months; lines of another form are kept whole, with the time of the line before)",
            options: " --time-key time --time-format '%Y %b %e %H:%M:%S' --message-key message",
        },
    ),
    (
        r"^type=\S+ msg=audit\(\d+\.\d+:\d+\): ",
        Foreign {
            what: "the log of auditd, not JSON",
            command: each_line!(
                r#"capture("^type=(?<type>\\S+) msg=audit\\((?<time>[0-9.]+):(?<serial>\\d+)\\): *(?<message>.*)$") "#,
                r#"| .time |= tonumber | . as $event "#,
                r#"| ([.message | scan("([^ =\u001d]+)=(\"[^\"]*\"|\u0027[^\u0027]*\u0027|[^ \u001d]*)") | {(.[0]): (.[1] | ltrimstr("\"") | rtrimstr("\""))}] "#,
                r#"| add) + $event"#
            ),
            loses: KEPT_WHOLE,
            options: " --message-key message",
        },
    ),
    (
        r"^\d{4}-\d\d-\d\dT\S+ [^\s\[\]]+ ([^\s:\[]+\[\d+\]|kernel|systemd|rsyslogd): ",
        Foreign {
            what: "syslog, not JSON",
            command: each_line!(
                r#"capture("^(?<time>\\d{4}-\\d\\d-\\d\\dT\\S+) (?<host>\\S+) (?<app>[^:\\[ ]+)(\\[(?<pid>\\d+)\\])?: (?<message>.*)$") "#,
                "| map_values(values)"
            ),
            loses: KEPT_WHOLE,
            options: " --message-key message",
        },
    ),
    (
        r"^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\] ",
        Foreign {
            what: "a log of Kubernetes (klog), not JSON",
            command: each_line!(
                r#"capture("^(?<level>[IWEF])(?<time>\\d{4} [\\d:.]+) +(?<thread>\\d+) (?<source>\\S+:\\d+)\\] (?<message>.*)$") | "#,
                year!("(.time[0:2] | tonumber) - 1", "(.time[2:4] | tonumber)")
            ),
            loses: " (times are taken for those of the last twelve months; lines of another form are kept whole, with the time of the line before)",
            options: " --time-key time --time-format '%Y %m%d %H:%M:%S%.f' --level-key level --message-key message",
        },
    ),
    (
        r"^\d{4}-\d\d-\d\dT\S+ (stdout|stderr) [FP] ",
        Foreign {
            what: "the log of a container (CRI), not JSON",
            command: concat!(
                r#"jq -cR 'capture("^(?<t>\\S+) (?<stream>\\S+) [FP] (?<m>.*)$") | {"@t": .t, stream} "#,
                r#"+ ((.m | fromjson? | objects) // {"@m": .m})'"#
            ),
            loses: " (lines that were cut stay in pieces)",
            options: "",
        },
    ),
    (
        r#"^[\w.@/-]+=("([^"\\]|\\.)*"|[^" ]*)( +[\w.@/-]+=("([^"\\]|\\.)*"|[^" ]*))+ *$"#,
        Foreign {
            what: "logfmt, not JSON",
            command: each_line!(
                last: "([{time, ts, t} | to_entries[] | select(.value)][:1] | from_entries)",
                r#"[scan("([^ =]+)=(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^ ]*))") "#,
                r#"| {(.[0]): ((.[1] | values | ("\"\(.)\"" | fromjson?) // .) // .[2])}] | add"#
            ),
            loses: " (all values become text; lines of another form are kept whole, with the time of the line before)",
            options: "",
        },
    ),
    (
        r#"^\S+(\t\S+)?( +\|)?\s+\{".*\}\s*$"#,
        Foreign {
            what: "JSON behind other text",
            command: concat!(
                r#"jq -cR '. as $line | ([capture("^(?<time>\\d{4}-\\d\\d-\\d\\d[T ][0-9:]{8}([.,]\\d+)?(Z| ?[+-]\\d\\d:?\\d\\d)?)")][0] // {}) "#,
                r#"+ ([$line | capture("^(?<prefix>\\S+(\\t\\S+)?)( +\\|)?\\s+(?<json>\\{.*\\})\\s*$") "#,
                r#"| {prefix} + (.json | fromjson? | objects)][0] // {"@m": $line})'"#
            ),
            loses: " (lines without JSON are kept whole, if they have a time)",
            options: "",
        },
    ),
    (
        r"^.{0,60}?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d",
        Foreign {
            what: "text, not JSON",
            command: each_time!(r"\\d{4}-\\d\\d-\\d\\d[T ][0-9:]{8}([.,]\\d+)?(Z| ?[+-]\\d\\d:?\\d\\d)?"),
            loses: ADDED,
            options: " --level-key level",
        },
    ),
    (
        r"^.{0,60}?\d{4}/\d\d/\d\d \d\d:\d\d:\d\d",
        Foreign {
            what: "text, not JSON",
            command: each_time!(r"\\d{4}/\\d\\d/\\d\\d [0-9:]{8}([.]\\d+)?"),
            loses: ADDED,
            options: " --time-key time --time-format '%Y/%m/%d %H:%M:%S%.f' --level-key level",
        },
    ),
    (
        r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d ",
        Foreign {
            what: "text, not JSON",
            command: each_time!(r"\\d\\d/\\d\\d/\\d\\d [0-9:]{8}"),
            loses: " (if its days are written as year/month/day; lines without a time are added to the event before them)",
            options: " --time-key time --time-format '%y/%m/%d %H:%M:%S' --level-key level",
        },
    ),
    (
        r"^.{0,60}?\b\d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d",
        Foreign {
            what: "text, not JSON",
            command: each_time!(r"\\b\\d\\d? [A-Z][a-z]{2} \\d{4} [0-9:]{8}([.]\\d+)?"),
            loses: ADDED,
            options: " --time-key time --time-format '%d %b %Y %H:%M:%S%.f' --level-key level",
        },
    ),
    (
        r"^.{0,60}?\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d",
        Foreign {
            what: "text, not JSON",
            command: each_time!(r"\\d\\d/[A-Z][a-z]{2}/\\d{4}:[0-9:]{8}([.]\\d+)?( [+-]\\d{4})?"),
            loses: ADDED,
            options: " --level-key level",
        },
    ),
    (
        r"^1\d{9}\.\d{3} ",
        Foreign {
            what: "text, not JSON",
            command: each_time!(r"1\\d{9}[.]\\d{3}"),
            loses: ADDED,
            options: " --level-key level",
        },
    ),
];
