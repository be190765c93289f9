#!/usr/bin/env python3
"""Tamias beside DuckDB, ClickHouse (chdb), ripgrep and jq, on the same events.

    python3 benches/peers/run.py                 the whole of it: about ten minutes and 3 GB of disk
    python3 benches/peers/run.py --events 50000  a trial

Sets up what it needs below target/peers: a virtual environment with pinned packages, the generated events, a store, a database.
Every answer is compared before anything is timed; where two engines disagree it stops. Engines take turns, each on one thread
and with its data in the page cache, and the least time counts. Writes docs/peers.md and docs/performance.svg.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "peers"
PACKAGES = ["duckdb==2.0.0", "chdb==4.4.0"]
SEED = 7

# What is asked: a name, and the query for each engine. None: it has no way to say it. Where answers are estimates, how far apart they may be.
CASES = [
    ("Elapsed > 200",
     "select count(*), sum(Length(Message)) from stream where Elapsed > 200",
     "select count(*), sum(length(Message)) from e where Elapsed > 200",
     "select count(), sum(lengthUTF8(j.Message::String)) from t.e where j.Elapsed::Float64 > 200"),
    ("match(Message, '/api/customers')",
     "select count(*), sum(Length(Message)) from stream where match(Message, '/api/customers')",
     "select count(*), sum(length(Message)) from e where contains(Message, '/api/customers')",
     "select count(), sum(lengthUTF8(j.Message::String)) from t.e where position(j.Message::String, '/api/customers') > 0"),
    ("RequestId is not null",
     "select count(*) from stream where RequestId is not null",
     "select count(*) from e where RequestId is not null",
     "select count() from t.e where isNotNull(j.RequestId)"),
    ("group by Application",
     "select count(*) from stream group by Application",
     "select count(*) from e group by Application",
     "select count() from t.e group by j.Application::Nullable(String)"),
    ("@Exception like 'Sys%'",
     "select count(*) from stream where @Exception like 'Sys%'",
     """select count(*) from e where "@x" like 'Sys%'""",
     "select count() from t.e where startsWith(j.`@x`::String, 'Sys')"),
    ("sum, min, max of three keys",
     "select sum(Elapsed), min(CustomerId), max(ProductId) from stream",
     "select sum(Elapsed), min(CustomerId), max(ProductId) from e",
     "select sum(j.Elapsed::Float64), min(j.CustomerId::Nullable(Int64)), max(j.ProductId::Nullable(Int64)) from t.e"),
    ("a ten-way or",
     "select count(*) from stream where " + " or ".join(f"Elapsed = {n}" for n in range(1, 11)),
     "select count(*) from e where " + " or ".join(f"Elapsed = {n}" for n in range(1, 11)),
     "select count() from t.e where " + " or ".join(f"j.Elapsed::Float64 = {n}" for n in range(1, 11))),
    ("count(distinct(CustomerId))",
     "select count(distinct(CustomerId)) from stream",
     "select count(distinct CustomerId) from e",
     "select uniqExact(j.CustomerId::Nullable(Int64)) from t.e"),
    ("percentile by time(12h)",
     "select percentile(Elapsed, 95) from stream group by time(12h)",
     """select quantile_disc(Elapsed, 0.95) from e group by time_bucket(interval '12 hours', "@t")""",
     "select quantileExact(0.95)(j.Elapsed::Float64) from t.e where isNotNull(j.Elapsed) "
     "group by toStartOfInterval(j.`@t`::DateTime64(7), interval 12 hour)",
     # Ours is an estimate, to a hundredth; the others are exact.
     0.03),
    ("one event by its span",
     "select count(*) from stream where @sp = '{span}'",
     """select count(*) from e where "@sp" = '{span}'""",
     "select count() from t.e where j.`@sp`::String = '{span}'"),
    ("a key that no event has",
     "select count(*) from stream where NoSuchKey = 1",
     None,
     "select count() from t.e where j.NoSuchKey::Float64 = 1"),
]
ROUNDS = 9


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, **options)


def set_up(arguments):
    """The environment with the peers, benchtool, and the events."""
    WORK.mkdir(parents=True, exist_ok=True)
    python = Path(arguments.python) if arguments.python else WORK / "venv" / "bin" / "python"
    if not python.exists():
        say(f"setting up {', '.join(PACKAGES)}")
        run([sys.executable, "-m", "venv", WORK / "venv"])
        run([python, "-m", "pip", "install", "--quiet", *PACKAGES])
    tool = Path(arguments.benchtool) if arguments.benchtool else None
    if tool is None:
        say("building benchtool")
        run(["cargo", "build", "--release", "-p", "benchtool"], cwd=ROOT)
        tool = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "benchtool"
    events = WORK / f"events-{arguments.events}.ndjson"
    if not events.exists():
        say(f"generating {arguments.events} events")
        with open(events, "wb") as out:
            subprocess.run([str(tool), "generate", "--events", str(arguments.events), "--seed", str(SEED)],
                           check=True, stdout=out)
    return python, tool, events


def columns_of(events):
    """A typed column for each key of the top level, as DuckDB would have it if its own detection found them.

    That takes the generated events for one column of JSON, because there are many keys and few that all have.
    """
    kinds = {}
    with open(events, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number >= 200_000:
                break
            for key, value in json.loads(line).items():
                kind = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}.get(type(value), "JSON")
                known = kinds.get(key, kind)
                if {known, kind} == {"BIGINT", "DOUBLE"}:
                    kind = "DOUBLE"
                elif known != kind:
                    kind = "VARCHAR"
                kinds[key] = kind
    kinds["@t"] = "TIMESTAMP"
    columns, seen = {}, set()
    for key, kind in kinds.items():
        # Its names are the same in either case, and some it cannot read where columns are given.
        if key.lower() not in seen and re.fullmatch(r"[\w@$]+", key):
            seen.add(key.lower())
            columns[key] = kind
    return columns


PEER = r"""
import json, sys, time
asked = json.load(sys.stdin)
kind = asked["engine"]
if kind == "duckdb":
    import duckdb
    con = duckdb.connect(asked["database"])
    con.execute("set threads=1")
    con.execute("set enable_progress_bar=false")
    ask = lambda text: con.execute(text).fetchall()
else:
    from chdb import session
    con = session.Session(asked["database"])
    def ask(text):
        rows = con.query(text + " settings max_threads=1, max_insert_threads=1", "JSONCompactEachRow")
        return [json.loads(line) for line in str(rows).splitlines() if line]
out = {"load": None, "answers": [], "times": []}
for text in asked["prepare"]:
    begun = time.perf_counter()
    con.execute(text) if kind == "duckdb" else con.query(text)
    out["load"] = time.perf_counter() - begun
for text in asked["queries"]:
    if text is None:
        out["answers"].append(None); out["times"].append(None); continue
    out["answers"].append(sorted([str(float(v)) if v is not None else "null" for v in row] for row in ask(text)))
    times = []
    for _ in range(asked["rounds"]):
        begun = time.perf_counter(); ask(text); times.append(time.perf_counter() - begun)
    out["times"].append(min(times))
json.dump(out, sys.stdout)
"""


def peer(python, **asked):
    done = run([python, "-c", PEER], input=json.dumps(asked), stdout=subprocess.PIPE)
    # What an engine says by itself comes before.
    return json.loads(done.stdout.splitlines()[-1])


def tamias(tool, store, queries, extra=()):
    """The least time of each query, by `benchtool bench`, and its rows."""
    cases = WORK / "cases.txt"
    cases.write_text("\n".join(queries) + "\n", encoding="utf-8")
    # The first percentile of few runs is the fastest of them.
    done = run([tool, "bench", "--cases", cases, "--runs", ROUNDS, "--percentile", 1, *extra, store],
               stdout=subprocess.PIPE)
    times = [int(found) / 1e9 for found in re.findall(r"… (\d+) ns \(", done.stdout)]
    assert len(times) == len(queries), done.stdout
    answers = []
    for query in queries:
        rows = run([tool, "query", store, query, "--format", "ndjson"], stdout=subprocess.PIPE).stdout
        wanted = []
        for row in rows.splitlines():
            values = list(json.loads(row).values())
            # The key that is grouped by comes first, and is not asked of the others.
            values = values[-1:] if " group by " in query else values
            wanted.append([str(float(value)) if value is not None else "null" for value in values])
        answers.append(sorted(wanted))
    return times, answers


def close(a, b, apart=1e-9):
    """Whether rows agree; sums of binary numbers may differ in their last digits."""
    if a is None or b is None:
        return True
    flat = lambda rows: [float("nan") if value == "null" else float(value) for row in rows for value in row]
    a, b = flat(a), flat(b)
    return len(a) == len(b) and all(x == y or abs(x - y) <= apart * max(abs(x), abs(y)) for x, y in zip(a, b))


def timed(command, **options):
    """The least wall time of a whole process."""
    best = None
    for _ in range(3):
        begun = time.perf_counter()
        run(command, stdout=subprocess.DEVNULL, **options)
        taken = time.perf_counter() - begun
        best = taken if best is None else min(best, taken)
    return best


def shown(seconds):
    if seconds is None:
        return ""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_369_670, help="how many events to generate")
    parser.add_argument("--python", help="a Python that has the packages already")
    parser.add_argument("--benchtool", help="a benchtool that is built already")
    parser.add_argument("--note", default="", help="a sentence about the machine, for the tables")
    arguments = parser.parse_args()
    python, tool, events = set_up(arguments)
    size = events.stat().st_size
    with open(events, encoding="utf-8") as lines:
        span = next(json.loads(line)["@sp"] for line in lines if '"@sp":' in line)
    fill = lambda text: text and text.replace("{span}", span)
    ours, ducks, clicks = ([fill(case[place]) for case in CASES] for place in (1, 2, 3))

    say("loading: Tamias")
    store, loads = WORK / "store", []
    for _ in range(3):
        shutil.rmtree(store, ignore_errors=True)
        begun = time.perf_counter()
        run([tool, "ingest", store, events], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        loads.append(time.perf_counter() - begun)
    say("loading: DuckDB")
    for old in WORK.glob("duck.db*"):
        old.unlink()
    quoted = lambda text: "'" + text.replace("'", "''") + "'"
    columns = ", ".join(f"{quoted(key)}: {quoted(kind)}" for key, kind in columns_of(events).items())
    table = (f"create table e as select * from read_json('{events}', format='newline_delimited', columns={{{columns}}}, "
             "ignore_errors=true)")
    duck = peer(python, engine="duckdb", database=str(WORK / "duck.db"), prepare=[table], queries=ducks, rounds=ROUNDS)
    say("loading: ClickHouse")
    shutil.rmtree(WORK / "click", ignore_errors=True)
    click = peer(python, engine="chdb", database=str(WORK / "click"), rounds=ROUNDS, queries=clicks, prepare=[
        "create database if not exists t",
        "create table t.e (j JSON) engine=MergeTree order by tuple()",
        f"insert into t.e select line::JSON from file('{events}', LineAsString, 'line String') "
        "settings max_threads=1, max_insert_threads=1"])
    say("asking: Tamias")
    times, answers = tamias(tool, store, ours)
    plain, _ = tamias(tool, store, ours, ["--plain"])
    wrong = []
    for (name, *case), mine, other, third in zip(CASES, answers, duck["answers"], click["answers"]):
        for engine, theirs in (("DuckDB", other), ("ClickHouse", third)):
            if not close(mine, theirs, *case[3:]):
                wrong.append(f"{name}: {mine[:3]} here, {theirs[:3]} by {engine}")
    if wrong:
        sys.exit("the answers differ:\n" + "\n".join(wrong))

    say("asking: ripgrep and jq, as whole processes")
    others = []
    for name, command in [("ripgrep: lines with /api/customers", ["rg", "-c", "-F", "/api/customers", events]),
                          ("jq: Elapsed > 200", ["jq", "-c", "select(.Elapsed > 200) | .Message", events])]:
        if shutil.which(command[0]):
            others.append((name, timed(command)))
        else:
            say(f"{command[0]} is not here, and left out")
    others.append(("benchtool: rows of Elapsed > 200",
                   timed([tool, "query", store, "select Message from stream where Elapsed > 200", "--format", "ndjson"])))

    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                     platform.processor()) if Path("/proc/cpuinfo").exists() else platform.processor()
    version = run([python, "-c", "import duckdb, chdb; print(duckdb.__version__, chdb.__version__)"],
                  stdout=subprocess.PIPE).stdout.split()
    rustc = run(["rustc", "--version"], stdout=subprocess.PIPE).stdout.strip()
    load = min(loads)
    text = ["# Beside others", "", "Written by `python3 benches/peers/run.py`; do not edit.", "",
            f"{datetime.date.today()}; {processor}, {platform.system()}, {rustc}; DuckDB {version[0]}, chdb {version[1]}; "
            f"{arguments.events} generated events of {size / 1e6:.0f} MB. One thread each, data in the page cache, blocks verified once "
            f"before, the least of {ROUNDS} runs, all answers equal. {arguments.note}".strip(), "",
            "| | Tamias | plain path | DuckDB, its own columns | ClickHouse, JSON type | to DuckDB | to ClickHouse |",
            "|---|---|---|---|---|---|---|"]
    for (name, *_), mine, slow, other, third in zip(CASES, times, plain, duck["times"], click["times"]):
        ratio = lambda theirs: f"{theirs / mine:.2f}×" if theirs else ""
        text.append(f"| {name} | {shown(mine)} | {shown(slow)} | {shown(other)} | {shown(third)} | {ratio(other)} | {ratio(third)} |")
    text += ["", "*Plain path*: each event scanned and evaluated, nothing searched for, nothing concluded (`--plain`). DuckDB reads the columns "
             "that the query names, Tamias the documents.", "", "## Loading", "",
             "| | seconds | MB/s of JSON | to DuckDB |", "|---|---|---|---|"]
    for name, taken in [("Tamias, checked, sealed and flushed", load), ("DuckDB, typed columns given", duck["load"]),
                        ("ClickHouse, JSON type", click["load"])]:
        text.append(f"| {name} | {taken:.2f} | {size / taken / 1e6:.0f} | {duck['load'] / taken:.1f}× |")
    text += ["", "DuckDB's own detection takes these events for one column of JSON, so it is told the columns.", "",
             "## Whole processes", "", "| | |", "|---|---|"]
    text += [f"| {name} | {shown(taken)} |" for name, taken in others]
    (ROOT / "docs" / "peers.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    plot(ROOT / "docs" / "performance.svg", [
        (CASES[place][0], [("Tamias", times[place]), ("DuckDB", duck["times"][place]), ("ClickHouse", click["times"][place])])
        for place in range(4)])
    print("\n".join(text))


def plot(path, groups):
    """Bars, with the times beside them, readable on white and on black."""
    colours = {"Tamias": "#e8590c", "DuckDB": "#868e96", "ClickHouse": "#adb5bd"}
    most = max(taken for _, bars in groups for _, taken in bars if taken)
    y, parts = 44, []
    for name, bars in groups:
        parts.append(f'<text x="16" y="{y}" font-weight="600">{name.replace(">", "&gt;")}</text>')
        y += 10
        for engine, taken in bars:
            width = max(2, 400 * taken / most)
            parts.append(f'<rect x="110" y="{y}" width="{width:.1f}" height="13" rx="2" fill="{colours[engine]}"/>')
            parts.append(f'<text x="102" y="{y + 11}" text-anchor="end">{engine}</text>')
            parts.append(f'<text x="{118 + width:.1f}" y="{y + 11}">{shown(taken)}</text>')
            y += 18
        y += 22
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{y}" viewBox="0 0 640 {y}" font-family="sans-serif" '
        'font-size="12"><style>text{fill:#343a40}@media(prefers-color-scheme:dark){text{fill:#dee2e6}}</style>'
        '<text x="16" y="20" font-size="14">Time on one thread, less is better</text>' + "".join(parts) + "</svg>\n",
        encoding="utf-8")


if __name__ == "__main__":
    main()
