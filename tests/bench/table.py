"""Run the benchmark programs, print their tables, and put them into BENCHMARKS.md. Called by ./dev bench [NAME]."""

import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import sys

from rows import FIGURES, ROWS

PROGRAMS = "build/release/tests/bench/bench_"
PAGE = "BENCHMARKS.md"
BEGIN, END = "<!-- the table of the newest run; written by ./dev bench -->", "<!-- end of the table -->"
SECONDS = 500  # of one program; most end themselves after a minute
STOP_SECONDS = 40
ROUNDS = 3


class Failed(Exception):
    """A program did not do its work."""


def stop(program):
    """Its server is stopped by a process of its own, which keeps our end of the pipe open as long as it lives."""
    program.terminate()
    try:
        program.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        program.kill()


def run(command):
    with subprocess.Popen([PROGRAMS + command.split()[0], *command.split()[1:]], stdout=subprocess.PIPE, text=True) as program:
        try:
            output = program.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            stop(program)
            raise Failed(f"`{command}` took more than {SECONDS} s") from None
        except BaseException:
            stop(program)
            raise
    if program.returncode != 0:
        raise Failed(f"`{command}` left with {program.returncode}")
    return json.loads(output)


def median(runs):
    """Figure by figure."""
    return {key: statistics.median(run[key] for run in runs) for key in runs[0] if key != "bench"}


def measure(row):
    """What both programs of a row measured, in turn; the other's arguments may name figures of ours."""
    ours, theirs = [], []
    for turn in range(ROUNDS):
        print(f"bench: {row.name}, {turn + 1} of {ROUNDS}", file=sys.stderr, flush=True)
        ours.append(run(row.ours))
        theirs.append(run(row.theirs.format_map(ours[-1])))
    return median(ours), median(theirs)


def machine():
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    version = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    with open("/etc/debian_version") as file:
        debian = file.read().strip()
    return (f"{datetime.date.today()}, commit {version}, {len(models)} cores of {models[0]}, Debian {debian}, "
            f"Linux {platform.release()}")


UNITS = {"mb_s": "{:,.0f} MB/s", "calls_s": "{:,.0f}/s", "mb_cpu_s": "{:,.0f} MB/CPU-s", "each_mb_s": "{:,.1f} MB/s", "flood_mb_s": "{:,.1f} MB/s"}


def told(figures, key):
    """The figure of which a ratio is taken; of times, three."""
    if key in UNITS:
        return UNITS[key].format(figures[key])
    return " / ".join(f"{figures[key]:,.0f}" for key in ("p50_us", "p95_us", "p99_us")) + " µs"


def ratio_line(row):
    try:
        ours, theirs = measure(row)
    except Failed as error:
        return f"| {row.title} | not measured: {error} | | | | {row.aim()} |"
    ratio = ours[row.figure] / theirs[row.figure]
    missed = "" if row.holds(ratio) else ", missed"
    return f"| {row.title} | {told(ours, row.figure)} | {row.beside or row.theirs} | {told(theirs, row.figure)} | {ratio:.2f} | {row.aim()}{missed} |"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def figure_line(figure, done):
    """DONE: what the programs that have run measured, by their command."""
    if figure.command not in done:
        print(f"bench: {figure.name}: {figure.command}", file=sys.stderr, flush=True)
        try:
            done[figure.command] = run(figure.command)
        except Failed as error:
            done[figure.command] = error
    found = done[figure.command]
    if isinstance(found, Failed):
        return f"| {figure.title} | not measured: {found} | {figure.aim()} |"
    value = found[figure.key] * figure.scale
    missed = ", missed" if figure.most is not None and value > figure.most else ""
    title = figure.title.format_map({key: f"{value:,}" for key, value in found.items() if key != "bench"})
    return f"| {title} | {number(value)} {figure.unit} | {figure.aim()}{missed} |"


def tables(rows, figures):
    text = [f"{machine()}; ratios: medians of {ROUNDS} runs in turn; figures: one run"]
    if rows:
        text += ["", "| what (p50 / p95 / p99) | Sandbar | beside | | ratio | target |", "| --- | ---: | --- | ---: | ---: | --- |"]
        text += [ratio_line(row) for row in rows]
    if figures:
        done = {}
        text += ["", "| what | | target |", "| --- | ---: | --- |"]
        text += [figure_line(figure, done) for figure in figures]
    return "\n".join(text)


def write(text):
    with open(PAGE) as file:
        before, rest = file.read().split(BEGIN)
    with open(PAGE, "w") as file:
        file.write(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}")


def is_built(row):
    return all(os.path.exists(PROGRAMS + command.split()[0]) for command in row.commands())


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    rows, figures = ([row for row in every if (len(sys.argv) == 1 or row.name in sys.argv[1:]) and is_built(row)]
                     for every in (ROWS, FIGURES))
    if not rows and not figures:
        names = dict.fromkeys(row.name for row in [*ROWS, *FIGURES])
        sys.exit(f"bench: no such row; there are {', '.join(names)}")
    text = tables(rows, figures)
    print(text)
    if (rows, figures) == (ROWS, FIGURES):
        write(text)
    if "not measured" in text:
        sys.exit(1)


main()
