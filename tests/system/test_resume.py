"""Leaving and coming back, falling behind, and watching next to others. (Cases 11 and 12.)"""

import random
import time

import pytest
from wire import CREDIT, ENDED, EXITED, GAP, LIVE, OUTPUT, SLOWNESS, STARTED, STATE, STDIN, Closed, RemoteError, View

NUMBERS = b"".join(b"%d\n" % number for number in range(1, 100001))
COUNT = """
import sys, time
for start in range(1, 100001, 1000):
    sys.stdout.write("".join(f"{n}\\n" for n in range(start, start + 1000))); sys.stdout.flush(); time.sleep(.05)
"""


def test_twenty_cuts_lose_and_double_nothing(server):
    """A client is cut with RST at twenty random moments of a command's five seconds and comes back each time; a second one
    joins in the middle, a third after the end. All have `seq 1 100000`, each byte once, and nothing was started again."""
    moments = random.Random(12)
    owner = server.client()
    session = owner.create()
    view, cuts = View(), 0
    identity = owner.client_id
    with server.client() as starter:
        process = starter.start(session, "python3", "-c", COUNT)
        middle = None
        while cuts < 20 or process not in view.exited:
            channel = owner.attach(session, view)
            if cuts < 20:
                try:
                    channel.wait(lambda view: process in view.exited, moments.uniform(0.02, 0.45))
                except TimeoutError:
                    pass
                owner.cut()
                cuts += 1
                owner = server.client(client_id=identity)
            else:
                channel.wait_exit(process)
            if cuts == 10 and middle is None:
                middle = starter.attach(session, after=0)
        assert view.bytes(process) == NUMBERS and not view.gaps
        middle.wait_exit(process)
        assert middle.view.bytes(process) == NUMBERS and not middle.view.gaps
        with server.client() as late:
            third = late.attach(session, after=0)
            third.wait_exit(process)
            third.wait_live()
            assert third.view.bytes(process) == NUMBERS and len(third.view.of_kind(STARTED)) == 1
        starter.call("session.end", session=session)
    owner.close()


def test_live_says_where_the_replay_is_over(client, session):
    """Who attaches after the event n gets what follows n, LIVE exactly at the end of it, and only then what is new."""
    first = client.attach(session)
    process = client.shell(session, "echo a; sleep .1; echo b")
    first.wait_exit(process)
    first.wait_live()
    second = client.attach(session, View(2), after=2)
    second.wait_live()
    live = second.view.of_kind(LIVE)[0]
    assert live[1] >= first.view.frames[-1][1] and second.frames[-1] == LIVE
    new = client.start(session, "true")
    second.wait_exit(new)
    assert second.frames.count(LIVE) == 1 and new not in first.view.gaps


def test_nil_is_only_what_happens_from_now_on(client, session):
    """Attached without `after`, nothing of the past comes."""
    client.run(session, "echo past")
    channel = client.attach(session, after=None)
    process = client.shell(session, "echo now")
    channel.wait_exit(process)
    assert (1, 1) not in channel.view.data and channel.view.bytes(process) == b"now\n"


@pytest.fixture(scope="module")
def small(start_server):
    """A server whose journals hold 512 KiB."""
    return start_server("--ring", "512K", "--record", "0")


def test_what_was_evicted_is_a_gap(small):
    """Two megabytes went by while nobody looked: who asks for everything gets one GAP first, the state, and then the rest."""
    with small.client() as client:
        session = client.create()
        process = client.shell(session, "head -c 2097152 /dev/zero; printf END")
        client.call("process.wait", session=session, process=process)
        channel = client.attach(session, after=0)
        ending = channel.wait_exit(process)
        assert ending["offsets"]["stdout"] == 2097155
        assert channel.frames[:2] == [GAP, STATE] and channel.view.gaps[0][0] == 1
        assert channel.answer["first"] == channel.view.gaps[0][1] + 1
        assert channel.view.bytes(process).endswith(b"\0END") and len(channel.view.gaps) == 1
        client.call("session.end", session=session)


def test_a_slow_lossless_client_holds_back_its_process_and_no_other(small):
    """Eight megabytes to a client that reads two a second, with a ring of 512 KiB: it has them all. Its neighbour in the same
    session, who nobody reads slowly, is done long before."""
    with small.client(pace=2e6, receive_buffer=65536) as slow, small.client() as quick:
        session = slow.create()
        process = slow.shell(session, "read go; head -c 8388608 /dev/zero | tr '\\0' y", stdin=True)
        channel = slow.attach(session, mode="lossless", processes=[process])
        channel.send([STDIN, process, 0, b"\n"])
        begun = time.monotonic()
        other = quick.shell(session, "head -c 100000 /dev/zero")
        quick.call("process.wait", session=session, process=other)
        assert time.monotonic() - begun < 3
        assert channel.wait_exit(process)["offsets"]["stdout"] == 8388608
        assert channel.view.bytes(process) == b"y" * 8388608
        quick.call("session.end", session=session)


def test_a_live_client_that_falls_behind_is_told(small):
    """The same flood, live: the server does not wait, the client gets GAP and STATE, and what it has is consistent."""
    with small.client(receive_buffer=65536) as client, small.client() as starter:
        session = starter.create()
        channel = client.attach(session)
        channel.wait_live()
        client.pause()
        process = starter.shell(session, "head -c 30000000 /dev/zero; printf END")
        starter.call("process.wait", session=session, process=process)
        client.resume()
        channel.wait_exit(process)
        assert channel.view.gaps and channel.frames.count(STATE) == len(channel.view.gaps)
        assert channel.frames.index(STATE) == channel.frames.index(GAP) + 1
        assert channel.view.length[process, 1] == 30000003 and channel.view.bytes(process).endswith(b"END")
        starter.call("session.end", session=session)


# Less where ten viewers of 1.5 MB/s are more than the machine can draw.
FLOOD = f"import time, os, tty\ntty.setraw(1)\nwhile True: os.write(1, b'0123456789abcde\\n' * 1024); time.sleep({.01 * SLOWNESS ** 2})"


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(file.read().split("VmRSS:")[1].split()[0]) * 1024


def gateway(server):
    """The process that holds the connections: the child of the keeper whose memory grows with them."""
    import leftovers
    parents = leftovers.processes()
    children = [pid for pid, parent in parents.items() if parent == server.process.pid]
    named = [pid for pid in children if "gateway" in open(f"/proc/{pid}/cmdline").read()]
    return named[0]


def test_one_viewer_who_stops_reading_costs_the_others_nothing(small):
    """Ten people watch a terminal that prints 1.5 MB/s; one stops reading for eight seconds. The other nine go on at their
    rate, the server does not grow, and the slow one, still connected, gets a GAP and goes on. (Eight seconds instead of 60:
    a connection that answers no ping for 30 s is closed, as the spec says.)"""
    viewers = [small.client(receive_buffer=65536) for _ in range(10)]
    session = viewers[0].create()
    process = viewers[0].start(session, "python3", "-c", FLOOD, terminal={"cols": 80, "rows": 24})
    channels = [viewer.attach(session, View(keep=False)) for viewer in viewers]

    def total(seconds):
        before = [channel.view.length.get((process, 3), 0) for channel in channels[1:]]
        time.sleep(seconds)
        return min(channel.view.length.get((process, 3), 0) - start for channel, start in zip(channels[1:], before))

    total(1)
    rate, memory = total(4) / 4, resident(gateway(small))
    viewers[0].pause()
    stalled = total(8) / 8
    growth = resident(gateway(small)) - memory
    viewers[0].resume()
    at = channels[0].view.last
    channels[0].wait(lambda view: view.gaps and view.last > at + 100)
    assert viewers[0].closed is None and not any(channel.view.gaps for channel in channels[1:])
    assert stalled >= 0.7 * rate, (stalled, rate)  # 90 % on an idle machine
    assert growth <= 8 << 20, growth  # 2 MiB without AddressSanitizer, which keeps freed memory back
    assert viewers[0].call("process.kill", session=session, process=process) == {"already_exited": False}
    viewers[0].call("session.end", session=session)
    for viewer in viewers:
        viewer.close()


def test_credit_is_kept(client, session):
    """A client grants 10,000 bytes: it gets about that, and the rest when it grants more; a lower number changes nothing."""
    channel = client.attach(session, credit=10000)
    process = client.shell(session, "for i in $(seq 100); do head -c 1000 /dev/zero; sleep .01; done")
    client.call("process.wait", session=session, process=process)
    time.sleep(.5)
    first = channel.view.length[process, 1]
    assert 0 < first < 10000 + 65536 and process not in channel.view.exited
    channel.send([CREDIT, 5000])
    time.sleep(.3)
    assert channel.view.length[process, 1] == first
    channel.send([CREDIT, 10_000_000])
    assert channel.wait_exit(process)["offsets"]["stdout"] == 100000


def test_several_channels_on_one_connection(client):
    """Two sessions, three channels: each gets its own, channel numbers differ, and after `detach` nothing more comes."""
    one, two = client.create(), client.create()
    a, b, c = client.attach(one), client.attach(two), client.attach(one)
    assert len({a.number, b.number, c.number}) == 3
    first, second = client.shell(one, "echo one"), client.shell(two, "echo two")
    for channel, process, text in ((a, first, b"one\n"), (b, second, b"two\n"), (c, first, b"one\n")):
        channel.wait_exit(process)
        assert channel.view.bytes(process) == text
    c.detach()
    more = client.shell(one, "echo more")
    a.wait_exit(more)
    assert more not in c.view.exited
    for session in (one, two):
        client.call("session.end", session=session)
    client.wait(lambda: a.closed and b.closed)
    assert a.view.frames[-1][0] == ENDED and b.view.frames[-1][0] == ENDED
    with pytest.raises(RemoteError) as caught:
        client.call("session.detach", channel=c.number)
    assert caught.value.code in ("not_found", "unknown_channel")


def test_only_the_processes_asked_for(client, session):
    """Attached with `processes`, other processes' output stays away; all else comes."""
    wanted = client.shell(session, "read go; echo wanted", stdin=True)
    channel = client.attach(session, processes=[wanted])
    other = client.shell(session, "echo other")
    channel.wait_exit(other)
    channel.send([STDIN, wanted, 0, b"\n"])
    channel.wait_exit(wanted)
    assert channel.view.bytes(wanted) == b"wanted\n" and channel.view.bytes(other) == b""
    assert channel.frames.count(OUTPUT) == 1 and channel.frames.count(EXITED) == 2


def test_half_a_message_and_a_cut(server):
    """A client dies in the middle of a message; the server forgets it and serves on."""
    with server.client() as healthy:
        for _ in range(20):
            broken = server.client()
            broken.socket.socket.sendall(bytes([0x82, 0xFE, 0x10, 0x00]) + b"half")
            broken.cut()
        assert "sessions" in healthy.call("session.list")


def test_nobody_attached_and_the_program_runs_on(server):
    """Everybody leaves; the program writes on and ends; who comes back has all of it."""
    with server.client() as client:
        session = client.create()
        process = client.shell(session, "for i in $(seq 50); do echo $i; sleep .02; done; echo DONE")
        view = View()
        client.attach(session, view).wait(lambda view: view.bytes(process))
        client.cut()
    with server.client() as again:
        again.attach(session, view).wait_exit(process)
        assert view.bytes(process).split()[-1] == b"DONE" and len(view.bytes(process).split()) == 51
        again.call("session.end", session=session)
    with pytest.raises(Closed):
        client.wait(lambda: False)
