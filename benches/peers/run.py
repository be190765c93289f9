#!/usr/bin/env python3
"""Tamias beside DuckDB and ClickHouse (chdb): the same questions over the same events.

    python3 benches/peers/run.py                                       all of it: an hour, and 4 GB of disk
    python3 benches/peers/run.py --only wiki,github --engines columns,duckdb --measure warm
    python3 benches/peers/run.py --report                              writes the pages from what was measured

Sets up what it needs below target/peers: a virtual environment with pinned packages, the generated events, stores and databases.
Real events are asked about where TAMIAS_DATA names a folder that holds them, as WIKI.ndjson.zst and so on. What was measured is kept there,
question by question, so that a run that was stopped goes on; a question is measured again when it or Tamias has changed, or with --again.

Answers are compared before anything is timed. Engines take turns, each on one thread, and the least time counts: of the processor while
data is in memory, so that other work on the machine matters little; by the clock where data comes from disk. At the end docs/peers.md and
docs/peers.svg are written.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import answers
import report
from engines import Failed, Peer, Tamias, bytes_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# DuckDB's Python package needs pytz for times with a zone, and does not ask for it.
PACKAGES = ["duckdb==2.0.0", "chdb==4.4.0", "pytz==2026.6"]
EVENTS, SEED = 1_369_670, 7
GENERATED = "generated"
REAL = ["wiki", "win_dcom", "win_exchange", "win_opth", "github", "nginxplus", "cloudtrail"]
# Which questions are asked of which events.
LISTS = {"shop": GENERATED, "people": GENERATED, "operators": GENERATED} | {name: name for name in REAL}
ENGINES = ["columns", "text", "duckdb", "clickhouse"]
MEASURES = ["warm", "first", "cold"]
# Each engine has so many turns at a question, and in each of them runs for about so long, at least so often.
TURNS, TURN_SECONDS, TURN_RUNS = 2, 0.1, 3


class Question(NamedTuple):
    name: str
    tamias: str
    duckdb: str
    clickhouse: str
    note: str


def questions(name):
    """The questions of a file: a name, how each engine is asked (nothing where it is not), and what to know about answers."""
    lines = (HERE / "questions" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [Question(*(line.split("\t") + [""] * 4)[:5]) for line in lines]


def say(text):
    print(text, file=sys.stderr, flush=True)


class Results:
    """What was measured, in a file that is written after each step."""

    def __init__(self, path):
        self.path = path
        self.all = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def get(self, *keys):
        found = self.all
        for key in keys:
            found = found.get(key, {})
        return found

    def set(self, *keys, value):
        found = self.all
        for key in keys[:-1]:
            found = found.setdefault(key, {})
        found[keys[-1]] = value
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.all, indent=1), encoding="utf-8")
        new.replace(self.path)


class Run:
    def __init__(self, arguments):
        self.arguments = arguments
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        self.work = Path(arguments.work) if arguments.work else target / "peers"
        self.work.mkdir(parents=True, exist_ok=True)
        self.results = Results(self.work / "results.json")
        self.python = Path(arguments.python) if arguments.python else self.work / "venv" / "bin" / "python"
        self.tool = Path(arguments.benchtool) if arguments.benchtool else target / "release" / "benchtool"

    def set_up(self):
        """The environment with the peers, and benchtool."""
        if not self.python.exists():
            say(f"setting up {', '.join(PACKAGES)}")
            subprocess.run([sys.executable, "-m", "venv", self.work / "venv"], check=True)
            subprocess.run([self.python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        if not self.arguments.benchtool:
            say("building benchtool")
            subprocess.run(["cargo", "build", "--release", "-p", "benchtool", "--bin", "benchtool"], cwd=ROOT, check=True)
        self.version = hashlib.sha256(self.tool.read_bytes()).hexdigest()[:16]
        self.engines = {}
        for name in self.arguments.engines:
            self.engines[name] = (Tamias(self.tool, name, self.work) if name in ("columns", "text")
                                  else Peer(name, self.python, self.work))

    def events(self, data):
        """The file of a set's events; `None` where they are not at hand."""
        path = self.work / f"{data}.ndjson"
        if not path.exists():
            new = path.with_suffix(".new")
            packed = Path(os.environ.get("TAMIAS_DATA", "")) / f"{data}.ndjson.zst"
            if data == GENERATED:
                say(f"generating {EVENTS} events")
                with open(new, "wb") as out:
                    subprocess.run([self.tool, "generate", "--events", str(EVENTS), "--seed", str(SEED)], check=True, stdout=out)
            elif "TAMIAS_DATA" in os.environ and packed.exists():
                subprocess.run(["zstd", "-dqf", packed, "-o", new], check=True)
            else:
                say(f"{data} is not here, and left out; TAMIAS_DATA names the folder of real events")
                return None
            new.rename(path)
        return path

    def load(self, data):
        """Each engine takes the events in, unless it has them."""
        events = self.events(data)
        if events is None:
            return False
        if not self.results.get("sets", data, "zstd"):
            with open(events, "rb") as lines:
                packed = subprocess.run(["zstd", "-3", "-q", "-c"], check=True, stdin=lines, stdout=subprocess.PIPE).stdout
            self.results.set("sets", data, value={"json": bytes_of(events), "zstd": len(packed)})
        for name, engine in self.engines.items():
            if name == "clickhouse" and data != GENERATED:
                continue
            version = self.version if name in ("columns", "text") else "1"
            known = self.results.get("loads", data, name)
            if engine.path(data).exists() and known.get("version") == version:
                continue
            say(f"{data}: loading, {name}")
            columns = columns_of(events) if data == GENERATED and name == "duckdb" else None
            taken = engine.load(data, events, columns, os.cpu_count())
            self.results.set("loads", data, name, value=dict(taken, bytes=bytes_of(engine.path(data)), version=version))
        return True

    def ask(self, name):
        data = LISTS[name]
        for question in questions(name):
            asked = {engine: query for engine in self.engines if (query := self.engines[engine].query_of(question))
                     and (data == GENERATED or engine != "clickhouse")}
            mark = hashlib.sha256(json.dumps([self.version, *question[1:4]]).encode()).hexdigest()[:16]
            for measure in self.arguments.measure:
                wanted = {engine: query for engine, query in asked.items() if measure == "warm" or engine != "clickhouse"}
                known = self.results.get("questions", name, question.name, measure)
                known = known if known.get("mark") == mark else {}
                if not self.arguments.again and all(engine in known for engine in wanted):
                    continue
                say(f"{name}: {question.name}, {measure}")
                found = dict(known, mark=mark) | (self.warm(data, wanted) if measure == "warm" else self.opened(data, wanted, measure))
                self.results.set("questions", name, question.name, measure, value=found)

    def warm(self, data, asked):
        """Answers, and then times, by turns."""
        found, rows, estimates = {}, {}, {}
        for name, query in list(asked.items()):
            try:
                rows[name] = self.engines[name].rows(data, query)
                self.engines[name].prepare(data, query)
                estimates[name] = self.engines[name].time(1)
                found[name] = {"seconds": estimates[name]}
            except Failed as failure:
                say(f"  {name}: {failure}")
                found[name] = {"differs": f"failed: {str(failure).splitlines()[0]}"}
        mine = next((name for name in ("columns", "text") if name in rows), None)
        for name in rows:
            if mine and name != mine:
                how = answers.differ(*rows[mine], *rows[name], asked[mine], asked[name])
                if how:
                    say(f"  {name} differs: {how}")
                    found[name]["differs"] = how
        for _ in range(TURNS):
            for name, estimate in estimates.items():
                runs = min(max(round(TURN_SECONDS / max(estimate, 1e-6)), TURN_RUNS), 200)
                found[name]["seconds"] = min(found[name]["seconds"], self.engines[name].time(runs))
        return found

    def opened(self, data, asked, measure):
        """From opening to the last row, with nothing verified or decoded; cold, with files not in the page cache as well."""
        found = {}
        for turn in range(TURNS):
            for name, query in asked.items():
                engine = self.engines[name]
                try:
                    if measure == "first" and turn == 0:
                        engine.first(data, query, measure)
                    one = engine.first(data, query, measure)
                except Failed as failure:
                    say(f"  {name}: {failure}")
                    continue
                best = found.setdefault(name, one)
                # On an otherwise idle machine the clock would do.
                best.update({key: min(best[key], one[key]) for key in ("clock", "processor", "read")})
        return found


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


def chosen(all_names):
    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in all_names:
                raise argparse.ArgumentTypeError(f"`{name}` is none of {', '.join(all_names)}")
        return names
    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sets = [GENERATED, *REAL]
    parser.add_argument("--only", type=chosen(sets), default=sets, help="sets of events")
    parser.add_argument("--engines", type=chosen(ENGINES), default=ENGINES, help="columns and text are Tamias's two ways to keep events")
    parser.add_argument("--measure", type=chosen(MEASURES), default=MEASURES,
                        help="warm; first: from opening on; cold: that with files not in the page cache")
    parser.add_argument("--again", action="store_true", help="measure what is known as well")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the pages")
    parser.add_argument("--work", help="where to keep everything, instead of target/peers")
    parser.add_argument("--python", help="a Python that has the packages already")
    parser.add_argument("--benchtool", help="a benchtool that is built already")
    parser.add_argument("--note", default="", help="a sentence about the machine, for the page")
    arguments = parser.parse_args()
    run = Run(arguments)
    if not arguments.report:
        run.set_up()
        for data in arguments.only:
            if run.load(data):
                for name in (name for name, of in LISTS.items() if of == data):
                    run.ask(name)
        for engine in run.engines.values():
            engine.close()
    report.write(ROOT, run.results.all, {name: questions(name) for name in LISTS}, LISTS, PACKAGES, arguments.note)


if __name__ == "__main__":
    main()
