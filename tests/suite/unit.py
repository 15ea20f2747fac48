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

ASSERTION = "Assertion failed"
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
    logs = sanitizer.Logs(name.replace("/", "-"))
    code, output, text = criterion(program, logs)
    whole, failures = read_tap(report, name, text, lambda test: passes_again(program, test, logs))
    if code is None or not whole:
        report.failed(name, f"it did not come to its end (exit {code})\n{output[-4000:]}")
    elif code != 0 and not failures:
        report.failed(name, f"no test failed, but it left with {code}\n{output[-4000:]}")
    logs.check(report, name, output)


def criterion(program, logs, *options):
    """Returns (exit code or None, output, what it wrote in TAP)."""
    tap = program + TAP
    if os.path.exists(tap):
        os.unlink(tap)
    code, output = command.run([program, f"--tap={tap}", "-j2", "--timeout=60", *options], SECONDS, env=os.environ | logs.environment())
    try:
        with open(tap, errors="replace") as file:
            return code, output, file.read()
    except FileNotFoundError:
        return code, output, ""


def passes_again(program, test, logs):
    """CI's machines stall: whether a test that failed passes by itself (tests/system/again.py does the same)."""
    if not os.environ.get("CI"):
        return False
    code, _, text = criterion(program, logs, "--filter", test.replace("::", "/"))
    return code == 0 and any((match := LINE.match(line)) and match[1] == "ok" and match[2] == test and "# SKIP" not in match[3]
                             for line in text.splitlines())


def read_tap(report, name, text, again):
    """Returns (whether every planned test came to an end, the number that failed, if only once)."""
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
            detail = rest.strip() + "\n" + "\n".join(detail_after(lines, number))
            if ASSERTION in detail and again(test):
                report.passed_again(f"{name}/{test}", detail)
            else:
                report.failed(f"{name}/{test}", detail)
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
