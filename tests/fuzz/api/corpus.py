#!/usr/bin/env python3
"""Make the corpus of the fuzz target `request`: a request or two for every method, with every parameter and type."""
import pathlib

import msgpack

ROOT = pathlib.Path(__file__).resolve().parents[3]
SESSION = {"session": "k3v7abcdefghij27"}
PROCESS = {**SESSION, "process": 1}
PARTICIPANT = {**SESSION, "participant": 1}
TERMINAL = {**PROCESS, "channel": 1}
FINGERPRINTS = {"kernel": "0" * 64, "policy": "1" * 64, "root": "2" * 64}
START = {**SESSION, "argv": ["sh", b"-c\xff"], "env": {"A": "1", "B": b"\xff"}, "cwd": "/tmp", "name": "n",
         "wall_ms": 1, "cpu_ms": 2, "idle_ms": 3, "output_bytes": 4, "grace_ms": 5, "on_exit": "kill_tree"}
CONTEXT = {"conversation": "c-1", "empty": ""}
LIMITS = {"memory": 1 << 26, "processes": 10, "cpu": 100, "workspace": 1 << 21, "inodes": 100, "open_files": 64, "file_size": 0}

REQUESTS = {
    "create": ("session.create", {"name": "n", "env": {"A": "1"}, "limits": LIMITS, "ttl_ms": 1, "require": ["seccomp"],
                                  "template": "small", "profile": "compute", "on_disconnect": "kill", "disconnect_ms": 5,
                                  "context": CONTEXT, "for_proof": True}),
    "create-nil": ("session.create", {"limits": None}),
    "update": ("session.update", {**SESSION, "name": "n", "ttl_ms": None, "context": CONTEXT}),
    "list": ("session.list", {"ended": True}),
    "info": ("session.info", SESSION),
    "end": ("session.end", SESSION),
    "attach": ("session.attach", {**SESSION, "after": 0, "mode": "lossless", "name": "n", "role": "editor",
                                  "processes": [1, 2], "credit": 65536, "replay": 4096, "screens": 2}),
    "attach-nil": ("session.attach", {**SESSION, "after": None, "processes": None, "credit": None}),
    "detach": ("session.detach", {"channel": 1}),
    "role": ("session.role", {**PARTICIPANT, "role": "viewer"}),
    "remove": ("session.remove", PARTICIPANT),
    "note": ("session.note", {**PROCESS, "text": "a note"}),
    "share": ("session.share", {**SESSION, "role": "viewer", "name": "n", "expires_ms": 1, "uses": 1}),
    "shares": ("session.shares", SESSION),
    "unshare": ("session.unshare", {**SESSION, "share": "k3v7abcd"}),
    "terminal-set": ("terminal.set", {**PROCESS, "input": "driver", "size": "fixed", "cols": 80, "rows": 24}),
    "terminal-take": ("terminal.take", TERMINAL),
    "terminal-release": ("terminal.release", TERMINAL),
    "terminal-grant": ("terminal.grant", {**TERMINAL, "participant": 2}),
    "terminal-request": ("terminal.request", TERMINAL),
    "start": ("process.start", {**START, "context": CONTEXT, "stdin": True, "on_disconnect": "kill", "disconnect_ms": 6}),
    "start-terminal": ("process.start", {**SESSION, "argv": ["sh"], "terminal": {"cols": 80, "rows": 24}}),
    "start-no-terminal": ("process.start", {**SESSION, "argv": ["sh"], "terminal": None, "env": {}}),
    "run": ("process.run", {**START, "input": b"bytes", "max_output": 100}),
    "processes": ("process.list", {**SESSION, "after": 5}),
    "signal": ("process.signal", {**PROCESS, "signal": "SIGINT", "scope": "tree"}),
    "kill": ("process.kill", {**PROCESS, "grace_ms": 10}),
    "wait": ("process.wait", PROCESS),
    "shell-start": ("shell.start", {**SESSION, "name": "n", "cwd": "/tmp", "env": {"A": "1"}}),
    "shell-run": ("shell.run", {**PROCESS, "command": "cd /", "input": b"bytes", "wall_ms": 1, "grace_ms": 2,
                                "max_output": 3, "stream": True}),
    "templates": ("template.list", {}),
    "proof-keep": ("proof.keep", {"template": "small", "held": True, "fingerprints": FINGERPRINTS}),
    "token-create": ("token.create", {"name": "n", "tenant": "t", "rights": ["read", "run"], "expires_ms": 1, "uses": 1, "redeem_ms": 1}),
    "tokens": ("token.list", {}),
    "token-revoke": ("token.revoke", {"id": "k3v7abcd"}),
    "token-redeem": ("token.redeem", {}),
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
