"""What programs write to a terminal: whole, at once, before their ending, whatever the bytes mean. (Cases 2, 8, T01, T06.)"""

import time

import pytest
from cast import Cast
from test_shared import sandbar
from wire import EXITED, SLOWNESS, STREAM_CLOSED, TTY

TERMINAL = {"cols": 80, "rows": 24}
NUMBERS = b"".join(b"%d\r\n" % number for number in range(1, 20001))


def run(channel, session, script, expected, code=0):
    """One process: all bytes, then one EXITED that counts them."""
    process = channel.client.shell(session, script, terminal=TERMINAL)
    ending = channel.wait_exit(process)
    assert channel.view.bytes(process, TTY) == expected and ending["exit_code"] == code
    assert ending["offsets"] == {"tty": len(expected)} and ending["signal"] is None
    assert [frame[3] for frame in channel.view.of_kind(EXITED)].count(process) == 1
    del channel.view.data[process, TTY]


@pytest.mark.seconds(400)
def test_a_quick_program_is_never_silent(server):
    """T01: a program that prints one line and is gone, three hundred times; twenty thousand lines, thirty times; the same for who reads
    nothing for a second, five times, and with an exit code: every byte, and then one ending."""
    with server.client(receive_buffer=8192) as client:
        session = client.create()
        client.run(session, "echo one line > /work/one-line-file")
        channel = client.attach(session, mode="lossless")
        for _ in range(round(300 / SLOWNESS)):
            run(channel, session, "cat one-line-file", b"one line\r\n")
        for _ in range(round(30 / SLOWNESS)):
            run(channel, session, "seq 1 20000", NUMBERS)
        for _ in range(5):
            process = client.shell(session, "sleep .2; seq 1 20000; exit 3", terminal=TERMINAL)
            client.pause()
            time.sleep(1)
            client.resume()
            ending = channel.wait_exit(process)
            assert channel.view.bytes(process, TTY) == NUMBERS and ending["offsets"] == {"tty": len(NUMBERS)} and ending["exit_code"] == 3
        assert not channel.view.gaps
        client.call("session.end", session=session)


def test_a_grandchild_that_keeps_the_terminal_delays_nothing(client, session):
    """T01: a shell leaves with 3 while a grandchild keeps its terminal for two seconds more: all that the shell wrote, then its ending,
    long before the terminal is free; what the grandchild says comes with the offsets that follow."""
    channel = client.attach(session)
    child = "import os, signal, time; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.write(1, b'.'); time.sleep(2 + 2 * %f); os.write(1, b'late')"
    process = client.shell(session, f"stty raw; (setsid python3 -c \"{child % SLOWNESS}\" &); until [ -e go ]; do sleep .01; done; seq 1 2000; exit 3",
                           terminal=TERMINAL)
    channel.wait(lambda view: view.bytes(process, TTY) == b".")
    begun = time.monotonic()
    client.run(session, "touch go")
    ending = channel.wait_exit(process)
    assert time.monotonic() - begun < 2 * SLOWNESS
    assert ending["exit_code"] == 3 and ending["streams_open"] == ["tty"]
    before = b"." + b"".join(b"%d\n" % number for number in range(1, 2001))
    assert channel.view.bytes(process, TTY) == before and ending["offsets"] == {"tty": len(before)}
    closed = channel.wait(lambda view: view.of_kind(STREAM_CLOSED))
    assert closed[0][3:] == [process, TTY, len(before) + 4] and channel.view.bytes(process, TTY) == before + b"late"


SPLIT = [b"\xe2", b"\x94\x80 LINE", b"\xf0", b"\x9f\x98\x80", b"\xf0\x9f", b"\x98\x80", b"\xf0\x9f\x98", b"\x80"]
INVALID = b"\xff\xc0\x80\xed\xa0\xbd\xed\xb8\x80" + bytes(range(256))
WRITER = r"""
import os, tty
tty.setraw(0)
def write(data):
    while data: data = data[os.write(1, data):]
write(b"up")
for part in open("/work/parts").read().split():
    os.read(0, 1)
    write(bytes.fromhex(part))
"""


def test_characters_in_parts_and_what_is_no_character(server, client, session):
    """T06: parts of characters come as they are written, before the rest is; a hundred kilobytes of a character of three bytes; then what
    is none, every byte value among it. The bytes are the same; the recording can be read, and has every valid character."""
    parts = [*SPLIT, "\u2500".encode() * 33_334, INVALID]
    channel = client.attach(session, mode="lossless")
    client.run(session, "cat > /work/parts", input=" ".join(part.hex() for part in parts).encode())
    process = client.start(session, "python3", "-c", WRITER, terminal=TERMINAL)
    channel.wait(lambda view: view.bytes(process, TTY) == b"up")
    expected = b"up"
    for number, part in enumerate(parts):
        expected += part
        channel.feed(process, b"\n", number)
        channel.wait(lambda view, expected=expected: view.bytes(process, TTY) == expected)
    assert channel.wait_exit(process)["exit_code"] == 0
    with server.client() as late:
        second = late.attach(session, after=0)
        second.wait_live()
        assert second.view.bytes(process, TTY) == expected
    cast = Cast(sandbar(server, "logs", "--cast", session).encode())
    valid = "up\u2500 LINE" + "\U0001f600" * 3 + "\u2500" * 33_334
    assert valid in cast.output and "\ufffd" in cast.output[cast.output.index(valid) + len(valid):]
    assert client.run(session, "echo on")["stdout"] == b"on\n"
