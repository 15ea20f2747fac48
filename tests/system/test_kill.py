"""Cancelled means gone, detached means alive. (Case 17.)"""

import os
import signal
import time

import pytest
from test_endings import alive, await_dead
from test_gateway import gateway
from websocket import Closed
from wire import SLOWNESS, RemoteError

PROOF = "sleep 2; touch /work/PROOF; sleep 0.1"


def proof(client, session):
    return client.run(session, "ls /work")["stdout"]


def test_a_killed_command_does_nothing_more(client, session):
    """Killed after half a second, a command never writes its file, and when the kill is answered nobody of it lives."""
    process = client.shell(session, f"sleep 333 & (setsid sleep 333 &); {PROOF}")
    time.sleep(.5)
    assert client.call("process.kill", session=session, process=process) == {"already_exited": False}
    assert alive(client, session, "sleep 333") == 0
    time.sleep(2.5)
    assert proof(client, session) == b""


def test_a_kill_with_grace_lets_it_clean_up(client, session):
    """With grace a command hears TERM first; one that ignores it is killed all the same."""
    channel = client.attach(session)
    polite = client.shell(session, "trap 'echo bye; exit 9' TERM; echo up; while :; do sleep .1; done")
    deaf = client.shell(session, "trap '' TERM; echo up; while :; do sleep .1; done")
    channel.wait(lambda view: view.bytes(polite) == view.bytes(deaf) == b"up\n")
    client.call("process.kill", session=session, process=polite, grace_ms=20000)
    ending = channel.wait_exit(polite)
    assert ending["exit_code"] == 9 and channel.view.bytes(polite) == b"up\nbye\n"
    client.call("process.kill", session=session, process=deaf, grace_ms=300)
    ending = channel.wait_exit(deaf)
    assert (ending["exit_code"], ending["signal"], ending["reason"]) == (137, "SIGKILL", "killed")


def test_a_cancelled_request_does_nothing_more(client, session):
    """A program gives up its `process.run`: it is answered `cancelled`, and the command is gone."""
    request = client.request("process.run", session=session, argv=["sh", "-c", PROOF], grace_ms=100)
    time.sleep(.5)
    client.send(0, [3, request])
    with pytest.raises(RemoteError) as caught:
        client.answer(request)
    assert caught.value.code == "cancelled"
    time.sleep(2.5)
    assert proof(client, session) == b""


@pytest.mark.parametrize("on_disconnect, expected", [("kill", b""), ("keep", b"PROOF\n")])
def test_a_client_that_leaves(server, client, session, on_disconnect, expected):
    """A client goes away: its command is ended if it had asked for that, and else does its work and is in the list."""
    leaver = server.client()
    process = leaver.shell(session, PROOF, on_disconnect=on_disconnect, disconnect_ms=200, grace_ms=200)
    leaver.cut()
    ending = client.call("process.wait", session=session, process=process)
    time.sleep(.2)
    assert proof(client, session) == expected
    assert ending["reason"] == ("cancelled" if on_disconnect == "kill" else "exited")
    assert client.processes(session)[process]["state"] == "exited"


def test_a_client_that_comes_back_in_time(server, client, session):
    """The same with `kill`, but the client is back before its time is over: the command lives."""
    leaver = server.client()
    process = leaver.shell(session, PROOF, on_disconnect="kill", disconnect_ms=1500)
    leaver.cut()
    time.sleep(.3)
    with server.client(client_id=leaver.client_id):
        assert client.call("process.wait", session=session, process=process)["reason"] == "exited"
    assert proof(client, session) == b"PROOF\n"


def test_kill_is_idempotent_and_never_hits_another(client, session):
    """Twice, after the end, and for a process that never was."""
    process = client.start(session, "sleep", "77")
    client.call("process.kill", session=session, process=process)
    client.call("process.wait", session=session, process=process)
    assert client.call("process.kill", session=session, process=process) == {"already_exited": True}
    done = client.call("process.run", session=session, argv=["true"])["process"]
    assert client.call("process.kill", session=session, process=done) == {"already_exited": True}
    for method, params in (("process.kill", {}), ("process.signal", {"signal": "TERM"}), ("process.wait", {})):
        with pytest.raises(RemoteError) as caught:
            client.call(method, session=session, process=4711, **params)
        assert caught.value.code == "not_found"
    with pytest.raises(RemoteError) as caught:
        client.call("process.signal", session=session, process=process, signal="TERM")
    assert caught.value.code == "process_exited"


def test_the_end_of_a_session_is_the_end_of_all_of_it(client):
    """Daemons, double forks, deaf ones: when `session.end` is answered, its processes are no more; its name is not found."""
    session = client.create()
    client.shell(session, "(setsid sh -c 'trap \"\" TERM HUP; sleep 555' &); sleep 555")
    deadline = time.monotonic() + 20
    while alive(client, session, "sleep 555") < 2:
        assert time.monotonic() < deadline
    client.call("session.end", session=session)
    with pytest.raises(RemoteError) as caught:
        client.run(session, "true")
    assert caught.value.code in ("session_ended", "not_found")


def test_a_thousand_short_children_leave_no_zombie(client, session):
    """A shell starts a thousand children and waits for none: init reaps them."""
    client.run(session, f"i=0; while [ $i -lt {round(1000 / SLOWNESS)} ]; do (exec true &) ; i=$((i+1)); done")
    await_dead(client, session, "true")
    states = client.run(session, "cat /proc/[0-9]*/stat 2>/dev/null | cut -d' ' -f3")["stdout"].split()
    assert states.count(b"Z") == 0, states


def test_a_signal_to_a_session_that_ends(server):
    """A session's end is asked for, and right behind it a signal, a kill and a start: each is answered, and the server lives on."""
    with server.client() as client:
        for _ in range(20):
            session = client.create()
            process = client.shell(session, "sleep 30 & exit 0")
            asked = [client.request("session.end", session=session),
                     client.request("process.signal", session=session, process=process, signal="INT"),
                     client.request("process.signal", session=session, process=process, signal="INT", scope="tree"),
                     client.request("process.kill", session=session, process=process),
                     client.request("process.start", session=session, argv=["true"])]
            for number in asked:
                try:
                    client.answer(number)
                except RemoteError as error:
                    assert error.code in ("session_ended", "not_found", "process_exited"), error


def reasons(client):
    return {row["session"]: row["reason"] for row in client.call("session.list", ended=True)["sessions"]}


def test_a_session_ends_with_its_client(server):
    """Sessions that are to end with the client that made them: one whose client comes back in time stays, one whose client stays away
    ends, and so does one whose gateway died meanwhile; one that does not depend on anybody stays."""
    with server.client() as watcher:
        free = watcher.create()
        client = server.client()
        there, gone = (client.create(on_disconnect="end", disconnect_ms=ms) for ms in (30000, 700))
        process = client.start(there, "sleep", "1000")
        client.cut()
        deadline = time.monotonic() + 20 * SLOWNESS
        while gone not in reasons(watcher):
            assert time.monotonic() < deadline
            time.sleep(.1)
        assert reasons(watcher)[gone] == "disconnect"
        back = server.client(client_id=client.client_id)
        assert back.processes(there)[process]["state"] == "running" and free in {row["session"] for row in back.call("session.list")["sessions"]}
        last = back.create(on_disconnect="end", disconnect_ms=1500)
        back.cut()
    os.kill(gateway(server), signal.SIGKILL)
    deadline = time.monotonic() + 30 * SLOWNESS
    while True:
        try:
            with server.client() as watcher:
                if last in reasons(watcher):
                    break
        except (OSError, Closed):
            pass
        assert time.monotonic() < deadline
        time.sleep(.2)
    with server.client() as watcher:
        assert reasons(watcher)[last] == "disconnect"
        assert watcher.processes(there)[process]["state"] == "running"
        for session in free, there:
            watcher.call("session.end", session=session)


def test_a_run_that_is_killed_leaves_nothing(server):
    """`sandbar run` dies by SIGKILL: its session is not there for ever."""
    with server.client() as watcher:
        running = server.command("run", "--give-up", "1s", "--", "sleep", "1000")
        deadline = time.monotonic() + 30 * SLOWNESS
        while not (rows := [row for row in watcher.call("session.list")["sessions"] if row["processes"]]):
            assert time.monotonic() < deadline
            time.sleep(.05)
        running.kill()
        running.communicate()
        while watcher.call("session.list")["sessions"]:
            assert time.monotonic() < deadline + 60 * SLOWNESS
            time.sleep(.1)
        assert reasons(watcher)[rows[0]["session"]] == "disconnect"
