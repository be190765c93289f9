"""Whether two engines gave the same answer."""

import json
import re

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?$")


def differ(names, rows, peer_names, peer_rows, query, peer_query):
    """How the rows of a peer differ from Tamias's, in a sentence; `None` where they are equal.

    Rows count in any order. Keys of groups come first in a row, and are not asked of every peer.
    """
    if len(rows) != len(peer_rows):
        return f"{len(rows)} rows, {len(peer_rows)} there"
    if peer_query.startswith("select * "):
        return differ_as_documents(rows, peer_names, peer_rows)
    width = len(peer_rows[0]) if peer_rows else 0
    apart = 0.03 if "percentile(" in query else 1e-9
    # A sum of no values is 0 here, and null elsewhere.
    nothing = 0.0 if "sum(" in query else None
    mine = sorted(([normal(value, nothing) for value in row[len(row) - width:]] for row in rows), key=order)
    theirs = sorted(([normal(value, nothing) for value in row] for row in peer_rows), key=order)
    for row, other in zip(mine, theirs):
        if len(row) != len(other) or not all(equal(a, b, apart) for a, b in zip(row, other)):
            return f"{row}, {other} there"
    return None


def normal(value, nothing=None):
    """Numbers as numbers, whether an engine has them as text or not; instants in one spelling."""
    if value is None:
        return nothing
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return float(value)
    if isinstance(value, str):
        if INSTANT.match(value):
            seconds, _, fraction = value.removesuffix("Z").removesuffix("+00:00").partition(".")
            return f"{seconds}.{fraction[:6]:0<6}"
        try:
            return float(value)
        except ValueError:
            return value
    return value


def order(row):
    """Texts first: numbers that differ in their last digits must not order rows differently."""
    return [(value is None, str(value)) for value in row if not isinstance(value, float)], \
        [value for value in row if isinstance(value, float)]


def equal(a, b, apart):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= apart * max(abs(a), abs(b))
    return a == b


def differ_as_documents(rows, names, peer_rows):
    """Documents beside rows of all columns, by the numbers, texts and Booleans that both have under a name."""
    def picked(members):
        return {key: normal(value) for key, value in members
                if isinstance(value, (str, int, float)) and not INSTANT.match(str(value)) and " " not in str(value)[:20]}

    mine = [picked((row[0] if isinstance(row[0], dict) else json.loads(row[0])).items()) for row in rows]
    theirs = [picked(zip(names, row)) for row in peer_rows]
    shared = set().union(*mine) & set().union(*theirs) if rows else set()
    kept = [sorted(json.dumps({key: document[key] for key in sorted(shared & set(document))}) for document in documents)
            for documents in (mine, theirs)]
    if not shared:
        return "no column in common"
    different = [pair for pair in zip(*kept) if pair[0] != pair[1]]
    return f"{different[0][0][:200]}, {different[0][1][:200]} there" if different else None
