"""The engines that are compared: how each takes events in, answers a question, and is timed."""

import json
import os
import re
import resource
import shutil
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Failed(Exception):
    """An engine could not do what it was asked for."""


def bytes_of(path):
    """What a file or a folder takes on disk, in bytes of its files."""
    return sum(file.stat().st_size for file in files_of(path))


def files_of(path):
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path] if path.exists() else []


def forget(path):
    """Drops a database's files from the page cache."""
    for file in files_of(path):
        handle = os.open(file, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


class Tamias:
    """A store, asked by the program's own commands."""

    def __init__(self, tool, layout, folder):
        self.tool, self.layout, self.folder = str(tool), layout, folder
        self.name = layout

    def path(self, data):
        return self.folder / f"{data}.{self.layout}"

    def query_of(self, question):
        return question.tamias

    def load(self, data, events, columns, threads):
        """Seconds until all events are durable, by the clock and of the processors."""
        path = self.path(data)
        shutil.rmtree(path, ignore_errors=True)
        clock, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.tool, "ingest", path, events, "--segments", self.layout],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = {"clock": time.perf_counter() - clock,
                 "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}
        # 4: a line was rejected, such as one that is cut.
        if done.returncode not in (0, 4):
            raise Failed(done.stderr)
        # Many small files become few.
        subprocess.run([self.tool, "compact", path, "--segments", self.layout], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return taken

    def rows(self, data, query):
        done = subprocess.run([self.tool, "query", self.path(data), query, "--format", "ndjson", "--threads", "1"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failed(done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        # A cell that is undefined is left out of its row.
        names = max((list(row) for row in rows), key=len, default=[])
        return names, [[row.get(name) for name in names] for row in rows]

    def prepare(self, data, query):
        self.asked = data, query

    def time(self, runs):
        """The least of so many runs, in seconds of processor time, after one that does not count."""
        return self.bench(*self.asked, "--runs", str(runs), "--clock", "processor")

    def bench(self, data, query, *arguments):
        """The least of some runs, in seconds."""
        cases = self.folder / f"{os.getpid()}.cases"
        cases.write_text(query + "\n", encoding="utf-8")
        done = subprocess.run([self.tool, "bench", "--cases", cases, "--percentile", "0", *arguments, self.path(data)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        cases.unlink()
        if done.returncode:
            raise Failed(done.stderr)
        return int(re.search(r": (\d+) ns \(\+", done.stdout).group(1)) / 1e9

    def first(self, data, query, measure):
        """Opening and asking, in a process whose own start does not count."""
        start = {"first": "opening", "cold": "disk"}[measure]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock
        found = {name: self.bench(data, query, "--runs", "1", "--clock", clock, "--from", start)
                 for name, clock in (("clock", "wall"), ("processor", "processor"))}
        # Of two runs.
        read = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock - before
        return found | {"read": read * 512 // len(found)}

    def close(self):
        """Nothing stays open between questions."""


class Peer:
    """Another engine, in a process of its own: see peer.py."""

    def __init__(self, kind, python, folder):
        self.name, self.python, self.folder = kind, str(python), folder
        self.worker, self.data = None, None

    def path(self, data):
        return self.folder / f"{data}.{self.name}"

    def query_of(self, question):
        return getattr(question, self.name)

    def ask(self, do, **what):
        self.worker.stdin.write(json.dumps({"do": do, **what}) + "\n")
        self.worker.stdin.flush()
        for line in self.worker.stdout:
            if line.startswith("answer "):
                found = json.loads(line.removeprefix("answer "))
                if "failed" in found:
                    raise Failed(found["failed"])
                return found["is"]
        raise Failed(f"{self.name} ended")

    def start(self):
        self.close()
        self.worker = subprocess.Popen([self.python, HERE / "peer.py", self.name], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def open(self, data):
        if self.data != data:
            self.start()
            self.ask("open", path=str(self.path(data)), read_only=True)
            self.data = data

    def load(self, data, events, columns, threads):
        self.start()
        path = self.path(data)
        for old in self.folder.glob(path.name + "*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        self.ask("open", path=str(path), read_only=False)
        taken = self.ask("load", events=str(events), columns=columns, threads=threads)
        self.close()
        return taken

    def rows(self, data, query):
        self.open(data)
        found = self.ask("rows", query=query)
        return found["names"], found["rows"]

    def prepare(self, data, query):
        self.open(data)
        self.ask("prepare", query=query)

    def time(self, runs):
        return self.ask("time", runs=runs)

    def first(self, data, query, measure):
        """Opening and asking, in a process whose own start does not count."""
        if measure == "cold":
            forget(self.path(data))
        self.start()
        return self.ask("first", path=str(self.path(data)), query=query)

    def close(self):
        if self.worker:
            self.worker.stdin.close()
            self.worker.wait()
        self.worker, self.data = None, None
