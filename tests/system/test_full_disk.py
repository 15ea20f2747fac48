"""A disk that is full takes nothing away: what a session wrote stays readable when it ends, and a token can be revoked."""

import os
import signal

import pytest
from disk import needs_root, small_disk, start_on
from test_record import children_named, wait_for
from wire import RemoteError

pytestmark = pytest.mark.skipif(needs_root, reason="mounts a small file system")


def kill_gateway(server):
    served = server.text().count('"message":"serving"')
    os.kill(children_named(server, "sandbard-gateway")[0], signal.SIGKILL)
    wait_for(lambda: server.text().count('"message":"serving"') > served)


def read_back(server, session, process):
    with server.client() as client:
        rows = [row for row in client.call("session.list", ended=True)["sessions"] if row["session"] == session]
        assert [row["reason"] for row in rows] == ["ended"]
        channel = client.attach(session, after=0)
        client.wait(lambda: channel.closed)
        assert channel.view.bytes(process) == b"hi\n" and not channel.view.gaps
        assert channel.view.last == rows[0]["seq"] and channel.answer["last"] == rows[0]["seq"]


def test_a_session_ends(start_server, tmp_path):
    """The disk is full to the last byte when a session is ended. Its record is read at once, after the gateway died, and by the
    next server, while there is no room, and when there is room again."""
    with small_disk(tmp_path, "6m") as disk:
        server = start_on(disk, start_server, "--ring", "512K")
        with server.client() as client:
            session, other = client.create(), client.create()
            process = client.run(session, "echo hi")["process"]
            wait_for(lambda: client.call("session.info", session=session)["record"]["last"] >= 3)
            disk.fill()
            client.call("session.end", session=session)
            wait_for(lambda: client.call("session.list", ended=True)["sessions"])
        read_back(server, session, process)
        disk.fill()  # what the journal gave back
        kill_gateway(server)
        read_back(server, session, process)
        disk.empty()
        kill_gateway(server)
        read_back(server, session, process)
        with server.client() as client:
            client.call("session.end", session=other)
        assert server.stop() == 0


def test_no_file_can_be_made(start_server, tmp_path):
    """The disk has bytes, but no room for one more file: the same."""
    with small_disk(tmp_path, "40m,nr_inodes=26") as disk:
        server = start_on(disk, start_server, "--ring", "512K")
        with server.client() as client:
            session = client.create()
            process = client.run(session, "echo hi")["process"]
            wait_for(lambda: client.call("session.info", session=session)["record"]["last"] >= 3)
            made = []
            try:
                while True:
                    made.append(tmp_path / f"empty{len(made)}")
                    made[-1].touch()
            except OSError:
                made.pop()
            client.call("session.end", session=session)
            wait_for(lambda: client.call("session.list", ended=True)["sessions"])
        kill_gateway(server)
        read_back(server, session, process)
        assert server.stop() == 0


def is_let_in(server, token):
    try:
        server.client(token=token).close()
    except RemoteError:
        return False
    return True


def test_a_token_is_revoked(start_server, tmp_path):
    """The disk is full when tokens and a share are revoked, one after the other, and somebody is removed: their connections close
    at once, and nobody comes in by them, nor after the gateway died."""
    with small_disk(tmp_path, "6m") as disk:
        server = start_on(disk, start_server, "--ring", "512K")
        with server.client() as client:
            session = client.create()
            made = [client.call("token.create", name=f"t{i}", rights=["read"]) for i in range(4)]
            shared = [client.call("session.share", session=session, role="viewer", uses=10) for _ in range(3)]
            removed = server.client(token=made[3]["token"])
            participant = removed.attach(session).answer["participant"]
            inside = [server.client(token=row["token"]) for row in made[:3] + shared[:2]]
            disk.fill()
            for row in made[:3]:
                client.call("token.revoke", id=row["id"])
            for row in shared[:2]:
                client.call("session.unshare", session=session, share=row["share"])
            client.call("session.remove", session=session, participant=participant)
            for guest in inside:
                assert guest.wait_closed() == 4003
        removed.wait_closed()
        for when in ("at once", "after the gateway died"):
            assert [is_let_in(server, row["token"]) for row in made + shared] == [False] * 3 + [True] + [False] * 2 + [True], when
            with server.client(token=made[3]["token"]) as again, pytest.raises(RemoteError) as caught:
                again.attach(session)
            assert caught.value.code == "forbidden"
            kill_gateway(server)
        with server.client() as client:
            client.call("session.end", session=session)
        assert server.stop() == 0
