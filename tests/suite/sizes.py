"""A function longer than a screen, a file that nobody reads to its end: signs that a noun is missing."""

import ast
import json
import subprocess

FILE_LINES = 600
FUNCTION_LINES = 60

# What may be longer, and why.
EXEMPT = {}


def check(paths):
    long_files = (fault for path in paths for fault in check_file(path))
    c_functions = check_c([path for path in paths if path.endswith((".c", ".h"))])
    python_functions = (fault for path in paths if path.endswith(".py") for fault in check_python(path))
    return "\n".join([*long_files, *c_functions, *python_functions])


def check_file(path):
    with open(path, errors="replace") as file:
        lines = sum(1 for _ in file)
    if lines > FILE_LINES and path not in EXEMPT:
        yield f"{path}: {lines} lines (at most {FILE_LINES})"


def check_c(paths):
    argv = ["ctags", "--languages=C", "--kinds-C=f", "--fields=+ne", "--output-format=json", "-f", "-", *paths]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout if paths else ""
    for tag in map(json.loads, told.splitlines()):
        lines = tag.get("end", tag["line"]) - tag["line"] + 1
        if lines > FUNCTION_LINES and f"{tag['path']}:{tag['name']}" not in EXEMPT:
            yield f"{tag['path']}:{tag['line']}: {tag['name']}() has {lines} lines (at most {FUNCTION_LINES})"


def check_python(path):
    with open(path) as file:
        tree = ast.parse(file.read(), path)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES and f"{path}:{node.name}" not in EXEMPT:
                yield f"{path}:{node.lineno}: {node.name}() has {lines} lines (at most {FUNCTION_LINES})"
