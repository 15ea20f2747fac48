"""Nothing is left of a session: after a thousand of them, and after a keeper that was killed in the middle of anything.

SANDBAR_INJECT=all kills the keeper at every system call of making and ending a sandbox; otherwise at a sample, whose seed
is printed and taken from SANDBAR_SEED."""

import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import pytest

import leftovers
from websocket import Closed
from wire import SLOWNESS, Client, RemoteError

SAMPLE = 12
CHURN = int(float(os.environ.get("SANDBAR_CHURN", 500 / SLOWNESS)))
SEED = int(os.environ.get("SANDBAR_SEED", "0")) or random.randrange(1, 1 << 30)
PATIENCE = 20 * SLOWNESS


def mounts():
    """As the kernel prints them, but for what other tests that run meanwhile may mount in folders of theirs."""
    lines = pathlib.Path("/proc/self/mounts").read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.split()[1].startswith(b"/tmp/") or b"sandbar" in line)


def sessions(folder):
    """Those of which a file is left; the last one goes a moment after its end was told."""
    deadline = time.monotonic() + PATIENCE
    while (left := list((folder / "state/sessions").glob("[a-z2-7]" * 16))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


class Server:
    """sandbard on a state directory that outlives it."""

    def __init__(self, programs, folder):
        self.folder = folder
        self.log = open(folder / "log", "ab")
        begin = self.log.tell()
        argv = [programs / "sandbard", "--listen", "127.0.0.1:0", "--state", folder / "state", "--keep-sessions", "0", "--warm", "0"]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd="/", start_new_session=True)
        deadline = time.monotonic() + PATIENCE
        while not (told := re.search(rb"listening on http://(\S+):(\d+)", (folder / "log").read_bytes()[begin:])):
            assert self.process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()[-3000:]
            time.sleep(0.01)
        self.address = (told[1].decode(), int(told[2]))
        self.traces = leftovers.of_server(self.process.pid, folder / "state")

    def client(self):
        return Client(self.address, (self.folder / "state/owner.token").read_text().strip())

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.log.close()


@pytest.fixture
def folder():
    if os.geteuid() != 0:
        pytest.skip("only root may trace the keeper")
    path = pathlib.Path(tempfile.mkdtemp(prefix="sandbar-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def live_once(server):
    """One session from its beginning to its end; whatever the server's death makes of it."""
    with contextlib.suppress(Closed, OSError, RemoteError, TimeoutError):
        with server.client() as client:
            session = client.create()
            client.run(session, "(setsid sleep 4321 &) ; echo x >/work/f")
            client.call("session.end", session=session)


@contextlib.contextmanager
def traced(server, *flags):
    """The keeper alone, not what it starts."""
    tracer = subprocess.Popen(["strace", "-qq", "-p", str(server.process.pid), *flags], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE
    while "TracerPid:\t0\n" in pathlib.Path(f"/proc/{server.process.pid}/status").read_text():
        if tracer.poll() is not None:
            pytest.skip(f"the keeper cannot be traced: {tracer.stderr.read().decode()}")
        assert time.monotonic() < deadline
        time.sleep(0.005)
    yield
    tracer.terminate()
    tracer.wait(PATIENCE)


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


def test_a_keeper_killed_anywhere_leaves_nothing_after_the_next_start(programs, folder):
    """Everything that lived in the sandbox dies with it; what it had made on the host, the next server clears."""
    if not shutil.which("strace"):
        pytest.skip("strace is missing")
    before, killed = mounts(), 0
    for name, nth in chosen(calls_of_one_life(programs, folder)):
        server = Server(programs, folder)
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
        successor = Server(programs, folder)
        live_once(successor)
        successor.stop()
        assert successor.process.returncode == 0, where
        assert not (faults := traces.faults() + successor.traces.faults()), f"{where}: {faults}"
        assert mounts() == before and not sessions(folder), where
    assert killed >= SAMPLE // 2, f"only {killed} were killed; seed {SEED}"


def test_many_sessions_leave_the_host_as_it_was(programs, folder):
    """Made and ended, four at a time: mounts byte for byte, no file, no cgroup, no process, the descriptors as before."""
    server = Server(programs, folder)
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
    left = sessions(folder)
    assert not left, [str(path) for session in left for path in session.iterdir()]
    assert mounts() == before
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) == open_before
    server.stop()
    assert server.process.returncode == 0 and not server.traces.faults()
