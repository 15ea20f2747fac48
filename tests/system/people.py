"""What tests of shared sessions have in common: who is refused, who comes, what was seen of drivers and sizes."""

import os
import signal
import time

import pytest
from wire import DRIVER, RESIZED, SLOWNESS, TTY, Closed, RemoteError

TERMINAL = {"cols": 80, "rows": 24}


def refused(client, method, **params):
    with pytest.raises(RemoteError) as caught:
        client.call(method, **params)
    return caught.value


def token(owner, *rights, name="ada"):
    return owner.call("token.create", name=name, rights=list(rights))["token"]


def drivers(channel):
    return [frame[4] for frame in channel.view.of_kind(DRIVER)]


def wait_driver(channel, change):
    """The newest DRIVER, once one of this change has come."""
    return channel.wait(lambda view: next((frame[4] for frame in reversed(view.of_kind(DRIVER)) if frame[4]["change"] == change), None))


def wait_kind(channel, kind, count=1):
    channel.wait(lambda view: len(view.of_kind(kind)) >= count)
    return channel.view.of_kind(kind)


def errors(channel, count=1):
    channel.client.wait(lambda: len(channel.errors) >= count)
    return [(row[2], row[4]) for row in channel.errors]


def sh(client, session, script="stty raw -echo; echo up; exec cat -v", **size):
    return client.start(session, "sh", "-c", script, terminal=TERMINAL | size)


def up(channel, process):
    channel.wait(lambda view: b"up" in view.bytes(process, TTY))


def sizes(channel):
    return [tuple(frame[4:6]) for frame in channel.view.of_kind(RESIZED)]


def settle(channel, seconds=1.0):
    """Until nothing has come for a while."""
    while time.monotonic() - channel.view.arrived < seconds:
        time.sleep(.05)


def kill_gateway(server):
    pids = [pid for pid in os.listdir("/proc")
            if pid.isdigit() and parent_of(pid) == server.process.pid and name_of(pid) == "sandbard-gateway"]
    os.kill(int(pids[0]), signal.SIGKILL)


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def name_of(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def connect(server, **options):
    """As soon as a gateway answers."""
    deadline = time.monotonic() + 30 * SLOWNESS
    while True:
        try:
            return server.client(**options)
        except (OSError, Closed):
            assert time.monotonic() < deadline, "no gateway answers"
            time.sleep(.1)
