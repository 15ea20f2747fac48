"""Sandboxes that stand ready: a session that asks for nothing else takes one, and is there at once; whatever becomes of one,
another takes its place, and nothing is left of any."""

import os
import signal
import time

import pytest

from test_gateway import children, gateway, name
from test_metrics import get, samples
from wire import PATIENCE, RemoteError


def warm(server):
    return samples(get(server.address, "/metrics")[2])["sandbar_warm_sandboxes"]


def await_warm(server, count):
    deadline = time.monotonic() + PATIENCE
    while (found := warm(server)) != count:
        assert time.monotonic() < deadline, f"{found} stand ready, and not {count}"
        time.sleep(0.02)


def inits(server):
    return {pid for pid in children(server.process.pid) if not name(pid).startswith("sandbard")}


@pytest.fixture(params=["root", "user"])
def ready(request, start_server):
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    server = start_server("--warm", "2", user=request.param)
    await_warm(server, 2)
    yield server
    server.stop()


def test_a_session_takes_one_and_another_is_made(ready):
    """The session's sandbox is one that stood there before it was asked for; it is as any other, and has its session's name."""
    before = inits(ready)
    assert len(before) == 2
    with ready.client() as client:
        session = client.create()
        await_warm(ready, 2)
        now = inits(ready)
        assert before < now and len(now) == 3
        answer = client.run(session, "hostname; echo $$ >f; cat f; cat /proc/1/comm; ls /work /tmp", terminal=None)
        assert answer["stdout"].split()[0].decode() == session and answer["exited"]["exit_code"] == 0, answer
        client.call("session.end", session=session)
    assert len(inits(ready)) == 2


def test_who_asks_for_something_else_gets_something_else(ready):
    """Other limits than the template's: the sandbox is made when it is asked for, with these."""
    before = inits(ready)
    with ready.client() as client:
        session = client.create(limits={"open_files": 77})
        assert warm(ready) == 2 and before < inits(ready)
        assert client.run(session, "ulimit -n")["stdout"] == b"77\n"
        same = client.create(limits={"open_files": 1024}, require=[])
        assert client.run(same, "ulimit -n")["stdout"] == b"1024\n"
        for one in session, same:
            client.call("session.end", session=one)


def test_one_that_dies_is_replaced(ready):
    before = inits(ready)
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while victim in inits(ready) or len(inits(ready)) != 2 or warm(ready) != 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with ready.client() as client:
        for _ in range(3):
            session = client.create()
            assert client.run(session, "echo well")["stdout"] == b"well\n"
            client.call("session.end", session=session)


def test_a_new_gateway_makes_its_own(ready):
    """Those of a gateway that died belong to no session: they are destroyed, and others are made."""
    before = inits(ready)
    with ready.client() as client:
        kept = client.create()
    await_warm(ready, 2)
    taken = inits(ready) & before
    os.kill(gateway(ready), signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            now = inits(ready)
            if len(now) == 3 and warm(ready) == 2 and len(now & before) <= 1:
                break
        except OSError:
            pass
        assert time.monotonic() < deadline, (before, now)
        time.sleep(0.05)
    assert taken
    with ready.client() as client:
        assert client.run(kept, "echo there")["stdout"] == b"there\n"
        client.call("session.end", session=kept)


def test_they_are_no_sessions(start_server):
    """One session may be there, and three sandboxes stand ready beside it: the second is over the limit, and none is listed."""
    server = start_server("--warm", "3", "--max-sessions", "1", user="root" if os.geteuid() == 0 else "user")
    await_warm(server, 3)
    with server.client() as client:
        assert client.call("session.list")["sessions"] == []
        session = client.create()
        with pytest.raises(RemoteError, match="limit"):
            client.create()
        client.call("session.end", session=session)
        client.call("session.end", session=client.create())


def test_each_template_has_its_own(start_server, tmp_path):
    config = tmp_path / "sandbard.conf"
    config.write_text("warm = 0\n[template small]\nmemory = 64M\nopen-files = 99\nwarm = 1\n[template cold]\nopen-files = 98\n")
    config.chmod(0o644)
    tmp_path.chmod(0o755)
    server = start_server("--config", str(config), user="root")
    await_warm(server, 1)
    before = inits(server)
    with server.client() as client:
        cold = client.create(template="cold")
        assert warm(server) == 1
        small = client.create(template="small")
        assert client.run(small, "ulimit -n")["stdout"] == b"99\n" and client.run(cold, "ulimit -n")["stdout"] == b"98\n"
        await_warm(server, 1)
        assert before < inits(server) and len(inits(server)) == 3
        usual = client.create()
        assert client.run(usual, "ulimit -n")["stdout"] == b"1024\n" and warm(server) == 1
