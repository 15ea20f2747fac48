"""The test runner itself: what a sanitizer finds makes a run fail, wherever it was found and wherever it was told."""

import os
import subprocess
import sys

import pytest
from conftest import TOP

sys.path.insert(0, str(TOP / "tests/suite"))
import result  # noqa: E402
import sanitizer  # noqa: E402

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
