"""Run the tests of this tree, whole or in parts, and close with one line that counts them. Called by ./dev test."""

import argparse
import os
import sys

import containment
import fuzz
import javascript
import lint
import soak
import system
import terminal
import unit
import vm
from result import Report

# In this order: what tells most in the least time first, and the guest last.
PARTS = {"lint": lint.run, "unit": unit.run, "terminal": terminal.run, "fuzz": fuzz.run, "js": javascript.run_client,
         "system": system.run, "browser": javascript.run_browser,
         "containment": containment.run, "soak": soak.run, "vm": vm.run}


def main():
    parser = argparse.ArgumentParser(prog="dev test")
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help="lint, unit, unit/NAME, terminal, terminal/SEED, fuzz, fuzz/TARGET, js, js/NAME, system, "
                             "system/FILE-OR-EXPRESSION, browser, browser/NAME, "
                             "containment, containment/FILE-OR-EXPRESSION, soak, soak/MINUTES, vm, vm/EXPRESSION")
    parser.add_argument("--fuzz-minutes", type=float, default=0, help="fuzz this long instead of ten seconds a target")
    options = parser.parse_args()
    report = Report()
    for part in options.parts or PARTS:
        kind, _, only = part.partition("/")
        if kind not in PARTS:
            parser.error(f"no part {kind}; there are {', '.join(PARTS)}")
        report.say(part)
        before = report.tally()
        PARTS[kind](report, only, options)
        report.say(f"{part}: {report.told(report.tally() - before)}")
    return report.finish()


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.exit(main())
