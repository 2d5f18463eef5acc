"""An index of many runs in the user's cache.

A file is opened again only if its time, size or inode has changed; opening files is most of the
time that a folder of 100,000 runs takes. The files take precedence, and nothing depends on the
index: if it is damaged, of another version or not writable, it is rebuilt or not used.
"""

import contextlib
import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

LEAST = 1000
"""The minimum number of runs for which an index saves time."""

# The version of the format; another version uses another file.
_FORMAT = 1
_CHUNK = 10_000
# A file may be written twice within one tick of the file system's clock.
_SETTLED = 2.0
_WAIT = 2.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_OCCUPIED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN)
_TABLES = """
create table if not exists configs (number integer primary key, text text unique not null);
create table if not exists runs (
  name text primary key, signature blob not null, config integer not null, content text not null,
  checksum integer not null);
"""


class IndexEntry(NamedTuple):
    """A run in the index: the signature of its files (see `Found`), its config, everything else."""

    signature: bytes
    config: str
    content: str


class Index:
    """The index of the runs below a folder: one SQLite file per folder. It raises no errors."""

    def __init__(self, folder: Path, cache: Path) -> None:
        import jaxgbg

        key = f"{folder.resolve()}\0{jaxgbg.__version__}\0{_FORMAT}"
        name = hashlib.sha256(os.fsencode(key)).hexdigest()[:32]
        self.path = cache / "runs" / f"{name}.sqlite"
        self._started = time.time()
        self._added: dict[str, IndexEntry] = {}

    def load(self) -> dict[str, IndexEntry]:
        """All entries by the names of their runs; {} and a new file if any entry is damaged."""
        if not self.path.exists():
            return {}
        try:
            with contextlib.closing(self._connect()) as connection:
                return _entries(connection)
        except (sqlite3.Error, OSError, TypeError, ValueError) as error:
            if getattr(error, "sqlite_errorcode", None) not in _OCCUPIED:
                self._remove()
            return {}

    def add(self, name: str, entry: IndexEntry, last_change: float) -> None:
        """Add a run; `last_change` is the time of the last change of its files (seconds)."""
        if last_change < self._started - _SETTLED and name.isprintable():
            self._added[name] = entry
        if len(self._added) >= _CHUNK:
            self.save()

    def save(self, gone: Iterable[str] = ()) -> None:
        """Write the added entries, and delete those of runs that no longer exist."""
        added, self._added = self._added, {}
        names = [(name,) for name in gone]
        if not added and not names:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(self._connect()) as connection, connection:
                _write(connection, added, names)
        except (sqlite3.Error, OSError) as error:
            # Otherwise another process uses the file, the disk is full, or it is read-only.
            if getattr(error, "sqlite_errorcode", None) in _DAMAGED:
                self._remove()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
        try:
            # Checksums detect what a crash leaves half-written.
            connection.execute("pragma synchronous = off")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _remove(self) -> None:
        for suffix in ("-journal", ""):
            with contextlib.suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()


def _write(
    connection: sqlite3.Connection, added: dict[str, IndexEntry], gone: list[tuple[str]]
) -> None:
    connection.executescript(_TABLES)
    connection.execute("begin immediate")
    texts = {entry.config for entry in added.values()}
    connection.executemany(
        "insert or ignore into configs (text) values (?)", [(text,) for text in texts]
    )
    numbers = dict(connection.execute("select text, number from configs"))
    rows = [
        (name, *entry._replace(config=numbers[entry.config]), _checksum(name, entry))
        for name, entry in added.items()
    ]
    connection.executemany("insert or replace into runs values (?, ?, ?, ?, ?)", rows)
    connection.executemany("delete from runs where name = ?", gone)


def _entries(connection: sqlite3.Connection) -> dict[str, IndexEntry]:
    """Read all entries; raises ValueError for a wrong checksum."""
    texts = dict(connection.execute("select number, text from configs"))
    entries = {}
    for name, signature, config, content, checksum in connection.execute("select * from runs"):
        if config not in texts:
            raise ValueError("a config is missing")
        entries[name] = IndexEntry(signature, texts[config], content)
        if checksum != _checksum(name, entries[name]):
            raise ValueError("a checksum is wrong")
    return entries


def _checksum(name: str, entry: IndexEntry) -> int:
    text = "\0".join((name, entry.config, entry.content))
    return zlib.crc32(text.encode(), zlib.crc32(entry.signature))
