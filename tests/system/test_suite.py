"""The test runner itself: what a sanitizer finds makes a run fail, wherever it was found and wherever it was told."""

import os
import subprocess
import sys

import pytest
from conftest import TOP

sys.path.insert(0, str(TOP / "tests/suite"))
import result  # noqa: E402
import sanitizer  # noqa: E402
import system  # noqa: E402
import unit  # noqa: E402

PROGRAM = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static const int rows[2] = {1, 2};
int main(int argc, char **argv)
{
    volatile int at = argc - 14;
    char way = argv[1][0];
    if (way == 'c' && fork() == 0)
        _exit(rows[at]);
    if (way == 'c')
        wait(NULL);
    if (way == 'u')
        return rows[at] == 7;
    if (way == 'l')
        *(void *volatile *)&argv[0] = malloc(10), argv[0] = NULL;
    if (way == 'a')
        return ((volatile char *)malloc(2))[3];
    return 0;
}
"""


@pytest.mark.parametrize("way", ["undefined", "child's undefined", "leak", "address", "nothing"])
def test_what_a_sanitizer_finds(way, tmp_path, monkeypatch):
    source, program = tmp_path / "fault.c", tmp_path / "fault"
    source.write_text(PROGRAM)
    subprocess.run(["cc", "-g", "-O1", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-o", program, source], check=True)
    monkeypatch.chdir(tmp_path)
    logs = sanitizer.Logs("fault")
    done = subprocess.run([program, way], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | logs.environment())
    report = result.Report()
    logs.check(report, "fault", done.stdout)
    assert [row.outcome for row in report.results] == ([] if way == "nothing" else [result.FAILED])


TESTS = """
import pathlib, pytest
SEEN = []

@pytest.fixture(scope="module")
def house():
    yield
    assert "fault" not in SEEN, "a server left something"

def test_steady(house): SEEN.append("steady")
def test_wrong(house): assert SEEN.append("wrong") is not None
def test_once(house): SEEN.append("once"); assert SEEN.count("once") == 2
def test_last(house): SEEN.append(FAULT); assert SEEN.count(FAULT) == 2
"""


@pytest.mark.parametrize("ci", ["", "true"])
@pytest.mark.parametrize("fault", ["last", "fault"])
def test_what_fails_once(ci, fault, tmp_path, monkeypatch):
    """A developer's run counts each failure; CI's runs a test that failed once more, and tells it. What is found behind the last test is a
    failure, however often that ran."""
    folder = tmp_path / "tests/some"
    folder.mkdir(parents=True)
    (folder / "test_some.py").write_text(TESTS.replace("FAULT", repr(fault)))
    (folder / "conftest.py").write_text((TOP / "tests/vm/conftest.py").read_text().replace(
        'pathlib.Path(__file__).resolve().parents[1] / "system"', f'pathlib.Path({str(TOP / "tests/system")!r})'))
    (tmp_path / "build/asan").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", ci)
    report = result.Report()
    system.run_pytest(report, "some", "")
    outcomes = {}
    for row in report.results:
        outcomes.setdefault(row.name.rpartition("_")[2], []).append(row.outcome)
    assert outcomes["steady"] == ["passed"] and outcomes["wrong"] == ["failed"]
    assert outcomes["once"] == ["passed" if ci else "failed"]
    assert ("failed" in outcomes["last"]) == (not ci or fault == "fault")
    assert [name.rpartition("_")[2] for name in report.unsteady] == ([] if not ci else ["once"] if fault == "fault" else ["once", "last"])


UNITS = r"""
#include <criterion/criterion.h>
#include <fcntl.h>
static int is_first(const char *name) { int fd = open(name, O_CREAT | O_EXCL, 0600); return fd >= 0; }
Test(some, steady) { cr_assert(1); }
Test(some, wrong) { cr_assert(0); }
Test(some, once) { cr_assert_not(is_first("once")); }
Test(some, crash) { if (is_first("crash")) __builtin_trap(); }
"""


@pytest.mark.parametrize("ci", ["", "true"])
def test_which_unit_tests_run_again(ci, tmp_path, monkeypatch):
    """The same of what an assertion stopped; what crashed is a failure, whatever it does when it runs again."""
    folder = tmp_path / "build/asan/tests/unit"
    folder.mkdir(parents=True)
    (tmp_path / "some.c").write_text(UNITS)
    subprocess.run(["cc", "-o", folder / "test_some", tmp_path / "some.c", "-lcriterion"], check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", ci)
    report = result.Report()
    unit.run(report, "", None)
    outcomes = {row.name.rpartition("::")[2]: row.outcome for row in report.results}
    assert outcomes == {"steady": "passed", "wrong": "failed", "once": "passed" if ci else "failed", "crash": "failed"}
    assert report.unsteady == (["unit/some/some::once"] if ci else [])
