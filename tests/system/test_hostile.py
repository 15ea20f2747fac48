"""Clients that mean harm, or are broken as if they did: each gets the error or the close code that PROTOCOL.md names, costs
the memory that it names, and nobody else notices. (Cases T21, T30, T39, S6 and the list of issue 3.)"""

import concurrent.futures
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import sys
import time

import msgpack
import pytest
from conftest import BUILT, Server
from raw import Raw, resident
from test_gateway import gateway
from websocket import CONTINUATION, PONG, Closed, Refused, WebSocket
from wire import CREDIT, EOF, SLOWNESS, STDIN, STDOUT, RemoteError, View

MIB = 1 << 20
DEAD = 46 * SLOWNESS  # seconds: the third ping is due 45 s after the connection began


def kept_back():
    """Bytes of what was freed that an allocator, or a sanitizer's quarantine, does not give back."""
    return (300 if b"__asan_init" in (BUILT / "sandbard-gateway").read_bytes() else 24) * MIB


@pytest.fixture
def healthy(server):
    """Somebody else, who must not notice: a typist, asked before and after."""
    with server.client() as client:
        session = client.create()
        assert client.run(session, "echo before")["stdout"] == b"before\n"
        yield client
        begun = time.monotonic()
        assert client.run(session, "echo after")["stdout"] == b"after\n"
        assert time.monotonic() - begun < 5 * SLOWNESS
        client.call("session.end", session=session)


# Those who are not there any more

def enter(pid, kind):
    """This thread alone goes into a namespace of another process."""
    with open(f"/proc/{pid}/ns/{kind}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def switch_loopback(on):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 1 if on else 0))  # SIOCSIFFLAGS, IFF_UP


def at_once(*stories):
    """Each in a thread of its own; their values, or the first exception, come back."""
    with concurrent.futures.ThreadPoolExecutor(len(stories)) as pool:
        return [future.result() for future in [pool.submit(story) for story in stories]]


def inside(pid, what):
    """Run WHAT in a thread that is in the network of PID."""
    def run():
        enter(pid, "net")
        return what()

    return at_once(run)[0]


@pytest.fixture
def wrapped(programs, tmp_path_factory, start_server):
    """A server that is started through a shell command, which gets sandbard and its flags as "$@"."""
    def start(script, *flags):
        folder = tmp_path_factory.mktemp("wrapped")
        (folder / "sandbard").write_text(f"#!/bin/sh\nset -- {programs}/sandbard \"$@\"\n{script}\n")
        (folder / "sandbard").chmod(0o755)
        started = Server(folder, flags, user="root" if os.geteuid() == 0 else "user")
        servers.append(started)
        return started

    servers = []
    yield start
    faults = [fault for started in servers for fault in started.finish()]
    assert not faults, "\n\n".join(faults)


@pytest.mark.seconds(200)
def test_the_dead_are_dropped(start_server, wrapped):
    """Three stories (T30) that take 45 s each, at once; the first needs root, for a network of its own."""
    stories = [lambda: half_open_connections_are_dropped(wrapped)] if os.geteuid() == 0 else []
    servers = start_server(), start_server()  # not by two threads at once
    at_once(*stories, lambda: who_does_not_answer_pings_is_dropped(servers[0]), lambda: who_pongs_and_never_reads_is_dropped(servers[1]))


def half_open_connections_are_dropped(wrapped):
    """The network goes away under two clients, and nobody tells the server: after 45 s it has forgotten them, its process runs on,
    and one of them comes back and has everything."""
    server = wrapped(f'PYTHONPATH={os.path.dirname(__file__)} exec unshare -n {sys.executable} -B -c "import os, sys, test_hostile; '
                     'test_hostile.switch_loopback(True); os.execv(sys.argv[1], sys.argv[1:])" "$@"')
    pid = server.process.pid
    client = inside(pid, server.client)
    lost = inside(pid, server.client)
    session = client.create()
    process = client.shell(session, "for i in $(seq 500); do echo $i; sleep .1; done")
    view = View()
    client.attach(session, view).wait(lambda seen: seen.length.get((process, STDOUT), 0) > 10)
    lost.attach(session)
    inside(pid, lambda: switch_loopback(False))
    begun = time.monotonic()
    door = gateway(server)
    sockets = count_sockets(door)
    while count_sockets(door) > sockets - 2:
        assert time.monotonic() - begun < DEAD + 5
        time.sleep(.2)
    assert time.monotonic() - begun > 14
    inside(pid, lambda: switch_loopback(True))
    client.socket.cut()
    lost.socket.cut()
    again = inside(pid, server.client)
    assert again.call("server.info")["connections"] == 1
    again.attach(session, view).wait_exit(process)
    assert view.bytes(process) == b"".join(b"%d\n" % i for i in range(1, 501)) and not view.gaps
    again.call("session.end", session=session)
    again.close()


def count_sockets(pid):
    return sum(os.readlink(entry.path).startswith("socket:") for entry in os.scandir(f"/proc/{pid}/fd"))


def who_does_not_answer_pings_is_dropped(server):
    """One client reads and never pongs, one does not read at all; there is nobody else. Both are cut after 45 s (three pings),
    without a close frame; who answers stays."""
    silent = server.client(timeout=100)
    silent.socket.answer_pings = False
    begun = time.monotonic()
    deaf = Raw(server)  # which reads when it is told to, and is never told
    silent.wait_closed(DEAD + 5)
    assert silent.closed.code is None and 29 < time.monotonic() - begun < DEAD
    while count_established(server) > 0:
        assert time.monotonic() - begun < DEAD + 2
        time.sleep(.1)
    deaf.socket.shut()


def who_pongs_and_never_reads_is_dropped(server):
    """A client attaches to a flood, reads nothing of it, and sends pongs that nobody asked for: it is cut all the same, and cost a
    bounded piece of memory until then."""
    with server.client() as other:
        session = other.create()
        other.shell(session, "cat /dev/zero")
        deaf = Raw(server, receive_buffer=4096)
        deaf.request(10, "session.attach", session=session)
        deaf.answer(10)
        memory, begun = resident(server), time.monotonic()
        while other.call("server.info")["connections"] > 1:
            assert time.monotonic() - begun < DEAD + 5
            with contextlib.suppress(OSError):
                deaf.socket.send(b"", PONG)
            time.sleep(1)
        assert time.monotonic() - begun > 25 and resident(server) - memory < 4 * MIB + kept_back()
        deaf.socket.shut()
        other.call("session.end", session=session)


def count_established(server):
    """Connections of the server's port, as the kernel shows them."""
    port = f":{server.address[1]:04X}"
    with open("/proc/net/tcp") as file:
        return sum(line.split()[1].endswith(port) and line.split()[3] == "01" for line in file)


# Messages that do not end, or are too long

def test_ten_thousand_fragments_of_a_byte(server, healthy):
    """A request of ten thousand bytes, each a fragment: answered, and nothing is kept of it."""
    with server.client() as client:
        message = b"\x00" + msgpack.packb([0, 900, "session.create", [{"name": "x" * 10_000}]])
        for place, byte in enumerate(message):
            client.socket.send(bytes([byte]), CONTINUATION if place else 2, final=place == len(message) - 1)
        with pytest.raises(RemoteError) as caught:
            client.answer(900)
        assert caught.value.code in ("too_large", "invalid_params")
        assert client.call("server.info")["queues"]["unfinished_bytes"]["used"] == 0


def test_lengths_that_are_too_large(server, healthy):
    """A frame's header announces 2^63 bytes (RFC 6455 forbids it: cut), 2^63 - 1, 4 MiB + 1 (1009): before a byte of it was kept."""
    for length, code in ((1 << 63, None), ((1 << 63) - 1, 1009), (4 * MIB + 1, 1009)):
        client = server.client()
        client.socket.socket.sendall(b"\x82\xff" + struct.pack(">Q", length) + b"mask" + b"x")
        assert client.wait_closed() == code
        assert healthy.call("server.info")["queues"]["unfinished_bytes"]["used"] == 0


@pytest.mark.seconds(300)
def test_messages_that_are_never_finished(server, healthy):
    """Thirty clients begin 3 MiB each and do not go on: 64 MiB are kept, the oldest are closed with 1009, and somebody else's message
    of 3 MiB in fragments arrives."""
    memory = resident(server)
    begun = []
    for _ in range(30):
        client = server.client()
        client.socket.send(b"\x00" + bytes(3 * MIB), final=False)
        begun.append(client)
        time.sleep(.01)
    healthy.wait(lambda: begun[0].closed or time.sleep(.05))
    assert begun[0].closed.code == 1009
    queue = healthy.call("server.info")["queues"]["unfinished_bytes"]
    assert queue["used"] <= queue["limit"] == 64 * MIB
    assert resident(server) - memory < 64 * MIB + kept_back()
    session = healthy.create()
    process = healthy.start(session, "wc", "-c", stdin=True)
    channel = healthy.attach(session)
    data, message = bytes(MIB), b""
    for value in (channel.number, [STDIN, process, 0, data], [EOF, process, MIB]):
        message += msgpack.packb(value)
    healthy.socket.send(message[:500_000], final=False)
    healthy.socket.send(message[500_000:], CONTINUATION)
    channel.wait_exit(process)
    assert channel.view.bytes(process).split() == [b"1048576"]
    healthy.call("session.end", session=session)
    alive = [client for client in begun if not client.closed]
    assert 10 <= len(alive) <= 22, len(alive)
    for client in begun:
        client.socket.shut()


# Answers that nobody reads

def unread(server, frames, messages):
    """A client that asks and asks, and never reads; returns it, its socket full or not."""
    client = Raw(server, receive_buffer=4096, timeout=3)
    message = b"\x00" + b"".join(frames)
    with contextlib.suppress(TimeoutError, OSError):
        for _ in range(messages):
            client.socket.send(message)
    return client


def test_requests_whose_answers_are_not_read(server, healthy):
    """A flood of small requests, of which no answer is read: the server stops reading them after 1 MiB of answers, and its memory
    stays within that and what the kernel holds."""
    memory = resident(server)
    request = msgpack.packb([0, 1, "session.list", [{"x": "y" * 100}]])
    clients = [unread(server, [request] * 100, 2000) for _ in range(4)]
    queue = healthy.call("server.info")["queues"]["answer_bytes"]
    assert MIB < queue["used"] <= 4 * 3 * MIB, queue
    assert resident(server) - memory < 4 * 4 * MIB + kept_back()
    for client in clients:
        client.socket.cut()


@pytest.mark.seconds(200)
def test_large_answers_that_pile_up(server, healthy):
    """Answers of half a megabyte each are asked for by the dozen in one message and not read: what is over 1 MiB is refused with `limit`
    instead of kept, and a client that reads after all has an answer to each of them."""
    session = healthy.create()
    for _ in range(520):
        healthy.start(session, "true", *["x" * 60] * 15, name="y" * 60)
    memory = resident(server)
    requests = [msgpack.packb([0, number, "process.list", [{"session": session}]]) for number in range(10, 60)]
    client = unread(server, requests, 1)
    time.sleep(1)
    assert resident(server) - memory < 8 * MIB + kept_back()
    client.socket.socket.settimeout(60)
    for number in range(10, 60):
        while number not in client.answers:
            client.read()
    codes = [client.answers[number][2]["code"] for number in range(10, 60) if client.answers[number][2]]
    assert 0 < len(codes) < 50 and set(codes) == {"limit"}
    client.request(60, "session.list")
    client.answer(60)
    client.close()
    healthy.call("session.end", session=session)


def test_frames_whose_errors_are_not_read(server, healthy):
    """Input that always starts at a wrong offset, and no ERROR is read: the same bound."""
    session = healthy.create()
    process = healthy.start(session, "cat", stdin=True)
    client = Raw(server, receive_buffer=4096, timeout=3)
    client.request(10, "session.attach", session=session)
    channel = client.answer(10)["channel"]
    memory = resident(server)
    message = b"".join(msgpack.packb(value) for value in (channel, *[[STDIN, process, 99, b"x"]] * 5000))
    with contextlib.suppress(TimeoutError, OSError):
        for _ in range(300):
            client.socket.send(message)
    queue = healthy.call("session.info", session=session)["queues"]["channel_bytes"]
    assert 0 < queue["used"] <= 2 * MIB, queue
    assert resident(server) - memory < 4 * MIB + kept_back()
    client.socket.cut()
    healthy.call("session.end", session=session)


# Numbers that run backwards, channels and sessions of others

def test_numbers_that_run_backwards(client, session):
    """A lower CREDIT changes nothing; input below what was accepted is acknowledged and dropped, above it is a gap; `after` beyond the
    end is the end."""
    channel = client.attach(session, View(None), after=1 << 40, credit=1_000_000)
    process = client.start(session, "cat", stdin=True)
    channel.send([STDIN, process, 0, b"abcdef"], [CREDIT, 5], [STDIN, process, 3, b"XYZghi"], [STDIN, process, 0, b"old"])
    client.wait(lambda: channel.acknowledged.get(process) == 9)
    channel.send([STDIN, process, 20, b"!"], [STDIN, process, (1 << 53) - 1, b"!"], [EOF, process, 2], [EOF, process, 40])
    client.wait(lambda: len(channel.errors) >= 4)
    assert [row[2] for row in channel.errors] == ["stdin_gap"] * 4
    assert all(row[4] == {"expected": 9} for row in channel.errors)
    channel.send([EOF, process, 9], [CREDIT, 0], [EOF, process, 9])
    assert channel.wait_exit(process)["exit_code"] == 0
    assert channel.view.bytes(process) == b"abcdefghi"


def test_channels_that_are_not_there(client, session):
    """Frames for channels that were never there, are detached, or belong to another connection: `unknown_channel`, and the rest lives."""
    channel = client.attach(session)
    channel.detach()
    for number in (channel.number, channel.number + 1, 0xFFFFFFFF, 1 << 32, (1 << 53) - 1):
        client.notices.clear()
        client.send(number, [CREDIT, 1])
        client.wait(lambda: client.notices)
        assert client.notices[0][1]["code"] == "unknown_channel"
    for number in (channel.number, 0xFFFFFFFF):
        with pytest.raises(RemoteError) as caught:
            client.call("session.detach", channel=number)
        assert caught.value.code == "not_found"


def test_more_channels_than_there_may_be(client, session):
    """The 65th channel of a connection is `limit`; after one is detached there is room again."""
    channels = [client.attach(session, after=None) for _ in range(64)]
    with pytest.raises(RemoteError) as caught:
        client.call("session.attach", session=session)
    assert caught.value.code == "limit"
    channels[0].detach()
    client.attach(session, after=None)


def test_hello_twice_changes_nothing(server, client, session):
    """A second hello with another, weaker or wrong token is `conflict`: who one is stays as it was."""
    for token in (server.token, "wrong"):
        with pytest.raises(RemoteError) as caught:
            client.call("hello", token=token, version=1, client="again", client_id=bytes(16))
        assert caught.value.code == "conflict"
    assert client.run(session, "echo still here")["stdout"] == b"still here\n"


# For every method that names a session: what else it needs.
OTHERS = {
    "session.info": {}, "session.end": {}, "session.attach": {}, "process.start": {"argv": ["true"]},
    "process.run": {"argv": ["true"]}, "process.list": {}, "process.signal": {"process": 1, "signal": "KILL"},
    "process.kill": {"process": 1}, "process.wait": {"process": 1},
}


def test_another_tenants_sessions_are_not_there(server, client, session):
    """A token of another tenant, with every right there, and a session's id that it guessed: each method answers exactly as for an id
    that nobody has, and the session does not change."""
    client.start(session, "sleep", "100")
    token = client.call("token.create", name="other", tenant="elsewhere")["token"]
    with server.client(token=token) as other:
        assert other.call("session.list")["sessions"] == []
        for method, params in OTHERS.items():
            told = []
            for guess in (session, "a" * 16):
                with pytest.raises(RemoteError) as caught:
                    other.call(method, session=guess, **params)
                told.append((caught.value.code, caught.value.message.replace(guess, "?"), str(caught.value.data).replace(guess, "?")))
            assert told[0] == told[1] and told[0][0] == "not_found", (method, told)
        with pytest.raises(RemoteError) as caught:
            other.call("server.info")
        assert caught.value.code == "forbidden"
    assert client.processes(session)[1]["state"] == "running"
    assert client.call("session.info", session=session)["participants"] == []


# Those who never become clients

def dropped_after(server, first, drip=b"", every=.5, most=60):
    """Seconds until the server ended a connection that sent FIRST and then, again and again, DRIP."""
    with socket.create_connection(server.address) as connection:
        begun = time.monotonic()
        connection.settimeout(every)
        with contextlib.suppress(ConnectionError):
            connection.sendall(first)
            while time.monotonic() - begun < most:
                try:
                    if not connection.recv(65536):
                        break
                except TimeoutError:
                    connection.sendall(drip)
        return time.monotonic() - begun


STRANGERS = {
    "silence": (b"", b""),
    "a request line that does not end": (b"GET /v1/ws?", b"x"),
    "headers that do not end": (b"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\n", b"X-Slow: y\r\n"),
    "a second request that does not end": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /", b"x"),
    "a body that does not end": (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n", b"y"),
    "TLS, where there is none": (bytes.fromhex("16030101000100010001fc0303") + bytes(500), b"\x16"),
    "bytes without sense": (bytes(range(256)) * 8, b"?"),
    "SSH": (b"SSH-2.0-OpenSSH_9.2\r\n", b"\0"),
}


def test_strangers_are_dropped(server, healthy):
    """Slow-loris in the line, the headers, a second request and a body; TLS and other noise: none keeps its connection for 20 s."""
    took = at_once(*(lambda row=row: dropped_after(server, *row) for row in STRANGERS.values()))
    assert max(took) < 20 * SLOWNESS, dict(zip(STRANGERS, took))


@pytest.mark.seconds(200)
def test_more_connections_than_there_may_be(start_server):
    """The connections that a server may have are taken: one more is refused with 503, those that are there go on, sessions are made,
    and when some have left there is room. Strangers who say nothing get a bounded number of sockets, and the rest is closed at once."""
    server = start_server("--max-connections", "50", "--warm", "0")
    keeper = server.client()
    idle = [server.client() for _ in range(49)]
    with pytest.raises(Refused) as caught:
        WebSocket(server.address)
    assert caught.value.status == 503
    session = keeper.create()
    assert keeper.run(session, "echo there")["stdout"] == b"there\n"
    sockets = count_sockets(gateway(server))
    strangers = []
    for _ in range(1300):
        with contextlib.suppress(OSError):
            strangers.append(socket.create_connection(server.address, 5))
    time.sleep(.5)
    assert count_sockets(gateway(server)) - sockets <= 1024
    refused = sum(is_closed(stranger) for stranger in strangers)
    assert refused >= 1300 - 1024 - 50, refused
    assert keeper.run(session, "echo there")["stdout"] == b"there\n"
    for client in [*idle[:10], *strangers]:
        client.close()
    deadline = time.monotonic() + 20
    while keeper.call("server.info")["connections"] > 40:
        assert time.monotonic() < deadline
        time.sleep(.1)
    with server.client() as welcome:
        assert "sessions" in welcome.call("session.list")
    for client in idle[10:]:
        client.close()
    keeper.close()


def is_closed(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.seconds(200)
def test_descriptors_run_out(wrapped):
    """A server with 200 descriptors: connections take three quarters of them and no more; sessions are still made; one more connection
    is closed at once, and none is left hanging."""
    server = wrapped('ulimit -n 200; exec "$@"')
    first = server.client()
    connected, refused = [], 0
    for _ in range(300):
        try:
            connected.append(WebSocket(server.address, timeout=5))
        except (Closed, OSError):
            refused += 1
    assert 140 <= len(connected) <= 150 and refused == 300 - len(connected)
    session = first.create()
    assert first.run(session, "echo there")["stdout"] == b"there\n"
    for websocket in connected:
        websocket.shut()
    first.call("session.end", session=session)
    deadline = time.monotonic() + 10
    while first.call("server.info")["connections"] > 1:
        assert time.monotonic() < deadline
        time.sleep(.05)
    with server.client() as welcome:
        assert "sessions" in welcome.call("session.list")
    first.close()


@pytest.mark.seconds(200)
def test_two_thousand_idle_connections(start_server):
    """Two thousand clients say hello and nothing more: each costs the gateway little, and who works among them does not notice."""
    server = start_server()
    worker = server.client()
    session = worker.create()
    memory = resident(server)
    idle = []
    for _ in range(2000):
        idle.append(Raw(server))
    cost = (resident(server) - memory) / len(idle)
    assert cost < 24 * 1024, cost
    begun = time.monotonic()
    for turn in range(20):
        assert worker.run(session, f"echo {turn}")["stdout"] == b"%d\n" % turn
    assert time.monotonic() - begun < 10 * SLOWNESS
    for client in idle:
        client.socket.shut()
    deadline = time.monotonic() + 20 * SLOWNESS
    while worker.call("server.info")["connections"] > 1:
        assert time.monotonic() < deadline
        time.sleep(.1)
    worker.close()
