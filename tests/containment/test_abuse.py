"""Taking all there is, from inside of a session with limits: each limit says no in its own way, the neighbour's echo goes on,
and when it is over nothing is left. The table is tests/containment/probe/abuse_table.c."""

import re
import time
from typing import NamedTuple

import pytest
from attacked import Attacked, Neighbour
from document import table_of
from leftovers import cgroups, descendants
from system_conftest import QUARANTINE
from wire import SLOWNESS, RemoteError

LIMITS = {"memory": 96 << 20, "workspace": 32 << 20, "processes": 64, "inodes": 2000, "open_files": 256}
OUTPUT = 8 << 20
SECONDS = 60 * SLOWNESS  # until a limit must have been reached
GROWTH = 32 << 20        # bytes of keeper and gateway together, beside what a sanitizer keeps back: rings of sessions come and go
LATE = 5 * SLOWNESS      # seconds: for a kill, for the end of a session, for an echo. On this host they take a hundredth
BY_SIGNAL = {"SIGKILL": ("oom", "memory.max"), "SIGTERM": ("output_limit", "output_bytes")}


class Abuse(NamedTuple):
    name: str
    control: str
    layer: str
    expected: str
    attempt: str


def table(program):
    return [Abuse(*row) for row in table_of(program, "abuses", 5)]


class Attack:
    """One row, made in a session of its own."""

    def __init__(self, client, program, abuse, neighbour):
        self.client, self.abuse, self.faults = client, abuse, []
        self.victim = Attacked(client, program, limits=LIMITS)
        before = len(neighbour.times)
        self.press()
        self.kill()
        self.expect(self.victim.shell("echo alive")["stdout"] == b"alive\n", "the session runs nothing any more")
        self.end()
        self.echoes = neighbour.times[before:] or [0.0]
        self.expect(max(self.echoes) < LATE, "the neighbour waited")

    def expect(self, holds, complaint):
        if not holds:
            self.faults.append(complaint)

    def press(self):
        """The program tells what it was told, or is ended."""
        self.process = self.victim.start("abuse", self.abuse.name, output_bytes=OUTPUT, grace_ms=0)
        ending = self.victim.channel.wait_exit(self.process, SECONDS)
        line = self.victim.output(self.process).split("\t")
        self.got = line[1] if line[0] == self.abuse.name else self.of_ending(ending)
        self.expect(self.got in self.abuse.expected.split("|"), f"it saw {self.got}, not {self.abuse.expected}")

    def of_ending(self, ending):
        for signal, (reason, control) in BY_SIGNAL.items():
            if (ending["reason"], ending["control"]) == (reason, control):
                return signal
        return f"{ending['reason']} {ending['exit_code']}"

    def kill(self):
        began = time.monotonic()
        self.client.call("process.kill", session=self.victim.session, process=self.process)
        self.killed = time.monotonic() - began
        self.expect(self.killed < LATE, f"its tree took {self.killed:.1f} s to be killed")

    def end(self):
        began = time.monotonic()
        self.victim.end()
        self.ended = time.monotonic() - began
        self.expect(self.ended < LATE, f"the session took {self.ended:.1f} s to be ended")
        self.expect(not [path for path in cgroups() if self.victim.session in path], "a cgroup of it is left")

    def row(self):
        ordered = sorted(self.echoes)
        return (self.abuse.name, self.abuse.control, self.abuse.expected, self.got, f"{1000 * self.killed:.0f} ms", f"{1000 * self.ended:.0f} ms",
                f"{1000 * ordered[int(0.99 * (len(ordered) - 1))]:.1f} ms", f"{1000 * ordered[-1]:.0f} ms", self.abuse.attempt)


def has_layer(client, layer):
    try:
        session = client.create(require=[layer])
    except RemoteError as error:
        assert error.code == "unsupported"
        return False
    client.call("session.end", session=session)
    return True


def resident(server):
    """Bytes that keeper, gateway and workers hold, without what runs in sandboxes."""
    total = 0
    for pid in descendants(server.process.pid):
        try:
            with open(f"/proc/{pid}/status") as file:
                status = file.read()
        except OSError:
            continue
        if status.startswith("Name:\tsandbard"):
            total += int(status.split("VmRSS:")[1].split()[0]) << 10
    return total


@pytest.mark.seconds(900)
def test_every_limit_holds_and_the_neighbour_goes_on(any_server, programs, tables):
    """Fork bombs, memory, disk, descriptors, …: one after the other."""
    program = programs / "sandbar-probe"
    rows, faults, attacks = [], [], []
    with Neighbour(any_server) as neighbour, any_server.client() as client:
        layers = {abuse.layer: abuse.layer == "-" or has_layer(client, abuse.layer) for abuse in table(program)}
        before = resident(any_server)
        for abuse in table(program):
            if not layers[abuse.layer]:
                rows.append((abuse.name, abuse.control, abuse.expected, f"without {abuse.layer} not tried", "", "", "", "", abuse.attempt))
                continue
            attacks.append(Attack(client, program, abuse, neighbour))
            rows.append(attacks[-1].row())
            faults += [f"{abuse.name}: {fault}" for fault in attacks[-1].faults]
        grown = resident(any_server) - before
    title = f"{len(attacks)} ways to take all there is, from a server that runs as {any_server.user}; {neighbour.told()}"
    tables.append((title, [("ABUSE", "CONTROL", "EXPECTED", "GOT", "KILLED IN", "ENDED IN", "ECHO P99", "LONGEST", "WHAT"), *rows]))
    assert not faults, "\n".join(faults)
    assert before > 0 and grown < GROWTH + 2 * QUARANTINE, f"the server has grown by {grown} bytes"
    assert len(attacks) >= 20


def test_the_table_names_what_is_limited(programs):
    """Each limit of a session has a row that reaches it."""
    controls = {abuse.control for abuse in table(programs / "sandbar-probe")}
    assert controls >= {"pids.max", "memory.max", "workspace", "inodes", "open_files", "ptys", "output_bytes", "rlimits"}
    assert all(re.fullmatch(r"[a-z-]+", abuse.name) for abuse in table(programs / "sandbar-probe"))
