"""The gateway dies, or is replaced, and no session notices: same processes, output exact, input exact or reported."""

import os
import random
import signal
import time

import pytest

from test_endings import alive, await_dead
from websocket import Closed
from wire import EOF, PATIENCE, SLOWNESS, STDIN, STDOUT, TTY, Client, View

KILLS = int(os.environ.get("SANDBAR_KILLS", "30"))
SEED = int(os.environ.get("SANDBAR_SEED", "0")) or random.randrange(1, 1 << 30)


def children(pid):
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and parent(entry) == pid]


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def name(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip()
    except OSError:
        return ""


def gateway(server):
    """The pid of the running gateway."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [pid for pid in children(server.process.pid) if name(pid).startswith("sandbard-gatewa")]
        if found:
            return found[0]
        time.sleep(0.01)
    raise TimeoutError("there is no gateway")


def status_of(pid):
    with open(f"/proc/{pid}/status") as status:
        return dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)


def test_the_gateway_has_confined_itself(any_server):
    """Before it listens: no capability, no way to new privileges, a list of system calls; as root, a user of its own."""
    with any_server.client():
        status = status_of(gateway(any_server))
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert all(int(status[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"))
    assert any_server.user != "root" or "0" not in status["Uid"].split()


class Steady:
    """A client that comes again whenever it is cut off, and goes on where it was."""

    def __init__(self, server, session, view):
        self.server, self.session, self.view = server, session, view
        self.client_id = os.urandom(16)
        self.errors = []
        self.connect()

    def connect(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                self.client = Client(self.server.address, self.server.token, client_id=self.client_id)
                self.channel = self.client.attach(self.session, self.view)
                return
            except (Closed, OSError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def again(self):
        """Connect again if the connection is gone."""
        if self.client.closed:
            self.errors += self.channel.errors
            self.connect()

    def wait(self, done, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not done(self.view):
            assert time.monotonic() < deadline, f"nothing came of it within {seconds} s; seed {SEED}"
            try:
                self.channel.wait(done, 1)
            except (Closed, TimeoutError):
                self.again()
        return done(self.view)


def kill_some(server, clients, kills, rng, seconds=0.4):
    for _ in range(kills):
        time.sleep(rng.uniform(0.01, seconds))
        before = gateway(server)
        os.kill(before, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while gateway(server) == before:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        for client in clients:
            try:
                client.channel.wait(lambda view: False, 0.001)
            except (Closed, TimeoutError):
                pass
            client.again()


def numbers(data, separator=b"\n"):
    return [int(line) for line in data.replace(b"\r", b"").split(separator) if line]


@pytest.mark.seconds(600)
def test_sessions_outlive_their_gateway(start_server):
    """Two processes count, one through a pipe and one through a terminal, while the gateway is killed again and again:
    the processes stay the same, and what they wrote arrives once, in order, without a gap."""
    rng = random.Random(SEED)
    server = start_server()
    with server.client() as first:
        session = first.create(name="steady")
        count = "i=0; while [ ! -e /tmp/stop ]; do i=$((i+1)); echo $i; [ $((i % 200)) -ne 0 ] || sleep 0.02; done"
        pipe = first.shell(session, "echo pid $$ >&2; " + count)
        tty = first.start(session, "sh", "-c", count, terminal={"cols": 80, "rows": 24})
    steady = Steady(server, session, View(0))
    steady.wait(lambda view: len(view.bytes(pipe)) > 1000)
    kill_some(server, [steady], KILLS, rng)
    assert steady.client.run(session, "touch /tmp/stop")["exited"]["exit_code"] == 0
    steady.wait(lambda view: pipe in view.exited and tty in view.exited)
    for process, stream in ((pipe, STDOUT), (tty, TTY)):
        got = numbers(steady.view.bytes(process, stream))
        assert got == list(range(1, len(got) + 1)) and len(got) > 200, f"seed {SEED}"
        assert steady.view.exited[process]["exit_code"] == 0
    assert not steady.view.faults, steady.view.faults[:5]
    assert len([frame for frame in steady.view.frames if frame[0] == 2 and frame[3] == pipe]) == 1
    with server.client() as last:
        last.call("session.end", session=session)


def doubts(channel):
    """The pieces of input of which it is told that nobody knows whether they arrived; each may be told again."""
    return {(frame[4]["from"], frame[4]["to"]) for frame in channel.errors if frame[2] == "stdin_unknown"}


@pytest.mark.seconds(600)
def test_input_is_exact_or_reported(start_server):
    """Lines are sent to `cat` while the gateway is killed again and again: each comes back once, in order; where it cannot
    be known whether bytes arrived, the client is told which."""
    rng = random.Random(SEED + 1)
    server = start_server()
    with server.client() as first:
        session = first.create()
    steady = Steady(server, session, View(0))
    cat = steady.client.start(session, "cat", stdin=True)
    data = bytearray()
    sent, told, kills = 0, set(), 0
    next_kill = time.monotonic() + 0.1
    while kills < KILLS or sent < len(data):
        if len(data) < sent + 8000:
            data += b"".join(b"%07d\n" % i for i in range(len(data) // 8, len(data) // 8 + 1000))
        try:
            end = sent + 8000
            steady.channel.send([STDIN, cat, sent, bytes(data[sent:end])])
            if kills < KILLS and time.monotonic() > next_kill:
                os.kill(gateway(server), signal.SIGKILL)
                kills += 1
                next_kill = time.monotonic() + rng.uniform(0.03, 0.3)
            steady.channel.wait(lambda view: steady.channel.acknowledged.get(cat, 0) >= end, 5)
            sent = end
        except (Closed, OSError, TimeoutError):
            steady.again()
            steady.channel.wait_live()
            told |= doubts(steady.channel)
            sent = max([sent] + [offset for process, offset in steady.channel.answer["stdin"] if process == cat])
        if kills == KILLS and sent >= len(data):
            break
    deadline = time.monotonic() + 60
    while cat not in steady.view.exited:  # the end is sent again after a cut, as input is
        assert time.monotonic() < deadline
        try:
            steady.channel.send([EOF, cat, sent])
            steady.channel.wait(lambda view: cat in view.exited, 5)
        except (Closed, OSError, TimeoutError):
            steady.again()
    got = steady.view.bytes(cat)
    expected = bytes(data[:sent])
    unknown = sum(to - begin for begin, to in told)
    if unknown == 0:
        assert got == expected, f"seed {SEED}: {len(got)} of {len(expected)}"
    assert 0 <= len(expected) - len(got) <= unknown, f"seed {SEED}: {len(got)} of {len(expected)}, {unknown} unknown"


def test_what_was_known_is_known_after(start_server):
    """A process that had exited, one that was started with a clock, a kill that was asked for, a participant: all is as it was."""
    server = start_server()
    with server.client() as first:
        session = first.create(name="kept", env={"WHO": "me"}, ttl_ms=3600000)
        done = first.shell(session, "echo out; exit 7")
        channel = first.attach(session)
        channel.wait_exit(done)
        clocked = first.shell(session, "sleep 100", wall_ms=4000, grace_ms=100)
        plain = first.shell(session, "read line; echo got $line; echo $WHO", stdin=True)
        before = first.processes(session)
        os.kill(gateway(server), signal.SIGKILL)
        first.wait_closed()
    again = Steady(server, session, View(0))
    after = again.client.processes(session)
    assert after[done] == before[done]
    for process in (clocked, plain):
        assert after[process]["argv"] == before[process]["argv"] and after[process]["state"] == "running"
    info = again.client.call("session.info", session=session)
    assert info["name"] == "kept" and [who["participant"] for who in info["participants"]] == [again.channel.answer["participant"]]
    again.channel.send([STDIN, plain, 0, b"line\n"])
    again.wait(lambda view: plain in view.exited)
    assert again.view.bytes(plain) == b"got line\nme\n"
    again.wait(lambda view: clocked in view.exited)
    assert again.view.exited[clocked]["reason"] == "timeout"
    left = [frame for frame in again.view.frames if frame[0] == 6 and frame[4]["change"] == "left"]
    assert left, "who was attached to the dead gateway has left"
    assert again.client.start(session, "true") == plain + 1
    again.client.call("session.end", session=session)


def test_a_waiting_run_is_cancelled_with_its_gateway(start_server):
    """process.run waits when the gateway dies: nobody will hear its answer, so its process is ended, as if it had been cut off."""
    server = start_server()
    with server.client() as first:
        session = first.create()
        first.request("process.run", session=session, argv=["sh", "-c", "sleep 100"])
        channel = first.attach(session)
        channel.wait(lambda view: view.frames and any(frame[0] == 2 for frame in view.frames))
        os.kill(gateway(server), signal.SIGKILL)
        first.wait_closed()
    again = Steady(server, session, View(0))
    again.wait(lambda view: 1 in view.exited)
    assert again.view.exited[1]["reason"] == "cancelled"


def test_the_gateway_is_replaced(start_server):
    """SIGUSR2: a new gateway takes over; a client loses its connection, with 1001, and nothing else."""
    server = start_server()
    with server.client() as first:
        session = first.create()
        count = first.shell(session, "for i in $(seq 1 2000); do echo $i; sleep 0.001; done")
        view = View(0)
        channel = first.attach(session, view)
        channel.wait(lambda seen: len(seen.bytes(count)) > 100)
        before = gateway(server)
        server.process.send_signal(signal.SIGUSR2)
        assert first.wait_closed() == 1001
        channel.client.closed = first.closed
    deadline = time.monotonic() + 30
    while gateway(server) == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    again = Steady(server, session, view)
    again.wait(lambda seen: count in seen.exited)
    assert numbers(again.view.bytes(count)) == list(range(1, 2001)) and not again.view.gaps


def test_a_session_that_cannot_be_loaded_is_given_up(start_server):
    """A session's files are damaged while the gateway is away: that session ends, the server and the other session go on."""
    server = start_server()
    with server.client() as first:
        good, bad = first.create(), first.create()
        os.kill(server.process.pid, signal.SIGSTOP)  # no new gateway until the files are as they shall be
        os.kill(gateway(server), signal.SIGKILL)
        first.wait_closed()
        (server.state / "sessions" / bad / "session.json").write_text("{")
        os.kill(server.process.pid, signal.SIGCONT)
    again = Steady(server, good, View(0))
    assert [one["session"] for one in again.client.call("session.list")["sessions"]] == [good]
    assert again.client.run(good, "echo alive")["stdout"] == b"alive\n"


@pytest.mark.seconds(150)
def test_a_gateway_that_hangs_is_replaced(start_server):
    """The gateway stops turning (SIGSTOP is as good as an endless loop): the keeper finds out within half a minute and gives its
    sessions to another."""
    server = start_server(user="root" if os.geteuid() == 0 else "user")
    with server.client() as client:
        session = client.create()
        process = client.shell(session, "echo $$; read line; echo $line", terminal={"cols": 80, "rows": 24})
    hung = gateway(server)
    time.sleep(30)
    assert gateway(server) == hung, "one that only has nothing to do is left alone"
    os.kill(hung, signal.SIGSTOP)
    deadline = time.monotonic() + 100
    while (now := gateway(server)) == hung:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert "does not talk to the keeper" in server.text()
    with server.client() as client:
        assert client.processes(session)[process]["state"] == "running"
        client.call("session.end", session=session)
    assert gateway(server) == now


def test_the_grace_of_an_ending_outlives_the_gateway(server):
    """A program cleans up for a second when it is asked to end; the gateway dies meanwhile. The program has its time, and the
    ending says what ended it."""
    with server.client() as client:
        session = client.create()
        tidy = client.shell(session, "trap 'sleep 1; echo saved >/work/saved; exit 5' TERM; echo up; while :; do sleep .05; done")
        deaf = client.shell(session, "trap '' TERM; echo up; while :; do sleep .05; done", wall_ms=600, grace_ms=2500)
        view = View()
        client.attach(session, view, after=0)
        client.wait(lambda: view.bytes(tidy) == view.bytes(deaf) == b"up\n")
        client.request("process.kill", session=session, process=tidy, grace_ms=20000)
        time.sleep(.8)
    os.kill(gateway(server), signal.SIGKILL)
    with again(server) as client:
        assert client.call("process.wait", session=session, process=tidy)["exit_code"] == 5
        assert client.run(session, "cat /work/saved")["stdout"] == b"saved\n"
        ending = client.call("process.wait", session=session, process=deaf)
        assert (ending["reason"], ending["control"], ending["signal"]) == ("timeout", "wall", "SIGKILL"), ending
        assert ending["usage"]["wall_us"] > 2_000_000, ending
        client.call("session.end", session=session)


def test_survivors_are_ended_by_the_next_gateway(start_server):
    """A program has exited and left something behind that ignores SIGTERM. What was to end that is not lost with the gateway: the
    grace of a kill, and the time that is given to a client to come back."""
    server = start_server()
    survivor = "(trap '' TERM; while :; do sleep 0.2; done) & exit 0"
    with server.client() as keeper, server.client() as leaver:
        session = keeper.create()
        left = leaver.shell(session, survivor + " # LEFT", on_disconnect="kill", disconnect_ms=1000, grace_ms=0)
        killed = leaver.shell(session, survivor + " # KILLED")
        kept = leaver.shell(session, survivor + " # KEPT")
        for process in (left, killed, kept):
            leaver.call("process.wait", session=session, process=process)
        leaver.request("process.kill", session=session, process=killed, grace_ms=3000)
        time.sleep(.3)
        server.process.send_signal(signal.SIGUSR2)
        assert keeper.wait_closed() == leaver.wait_closed() == 1001
    with again(server) as client:
        await_dead(client, session, "LEFT", 10 * SLOWNESS)
        await_dead(client, session, "KILLED", 10 * SLOWNESS)
        assert alive(client, session, "KEPT")
        client.call("session.end", session=session)


def test_the_end_of_a_terminals_input_counts_once(start_server):
    """EOF ended `cat`; a client that lost its gateway sends it again, since it is not acknowledged: the shell behind it goes on."""
    server = start_server()
    view = View(0)
    with server.client() as client:
        session = client.create()
        channel = client.attach(session, view)
        process = client.shell(session, "cat; echo first; cat; echo second", terminal={"cols": 80, "rows": 24})
        channel.send([STDIN, process, 0, b"hi\n"], [EOF, process, 3])
        channel.wait(lambda seen: b"first" in seen.bytes(process, TTY))
        server.process.send_signal(signal.SIGUSR2)
        client.wait_closed()
    with again(server, client_id=client.client_id) as client:
        channel = client.attach(session, view)
        assert [process, 3] in channel.answer["stdin"]
        channel.send([EOF, process, 3], [STDIN, process, 3, b"still\n"])
        channel.wait(lambda seen: seen.bytes(process, TTY).count(b"still") == 2)
        assert b"second" not in view.bytes(process, TTY)
        channel.send([EOF, process, 9])
        assert channel.wait_exit(process)["exit_code"] == 0
        client.call("session.end", session=session)


def again(server, seconds=PATIENCE, **options):
    """A client, as soon as there is a gateway that takes one."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return server.client(**options)
        except (OSError, Closed, TimeoutError):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_gateway_that_is_killed_while_it_loads_has_not_failed_of_the_session(start_server):
    """Kills from outside, again and again in the very moment in which sessions are loaded, give no session up."""
    server = start_server(user="root" if os.geteuid() == 0 else "user")
    with server.client() as client:
        session = client.create()
        process = client.shell(session, "head -c 3000000 /dev/zero; exec sleep 1000")
    loading, hits = server.state / "sessions/loading", 0
    for _ in range(8):
        os.kill(gateway(server), signal.SIGKILL)
        for _ in range(3):
            deadline = time.monotonic() + .3
            while not loading.exists() and time.monotonic() < deadline:
                pass
            dying = [pid for pid in children(server.process.pid) if name(pid) == "sandbard-gatewa"]
            hits += loading.exists()
            for pid in dying:
                os.kill(pid, signal.SIGKILL)
        with again(server) as client:
            assert client.processes(session)[process]["state"] == "running", f"after {hits} hits"
    with again(server) as client:
        client.call("session.end", session=session)


@pytest.mark.seconds(120)
def test_a_drain_goes_on_when_the_gateway_dies(start_server):
    """The server is to stop within some seconds, which its sessions may use; the gateway dies in the first of them. Another goes on
    with what is left of the time, and everything ends as it would have."""
    server = start_server("--drain", "6s", user="root" if os.geteuid() == 0 else "user")
    with server.client() as client:
        session = client.create()
        client.shell(session, "exec sleep 1000")
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    time.sleep(1)
    os.kill(gateway(server), signal.SIGKILL)
    with again(server) as client:
        assert client.run(session, "echo there")["stdout"] == b"there\n"
    server.process.wait(60)
    assert server.process.returncode == 0 and 5 < time.monotonic() - began < 30


def test_a_session_whose_time_is_up_before_it_is_taken_over(start_server):
    """The gateway dies, and a session's time runs out before the next one is there: that one serves at once, and ends it with this reason."""
    server = start_server(user="root" if os.geteuid() == 0 else "user")
    for _ in range(4):
        with again(server) as client:
            ending, staying = client.create(ttl_ms=1000), client.create()
        made = time.monotonic()
        time.sleep(.5)
        old = gateway(server)
        server.process.send_signal(signal.SIGSTOP)
        try:
            os.kill(old, signal.SIGKILL)
            time.sleep(max(0, made + 1.2 - time.monotonic()))
        finally:
            server.process.send_signal(signal.SIGCONT)
        begun = time.monotonic()
        with again(server) as client:
            ended = {}
            while ending not in ended:
                ended = {row["session"]: row["reason"] for row in client.call("session.list", ended=True)["sessions"]}
            client.call("session.end", session=staying)
        assert ended[ending] == "ttl" and time.monotonic() - begun < 4 * SLOWNESS


def test_a_stop_while_the_gateway_is_replaced_drains(start_server):
    """SIGUSR2 and SIGTERM in one moment: the next gateway goes on with the sessions, for as long as they may, and ends them then; a
    command that is done in that time ends by itself."""
    server = start_server("--drain", "60s", user="root" if os.geteuid() == 0 else "user")
    client = server.client()
    session = client.create()
    process = client.shell(session, "read line; echo \"$line\" >/work/done; exit 7", stdin=True)
    leaves = gateway(server)
    server.process.send_signal(signal.SIGUSR2)
    server.process.send_signal(signal.SIGTERM)
    client.wait_closed()
    while gateway(server) == leaves:
        time.sleep(.02)
    with again(server) as client:
        channel = client.attach(session)
        channel.send([STDIN, process, 0, b"all\n"])
        assert channel.wait_exit(process)["exit_code"] == 7
        assert client.run(session, "cat done")["stdout"] == b"all\n"
        client.call("session.end", session=session)
    server.process.wait(60)
    assert server.process.returncode == 0


def test_a_stop_does_not_wait_for_who_does_not_read(start_server):
    """A client that takes nothing has a flood before it. The server stops all the same, and the others hear why."""
    server = start_server("--ring", "512K", user="root" if os.geteuid() == 0 else "user")
    with server.client() as polite, server.client() as stalled:
        session = polite.create()
        stalled.attach(session, View(keep=False), after=0)
        stalled.pause()
        polite.start(session, "yes")
        time.sleep(1)
        server.process.send_signal(signal.SIGTERM)
        polite.wait_closed(30)
        assert polite.closed.code == 1001, polite.closed
        stalled.cut()
    server.process.wait(60)


@pytest.mark.parametrize("how", [signal.SIGUSR2, signal.SIGKILL], ids=["replaced", "killed"])
def test_who_wants_every_byte_misses_none_over_a_change(start_server, how):
    """A program writes as much as it is let. Who holds it back loses his gateway in the middle, five times, and comes back each time:
    what he has not taken is in the record, or was waited with (for three seconds, PROTOCOL says: on a machine that did not let him
    come sooner this shows nothing)."""
    server = start_server(user="root" if os.geteuid() == 0 else "user")
    total, view, away = 40_000_000, View(keep=False), []
    client = server.client(pace=2e7)
    session = client.create()
    client.attach(session, view, mode="lossless")  # before it runs: nobody would hold its beginning back
    process = client.start(session, "head", "-c", str(total), "/dev/zero")
    for turn in range(5):
        client.wait(lambda: view.length.get((process, STDOUT), 0) > (turn + 1) * total // 8)
        left = time.monotonic()
        os.kill(server.process.pid if how == signal.SIGUSR2 else gateway(server), how)
        with pytest.raises((Closed, OSError)):
            client.wait_closed()
            raise client.closed
        client = again(server, client_id=client.client_id, pace=2e7)
        client.attach(session, view, after=view.last, mode="lossless")
        away.append(time.monotonic() - left)
    client.wait(lambda: process in view.exited)
    assert view.length[process, STDOUT] == total and (not view.gaps or max(away) > 2.5), (view.gaps, away)
    client.call("session.end", session=session)
    client.close()
