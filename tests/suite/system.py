"""The tests that drive the real server: pytest over tests/system and, where it has any, tests/containment."""

import glob
import os
import sys
import xml.etree.ElementTree

import command
from result import FAILED, PASSED, SKIPPED, Result

FOLDERS = ("tests/system", "tests/containment")
XML = "build/asan/system.xml"
SECONDS = 40 * 60


def run(report, only, _options):
    folders = [folder for folder in FOLDERS if glob.glob(folder + "/test_*.py")]
    if not folders:
        return
    if os.path.exists(XML):
        os.unlink(XML)
    pytest = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "--durations=8"]
    code, _ = command.run([*pytest, f"--junitxml={XML}", *selection(only, folders)], SECONDS, live=True)
    read_xml(report, XML, "system")
    if code is None:
        report.failed("system", f"stopped: it took longer than {SECONDS} s")
    elif code not in (0, 1, 5):
        report.failed("system", f"pytest left with {code}")


def selection(only, folders):
    """A file's name without test_ and .py, or an expression as pytest's -k takes it."""
    if not only:
        return folders
    named = [path for folder in folders for name in (f"test_{only}.py", only) for path in glob.glob(f"{folder}/{name}")]
    return named or [*folders, "-k", only]


def read_xml(report, path, part):
    if not os.path.exists(path):
        report.failed(part, "pytest wrote no report")
        return
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        module = case.get("classname", "").rpartition(".")[2]
        name = f"{part}/{module}::{case.get('name')}"
        report.results.append(Result(name, *outcome(case)))  # pytest has told the details already
        if report.results[-1].outcome == SKIPPED:
            report.add(report.results.pop())


def outcome(case):
    for child in case:
        if child.tag in ("failure", "error"):
            return FAILED, child.get("message", "")
        if child.tag == "skipped":
            return SKIPPED, child.get("message", "")
    return PASSED, ""
