"""What was damaged in the state directory costs itself and nothing else, and is told."""

import os
import signal

from test_full_disk import kill_gateway
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
