"""Who may include whom: the arrows between folders (ARCHITECTURE.md), as a table."""

import os
import re

# A folder, and what its files may include beside their own folder's and those below it. The longest match of a file's
# path is its row. A name that ends in .h or .def is that file alone.
SEAM = ["sandbox/driver.h", "sandbox/error.h", "sandbox/inner_user.h", "sandbox/layer.h", "sandbox/limit_bounds.h",
        "sandbox/limits.def", "sandbox/limits.h", "sandbox/profile.h"]  # the driver
ALLOWED = {
    "protocol": [],
    "sandbox": [],
    "server/base": ["sandbox/error.h"],
    "server/keeper": ["server/base", "sandbox", "server/gateway/inherit.h"],
    "server/gateway": ["server/base", "server/api", "server/session", "server/guard", "protocol", *SEAM,
                       "sandbox/init/wire.h", "sandbox/call_name.h", "sandbox/landlock.h", "server/keeper/request.h"],
    "server/api": ["server/base", "server/session", "server/guard", "protocol", *SEAM],
    "server/session": ["server/base", "server/terminal", "protocol", *SEAM],
    "server/terminal": ["server/base"],
    "server/guard": ["server/base", "protocol", "sandbox/error.h"],
    "server/worker": ["server/base", "server/session", "protocol", "sandbox/error.h"],
    "clients/c": ["protocol"],
    "clients/c/command": ["clients/c", "protocol", "server/terminal"],
    "tests": ["protocol", "sandbox", "server", "clients"],
}
FOLDERS = ("protocol/", "sandbox/", "server/", "clients/", "tests/")

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def row_of(path):
    fitting = [folder for folder in ALLOWED if path.startswith(folder + "/")]
    return max(fitting, key=len) if fitting else None


def is_allowed(path, folder, target):
    if target.startswith(folder + "/"):
        return True
    return any(target == name if name.endswith((".h", ".def")) else target.startswith(name + "/") for name in ALLOWED[folder])


def check(paths):
    faults = []
    for path in paths:
        folder = row_of(path)
        with open(path, errors="replace") as file:
            text = file.read()
        for name in INCLUDE.findall(text):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            target = name if name.startswith(FOLDERS) else beside
            if ".." in name.split("/"):
                faults.append(f"{path}: \"{name}\": a path from the root of the tree, not with ..")
            elif folder is None:
                faults.append(f"{path}: no row of tests/suite/arrows.py tells what this folder may include")
            elif not is_allowed(path, folder, target):
                faults.append(f"{path}: {folder}/ may not include {target}")
    return "\n".join(faults)
