"""The client for browsers and Node, and the pages in Debian's Chromium: tests in TypeScript, run by Node against the real server.

What they need from npm is pinned by package-lock.json at the root, and installed when the pages were built.
"""

import glob
import os
import re
import shutil

import command
import sanitizer
from result import SKIPPED, Result

INSTALLED = "node_modules/.sandbar-lock"
SECONDS = 20 * 60
UNCHOSEN = "does not match pattern"
LINE = re.compile(r"^(ok|not ok) \d+ - (.*?)(?: # SKIP(.*))?$")


def run_client(report, only, _options):
    if not lacking(report, "js", []):
        if not only:
            lint(report)
        run(report, "js", "clients/js", only)


def run_browser(report, only, _options):
    if not lacking(report, "browser", ["chromium", "tmux"]):
        run(report, "browser", "tests/browser", only)


def lacking(report, part, tools):
    """Whether something is missing, which is then told as a skip."""
    lacks = [tool for tool in ["node", "npm", *tools] if not shutil.which(tool)]
    if not os.path.exists(INSTALLED):
        lacks.append("the packages of package-lock.json (build/log/pages.log)")
    if lacks:
        report.add(Result(part, SKIPPED, f"not here: {', '.join(lacks)}"))
    return bool(lacks)


def lint(report):
    code, output = command.run(["npm", "run", "--silent", "lint"], SECONDS)
    if code == 0:
        report.passed("js/lint")
    else:
        report.failed("js/lint", output)


def run(report, part, folder, only):
    code, output = command.run(["npm", "run", "--silent", "build", "-w", folder], SECONDS)
    if code != 0:
        report.failed(f"{part}/build", output)
        return
    logs = sanitizer.Logs(part)
    programs = os.environ.get("SANDBAR_BIN", os.path.abspath("build/asan/bin"))
    pattern = [f"--test-name-pattern={only}"] if only else []
    tests = sorted(glob.glob(f"{folder}/built/test/*.test.js"))
    environment = os.environ | logs.environment() | {"SANDBAR_BIN": programs}

    def node(*chosen):
        return command.run(["node", "--test", "--test-reporter=tap", *chosen, *tests], SECONDS, env=environment)

    code, output = node(*pattern)
    if read(report, part, output, node) == 0 and code != 0:
        report.failed(part, output[-8000:] if code is not None else f"stopped: it took longer than {SECONDS} s")
    logs.check(report, part, output)


def passes_again(node, name):
    """CI's machines stall: whether a test that failed passes by itself (tests/system/again.py does the same)."""
    code, output = node(f"--test-name-pattern=^{re.escape(name)}$") if os.environ.get("CI") else (1, "")
    return code == 0 and any((match := LINE.match(line)) and match[1] == "ok" and match[2] == name and match[3] is None
                             for line in output.splitlines())


def read(report, part, output, node):
    """The outcomes of node's test runner; how many failed, if only once."""
    failed = 0
    lines = output.splitlines()
    for number, line in enumerate(lines):
        if not (match := LINE.match(line)):
            continue
        name = f"{part}/{match[2]}"
        if match[3] is not None and UNCHOSEN in match[3]:
            continue
        if match[3] is not None:
            report.add(Result(name, SKIPPED, match[3].strip()))
        elif match[1] == "ok":
            report.passed(name)
        else:
            failed += 1
            detail = "\n".join(lines[number + 1:number + 40])
            if passes_again(node, match[2]):
                report.passed_again(name, detail)
            else:
                report.failed(name, detail)
    return failed
