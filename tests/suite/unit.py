"""The Criterion programs of build/asan/tests/unit.

Criterion's TAP is read, not its JSON or XML: those do not escape what a message holds. A leak does not fail a test by
itself, and neither does a report of a forked child: any sanitizer's log is a failure of its own.
"""

import glob
import os
import re

import command
import sanitizer
from result import SKIPPED, Result

PROGRAMS = "build/asan/tests/unit/test_"
TAP = ".tap"
SECONDS = 240  # of one program

LINE = re.compile(r"^(not ok|ok) - (\S+::\S+)(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)$", re.M)


def run(report, only, _options):
    for program in sorted(glob.glob(f"{PROGRAMS}{only}*")):
        if not program.endswith(TAP):
            run_program(report, program)


def run_program(report, program):
    name = "unit/" + os.path.basename(program).removeprefix("test_")
    tap = program + TAP
    if os.path.exists(tap):
        os.unlink(tap)
    logs = sanitizer.Logs(name.replace("/", "-"))
    code, output = command.run([program, f"--tap={tap}", "-j2", "--timeout=60"], SECONDS, env=os.environ | logs.environment())
    whole, failures = read_tap(report, name, tap)
    if code is None or not whole:
        report.failed(name, f"it did not come to its end (exit {code})\n{output[-4000:]}")
    elif code != 0 and not failures:
        report.failed(name, f"no test failed, but it left with {code}\n{output[-4000:]}")
    logs.check(report, name, output)


def read_tap(report, name, path):
    """Returns (whether every planned test came to an end, the number that failed)."""
    try:
        with open(path, errors="replace") as file:
            text = file.read()
    except FileNotFoundError:
        return False, 0
    lines = text.splitlines()
    plan = PLAN.search(text)
    done = failures = 0
    for number, line in enumerate(lines):
        match = LINE.match(line)
        if not match:
            continue
        done += 1
        outcome, test, rest = match.groups()
        if outcome == "not ok":
            failures += 1
            report.failed(f"{name}/{test}", rest.strip() + "\n" + "\n".join(detail_after(lines, number)))
        elif "# SKIP" in rest:
            report.add(Result(f"{name}/{test}", SKIPPED, rest.split("# SKIP", 1)[1].strip()))
        else:
            report.passed(f"{name}/{test}")
    return bool(plan) and done == int(plan[1]), failures


def detail_after(lines, number):
    for line in lines[number + 1:]:
        if LINE.match(line):
            return
        yield line
