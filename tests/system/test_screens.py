"""What somebody sees who was not here: the screen of a terminal for who joins, lags or comes back, also after the gateway was
killed; and queries, which the server answers once, whoever watches. (Cases T09, T11, T12.)"""

import re
import time

import pytest
from people import connect, kill_gateway, sh, up
from wire import CHECKPOINT, GAP, LIVE, OUTPUT, RESIZE, SCREEN, SLOWNESS, STATE, STDIN, TTY, RemoteError, View

TERMINAL = {"cols": 80, "rows": 24}


class Shown(View):
    """A view that begins in the middle: of a terminal it has SCREENs, and what comes after the newest."""

    def __init__(self, after=None, **options):
        super().__init__(after, **options)
        self.screens = []

    def take(self, frame):
        if frame[0] == SCREEN:
            process, _, _, data, offset = frame[1:6]
            self.screens.append(frame)
            self.data[process, TTY] = bytearray(data)
            self.length[process, TTY] = offset
        super().take(frame)

    def newest(self, process):
        """Its newest SCREEN, and all that came behind it."""
        return bytes(self.data.get((process, TTY), b""))


def wait_screen(channel, count=1):
    channel.wait(lambda view: len(view.screens) >= count)
    return channel.view.screens[count - 1]


FULL = (r"printf '\033[?1049h\033[?2004h\033[?1000h\033[?1006h\033[?25l\033[?1h\033[5;20r\033]2;the title\007\033[31mred\033[0m"
        r"\033[10;10Hin the middle'; echo; echo up; ")


def test_a_late_joiner_sees_the_screen(server, client, session, guests):
    """T12: a full-screen program set modes, region and title and then wrote ten megabytes in place, so that none of that is in memory
    any more. Who joins gets one SCREEN before LIVE, small, with all of it; what follows goes on at its offset."""
    first = client.attach(session, View(keep=False))
    process = client.shell(session, "stty raw -echo; " + FULL + r"i=0; while [ $i -lt 160 ]; do i=$((i+1)); head -c 65000 /dev/zero | tr '\0' '\r'; "
                           r"printf '\033[12;1Hround %s ' $i; done; printf 'end'; read x; printf 'and on'; sleep 9", terminal=TERMINAL)
    first.wait(lambda view: view.length.get((process, TTY), 0) > 160 * 65000)
    time.sleep(.5)
    late = guests().attach(session, Shown(), after=None)
    late.wait_live()
    assert [frame for frame in late.frames if frame in (SCREEN, LIVE)] == [SCREEN, LIVE]
    _, number, cols, rows, data, offset = late.view.screens[0]
    assert (number, cols, rows) == (process, 80, 24) and offset == first.view.length[process, TTY] and len(data) < 32768
    for mode in (b"1049", b"2004", b"1000", b"1006"):
        assert re.search(rb"\x1b\[\?[0-9;]*%s[0-9;]*h" % mode, data), mode
    assert re.search(rb"\x1b\[\?[0-9;]*25[0-9;]*l", data) and b"the title" in data and b"5;20r" in data
    assert b"in the middle" in data and b"round 160" in data
    late.send([STDIN, process, 0, b"\n"])
    late.wait(lambda view: view.newest(process).endswith(b"and on"))
    client.call("process.kill", session=session, process=process)


def test_a_program_that_ended_has_no_screen(client, session, guests):
    """Who joins gets screens of the terminals that run, and of those that he asked for."""
    one, two = (sh(client, session) for _ in range(2))
    watch = client.attach(session)
    up(watch, one), up(watch, two)
    gone = client.shell(session, "echo gone", terminal=TERMINAL)
    watch.wait_exit(gone)
    both, second = guests().attach(session, Shown(), after=None), guests().attach(session, Shown(filtered=True), after=None, processes=[two])
    both.wait_live(), second.wait_live()
    assert sorted(frame[1] for frame in both.view.screens) == [one, two]
    assert [frame[1] for frame in second.view.screens] == [two]


def test_who_comes_back_late_need_not_see_it_all(client, session, guests):
    """`replay` bounds what is played again: over it a GAP, a STATE with who is here, and the screen; under it, everything."""
    process = client.shell(session, "stty raw -echo; seq 100000; echo up; exec cat", terminal=TERMINAL)
    watch = client.attach(session)
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"up\n"))
    whole = guests().attach(session, replay=10 << 20)
    whole.wait_live()
    assert whole.view.bytes(process, TTY) == watch.view.bytes(process, TTY) and not whole.view.gaps
    short = guests().attach(session, Shown(0), after=0, replay=65536, name="short")
    short.wait_live()
    kinds = [kind for kind in short.frames if kind in (GAP, STATE, SCREEN, OUTPUT, LIVE)]
    assert kinds == [GAP, STATE, SCREEN, LIVE]
    state = short.view.of_kind(STATE)[0][2]
    assert {row["name"] for row in state["participants"]} >= {"short", "owner"}
    assert [(row["process"], row["size"]) for row in state["terminals"]] == [(process, "driver")]
    assert b"99999" in short.view.newest(process) and b"100000" in short.view.newest(process)
    short.send([STDIN, process, 0, b"more"])
    short.wait(lambda view: view.newest(process).endswith(b"more"))


@pytest.mark.seconds(120)
def test_who_lags_gets_the_screen(server, client, session, guests):
    """A viewer stops reading in the middle of a flood, and goes on when it is over: a GAP, a STATE, and the screen as it is; nothing
    that the others miss."""
    process = client.shell(session, "stty raw -echo; read x; seq 1 3000000; printf 'the end'; read x", terminal=TERMINAL)
    slow = guests(receive_buffer=4096)
    lagging = slow.attach(session, Shown(), after=None)
    lagging.wait_live()
    slow.pause()
    client.attach(session, View(keep=False)).send([STDIN, process, 0, b"\n"])
    time.sleep(3)
    slow.resume()
    lagging.wait(lambda view: b"the end" in view.newest(process), 90 * SLOWNESS)
    view = lagging.view
    assert view.gaps and len(view.screens) >= 2
    assert b"3000000" in view.newest(process)
    for at, kind in enumerate(lagging.frames):
        if kind == GAP:
            assert lagging.frames[at + 1] == STATE
    client.call("process.kill", session=session, process=process)


def test_screens_instead_of_output(client, session, guests):
    """A channel with `screens: 5` gets, of a terminal that floods for two seconds, at most five screens a second and no output; the last
    one shows how it ended; pipes' output comes as ever."""
    watch = client.attach(session, View(keep=False))
    process = client.shell(session, "stty raw -echo; read x; end=$(( $(date +%s) + 2 )); while [ $(date +%s) -lt $end ]; do seq 2000; done; printf finished",
                           terminal=TERMINAL)
    drawn = guests().attach(session, Shown(filtered=True), after=None, screens=5)
    drawn.wait_live()
    begun = time.monotonic()
    watch.send([STDIN, process, 0, b"\n"])
    drawn.wait(lambda view: view.exited)
    took = time.monotonic() - begun
    assert OUTPUT not in drawn.frames and not drawn.view.gaps
    assert 3 <= len(drawn.view.screens) <= 5 * took + 3
    assert b"finished" in drawn.view.screens[-1][4]
    pipes = client.start(session, "echo", "through a pipe")
    drawn.wait(lambda view: view.bytes(pipes) == b"through a pipe\n")
    with pytest.raises(RemoteError) as caught:
        client.call("session.attach", session=session, mode="lossless", screens=5)
    assert caught.value.data["field"] == "screens"


def test_a_new_size_is_followed_by_the_screen(client, session, guests):
    """Emulators lay out anew in ways of their own: once the size rests, who watches live gets the screen as it is."""
    process = sh(client, session)
    drawn = guests().attach(session, Shown(), after=None)
    wait_screen(drawn)
    for cols in range(90, 100):
        drawn.send([RESIZE, process, cols, 30])
    frame = wait_screen(drawn, 2)
    assert frame[2:4] == [99, 30]
    time.sleep(1)
    assert len(drawn.view.screens) == 2


QUERIES = {
    "CSI c": rb"\x1b[?[0-9;]*c", "CSI > c": rb"\x1b[>[0-9;]*c", "CSI 5 n": rb"\x1b[0n", "CSI 6 n": rb"\x1b[[0-9]+;[0-9]+R",
}


def test_queries_are_answered_once(client, session, guests):
    """T11, S2: a program asks who the terminal is, and where the cursor is, with nobody attached: it is answered within a second, once.
    Three viewers who join, and come again, make it no more."""
    script = (r"import os, select, time, tty; tty.setraw(0); os.write(1, b'\x1b[3;7H\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[?2004$p\x1bP$qm\x1b\\\x1b[>q\x1b]10;?\x07\x1b]11;?\x07'); "
              r"begun = time.time(); got = b''; "
              r"[got := got + os.read(0, 4096) for _ in range(100) if select.select([0], [], [], 0.1)[0]] ; "
              r"os.write(1, b'GOT<' + got.hex().encode() + b'>'); time.sleep(60)")
    process = client.start(session, "python3", "-c", script, terminal=TERMINAL)
    viewers = []
    for _ in range(3):
        viewer = guests()
        viewers.append(viewer.attach(session, Shown(), after=None))
        viewer.attach(session)
    watch = client.attach(session)
    watch.wait(lambda view: b"GOT<" in view.bytes(process, TTY) and view.bytes(process, TTY).endswith(b">"))
    got = bytes.fromhex(re.search(rb"GOT<([0-9a-f]*)>", watch.view.bytes(process, TTY))[1].decode())
    for what, pattern in ((rb"DA1", rb"\x1b\[\?[0-9;]*c"), (rb"DA2", rb"\x1b\[>[0-9;]*c"), (rb"DSR", rb"\x1b\[0n"), (rb"CPR", rb"\x1b\[3;7R"),
                          (rb"DECRQM", rb"\x1b\[\?2004;[0-4]\$y"), (rb"DECRQSS", rb"\x1bP[01]\$r"), (rb"XTVERSION", rb"\x1bP>\|"),
                          (rb"OSC 10", rb"\x1b\]10;rgb:"), (rb"OSC 11", rb"\x1b\]11;rgb:")):
        assert len(re.findall(pattern, got)) == 1, (what, got)
    assert all(b"\x1b[c" not in frame[4] and b"\x1b[6n" not in frame[4] for channel in viewers for frame in channel.view.screens)
    client.call("process.kill", session=session, process=process)


def test_a_flood_of_queries_is_bounded(client, session, guests):
    """A program asks without end and reads nothing: the server keeps little of it, and goes on."""
    process = client.shell(session, r"stty raw -echo; i=0; while [ $i -lt 20000 ]; do printf '\033[c\033[6n\033[c\033[6n'; i=$((i+1)); done; echo over; sleep 60",
                           terminal=TERMINAL)
    watch = client.attach(session, View(keep=True))
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"over\n"))
    assert client.call("session.info", session=session)["queues"]["input_bytes"]["used"] <= 4096
    assert client.run(session, "echo hi")["stdout"] == b"hi\n"
    client.call("process.kill", session=session, process=process)


@pytest.mark.seconds(120)
def test_a_new_gateway_shows_the_same_screen(start_server):
    """A program drew once, and then wrote in place much more than memory holds; another drew and is idle. The gateway is killed. The next
    one shows both as they were, sizes and modes too, and answers queries again."""
    server = start_server()
    owner = server.client()
    session = owner.create()
    busy = owner.shell(session, "stty raw -echo; " + FULL + r"i=0; while [ $i -lt 160 ]; do i=$((i+1)); head -c 65000 /dev/zero | tr '\0' '\r'; "
                       r"printf '\033[12;1Hround %s ' $i; done; printf 'end'; read x; printf 'and on'; exec cat", terminal=TERMINAL)
    idle = owner.shell(session, r"stty raw -echo; printf '\033[2J\033[7;7Hdrawn before\033[1m'; exec cat", terminal={"cols": 100, "rows": 30})
    watch = owner.attach(session, View(keep=False))
    watch.wait(lambda view: view.length.get((busy, TTY), 0) > 160 * 65000)
    watch.send([RESIZE, idle, 90, 25])
    time.sleep(1)
    assert watch.view.of_kind(CHECKPOINT)
    before = owner.attach(session, Shown(), after=None)
    before.wait_live()
    told = {frame[1]: frame[2:6] for frame in before.view.screens}
    kill_gateway(server)
    owner.wait_closed()
    owner = connect(server)
    after = owner.attach(session, Shown(), after=None)
    after.wait_live()
    now = {frame[1]: frame[2:6] for frame in after.view.screens}
    assert {number: (row[0], row[1], row[3]) for number, row in now.items()} == {number: (row[0], row[1], row[3]) for number, row in told.items()}
    assert now[busy][2] == told[busy][2] and now[idle][2] == told[idle][2]
    after.send([STDIN, busy, 0, b"\n"])
    after.wait(lambda view: b"and on" in view.newest(busy))
    after.send([STDIN, idle, 0, b"\x1b[5n"])  # cat writes it back, and so the terminal is asked
    after.wait(lambda view: view.newest(idle).endswith(b"\x1b[5n\x1b[0n"))
    owner.call("session.end", session=session)
    owner.close()
