"""The spec's own conversation, and what every client relies on."""

import asyncio
import os

import msgpack
import pytest
import websockets
from wire import ENDED, EXITED, LIVE, OUTPUT, PARTICIPANT, STARTED, RemoteError

ENDING = {"exit_code", "signal", "reason", "control", "message", "offsets", "streams_open", "usage"}


def test_a_stranger_has_the_conversation_of_the_spec(any_server):
    """Somebody who has read PROTOCOL.md runs `echo hi; exit 3` and sees, in order, all that section 6 shows."""
    with any_server.client() as client:
        assert client.hello["version"] == 1
        assert client.hello["server"].startswith("sandbar/")
        assert {"read", "run", "manage"} <= set(client.hello["rights"])
        session = client.create(name="demo")
        assert len(session) == 16 and set(session) <= set("abcdefghijklmnopqrstuvwxyz234567")
        channel = client.attach(session, after=0, mode="lossless")
        assert channel.answer["role"] == "owner"
        process = client.start(session, "sh", "-c", "echo hi; exit 3")
        assert process == 1
        ending = channel.wait_exit(process)
        assert set(ending) == ENDING
        assert (ending["exit_code"], ending["reason"], ending["signal"], ending["control"]) == (3, "exited", None, None)
        assert ending["offsets"] == {"stdout": 3, "stderr": 0} and ending["streams_open"] == []
        assert channel.view.bytes(process) == b"hi\n"
        assert channel.frames == [PARTICIPANT, LIVE, STARTED, OUTPUT, EXITED]
        started = channel.view.of_kind(STARTED)[0]
        assert started[4]["argv"] == ["sh", "-c", "echo hi; exit 3"] and started[4]["cwd"] == "/work"
        assert client.call("session.end", session=session) == {}
        client.wait(lambda: channel.closed)
        assert channel.closed == "session_ended" and channel.view.frames[-1][0] == ENDED
        assert channel.view.frames[-1][3] == "ended"
        assert client.call("session.list")["sessions"] == []


def test_a_websocket_library_is_a_client_as_well(server):
    """Somebody uses the `websockets` package and msgpack, as most would."""

    async def talk():
        uri = "ws://{}:{}/v1/ws".format(*server.address)
        async with websockets.connect(uri, subprotocols=["sandbar.v1"], compression=None) as socket:
            async def ask(number, method, **params):
                await socket.send(msgpack.packb(0) + msgpack.packb([0, number, method, [params]]))
                while True:
                    unpacker = msgpack.Unpacker()
                    unpacker.feed(await socket.recv())
                    channel, *frames = list(unpacker)
                    for frame in frames:
                        if channel == 0 and frame[0] == 1 and frame[1] == number:
                            assert frame[2] is None, frame[2]
                            return frame[3]

            await ask(1, "hello", token=server.token, version=1, client="websockets", client_id=os.urandom(16))
            session = (await ask(2, "session.create"))["session"]
            answer = await ask(3, "process.run", session=session, argv=["sh", "-c", "cat; echo e >&2"], input=b"in\0put")
            assert answer["stdout"] == b"in\0put" and answer["stderr"] == b"e\n" and answer["truncated"] is False
            assert answer["exited"]["exit_code"] == 0
            await ask(4, "session.end", session=session)

    asyncio.run(talk())


def test_requests_of_the_empty_map_and_of_surplus_widths(client):
    """A client packs every integer in eight bytes, and leaves out empty params: both are in the rules."""
    head = bytes([0xCF, 0, 0, 0, 0, 0, 0, 0, 0])
    wide = b"\x94\xd3" + bytes(8) + b"\xcf" + (5000).to_bytes(8, "big")
    client.socket.send(head + wide + msgpack.packb("session.list") + msgpack.packb([{}]))
    assert client.answer(5000) == {"sessions": client.call("session.list")["sessions"]}
    client.send(0, [0, 5001, "session.list", []])
    assert "sessions" in client.answer(5001)


def test_what_is_known_of_a_session(client, session):
    """A user asks what there is: the list, the details, the processes that ran and those that run."""
    channel = client.attach(session, name="mira")
    done = client.shell(session, "echo x; exit 4", name="first")
    running = client.start(session, "sleep", "60", env={"A": "b"}, cwd="/tmp")
    channel.wait_exit(done)
    listed = [row for row in client.call("session.list")["sessions"] if row["session"] == session]
    assert len(listed) == 1 and listed[0]["participants"] == 1
    info = client.call("session.info", session=session)
    assert {layer["name"] for layer in info["layers"]} >= {"user", "seccomp", "root", "cgroup"}
    assert [(who["name"], who["role"]) for who in info["participants"]] == [("mira", "owner")]
    assert info["journal"]["last"] == channel.view.last and info["limits"]["processes"] == 512
    processes = client.processes(session)
    assert processes[done]["state"] == "exited" and processes[done]["exited"]["exit_code"] == 4
    assert processes[done]["name"] == "first" and processes[done]["offsets"] == {"stdout": 2, "stderr": 0}
    assert processes[running]["state"] == "running" and processes[running]["exited"] is None
    assert processes[running]["cwd"] == "/tmp"
    assert client.call("process.wait", session=session, process=done)["exit_code"] == 4
    assert client.call("server.info")["sessions"] >= 1


def test_env_and_cwd_reach_the_process(client):
    """What the session and the process were given stands in the environment, the process's over the session's."""
    session = client.create(env={"A": "session", "B": "session"})
    answer = client.call("process.run", session=session, argv=["sh", "-c", "echo $A $B $(pwd)"], env={"B": "process"}, cwd="/tmp")
    assert answer["stdout"] == b"session process /tmp\n"
    client.call("session.end", session=session)


def test_a_session_lives_as_long_as_it_was_given(client):
    """A session with a time to live ends by itself, tells its channels why, and is gone."""
    session = client.create(ttl_ms=1500)
    channel = client.attach(session)
    process = client.start(session, "sleep", "100")
    client.wait(lambda: channel.closed)
    assert channel.view.frames[-1][0] == ENDED and channel.view.frames[-1][3] == "ttl"
    assert channel.view.exited[process]["reason"] != "exited"
    with pytest.raises(RemoteError) as caught:
        client.call("process.list", session=session)
    assert caught.value.code in ("session_ended", "not_found")


def test_two_participants_see_each_other(server):
    """Mira watches what Ota does: she sees him come, type and go; a viewer cannot type."""
    with server.client() as ota, server.client() as mira:
        session = ota.create()
        watching = mira.attach(session, name="mira", role="viewer")
        working = ota.attach(session, name="ota")
        process = ota.start(session, "cat", stdin=True)
        watching.send([48, process, 0, b"no"])
        mira.wait(lambda: watching.errors)
        assert watching.errors[0][1:3] == [process, "forbidden"]
        working.feed(process, b"yes")
        watching.wait(lambda view: view.bytes(process) == b"yes")
        ota.call("session.detach", channel=working.number)
        people = watching.wait(lambda view: len(view.of_kind(PARTICIPANT)) >= 3 and view.of_kind(PARTICIPANT))
        assert [(row[4]["name"], row[4]["change"]) for row in people] == [("mira", "joined"), ("ota", "joined"), ("ota", "left")]
        typed = watching.wait(lambda view: view.of_kind(5))
        assert typed[0][3] == working.answer["participant"] and typed[0][4] == process
        ota.call("session.end", session=session)
