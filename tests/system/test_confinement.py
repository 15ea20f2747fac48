"""What a command finds around it, and where its limits are. (Case 19, and the limits of a session.)"""

import os
import sys
import time

import pytest
from test_gateway import gateway
from wire import DENIED, RemoteError

CANARY = "canary-123"


# What starts the server, with an open log and a socket that listens; its arguments are the server's.
INHERITED = """
import os, socket, sys
log, listener = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR), socket.create_server(("127.0.0.1", 0))
for number, inherited in ((10, log), (11, listener.fileno())):
    os.dup2(inherited, number)
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(scope="module", params=["root", "user"])
def secretive(request, start_server):
    """A server in whose environment a secret stands, and that inherited an open file and a listening socket."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    return start_server(user=request.param, environment={"SECRET_TOKEN": CANARY}, before=[sys.executable, "-c", INHERITED])


@pytest.fixture
def inside(secretive):
    with secretive.client() as client:
        session = client.create()
        yield lambda script, **params: client.run(session, script, **params)
        client.call("session.end", session=session)


def test_the_environment_is_short_and_known(inside):
    """`env` shows exactly what the docs list, and TERM only in a terminal."""
    plain = inside("env")["stdout"].decode()
    names = {line.split("=")[0] for line in plain.splitlines()} - {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names <= {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ"} and {"PATH", "HOME", "USER", "LOGNAME", "LANG"} <= names
    terminal = inside("env", terminal={"cols": 80, "rows": 24})["tty"].decode()
    assert "TERM=" in terminal and "TERM=" not in plain


def test_the_servers_secrets_are_nowhere(inside):
    """The canary is in no environment, command line, memory or file that a command can read."""
    script = """
cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -a canary-12[3]
grep -a canary-12[3] /proc/1/mem /proc/self/mountinfo /etc/* 2>/dev/null
ls /proc/1/fd /proc/1/root 2>/dev/null
true
"""
    assert inside(script)["stdout"] == b""


def test_only_three_descriptors(inside):
    """A command has 0, 1 and 2, and the one with which `ls` reads the folder."""
    assert inside("exec ls /proc/self/fd")["stdout"].split() in ([b"0", b"1", b"2", b"3"],)


def test_streams_can_be_opened_by_name(inside):
    """`> /dev/stdout` and `> /dev/stderr` work, with pipes and in a terminal."""
    answer = inside("echo out >/dev/stdout; echo err >/dev/stderr; cat </dev/stdin", input=b"in")
    assert (answer["stdout"], answer["stderr"]) == (b"out\nin", b"err\n")
    assert b"out" in inside("echo out >/dev/stdout", terminal={"cols": 80, "rows": 24})["tty"]


def test_init_is_not_seen_but_sees_all(secretive):
    """As root and as a user: pid 1 is invisible; a process that hides itself is killed with its tree all the same."""
    hiding = ("import ctypes, os, time\n"
              "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"  # PR_SET_DUMPABLE
              "if os.fork() == 0:\n os.setsid()\n if os.fork(): os._exit(0)\n open('/work/there', 'w').close()\n"
              " while True: os.utime('/work/there'); time.sleep(0.01)\n"
              "time.sleep(4321)")
    with secretive.client() as client:
        session = client.create()
        seen = client.run(session, "ls -d /proc/1; cat /proc/1/status /proc/1/sched 2>/dev/null; ls /proc | grep -x 1; true")
        assert seen["stdout"] == b""
        process = client.start(session, "python3", "-c", hiding)
        client.run(session, "until [ -e /work/there ]; do sleep 0.01; done")
        client.call("process.kill", session=session, process=process)
        times = client.run(session, "stat -c %y /work/there; sleep 0.2; stat -c %y /work/there")["stdout"].split(b"\n")
        assert times[0] == times[1]
        client.call("session.end", session=session)


def test_what_is_refused_is_told(secretive):
    """Each refused call is an event before EXITED, with its name; a flood of them is counted, and slows nobody else."""
    twice = "import os\ntry: os.chroot('/')\nexcept PermissionError: os.system('unshare -U true')"
    flood = "import ctypes\nc = ctypes.CDLL(None)\nfor _ in range(2000): c.unshare(0x10000000)"
    with secretive.client() as client:
        session = client.create()
        channel = client.attach(session)
        process = client.start(session, "python3", "-c", twice)
        channel.wait_exit(process)
        told = [(frame[3], frame[4], frame[6]) for frame in channel.view.of_kind(DENIED)]
        assert told == [(process, "chroot", 1), (process, "unshare", 2)]
        flooding = client.start(session, "python3", "-c", flood)
        assert client.run(session, "echo fine")["stdout"] == b"fine\n"
        channel.wait_exit(flooding)
        counts = [frame[6] for frame in channel.view.of_kind(DENIED) if frame[3] == flooding]
        assert counts == sorted(counts) and counts[-1] == 2000 and len(counts) <= 106
        client.call("session.end", session=session)


PROFILES = {
    "default": {"fork": True, "internet": True, "thread": True, "unix": True, "fixed": False},
    "compute": {"fork": False, "internet": False, "thread": True, "unix": True, "fixed": False},
    "build": {"fork": True, "internet": False, "thread": True, "unix": True, "fixed": True},
}
TRY_PROFILE = """
import ctypes, os, socket, threading
def works(call):
    try: return call() != -1
    except OSError: return False
def fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    return os.waitpid(pid, 0)[1]
def thread():
    thread = threading.Thread(target=int)
    thread.start()
    return thread.join()
print({"fork": works(fork), "internet": works(lambda: socket.socket()), "thread": works(thread),
       "unix": works(lambda: socket.socketpair()), "fixed": works(lambda: ctypes.CDLL(None).personality(0x40000))})
"""


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_decides_which_calls_work(secretive, profile):
    """The same program in each profile, in a session that stood ready and in one that did not."""
    with secretive.client() as client:
        for limits in ({}, {"open_files": 100}):
            session = client.create(profile=profile, limits=limits)
            answer = client.call("process.run", session=session, argv=["python3", "-c", TRY_PROFILE])
            assert answer["stdout"].decode().strip() == str(PROFILES[profile]), answer["stderr"]
            client.call("session.end", session=session)


def test_no_path_of_the_host(secretive, inside):
    """mountinfo tells nothing of the server's folders; the host's homes and the state are not there."""
    mounts = inside("cat /proc/self/mountinfo")["stdout"].decode()
    assert str(secretive.state) not in mounts and "sandbar-" not in mounts
    assert inside(f"ls -d {secretive.state} /root/.ssh /sys/kernel /home/* 2>/dev/null; true")["stdout"] == b""
    assert inside("touch /usr/x /etc/x /x 2>/dev/null; ls /usr/x /etc/x /x 2>/dev/null; true")["stdout"] == b""


def test_one_session_sees_nothing_of_another(secretive):
    """Two sessions side by side: neither files nor processes nor shared memory of the other."""
    with secretive.client() as client:
        one, two = client.create(), client.create()
        client.run(one, "echo secret > /work/f; echo secret > /tmp/f; echo secret > /dev/shm/f")
        client.start(one, "sleep", "4321")
        seen = client.run(two, "ls -A /work /tmp /dev/shm; cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[4]321'")["stdout"]
        assert b"f\n" not in seen and seen.strip().endswith(b"0")
        names = [client.run(session, "hostname")["stdout"] for session in (one, two)]
        assert names[0] != names[1]
        for session in (one, two):
            client.call("session.end", session=session)


def test_no_rights_and_no_network(inside):
    """No capability, no new privileges, a filter is on, and only a loopback device."""
    status = inside("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status")["stdout"].decode()
    values = dict(line.split(":\t") for line in status.strip().splitlines())
    assert all(int(values[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"))
    assert values["NoNewPrivs"] == "1" and values["Seccomp"] == "2"
    devices = [line.split(":")[0].strip() for line in inside("cat /proc/net/dev")["stdout"].decode().splitlines()[2:]]
    assert devices == ["lo"]


def limited(client, layer=None, **limits):
    try:
        return client.create(limits=limits, require=[layer] if layer else [])
    except RemoteError as error:
        assert error.code == "unsupported"
        pytest.skip(f"this host does not give the layer {layer}")


def test_a_full_workspace_is_enospc(client):
    """64 MiB: dd is told that the disk is full, is not killed, and the session goes on."""
    session = limited(client, workspace=64 << 20)
    for place in ("/work", "/tmp"):
        answer = client.run(session, f"dd if=/dev/zero of={place}/f bs=1M count=1000 2>&1; echo $?; ls -l {place}/f; rm {place}/f")
        assert b"No space left on device" in answer["stdout"] and b"\n1\n" in answer["stdout"]
    assert client.run(session, "echo on > /work/f; cat /work/f")["stdout"] == b"on\n"
    client.call("session.end", session=session)


def test_too_many_files_are_enospc(client):
    """A thousand inodes: the next file is refused with ENOSPC."""
    session = limited(client, inodes=1000)
    script = """
import errno
try:
    for n in range(100000): open(f"/work/{n}", "w").close()
except OSError as e:
    print(errno.errorcode[e.errno], n <= 1000)
"""
    answer = client.call("process.run", session=session, argv=["python3", "-c", script])
    assert answer["stdout"] == b"ENOSPC True\n"
    client.call("session.end", session=session)


def test_too_many_processes_are_eagain(client):
    """A fork bomb hits the limit; afterwards the session still runs commands, and its neighbour never noticed."""
    session, neighbour = limited(client, "cgroup-pids", processes=32), client.create()
    process = client.shell(session, "b() { b | b & }; b; sleep 60")
    for _ in range(5):
        assert client.run(neighbour, "echo fine")["stdout"] == b"fine\n"
    client.call("process.kill", session=session, process=process)
    assert client.run(session, "echo alive")["stdout"] == b"alive\n"
    for place in (session, neighbour):
        client.call("session.end", session=place)


def test_memory_ends_its_process_only(client):
    """One process eats all the memory of its session: it ends as `oom`; the session and its neighbour live on."""
    session = limited(client, "cgroup-memory", memory=96 << 20)
    channel = client.attach(session)
    hog = client.start(session, "sh", "-c", "head -c 800000000 /dev/zero | tail -c 700000000 >/dev/null")
    ending = channel.wait_exit(hog)
    assert (ending["reason"], ending["control"]) == ("oom", "memory.max")
    assert client.run(session, "echo alive")["stdout"] == b"alive\n"
    client.call("session.end", session=session)


def test_open_files_and_file_size(client):
    """RLIMIT_NOFILE and RLIMIT_FSIZE are what the session was given."""
    session = limited(client, open_files=40, file_size=1 << 20)
    assert client.run(session, "ulimit -n; ulimit -f")["stdout"].split() == [b"40", b"2048"]
    client.call("session.end", session=session)


def test_a_forbidden_call_is_an_error_of_the_program(inside):
    """mount, unshare and ptrace of init fail inside; nothing of it ends the session."""
    assert b"fine" in inside("mount -t tmpfs x /tmp 2>/dev/null || unshare -r true 2>/dev/null || echo fine")["stdout"]


def nice(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[16])


def test_the_gateway_goes_before_the_sandboxes(any_server):
    """As root the gateway has a better priority than what runs in a session; as a user it has the same, and no worse."""
    is_root = os.stat(any_server.state).st_uid == 0
    with any_server.client() as client:
        session = client.create()
        assert client.run(session, "ps -o ni= -p $$ || cut -d' ' -f19 /proc/self/stat")["stdout"].strip() == b"0"
        client.call("session.end", session=session)
    assert nice(gateway(any_server)) == (-5 if is_root else 0)


CLOCKS = """
import threading, time
started = time.clock_gettime(time.CLOCK_BOOTTIME), time.clock_gettime(time.CLOCK_MONOTONIC)
time.sleep(.1)
assert .1 <= time.clock_gettime(time.CLOCK_BOOTTIME) - started[0] < 60
threading.Event().wait(.1)
print(*started, open('/proc/uptime').read().split()[0])
"""


def test_clocks_since_boot_are_its_own_where_it_asks(any_server):
    """`require: ["time"]`: a program cannot tell how long the host has been up; without it can, and info says which it is."""
    with any_server.client() as client:
        here = time.clock_gettime(time.CLOCK_BOOTTIME)
        if here < 100:
            pytest.skip("this host was started just now")
        for require, own in ((["time"], True), ([], False)):
            try:
                session = client.create(require=require)
            except RemoteError as error:
                assert error.code == "unsupported" and "time" in str(error)
                pytest.skip("this kernel has no time namespaces")
            layers = {row["name"]: row["on"] for row in client.call("session.info", session=session)["layers"]}
            assert layers["time"] is own
            process = client.call("process.run", session=session, argv=["python3", "-c", CLOCKS])
            assert process["exited"]["exit_code"] == 0, process["stderr"].decode()
            for told in process["stdout"].split():
                assert (float(told) < here / 2) == own, process["stdout"]
            client.call("session.end", session=session)
