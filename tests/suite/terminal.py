"""The VT core beside xterm.js, over recordings and random output: tests/terminal/oracle.js, with Node.

What it needs from npm is pinned by tests/terminal/package-lock.json, and installed beside it when that changed.
"""

import os
import re
import shutil

import command
import sanitizer
from result import SKIPPED, Result

FOLDER = "tests/terminal"
PROGRAM = "build/asan/tests/terminal/terminal_dump"
INSTALLED = "node_modules/.package-lock.json"
SEED, PROGRAMS = 300000, 400  # the same each time; ./dev test terminal/SEED takes others
SECONDS = 600
LINE = re.compile(r"^(ok|not ok) (.+)$")


def run(report, only, _options):
    lacks = [tool for tool in ("node", "npm") if not shutil.which(tool)]
    if lacks:
        report.add(Result("terminal", SKIPPED, f"{' and '.join(lacks)} not found"))
        return
    if not install(report):
        return
    seed = int(only or SEED)
    logs = sanitizer.Logs("terminal")
    code, output = command.run(["node", f"{FOLDER}/oracle.js", PROGRAM, "--seed", str(seed), "--programs", str(PROGRAMS)], SECONDS,
                               env=os.environ | logs.environment())
    read(report, code, output)
    logs.check(report, "terminal", output)


def install(report):
    lock, installed = f"{FOLDER}/package-lock.json", f"{FOLDER}/{INSTALLED}"
    if os.path.exists(installed) and os.path.getmtime(installed) >= os.path.getmtime(lock):
        return True
    code, output = command.run(["npm", "ci", "--no-audit", "--no-fund"], SECONDS, cwd=FOLDER)
    if code != 0:
        report.failed("terminal/npm ci", output)
    return code == 0


def read(report, code, output):
    failures, name, details = 0, None, []
    for line in [*output.splitlines(), "ok the end"]:
        match = LINE.match(line)
        if not match:
            details.append(line)
            continue
        if name:
            failures += 1
            report.failed(f"terminal/{name}", "\n".join(details))
        name, details = (match[2], []) if match[1] == "not ok" else (None, [])
        if match[1] == "ok" and match[2] != "the end":
            report.passed(f"terminal/{match[2]}")
    if code != 0 and not failures:
        report.failed("terminal", f"it did not come to its end (exit {code})\n{output[-4000:]}")
