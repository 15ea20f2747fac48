"""What clients note beside sessions and processes, and what can be changed of a session that lives."""

import json
import os
import pathlib
import re
import signal
import time

import pytest
from test_gateway import again, gateway
from wire import ENDED, SLOWNESS, STARTED, RemoteError


def refused(client, method, **params):
    with pytest.raises(RemoteError) as caught:
        client.call(method, **params)
    return caught.value


def listed(client, session):
    return next(row for row in client.call("session.list")["sessions"] if row["session"] == session)


def test_a_context_is_shown(client):
    """An agent notes its conversation beside the session, and the tool call beside a process: lists, info and STARTED
    show them, and what is not said stays as it was."""
    noted = {"conversation": "c-17", "who": "\N{SNOWMAN}", "empty": ""}
    session = client.create(name="first", context=noted)
    channel = client.attach(session)
    assert client.call("session.info", session=session)["context"] == noted == listed(client, session)["context"]
    process = client.start(session, "true", context={"call": "t-1"})
    channel.wait_exit(process)
    assert channel.view.of_kind(STARTED)[0][4]["context"] == {"call": "t-1"}
    assert client.processes(session)[process]["context"] == {"call": "t-1"}
    assert client.run(session, "true", context={"call": "t-2"})["exited"]["exit_code"] == 0
    client.call("session.update", session=session, name="second")
    assert listed(client, session)["name"] == "second" and listed(client, session)["context"] == noted
    client.call("session.update", session=session, context={"conversation": "c-18"})
    assert listed(client, session)["context"] == {"conversation": "c-18"} and listed(client, session)["name"] == "second"
    client.call("session.update", session=session, context={})
    assert client.call("session.info", session=session)["context"] == {}
    client.call("session.end", session=session)


def test_its_bounds(client, session):
    """Too many entries, too long ones, too much in all, and what is no text, are named, and nothing has changed."""
    client.call("session.update", session=session, context={"a": "b"})
    for context, code in (({str(n): "" for n in range(33)}, "too_large"), ({"": "x"}, "invalid_params"), ({"n" * 65: "x"}, "too_large"),
                          ({"n": "x" * 257}, "too_large"), ({"n": b"x"}, "invalid_params"), ({"n": 1}, "invalid_params"), ([], "invalid_params"),
                          ({"n": "x\0y"}, "invalid_params"), ({str(n): "x" * 256 for n in range(20)}, "too_large")):
        error = refused(client, "session.update", session=session, context=context)
        assert error.code == code and error.data == {"field": "context"}, context
    assert client.call("session.info", session=session)["context"] == {"a": "b"}
    most = {f"{n:064}": "y" * 256 for n in range(12)}
    client.call("session.update", session=session, context=most)
    assert client.call("session.info", session=session)["context"] == most
    assert refused(client, "process.start", session=session, argv=["true"], context={"a": "x" * 256, "b": "x" * 256}).code == "too_large"
    most = {f"{n:02}": "z" * 30 for n in range(16)}
    process = client.start(session, *["a" * 100] * 16, cwd="/" + "d" * 600, context=most)
    assert client.processes(session)[process]["context"] == most


def test_life_is_changed(client):
    """A session without an end gets one a second from now, another's is taken away."""
    first, second = client.create(), client.create(ttl_ms=3000)
    channel = client.attach(first)
    client.call("session.update", session=second, ttl_ms=0)
    client.call("session.update", session=first, ttl_ms=1500)
    channel.wait(lambda view: view.of_kind(ENDED), 20)
    assert channel.view.of_kind(ENDED)[0][3] == "ttl"
    time.sleep(2)
    assert client.call("session.info", session=second)["ttl_ms"] == 0
    client.call("session.update", session=second, ttl_ms=1)
    deadline = time.monotonic() + 20
    while second in [row["session"] for row in client.call("session.list")["sessions"]]:
        assert time.monotonic() < deadline
        time.sleep(.1)
    assert refused(client, "session.update", session=second, name="x").code in ("session_ended", "not_found")


def test_a_template_bounds_the_life(start_server, tmp_path):
    """max-ttl holds for session.update too."""
    file = tmp_path / "conf"
    file.write_text("[template default]\nmax-ttl = 1h\n")
    server = start_server("--config", str(file))
    with server.client() as client:
        session = client.create()
        assert client.call("session.info", session=session)["ttl_ms"] == 3600000
        for ttl in (0, 3600001):
            assert refused(client, "session.update", session=session, ttl_ms=ttl).data == {"limit": "ttl_ms"}
        client.call("session.update", session=session, ttl_ms=3599999)


def test_the_next_gateway_knows(start_server):
    """Name, context and life of a session, and a process's context, are as before when the gateway was replaced."""
    server = start_server()
    with server.client() as client:
        session = client.create(context={"old": "x"})
        process = client.start(session, "sleep", "100", context={"call": "7"})
        client.call("session.update", session=session, name="named", context={"new": "y", "\N{SNOWMAN}": "\u00e9"}, ttl_ms=3600000)
        server.process.send_signal(signal.SIGUSR2)
        assert client.wait_closed() == 1001
    deadline = time.monotonic() + 20
    while True:
        try:
            client = server.client()
            break
        except Exception:
            assert time.monotonic() < deadline
            time.sleep(.1)
    with client:
        told = client.call("session.info", session=session)
        assert (told["name"], told["context"], told["ttl_ms"]) == ("named", {"new": "y", "\N{SNOWMAN}": "\u00e9"}, 3600000)
        assert client.processes(session)[process]["context"] == {"call": "7"}


def said(server, *argv):
    return server.command(*argv).communicate(timeout=60)[0].decode()


def rows_of(client, session, **params):
    return [row["template"] for row in client.call("session.list", **params)["sessions"] if row["session"] == session]


def test_the_template_is_remembered(start_server, tmp_path):
    """Of what template a session was made is told by every list and by info, alive and ended, also by a gateway that came
    after it; where no gateway has noted it, nothing is claimed."""
    file = tmp_path / "conf"
    file.write_text("[template small]\nprocesses = 16\n")
    server = start_server("--config", str(file))
    with server.client() as client:
        made = {name: client.create(**params) for name, params in (("small", {"template": "small"}), ("default", {}))}
        for name, session in made.items():
            assert client.call("session.info", session=session)["template"] == name
            assert rows_of(client, session) == [name]
    os.kill(gateway(server), signal.SIGKILL)
    with again(server) as client:
        for name, session in made.items():
            assert client.call("session.info", session=session)["template"] == name and rows_of(client, session) == [name]
            assert re.search(rf"^template: {name}$", said(server, "info", session), re.M)
            assert re.search(rf"^{session} .* {name} ", said(server, "ls"), re.M)
            client.call("session.end", session=session)
            deadline = time.monotonic() + 30 * SLOWNESS
            while not rows_of(client, session, ended=True):
                assert time.monotonic() < deadline
                time.sleep(.1)
            assert rows_of(client, session, ended=True) == [name] == [client.call("session.info", session=session)["template"]]
            assert re.search(rf"^{session} .* {name} ", said(server, "ls", "--ended"), re.M)
    noted = pathlib.Path(server.state, "sessions", made["small"], "session.json")
    deadline = time.monotonic() + 30 * SLOWNESS
    while (noted.parent / "journal").exists():
        assert time.monotonic() < deadline
        time.sleep(.1)
    text = json.loads(noted.read_text())
    del text["template"]
    noted.write_text(json.dumps(text))
    os.kill(gateway(server), signal.SIGKILL)
    with again(server) as client:
        assert rows_of(client, made["small"], ended=True) == [None] == [client.call("session.info", session=made["small"])["template"]]
        assert rows_of(client, made["default"], ended=True) == ["default"]
