"""Output arrives whole, verbatim and before the end. (Cases 1, 2, 8 and 9.)"""

import hashlib
import time

from wire import SLOWNESS, STDERR, TTY

TAIL = "head -c 1048576 /dev/zero | tr '\\0' x; printf END; printf E2 >&2"


def test_the_tail_of_a_pipe_is_never_lost(server):
    """A command writes a megabyte and a last word and is gone; a client that reads slowly must have all of it, then EXITED.

    40 runs at 8 MB/s instead of 200 at 1 MB/s, and 200 of the short command: half a minute instead of five.
    """
    with server.client(pace=8e6) as client:
        session = client.create()
        channel = client.attach(session, mode="lossless")
        for _ in range(round(10 / SLOWNESS)):
            for process in [client.shell(session, TAIL) for _ in range(4)]:
                ending = channel.wait_exit(process)
                assert ending["offsets"] == {"stdout": 1048579, "stderr": 2} and ending["exit_code"] == 0
                assert channel.view.bytes(process) == b"x" * 1048576 + b"END"
                assert channel.view.bytes(process, STDERR) == b"E2"
        client.call("session.end", session=session)


def test_a_quick_command_is_never_silent(client, session):
    """`printf hi` two hundred times: two bytes and an ending, each time."""
    channel = client.attach(session, mode="lossless")
    for _ in range(round(20 / SLOWNESS)):
        processes = [client.start(session, "printf", "hi") for _ in range(10)]
        for process in processes:
            assert channel.wait_exit(process)["offsets"] == {"stdout": 2, "stderr": 0}
            assert channel.view.bytes(process) == b"hi"
    assert not channel.view.gaps


def test_the_tail_of_a_terminal_is_never_lost(server):
    """Two people watch a terminal in which a program prints 20,001 lines and leaves with 3; one of them reads so slowly that the
    terminal is full when the program leaves. 20 runs instead of 300.
    """
    expected = b"".join(b"%d\r\n" % number for number in range(1, 20001)) + b"LAST"
    with server.client() as fast, server.client(pace=5e5, receive_buffer=8192) as slow:
        session = fast.create()
        channels = [fast.attach(session, mode="lossless"), slow.attach(session, mode="lossless")]
        for _ in range(max(2, round(20 / SLOWNESS))):
            process = fast.shell(session, "seq 1 20000; printf LAST; exit 3", terminal={"cols": 80, "rows": 24})
            for channel in channels:
                ending = channel.wait_exit(process)
                assert ending["exit_code"] == 3 and ending["reason"] == "exited"
                assert channel.view.bytes(process, TTY) == expected
                del channel.view.data[process, TTY]
        fast.call("session.end", session=session)


SPLIT = r"""
import os, sys, time
fd = int(sys.argv[1])
os.write(fd, b'cleanup \xe2'); time.sleep(.05); os.write(fd, b'\x80\x94 end')
os.write(fd, '\U0001F600'.encode() * 1310720)
os.write(fd, b'\xff')
os.write(fd, b'\xe2')
"""


def test_bytes_are_bytes_whatever_they_mean(client, session):
    """A dash cut in two writes, five megabytes of emoji, a lone \\xff, a stream that ends in the middle of a character:
    the same bytes arrive, on stdout, stderr and a terminal."""
    expected = b"cleanup \xe2\x80\x94 end" + "\U0001F600".encode() * 1310720 + b"\xff\xe2"
    channel = client.attach(session, mode="lossless")
    raw = "import tty; tty.setraw(1);" + SPLIT.replace("os.write(fd, '\\U0001F600'.encode() * 1310720)", """
data = '\\U0001F600'.encode() * 1310720
while data: data = data[os.write(fd, data):]""")
    pipes = SPLIT.replace("os.write(fd, '\\U0001F600'.encode() * 1310720)", """
data = '\\U0001F600'.encode() * 1310720
while data: data = data[os.write(fd, data):]""")
    for script, fd, stream, options in ((pipes, 1, 1, {}), (pipes, 2, STDERR, {}), (raw, 1, TTY, {"terminal": {"cols": 80, "rows": 24}})):
        process = client.start(session, "python3", "-c", script, str(fd), **options)
        ending = channel.wait_exit(process)
        got = channel.view.bytes(process, stream)
        assert ending["exit_code"] == 0
        assert hashlib.sha256(got).digest() == hashlib.sha256(expected).digest(), (stream, len(got), len(expected), got[:80])


def test_binary_data_prompts_and_forged_markers(client, session):
    """Random bytes, a NUL, a prompt without a newline, and the very markers with which other servers label their streams."""
    channel = client.attach(session, mode="lossless")

    def shell(script, **params):
        process = client.shell(session, script, **params)
        return process, channel.wait_exit(process)

    random, _ = shell("head -c 1000000 /dev/urandom | tee /tmp/r")
    copy, _ = shell("cat /tmp/r")
    assert len(channel.view.bytes(random)) == 1000000 and channel.view.bytes(random) == channel.view.bytes(copy)
    nul, _ = shell("printf 'a\\0b'")
    assert channel.view.bytes(nul) == b"a\0b"
    forged, _ = shell("printf '\\001\\001\\001out\\002\\002\\002err'")
    assert channel.view.bytes(forged) == b"\1\1\1out\2\2\2err" and channel.view.bytes(forged, STDERR) == b""
    marker, ending = shell("echo EXITCODESTART0EXITCODEEND; echo UNIQUESTRING29234; false")
    assert channel.view.bytes(marker) == b"EXITCODESTART0EXITCODEEND\nUNIQUESTRING29234\n" and ending["exit_code"] == 1


def test_a_prompt_is_seen_before_its_newline(client, session):
    """`name> ` waits for an answer: it must be on the screen while the program still sleeps."""
    channel = client.attach(session)
    process = client.shell(session, "printf 'name> '; sleep 5")
    begun = time.monotonic()
    channel.wait(lambda view: view.bytes(process) == b"name> ")
    assert time.monotonic() - begun < 4 and process not in channel.view.exited
    client.call("process.kill", session=session, process=process)


def test_a_run_is_cut_at_what_was_asked_for(client, session):
    """`process.run` gives the first max_output bytes of a stream, and says that there were more."""
    answer = client.run(session, "printf abcdef; printf uvwxyz >&2", max_output=4)
    assert (answer["stdout"], answer["stderr"], answer["truncated"]) == (b"abcd", b"uvwx", True)
    assert answer["exited"]["offsets"] == {"stdout": 6, "stderr": 6}
