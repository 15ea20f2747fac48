"""Who stops reading, or types without end, and what the others notice of it: nothing. (Cases T03, T08, T22, T23.)"""

import hashlib
import time

import pytest
from people import errors, sh, up
from raw import Raw, resident
from test_hostile import kept_back
from test_record import wait_for
from wire import CREDIT, OUTPUT, SLOWNESS, STDIN, TTY, View

TERMINAL = {"cols": 80, "rows": 24}
TOTAL = round(20_000_000 / SLOWNESS)
WRITER = r"""
import os, sys, tty
tty.setraw(0)
os.write(1, b"up")
os.read(0, 1)
line = b"0123456789abcdef" * 256
left = int(sys.argv[1])
while left:
    left -= os.write(1, line[:left])
"""


def watched(client, session, readers):
    """Seconds until all of them have all of it."""
    process = client.start(session, "python3", "-c", WRITER, str(TOTAL), terminal=TERMINAL)
    channels = [reader.attach(session, View(keep=False), mode="lossless") for reader in readers]
    for channel in channels:
        channel.wait(lambda view: view.length.get((process, TTY)) == 2)
    begun = time.monotonic()
    channels[0].send([STDIN, process, 0, b"g"])
    for channel in channels:
        ending = channel.wait_exit(process, 120 * SLOWNESS)
        assert ending["exit_code"] == 0 and channel.view.length[process, TTY] == TOTAL + 2 and not channel.view.gaps
    took = time.monotonic() - begun
    for channel in channels:
        channel.detach()
    return took


@pytest.mark.seconds(400)
def test_two_who_never_read_among_nine_who_do(server, client, session, guests):
    """T03: one who drives and eight who watch get every byte of a program that writes twenty megabytes, as soon, while two more never read
    a byte, as without those; the two cost a bounded piece of memory, and are told in the end what they missed."""
    readers = [guests() for _ in range(9)]
    alone = watched(client, session, readers)
    stalled = [guests(receive_buffer=4096) for _ in range(2)]
    behind = [one.attach(session, View(None, keep=False), after=None) for one in stalled]
    for channel, one in zip(behind, stalled):
        channel.wait_live()
        one.pause()
    before = resident(server)
    beside = watched(client, session, readers)
    grown = resident(server) - before
    assert beside < 2 * alone + 2 * SLOWNESS, (beside, alone)  # 5 % on an idle machine
    assert grown < 2 * (3 << 20) + kept_back(), grown
    for channel, one in zip(behind, stalled):
        one.resume()
        channel.wait(lambda view: 2 in view.exited)
        assert channel.view.gaps and not one.closed


def test_a_hundred_megabytes_for_a_program_that_does_not_read(server, client, session, guests):
    """T22: a hundred megabytes are typed, by who heeds no window, into a terminal in raw mode that nobody reads. What is over the window
    is refused, the server keeps no more of it than that; another terminal of the session is as quick as ever, and the program can be
    killed."""
    deaf = client.shell(session, "stty raw -echo; echo up; exec sleep 1000", terminal=TERMINAL)
    other = sh(client, session)
    watch = client.attach(session)
    up(watch, deaf), up(watch, other)
    paster = guests()
    typing = paster.attach(session)
    before, most = resident(server), 0
    block = bytes(1 << 20)
    for number in range(round(100 / SLOWNESS)):
        typing.send([STDIN, deaf, number << 20, block])
        most = max(most, resident(server))
        if number % 10 == 0:
            watch.send([STDIN, other, number // 10, b"k"])
            watch.wait(lambda view, number=number: view.bytes(other, TTY).count(b"k") == number // 10 + 1, 20 * SLOWNESS)
    code, data = errors(typing)[0]
    assert code == "stdin_window" and 0 < data["accepted"] <= 2 << 20, (code, data)
    queue = client.call("session.info", session=session)["queues"]["input_bytes"]
    assert queue["used"] <= queue["limit"] and typing.acknowledged.get(deaf, 0) < 1 << 20
    assert most - before < (8 << 20) + kept_back(), most - before
    assert {row[2] for row in typing.errors} <= {"stdin_window", "stdin_gap"}
    client.call("process.kill", session=session, process=deaf)
    assert watch.wait_exit(deaf)["reason"] == "killed"


def test_a_pause_of_five_seconds_loses_nothing(client, session, guests):
    """T23: who wants every byte takes nothing for five seconds of a flood: no more comes than he has granted, and one frame; then he goes
    on, and has each byte."""
    total, granted = 8_000_000, 100_000
    script = f"stty raw -echo; printf up; read x; head -c {total} /dev/urandom | tee /work/all; exit 0"
    process = client.shell(session, script, terminal=TERMINAL)
    first = client.attach(session)
    up(first, process)
    first.detach()
    reader = guests()
    channel = reader.attach(session, mode="lossless", credit=granted)
    channel.send([STDIN, process, 0, b"\n"])
    channel.wait(lambda view: view.length.get((process, TTY), 0) > granted // 2)
    time.sleep(1)
    before = channel.view.length[process, TTY]
    time.sleep(5)
    assert channel.view.length[process, TTY] == before <= granted + (64 << 10)
    assert client.processes(session)[process]["state"] == "running"
    channel.send([CREDIT, 1 << 40])
    assert channel.wait_exit(process)["offsets"] == {"tty": total + 2} and not channel.view.gaps
    expected = client.run(session, "sha256sum < /work/all")["stdout"].split()[0].decode()
    assert hashlib.sha256(channel.view.bytes(process, TTY)[2:]).hexdigest() == expected


def test_an_interrupt_and_those_who_read_beside_a_slow_one(server, client, session):
    """T08: a shell in which `yes` runs is watched over a link of 100 kB/s, which grants what it has drawn, and by two who read as fast as
    it comes. The slow one presses ^C: the prompt is there for all of them, and the two have missed nothing."""
    rate, ahead = 100_000, 4096
    script = "trap 'echo prompt; exec sleep 100' INT; while :; do echo yyyyyyyyyyyyyyy; done"
    process = client.start(session, "sh", "-c", script, terminal=TERMINAL)
    with server.client() as one, server.client() as two:
        fast = [each.attach(session, View(keep=True), after=0) for each in (one, two)]
        slow = Raw(server, receive_buffer=16384)
        slow.request(10, "session.attach", session=session, credit=ahead)
        number = slow.answer(10)["channel"]
        last, pressed = b"", False
        begun = time.monotonic()
        for _, frames in slow.paced(number, rate, ahead):
            last = (last + b"".join(frame[6] if frame[0] == OUTPUT else frame[4] for frame in frames if frame[0] in (OUTPUT, 34)))[-8192:]
            if not pressed and time.monotonic() - begun > 2:
                pressed = slow.send(number, [STDIN, process, 0, b"\x03"]) is None
            if b"prompt" in last:
                break
            assert time.monotonic() - begun < 60 * SLOWNESS
        assert pressed
        for channel in fast:
            channel.wait(lambda view: b"prompt" in view.bytes(process, TTY))
            text = channel.view.bytes(process, TTY)
            assert not channel.view.gaps and text[:text.index(b"^C")].replace(b"yyyyyyyyyyyyyyy\r\n", b"").strip(b"y\r\n") == b""
        slow.close()


@pytest.mark.parametrize("how", ["unshare", "revoke", "expiry"])
def test_who_is_put_out_holds_nobody(server, client, session, how, request):
    """A lossless guest has stopped reading, and a flood waits for him. His link is revoked, his token is, or expires: the flood goes on,
    he is no participant any more, and his connection ends soon, though he reads nothing of that either."""
    process = client.start(session, "sh", "-c", "exec yes", terminal=TERMINAL)
    watching = client.attach(session, View(keep=False), after=0)
    lasts = round(6000 * SLOWNESS)
    if how == "unshare":
        made = client.call("session.share", session=session, role="editor", name="guest")
    else:
        made = client.call("token.create", name="guest", rights=["read", "run"], **{"expires_ms": lasts} if how == "expiry" else {})
    begun = time.monotonic()
    guest = server.client(token=made["token"], receive_buffer=4096)
    request.addfinalizer(guest.cut)
    guest.attach(session, View(keep=False), mode="lossless", after=0)
    guest.pause()
    watching.wait(lambda view: (process, TTY) in view.length)

    def flows(seconds=0.5):
        before = watching.view.length[process, TTY]
        time.sleep(seconds)
        return watching.view.length[process, TTY] > before

    wait_for(lambda: not flows())
    assert how != "expiry" or time.monotonic() - begun < lasts / 1000, "he was out before he held anything"
    if how == "unshare":
        client.call("session.unshare", session=session, share=made["share"])
    elif how == "revoke":
        client.call("token.revoke", id=made["id"])
    else:
        time.sleep(max(0, begun + lasts / 1000 - time.monotonic()))
    begun = time.monotonic()
    wait_for(flows)
    assert [row["name"] for row in client.call("session.info", session=session)["participants"]] == ["owner"]
    wait_for(lambda: client.call("server.info")["connections"] == 1)
    assert time.monotonic() - begun < 4 * SLOWNESS
    client.call("process.kill", session=session, process=process)
