#!/usr/bin/env python3
"""Make the corpus of the fuzz target `request`: a request or two for every method, with every parameter and type."""
import pathlib

import msgpack

ROOT = pathlib.Path(__file__).resolve().parents[3]
SESSION = {"session": "k3v7abcdefghij27"}
PROCESS = {**SESSION, "process": 1}
START = {**SESSION, "argv": ["sh", b"-c\xff"], "env": {"A": "1", "B": b"\xff"}, "cwd": "/tmp", "name": "n",
         "wall_ms": 1, "cpu_ms": 2, "idle_ms": 3, "output_bytes": 4, "grace_ms": 5, "on_exit": "kill_tree"}
LIMITS = {"memory": 1 << 26, "processes": 10, "cpu": 100, "workspace": 1 << 21, "inodes": 100, "open_files": 64, "file_size": 0}

REQUESTS = {
    "create": ("session.create", {"name": "n", "env": {"A": "1"}, "limits": LIMITS, "ttl_ms": 1, "require": ["seccomp"]}),
    "create-nil": ("session.create", {"limits": None}),
    "list": ("session.list", {}),
    "info": ("session.info", SESSION),
    "end": ("session.end", SESSION),
    "attach": ("session.attach", {**SESSION, "after": 0, "mode": "lossless", "name": "n", "role": "editor",
                                  "processes": [1, 2], "credit": 65536}),
    "attach-nil": ("session.attach", {**SESSION, "after": None, "processes": None, "credit": None}),
    "detach": ("session.detach", {"channel": 1}),
    "start": ("process.start", {**START, "stdin": True, "on_disconnect": "kill", "disconnect_ms": 6}),
    "start-terminal": ("process.start", {**SESSION, "argv": ["sh"], "terminal": {"cols": 80, "rows": 24}}),
    "start-no-terminal": ("process.start", {**SESSION, "argv": ["sh"], "terminal": None, "env": {}}),
    "run": ("process.run", {**START, "input": b"bytes", "max_output": 100}),
    "processes": ("process.list", {**SESSION, "after": 5}),
    "signal": ("process.signal", {**PROCESS, "signal": "SIGINT", "scope": "tree"}),
    "kill": ("process.kill", {**PROCESS, "grace_ms": 10}),
    "wait": ("process.wait", PROCESS),
    "server": ("server.info", {}),
    "unknown-method": ("session.destroy", SESSION),
    "unknown-key": ("session.info", {**SESSION, "clé": 1}),
    "missing": ("process.start", SESSION),
    "nul": ("process.start", {**SESSION, "argv": ["a\0b"], "cwd": "tmp"}),
    "environment": ("process.start", {**SESSION, "argv": ["a"], "env": {"": "x", "A=B": "y"}}),
    "ranges": ("process.start", {**SESSION, "argv": [], "wall_ms": -1, "terminal": {"cols": 0, "rows": 1001}}),
}


def main():
    folder = ROOT / "tests/fuzz/corpus/request"
    folder.mkdir(parents=True, exist_ok=True)
    channel = msgpack.packb(0)
    for number, (name, (method, params)) in enumerate(REQUESTS.items(), 1):
        (folder / name).write_bytes(channel + msgpack.packb([0, number, method, [params]]))
    several = [[0, 1, "session.list", []], [3, 1], [0, 2, "session.info", [SESSION]]]
    (folder / "several").write_bytes(channel + b"".join(map(msgpack.packb, several)))


if __name__ == "__main__":
    main()
