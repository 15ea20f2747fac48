"""Run the benchmark programs, print their table, and put it into BENCHMARKS.md. Called by ./dev bench [NAME]."""

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys

from rows import ROWS

PROGRAMS = "build/release/tests/bench/bench_"
PAGE = "BENCHMARKS.md"
BEGIN, END = "<!-- the table of the newest run; written by ./dev bench -->", "<!-- end of the table -->"
SECONDS = 600  # of one program
ROUNDS = 3


def run(name):
    done = subprocess.run([PROGRAMS + name], stdout=subprocess.PIPE, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"bench: {PROGRAMS}{name} left with {done.returncode}")
    return json.loads(done.stdout)


def median(runs):
    """Figure by figure."""
    return {key: statistics.median(run[key] for run in runs) for key in runs[0] if key != "bench"}


def measure(row):
    """What both programs of a row measured, in turn."""
    ours, theirs = [], []
    for turn in range(ROUNDS):
        print(f"bench: {row.name}, {turn + 1} of {ROUNDS}", file=sys.stderr, flush=True)
        ours.append(run(row.ours))
        theirs.append(run(row.theirs))
    return median(ours), median(theirs)


def machine():
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    version = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    with open("/etc/debian_version") as file:
        debian = file.read().strip()
    return (f"{datetime.date.today()}, commit {version}, {len(models)} cores of {models[0]}, Debian {debian}, "
            f"Linux {platform.release()}")


def told(figures):
    if "mb_s" in figures:
        return f"{figures['mb_s']:,.0f} MB/s"
    return " / ".join(f"{figures[key]:,.0f}" for key in ("p50_us", "p95_us", "p99_us")) + " µs"


def line(row, ours, theirs):
    ratio = ours[row.figure] / theirs[row.figure]
    missed = "" if row.holds(ratio) else ", missed"
    return f"| {row.title} | {told(ours)} | {row.theirs} | {told(theirs)} | {ratio:.2f} | {row.aim()}{missed} |"


def write(text):
    with open(PAGE) as file:
        before, rest = file.read().split(BEGIN)
    with open(PAGE, "w") as file:
        file.write(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    wanted = [row for row in ROWS if len(sys.argv) == 1 or row.name in sys.argv[1:]]
    rows = [row for row in wanted if os.path.exists(PROGRAMS + row.ours) and os.path.exists(PROGRAMS + row.theirs)]
    if not rows:
        sys.exit(f"bench: no such row; there are {', '.join(row.name for row in ROWS)}")
    lines = [line(row, *measure(row)) for row in rows]
    head = ["| what (p50 / p95 / p99) | Sandbar | beside | | ratio | target |", "| --- | ---: | --- | ---: | ---: | --- |"]
    text = "\n".join([f"{machine()}; medians of {ROUNDS} runs in turn", "", *head, *lines])
    print(text)
    if rows == ROWS:
        write(text)


main()
