"""A terminal that is changed, killed, left or forsaken in the very moment in which it is made. (Case T18.)"""

import os
import re
import time

import msgpack
import pytest
from leftovers import descendants
from people import up
from wire import EXITED, RESIZE, RESIZED, SLOWNESS, STARTED, STDIN, TTY, Client

TERMINAL = {"cols": 80, "rows": 24}
FAMILY = "sleep 1001 & setsid sleep 1002 & nohup sleep 1003 >/dev/null 2>&1 & (trap '' HUP TERM; sleep 1004) & (setsid sh -c 'sleep 1005 &' &); "


def pack(channel, *frames):
    return [msgpack.packb(value, use_bin_type=True) for value in (channel, *frames)]


def start(number, session, script):
    return [0, number, "process.start", [{"session": session, "argv": ["sh", "-c", script], "terminal": TERMINAL}]]


def test_sizes_and_keys_right_behind_the_start(client, session):
    """A start, and, before it was answered, a size and keys for the process that it will be: each is taken, or named as wrong; the
    terminal is as good as any afterwards. The last size holds, and what was accepted was typed."""
    channel = client.attach(session)
    for number in range(1, 31):
        client.socket.send(b"".join(pack(0, start(1000 + number, session, "stty -echo; read line; stty size; echo got-$line; read x"))))
        channel.send([RESIZE, number, 100 + number, 30], [STDIN, number, 0, b"early\n"])
        assert client.answer(1000 + number)["process"] == number
        errors = {frame[2] for frame in channel.errors if frame[1] == number}
        assert errors <= {"no_process", "not_found", "unknown_process"}, errors
        if number not in channel.acknowledged:
            client.wait(lambda number=number: channel.acknowledged.get(number) or any(row[1] == number for row in channel.errors))
        if channel.acknowledged.get(number, 0) < 6:
            channel.send([RESIZE, number, 100 + number, 30], [STDIN, number, 0, b"early\n"])
        text = channel.wait(lambda view, number=number: re.search(rb"(\d+ \d+)\r\ngot-early", view.bytes(number, TTY)))
        assert text[1] == b"30 %d" % (100 + number)
        channel.send([STDIN, number, 6, b"\n"])
        assert channel.wait_exit(number)["exit_code"] == 0
    kinds = [(frame[0], frame[3]) for frame in channel.view.frames if frame[0] in (STARTED, RESIZED, EXITED)]
    assert all(kinds.index((STARTED, number)) < kinds.index((RESIZED, number)) < kinds.index((EXITED, number)) for number in range(1, 31))


def test_killed_right_behind_the_start(client, session):
    """A start, and a kill of what it will be, in one message: the kill finds it or does not; one that found it leaves nothing behind."""
    channel = client.attach(session)
    for number in range(1, 31):
        kill = [0, 2000 + number, "process.kill", [{"session": session, "process": number}]]
        client.socket.send(b"".join(pack(0, start(1000 + number, session, FAMILY + "sleep 1000"), kill)))
        assert client.answer(1000 + number)["process"] == number
        client.wait(lambda number=number: client.answers.get(2000 + number))
        error = client.answers[2000 + number][2]
        if error:
            assert error["code"] == "not_found", error
            client.call("process.kill", session=session, process=number)
        assert channel.wait_exit(number)["reason"] == "killed"
    count = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep 100[0-9] ' | wc -l"
    assert client.run(session, count)["stdout"] == b"0\n"
    family = client.shell(session, FAMILY + "echo up; sleep 1000", terminal=TERMINAL)
    up(channel, family)
    assert int(client.run(session, count)["stdout"]) >= 6, "a family of six is not seen: the test shows nothing"


def sandboxed(server):
    """How many processes there are that the server's sandboxes hold: what its keeper's descendants run."""
    found = 0
    for pid in descendants(server.process.pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += b"sleep\x00100" in file.read()
        except OSError:
            pass
    return found


@pytest.mark.seconds(300)
def test_the_client_goes_while_it_is_made(server):
    """Forty clients ask for a session that ends with them, for a terminal in it with a family of survivors, and are gone, by RST: before,
    while and after it is made. Nothing of it stays: no session, no process. Then the server starts terminals as before."""
    with server.client() as watcher:
        for turn in range(40):
            client = Client(server.address, server.token, client_id=os.urandom(16))
            client.send(0, [0, 50, "session.create", [{"on_disconnect": "end", "disconnect_ms": 1}]])
            if turn % 4:
                session = client.answer(50)["session"]
                client.socket.send(b"".join(pack(0, start(51, session, FAMILY + "sleep 1000"))))
                time.sleep((turn % 4 - 1) * .01)
            client.cut()
        deadline = time.monotonic() + 60 * SLOWNESS
        while watcher.call("session.list")["sessions"] or sandboxed(server):
            assert time.monotonic() < deadline, (watcher.call("session.list")["sessions"], sandboxed(server))
            time.sleep(.1)
        session = watcher.create()
        process = watcher.shell(session, FAMILY + "echo up; sleep 1000", terminal=TERMINAL)
        up(watcher.attach(session), process)
        deadline = time.monotonic() + 20 * SLOWNESS
        while sandboxed(server) < 6:
            assert time.monotonic() < deadline, "a family of six is not seen: the test shows nothing"
            time.sleep(.05)
        watcher.call("session.end", session=session)
        while sandboxed(server):
            assert time.monotonic() < deadline, "its survivors are there"
            time.sleep(.05)
