"""Questions in SQL that reach beyond the tables, have no end, or are none."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from jaxgbg.results import ask, queries

from .cases import Case, run_case

# More than DuckDB could count in hours.
ENDLESS = "select sum(a.range * b.range) from range(10000000000) a, range(1000) b"
CLOSED = "--allow-files permits it"
CASES = [
    Case("""results runs --sql "copy runs to 'x.csv'" """, CLOSED),
    Case("""results runs --sql "from read_csv('secret.csv')" """, CLOSED),
    Case("""results runs --sql "from read_text('secret.csv')" """, CLOSED),
    Case("""results runs --sql "from glob('*')" """, CLOSED),
    Case("""results runs --sql "attach 'x.db'" """, CLOSED),
    Case("""results runs --sql "export database 'x'" """, CLOSED),
    Case("""results runs --sql "install httpfs" """, CLOSED),
    Case("""results runs --sql "load httpfs" """, CLOSED),
    Case("""results runs --sql "from 'secret.csv'" """, CLOSED),
    Case("""results runs --sql "set enable_external_access = true" """, "has been locked"),
    Case("""results runs --sql "set memory_limit = '100GB'" """, "has been locked"),
    Case("""results runs --sql "from runs; copy runs to 'x.csv'" """, "several"),
    Case("""results runs --sql "select 1; select 2" --allow-files""", "several"),
    Case("""results runs --sql "-- nothing" """, "no query"),
    Case("""results runs --sql "select \udcff" """, "not valid Unicode"),
    Case("""results runs --sql "select error(chr(27) || '[31m' || chr(10))" """, r": \\x1b\[31m$"),
    Case("""results runs --sql "select list(range) from range(1000000000)" """, "more than 0.1 GB"),
    Case("""results runs --sql "from range(1000000000)" --csv x.csv""", "more than 0.1 GB"),
    Case("""results runs --sql "select repeat('x', 1000000000)" """, "more than 0.1 GB"),
    Case("""results runs --sql "select list_sum(range(100000000))" """, "more than 0.1 GB"),
    Case(f"""results runs --sql "{ENDLESS}" --timeout 0.5""", "more than 0.5 s; .* --timeout$"),
    Case(
        """results runs --timeout 0.5 --sql "with recursive a as (select 1 as b union all"""
        """ select b + 1 from a) select max(b) from a" """,
        "more than 0.5 s",
    ),
    Case(
        """results runs --timeout 0.5 --where "seed < (select sum(a.range * b.range)"""
        """ from range(10000000000) a, range(1000) b)" """,
        "more than 0.5 s",
    ),
    Case("results runs --timeout 0", r"timeout must lie in \(0, 86,400\], not 0.0"),
    Case("results runs --timeout nan", "timeout must be a number, not nan"),
    Case("""results runs --where "1=1; copy runs to 'x.csv'" """, "more than one statement"),
    Case(
        """results runs --where "1=1) union select * from read_csv('secret.csv') where (1=1" """,
        "syntax error",
    ),
    Case(
        """results runs --where "true) group by all), reached as (select 1 where (true" """,
        "syntax error",
    ),
    Case("""results runs --where "seed in (from read_csv('secret.csv'))" """, CLOSED),
    Case("""results runs --where "true, false" """, "single expression"),
    Case("""results runs --where "seed = 0 /* " """, "unterminated"),
    Case("""results runs --where "*" """, "not allowed"),
    Case("""results runs --where "\udcff = 1" """, "not valid Unicode"),
]


@pytest.fixture
def folder(trained, tmp_path, monkeypatch):
    """The working folder, with runs, and a file that is nobody's business."""
    (tmp_path / "runs").symlink_to(trained)
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(str(case)))
def test_it_is_named_and_nothing_is_left(case, folder, jaxgbg, monkeypatch):
    monkeypatch.setattr(queries, "MEMORY_GB", 0.1)
    assert run_case(case, folder, jaxgbg) == ("", [])


def test_files_are_open_to_who_asks(folder, jaxgbg):
    assert jaxgbg("results", "runs", "--sql", "copy runs to 'x.csv'", "--allow-files")[0] == 0
    assert len(ask("runs", sql="from 'x.csv'", allow_files=True)) == 2


@pytest.mark.parametrize(
    "value",
    [
        "uuid()",
        "'\\xFF'::blob",
        '1, 2 as "1"',
        "170141183460469231731687303715884105727",
        "interval 100 year",
        "map {[1]: 2}",
        "'[bold]'",
        "timestamp 'infinity'",
        "chr(0)",
        "'\u00e4' where false",
        "'101'::bit",
        "['101'::bit]",
        "time with time zone '12:00:00+01'",
    ],
)
def test_values_of_every_kind_are_shown(value, folder, jaxgbg):
    code, out, err = jaxgbg("results", "runs", "--sql", f"select {value}", "--csv", "x.csv")
    assert (code, err) == (0, "")
    assert "bold" not in value or value.strip("'") in out


def test_the_terminal_gets_the_first_rows_and_a_file_all(folder, jaxgbg):
    code, out, err = jaxgbg("results", "runs", "--sql", "from range(100000000)")
    assert (code, err) == (0, "")
    assert "the first 200 rows are shown" in out
    assert "199" in out
    assert "200\n" not in out
    code, out, _ = jaxgbg("results", "runs", "--sql", "from range(201)", "--csv", "x.csv")
    assert (code, len((folder / "x.csv").read_text().splitlines())) == (0, 202)
    assert "the first 200 of 201 rows" in out
    frame = ask("runs", sql="from range(5000)", limit=3)
    assert (len(frame), frame.attrs["complete"]) == (3, False)
    assert ask("runs", sql="from range(3)", limit=3).attrs["complete"]
    with pytest.raises(ValueError, match="limit must lie in"):
        ask("runs", limit=0)


def test_no_value_and_no_name_acts_on_the_terminal(folder, jaxgbg):
    code, out, _ = jaxgbg("results", "runs", "--sql", "select chr(27) || '[2J' as \"a\x1b[31m\"")
    assert code == 0
    assert "\x1b" not in out
    assert "\\x1b[2J" in out
    assert "a\\x1b[31m" in out


def test_the_memory_is_as_free_after_a_question_as_before(folder):
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(ValueError, match="no query"):
        ask("runs", sql="--")
    with pytest.raises(ValueError, match="Parser Error"):
        ask("runs", sql="x")
    ask("runs")
    assert resource.getrlimit(resource.RLIMIT_AS) == before


# One call of one function, which DuckDB cannot interrupt: minutes.
STEP = "select levenshtein(repeat('a', 300000), repeat('b', 300000))"


@pytest.mark.slow
@pytest.mark.parametrize("query", [ENDLESS, STEP], ids=["rows", "one call"])
def test_an_interrupted_query_ends_at_once_in_a_line(query, folder):
    begin = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    tell = "from jaxgbg.results import queries; rows = queries._rows"
    told = "queries._rows = lambda *a: (print('begun', flush=True), rows(*a))[1]"
    with subprocess.Popen(
        [sys.executable, "-c", f"{begin}; {tell}; {told}; from jaxgbg.cli import app; app.main()"]
        + ["results", "runs", "--sql", query],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    ) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", "jaxgbg: stopped\n")


@pytest.mark.slow
def test_a_limit_of_time_ends_one_long_call(folder):
    done = subprocess.run(
        [sys.executable, "-c", "from jaxgbg.cli import app; app.main()"]
        + ["results", "runs", "--timeout", "1", "--sql", STEP],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "more than 1 s" in done.stderr
