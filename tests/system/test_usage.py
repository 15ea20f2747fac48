"""What a session uses: in its info and in lists, and as an event when a limit is nearly reached."""

import os
import signal
import time

import pytest
from people import connect, name_of, parent_of
from websocket import Closed, Refused
from wire import SLOWNESS, USAGE

PATIENCE = 30 * SLOWNESS
MIB = 1 << 20


def layers(client):
    return {row["name"]: row["on"] for row in client.call("server.info")["layers"]}


def usage(client, session):
    return client.call("session.info", session=session)["usage"]


def test_info_tells_what_is_used_now(any_server):
    """A shell that holds 50 MB in a file and 40 MB of its own, and has burnt half a second: info says so, and then that it is given back."""
    with any_server.client() as client:
        session = client.create(limits={"memory": 512 * MIB})
        before = usage(client, session)
        channel = client.attach(session)
        script = ("import os, time\nopen('/work/f', 'wb').write(bytes(50 << 20))\nkept = b'x' * (40 << 20)\n"
                  "while time.process_time() < .5: pass\nprint('ready', flush=True)\ntime.sleep(1000)")
        process = client.start(session, "python3", "-c", script)
        client.wait(lambda: channel.view.bytes(process) == b"ready\n")
        now = usage(client, session)
        assert 50 * MIB <= now["workspace_bytes"] - before["workspace_bytes"] < 52 * MIB
        assert now["inodes"] == before["inodes"] + 1 and now["at_us"] > before["at_us"] and now["near_limits"] == []
        on = layers(client)
        if on["cgroup"]:
            assert now["cpu_ms"] >= 500
        if on["cgroup-memory"]:
            assert 90 * MIB <= now["memory_bytes"] < 200 * MIB <= 512 * MIB and now["memory_peak_bytes"] >= now["memory_bytes"]
        else:
            assert now["memory_bytes"] is None
        if on["cgroup-pids"]:
            assert (before["processes"], now["processes"]) == (0, 1)
        assert set(now["pressure"]) == {"cpu", "memory", "io"}
        client.call("process.kill", session=session, process=process)
        client.call("process.run", session=session, argv=["rm", "/work/f"])
        after = usage(client, session)
        assert after["workspace_bytes"] < before["workspace_bytes"] + MIB
        if on["cgroup-memory"]:
            assert after["memory_bytes"] < 40 * MIB
        client.call("session.end", session=session)


def listed(client, session):
    return next(row["usage"] for row in client.call("session.list")["sessions"] if row["session"] == session)


def test_a_list_has_it_measured_anew(server):
    """What a list shows is the newest that is known: a second later it is newer, though nobody is attached."""
    with server.client() as client:
        session = client.create()
        assert listed(client, session) is None  # it was never asked for
        deadline = time.monotonic() + PATIENCE
        while not (first := listed(client, session)):
            assert time.monotonic() < deadline
        while listed(client, session)["at_us"] == first["at_us"]:
            assert time.monotonic() < deadline
            time.sleep(.05)
        client.call("session.end", session=session)


def near(channel):
    return [frame[3]["near_limits"] for frame in channel.view.of_kind(USAGE)]


@pytest.mark.parametrize("folder", ["/work", "/dev/shm"])
def test_a_full_disk_is_told(any_server, folder):
    """64 MiB, and a program that fills them: it sees ENOSPC and lives; who is attached is told, and told again when there is room."""
    with any_server.client() as client:
        session = client.create(limits={"workspace": 64 * MIB})
        channel = client.attach(session)
        process = client.start(session, "sh", "-c", f"dd if=/dev/zero of={folder}/f bs=1M count=1000; echo $?; sleep 1000")
        client.wait(lambda: near(channel) == [["workspace"]], PATIENCE)
        told = channel.view.of_kind(USAGE)[0][3]
        assert told["workspace_bytes"] > 57 * MIB and channel.view.bytes(process) == b"1\n"
        assert b"No space left on device" in channel.view.bytes(process, 2)
        assert client.run(session, f"rm {folder}/f; echo on")["stdout"] == b"on\n"
        client.wait(lambda: near(channel) == [["workspace"], []], PATIENCE)
        client.call("session.end", session=session)


def test_memory_that_is_nearly_used_up(any_server):
    """A program that holds 95 of 100 MiB is told of; one that has read as much from files is not."""
    with any_server.client() as client:
        if not layers(client)["cgroup-memory"]:
            pytest.skip("this host does not give the layer cgroup-memory")
        session = client.create(limits={"memory": 100 * MIB})
        channel = client.attach(session)
        client.run(session, "head -c 80M /dev/zero >/tmp/f; cat /tmp/f /tmp/f >/dev/null; rm /tmp/f")
        client.start(session, "python3", "-c", "import time\nkept = b'x' * (88 << 20)\ntime.sleep(1000)")
        client.wait(lambda: near(channel) == [["memory"]], PATIENCE)
        client.call("session.end", session=session)


def test_what_a_process_left_behind_is_told_too(any_server):
    """A shell is gone at once; its child, that nobody waits for, takes 92 of 100 MiB a while later, and then goes: both are told, to who
    was there and to who came when the shell was long gone, though nothing is started and nobody asks."""
    with any_server.client() as client, any_server.client() as late:
        if not layers(client)["cgroup-memory"]:
            pytest.skip("this host does not give the layer cgroup-memory")
        session = client.create(limits={"memory": 100 * MIB})
        channel = client.attach(session)
        hog = "import os, time\ntime.sleep(5)\nkept = b'x' * (92 << 20)\nwhile not os.path.exists('/work/go'): time.sleep(.1)"
        channel.wait_exit(client.start(session, "sh", "-c", 'python3 -c "$1" & exit 0', "sh", hog))
        second = late.attach(session)
        for one in channel, second:
            one.wait(lambda view, one=one: near(one) == [["memory"]], PATIENCE)
        client.run(session, "touch /work/go")
        for one in channel, second:
            one.wait(lambda view, one=one: near(one) == [["memory"], []], PATIENCE)
        client.call("session.end", session=session)


BOMBS = {
    "bomb": ["bash", "-c", "b() { b | b & }; b; sleep 1000"],
    "zombies": ["python3", "-c", "import os, time\nwhile True:\n  try:\n    if os.fork() == 0: os._exit(0)\n  except OSError: time.sleep(1)"],
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_session_full_of_processes_is_told(any_server, name):
    """Containment 15: with 64 processes at most, a fork bomb and a farm of zombies: who is attached hears of the limit; a neighbour
    works; the end of the session takes no time."""
    with any_server.client() as client:
        if not layers(client)["cgroup-pids"]:
            pytest.skip("this host does not give the layer cgroup-pids")
        session, neighbour = client.create(limits={"processes": 64}), client.create()
        channel = client.attach(session)
        client.start(session, *BOMBS[name])
        client.wait(lambda: near(channel)[:1] == [["processes"]], PATIENCE)
        assert client.run(neighbour, "echo fine")["stdout"] == b"fine\n"
        begun = time.monotonic()
        client.call("session.end", session=session)
        assert time.monotonic() - begun < 5 * SLOWNESS
        client.call("session.end", session=neighbour)


@pytest.mark.parametrize("is_freed", [True, False])
def test_the_next_gateway_knows_what_was_told(start_server, is_freed):
    """A workspace that is full when the gateway dies. What is freed before there is a next one, the next one tells; else it tells nothing anew."""
    server = start_server()
    with server.client() as client:
        session = client.create(limits={"workspace": 8 * MIB})
        channel = client.attach(session)
        last = f"sleep {.3 * SLOWNESS}; rm /work/f; sleep 1000" if is_freed else "sleep 1000"
        client.start(session, "sh", "-c", f"head -c 9M /dev/zero >/work/f; until [ -e /dev/shm/go ]; do sleep .02; done; {last}")
        client.wait(lambda: near(channel) == [["workspace"]], PATIENCE)
        client.run(session, "touch /dev/shm/go")
    old = next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent_of(pid) == server.process.pid and name_of(pid) == "sandbard-gateway")
    os.kill(old, signal.SIGSTOP)
    time.sleep(SLOWNESS)
    os.kill(old, signal.SIGKILL)
    client = connect(server)
    channel = client.attach(session)
    assert usage(client, session)["near_limits"] == ([] if is_freed else ["workspace"])
    client.run(session, "true")
    assert near(channel) == [["workspace"], []][:1 + is_freed]
    client.call("session.end", session=session)
    client.close()


def test_it_survives_a_gateway(start_server):
    """The next gateway measures as the last one did, and those who wait when a session ends are answered."""
    server = start_server()
    with server.client() as client:
        session = client.create()
        client.start(session, "sleep", "1000")
    server.process.send_signal(signal.SIGUSR2)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with server.client() as client:
                if client.hello["epoch"] == 2:
                    assert usage(client, session)["at_us"] > 0
                    asked = [client.request("session.info", session=session) for _ in range(20)]
                    ended = client.request("session.end", session=session)
                    assert all(client.answer(number)["usage"] for number in asked)
                    client.answer(ended)
                    break
        except (OSError, Refused, Closed):  # of the last one, while it leaves
            pass
        assert time.monotonic() < deadline
        time.sleep(.1)
