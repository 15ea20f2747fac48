"""A terminal that floods: before a hundred who watch, before nobody, over links that break in the middle of a frame. (Cases T09, T26,
T27, T36.)"""

import json
import re
import subprocess
import time

import pytest
from conftest import BUILT, QUARANTINE
from people import up
from proxy import Proxy
from raw import resident
from test_screens import Shown
from wire import SLOWNESS, STDIN, TTY, Client, View

DUMP = BUILT.parent / "tests/terminal/terminal_dump"
TERMINAL = {"cols": 80, "rows": 24}
VIEWERS, SILENT = 100, 10
EACH = 256 * 1024  # bytes of the gateway that a viewer of eight megabytes may cost: two messages of the largest size, as AddressSanitizer counts
FLOOD = r"""
import os, sys, time, tty
tty.setraw(0)
os.write(1, b"\033[?1049h\033[1;32mwritten once\033[0m\r\nup")
os.read(0, 1)
begun = time.monotonic()
for turn in range(int(sys.argv[1])):
    line = b"\033[%d;%dH\033[3%dm%07d\033[0m" % (3 + turn % 20, 1 + 8 * (turn % 9), turn % 8, turn)
    data = line * 200
    while data:
        data = data[os.write(1, data):]
os.write(1, b"\033[23;1Hdrawn in %.3f s." % (time.monotonic() - begun))
os.read(0, 1)
"""


def rows(data):
    """What a terminal shows that was fed DATA: the VT core's dump, without what is above the screen."""
    commands = b"new 80 24 0\nfeed %d\n%sdump\n" % (len(data), data)
    told = json.loads(subprocess.run([DUMP], input=commands, capture_output=True, timeout=60, check=True).stdout)
    return told["alternate"], told["x"], told["y"], [row["cells"] for row in (told["alt"] if told["alternate"] else told["main"])["rows"]]


def drawn_in(channel, process):
    """The seconds that the program says it took."""
    text = channel.wait(lambda view: re.search(rb"drawn in ([0-9.]+) s\.", view.newest(process)), 120 * SLOWNESS)
    return float(text[1])


@pytest.mark.seconds(400)
@pytest.mark.skipif(not DUMP.exists(), reason="terminal_dump was not built")
def test_a_hundred_watch_one_flood(server, client, session, guests):
    """T36: a program writes 8 MB in place before a hundred viewers, ten of whom read nothing until it is done. It is not held up: it is
    done while those ten still sleep. A typist's echo in between comes. In the end all hundred show the same screen, and who
    comes now sees it too. The gateway has kept one copy of the flood, not a hundred."""
    turns = 2000
    process = client.start(session, "python3", "-c", FLOOD, str(turns), terminal=TERMINAL)
    up(client.attach(session), process)
    opened = [guests(receive_buffer=16384) for _ in range(VIEWERS)]
    channels = [one.attach(session, Shown(), after=None) for one in opened]
    for channel in channels:
        channel.wait_live()
    for one in opened[:SILENT]:
        one.pause()
    typist = guests()
    echo = typist.start(session, "sh", "-c", "stty raw -echo; printf up; exec cat", terminal=TERMINAL)
    typing = typist.attach(session, View(filtered=True), processes=[echo], after=0)
    before = resident(server)
    channels[-1].send([STDIN, process, 0, b"g"])
    delays = []
    for turn in range(20):
        begun = time.monotonic()
        typing.send([STDIN, echo, turn, b"k"])
        typing.wait(lambda view, turn=turn: view.bytes(echo, TTY).count(b"k") == turn + 1)
        delays.append(time.monotonic() - begun)
        time.sleep(.02)
    drawn_in(channels[-1], process)
    most = resident(server) - before
    assert all(b"drawn in" not in channel.view.newest(process) for channel in channels[:SILENT]), "the silent ones have read"
    assert sorted(delays)[10] < 2 * SLOWNESS, delays  # the figure is the bench's
    assert most < VIEWERS * EACH + QUARANTINE, f"{most} bytes"
    for one in opened[:SILENT]:
        one.resume()
    for channel in channels:
        drawn_in(channel, process)
    late = guests().attach(session, Shown(), after=None)
    late.wait_live()
    expected = rows(late.view.newest(process))
    assert expected[0] and "".join(cell[0] for cell in expected[3][0]).startswith("written once")
    different = [number for number, channel in enumerate(channels) if rows(channel.view.newest(process)) != expected]
    assert not different, different
    client.call("process.kill", session=session, process=process)


@pytest.fixture(scope="module")
def small(start_server):
    """A server whose journals hold 512 KiB, and which records nothing."""
    return start_server("--ring", "512K", "--record", "0")


def test_a_terminal_runs_on_before_nobody(small):
    """T09: everybody leaves at once while a program writes 30 MB to its terminal. It is done when somebody comes back; he hears that
    what he has not seen is gone, in one GAP, and has the newest half megabyte and the last word."""
    script = "stty raw -echo; printf up; sleep 1; yes 0123456789abcde | head -c 30000000; echo DONE-$((1+1)); sleep 100"
    view = View()
    first, second = small.client(), small.client()
    session = first.create()
    process = first.shell(session, script, terminal=TERMINAL)
    up(first.attach(session, view), process)
    up(second.attach(session), process)
    first.cut(), second.cut()
    with small.client() as other:
        deadline = time.monotonic() + 60 * SLOWNESS
        while other.processes(session)[process]["offsets"]["tty"] < 30000000:
            assert time.monotonic() < deadline, "the program was held up"
            time.sleep(.2)
        channel = other.attach(session, view)
        channel.wait(lambda view: view.bytes(process, TTY).endswith(b"DONE-2\n"))
        channel.wait_live()
        kept = view.bytes(process, TTY)[2:]
        assert len(view.gaps) == 1 and 256 << 10 < len(kept) <= 512 << 10, (view.gaps, len(kept))
        assert set(kept[-100007:-7].split(b"\n")[1:-1]) == {b"0123456789abcde"}
        other.call("session.end", session=session)


LINES = r"""
import os, sys, time, tty
tty.setraw(0)
for line in range(0, 300000, 50):
    data = b"".join(b"%08d\n" % number for number in range(line, line + 50))
    while data:
        data = data[os.write(1, data):]
    time.sleep(.002)
os.write(1, b"end")
time.sleep(100)
"""


def connect(address, small, identity):
    return Client(address, small.token, client_id=identity)


@pytest.mark.seconds(300)
def test_links_that_break_in_the_middle_of_a_frame(small):
    """T26, T27: somebody joins when the ring has turned several times, over a link that breaks again and again wherever it is; each time
    he comes back behind the last event he has, is at the newest one again at once, and has no byte twice and none too few."""
    proxy = Proxy(small.address)
    with small.client() as owner:
        session = owner.create()
        process = owner.start(session, "python3", "-c", LINES, terminal=TERMINAL)
        owner.attach(session, View(keep=False)).wait(lambda view: view.length.get((process, TTY), 0) > 1 << 20, 60 * SLOWNESS)
        identity, view, late = b"0123456789abcdef", View(0), []
        for _ in range(12):
            client = connect(proxy.address, small, identity)
            begun = time.monotonic()
            channel = client.attach(session, view)
            channel.wait_live()
            late.append(time.monotonic() - begun)
            time.sleep(.1)
            proxy.cut()
            client.wait_closed()
            client.check()
        client = connect(proxy.address, small, identity)
        channel = client.attach(session, view)
        channel.wait(lambda view: view.bytes(process, TTY).endswith(b"end") or process in view.exited, 120 * SLOWNESS)
        first = int(re.search(rb"\n(\d{8})\n", view.bytes(process, TTY))[1])
        lines = view.bytes(process, TTY).split(b"\n")[1:-1]
        assert len(view.gaps) == 1 and view.gaps[0][0] == 1 and first > 50000, view.gaps
        assert lines == [b"%08d" % number for number in range(first, 300000)]
        assert sorted(late)[6] < 1 * SLOWNESS, late
        client.close()
        owner.call("session.end", session=session)
    proxy.close()
