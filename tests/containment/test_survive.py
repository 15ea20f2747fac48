"""What a program tries in order to outlive its session, to confuse process 1, or to come in by what was left open. (Cases 9 to 11
and 18 of what is known to have been tried elsewhere.)"""

import hashlib
import os
import signal
import subprocess
import time

import leftovers
import pytest
from attacked import Attacked
from system_conftest import as_user
from wire import SLOWNESS, RemoteError

LATE = 5 * SLOWNESS  # seconds

PTRACE = "import ctypes, os, signal, sys, time\nlibc = ctypes.CDLL(None, use_errno=True)\n"
# Who asks to be traced is traced by its parent, which never asked for that: process 1, where the parent has gone.
STOPPED = PTRACE + "libc.ptrace(0, 0, 0, 0)\nprint('traced', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(60)\n"
STOPPED_ORPHAN = PTRACE + """
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent: time.sleep(0.01)
    libc.ptrace(0, 0, 0, 0)
    print('traced', flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)
"""
STOPPED_AT_EXEC = PTRACE + "libc.ptrace(0, 0, 0, 0)\nprint('traced', flush=True)\nos.execv('/bin/sleep', ['sleep', '60'])\n"

# Each leaves a process behind that does not want to end.
CLINGING = {
    "daemon": "(setsid sh -c 'trap \"\" TERM HUP INT QUIT; exec 0<&- 1>&- 2>&-; sleep 4242 & wait; sleep 4242' &) &",
    "twice": "python3 -c 'import os,time\nfor i in range(2):\n  if os.fork(): os._exit(0)\n  os.setsid()\nos.closerange(0, 100)\ntime.sleep(4242)'",
    "subreaper": "python3 -c 'import ctypes,os,time\nctypes.CDLL(None).prctl(36, 1)\nif os.fork() == 0:\n  os.setsid()\n  os.closerange(0, 100)\n  time.sleep(4242)'",
    "stopped": "(setsid sh -c 'exec 0<&- 1>&- 2>&-; kill -STOP $$' &) &",
    "no death signal": "python3 -c 'import ctypes,os,time\nctypes.CDLL(None).prctl(1, 0)\nif os.fork() == 0:\n  os.setsid(); os.closerange(0, 100); time.sleep(4242)'",
    "in a loop": "(setsid sh -c 'exec 0<&- 1>&- 2>&-; while :; do (sleep 0.01 &) ; done' &) &",
}


@pytest.fixture(scope="module", params=["root", "user"])
def any_server(request, start_server):
    """One that keeps no sandboxes ready: what it has can be counted."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    return start_server("--warm", "0", user=request.param)


@pytest.fixture
def session(any_server):
    with any_server.client() as client:
        made = client.create()
        yield client, made
        client.call("session.end", session=made)


def inner(server):
    return leftovers.descendants(server.process.pid)


@pytest.mark.parametrize("script", [STOPPED, STOPPED_ORPHAN, STOPPED_AT_EXEC], ids=["leader", "orphan", "at exec"])
def test_a_child_that_wants_to_be_traced_confuses_nobody(session, script):
    """Its stops are told to whoever would reap it: they are no endings, and hold nothing up."""
    client, made = session
    channel = client.attach(made)
    process = client.start(made, "python3", "-c", script)
    channel.wait(lambda view: b"traced" in view.bytes(process))
    time.sleep(0.2)
    assert client.run(made, "echo alive")["stdout"] == b"alive\n"
    is_leader = script != STOPPED_ORPHAN
    assert (process in channel.view.exited) != is_leader or channel.view.exited[process]["exit_code"] == 0
    began = time.monotonic()
    client.call("process.kill", session=made, process=process)
    assert time.monotonic() - began < LATE
    if is_leader:
        assert channel.wait_exit(process)["reason"] == "killed"


def test_killing_everything_kills_oneself_alone(session):
    """kill(-1, SIGKILL) again and again: process 1 lives, and the next command starts. (Without cgroups a process's own parent inside
    is of the same user and dies with it; then it is told as lost.)"""
    client, made = session
    channel = client.attach(made)
    process = client.start(made, "python3", "-c", "import os\nfor n in range(2000):\n try: os.kill(-1, 9)\n except OSError: pass\nprint('done')")
    channel.wait_exit(process)
    client.run(made, "kill -STOP 1; kill -9 1; kill -9 -1")
    assert client.run(made, "echo alive")["stdout"] == b"alive\n"


@pytest.mark.parametrize("name", CLINGING)
def test_nothing_outlives_the_kill_of_its_tree(any_server, session, name):
    """Whatever it did to be nobody's child, it belongs to its process, and goes with it."""
    client, made = session
    before = inner(any_server)
    process = client.shell(made, CLINGING[name] + "\nsleep 0.3; echo left; exec sleep 300")
    channel = client.attach(made)
    channel.wait(lambda view: b"left" in view.bytes(process))
    began = time.monotonic()
    client.call("process.kill", session=made, process=process)
    assert time.monotonic() - began < LATE
    deadline = time.monotonic() + LATE
    while (left := [pid for pid in inner(any_server) - before if is_users(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left, [open(f"/proc/{pid}/cmdline").read() for pid in left if os.path.exists(f"/proc/{pid}")]


def is_users(pid):
    """Not one of the processes that init keeps in readiness for the next command."""
    return name_of(pid) not in ("", "init", "sandbar-init")


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def test_nothing_outlives_the_session(any_server):
    """All of them at once, in a session that is ended: after it the server has the processes that it had before."""
    with any_server.client() as client:
        before = inner(any_server)
        made = client.create()
        client.run(made, "\n".join(CLINGING.values()) + "\nsleep 0.3")
        began = time.monotonic()
        client.call("session.end", session=made)
        assert time.monotonic() - began < LATE
        deadline = time.monotonic() + LATE
        while (left := inner(any_server) - before) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not left


def test_nothing_outlives_its_init(any_server):
    """Case 18: process 1 of a sandbox is killed outright while they cling: the session ends as lost, and so do its processes; nothing of
    it is there; another session goes on, and a new one is made."""
    with any_server.client() as client:
        neighbour = client.create()
        client.run(neighbour, "sleep 0.5")  # what stands ready for its next command does, and who records is there
        before = inner(any_server)
        made = client.create()
        channel = client.attach(made)
        client.run(made, "\n".join(CLINGING.values()) + "\nsleep 0.3")
        process = client.start(made, "sleep", "4242")
        mine = {pid: leftovers.started_at(pid) for pid in inner(any_server) - before}
        assert len([pid for pid in mine if is_users(pid)]) >= 6
        first = next(pid for pid in mine if pid_inside(pid) == 1)
        began = time.monotonic()
        os.kill(first, signal.SIGKILL)
        client.wait(lambda: channel.closed == "session_ended")
        assert channel.view.frames[-1][0] == 13 and channel.view.frames[-1][3] == "lost"  # ENDED
        assert channel.view.exited[process]["reason"] == "lost" and channel.view.exited[process]["exit_code"] is None
        deadline = began + LATE
        while (left := [pid for pid, start in mine.items() if start and leftovers.started_at(pid) == start]) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not left, [name_of(pid) for pid in left]
        while (kept := [path for path in leftovers.cgroups() if made in path]) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not kept
        ended = {row["session"]: row["reason"] for row in client.call("session.list", ended=True)["sessions"]}
        assert ended[made] == "lost"
        again = client.create()
        for session in neighbour, again:
            assert client.run(session, "echo alive")["stdout"] == b"alive\n"
            client.call("session.end", session=session)


def pid_inside(pid):
    """Its number in the innermost namespace."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return int(file.read().split("NSpid:")[1].split("\n")[0].split()[-1])
    except (OSError, IndexError):
        return 0


def test_nothing_outlives_the_keeper(start_server, any_server):
    """The keeper is killed outright while they cling: within a moment none of them is there, and the next start sweeps."""
    server = start_server("--warm", "0", user=any_server.user)
    server.expected = -signal.SIGKILL
    with server.client() as client:
        client.run(client.create(), "\n".join(CLINGING.values()) + "\nsleep 0.3")
        traces = leftovers.of_server(server.process.pid, server.state)
        clinging = {pid: start for pid, start in traces.pids.items() if is_users(pid) and not name_of(pid).startswith("sandbar")}
        server.process.kill()
        server.process.wait()
        deadline = time.monotonic() + LATE
        while any(leftovers.started_at(pid) == start for pid, start in clinging.items()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(clinging) >= 5 and not [pid for pid, start in clinging.items() if leftovers.started_at(pid) == start]
        client.socket.shut()
    while any(fault.startswith("process ") for fault in traces.left()) and time.monotonic() < deadline + 3 * LATE:
        time.sleep(0.1)
    start_again(server)
    assert traces.faults() == []


def start_again(server):
    """In the same state directory, as whoever looks after it would; and stop it."""
    argv = [str(server.programs / "sandbard"), "--listen", "127.0.0.1:0", "--state", str(server.state)]
    again = subprocess.Popen(as_user(argv, server.user), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=server.environment())
    try:
        while b"listening on" not in (line := again.stdout.readline()) and line:
            pass
    finally:
        again.terminate()
        again.communicate(timeout=30)
    assert again.returncode == 0


@pytest.mark.parametrize("cwd", ["/proc/self/fd/7", "/proc/self/fd/10", "/proc/1/root", "/proc/1/cwd", "../../..", "", "/work/../../../../proc/1/root",
                                 "/work/up", "/" + "a/" * 4000], ids=lambda cwd: cwd[:40].replace("/", "-") or "empty")
def test_a_directory_leads_nowhere_else(session, cwd):
    """A start in a directory that is a way out is refused, or stands within the root."""
    client, made = session
    client.run(made, "ln -s / /work/up")
    try:
        answer = client.call("process.run", session=made, argv=["sh", "-c", "pwd -P; ls -d /proc/self/cwd/etc/shadow"], cwd=cwd)
    except RemoteError as error:
        assert error.code in ("invalid_params", "too_large")
        return
    assert answer["exited"]["exit_code"] in (126, 127) or answer["stdout"].decode() == "/\n"
    assert b"shadow" not in answer["stdout"]


def test_what_the_server_had_open_is_not_inside(start_server, any_server, programs):
    """The server is started with descriptors of the host's root and of a secret: no command has them."""
    server = start_server(user=any_server.user, before=["bash", "-c", 'exec 10</ 251</etc/passwd 9</proc; exec "$@"', "x"])
    with server.client() as client:
        victim = Attacked(client, programs / "sandbar-probe")
        ending, told, _ = victim.run("run", "descriptors")
        assert ending["exit_code"] == 0, told
        victim.end()


def test_the_programs_of_the_server_are_as_before(any_server, session, programs):
    """A script whose interpreter is the program that runs it, and writes to process 1's program: nothing is changed."""
    client, made = session
    before = digests(programs)
    client.run(made, "printf '#!/proc/self/exe\\n' > /work/s; chmod +x /work/s; echo x | tee /proc/1/exe /proc/self/exe 2>/dev/null")
    answer = client.call("process.run", session=made, argv=["/work/s"])
    assert answer["exited"]["exit_code"] in (1, 2, 40, 126, 127)
    assert digests(programs) == before


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_nobody_types_into_a_shared_terminal(session):
    """Two viewers at a shell; a program in it asks the kernel to type for it: refused, and the shell reads nothing."""
    client, made = session
    channel, other = client.attach(made), client.attach(made)
    typing = "import fcntl, termios, struct\nfor request in (termios.TIOCSTI, 0x541c):\n for byte in b'exit 7\\n':\n" \
        "  try: fcntl.ioctl(0, request, bytes([byte]))\n  except OSError as e: print(e.strerror)\nprint('typ' + 'ed')\n"
    client.call("process.run", session=made, argv=["sh", "-c", "cat > /work/t.py"], input=typing.encode())
    process = client.start(made, "sh", "-c", "python3 /work/t.py; read -t 1 line; echo \"read: $line.\"; exit 5", terminal={"cols": 80, "rows": 24})
    assert channel.wait_exit(process)["exit_code"] == 5
    told = channel.view.bytes(process, 3)
    assert told.count(b"Operation not permitted") == 14 and b"read: ." in told and other.wait(lambda view: b"typed" in view.bytes(process, 3))


def test_the_server_holds_no_more_descriptors_than_before(any_server, programs):
    """After sessions that were attacked, keeper and gateway have what they had."""
    def count():
        return {pid: len(os.listdir(f"/proc/{pid}/fd")) for pid in inner(any_server)}

    with any_server.client() as client:
        attack_once(client, programs)
        before = count()
        for _ in range(3):
            attack_once(client, programs)
        deadline = time.monotonic() + LATE
        while more(count(), before) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not more(count(), before), (before, count())


def more(now, before):
    return [pid for pid, number in now.items() if number > before.get(pid, 0)]


def attack_once(client, programs):
    victim = Attacked(client, programs / "sandbar-probe")
    victim.run("run", "init")
    victim.channel.detach()
    victim.end()
