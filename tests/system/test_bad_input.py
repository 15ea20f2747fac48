"""What is wrong is named, and the connection lives; what cannot be read closes it, with the code that says why."""

import json
import os
import random
import socket
import struct
import time

import msgpack
import pytest
from websocket import CLOSE, CONTINUATION, PONG, TEXT, Closed, Refused, WebSocket
from wire import CREDIT, EOF, RESIZE, STDIN, Client, RemoteError

HELLO = "hello"


def bare(server, **options):
    return Client(server.address, None, hello=False, **options)


def packed(*values):
    return b"".join(msgpack.packb(value, use_bin_type=True) for value in values)


def nested(depth):
    return b"\x91" * depth + b"\xc0"


# What is sent on an open connection, by name: a message, and the code of the error notice that answers it.
NOTICES = {
    "nested too deep": (b"\x00" + nested(9), "too_deep"),
    "nested far too deep": (b"\x00" + nested(100000), "too_deep"),
    "too many values": (b"\x00" + packed([0] * 65536), "too_many"),
    "text that is not UTF-8": (b"\x00" + b"\x91\xa2\xc3\x28", "bad_utf8"),
    "an extension type": (b"\x00" + packed([2, msgpack.ExtType(1, b"x")]), "bad_type"),
    "a timestamp": (b"\x00\x91\xd6\xff\x00\x00\x00\x00", "bad_type"),
    "a key that is a number": (packed(0, [2, "x", [{1: 2}]]), "bad_type"),
    "a key that stands twice": (b"\x00\x93\x02\xa1x\x91\x82\xa1a\x01\xa1a\x02", "duplicate_key"),
    "a frame that is not an array": (packed(0, 7), "invalid_request"),
    "an empty frame": (packed(0, []), "invalid_request"),
    "a channel without a frame": (packed(0), "invalid_frame"),
    "a channel that is text": (packed("x", [48, 1, 0, b"x"]), "invalid_frame"),
    "a channel below 0": (packed(-1, [48, 1, 0, b"x"]), None),
    "a channel that is not attached": (packed(77, [48, 1, 0, b"x"]), "unknown_channel"),
    "a response from a client": (packed(0, [1, 1, None, {}]), None),
    "an unknown kind of RPC": (packed(0, [9, 1, "x", []]), None),
    "a request without id": (packed(0, [0]), "invalid_request"),
    "a request whose id is text": (packed(0, [0, "one", "session.list", []]), "invalid_request"),
    "an id of more than 32 bits": (packed(0, [0, 1 << 32, "session.list", []]), "invalid_request"),
    "an integer over 2^53": (packed(0, [3, 1 << 60]), None),
}


@pytest.mark.parametrize("name", NOTICES)
def test_a_wrong_message_is_named_and_the_connection_lives(client, name):
    """A message breaks one rule of section 2: an error notice names it, and the next request is answered."""
    message, code = NOTICES[name]
    client.socket.send(message)
    client.wait(lambda: client.notices)
    method, error = client.notices[0]
    assert method == "error" and set(error) == {"code", "message", "data"} and error["message"]
    assert code is None or error["code"] == code, error
    assert "sessions" in client.call("session.list")


# Requests with a readable id: parameters of a method, and the code of the answer.
SOME = "a" * 16
REQUESTS = {
    "no such method": ("session.dance", {}, "unknown_method"),
    "a surplus parameter": ("session.list", {"colour": 1}, "invalid_params"),
    "a missing parameter": ("session.end", {}, "invalid_params"),
    "a session id of wrong form": ("session.end", {"session": "../../etc/passwd"}, None),
    "a session that is a number": ("session.end", {"session": 1}, "invalid_params"),
    "no such session": ("session.end", {"session": SOME}, "not_found"),
    "a name that is too long": ("session.create", {"name": "x" * 65}, None),
    "a limit that is too small": ("session.create", {"limits": {"memory": 1}}, "invalid_params"),
    "a limit that is unknown": ("session.create", {"limits": {"luck": 1}}, "invalid_params"),
    "a limit that is negative": ("session.create", {"limits": {"memory": -1}}, "invalid_params"),
    "a profile that is unknown": ("session.create", {"profile": "root"}, "invalid_params"),
    "a layer that is unknown": ("session.create", {"require": ["magic"]}, None),
    "an environment name with =": ("session.create", {"env": {"A=B": "c"}}, "invalid_params"),
    "an empty environment name": ("session.create", {"env": {"": "c"}}, "invalid_params"),
    "a second hello": ("hello", {"token": "x", "version": 1, "client_id": bytes(16)}, "conflict"),
    "a process that is text": ("process.kill", {"session": SOME, "process": "one"}, "invalid_params"),
    "a channel that is not attached": ("session.detach", {"channel": 99}, None),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_wrong_request_is_answered(client, name):
    """The answer carries the request's id and the code; nothing else changes."""
    method, params, code = REQUESTS[name]
    with pytest.raises(RemoteError) as caught:
        client.call(method, **params)
    assert code is None or caught.value.code == code, caught.value
    assert caught.value.message
    assert "sessions" in client.call("session.list")


STARTS = {
    "no argv": ({}, "invalid_params"),
    "an empty argv": ({"argv": []}, "invalid_params"),
    "argv that is text": ({"argv": "ls"}, "invalid_params"),
    "an argument with NUL": ({"argv": ["echo", "a\0b"]}, "invalid_params"),
    "an argument that is too long": ({"argv": ["echo", "x" * 131072]}, None),
    "too many arguments": ({"argv": ["x"] * 4097}, None),
    "a cwd that is not absolute": ({"argv": ["ls"], "cwd": "tmp"}, "invalid_params"),
    "a terminal without columns": ({"argv": ["ls"], "terminal": {"cols": 0, "rows": 1}}, "invalid_params"),
    "a terminal that is too wide": ({"argv": ["ls"], "terminal": {"cols": 1001, "rows": 1}}, "invalid_params"),
    "a clock below 0": ({"argv": ["ls"], "wall_ms": -1}, "invalid_params"),
    "an unknown word": ({"argv": ["ls"], "on_exit": "explode"}, "invalid_params"),
    "a signal that is none": ({"argv": ["ls"], "stdin": "yes"}, "invalid_params"),
}


@pytest.mark.parametrize("name", STARTS)
def test_a_wrong_start_starts_nothing(client, session, name):
    """A parameter of process.start is wrong: the answer names it, and no process is in the list."""
    params, code = STARTS[name]
    with pytest.raises(RemoteError) as caught:
        client.call("process.start", session=session, **params)
    assert code is None or caught.value.code == code, caught.value
    assert client.processes(session) == {}
    assert client.run(session, "echo on")["stdout"] == b"on\n"


def test_an_unknown_cwd_is_an_ending_not_an_error(client, session):
    """The folder does not exist: the process cannot be started, and its ending says why."""
    channel = client.attach(session)
    ending = channel.wait_exit(client.start(session, "true", cwd="/nowhere"))
    assert ending["exit_code"] in (126, 127) and ending["message"]


def test_wrong_frames_on_a_channel(client, session):
    """Each wrong frame gets an ERROR on its channel; the frames before it were carried out, and a good one after is."""
    channel = client.attach(session)
    process = client.start(session, "cat", stdin=True)
    wrong = [[STDIN, process, 0], [STDIN, process, "0", b"x"], [STDIN, process, 0, "text"], [STDIN, 99, 0, b"x"],
             [EOF, process], [RESIZE, process, 0, 0], [RESIZE, process, 80, 24], [CREDIT, "much"], [CREDIT, -1],
             [1, 1, 1, process, 1, 0, b"x"], [37, 1, "x", "y", {}], [55], [60, 1], ["x"]]
    for count, frame in enumerate(wrong, 1):
        channel.send(frame)
        client.wait(lambda: len(channel.errors) + len(client.notices) >= count)
    codes = [row[2] for row in channel.errors] + [notice[1]["code"] for notice in client.notices]
    assert set(codes) <= {"invalid_frame", "not_found", "not_terminal", "unknown_kind"}, codes
    channel.send([STDIN, process, 0, b"good"], [EOF, process, 4])
    assert channel.wait_exit(process)["exit_code"] == 0 and channel.view.bytes(process) == b"good"


def test_frames_before_the_wrong_one_are_carried_out(client, session):
    """Three frames in a message, the second wrong: the first counts, the third is not looked at."""
    channel = client.attach(session)
    process = client.start(session, "cat", stdin=True)
    channel.send([STDIN, process, 0, b"one"], [STDIN, process, 3], [STDIN, process, 3, b"two"])
    client.wait(lambda: channel.errors or client.notices)
    client.wait(lambda: channel.acknowledged.get(process) == 3)
    channel.send([EOF, process, 3])
    channel.wait_exit(process)
    assert channel.view.bytes(process) == b"one"


# What closes a connection: after hello, and before it.
CLOSING = {
    "an empty message": (b"", 1007),
    "a byte that MessagePack does not have": (b"\xc1", 1007),
    "a value that is cut off": (packed(0, [0, 1, "session.list", []])[:-3], 1007),
    "a length beyond the end": (b"\x00\xdd\xff\xff\xff\xff", 1007),
    "a string beyond the end": (b"\x00\x91\xdb\x7f\xff\xff\xffab", 1007),
    "garbage after a good frame": (packed(0, [3, 1]) + b"\xd9", 1007),
    "a message over 4 MiB": (bytes(4194305), 1009),
}


@pytest.mark.parametrize("early", [False, True], ids=["after hello", "before hello"])
@pytest.mark.parametrize("name", CLOSING)
def test_what_cannot_be_read_closes_the_connection(server, name, early):
    """The close code tells why, and another connection feels nothing."""
    message, code = CLOSING[name]
    with server.client() as other:
        client = bare(server) if early else server.client()
        try:
            client.socket.send(message)
        except OSError:
            pass  # closed while a large message was under way
        assert client.wait_closed() == code
        assert "sessions" in other.call("session.list")


def test_text_closes(server):
    """A text message is 1003, empty or not."""
    for text in (b"hello", b""):
        client = server.client()
        client.socket.send(text, TEXT)
        assert client.wait_closed() == 1003


def test_empty_fragments_and_reserved_opcodes(server):
    """Zero-length fragments make an empty message; reserved opcodes and bits, a length of 2^63 and a ping that is too long close
    the connection, and never more than that. (An unmasked frame should, too: libwebsockets waits for its mask.)"""
    client = server.client()
    client.socket.send(b"", 2, final=False)
    client.socket.send(b"", CONTINUATION)
    assert client.wait_closed() == 1007
    for raw, code in ((b"\x83\x80abcd", 1002), (b"\xf2\x80abcd", 1002), (b"\x80\x80abcd", 1002),
                      (b"\x82\xff" + b"\xff" * 8 + b"abcd", None), (b"\x89\xfe\x01\x00" + b"x" * 260, None)):
        broken = server.client()
        broken.socket.socket.sendall(raw)
        assert broken.wait_closed() == code, raw
    with server.client() as fine:
        assert "sessions" in fine.call("session.list")


def test_a_message_in_many_fragments(client):
    """A request in one-byte fragments, with pongs nobody asked for between them, is a request."""
    message = packed(0, [0, 900, "session.list", [{}]])
    for place, byte in enumerate(message):
        client.socket.send(bytes([byte]), CONTINUATION if place else 2, final=place == len(message) - 1)
        client.socket.send(b"", PONG)
    assert "sessions" in client.answer(900)


def test_fragments_over_the_limit(server):
    """A message without an end is stopped at the limit, not at the end of memory."""
    client = server.client()
    try:
        client.socket.send(bytes(1 << 20), 2, final=False)
        for _ in range(8):
            client.socket.send(bytes(1 << 20), CONTINUATION, final=False)
    except OSError:
        pass
    assert client.wait_closed() in (1009, None)


def test_nothing_before_hello(server):
    """Silence, another request, and a message of 5 KiB before hello: 4001, 4001, 1009."""
    silent = bare(server)
    begun = time.monotonic()
    eager = bare(server)
    eager.send(0, [0, 1, "session.list", []])
    assert eager.wait_closed() == 4001
    frame = bare(server)
    frame.send(1, [STDIN, 1, 0, b"x"])
    assert frame.wait_closed() == 4001
    large = bare(server)
    large.send(0, [0, 1, HELLO, [{"token": "x" * 5000}]])
    assert large.wait_closed() == 1009
    assert silent.wait_closed() == 4001 and 3 < time.monotonic() - begun < 20


NO_HELLO = {
    "no frame": packed(0), "a channel that is text": packed("x", [1]), "a negative channel": packed(-1, [1]), "a map": packed({}),
    "another channel": packed(1, [48, 1, 0, b"x"]), "a frame that is none": packed(0, 5), "an empty frame": packed(0, []),
    "a cancel": packed(0, [3, 1]), "a response": packed(0, [1, 1, None, {}]), "no id": packed(0, [0]),
    "a text id": packed(0, [0, "one", HELLO, []]), "a field too many": packed(0, [0, 1, HELLO, [], 5]),
}


@pytest.mark.parametrize("name", NO_HELLO)
def test_before_hello_whatever_is_none_closes(server, name):
    """T02: it is well-formed, and wrong: after hello it would be an error; before it, it is 4001, and nothing behind it is read."""
    client = bare(server)
    try:
        client.socket.send(NO_HELLO[name])
        client.request(HELLO, token=server.token, version=1, client="x", client_id=bytes(16))
    except OSError:
        pass
    assert client.wait_closed() == 4001
    assert not client.answers and not client.notices


def test_messages_of_one_byte(server):
    """T02: every byte as a message of its own, before and after hello: an error, or 1007, at most 4001 where nobody has said hello. Who
    works meanwhile notices nothing."""
    with server.client() as other:
        session = other.create()
        channel = other.attach(session)
        process = other.start(session, "cat", stdin=True)
        for byte in range(256):
            early, late = bare(server), server.client()
            for client in early, late:
                client.socket.send(bytes([byte]))
            assert early.wait_closed() in (1007, 4001), byte
            try:
                late.wait(lambda late=late: late.notices)
                assert late.notices[0][0] == "error" and "sessions" in late.call("session.list")
                late.close()
            except Closed as closed:
                assert closed.code == 1007, byte
            channel.send([STDIN, process, byte, b"k"])
            channel.wait(lambda view, byte=byte: view.length.get((process, 1), 0) == byte + 1)
        other.call("session.end", session=session)


def test_a_close_frame_says_why(start_server):
    """T29: each close code comes with words that tell it to people; who closes himself is answered with his own code. A process that
    ends closes nothing."""
    server = start_server("--warm", "0")
    told = {}

    def tell(client):
        client.wait_closed()
        told.setdefault(client.closed.code, []).append(client.closed.reason)

    with server.client() as owner:
        session = owner.create()
        assert owner.run(session, "exit 3")["exited"]["exit_code"] == 3
        for message, opcode in ((b"", 2), (b"\xc1", 2), (b"x", TEXT), (b"\x83x", 2), (bytes(4194305), 2)):
            client = server.client()
            try:
                client.socket.send(message, opcode)
            except OSError:
                pass  # closed while it was under way
            tell(client)
        early = bare(server)
        early.send(0, [0, 1, "session.list", []])
        tell(early)
        key = owner.call("token.create", name="eve", rights=["read"])
        removed = server.client(token=key["token"])
        participant = removed.attach(session).answer["participant"]
        owner.call("session.remove", session=session, participant=participant)
        tell(removed)
        revoked = server.client(token=key["token"])
        owner.call("token.revoke", id=key["id"])
        tell(revoked)
        leaver = server.client()
        leaver.socket.close(1000)
        assert leaver.wait_closed() == 1000
        assert owner.run(session, "echo on")["stdout"] == b"on\n"
    last = server.client()
    assert server.stop() == 0
    tell(last)
    assert sorted(told) == [1001, 1003, 1007, 1009, 4001, 4003, 4004] and all(reason for reasons in told.values() for reason in reasons), told


def test_nothing_follows_a_close_frame(server):
    """Who is closed waits for an answer, which comes about while the close frame is under way, or while he takes his time to answer it. A
    browser that got it would fail the connection ("Data frame received after close") and forget the code."""
    with server.client() as owner:
        session = owner.create()
        process = owner.start(session, "sleep", "100")
        slow = server.client()
        slow.socket.answer_close = False
        slow.request("process.wait", session=session, process=process)
        slow.call("session.list")
        slow.socket.send(b"\xc1")
        time.sleep(.3)
        owner.call("process.signal", session=session, process=process, signal="KILL")
        assert slow.wait_closed() == 1007
        for _ in range(300):
            hasty = server.client()
            hasty.request("process.start", session=session, argv=["true"])
            due = time.perf_counter() + random.random() * .002  # which is when the answer comes
            while time.perf_counter() < due:
                pass
            hasty.socket.send(b"\xc1")
            assert hasty.wait_closed() == 1007
        owner.call("session.end", session=session)


def test_who_does_not_answer_a_close_frame_is_not_waited_for(server):
    """It was closed by the server, or by the WebSocket layer, and says nothing: it is gone before the next ping would come."""
    for raw, code in ((b"\x83\x80abcd", 1002), (b"\x81\x81abcdx", 1003), (b"\x82\x81abcd\xa0", 1007)):
        silent = server.client()
        silent.socket.answer_close = False
        silent.socket.socket.sendall(raw)
        assert silent.wait_closed(10) == code


def test_a_close_frame_comes_behind_what_was_under_way(server):
    """A client in the middle of a flood sends what closes the connection, while the socket holds all it can: it is told why."""
    with server.client() as owner:
        session = owner.create()
        for wrong, opcode, code in ((b"x", TEXT, 1003), (b"\xc1", 2, 1007), (bytes(4194305), 2, 1009)):
            busy = server.client(receive_buffer=65536)  # which bounds what he has to take first
            channel = busy.attach(session)
            process = busy.shell(session, "yes")
            channel.wait(lambda view, process=process: view.bytes(process, 1))
            busy.pause()
            time.sleep(.5)
            busy.socket.socket.sendall(busy.socket.frame(wrong, opcode)[:1000])
            busy.resume()
            assert busy.wait_closed() == code
            owner.call("process.signal", session=session, process=process, signal="KILL")
        owner.call("session.end", session=session)


HELLOS = {
    "a wrong token": ({"token": "guess"}, "unauthenticated"),
    "an empty token": ({"token": ""}, "unauthenticated"),
    "a token that is a number": ({"token": 7}, None),
    "no token": ({}, None),
    "another version": ({"version": 2}, None),
    "a short client id": ({"client_id": b"short"}, None),
    "a long client name": ({"client": "x" * 65}, None),
}


@pytest.mark.parametrize("name", HELLOS)
def test_a_wrong_hello_is_answered_and_closed(server, name):
    """The error says what was wrong; then the connection is closed with 4003."""
    wrong, code = HELLOS[name]
    client = bare(server)
    params = {"version": 1, "client": "x", "client_id": bytes(16)} | ({} if name == "no token" else {"token": server.token}) | wrong
    with pytest.raises((RemoteError, Closed)) as caught:
        client.call(HELLO, **params)
    assert isinstance(caught.value, RemoteError) and (code is None or caught.value.code == code), caught.value
    assert client.wait_closed() == 4003


def forged(token):
    """The same token with a signature of nobody, with another algorithm, and with its claims changed."""
    import base64
    head, claims, signature = token.split(".")

    def coded(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    def decoded(text):
        return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))

    yield f"{head}.{claims}.{'A' * len(signature)}"
    yield f"{coded({'alg': 'none', 'typ': 'JWT'})}.{claims}."
    yield f"{coded({'alg': 'HS256', 'typ': 'JWT'})}.{claims}.{signature}"
    yield f"{head}.{coded(decoded(claims) | {'tenant': 'other'})}.{signature}"
    yield token + "."
    yield token[:-4]


def test_a_forged_token_opens_nothing(server):
    """Somebody takes a real token apart and signs it himself, or not at all."""
    for token in forged(server.token):
        client = bare(server)
        with pytest.raises(RemoteError) as caught:
            client.call(HELLO, token=token, version=1, client="x", client_id=bytes(16))
        assert caught.value.code == "unauthenticated"
        assert client.wait_closed() == 4003


def test_the_upgrade_is_refused_to_strangers(server):
    """No subprotocol, a foreign page's Origin, another path: not 101. No Origin, and the server's own: welcome."""
    own = "http://{}:{}".format(*server.address)
    for options in ({"subprotocol": None}, {"subprotocol": "chat"}, {"headers": [("Origin", "http://evil.example")]},
                    {"headers": [("Origin", "null")]}, {"headers": [("Origin", own + "1")]}, {"path": "/v1/other"}):
        with pytest.raises((Refused, Closed)):
            WebSocket(server.address, **options)
    with server.client(headers=[("Origin", own)]) as welcome:
        assert "sessions" in welcome.call("session.list")


def test_look_alikes_are_strangers(server):
    """T20: origins that look like the server's own, to people or to who compares carelessly: each is refused, over the name that the
    client connects to and over the names that are always allowed. Nothing was started for any of them."""
    host, port = server.address
    names = [f"http://{host}.evil.example:{port}", f"http://evil.example/{host}:{port}", f"http://{host}:{port}@evil.example", f"http://{host}:{port}.evil.example",
             f"http://{host}:{port}0", f"http://{host}:{port} ", f"http://{host}", f"ftp://{host}:{port}", f"{host}:{port}",
             f"http://127.0.0.1\u3002evil.example:{port}", f"http://l\u043ecalhost:{port}", f"http://xn--lcalhost-2jg:{port}", f"http://localhost.:{port}",
             f"http://127.0.0.\uff11:{port}", f"http://127.1:{port}", f"http://2130706433:{port}", f"http://localhost.evil.example:{port}",
             "file://", "about:blank", f"http://[::1]:{port}", f"http://{host}:{port},http://evil.example"]
    accepted = []
    for name in names:
        try:
            WebSocket(server.address, headers=[("Origin", name)]).shut()
            accepted.append(name)
        except (Refused, Closed, OSError):
            pass
    assert accepted == []
    with server.client(headers=[("Origin", f"http://{host}:{port}")]) as welcome:
        assert welcome.call("session.list")["sessions"] == []


def test_who_is_refused_is_told_why(server):
    """A page that says what is allowed; and a token in the address, where others would log it, opens nothing, however good it is."""
    upgrade = ("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n{more}\r\n")
    host = "{}:{}".format(*server.address)
    wire = "Sec-WebSocket-Protocol: sandbar.v1\r\n"
    for path, name, more, status, why in [
            ("/v1/ws?token=" + server.token, host, wire, 403, b"does not belong into an address"),
            ("/v1/ws?a=b&access_token=x", host, wire, 403, b"does not belong into an address"),
            ("/v1/ws", "evil.example", wire, 403, b"--public-host"),
            ("/v1/ws", host, wire + "Origin: http://evil.example\r\n", 403, b"--allow-origin"),
            ("/v1/ws", host, "", 403, b"sandbar.v1"),
            ("/v1/other", host, wire, 404, b"/v1/ws")]:
        answer = http(server, upgrade.format(path=path, host=name, more=more).encode())
        assert answer.split()[1] == b"%d" % status and why in answer, (path, answer)
    page = http(server, f"GET /?token={server.token} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert page.split()[1] == b"403" and b"does not belong into an address" in page, page


def http(server, request):
    with socket.create_connection(server.address, 20) as connection:
        connection.sendall(request)
        answer = b""
        try:
            while chunk := connection.recv(65536):
                answer += chunk
        except OSError:
            pass
        return answer


def test_what_is_not_http(server):
    """A page is served to who asks with a browser; noise, huge headers and half requests end that connection only."""
    page = http(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert page.startswith(b"HTTP/1.1 200") and b"andbar" in page
    assert b" 404" in http(server, b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").split(b"\r\n")[0]
    http(server, os.urandom(3000) + b"\r\n\r\n")
    http(server, b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 40000 + b"\r\n\r\n")
    http(server, b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    with server.client() as fine:
        assert "sessions" in fine.call("session.list")


def test_sixty_five_requests_at_once(client, session):
    """The 65th open request is refused with `limit`; the other 64 are answered in the end."""
    waiting = [client.request("process.run", session=session, argv=["sleep", "100"]) for _ in range(64)]
    with pytest.raises(RemoteError) as caught:
        client.call("session.list")
    assert caught.value.code == "limit"
    for number in waiting:
        client.send(0, [3, number])
    for number in waiting:
        with pytest.raises(RemoteError) as caught:
            client.answer(number)
        assert caught.value.code in ("cancelled", "limit")
    assert "sessions" in client.call("session.list")


def test_an_id_in_use(client, session):
    """A second request with the id of an open one is refused, and the first is still answered."""
    number = client.request("process.run", session=session, argv=["sh", "-c", "sleep 1; echo done"])
    client.send(0, [0, number, "session.list", []])
    client.wait(lambda: client.notices or number in client.answers)
    if number in client.answers:
        assert client.answers.pop(number)[2]["code"] in ("invalid_request", "conflict")
    else:
        assert client.notices[0][1]["code"] in ("invalid_request", "conflict")
    assert client.answer(number)["stdout"] == b"done\n"


def test_a_close_frame_of_every_form(server):
    """A close frame with no code, one byte, a forbidden code, a long reason: the server answers or cuts, and lives."""
    for payload in (b"", b"\x03", struct.pack(">H", 1005), struct.pack(">H", 1000) + b"x" * 123, struct.pack(">H", 1000) + b"\xff"):
        client = server.client()
        client.socket.send(payload, CLOSE)
        client.wait_closed()
    with server.client() as fine:
        assert "sessions" in fine.call("session.list")


def test_many_come_and_go(server):
    """Three hundred connections, some with hello, some without, some cut: the server has as many descriptors as before."""
    before = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    for turn in range(300):
        client = server.client() if turn % 3 == 0 else bare(server)
        if turn % 2:
            client.cut()
        else:
            client.socket.close()
            client.socket.shut()
    with server.client() as fine:
        assert fine.call("server.info")["connections"] < 50
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) <= before + 2
