"""The libFuzzer targets: ten seconds each over the committed corpus, or as long as ./dev fuzz says.

What a run finds that is new is kept in build/fuzz/corpus; what breaks a target in build/fuzz/broken.
"""

import concurrent.futures
import fnmatch
import glob
import os
import pathlib
import re

import command

SECONDS = 10
PROGRAMS = "build/fuzz/tests/fuzz/fuzz_"


def run(report, only, options):
    seconds = int(options.fuzz_minutes * 60) or SECONDS
    targets = [path.removeprefix(PROGRAMS) for path in sorted(glob.glob(PROGRAMS + (only or "*")))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target, (code, output) in zip(targets, pool.map(lambda target: fuzz(target, seconds), targets)):
            if code == 0:
                report.passed(f"fuzz/{target}")
            else:
                report.failed(f"fuzz/{target}", f"exit {code}\n{output[-6000:]}")
    if fnmatch.fnmatch("request", only or "*"):
        expect_every_method(report)


def expect_every_method(report):
    """A method without a seed is one that ten seconds do not reach."""
    with open("server/api/method.c", encoding="utf-8") as source:
        methods = set(re.findall(r'\{"(\w+\.\w+)", RIGHT_', source.read()))
    seeds = b"".join(pathlib.Path(path).read_bytes() for path in glob.glob("tests/fuzz/corpus/request/*"))
    missing = sorted(method for method in methods if method.encode() not in seeds)
    if methods and not missing:
        report.passed("fuzz/request: every method has a seed")
    else:
        report.failed("fuzz/request: every method has a seed", f"none of {missing}: see tests/fuzz/api/corpus.py")


def fuzz(target, seconds):
    found, broken, committed = f"build/fuzz/corpus/{target}", "build/fuzz/broken", f"tests/fuzz/corpus/{target}"
    os.makedirs(found, exist_ok=True)
    os.makedirs(broken, exist_ok=True)
    folders = [found] + ([committed] if os.path.isdir(committed) else [])
    return command.run([PROGRAMS + target, f"-max_total_time={seconds}", "-timeout=5", "-rss_limit_mb=2048",
                        "-print_final_stats=1", f"-artifact_prefix={broken}/{target}-", *folders], seconds + 120)
