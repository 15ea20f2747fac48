"""What was damaged in the state directory costs itself and nothing else, and is told."""

import functools
import json
import os
import signal
import subprocess

import pytest

from test_full_disk import is_let_in, kill_gateway
from test_record import children_named, wait_for
from wire import RemoteError, View


def folder_of(server, session):
    return server.state / "sessions" / session


def recorded(client, session, events):
    wait_for(lambda: client.call("session.info", session=session)["record"]["last"] >= events)


def test_a_journal_that_is_gone(start_server):
    """A running session's journal has gone, or is not one any more, when a gateway takes over: the session is lost, and what is
    recorded of it can be read."""
    server = start_server()
    with server.client() as client:
        gone, cut, whole = (client.create() for _ in range(3))
        processes = {session: client.run(session, "echo before")["process"] for session in (gone, cut, whole)}
        client.start(gone, "sleep", "1000")
        for session in processes:
            recorded(client, session, 3)
    gateway = children_named(server, "sandbard-gateway")[0]
    os.kill(gateway, signal.SIGSTOP)
    (folder_of(server, gone) / "journal").unlink()
    (folder_of(server, cut) / "journal").unlink()
    (folder_of(server, cut) / "journal").write_bytes(b"no journal")
    kill_gateway(server)
    with server.client() as client:
        assert [row["session"] for row in client.call("session.list")["sessions"]] == [whole]
        assert {row["session"]: row["reason"] for row in client.call("session.list", ended=True)["sessions"]} == {
            gone: "lost", cut: "lost"}
        for session in (gone, cut):
            channel = client.attach(session, after=0)
            client.wait(lambda channel=channel: channel.closed)
            assert channel.view.bytes(processes[session]) == b"before\n" and not channel.view.gaps
        assert client.run(whole, "echo after")["stdout"] == b"after\n"
        client.call("session.end", session=whole)
    assert server.text().count("a session could not be taken over") == 2


def test_what_is_no_file(start_server):
    """A pipe, a link or a folder stands where a file of a session should: it keeps nobody waiting. That session is lost, or not
    recorded; the others go on."""
    server = start_server()
    names = ("journal", "records", "session.json", "record-0000000000000001")
    kinds = {"pipe": os.mkfifo, "link": lambda path: path.symlink_to("/dev/zero"), "folder": os.mkdir}
    with server.client() as client:
        whole, *hurt = (client.create() for _ in range(1 + len(names) * len(kinds)))
        for session in (whole, *hurt):
            client.run(session, "echo before")
            recorded(client, session, 3)
    os.kill(children_named(server, "sandbard-gateway")[0], signal.SIGSTOP)
    for session, (name, kind) in zip(hurt, ((name, kind) for name in names for kind in kinds), strict=True):
        path = folder_of(server, session) / name
        path.unlink()
        kinds[kind](path)
    os.mkfifo(server.state / "sessions" / "loading")
    kill_gateway(server)
    with server.client() as client:
        assert client.run(whole, "echo after")["stdout"] == b"after\n"
        for row in client.call("session.list")["sessions"]:
            client.call("session.end", session=row["session"])
        for row in client.call("session.list", ended=True)["sessions"]:
            try:
                channel = client.attach(row["session"], after=0)
                client.wait(lambda channel=channel: channel.closed)
            except RemoteError as error:
                assert error.code == "internal", error
    assert server.text().count("a session could not be taken over") == 3 * len(kinds)


def test_numbers_that_cannot_be(start_server):
    """Each number of a running session's session.json is another one when a gateway takes over: that session is lost, or goes on, and
    no gateway dies of it, whatever is asked of it then."""
    server = start_server()
    values = (-1, 7, 1_000_000, 2**62, "7")
    with server.client() as client:
        whole, sample = client.create(), client.create()
        told = json.loads((folder_of(server, sample) / "session.json").read_text())
        places = [("limits", name) for name in told["limits"]] + [(name,) for name, value in told.items() if isinstance(value, int)]
        assert len(places) > 15
        hurt = {client.create(): (place, value) for place in places for value in values}
        lost = next(session for session, damage in hurt.items() if damage == (("limits", "user"), 7))
        process = client.run(lost, "echo before")["process"]
        recorded(client, lost, 3)
    os.kill(children_named(server, "sandbard-gateway")[0], signal.SIGSTOP)
    for session, (place, value) in hurt.items():
        path = folder_of(server, session) / "session.json"
        content = json.loads(path.read_text())
        functools.reduce(dict.__getitem__, place[:-1], content)[place[-1]] = value
        path.write_text(json.dumps(content))
    kill_gateway(server)
    gateway = children_named(server, "sandbard-gateway")[0]
    with server.client() as client:
        assert client.run(whole, "echo after")["stdout"] == b"after\n"
        for row in client.call("session.list")["sessions"]:
            try:  # one of them may have a few milliseconds to live, or have ended long ago
                client.call("session.info", session=row["session"])
                client.run(row["session"], "echo after")
                client.call("session.end", session=row["session"])
            except RemoteError as error:
                assert error.code in ("not_found", "session_ended", "limit"), (hurt.get(row["session"]), error)
        for row in client.call("session.list", ended=True)["sessions"]:
            try:
                client.call("session.info", session=row["session"])
            except RemoteError as error:
                assert error.code == "not_found", (hurt.get(row["session"]), error)
        channel = client.attach(lost, after=0)
        client.wait(lambda: channel.closed)
        assert channel.view.bytes(process) == b"before\n", "what is recorded is worth reading, whatever the limits were"
    assert children_named(server, "sandbard-gateway") == [gateway]


def test_a_record_with_a_wrong_byte(start_server):
    """Each byte of an ended session's record becomes another one in turn: whoever reads it gets whole events and GAPs, and his
    connection lives. The log says so."""
    server = start_server()
    with server.client() as client:
        session = client.create()
        client.run(session, "echo one; echo two >&2")
        client.call("session.end", session=session)
        wait_for(lambda: not (folder_of(server, session) / "journal").exists())
        segment = folder_of(server, session) / "record-0000000000000001"
        whole = segment.read_bytes()
        gaps = 0
        for at in range(len(whole)):
            segment.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:])
            channel = client.attach(session, Torn(), after=0)
            client.wait(lambda channel=channel: channel.closed)
            gaps += len(channel.view.gaps)
        assert gaps > len(whole) / 8
        segment.write_bytes(whole)
        channel = client.attach(session, after=0)
        client.wait(lambda: channel.closed)
        assert not channel.view.gaps
    assert "the record of a session is damaged" in server.text()


class Torn(View):
    """What is wrong in bytes or in a map has no form that could show it: only the order of what comes is looked at."""

    def take_output(self, process, stream, offset, data):
        assert data

    def take_exit(self, process, ending):
        pass

    def take_state(self, frame):
        assert self.gaps


def refused(programs, state, *before):
    """Start a server that must not come up: its exit code, and what it says."""
    argv = [*before, str(programs / "sandbard"), "--listen", "127.0.0.1:0", "--state", str(state)]
    ran = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, text=True, cwd="/")
    return ran.returncode, ran.stdout + ran.stderr


def test_keys_that_cannot_be_used(start_server, programs):
    """The key, the owner's token or the list of tokens is damaged, in each of many ways: the server says which and what to do,
    and leaves with 1 at once. A token that is missing alone is made anew."""
    server = start_server()
    with server.client() as client:
        client.call("token.create", name="t", rights=["read"])
    assert server.stop() == 0
    ways = {
        "empty": lambda path, whole: path.write_bytes(b""),
        "cut": lambda path, whole: path.write_bytes(whole[:-9]),
        "flipped": lambda path, whole: path.write_bytes(whole[:60] + bytes([whole[60] ^ 4]) + whole[61:]),
        "a pipe": lambda path, whole: (path.unlink(), os.mkfifo(path)),
    }
    for name in ("owner.token", "signing.key", "tokens/tokens.json"):
        path = server.state / name
        whole, owner = path.read_bytes(), path.stat()
        for way, damage in ways.items():
            if name == "tokens/tokens.json" and way == "flipped":
                continue  # it can be a good one of another token
            damage(path, whole)
            code, text = refused(programs, server.state)
            assert code == 1 and path.name in text and "giving up" not in text, (name, way, code, text)
            path.unlink()
            path.write_bytes(whole)
            path.chmod(0o600)
            os.chown(path, owner.st_uid, owner.st_gid)
    before = (server.state / "owner.token").read_text()
    (server.state / "owner.token").unlink()
    again = start_server("--state", str(server.state))
    again.state = server.state
    assert again.token != before.strip()
    again.client().close()
    assert again.stop() == 0


def test_the_list_of_tokens_is_damaged_while_it_runs(start_server):
    """tokens.json is damaged, and the gateway dies: sessions go on, and nobody comes in, for nobody knows who was revoked. When the
    file is mended and the gateway replaced, all is as before."""
    server = start_server()
    client = server.client()
    session = client.create()
    process = client.shell(session, "sleep 3; echo still here; sleep 1000")
    made = client.call("token.create", name="t", rights=["read"])
    client.call("token.revoke", id=client.call("token.create", name="u", rights=["read"])["id"])
    path = server.state / "tokens/tokens.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    kill_gateway(server)
    for token in (server.token, made["token"]):
        assert not is_let_in(server, token)
    assert "no token is accepted" in server.text()
    path.write_bytes(whole)
    served = server.text().count('"message":"serving"')
    server.process.send_signal(signal.SIGUSR2)
    wait_for(lambda: server.text().count('"message":"serving"') > served)
    with server.client() as again:
        channel = again.attach(session, after=0)
        channel.wait(lambda view: view.bytes(process) == b"still here\n")
        again.call("session.end", session=session)
    assert is_let_in(server, made["token"])


def test_limits_of_the_server_itself(start_server, programs, tmp_path):
    """Too few open files: the server names how many it needs. With as many it serves. Files that may not grow: an error of
    the session, and no gateway dies."""
    (tmp_path / "state").mkdir(mode=0o700)
    for files in (40, 64, 127):
        code, text = refused(programs, tmp_path / "state", "prlimit", f"--nofile={files}:{files}")
        assert code == 1 and "open files" in text and "128" in text, (code, text)
    few = start_server(before=["prlimit", "--nofile=128:128"])
    with few.client() as client:
        session = client.create()
        assert client.run(session, "echo fine")["stdout"] == b"fine\n"
        client.call("session.end", session=session)
    small = start_server(before=["prlimit", "--fsize=1048576:1048576"])
    with small.client() as client:
        for _ in range(3):
            with pytest.raises(RemoteError) as caught:
                client.create()
            assert caught.value.code == "limit" and "large" in caught.value.message
        assert client.hello["epoch"] == 1
