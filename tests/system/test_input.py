"""Input is exact: its default, its end, its window and its offsets. (Case 14.)"""

import hashlib
import os
import threading
import time

from programs import SLEEPER
from wire import EOF, RESIZED, STDIN, TTY, View


def errors_of(channel, count=1):
    channel.client.wait(lambda: len(channel.errors) >= count)
    return [(row[1], row[2]) for row in channel.errors]


def test_without_stdin_a_reader_sees_the_end_at_once(client, session):
    """`cat`, with nothing said about stdin, is over at once; input for it is an error, and nothing else changes."""
    channel = client.attach(session)
    process = client.start(session, "cat")
    assert channel.wait_exit(process)["exit_code"] == 0
    sleeper = client.start(session, "sleep", "5")
    channel.send([STDIN, sleeper, 0, b"x"])
    assert errors_of(channel) == [(sleeper, "no_stdin")]
    client.call("process.kill", session=session, process=sleeper)


def test_a_byte_and_the_end(client, session):
    """`cat` gets `a`, then EOF, says `a` and leaves; input after EOF, and after its end, are errors of their own."""
    channel = client.attach(session)
    process = client.start(session, "sh", "-c", "cat; sleep 1", stdin=True)
    channel.send([STDIN, process, 0, b"a"], [EOF, process, 1])
    channel.wait(lambda view: view.bytes(process) == b"a")
    channel.send([STDIN, process, 1, b"b"])
    assert errors_of(channel) == [(process, "stdin_closed")]
    assert channel.wait_exit(process)["exit_code"] == 0
    channel.send([STDIN, process, 1, b"b"])
    assert errors_of(channel, 2)[1] == (process, "process_exited")
    assert channel.acknowledged[process] == 1


def test_ten_megabytes_and_an_undisturbed_neighbour(server, client, session):
    """A program sleeps before it reads ten megabytes of input, sent as the window allows. Meanwhile another session's
    commands are as quick as ever."""
    data = os.urandom(10 << 20)
    channel = client.attach(session)
    process = client.shell(session, "sleep 3; sha256sum; ", stdin=True)
    times = []

    def neighbour():
        with server.client() as other:
            place = other.create()
            end = time.monotonic() + 3
            while time.monotonic() < end:
                begun = time.monotonic()
                other.call("process.run", session=place, argv=["true"])
                times.append(time.monotonic() - begun)
            other.call("session.end", session=place)

    thread = threading.Thread(target=neighbour)
    thread.start()
    end = channel.feed(process, data)
    channel.send([EOF, process, end])
    ending = channel.wait_exit(process)
    thread.join()
    assert ending["exit_code"] == 0 and channel.view.bytes(process).split()[0].decode() == hashlib.sha256(data).hexdigest()
    assert channel.acknowledged[process] == len(data) and not channel.errors
    assert sorted(times)[len(times) // 2] < 1, times  # 20 ms on an idle machine without AddressSanitizer


def test_over_the_window_is_refused_and_not_lost(client, session):
    """A client that ignores the window is told how far it got; sent again from there, all bytes arrive once."""
    data = os.urandom(3 << 20)
    channel = client.attach(session)
    process = client.shell(session, "sleep 1; sha256sum", stdin=True)
    for offset in range(0, len(data), 1 << 19):
        channel.send([STDIN, process, offset, data[offset:offset + (1 << 19)]])
    client.wait(lambda: channel.errors)
    assert channel.errors[0][2] == "stdin_window"
    accepted = channel.errors[0][4]["accepted"]
    assert 0 < accepted <= 2 << 20
    client.wait(lambda: channel.acknowledged.get(process, 0) >= accepted)
    position = channel.acknowledged[process]
    channel.feed(process, data[position:], position)
    channel.send([EOF, process, len(data)])
    channel.wait_exit(process)
    assert channel.view.bytes(process).split()[0].decode() == hashlib.sha256(data).hexdigest()


def test_offsets_make_input_exact(server):
    """A client is cut in the middle of typing, comes back and sends again what was not acknowledged: nothing is doubled.
    Bytes that begin above what was accepted are refused."""
    with server.client() as owner:
        session = owner.create()
        process = owner.start(session, "cat", stdin=True)
        view = View()
        typist = server.client()
        channel = typist.attach(session, view)
        channel.send([STDIN, process, 0, b"0123456789"])
        typist.wait(lambda: channel.acknowledged.get(process) == 10)
        channel.send([STDIN, process, 15, b"x"])
        typist.wait(lambda: channel.errors)
        assert channel.errors[0][2] == "stdin_gap" and channel.errors[0][4] == {"expected": 10}
        typist.cut()
        again = server.client(client_id=typist.client_id)
        channel = again.attach(session, view)
        assert [process, 10] in channel.answer["stdin"]
        channel.send([STDIN, process, 5, b"56789abcde"])
        again.wait(lambda: channel.acknowledged.get(process) == 15)
        channel.send([STDIN, process, 0, b"0123456789"])
        again.wait(lambda: channel.acknowledged.get(process) == 15)
        channel.send([EOF, process, 15])
        channel.wait_exit(process)
        assert view.bytes(process) == b"0123456789abcde"
        again.close()
        owner.call("session.end", session=session)


def test_two_who_type_have_offsets_of_their_own(server, client, session):
    """Two clients type into one program: each counts its own bytes, and no frame is cut by the other's."""
    with server.client() as other:
        a, b = client.attach(session), other.attach(session)
        process = client.start(session, "cat", stdin=True)
        for turn in range(100):
            a.send([STDIN, process, 5 * turn, b"aaaa\n"])
            b.send([STDIN, process, 5 * turn, b"bbbb\n"])
        client.wait(lambda: a.acknowledged.get(process) == 500)
        other.wait(lambda: b.acknowledged.get(process) == 500)
        a.send([EOF, process, 500])
        a.wait_exit(process)
        lines = a.view.bytes(process).split(b"\n")
        assert sorted(set(lines)) == [b"", b"aaaa", b"bbbb"] and lines.count(b"aaaa") == lines.count(b"bbbb") == 100


def test_the_end_of_input_on_a_terminal(client, session):
    """EOF on a terminal is its end-of-file character: `cat` leaves, and the terminal could have gone on."""
    channel = client.attach(session)
    process = client.start(session, "sh", "-c", "cat; echo first; cat; echo second", terminal={"cols": 80, "rows": 24})
    channel.send([STDIN, process, 0, b"hi\n"])
    channel.wait(lambda view: view.bytes(process, TTY).count(b"hi") == 2)
    channel.send([EOF, process, 3])
    channel.wait(lambda view: b"first" in view.bytes(process, TTY))
    client.call("process.kill", session=session, process=process)


def test_a_terminal_has_a_size_and_gets_another(client, session):
    """`stty size` sees what was asked for, and after RESIZE the new size; the change stands in the journal."""
    channel = client.attach(session)
    script = "stty size; trap 'stty size; exit 0' WINCH; echo up; while :; do sleep .1; done"
    process = client.shell(session, script, terminal={"cols": 100, "rows": 30})
    channel.wait(lambda view: b"up" in view.bytes(process, TTY))
    channel.send([50, process, 132, 43])
    assert channel.wait_exit(process)["exit_code"] == 0
    assert channel.view.bytes(process, TTY) == b"30 100\r\nup\r\n43 132\r\n"
    assert [row[3:] for row in channel.view.of_kind(RESIZED)] == [[process, 132, 43]]
    pipes = client.start(session, "sleep", "5")
    channel.send([50, pipes, 80, 24])
    assert errors_of(channel) == [(pipes, "not_terminal")]
    client.call("process.kill", session=session, process=pipes)


def test_an_interrupt_from_the_keyboard(client, session):
    """^C typed into a terminal interrupts what runs there."""
    channel = client.attach(session)
    process = client.start(session, *SLEEPER, terminal={"cols": 80, "rows": 24})
    channel.wait(lambda view: b"up" in view.bytes(process, TTY))
    channel.send([STDIN, process, 0, b"\x03"])
    ending = channel.wait_exit(process)
    assert (ending["reason"], ending["signal"]) == ("signal", "SIGINT")


def test_input_to_a_program_that_does_not_read_holds_up_nobody(client, session):
    """A window full of input for `sleep` waits; other input and requests of the same connection do not."""
    channel = client.attach(session)
    stuck = client.start(session, "sleep", "30", stdin=True)
    channel.send([STDIN, stuck, 0, b"x" * (1 << 20)])
    cat = client.start(session, "cat", stdin=True)
    channel.send([STDIN, cat, 0, b"hello"], [EOF, cat, 5])
    assert channel.wait_exit(cat)["exit_code"] == 0 and channel.view.bytes(cat) == b"hello"
    client.call("process.kill", session=session, process=stuck)


def test_a_command_with_input_runs_where_many_type(server, client, session):
    """64 clients have sent input in a session, as many as it keeps offsets for: a command that comes with its input gets it."""
    process = client.start(session, "cat", stdin=True)
    for _ in range(64):
        with server.client() as typist:
            channel = typist.attach(session)
            channel.send([STDIN, process, 0, b"x"])
            typist.wait(lambda: channel.acknowledged.get(process) == 1)
    channel = client.attach(session)
    channel.send([STDIN, process, 0, b"x"])
    assert errors_of(channel) == [(process, "limit")]
    assert client.call("process.run", session=session, argv=["cat"], input=b"hello")["stdout"] == b"hello"
    client.call("process.kill", session=session, process=process)
    assert client.call("process.run", session=session, argv=["cat"], input=b"")["stdout"] == b""
