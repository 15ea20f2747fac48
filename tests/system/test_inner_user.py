"""Who a session's processes are, inside: a user without rights, or, where the operator's template says so, root in name: the id 0,
to which everything belongs that a user's own would, and no right whatever."""

import os
import signal
import time

import leftovers
import pytest
from test_gateway import again, gateway, parent, status_of
from test_warm import await_warm
from wire import PATIENCE, STDIN, TTY, RemoteError

CONFIG = """
warm = 0
[template named]
user = root
[template ready]
user = root
warm = 1
[template plain]
user = user
"""
RANGES = 0x70010000  # from here on root's sandboxes have their ids
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
LOOK = "id -u; id -g; id -un; echo $HOME $USER $LOGNAME ~root; pwd; : >f; stat -c %u:%g f . /tmp /run /dev/shm | uniq"
LOOKED = "0\n0\nroot\n/work root root /work\n/work\n0:0\n"


@pytest.fixture(scope="module", params=["root", "user"])
def server(request, start_server, config):
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    return start_server("--config", config, user=request.param)


@pytest.fixture(scope="module")
def config(programs):
    """Where every user can read it."""
    file = programs / "inner_user.conf"
    file.write_text(CONFIG)
    file.chmod(0o644)
    return str(file)


@pytest.fixture
def named(server):
    with server.client() as client:
        session = client.create(template="named")
        yield client, session
        client.call("session.end", session=session)


def test_only_the_template_says_so(server):
    """Nobody is root who was not made so; and no client can ask for it."""
    with server.client() as client:
        rows = {row["name"]: row["user"] for row in client.call("template.list")["templates"]}
        assert rows == {"default": "user", "named": "root", "ready": "root", "plain": "user"}
        for template, user, told in (("default", "user", b"1000\nuser\n"), ("plain", "user", b"1000\nuser\n"), ("named", "root", b"0\nroot\n")):
            session = client.create(template=template)
            assert client.call("session.info", session=session)["user"] == user
            assert client.run(session, "id -u; echo $USER")["stdout"] == told
            client.call("session.end", session=session)
        with pytest.raises(RemoteError) as refused:
            client.call("session.create", user="root")
        assert refused.value.code == "invalid_params"


def test_one_that_stood_ready_is_no_other(server):
    """What stands ready for one template is taken by no session of another, even where all else is alike."""
    await_warm(server, 1)
    with server.client() as client:
        for template, told in (("default", b"1000\n"), ("plain", b"1000\n"), ("ready", b"0\n"), ("named", b"0\n")):
            session = client.create(template=template)
            assert client.run(session, "id -u")["stdout"] == told
            client.call("session.end", session=session)


def test_everything_is_its_own(named):
    """With pipes, in a terminal, in a shell: the id and its name, home and files, the terminal, which it can write to."""
    client, session = named
    answer = client.run(session, LOOK)
    assert (answer["stdout"].decode(), answer["stderr"]) == (LOOKED, b"")
    channel = client.attach(session)
    process = client.start(session, "bash", "-c", "stat -c %u $(tty); : >$(tty) && chmod 600 $(tty) && id -u; python3 -c \"import pty; pty.spawn(['id', '-u'])\"",
                           terminal={"cols": 80, "rows": 24})
    assert channel.wait_exit(process)["exit_code"] == 0
    assert channel.view.bytes(process, TTY) == b"0\r\n0\r\n0\r\n"
    shell = client.call("shell.start", session=session)["process"]
    told = client.call("shell.run", session=session, process=shell, command="id -u; echo $USER; echo into >/work/f; cat /work/f")
    assert told["stdout"] == b"0\nroot\ninto\n"


def test_it_has_no_right(named):
    """Every set is empty, and what a root would do is refused."""
    client, session = named
    told = client.run(session, "cat /proc/self/status")["stdout"].decode()
    status = dict(line.split(":\t", 1) for line in told.splitlines() if ":\t" in line)
    assert all(int(status[name], 16) == 0 for name in CAPABILITIES) and (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    for attempt in ("chown 1000 f", "chmod 777 /", "chmod 777 /etc", "touch /etc/x", "touch /usr/x", "mount -t tmpfs x /tmp", "mount -o remount,rw /usr",
                    "chroot /tmp /bin/true", "hostname other", "cat /proc/1/environ", "python3 -c 'import os; os.nice(-5)'", "unshare -m true",
                    "python3 -c 'import os; os.setuid(1000)'", "python3 -c 'import os; os.setgid(1)'", "prlimit --pid 1 --nofile=10",
                    "sh -c 'echo 1 >/proc/sys/kernel/shmall'", "mknod /tmp/d c 1 3"):
        ended = client.run(session, f": >f; {attempt}")["exited"]
        assert ended["exit_code"] not in (0, 127), attempt


def test_on_the_host_it_is_nobody(server, named):
    """Its processes and files have an id of the range that the session has, or that of who started the server; never the host's 0."""
    client, session = named
    process = client.start(session, "sh", "-c", "echo x >/work/own; echo made; exec sleep 4117")
    channel = client.attach(session)
    channel.wait(lambda view: b"made" in view.bytes(process))
    deadline = time.monotonic() + PATIENCE
    while not (found := [pid for pid in leftovers.descendants(server.process.pid) if command_of(pid) == [b"sleep", b"4117"]]):
        assert time.monotonic() < deadline
    sleep = found[0]
    uid = int(status_of(sleep)["Uid"].split()[1])
    if os.geteuid() == 0:  # else the kernel does not let us look
        file = os.stat(f"/proc/{sleep}/root/work/own")
        assert file.st_uid == file.st_gid == uid
    if server.user == "root":
        assert uid >= RANGES and uid % 65536 == 0
        assert int(status_of(parent(sleep))["Uid"].split()[1]) == uid + 1, "init is somebody else"
    else:
        assert uid == int(status_of(server.process.pid)["Uid"].split()[1]) != 0


def command_of(pid):
    """Of one that executes just now, or has ended meanwhile: nothing."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[:-1]
    except OSError:
        return []


def test_it_stays_so_when_the_gateway_dies(server):
    """Another gateway takes the session over: what runs goes on, what is started and what is told are as before."""
    with server.client() as client:
        session = client.create(template="named")
        process = client.start(session, "sh", "-c", "read line; id -u", stdin=True)
    os.kill(gateway(server), signal.SIGKILL)
    with again(server) as client:
        channel = client.attach(session)
        channel.send([STDIN, process, 0, b"go on\n"])
        assert channel.wait_exit(process)["exit_code"] == 0 and channel.view.bytes(process) == b"0\n"
        assert client.call("session.info", session=session)["user"] == "root"
        assert client.run(session, LOOK)["stdout"].decode() == LOOKED
        client.call("session.end", session=session)
