"""A server that is killed, or whose system calls are made to fail, by strace: what the tests of cleaning and of fallbacks share."""

import contextlib
import pathlib
import re
import signal
import subprocess
import time

import leftovers
import pytest
from websocket import Closed
from wire import SLOWNESS, Client, RemoteError

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
