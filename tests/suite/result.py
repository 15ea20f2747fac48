"""What came of one check or test, and the report of all of them."""

import collections
import dataclasses
import sys

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclasses.dataclass
class Result:
    name: str          # "unit/protocol/check::depth"
    outcome: str
    detail: str = ""   # of a failure: what was seen; of a skip: what this host lacks


class Report:
    """Results as they come: failures and skips are told at once, passes counted."""

    def __init__(self):
        self.results = []
        self.unsteady = []  # names of tests that failed, and passed when they ran again: CI alone does that

    def say(self, text):
        print(f"-- {text}", flush=True)

    def add(self, result):
        self.results.append(result)
        if result.outcome == FAILED:
            print(f"FAILED {result.name}\n{indent(result.detail)}", flush=True)
        elif result.outcome == SKIPPED:
            print(f"skipped {result.name}: {result.detail}", flush=True)

    def passed(self, name):
        self.add(Result(name, PASSED))

    def failed(self, name, detail):
        self.add(Result(name, FAILED, detail))

    def passed_again(self, name, detail):
        """A test that failed with DETAIL, and passed when it ran again."""
        print(f"unsteady: {name} passed when it ran again; first it failed:\n{indent(detail)}", flush=True)
        self.unsteady.append(name)
        self.passed(name)

    def tally(self):
        return collections.Counter(result.outcome for result in self.results)

    def told(self, tally):
        return ", ".join(f"{tally[outcome]} {outcome}" for outcome in (PASSED, FAILED, SKIPPED))

    def finish(self):
        """Print the closing line; returns the exit code. A run in which nothing was tested is not a success."""
        failures = [result.name for result in self.results if result.outcome == FAILED]
        if failures:
            print("failed:", *failures, sep="\n  ")
        if self.unsteady:
            print("unsteady (they failed once, and passed when they ran again):", *self.unsteady, sep="\n  ")
        if not self.results:
            print("no test has this name", file=sys.stderr)
        print(self.told(self.tally()), flush=True)
        return 1 if failures or not self.results else 0


def indent(text, most=12000):
    if len(text) > most:
        text = text[: most // 2] + "\n[...]\n" + text[-most // 2:]
    return "\n".join("    " + line for line in text.splitlines())
