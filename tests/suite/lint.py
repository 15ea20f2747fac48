"""What a reader should not have to check: style, suspicious code, the arrows between folders, sizes, links."""

import concurrent.futures
import json
import os
import subprocess
import sys

import arrows
import command
import links
import sizes

SECONDS = 300  # of one tool


def files(*patterns):
    """What git knows, or would take, by pattern."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
                            capture_output=True, text=True, check=True).stdout
    return sorted(path for path in set(listed.split("\0")) if path and os.path.isfile(path))


def tool(argv, paths):
    """The faults that a tool tells of these files; "" when it is content."""
    if not paths:
        return ""
    code, output = command.run([*argv, *paths], SECONDS)
    return "" if code == 0 else output or f"exit {code}"


def clang_format():
    told = tool(["clang-format", "--dry-run", "-Werror", "--ferror-limit=1"], files("*.c", "*.h"))
    places = [line.split(": error:")[0] for line in told.splitlines() if ": error:" in line]
    return "\n".join([*places, "./dev format mends these"]) if places else told


def clang_tidy():
    """Of the sources that are built, without the tests, whose macros it does not understand."""
    with open("build/asan/compile_commands.json") as file:
        built = {os.path.relpath(row["file"]) for row in json.load(file)}
    paths = [path for path in files("*.c") if path in built and not path.startswith("tests/")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        told = pool.map(lambda path: tool(["clang-tidy", "-p", "build/asan", "--quiet"], [path]), paths)
    return "\n".join(text for text in told if text)


def shellcheck():
    return tool(["shellcheck"], files("dev", ".ci/run", "*.sh", "*.bash"))


def pyflakes():
    return tool([sys.executable, "-m", "pyflakes"], files("*.py"))


def pycodestyle():
    return tool([sys.executable, "-m", "pycodestyle", "--max-line-length=180"], files("*.py"))


CHECKS = {
    "clang-format": clang_format,
    "clang-tidy": clang_tidy,
    "shellcheck": shellcheck,
    "pyflakes": pyflakes,
    "pycodestyle": pycodestyle,
    "arrows": lambda: arrows.check(files("*.c", "*.h", "*.def")),
    "sizes": lambda: sizes.check(files("*.c", "*.h", "*.py", "dev")),
    "links": lambda: links.check(files("*.md")),
}


def run(report, only, _options):
    for name, check in CHECKS.items():
        if only and only != name:
            continue
        faults = check()
        if faults:
            report.failed(f"lint/{name}", faults)
        else:
            report.passed(f"lint/{name}")
