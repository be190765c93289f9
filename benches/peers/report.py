"""What was measured, as docs/peers.md and docs/peers.svg."""

import datetime
import html
import math
import platform
import subprocess
from pathlib import Path

TITLES = {
    "shop": "22 questions of a web shop's log", "people": "more, as people ask them",
    "operators": "more, of operators within one another", "wiki": "Wikipedia edits",
    "win_dcom": "Windows events", "win_exchange": "Windows events, Exchange", "win_opth": "Windows events of 10 kB",
    "github": "GitHub events", "nginxplus": "server status", "cloudtrail": "AWS audit events",
}
NAMES = {"columns": "Tamias, columns", "text": "Tamias, text", "duckdb": "DuckDB", "clickhouse": "ClickHouse"}


def shown(seconds):
    """A time, in a unit that suits it."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds / size < 100 else f"{seconds / size:.0f} {unit}"
    return f"{seconds * 1e6:.0f} µs"


def megabytes(count):
    return "" if count is None else f"{count / 1e6:.3g} MB" if count < 99.95e6 else f"{count / 1e6:.0f} MB"


def times(ratio):
    return "" if ratio is None else f"{ratio:.3g}×" if ratio < 100 else f"{ratio:.0f}×"


def over(a, b):
    return None if a is None or not b else a / b


def mean(ratios):
    """The geometric mean of those that there are."""
    ratios = [ratio for ratio in ratios if ratio]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def table(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *("| " + " | ".join(row) + " |" for row in rows), ""]


class Asked:
    """What was measured of one question."""

    def __init__(self, question, measured):
        self.question, self.measured = question, measured

    def of(self, measure, engine, what):
        return self.measured.get(measure, {}).get(engine, {}).get(what)

    def warm(self, engine):
        return self.of("warm", engine, "seconds")

    def ratio(self, engine, peer="duckdb"):
        return over(self.warm(peer), self.warm(engine))


def write(root, results, lists, sets_of, packages, note):
    asked = {name: [Asked(question, results.get("questions", {}).get(name, {}).get(question.name, {})) for question in questions]
             for name, questions in lists.items()}
    asked = {name: found for name, found in asked.items() if any(one.measured for one in found)}
    processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")),
                     platform.processor()) if Path("/proc/cpuinfo").exists() else platform.processor()
    rustc = subprocess.run(["rustc", "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout.split(" (")[0].strip()
    lines = [
        "# Beside others", "", "Written by `python3 benches/peers/run.py`; do not edit.", "",
        f"{datetime.date.today().strftime('%-d %B %Y')}; {processor}, {platform.system()}, {rustc}; {', '.join(packages[:2])}. {note}".strip(), "",
        "The same questions are asked of Tamias, over segments in columns and over segments of text, of DuckDB with a typed column for each key, and of "
        "ClickHouse with its JSON type. One thread each. Answers were compared before anything was timed; differences are listed below. Engines "
        "took turns, and the least time counts. A ratio is the other's time by that of Tamias: above 1, Tamias is quicker.", "",
        "Warm times are of the processor, with the data in memory and the query prepared: rows are made, and stay in the engine's memory. "
        "What expressions make of texts Tamias keeps from the second time on, as it keeps columns; the others make it each time. DuckDB's columns of the "
        "generated events are given to it, since its own detection takes them for one column of JSON; those of the real events it finds by itself. "
        "The real data sets are small: for some questions an engine's fixed cost is most of its time.", "",
        "![Each question's time beside DuckDB's](peers.svg)", "", "## At a glance", "",
        *glance(asked, sets_of), *sizes(results), *loading(results)]
    for name, found in asked.items():
        lines += questions(name, found)
    lines += differences(asked)
    (root / "docs" / "peers.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    (root / "docs" / "peers.svg").write_text(picture(asked), encoding="utf-8")


def glance(asked, sets_of):
    def row(title, found):
        def slower(engine):
            ratios = [ratio for one in found if (ratio := one.ratio(engine))]
            return str(sum(1 for ratio in ratios if ratio < 1)) if ratios else ""

        def opened(measure, what, engine):
            return mean(over(one.of(measure, "duckdb", what), one.of(measure, engine, what)) for one in found)

        least = min((one.ratio("columns") for one in found if one.ratio("columns")), default=None)
        measured = sum(1 for one in found if one.ratio("columns"))
        return [title, str(measured) if measured == len(found) else f"{measured} of {len(found)}", times(mean(one.ratio("columns") for one in found)), slower("columns"), times(least),
                times(mean(one.ratio("text") for one in found)), slower("text"),
                times(mean(one.ratio("columns", "clickhouse") for one in found)),
                times(opened("first", "processor", "columns")), times(opened("cold", "clock", "columns")),
                times(opened("cold", "clock", "text"))]

    everything = [one for found in asked.values() for one in found]
    heads = ["events", "questions", "columns to DuckDB", "slower in", "least", "text to DuckDB", "slower in", "columns to ClickHouse",
             "first use, columns", "cold, columns", "cold, text"]
    rows = [row(TITLES[name], found) for name, found in asked.items()]
    real = [one for name, found in asked.items() if name == sets_of[name] for one in found]
    if real:
        rows.append(row("all real events", real))
    rows.append(row("all", everything))
    # What was not measured has no column.
    kept = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    heads, rows = [heads[place] for place in kept], [[row[place] for place in kept] for row in rows]
    return [*table(heads, rows),
            "Ratios are geometric means over the questions. *First use*: from opening to the last row, nothing verified or decoded before, files in the page "
            "cache, time of the processor, without the process's own start. *Cold*: that with files that are not in the page cache, by the clock.", ""]


def sizes(results):
    rows = []
    for data, size in results.get("sets", {}).items():
        taken = {name: results.get("loads", {}).get(data, {}).get(name, {}).get("bytes") for name in NAMES}
        share = lambda count: "" if count is None else f"{megabytes(count)} ({100 * count / size['json']:.3g}%)"
        rows.append([data, megabytes(size["json"]), share(size["zstd"]), *(share(taken[name]) for name in NAMES)])
    return ["## On disk", "", *table(["set", "JSON", "zstd -3", *NAMES.values()], rows),
            "Whole folders and files. Tamias keeps documents byte for byte, with their statistics; DuckDB and ClickHouse keep values.", ""]


def loading(results):
    rows = []
    for data, size in results.get("sets", {}).items():
        taken = {name: results.get("loads", {}).get(data, {}).get(name, {}).get("processor") for name in NAMES}
        rate = lambda seconds: "" if not seconds else f"{shown(seconds)} ({size['json'] / seconds / 1e6:.0f} MB/s)"
        rows.append([data, *(rate(taken[name]) for name in NAMES), times(over(taken["duckdb"], taken["columns"]))])
    return ["## Loading", "", *table(["set", *NAMES.values(), "columns to DuckDB"], rows),
            "Until all is on disk, in time of the processors, all threads together; each engine may take as many as the machine has.", ""]


def questions(name, found):
    warm = [[one.question.name, *(shown(one.warm(engine)) for engine in NAMES), times(one.ratio("columns")), times(one.ratio("text")),
             times(one.ratio("columns", "clickhouse"))] for one in found]
    heads = ["warm", *NAMES.values(), "columns to DuckDB", "text to DuckDB", "columns to ClickHouse"]
    if not any(one.warm("clickhouse") for one in found):
        heads = heads[:4] + heads[5:7]
        warm = [row[:4] + row[5:7] for row in warm]
    opened = [[one.question.name,
               *(shown(one.of("first", engine, "processor")) for engine in ("columns", "text", "duckdb")),
               *(shown(one.of("cold", engine, "clock")) for engine in ("columns", "text", "duckdb")),
               *(megabytes(one.of("cold", engine, "read")) for engine in ("columns", "text", "duckdb"))] for one in found]
    parts = [f"## {TITLES[name][0].upper()}{TITLES[name][1:]}", "", f"Their texts: [{name}.tsv](../benches/peers/questions/{name}.tsv).", "",
             *table(heads, warm)]
    if any(one.measured.get("first") or one.measured.get("cold") for one in found):
        parts += table(["opened anew", "first use: columns", "text", "DuckDB", "cold: columns", "text", "DuckDB",
                        "read from disk: columns", "text", "DuckDB"], opened)
    return parts


def differences(asked):
    known = [f"- {TITLES[name]}, {one.question.name}: {one.question.note}." for name, found in asked.items() for one in found
             if one.question.note]
    unknown = [f"- {TITLES[name]}, {one.question.name}, {NAMES[engine]}: {how}" for name, found in asked.items() for one in found
               for engine, measured in one.measured.get("warm", {}).items() if isinstance(measured, dict) and (how := measured.get("differs"))]
    return ["## Answers", "", "What is meant to differ, or to be known:", "", *known, "",
            *(["Answers that differ, or that an engine failed to give:", "", *unknown] if unknown else ["All other answers were equal."]), ""]


def picture(asked):
    """A bar for each question: upwards where columns are quicker than DuckDB, downwards where slower; a dot for text."""
    bar, gap, left, base_height = 6, 18, 44, 210
    least, most = 0.03, 1000.0
    scale = base_height / math.log10(most)
    top, zero = 40, 40 + base_height
    bottom = zero + scale * -math.log10(least)
    height = lambda ratio: scale * math.log10(min(max(ratio, least), most))
    parts, x = [], left + 8
    for name, found in asked.items():
        begin = x
        for one in sorted(found, key=lambda one: -(one.ratio("columns") or 0)):
            columns, text = one.ratio("columns"), one.ratio("text")
            if columns:
                tall = height(columns)
                kind = "win" if columns >= 1 else "loss"
                title = html.escape(f"{TITLES[name]}, {one.question.name}: {times(columns)} DuckDB's speed" + (f", over text {times(text)}" if text else ""))
                parts.append(f'<rect class="{kind}" x="{x}" y="{zero - max(tall, 0):.1f}" width="{bar - 1}" height="{max(abs(tall), 1):.1f}">'
                             f"<title>{title}</title></rect>")
            if text:
                parts.append(f'<circle cx="{x + (bar - 1) / 2}" cy="{zero - height(text):.1f}" r="1.6"/>')
            x += bar
        label = html.escape({"people": "shop, more", "operators": "shop, operators"}.get(name, name))
        parts.append(f'<text x="{begin}" y="{bottom + 16}" transform="rotate(20 {begin} {bottom + 16})">{label}</text>')
        x += gap
    width = x + 24
    grid = []
    for ratio in (0.1, 1, 10, 100, 1000):
        y = zero - height(ratio)
        grid.append(f'<line x1="{left}" x2="{width - 16}" y1="{y:.1f}" y2="{y:.1f}" class="{"one" if ratio == 1 else "grid"}"/>'
                    f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{ratio:g}×</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 56:.0f}" viewBox="0 0 {width} {bottom + 56:.0f}" '
        'font-family="sans-serif" font-size="11"><style>'
        "text{fill:#343a40}circle{fill:#1c7ed6}.win{fill:#2b8a3e}.loss{fill:#e03131}.grid{stroke:#adb5bd;stroke-width:.5}.one{stroke:#343a40;stroke-width:1.2}"
        "@media(prefers-color-scheme:dark){text{fill:#dee2e6}circle{fill:#74c0fc}.win{fill:#51cf66}.loss{fill:#ff8787}.grid{stroke:#495057}.one{stroke:#dee2e6}}"
        "</style>"
        f'<text x="{left}" y="20" font-size="13">Speed beside DuckDB, one thread, each question a bar: '
        "Tamias over columns, and over text as a dot</text>"
        + "".join(grid) + "".join(parts) + "</svg>\n")
