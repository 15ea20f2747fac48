"""How a process ends, and that what it said before arrives. (Cases 3 to 6 and 16.)"""

import platform
import time

import pytest
from wire import PATIENCE, SLOWNESS, STDERR, STREAM_CLOSED, TTY, RemoteError, View

TERMINAL = {"cols": 80, "rows": 24}
SLACK = 4  # seconds that an instrumented server on a busy machine may be late


def alive(client, session, text):
    """How many processes of this session have TEXT in their command line."""
    script = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o \"$1\" | wc -l"
    answer = client.call("process.run", session=session, argv=["sh", "-c", script.replace("$1", f"[{text[0]}]{text[1:]}")])
    return int(answer["stdout"])


def await_dead(client, session, text, seconds=SLACK):
    deadline = time.monotonic() + seconds
    while alive(client, session, text):
        assert time.monotonic() < deadline, f"{text} is still alive"
        time.sleep(0.05)


@pytest.mark.parametrize("script, code, streams", [
    ("echo hi; sleep 30 & exit 3", 3, ["stdout", "stderr"]),
    ("echo hi; sleep 30 </dev/null >/dev/null & sleep .5; exit 3", 3, ["stderr"]),
])
def test_a_child_that_keeps_the_streams_open_delays_nothing(client, session, script, code, streams):
    """A shell leaves while its child still holds stdout: the ending comes at once, and says who is still open."""
    channel = client.attach(session)
    begun = time.monotonic()
    process = client.shell(session, script)
    ending = channel.wait_exit(process)
    assert time.monotonic() - begun < SLACK
    assert ending["exit_code"] == code and sorted(ending["streams_open"]) == sorted(streams)
    assert channel.view.bytes(process) == b"hi\n"
    client.call("process.kill", session=session, process=process)
    await_dead(client, session, "sleep 30")


def test_what_a_child_says_later_still_comes(client, session):
    """The leader is gone, its child goes on ticking: the ticks keep coming with continuing offsets, until the kill."""
    channel = client.attach(session)
    process = client.shell(session, "(while :; do echo tick; sleep .2; done) & exit 0")
    ending = channel.wait_exit(process)
    assert ending["exit_code"] == 0 and "stdout" in ending["streams_open"]
    before = channel.view.length.get((process, 1), 0)
    channel.wait(lambda view: view.length.get((process, 1), 0) >= before + 25)
    client.call("process.kill", session=session, process=process)
    closed = channel.wait(lambda view: len(view.of_kind(STREAM_CLOSED)) == len(ending["streams_open"]) and view.of_kind(STREAM_CLOSED))
    ends = {row[4]: row[5] for row in closed}
    assert ends[1] == channel.view.length[process, 1]
    assert channel.view.bytes(process) == b"tick\n" * (ends[1] // 5)


TERMINALS = 64  # that a session may have
ROWS = 1600     # for processes that are not forgotten


def test_terminals_one_after_the_other(any_server):
    """Each that is over makes room for the next, also where a session has no cgroups."""
    with any_server.client() as client:
        session = client.create()
        channel = client.attach(session)
        for _ in range(TERMINALS + 16):
            ending = channel.wait_exit(client.start(session, "true", terminal=TERMINAL))
            assert ending["exit_code"] == 0 and ending["streams_open"] == []
        client.call("session.end", session=session)


def test_commands_one_after_the_other(any_server):
    """More than a session has rows for: each that is over makes room for another, a few at a time."""
    with any_server.client() as client:
        session, open_requests = client.create(), []
        for _ in range(ROWS + 100):
            open_requests.append(client.request("process.run", session=session, argv=["true"]))
            if len(open_requests) == 16:
                assert client.answer(open_requests.pop(0))["exited"]["exit_code"] == 0
        assert all(client.answer(request)["exited"]["exit_code"] == 0 for request in open_requests)
        client.call("session.end", session=session)


def test_what_a_process_left_behind_counts_until_it_is_gone(any_server):
    """Terminals whose leaders have left, as many as there may be: a daemon of each, that holds no stream, can be reached and
    keeps its place. When the daemons are dead, they are over, and there is room."""
    with any_server.client() as client:
        session = client.create()
        channel = client.attach(session)
        script = "trap '' HUP; setsid sleep 1001 </dev/null >/dev/null 2>&1 & echo $!"
        left = [client.shell(session, script, terminal=TERMINAL) for _ in range(TERMINALS)]
        for process in left:  # a leader may be quicker than its daemon, which lets go of the terminal a moment later
            channel.wait_exit(process)
            channel.wait(lambda view, process=process: view.exited[process]["streams_open"] == [] or
                         any(row[3] == process for row in view.of_kind(STREAM_CLOSED)))
        time.sleep(1.5 * SLOWNESS)
        for process in left:
            client.call("process.signal", session=session, process=process, signal="CONT", scope="tree")
        with pytest.raises(RemoteError) as caught:
            client.start(session, "true", terminal=TERMINAL)
        assert caught.value.code == "limit"
        daemons = b" ".join(channel.view.bytes(process, TTY).strip() for process in left)
        assert client.run(session, f"kill -KILL {daemons.decode()}")["exited"]["exit_code"] == 0
        for process in left:
            await_over(client, session, process)
        assert channel.wait_exit(client.start(session, "true", terminal=TERMINAL))["exit_code"] == 0
        client.call("session.end", session=session)


def await_over(client, session, process):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            client.call("process.signal", session=session, process=process, signal="CONT", scope="tree")
        except RemoteError as error:
            assert error.code == "process_exited"
            return
        assert time.monotonic() < deadline, f"{process} is still alive"
        time.sleep(.05)


def test_on_exit_kill_tree_leaves_nobody(client, session):
    """The same shell with on_exit `kill_tree`: its child is gone a moment later."""
    channel = client.attach(session)
    process = client.shell(session, "echo hi; (setsid sleep 31 &) ; sleep 30 & exit 3", on_exit="kill_tree")
    assert channel.wait_exit(process)["exit_code"] == 3
    await_dead(client, session, "sleep 3")


def test_a_timeout_takes_the_whole_tree(client, session):
    """A clock of 2 s, children that ignore TERM and daemons that left their session: all are gone after the grace, and the
    neighbour lives on."""
    channel = client.attach(session)
    neighbour = client.start(session, "sleep", "123")
    script = "(trap '' TERM; sleep 300) & (setsid sh -c 'sh -c \"sleep 300 &\"' &) ; sleep 300"
    process = client.shell(session, script, wall_ms=2000, grace_ms=500)
    begun = time.monotonic()
    ending = channel.wait_exit(process)
    assert 1.5 <= time.monotonic() - begun < 2.7 + SLACK
    assert (ending["reason"], ending["control"]) == ("timeout", "wall")
    await_dead(client, session, "sleep 300")
    assert alive(client, session, "sleep 123") == 1 and neighbour not in channel.view.exited


ENDED_EARLY = {
    "timeout": {"wall_ms": 1000}, "idle": {"idle_ms": 1000}, "output_limit": {"output_bytes": 10}, "killed": {}, "cancelled": {},
}


@pytest.mark.parametrize("reason", ENDED_EARLY)
def test_output_before_an_early_end_is_delivered(client, session, reason):
    """A command prints `partial` and `err` and is then ended, in each of the ways there are: both words arrive."""
    channel = client.attach(session)
    script = "printf partial; printf err >&2; sleep 0.3; [ $1 != output_limit ] || printf 12345; sleep 60"
    request = client.request("process.run", session=session, argv=["sh", "-c", script, "sh", reason], grace_ms=200, **ENDED_EARLY[reason])
    view = channel.wait(lambda view: view.bytes(1) + view.bytes(1, STDERR) in (b"partialerr", b"partial12345err") and view)
    if reason == "killed":
        client.call("process.kill", session=session, process=1)
    elif reason == "cancelled":
        client.send(0, [3, request])
        with pytest.raises(RemoteError) as caught:
            client.answer(request)
        assert caught.value.code == "cancelled"
    else:
        answer = client.answer(request)
        assert answer["stdout"].startswith(b"partial") and answer["stderr"] == b"err"
        assert answer["exited"]["reason"] == reason
    ending = channel.wait_exit(1)
    assert ending["reason"] == reason and view.bytes(1).startswith(b"partial") and view.bytes(1, STDERR) == b"err"


HOG = "x = b'x' * (1 << 30)"
CASES = {
    "kill -9": (["sh", "-c", "kill -9 $$"], {}, (137, "SIGKILL", "signal", None)),
    "segv": (["sh", "-c", "kill -SEGV $$"], {}, (139, "SIGSEGV", "signal", None)),
    "137": (["sh", "-c", "exit 137"], {}, (137, None, "exited", None)),
    "oom": (["python3", "-c", HOG], {}, (137, "SIGKILL", "oom", "memory.max")),
    "cpu": (["sh", "-c", "while :; do :; done"], {"cpu_ms": 500, "grace_ms": 200}, (None, None, "cpu", "cpu")),
    "not found": (["no-such-program"], {}, (127, None, "exited", None)),
    "not executable": (["/etc/passwd"], {}, (126, None, "exited", None)),
    "a directory": (["/usr"], {}, (126, None, "exited", None)),
}


if platform.machine() == "x86_64":  # a call with an x32 number, which the filter kills for (containment 5)
    X32 = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39); print('alive')"
    CASES["policy"] = (["python3", "-c", X32], {}, (159, "SIGSYS", "policy", "seccomp"))


@pytest.mark.parametrize("name", CASES)
def test_endings_tell_their_cause(any_server, name):
    """Many ways to end, as many different answers; never 0, never -1."""
    argv, options, (code, signal, reason, control) = CASES[name]
    with any_server.client() as client:
        try:
            session = client.create(limits={"memory": 128 << 20}, require=["cgroup-memory"] if name == "oom" else [])
            channel = client.attach(session)
            process = client.start(session, *argv, **options)
        except RemoteError as error:
            assert error.code == "unsupported" and any_server.user == "user" and name in ("oom", "cpu"), error
            pytest.skip("this host gives no cgroup to a user without rights")
        ending = channel.wait_exit(process)
        assert (ending["reason"], ending["control"]) == (reason, control)
        if code is not None:
            assert (ending["exit_code"], ending["signal"]) == (code, signal)
        assert ending["exit_code"] > 0
        assert (ending["message"] is not None) == (name in ("not found", "not executable", "a directory"))
        if name == "oom":
            assert client.run(session, "echo alive")["stdout"] == b"alive\n"
        client.call("session.end", session=session)


def test_a_signal_that_was_asked_for_is_a_kill(client, session):
    """A client sends TERM: 143, SIGTERM, and `killed`, which tells it from a signal that came from elsewhere."""
    channel = client.attach(session)
    process = client.start(session, "sleep", "100")
    assert client.call("process.signal", session=session, process=process, signal="TERM") == {}
    ending = channel.wait_exit(process)
    assert (ending["exit_code"], ending["signal"], ending["reason"]) == (143, "SIGTERM", "killed")


def test_a_signal_to_the_leader_and_to_the_tree(client, session):
    """INT goes to the shell alone, or to all that it started."""
    channel = client.attach(session)
    script = "trap 'echo shell' USR1; sh -c 'trap \"echo child\" USR1; echo up; while :; do sleep .1; done' & while :; do sleep .1; done"
    process = client.shell(session, script)
    channel.wait(lambda view: view.bytes(process) == b"up\n")
    client.call("process.signal", session=session, process=process, signal="SIGUSR1")
    channel.wait(lambda view: view.bytes(process) == b"up\nshell\n")
    client.call("process.signal", session=session, process=process, signal="USR1", scope="tree")
    channel.wait(lambda view: sorted(view.bytes(process).split()) == [b"child", b"shell", b"shell", b"up"])


@pytest.mark.seconds(150)
def test_silence_ends_nothing(server, client, session):
    """A command is silent for 65 s, twice as long as a connection may be dead: pings flow, and then it says `done`. The same
    with an idle clock is ended by that clock. (65 s instead of 130: it is the ping's time-out of 30 s that must be passed.)"""
    with server.client() as other:
        channel, watched = client.attach(session), other.attach(session)
        process = client.shell(session, "sleep 65; echo done")
        idle = client.shell(session, "sleep 100", idle_ms=2000, grace_ms=100)
        ending = channel.wait_exit(idle)
        assert (ending["reason"], ending["control"]) == ("idle", "idle")
        assert watched.wait_exit(process, 100)["exit_code"] == 0
        assert watched.view.bytes(process) == b"done\n"
        assert other.socket.pings >= 3


def test_a_command_that_speaks_is_not_idle(client, session):
    """The idle clock runs anew with each output."""
    channel = client.attach(session)
    process = client.shell(session, "for i in 1 2 3 4 5 6; do echo $i; sleep .5; done", idle_ms=2000)
    assert channel.wait_exit(process)["reason"] == "exited"


@pytest.mark.parametrize("params", [
    {"argv": [b"\xff"]},
    {"argv": ["x" + "\u00e9" * 101]},
    {"argv": ["true"], "cwd": "/" + "\u00e9" * 300},
    {"argv": [b"/work/\xff"], "script": "#!/none/\xff"},
], ids=["bytes", "long", "directory", "interpreter"])
def test_what_cannot_be_started_is_told_in_text(server, params):
    """Names that are no UTF-8, or are cut in the middle of a character, in the message of an ending: whoever watches, whoever
    comes later and whoever lists can read it."""
    with server.client() as client, server.client() as watcher:
        session = client.create()
        view = View()
        watcher.attach(session, view)
        script = params.pop("script", None)
        if script:
            client.call("process.run", session=session, argv=["sh", "-c", "cat >/work/$(printf '\\377'); chmod +x /work/*"],
                        input=script.encode("latin-1") + b"\n")
        process = client.call("process.start", session=session, **params)["process"]
        ending = client.call("process.wait", session=session, process=process)
        assert ending["exit_code"] in (126, 127) and ending["message"], ending
        watcher.wait(lambda: process in view.exited)
        late = View()
        with server.client() as other:
            other.attach(session, late, after=0)
            other.wait(lambda: process in late.exited)
        assert late.exited[process] == view.exited[process] == client.processes(session)[process]["exited"]
        client.call("session.end", session=session)


def test_what_is_no_program_is_not_read_as_a_script(client, session):
    """A truncated ELF file and one of a foreign machine are 126, with a message; a script without a first line still runs in sh."""
    make = ("head -c 40 /bin/true >/work/cut; printf '\\177ELF\\001\\002\\001\\000%0100d' 0 >/work/foreign; echo 'echo script; exit 5' >/work/script;"
            "printf 'a\\000b' >/work/data; : >/work/empty; chmod +x /work/*")
    assert client.run(session, make)["exited"]["exit_code"] == 0
    for name in "cut", "foreign", "data":
        answer = client.call("process.run", session=session, argv=[f"/work/{name}"])
        assert answer["exited"]["exit_code"] == 126 and "not a program" in answer["exited"]["message"], (name, answer)
        assert answer["stderr"] == answer["stdout"] == b""
    answer = client.call("process.run", session=session, argv=["/work/script"])
    assert (answer["exited"]["exit_code"], answer["stdout"]) == (5, b"script\n")
    assert client.call("process.run", session=session, argv=["/work/empty"])["exited"]["exit_code"] == 0
