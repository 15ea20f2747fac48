"""The record: what a session wrote is on disk, and whoever was away, joins late or is slow reads it there; ended sessions
can be read back; and a disk that is full costs nothing but the record."""

import hashlib
import os
import signal
import subprocess
import time

import pytest
from conftest import Server
from leftovers import processes
from wire import ENDED, GAP, LIVE, SLOWNESS, STARTED, STATE, STDIN, RemoteError, View

MIB = 1 << 20
# Numbered lines, so that every byte can be checked by its place; a pause now and then, as a build or a test run makes.
WRITER = """
import sys, time
size, pause = int(sys.argv[1]), float(sys.argv[2])
line, out = 0, sys.stdout.buffer
while size > 0:
    part = b"".join(b"%015d\\n" % n for n in range(line, line + 2048))[:size]
    line += 2048
    size -= len(part)
    out.write(part); out.flush()
    time.sleep(pause)
"""


def written(size):
    lines = b"".join(b"%015d\n" % number for number in range(size // 16 + 1))
    return hashlib.sha256(lines[:size]).hexdigest()


def digest(channel, process):
    return hashlib.sha256(channel.view.bytes(process)).hexdigest()


def children_named(server, name):
    found = []
    for pid, parent in processes().items():
        try:
            if parent == server.process.pid and name in open(f"/proc/{pid}/cmdline").read():
                found.append(pid)
        except OSError:
            pass  # it is gone
    return found


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(.05)


@pytest.fixture(scope="module")
def small(start_server):
    """A server whose rings hold 1 MiB, and whose records are as they usually are."""
    return start_server("--ring", "1M")


def produce(client, session, size, pause=.01 * SLOWNESS):
    """Three megabytes a second, unless PAUSE says otherwise: a record takes no byte of who outruns it, and a machine has its stalls."""
    return client.start(session, "python3", "-c", WRITER, str(size), str(pause))


def test_who_was_away_misses_nothing(small):
    """A client reads the beginning, goes, and comes back after 12 MiB went through a ring of one megabyte: with its last
    seq it gets each byte once. Somebody else joins at the end and reads all from the beginning."""
    with small.client() as starter:
        session = starter.create()
        away = small.client()
        view = View()
        process = produce(starter, session, 12 * MIB)
        away.attach(session, view).wait(lambda view: view.length.get((process, 1), 0) > 300000)
        away.cut()
        assert starter.call("process.wait", session=session, process=process, seconds=120)["exit_code"] == 0
        assert starter.call("session.info", session=session)["journal"]["first"] == 1
        with small.client(client_id=away.client_id) as again, small.client() as late:
            back, joined = again.attach(session, view), late.attach(session, after=0)
            for channel in (back, joined):
                channel.wait_exit(process)
                channel.wait_live()
                assert not channel.view.gaps and digest(channel, process) == written(12 * MIB)
                assert len(channel.view.of_kind(STARTED)) == 1 and GAP not in channel.frames
            new = starter.shell(session, "echo new")
            back.wait_exit(new)
            assert view.bytes(new) == b"new\n"
        starter.call("session.end", session=session)


def test_somebody_who_catches_up_while_it_runs(small):
    """A process writes on while its past is read: the reader catches up with it, and LIVE comes when it has."""
    with small.client() as starter, small.client() as late:
        session = starter.create()
        process = produce(starter, session, 12 * MIB)
        starter.wait(lambda: True)
        time.sleep(1)
        channel = late.attach(session, after=0)
        channel.wait_exit(process)
        channel.wait_live()
        assert not channel.view.gaps and digest(channel, process) == written(12 * MIB)
        starter.call("session.end", session=session)


def test_a_slow_lossless_client_reads_what_others_pushed_out(small):
    """A slow client follows one process, losslessly, which is held; meanwhile another one, which it follows as well but which
    runs beside it, and a third that it does not follow, push the ring over many times. It misses nothing."""
    with small.client(pace=3e6, receive_buffer=65536) as slow, small.client() as quick:
        session = slow.create()
        first = quick.shell(session, "read go; head -c 6291456 /dev/zero | tr '\\0' a", stdin=True)
        channel = slow.attach(session, mode="lossless", processes=[first])
        channel.send([STDIN, first, 0, b"\n"])
        other = produce(quick, session, 8 * MIB)
        channel.wait_exit(first)
        assert channel.view.bytes(first) == b"a" * 6291456 and not channel.view.gaps
        quick.call("process.wait", session=session, process=other)
        quick.call("session.end", session=session)


def test_a_lossless_client_may_come_late(small):
    """What a lossless client asks for begins in the record, and goes on with what the process, held meanwhile, still writes."""
    with small.client() as starter, small.client() as late:
        session = starter.create()
        process = produce(starter, session, 8 * MIB)
        starter.call("process.run", session=session, argv=["sleep", "1"])
        channel = late.attach(session, after=0, mode="lossless")
        channel.wait_exit(process)
        assert not channel.view.gaps and digest(channel, process) == written(8 * MIB)
        starter.call("session.end", session=session)


def test_live_and_behind_is_still_skipped(small):
    """A viewer that was live and stops reading gets a GAP when it reads on, and what is new, not half a minute of the past."""
    with small.client(receive_buffer=65536) as viewer, small.client() as starter:
        session = starter.create()
        channel = viewer.attach(session)
        channel.wait_live()
        viewer.pause()
        process = produce(starter, session, 16 * MIB, .001)
        starter.call("process.wait", session=session, process=process)
        viewer.resume()
        channel.wait_exit(process)
        assert channel.view.gaps and channel.frames.count(STATE) == len(channel.view.gaps)
        starter.call("session.end", session=session)


def test_an_ended_session_is_read_back(small):
    """A session ended. It is in the list of ended ones, its info tells how, anybody of its tenant may attach to it, and `sandbar
    ls --ended` and `sandbar logs` show it; nothing can be started in it."""
    with small.client() as client:
        session = client.create(name="over")
        process = produce(client, session, 3 * MIB)
        client.call("process.wait", session=session, process=process)
        client.call("session.end", session=session)
        channel = client.attach(session, after=0)  # at once: the record need not be finished
        client.wait(lambda: channel.closed)
        assert channel.closed == "session_ended" and channel.view.frames[-2][0] == ENDED and channel.frames[-1] == LIVE
        assert digest(channel, process) == written(3 * MIB) and not channel.view.gaps
        wait_for(lambda: session in [row["session"] for row in client.call("session.list", ended=True)["sessions"]])
        row = [row for row in client.call("session.list", ended=True)["sessions"] if row["session"] == session][0]
        assert row["name"] == "over" and row["reason"] == "ended" and row["ended_us"] > row["created_us"]
        assert session not in [row["session"] for row in client.call("session.list")["sessions"]]
        info = client.call("session.info", session=session)
        assert info["journal"]["last"] == row["seq"] and info["reason"] == "ended" and info["record"]["stopped"] is None
        for method, params in (("process.start", {"argv": ["true"]}), ("session.end", {}), ("process.list", {})):
            with pytest.raises(RemoteError) as caught:
                client.call(method, session=session, **params)
            assert caught.value.code == "session_ended"
        assert client.attach(session, after=row["seq"] - 1).view.filtered is False
    listed = small.command("ls", "--ended").communicate(timeout=30)[0].decode()
    assert session in listed and "over" in listed
    for name in (session, "over"):
        out, err = small.command("logs", name).communicate(timeout=60)
        assert hashlib.sha256(out).hexdigest() == written(3 * MIB), err


def test_after_the_gateway_died(start_server):
    """The gateway is killed while a process writes: the record goes on, without a gap; an ended session is there as before."""
    server = start_server()
    client = server.client()
    over, session = client.create(), client.create()
    done = client.run(over, "echo before")["process"]
    client.call("session.end", session=over)
    process = produce(client, session, 6 * MIB)
    time.sleep(.5)
    os.kill(children_named(server, "sandbard-gateway")[0], signal.SIGKILL)
    client.wait_closed()
    wait_for(lambda: server.text().count('"message":"serving"') >= 2)
    with server.client() as again:
        channel = again.attach(session, after=0)
        channel.wait_exit(process)
        assert digest(channel, process) == written(6 * MIB) and not channel.view.gaps
        past = again.attach(over, after=0)
        again.wait(lambda: past.closed)
        assert past.view.bytes(done) == b"before\n"
        again.call("session.end", session=session)


def test_the_worker_dies(start_server):
    """The worker is killed while it writes: another one goes on where the segments end, and nothing is missing."""
    server = start_server()
    with server.client() as client:
        session = client.create()
        process = produce(client, session, 16 * MIB)
        for _ in range(3):
            wait_for(lambda: children_named(server, "sandbard-worker"))
            time.sleep(1.1)  # one that dies at its start is not tried more often
            os.kill(children_named(server, "sandbard-worker")[0], signal.SIGKILL)
        client.call("process.wait", session=session, process=process, seconds=120)
        channel = client.attach(session, after=0)
        channel.wait_exit(process)
        assert digest(channel, process) == written(16 * MIB) and not channel.view.gaps
        client.call("session.end", session=session)


class Restarted:
    """Two servers, one after the other, on one state directory."""

    def __init__(self, programs, *flags):
        self.server = Server(programs, flags)
        self.flags = list(flags)

    def again(self, how=signal.SIGTERM):
        old = self.server
        old.process.send_signal(how)
        old.process.wait(30)
        (old.state / "address").unlink(missing_ok=True)
        old.log.truncate(0)
        old.log.seek(0)
        argv = [str(old.programs / "sandbard"), "--listen", "127.0.0.1:0", "--state", str(old.state), "--log-format", "json"]
        old.process = subprocess.Popen(argv + self.flags, stdin=subprocess.DEVNULL, stdout=old.log, stderr=old.log,
                                       env=old.environment(), start_new_session=True, cwd="/")
        old.await_address()

    def finish(self):
        faults = self.server.finish()
        assert not faults, "\n\n".join(faults)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_after_the_server_was_started_anew(programs, how):
    """An ended session survives the server; one that ran when it stopped, or was killed, is an ended one of the next server,
    whose last event says so; and what it wrote is all there."""
    house = Restarted(programs, "--ring", "512K")
    try:
        with house.server.client() as client:
            over, running = client.create(name="over"), client.create(name="running")
            one = client.run(over, "echo one")["process"]
            client.call("session.end", session=over)
            two = produce(client, running, 2 * MIB)
            client.call("process.wait", session=running, process=two)
            three = client.shell(running, "echo three; sleep 1000")
            wait_for(lambda: client.processes(running)[three]["offsets"]["stdout"] == 6)
            client.socket.cut()
            client.closed = True
    except BaseException:
        house.finish()
        raise
    try:
        house.again(how)
        with house.server.client() as client:
            wait_for(lambda: len(client.call("session.list", ended=True)["sessions"]) == 2)
            reasons = {row["name"]: row["reason"] for row in client.call("session.list", ended=True)["sessions"]}
            assert reasons == {"over": "ended", "running": "stopped" if how == signal.SIGTERM else "lost"}
            past, other = client.attach(over, after=0), client.attach(running, after=0)
            client.wait(lambda: past.closed and other.closed)
            assert past.view.bytes(one) == b"one\n" and not past.view.gaps
            assert digest(other, two) == written(2 * MIB) and other.view.bytes(three) == b"three\n"
            assert other.view.of_kind(ENDED)[0][3] == reasons["running"] and not other.view.gaps
            assert other.view.exited[three]["reason"] == ("killed" if how == signal.SIGTERM else "lost")
    finally:
        house.finish()


def kept(client):
    return [row["name"] for row in client.call("session.list", ended=True)["sessions"]]


def test_no_more_is_kept_than_was_said(start_server):
    """Of five ended sessions the last three stay; with `--keep-age 2s` none for long; with `--keep-sessions 0` none at all."""
    few, short, none = (start_server(*flags) for flags in
                        (("--keep-sessions", "3"), ("--keep-bytes", "1M"), ("--keep-sessions", "0")))
    with few.client() as client:
        for number in range(5):
            session = client.create(name=str(number))
            client.call("session.end", session=session)
            wait_for(lambda: str(number) in kept(client))
        wait_for(lambda: kept(client) == ["4", "3", "2"])
        assert len(list((few.state / "sessions").iterdir())) == 3
    with short.client() as client:
        for number in range(3):
            session = client.create(name=str(number))
            process = produce(client, session, MIB // 2)
            client.call("process.wait", session=session, process=process)
            client.call("session.end", session=session)
        wait_for(lambda: kept(client) == ["2"])
    with none.client() as client:
        session = client.create()
        client.call("session.end", session=session)
        wait_for(lambda: not list((none.state / "sessions").iterdir()))
        with pytest.raises(RemoteError) as caught:
            client.attach(session)
        assert caught.value.code == "not_found"


def test_where_streams_go_on_is_looked_for_beside_everything_else(start_server):
    """The beginning of a record is gone. What a silent process, one that wrote at its beginning and its end, and a busy one go
    on with is exact for each of many viewers who come at once; nobody else waits while that is looked for, and it is the same
    after a change of gateway."""
    server = start_server("--ring", "1M")
    with server.client() as client, server.client() as neighbour:
        session = client.create(limits={"record": MIB})
        silent = client.shell(session, "echo silent; sleep 1000")
        rare = client.shell(session, "echo begins; read line; echo $line; read line; echo $line", stdin=True)
        channel = client.attach(session)
        channel.wait(lambda view: all(view.length.get((process, 1)) for process in (silent, rare)))
        for _ in range(400):
            numbers = [next(client.ids) for _ in range(60)]
            client.send(0, *[[0, number, "session.note", [{"session": session, "text": "y" * 70}]] for number in numbers])
            client.answer(numbers[-1])
        channel.send([STDIN, rare, 0, b"ends\n"])
        channel.wait(lambda view: view.length[rare, 1] == 12)
        wait_for(lambda: client.call("session.info", session=session)["record"]["first"] > 3)

        crowd = [server.client() for _ in range(4)]
        for one in crowd:
            one.send(0, *[[0, next(one.ids), "session.attach", [{"session": session, "after": 0}]] for _ in range(63)])
        longest, end = 0, time.monotonic() + 1.5 * SLOWNESS
        while time.monotonic() < end:
            begin = time.monotonic()
            neighbour.call("template.list")
            longest = max(longest, time.monotonic() - begin)
        for one in crowd:
            one.socket.shut()
        assert longest < 1.5 * SLOWNESS, f"a neighbour waited for {longest:.1f} s"

        def look():
            with server.client() as late:
                joined = late.attach(session, after=0)
                joined.wait_live()
                view = joined.view
                state = {row["process"]: row["offsets"]["stdout"] for row in view.of_kind(STATE)[0][2]["processes"]}
                assert view.gaps[0][0] == 1 and (state[silent], state[rare]) == (7, 7)
                assert view.bytes(silent) == b"" and view.bytes(rare) == b"ends\n"

        look()
        os.kill(server.process.pid, signal.SIGUSR2)
        client.wait_closed()
        neighbour.wait_closed()
        look()


def test_a_session_may_ask_for_less(small):
    """`limits: {record: 0}` is not recorded: a GAP, as far as the ring has turned; `{record: 1 MiB}` keeps the newest megabyte."""
    with small.client() as client:
        for record, least in ((0, 0), (MIB, 900000)):
            session = client.create(limits={"record": record})
            process = produce(client, session, 4 * MIB)
            client.call("process.wait", session=session, process=process)
            channel = client.attach(session, after=0)
            channel.wait_exit(process)
            got = len(channel.view.bytes(process))
            assert channel.view.gaps[0][0] == 1 and least <= got < 2 * MIB, (record, got)
            assert channel.frames[:2] == [GAP, STATE] and channel.view.length[process, 1] == 4 * MIB
            client.call("session.end", session=session)
        with pytest.raises(RemoteError) as caught:
            client.create(limits={"record": 1000})
        assert caught.value.code == "invalid_params"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_a_full_disk_stops_the_record_alone(start_server, tmp_path):
    """The disk has 20 MiB. A session's record fills it: that is told in its info and in the log, the session runs on and its
    viewer gets all. When there is room again the record goes on, and what it lacks is a GAP."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m,mode=755", "record-test", str(tmp_path)], check=True)
    try:
        (tmp_path / "state").mkdir(mode=0o700)
        server = start_server("--ring", "512K", "--state", str(tmp_path / "state"))
        server.state = tmp_path / "state"
        with server.client() as client, server.client() as watcher:
            ballast = tmp_path / "ballast"
            session = client.create()
            ballast.write_bytes(bytes(10 * MIB))
            live = watcher.attach(session)
            process = produce(client, session, 16 * MIB)
            wait_for(lambda: client.call("session.info", session=session)["record"]["stopped"])
            assert "space" in client.call("session.info", session=session)["record"]["stopped"].lower()
            assert "the record of a session stopped" in server.text()
            client.call("process.wait", session=session, process=process, seconds=120)
            live.wait_exit(process)
            assert digest(live, process) == written(16 * MIB) and not live.view.gaps
            ballast.unlink()
            wait_for(lambda: client.call("session.info", session=session)["record"]["stopped"] is None)
            more = client.shell(session, "echo more")
            client.call("process.wait", session=session, process=more)
            client.call("session.end", session=session)
            channel = client.attach(session, after=0)
            client.wait(lambda: channel.closed)
            assert len(channel.view.gaps) == 1 and channel.view.bytes(more) == b"more\n"
            assert channel.view.length[process, 1] == 16 * MIB
        assert server.stop() == 0
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=False)
