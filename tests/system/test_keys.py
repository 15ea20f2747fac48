"""What is typed into a terminal reaches its program: whole, once, in order; and nothing but that. (Cases T05, T32, S2, S4.)"""

import hashlib
import os
import re

from people import errors, sh, token, up
from wire import EOF, SLOWNESS, STDIN, TTY

TERMINAL = {"cols": 80, "rows": 24}

# Reads so much at a time, with a pause, until as much has come or nothing more comes; tells how much, and its hash.
READER = r"""
import hashlib, os, select, sys, time, tty
size, piece, pause, before = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
tty.setraw(0)
os.write(1, b"up")
time.sleep(before)
got, digest = 0, hashlib.sha256()
while got < size and select.select([0], [], [], 3)[0]:
    data = os.read(0, piece)
    got += len(data)
    digest.update(data)
    time.sleep(pause)
os.write(1, b" %d %s." % (got, digest.hexdigest().encode()))
"""


def reader(client, session, size, piece, pause=0.0, before=0.0):
    process = client.start(session, "python3", "-c", READER, str(size), str(piece), str(pause), str(before), terminal=TERMINAL)
    channel = client.attach(session)
    up(channel, process)
    return channel, process


def told(channel, process):
    text = channel.wait(lambda view: re.search(rb" (\d+) ([0-9a-f]{64})\.", view.bytes(process, TTY)), 120 * SLOWNESS)
    return int(text[1]), text[2].decode()


def test_a_program_that_reads_in_small_bites_gets_all(client, session):
    """T05: a quarter of a megabyte for a program that sleeps first and then takes 100 bytes a millisecond: a terminal takes some
    thousand bytes at once, and what is written into it is written in as many pieces."""
    data = os.urandom(1 << 18)
    channel, process = reader(client, session, len(data), 100, .001, 1)
    channel.feed(process, data)
    assert told(channel, process) == (len(data), hashlib.sha256(data).hexdigest())
    assert channel.acknowledged[process] == len(data) and not channel.errors


def test_what_was_refused_was_not_typed(client, session):
    """T05: three megabytes for a program that does not read yet, in frames that heed no window: the error says how many were accepted,
    and exactly those reach the program."""
    data = os.urandom(3 << 20)
    channel, process = reader(client, session, len(data), 65536, 0, 2)
    for offset in range(0, len(data), 1 << 19):
        channel.send([STDIN, process, offset, data[offset:offset + (1 << 19)]])
    assert errors(channel)[0][0] == "stdin_window"
    accepted = channel.errors[0][4]["accepted"]
    assert 0 < accepted < len(data)
    assert told(channel, process) == (accepted, hashlib.sha256(data[:accepted]).hexdigest())
    assert channel.acknowledged[process] == accepted


def test_a_megabyte_is_pasted_in_one_frame(client, session):
    """S4: as large as the window, in one frame, into a terminal; a command's text of three megabytes comes on stdin."""
    data = os.urandom(1 << 20)
    channel, process = reader(client, session, len(data), 65536)
    channel.send([STDIN, process, 0, data])
    assert told(channel, process) == (len(data), hashlib.sha256(data).hexdigest())
    script = b"# " + b"x" * (3 << 20) + b"\necho ran-$((1+1))\n"
    process = client.start(session, "sh", stdin=True)
    end = channel.feed(process, script)
    channel.send([EOF, process, end])
    assert channel.wait_exit(process)["exit_code"] == 0 and b"ran-2" in channel.view.bytes(process)


COMPOSED = ["日本語", "7", "한글", "👩\u200d💻", "👨\u200d👩\u200d👧\u200d👦", "e\u0301", "🇩🇪", "ﬁn"]


def test_composed_text_arrives_as_it_was_committed(client, session):
    """T32: what an input method commits: three characters and a digit, emoji that are several characters, accents of their own; in one
    frame each, and then cut within characters, a byte a frame. Nothing is lost, doubled, or put in another order."""
    text = "".join(COMPOSED).encode()
    channel, process = reader(client, session, 2 * len(text), 3)
    offset = 0
    for part in COMPOSED:
        channel.send([STDIN, process, offset, part.encode()])
        offset += len(part.encode())
    for byte in text:
        channel.send([STDIN, process, offset, bytes([byte])])
        offset += 1
    assert told(channel, process) == (2 * len(text), hashlib.sha256(text * 2).hexdigest())


def test_old_questions_are_not_answered_again(client, session, guests):
    """S2: a program asks where the cursor is, what the terminal is and which colour it has, and shows what is typed from then on. It is
    answered once, by the server. Somebody who only watches joins and answers as her emulator would; the first comes again, from the
    beginning: not a byte more is typed."""
    process = sh(client, session, r"stty raw -echo; printf '\033[6n\033[c\033]11;?\007'; echo up; exec cat -v")
    first = client.attach(session)
    answers = first.wait(lambda view: re.search(rb"up\r*\n*(\^\[\[\d+;\d+R\^\[\[\?[0-9;]+c\^\[\]11;rgb:[0-9a-f/]+(?:\^G|\^\[\\))", view.bytes(process, TTY)))
    watching = guests(token=token(client, "read")).attach(session)
    watching.wait_live()
    watching.send([STDIN, process, 0, b"\x1b[24;80R"])
    assert errors(watching)[0][0] == "forbidden"
    again = guests(client_id=os.urandom(16)).attach(session, after=0)
    again.wait_live()
    first.send([STDIN, process, 0, b"end"])
    for channel in (first, watching, again):
        channel.wait(lambda view: view.bytes(process, TTY).endswith(b"end"))
        assert channel.view.bytes(process, TTY).endswith(answers[1] + b"end"), channel.view.bytes(process, TTY)
