"""Nothing is left of a session: after a thousand of them, and after a keeper that was killed in the middle of anything.

SANDBAR_INJECT=all kills the keeper at every system call of making and ending a sandbox; otherwise at a sample, whose seed
is printed and taken from SANDBAR_SEED."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import threading

import pytest
from traced_server import Server, live_once, mounts, sessions, traced
from wire import SLOWNESS

SAMPLE = 12
CHURN = int(float(os.environ.get("SANDBAR_CHURN", 500 / SLOWNESS)))
SEED = int(os.environ.get("SANDBAR_SEED", "0")) or random.randrange(1, 1 << 30)


def calls_of_one_life(programs, folder):
    """[(system call, how often it was made by then)] of the keeper, for one session."""
    server = Server(programs, folder)
    live_once(server)  # what is made once only is made
    with traced(server, "-o", str(folder / "trace")):
        live_once(server)
    server.stop()
    made, counts = [], {}
    for line in (folder / "trace").read_text().splitlines():
        if name := re.match(r"([a-z0-9_]+)\(", line):
            counts[name[1]] = counts.get(name[1], 0) + 1
            made.append((name[1], counts[name[1]]))
    assert len(made) > 50 and any(name == "clone3" for name, _ in made)
    return made


def chosen(calls):
    if os.environ.get("SANDBAR_INJECT") == "all":
        return calls
    print(f"seed {SEED}")
    return random.Random(SEED).sample(calls, SAMPLE)


def test_a_keeper_killed_anywhere_leaves_nothing_after_the_next_start(programs, traced_folder):
    """Everything that lived in the sandbox dies with it; what it had made on the host, the next server clears."""
    if not shutil.which("strace"):
        pytest.skip("strace is missing")
    before, killed = mounts(), 0
    for name, nth in chosen(calls_of_one_life(programs, traced_folder)):
        server = Server(programs, traced_folder)
        live_once(server)
        with traced(server, "-o", "/dev/null", "-e", f"trace={name}", "-e", f"inject={name}:signal=KILL:when={nth}"):
            live_once(server)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(0.2)
        killed += server.process.returncode == -signal.SIGKILL
        where = f"killed at {name} {nth}, seed {SEED}"
        if server.process.returncode is None:
            server.stop()  # that call was not made this time
        traces = server.traces
        successor = Server(programs, traced_folder)
        live_once(successor)
        successor.stop()
        assert successor.process.returncode == 0, where
        assert not (faults := traces.faults() + successor.traces.faults()), f"{where}: {faults}"
        assert mounts() == before and not sessions(traced_folder), where
    assert killed >= SAMPLE // 2, f"only {killed} were killed; seed {SEED}"


def test_many_sessions_leave_the_host_as_it_was(programs, traced_folder):
    """Made and ended, four at a time: mounts byte for byte, no file, no cgroup, no process, the descriptors as before."""
    server = Server(programs, traced_folder)
    live_once(server)
    before, open_before = mounts(), len(os.listdir(f"/proc/{server.process.pid}/fd"))
    faults = []

    def churn():
        try:
            with server.client() as client:
                for n in range(CHURN // 4):
                    session = client.create()
                    if n % 10 == 0:
                        client.run(session, "(setsid sleep 4321 &) ; echo x >/work/f")
                    client.call("session.end", session=session)
        except Exception as fault:  # told by the test's own thread
            faults.append(fault)

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults
    left = sessions(traced_folder)
    assert not left, [str(path) for session in left for path in session.iterdir()]
    assert mounts() == before
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) == open_before
    server.stop()
    assert server.process.returncode == 0 and not server.traces.faults()
