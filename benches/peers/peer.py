"""One engine of others in a process of its own: reads a request a line (JSON), answers a line. Run by engines.py.

Queries are prepared where the engine can, and rows stay in the engine's own memory while the clock runs: making Python's
objects of them is no work of the engine's.
"""

import datetime
import decimal
import json
import sys
import time


class DuckDB:
    def open(self, path, read_only):
        import duckdb
        self.connection = duckdb.connect(path, read_only=read_only)
        for setting in ("threads = 1", "enable_progress_bar = false", "timezone = 'UTC'"):
            self.connection.execute("set " + setting)

    def run(self, text):
        self.connection.execute(text)

    def rows(self, text):
        result = self.connection.execute(text)
        return [column[0] for column in result.description], result.fetchall()

    def timed(self, text):
        """What is to be called for one run of the query, its rows made and held."""
        # A name for each, so that none has to be let go first.
        self.prepared = getattr(self, "prepared", 0) + 1
        self.connection.execute(f"prepare asked{self.prepared} as {text}")
        return lambda: self.connection.execute(f"execute asked{self.prepared}")

    def first(self, text):
        self.connection.execute(text).fetchall()

    def load(self, events, columns, threads):
        self.run(f"set threads = {threads}")
        path = quoted(events)
        if columns:
            listed = ", ".join(f"{quoted(key)}: {quoted(kind)}" for key, kind in columns.items())
            source = f"read_json({path}, format='newline_delimited', columns={{{listed}}}, ignore_errors=true)"
        else:
            source = f"read_json_auto({path}, format='newline_delimited', ignore_errors=true)"
        _, described = self.rows(f"describe select * from {source}")
        # Instants without a zone, which its functions of time are quicker with.
        zoned = [f'cast("{name}" as timestamp) as "{name}"' for name, kind, *_ in described
                 if kind == "TIMESTAMP WITH TIME ZONE"]
        replaced = f" replace ({', '.join(zoned)})" if zoned else ""
        self.run(f"create table e as select *{replaced} from {source}")
        self.run("checkpoint")


class ClickHouse:
    def open(self, path, read_only):
        from chdb import session
        self.session = session.Session(path)

    def run(self, text):
        self.session.query(text)

    def rows(self, text):
        found = str(self.session.query(text + " settings max_threads = 1", "JSONCompactEachRow"))
        return [], [json.loads(line) for line in found.splitlines() if line]

    def timed(self, text):
        return lambda: self.session.query(text + " settings max_threads = 1", "RowBinary")

    def load(self, events, columns, threads):
        self.run("create database if not exists t")
        self.run("create table t.e (j JSON) engine = MergeTree order by tuple()")
        self.run(f"insert into t.e select line::JSON from file({quoted(events)}, LineAsString, 'line String') "
                 f"settings max_threads = {threads}, max_insert_threads = {threads}")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value)


def bytes_read():
    """What this process had read from disks."""
    with open("/proc/self/io", encoding="ascii") as lines:
        return int(next(line.split()[1] for line in lines if line.startswith("read_bytes:")))


def answer(engine, asked):
    match asked["do"]:
        case "open":
            engine.open(asked["path"], asked["read_only"])
        case "load":
            clock, processor = time.perf_counter(), time.process_time()
            engine.load(asked["events"], asked["columns"], asked["threads"])
            return {"clock": time.perf_counter() - clock, "processor": time.process_time() - processor}
        case "rows":
            names, rows = engine.rows(asked["query"])
            return {"names": names, "rows": [plain(row) for row in rows]}
        case "prepare":
            engine.asked = engine.timed(asked["query"])
            engine.asked()
        case "time":
            least = None
            for _ in range(asked["runs"]):
                began = time.process_time()
                result = engine.asked()
                taken = time.process_time() - began
                del result
                least = taken if least is None else min(least, taken)
            return least
        case "first":
            # The library is read in before the clock runs.
            import duckdb
            before, processor, clock = bytes_read(), time.process_time(), time.perf_counter()
            engine.open(asked["path"], True)
            engine.first(asked["query"])
            return {"clock": time.perf_counter() - clock, "processor": time.process_time() - processor, "read": bytes_read() - before}


def main():
    engine = {"duckdb": DuckDB, "clickhouse": ClickHouse}[sys.argv[1]]()
    for line in sys.stdin:
        try:
            found = {"is": answer(engine, json.loads(line))}
        except Exception as failure:
            found = {"failed": str(failure)}
        # What an engine says by itself stands on other lines.
        print("\nanswer " + json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
