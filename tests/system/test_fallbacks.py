"""Newer system calls that the kernel does not have, or does not allow, one at a time: the server works all the same, or says which
one it misses; and what cannot be removed at once is removed later. The calls are made to fail by strace, in the keeper and all it starts."""

import errno
import os
import re
import shutil
import signal
import subprocess
import time

import leftovers
import pytest
from traced_server import PATIENCE, Server, live_once, mounts, sessions, traced
from wire import Client, RemoteError

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")

# What comes of it: WORKS, or the words in which it is told. None of these is younger than Linux 5.14; the least is 6.1.
WORKS = None
CALLS = {
    "landlock_create_ruleset": WORKS,
    "pidfd_send_signal": WORKS,
    "clone3": "clone3 into new namespaces",
    "close_range": "is not inherited",
    "pidfd_open": "pidfd_open",
    "mount_setattr": "mount_setattr",
    "open_tree": "open_tree `/dev/null`",
    "move_mount": "move_mount on `",
    "fsopen": "fsopen `tmpfs`",
    "memfd_create": "memfd_create",
    "unshare": "make a mount namespace",
}
ERRORS = {name: os.strerror(getattr(errno, name)) for name in ("ENOSYS", "EPERM")}


class Deprived:
    """A server that is without a call."""

    def __init__(self, programs, folder, call, error):
        self.folder = folder
        self.log = open(folder / "log", "w+")
        strace = ["strace", "-D", "-f", "-qq", "-o", str(folder / "trace"), "-e", f"trace={call}", "-e", f"inject={call}:error={error}"]
        argv = [str(programs / "sandbard"), "--listen", "127.0.0.1:0", "--state", str(folder / "state"), "--warm", "0", "--record", "0",
                "--keep-sessions", "0"]
        environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}  # which cannot be done to a process that is traced
        self.process = subprocess.Popen([*strace, *argv], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd="/", env=environment)

    def text(self):
        return (self.folder / "log").read_text(errors="replace")

    def address(self):
        """None: it has left."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if told := re.search(r"^sandbard: listening on http://(\S+):(\d+)$", self.text(), re.M):
                return told[1], int(told[2])
            if self.process.poll() is not None:
                return None
            time.sleep(.02)
        raise TimeoutError(self.text())

    def outcome(self):
        """What a user sees: NONE when a session works, else the error."""
        address = self.address()
        if not address:
            return self.text()
        try:
            with Client(address, (self.folder / "state/owner.token").read_text().strip()) as client:
                session = client.create()
                assert client.run(session, "(setsid sleep 4321 &) ; echo works")["stdout"] == b"works\n"
                client.call("session.end", session=session)
        except RemoteError as error:
            return str(error)
        return WORKS

    def stop(self):
        traces = leftovers.of_server(self.process.pid, self.folder / "state") if self.process.poll() is None else None
        if traces:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.log.close()
        assert not traces or not (faults := traces.faults()), faults


@pytest.mark.seconds(240)
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_there_is_not(programs, traced_folder, call, error):
    """It works, and is as closed as ever; or the error names what was tried, and why it failed. Nothing is left in either case."""
    before = mounts()
    server = Deprived(programs, traced_folder, call, error)
    try:
        outcome = server.outcome()
    finally:
        server.stop()
    if CALLS[call] is WORKS:
        assert outcome is WORKS
    else:
        assert CALLS[call] in outcome and ERRORS[error] in outcome, outcome
    assert "INJECTED" in (traced_folder / "trace").read_text()
    assert mounts() == before and not sessions(traced_folder)


@pytest.mark.parametrize("error", ERRORS)
def test_a_layer_that_is_missing_is_never_dropped_quietly(programs, traced_folder, error):
    """Without Landlock a session that demands it is refused, and one that does not is made and says so."""
    server = Deprived(programs, traced_folder, "landlock_create_ruleset", error)
    try:
        with Client(server.address(), (traced_folder / "state/owner.token").read_text().strip()) as client:
            with pytest.raises(RemoteError) as caught:
                client.create(require=["landlock"])
            assert caught.value.code == "unsupported" and "landlock" in str(caught.value)
            session = client.create()
            layers = {row["name"]: row["on"] for row in client.call("session.info", session=session)["layers"]}
            assert not layers["landlock"] and layers["seccomp"]
    finally:
        server.stop()


BUSY = ["unlinkat:error=EBUSY", "unlinkat:error=ENOTEMPTY"]


@pytest.mark.seconds(240)
@pytest.mark.parametrize("fault", BUSY)
def test_what_is_busy_is_removed_later(programs, traced_folder, fault):
    """The first thirty attempts fail: an end takes as long as that, and then nothing is left."""
    before = mounts()
    server = Server(programs, traced_folder)
    live_once(server)
    with traced(server, "-o", str(traced_folder / "trace"), "-e", f"trace={fault.split(':')[0]}", "-e", f"inject={fault}:when=1..30"):
        live_once(server)
    assert (traced_folder / "trace").read_text().count("INJECTED") >= 5
    assert not sessions(traced_folder)
    server.stop()
    assert server.process.returncode == 0 and not server.traces.faults()
    assert mounts() == before


@pytest.mark.seconds(240)
@pytest.mark.parametrize("fault", BUSY)
def test_what_stays_busy_is_removed_by_the_next_start(programs, traced_folder, fault):
    """Nothing can be removed until the server is killed: the next one does."""
    before = mounts()
    server = Server(programs, traced_folder)
    live_once(server)
    with traced(server, "-o", "/dev/null", "-e", f"trace={fault.split(':')[0]}", "-e", f"inject={fault}"):
        with server.client() as client:
            ended = client.request("session.end", session=client.create())
            time.sleep(.5)
            if not fault.startswith("umount2"):
                assert ended not in client.answers
            server.process.kill()
            server.process.wait(PATIENCE)
    traces = server.traces
    successor = Server(programs, traced_folder)
    live_once(successor)
    successor.stop()
    assert successor.process.returncode == 0
    assert not (faults := traces.faults() + successor.traces.faults()), faults
    assert mounts() == before and not sessions(traced_folder)
