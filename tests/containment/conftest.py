"""The fixtures of tests/system, sessions that are attacked from inside, and the table of what came of it."""

import importlib.util
import os
import pathlib
import sys

import pytest

SYSTEM = pathlib.Path(__file__).resolve().parents[1] / "system"

sys.path[:0] = [str(SYSTEM), str(pathlib.Path(__file__).resolve().parent)]
spec = importlib.util.spec_from_file_location("system_conftest", SYSTEM / "conftest.py")
system_conftest = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = system_conftest
spec.loader.exec_module(system_conftest)

programs, start_server, bounded = system_conftest.programs, system_conftest.start_server, system_conftest.bounded
any_server = system_conftest.any_server
pytest_configure = system_conftest.pytest_configure

TABLES = []  # (title, rows of cells): told at the end, in their order
VARIABLE = "SANDBAR_CONTAINMENT_TABLES"  # a file for them, beside the terminal


@pytest.fixture(scope="session")
def tables():
    return TABLES


def lines_of(title, rows):
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    yield f"-- {title}"
    for row in rows:
        yield "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip()


def pytest_terminal_summary(terminalreporter):
    lines = [line for title, rows in TABLES for line in lines_of(title, rows)]
    if os.environ.get(VARIABLE):
        with open(os.environ[VARIABLE], "w") as file:
            file.write("\n".join([*lines, ""]))
    if terminalreporter.config.getoption("verbose") > 1:
        for line in lines:
            terminalreporter.write_line(line)
