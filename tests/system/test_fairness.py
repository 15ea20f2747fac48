"""Nobody costs the others more than a share: channels take turns, credit is kept to the byte, a flood, a stalled reader or a
crowd delays nobody. (Cases 11, S6, T03, T08, T23, T34, T37, T39; the figures of delay are the bench's, the bounds here are
generous.)"""

import threading
import time

import msgpack
import pytest
from conftest import QUARANTINE
from raw import Raw, resident
from websocket import Closed
from wire import CREDIT, EOF, EVENTS, GAP, OUTPUT, SLOWNESS, STDIN, STDOUT, TTY, RemoteError, View

TURN = 128 * 1024   # bytes that a channel puts into one message, but for one whole frame
FRAME = 64 * 1024 + 64  # of OUTPUT
LEAST = 16 * 1024   # what a message holds after a short write
STALLED = 3 << 20   # bytes of the gateway's memory that a client may cost who reads nothing
SMALL_FRAMES = "import os, tty\ntty.setraw(1)\nwhile True: os.write(1, b'0123456789abcde\\n' * 64)"


@pytest.fixture
def raw(server):
    client = Raw(server)
    yield client
    client.close()


def filled(client, megabytes=3):
    """A session whose journal holds so much output."""
    session = client.create()
    process = client.shell(session, f"head -c {megabytes << 20} /dev/zero")
    client.call("process.wait", session=session, process=process)
    return session


def test_channels_of_a_connection_take_turns(client, raw):
    """Three sessions with megabytes to be replayed and one with a line, attached at once on one connection: the line waits for one
    turn of each of the others at most, and none of the three has two turns while another waits."""
    large = [filled(client) for _ in range(3)]
    small = client.create()
    client.run(small, "echo a line")
    raw.send(0, *([0, number, "session.attach", [{"session": one, "after": 0}]] for number, one in enumerate([*large, small], 10)))
    channels = [raw.answer(number)["channel"] for number in range(10, 14)]
    told = len(raw.messages)
    while not any(channel == channels[3] for channel, _, _ in raw.messages):
        raw.read()
    waited = [size for channel, size, _ in raw.messages[told:] if channel in channels[:3]]
    assert len(waited) <= 3 and sum(waited) <= 3 * (TURN + FRAME), waited
    ends = {}
    while len(ends) < 3:
        channel, _, frames = raw.read()
        ends.update((channel, len(raw.messages)) for frame in frames if frame[0] == 35 and channel in channels[:3])
    contested = [channel for channel, _, _ in raw.messages[told:min(ends.values())] if channel in channels[:3]]
    assert len(contested) > 6 and all(first != second for first, second in zip(contested, contested[1:])), contested
    for session in [*large, small]:
        client.call("session.end", session=session)


def test_an_answer_goes_before_data(client, raw):
    """While megabytes are sent on a channel, a request is answered after what was under way, and not behind all of it."""
    session = filled(client)
    raw.request(10, "session.attach", session=session, after=0)
    raw.answer(10)
    raw.read()
    raw.request(11, "session.list")
    raw.answer(11)
    live = any(frame[0] == 35 for _, _, frames in raw.messages for frame in frames)
    assert not live, "the answer came behind the whole replay"
    client.call("session.end", session=session)


def frame_bytes(frame):
    if frame[0] == OUTPUT:  # fixed widths: protocol/frame.h
        return OUTPUT_HEAD + len(frame[6])
    return len(msgpack.packb(frame, use_bin_type=True))


OUTPUT_HEAD = 40


def test_credit_is_exact_and_absolute(client, raw):
    """A flood under credit: what came never exceeds it by more than the frame that used it up, is not short of it, and is no more
    for a credit that is repeated or runs backwards."""
    session = client.create()
    process = client.shell(session, "while :; do head -c 3000 /dev/zero; done")
    raw.request(10, "session.attach", session=session, credit=0)
    channel = raw.answer(10)["channel"]
    came = 0
    for credit, again in ((10_000, None), (250_000, 9_000), (250_001 + FRAME, 0), (2_000_000, 250_000)):
        raw.send(channel, [CREDIT, credit])
        if again is not None:
            raw.send(channel, [CREDIT, again], [CREDIT, credit])
        raw.socket.socket.settimeout(0.7 * SLOWNESS)
        frames = []
        try:
            while True:
                number, size, got = raw.read()
                if number == channel:
                    frames += [frame for frame in got if frame[0] in EVENTS]
                    came += size - sum(len(msgpack.packb(frame)) for frame in got if frame[0] not in EVENTS)
        except TimeoutError:
            pass
        assert frames, "more credit brought nothing"
        assert credit <= came < credit + frame_bytes(frames[-1]), (credit, came, frames[-1][:6])
    raw.socket.socket.settimeout(60)
    client.call("process.kill", session=session, process=process)
    client.call("session.end", session=session)


def test_without_credit_only_what_is_not_counted_comes(client, session):
    """Credit 0: LIVE, answers and acknowledgements come, events do not; a session's end is told all the same."""
    other = client.create()
    channel = client.attach(other, credit=0)
    process = client.start(other, "cat", stdin=True)
    channel.send([STDIN, process, 0, b"x"], [EOF, process, 1])
    client.wait(lambda: channel.acknowledged.get(process) == 1)
    assert client.call("process.wait", session=other, process=process)["exit_code"] == 0
    assert channel.view.last == 0 or not channel.view.data
    assert not [kind for kind in channel.frames if kind in EVENTS]
    client.call("session.end", session=other)
    client.wait(lambda: channel.closed == "session_ended")
    assert 13 in channel.frames


def test_a_pause_is_one_gap(client, session):
    """A viewer takes nothing for some seconds while a terminal floods over the ring many times: when he goes on, he is told once what
    he missed."""
    channel = client.attach(session, View(keep=False), credit=20000)
    process = client.start(session, "cat", "/dev/zero", terminal={"cols": 80, "rows": 24})
    client.wait(lambda: channel.view.length.get((process, TTY), 0) > 0)
    time.sleep(.5)
    before = channel.frames.count(GAP)
    time.sleep(3)
    assert channel.frames.count(GAP) == before, "nothing is told while he takes nothing"
    channel.send([CREDIT, 1 << 50])
    client.wait(lambda: channel.frames.count(GAP) > before)
    assert before == 0


def flood(client, script="cat /dev/zero"):
    session = client.create()
    return session, client.shell(session, script)


def test_an_echo_beside_three_floods(server):
    """Three sessions flood, each with a reader; in a fourth somebody types, two hundred keys one after the other. Each comes back,
    in order, and half of them within 50 ms."""
    readers = [server.client() for _ in range(3)]
    floods = [flood(reader, "yes 0123456789abcde") for reader in readers]
    channels = [reader.attach(session, View(keep=False)) for reader, (session, _) in zip(readers, floods)]
    with server.client() as typist:
        session = typist.create()
        process = typist.start(session, "sh", "-c", "stty raw -echo; printf .; exec cat", terminal={"cols": 80, "rows": 24})
        channel = typist.attach(session, mode="lossless")
        channel.wait(lambda view: view.bytes(process, TTY) == b".")
        delays = []
        for turn in range(200):
            begun = time.monotonic()
            channel.send([STDIN, process, turn, bytes([turn])])
            channel.wait(lambda view: len(view.bytes(process, TTY)) == turn + 2)
            delays.append(time.monotonic() - begun)
        assert channel.view.bytes(process, TTY)[1:] == bytes(range(200))
        delays.sort()
        assert delays[100] < 0.05 * SLOWNESS and delays[197] < 1 * SLOWNESS, (delays[100], delays[197])
        typist.call("session.end", session=session)
    for reader, channel, (session, process) in zip(readers, channels, floods):
        assert channel.view.length[process, STDOUT] > 1 << 20, "a flood was starved"
        reader.call("session.end", session=session)
        reader.close()


@pytest.mark.seconds(400)
def test_clients_that_stop_reading_cost_the_others_nothing(server):
    """Three viewers of a flood stop reading, two for twenty seconds and one for a minute. A fourth goes on at its rate; the gateway's
    memory grows within its bound; requests of others are answered. The two, still connected, go on with a GAP where they fell
    behind; the third was cut, since it answered no ping, and cost nobody anything either."""
    stalled = [server.client(receive_buffer=65536) for _ in range(3)]
    with server.client() as reader:
        session, process = flood(reader)
        channel = reader.attach(session, View(keep=False))
        behind = [client.attach(session, View(keep=False)) for client in stalled]
        for one in behind:
            one.wait(lambda view: view.length.get((process, STDOUT), 0) > 1 << 20)
        rate = progress(channel, process, 3)
        memory = resident(server)
        for client in stalled:
            client.pause()
        meanwhile = progress(channel, process, 20)
        growth = resident(server) - memory
        asked = time.monotonic()
        queues = reader.call("session.info", session=session)["queues"]
        assert time.monotonic() - asked < 2 * SLOWNESS
        assert queues["ring_bytes"]["used"] > queues["ring_bytes"]["limit"] // 2
        assert all(0 <= row["used"] <= row["limit"] for row in queues.values()), queues
        for client in stalled[:2]:
            client.resume()
        for client, one in zip(stalled[:2], behind):
            at = one.view.length[process, STDOUT]
            one.wait(lambda view: view.gaps and view.length[process, STDOUT] > at + (8 << 20))
            assert client.closed is None
        later = progress(channel, process, 40)
        stalled[2].resume()
        stalled[2].wait_closed(5 * SLOWNESS)
        assert stalled[2].closed.code is None
        assert min(meanwhile, later) > 0.5 * rate, (meanwhile, later, rate)
        assert growth <= 3 * STALLED + QUARANTINE, growth
        reader.call("session.end", session=session)
    for client in stalled:
        client.close()


def progress(channel, process, seconds):
    """Bytes a second."""
    before = channel.view.length[process, STDOUT]
    time.sleep(seconds)
    return (channel.view.length[process, STDOUT] - before) / seconds


def test_messages_are_small_for_who_is_slow_and_large_for_who_is_quick(client, server):
    """The same small frames: a reader of 300 KB/s gets messages of 16 KiB; who reads a replay as fast as it comes gets up to 128 KiB."""
    session = client.create()
    process = client.start(session, "python3", "-c", SMALL_FRAMES, terminal={"cols": 80, "rows": 24})
    channel = client.attach(session, View(keep=False))
    channel.wait(lambda view: view.length.get((process, TTY), 0) > 3 << 20)
    slow = Raw(server, receive_buffer=4096)
    slow.request(10, "session.attach", session=session, after=None)
    number = slow.answer(10)["channel"]
    sizes = []
    while len(sizes) < 60:
        channel_number, size, frames = slow.read()
        if channel_number == number and frames[0][0] == OUTPUT:
            sizes.append((size, max(len(frame[6]) for frame in frames if frame[0] == OUTPUT)))
        time.sleep(size / 300_000)
    small = [size for size, frame in sizes[20:] if size <= LEAST + frame + 64]
    assert len(small) > 0.7 * len(sizes[20:]), sizes
    slow.close()
    quick = Raw(server)
    client.call("process.kill", session=session, process=process)
    quick.request(10, "session.attach", session=session, after=0)
    number = quick.answer(10)["channel"]
    while not any(frame[0] == 35 for _, _, frames in quick.messages[-1:] for frame in frames):
        quick.read()
    assert max(size for channel, size, _ in quick.messages if channel == number) > TURN * 3 // 4
    quick.close()
    client.call("session.end", session=session)


@pytest.mark.parametrize("rate", [1_000_000, 200_000, 100_000])
def test_an_interrupt_under_flood_with_a_slow_reader(server, rate):
    """`yes` in a terminal, over a link of 1, 0.2 and 0.1 MB/s, whose client grants what it has drawn and what it draws in 20 ms,
    as `sandbar attach` does: behind ^C come few stale bytes before the prompt. (The bench has the times.)"""
    ahead = max(4096, rate // 50)
    with server.client() as starter:
        session = starter.create()
        process = starter.start(session, "sh", "-c", "trap 'echo prompt; exec sleep 100' INT; while :; do echo yyyyyyyyyyyyyyy; done",
                                terminal={"cols": 80, "rows": 24})
        reader = Raw(server, receive_buffer=16384)
        reader.request(10, "session.attach", session=session, mode="lossless", credit=ahead)
        channel = reader.answer(10)["channel"]
        stale, pressed, last = 0, None, b""
        begun = time.monotonic()
        for size, frames in reader.paced(channel, rate, ahead):
            last = (last + b"".join(frame[6] for frame in frames if frame[0] == OUTPUT))[-4096:]
            if pressed is not None:
                stale += size
            elif time.monotonic() - begun > 2:
                pressed = time.monotonic()
                reader.send(channel, [STDIN, process, 0, b"\x03"])
            if b"prompt" in last:
                break
        assert pressed and stale < 100_000, stale
        if rate < 1_000_000:
            assert stale < 50_000, stale
        reader.close()
        starter.call("session.end", session=session)


def test_two_hundred_connect_in_one_moment(server):
    """Two hundred clients connect at once, say hello and ask: all are served within five seconds."""
    gate, done, faults = threading.Barrier(200), [], []

    def come():
        gate.wait()
        begun = time.monotonic()
        try:
            client = server.client()
            client.call("session.list")
            done.append((time.monotonic() - begun, client))
        except (OSError, Closed, TimeoutError) as error:
            faults.append(error)

    threads = [threading.Thread(target=come) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults and len(done) == 200, faults[:3]
    assert max(delay for delay, _ in done) < 5 * SLOWNESS
    with server.client() as one:
        queues = one.call("server.info")["queues"]
        assert queues["connections"]["used"] >= 201
        assert all(0 <= row["used"] <= row["limit"] for row in queues.values()), queues
    for _, client in done:
        client.close()


def test_only_what_was_asked_for_comes(client, server):
    """Twenty sessions flood; who is attached to one that is silent gets not a byte of the others."""
    floods = [flood(client) for _ in range(20)]
    silent = client.create()
    raw = Raw(server)
    raw.request(10, "session.attach", session=silent)
    raw.answer(10)
    raw.socket.socket.settimeout(2)
    before = len(raw.messages)
    with pytest.raises(TimeoutError):
        while True:
            raw.read()
    events = [frame[0] for _, _, frames in raw.messages[before:] for frame in frames]
    assert sorted(events) == [6, 35], "more came than that we joined, and LIVE"
    raw.close()
    for session in [silent, *(session for session, _ in floods)]:
        client.call("session.end", session=session)


def test_queues_are_named_and_plausible_under_load(client, session):
    """A process that does not read its input, and one that floods: what waits is shown, with its limit, and never over it."""
    channel = client.attach(session, View(keep=False), credit=100_000)
    deaf = client.start(session, "sleep", "100", stdin=True)
    client.start(session, "cat", "/dev/zero")
    channel.send([STDIN, deaf, 0, bytes(1 << 20)])
    client.wait(lambda: channel.acknowledged.get(deaf, 0) > 0)
    queues = client.call("session.info", session=session)["queues"]
    assert set(queues) >= {"ring_bytes", "processes", "input_bytes", "channel_bytes"}
    assert queues["processes"]["used"] == 2
    assert 0 < queues["input_bytes"]["used"] < 1 << 20
    assert queues["input_bytes"]["used"] + channel.acknowledged[deaf] == 1 << 20
    assert queues["ring_bytes"]["used"] > 1 << 19 and all(row["used"] <= row["limit"] for row in queues.values()), queues
    whole = client.call("server.info")["queues"]
    assert set(whole) >= {"sessions", "connections", "unfinished_bytes", "answer_bytes"}
    assert whole["sessions"]["used"] >= 1 and all(row["used"] <= row["limit"] for row in whole.values()), whole


def test_who_holds_a_process_back_does_not_keep_others_from_its_end(server, client, session):
    """A lossless client takes nothing. What it holds back can still run out of time and be killed, a short command ends by itself,
    and whoever waits for it hears so."""
    with server.client() as holder:
        holder.call("session.attach", session=session, mode="lossless", credit=100)
        answer = client.call("process.run", session=session, argv=["head", "-c", "5000000", "/dev/zero"], wall_ms=500, grace_ms=100)
        assert answer["exited"]["reason"] == "timeout", answer["exited"]
        flood = client.start(session, "head", "-c", "5000000", "/dev/zero")
        time.sleep(.3)
        client.call("process.kill", session=session, process=flood)
        assert client.call("process.wait", session=session, process=flood)["reason"] == "killed"
        assert client.run(session, "echo there")["stdout"] == b"there\n"
        held = client.call("process.start", session=session, argv=["head", "-c", "5000000", "/dev/zero"])["process"]
        time.sleep(.3)
        assert client.processes(session)[held]["state"] == "running", "it is held back all the same"


def test_what_requests_collect_is_bounded(server, client, session):
    """Twelve commands with two megabytes each for their answers: the session keeps sixteen, says so, and each answer tells whether it is
    all; a shell's command has no room meanwhile. Then all is given back."""
    script = "head -c 1048576 /dev/zero; head -c 1048576 /dev/zero >&2; until [ -e /work/go ]; do sleep .05; done"
    shell = client.call("shell.start", session=session)["process"]
    runs = [client.request("process.run", session=session, argv=["sh", "-c", script]) for _ in range(12)]

    def collected():
        with server.client() as other:
            return other.call("session.info", session=session)["queues"]["collected_bytes"]

    deadline = time.monotonic() + 30 * SLOWNESS
    while collected() != {"used": 16 << 20, "limit": 16 << 20}:
        assert time.monotonic() < deadline, collected()
        time.sleep(.1)
    with pytest.raises(RemoteError) as caught:
        client.call("shell.run", session=session, process=shell, command="echo no room")
    assert caught.value.code == "limit"
    assert client.run(session, "touch /work/go; echo more")["truncated"]
    answers = [client.answer(number) for number in runs]
    assert sum(len(answer["stdout"]) + len(answer["stderr"]) for answer in answers) == 16 << 20
    assert sum(answer["truncated"] for answer in answers) >= 4 and all(answer["exited"]["exit_code"] == 0 for answer in answers)
    assert collected()["used"] == 0
    assert client.call("shell.run", session=session, process=shell, command="echo room")["stdout"] == b"room\n"
