"""The attacks from inside of sessions: pytest over tests/containment. Who asks for this part by name sees the table, probe by
probe with its control; else it stands in a file alone."""

import os

import system

TABLES = "build/asan/containment.txt"


def run(report, only, options):
    if os.path.exists(TABLES):
        os.unlink(TABLES)
    system.run_pytest(report, "containment", only, {"SANDBAR_CONTAINMENT_TABLES": os.path.abspath(TABLES)})
    if os.path.exists(TABLES) and options.parts:
        with open(TABLES) as file:
            print(file.read(), flush=True)
    else:
        report.say(f"the tables of the attacks are in {TABLES}")
