"""The tests that drive the real server: pytest over tests/system. Other parts that are pytest's, too, run by the same way."""

import glob
import os
import sys
import xml.etree.ElementTree

import command
from result import FAILED, PASSED, SKIPPED, Result

SECONDS = 40 * 60


def run(report, only, _options):
    run_pytest(report, "system", only)


def run_pytest(report, part, only, environment=None):
    """tests/PART, whole or what ONLY selects; the results become those of PART."""
    folder, report_file = f"tests/{part}", f"build/asan/{part}.xml"
    if os.path.exists(report_file):
        os.unlink(report_file)
    pytest = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "--durations=8"]
    code, _ = command.run([*pytest, f"--junitxml={report_file}", *selection(only, folder)], SECONDS, live=True,
                          env=os.environ | (environment or {}))
    read_xml(report, report_file, part)
    if code is None:
        report.failed(part, f"stopped: it took longer than {SECONDS} s")
    elif code not in (0, 1, 5):
        report.failed(part, f"pytest left with {code}")


def selection(only, folder):
    """A file's name without test_ and .py, or an expression as pytest's -k takes it."""
    if not only:
        return [folder]
    return [path for name in (f"test_{only}.py", only) for path in glob.glob(f"{folder}/{name}")] or [folder, "-k", only]


def read_xml(report, path, part):
    if not os.path.exists(path):
        report.failed(part, "pytest wrote no report")
        return
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        module = case.get("classname", "").rpartition(".")[2]
        name = f"{part}/{module}::{case.get('name')}"
        report.results.append(Result(name, *outcome(case)))  # pytest has told the details already
        if any(row.get("name") == "unsteady" for row in case.iter("property")):
            report.unsteady.append(name)
        if report.results[-1].outcome == SKIPPED:
            report.add(report.results.pop())


def outcome(case):
    for child in case:
        if child.tag in ("failure", "error"):
            return FAILED, child.get("message", "")
        if child.tag == "skipped":
            return SKIPPED, child.get("message", "")
    return PASSED, ""
