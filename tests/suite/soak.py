"""One minute of the soak with the sanitizers; ./dev soak takes the release, and as long as it is told."""

import os
import sys

import command

MINUTES = 1
SECONDS = 10 * 60  # after the last scenario was begun it may take a while until everything came to its end


def run(report, only, _options):
    minutes = float(only or MINUTES)
    code, output = command.run([sys.executable, "-B", "tests/soak", str(minutes)], minutes * 60 + SECONDS, env=os.environ)
    for line in output.splitlines()[:1]:
        report.say(line)
    if code == 0:
        report.passed("soak")
    else:
        report.failed("soak", f"exit {code}\n{output[-9000:]}")
