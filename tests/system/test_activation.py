"""A server that a service manager starts: sockets that are handed over, what it is told, and a stop that waits."""

import os
import re
import signal
import socket
import subprocess
import time

import pytest
from conftest import TOP, Server
from test_metrics import get
from wire import RemoteError


class Manager:
    """A datagram socket as systemd has one."""

    def __init__(self, folder, abstract=False):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(30)
        self.name = f"@sandbar-test-{os.getpid()}" if abstract else str(folder / "notify")
        self.socket.bind("\0" + self.name[1:] if abstract else self.name)
        if not abstract:
            os.chmod(self.name, 0o777)

    def told(self):
        return self.socket.recv(4096).decode()


@pytest.mark.parametrize("abstract", [False, True])
def test_ready_and_stopping(start_server, tmp_path, abstract):
    """READY=1 comes once it serves, STOPPING=1 when it is asked to stop."""
    manager = Manager(tmp_path, abstract)
    server = start_server(environment={"NOTIFY_SOCKET": manager.name})
    assert "READY=1" in manager.told().split("\n")
    assert get(server.address, "/healthz")[0] == 200
    server.process.send_signal(signal.SIGTERM)
    assert "STOPPING=1" in manager.told().split("\n")
    assert server.process.wait(30) == 0


def test_the_watchdog_is_fed(start_server, tmp_path):
    """WATCHDOG_USEC is half a second: a sign of life comes at least that often."""
    manager = Manager(tmp_path)
    server = start_server(environment={"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "500000"})
    begun, seen = time.monotonic(), 0
    while time.monotonic() - begun < 2:
        seen += manager.told() == "WATCHDOG=1"
    assert seen >= 4
    server.stop()


def activated(programs, folder, sockets, *flags):
    """sandbard with SOCKETS at 3, 4, …, as systemd starts it."""
    def place():
        for number, each in enumerate(sockets):
            os.dup2(os.dup(each.fileno()), 60 + number)
        for number in range(len(sockets)):
            os.dup2(60 + number, 3 + number)
        os.environ["LISTEN_PID"] = str(os.getpid())

    shell = f'LISTEN_PID=$$ LISTEN_FDS={len(sockets)} exec "$@"'
    argv = ["sh", "-c", shell, "sh", programs / "sandbard", "--state", folder / "state", *flags]
    return subprocess.Popen(list(map(str, argv)), preexec_fn=place, close_fds=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True)


def listening(address="127.0.0.1", family=socket.AF_INET):
    made = socket.socket(family, socket.SOCK_STREAM)
    made.bind((address, 0))
    made.listen()
    return made


def test_sockets_that_are_handed_over(programs, tmp_path):
    """Two listening sockets are handed over, and served, instead of what --listen says; who connected before the server
    was there is served too."""
    sockets = [listening(), listening()]
    early = socket.create_connection(sockets[0].getsockname(), 10)
    early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server = activated(programs, tmp_path, sockets)
    for each in sockets:
        assert server.stdout.readline() == "sandbard: listening on http://{}:{}\n".format(*each.getsockname())
        assert get(each.getsockname(), "/healthz")[0] == 200
    early.settimeout(30)
    assert early.recv(100).startswith(b"HTTP/1.1 200")
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=30)
    assert server.returncode == 0


def test_sockets_that_are_none(programs, tmp_path):
    """A socket that does not listen, and one that is not loopback's without TLS, are refused with words."""
    for each, word in ((socket.socket(), "listening TCP"), (socket.socket(type=socket.SOCK_DGRAM), "listening TCP"),
                       (listening("0.0.0.0"), "loopback")):
        server = activated(programs, tmp_path, [each])
        told = server.communicate(timeout=30)[1]
        assert server.returncode == 1 and word in told, told


def test_a_stop_that_waits(start_server):
    """--drain: after SIGTERM clients are told, what runs goes on, also over a new connection; no session is made any
    more, /healthz says 503; and with the last session the server ends, before its time."""
    server = start_server("--drain", "60s")
    client = server.client()
    session, other = client.create(), client.create()
    channel = client.attach(session)
    process = client.start(session, "sh", "-c", "sleep 2; echo done")
    server.process.send_signal(signal.SIGTERM)
    client.wait(lambda: any(name == "server.stopping" for name, _ in client.notices))
    assert dict(client.notices)["server.stopping"] == {"in_ms": 60000}
    with pytest.raises(RemoteError) as caught:
        client.create()
    assert caught.value.code == "unavailable"
    assert get(server.address, "/healthz")[0] == 503
    with server.client() as late:
        late.wait(lambda: late.notices)
        assert 50000 < late.notices[0][1]["in_ms"] <= 60000
        assert late.run(session, "echo still")["stdout"] == b"still\n"
        channel.wait_exit(process)
        assert channel.view.bytes(process) == b"done\n"
        begun = time.monotonic()
        late.call("session.end", session=other)
        late.call("session.end", session=session)
        assert server.process.wait(20) == 0 and time.monotonic() - begun < 10


def test_the_waiting_has_an_end(start_server):
    """--drain 2s: the session is still there after two seconds, and is ended then."""
    server = start_server("--drain", "2s")
    client = server.client()
    channel = client.attach(client.create())
    begun = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 0 and 1.8 < time.monotonic() - begun < 10
    assert client.wait_closed() == 1001 and channel.view.frames[-1][3] == "stopped"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root's capabilities")
def test_the_unit_leaves_enough_rights(programs, tmp_path):
    """With no more capabilities than docker/sandbar.service leaves, sandboxes have the same layers as with all."""
    unit = (TOP / "docker/sandbar.service").read_text()
    kept = re.search("^CapabilityBoundingSet=(.*)$", unit, re.M)[1].split()
    bounded = ",".join(["-all", *("+" + name.removeprefix("CAP_").lower() for name in kept)])
    wrapper = tmp_path / "sandbard"
    wrapper.write_text(f'#!/bin/sh\nexec setpriv --bounding-set={bounded} -- {programs}/sandbard "$@"\n')
    wrapper.chmod(0o755)

    def layers(folder):
        server = Server(folder, [])
        try:
            with server.client() as client:
                session = client.create()
                assert client.run(session, "echo hi; touch /work/x")["stdout"] == b"hi\n"
                found = [(layer["name"], layer["on"]) for layer in client.call("session.info", session=session)["layers"]]
                client.call("session.end", session=session)
        finally:
            faults = server.finish()
        assert not faults, faults
        return found

    assert layers(tmp_path) == layers(programs)
