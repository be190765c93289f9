//! What functions are called in other languages.

/// Function names of other languages, and what does their work here.
pub(crate) fn advice(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "avg" | "average" => "write `mean(x)`",
        "len" | "char_length" | "strlen" | "size" => "write `Length(x)`",
        "lower" | "lcase" => "write `ToLower(x)`",
        "upper" | "ucase" => "write `ToUpper(x)`",
        "substr" | "mid" | "left" => "write `Substring(x, start, length)`",
        "exists" | "isdefined" | "defined" => "write `Has(x)`",
        "isnull" | "ifnull" | "nvl" => "write `x is null`, or `Coalesce(x, y)`",
        "regexp_like" | "regexp_matches" | "regexp" => "write `IsMatch(x, /…/)`",
        "cast" | "convert" | "tonum" | "to_number" | "parse" => "write `ToNumber(x)` or `ToString(x)`",
        "iif" | "case" => "write `if x then a else b`",
        "date_trunc" | "bin" | "time_bucket" => "write `group by time(1h)`",
        "date" | "to_date" | "trunc" => "write `group by time(1d)`, or `DatePart(x, 'date')`",
        "time" => "`time(1h)` stands in `group by` only",
        "p50" => "write `percentile(x, 50)`",
        "p90" => "write `percentile(x, 90)`",
        "p95" => "write `percentile(x, 95)`",
        "p99" => "write `percentile(x, 99)`",
        "percentile_cont" | "percentile_disc" | "quantile" | "approx_quantile" => {
            "write `percentile(x, 95)`, from 0 to 100"
        }
        "year" => "write `DatePart(x, 'year')`",
        "month" => "write `DatePart(x, 'month')`",
        "week" => "write `DatePart(x, 'week')`, or `group by time(7d)`",
        "day" => "write `DatePart(x, 'day')`, or `group by time(1d)`",
        "hour" | "minute" | "second" | "date_part" => "write `DatePart(x, 'hour')`, or `group by time(1h)`",
        "extract" => {
            "write `DatePart(x, 'hour')` for a part of a time, or `Replace(x, /^.*=([0-9]+).*$/, '$1')` for a part of a text"
        }
        "regexp_extract" => "write `Replace(x, /^.*=([0-9]+).*$/, '$1')`",
        "split" | "split_part" => "write `Substring(x, 0, IndexOf(x, ','))`",
        "abs" => "write `if x < 0 then -x else x`",
        "floor" | "ceil" | "ceiling" | "truncate" => {
            "write `Round(x)`, or `x - x % 1`, which rounds towards zero"
        }
        "least" => "write `if x < y then x else y`",
        "greatest" => "write `if x > y then x else y`",
        "mode" => "write `select count(*) as n from stream group by x order by n desc limit 1`",
        "nullif" => "write `if x = y then null else x`",
        "stddev" | "variance" | "var" => "there is `percentile(x, p)` for how values spread",
        "approx_distinct" | "uniq" | "dc" => "write `count(distinct(x))`",
        "group_concat" | "string_agg" | "array_agg" => "write `distinct(x)`, `top(x, n)`",
        "position" | "strpos" | "instr" | "charindex" => "write `IndexOf(x, 'a')`",
        "getdate" | "current_timestamp" | "sysdate" | "utcnow" => "write `Now()`",
        "in" => "write `x in [1, 2]`",
        _ => return None,
    })
}
