"""The server itself: how it starts, what it says, and that SIGTERM leaves nothing."""

import json
import os
import signal
import socket
import subprocess
import time

import pytest
from test_warm import await_warm
from wire import ENDED, RemoteError


def test_sigterm_stops_it_and_everything_it_made(start_server):
    """Three busy sessions, deaf daemons among them: SIGTERM, and within ten seconds nothing is left; the clients were told."""
    server = start_server(user="root" if os.geteuid() == 0 else "user")
    client = server.client()
    channels = []
    for _ in range(3):
        session = client.create()
        channels.append(client.attach(session))
        client.shell(session, "(setsid sh -c \"trap '' TERM HUP INT; sleep 999\" &); while :; do echo x; sleep .01; done")
    channels[0].wait(lambda view: view.outputs > 3)
    begun = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begun < 12
    assert server.traces.faults() == []
    assert client.wait_closed() == 1001
    for channel in channels:
        assert channel.view.frames[-1][0] == ENDED and channel.view.frames[-1][3] == "stopped"


def test_the_same_as_a_user_without_rights(start_server):
    """The smallest use by somebody who is not root: a command, and an end that leaves nothing."""
    server = start_server(user="user")
    with server.client() as client:
        session = client.create()
        assert client.run(session, "echo $((6*7))")["stdout"] == b"42\n"
        client.start(session, "sleep", "888")
    assert server.stop() == 0 and server.traces.faults() == []


def test_killing_the_keeper_ends_everything(start_server):
    """The server is killed with SIGKILL: its sandboxes do not outlive it, and a new server starts in the same state."""
    server = start_server(user="root" if os.geteuid() == 0 else "user")
    client = server.client()
    client.start(client.create(), "sleep", "777")
    import leftovers
    traces = leftovers.of_server(server.process.pid, server.state)
    server.process.kill()
    server.expected = -signal.SIGKILL
    server.process.wait()
    deadline = time.monotonic() + 15
    while any(fault.startswith("process ") for fault in traces.left()):
        assert time.monotonic() < deadline, traces.left()
        time.sleep(.1)
    again = subprocess.Popen([str(server.programs / "sandbard"), "--listen", "127.0.0.1:0", "--state", str(server.state)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=server.environment())
    try:
        assert any(b"listening" in again.stdout.readline() for _ in range(8))  # beside what it tells of its warm sandboxes
    finally:
        again.terminate()
        again.communicate(timeout=30)
    assert again.returncode == 0
    assert traces.faults() == []  # cgroups of this state directory's name, of both servers


def test_help_tells_every_flag(programs):
    """`sandbard --help` and `sandbar --help` print the flags and leave with 0; a wrong flag names itself and is not 0."""
    for program in ("sandbard", "sandbar"):
        shown = subprocess.run([programs / program, "--help"], capture_output=True, text=True, timeout=30)
        assert shown.returncode == 0 and "usage" in shown.stdout.lower()
        wrong = subprocess.run([programs / program, "--no-such-flag"], capture_output=True, text=True, timeout=30)
        assert wrong.returncode not in (0, 134, 139) and "no-such-flag" in wrong.stderr


def test_one_state_one_server(server):
    """A second server on the same state directory is refused, with words."""
    second = subprocess.run([server.programs / "sandbard", "--listen", "127.0.0.1:0", "--state", server.state], capture_output=True,
                            text=True, timeout=30, env=server.environment())
    assert second.returncode != 0 and str(server.state) in second.stderr + second.stdout


def test_an_address_in_use(server):
    """A port that is taken: the error names it."""
    address = "{}:{}".format(*server.address)
    second = subprocess.run([server.programs / "sandbard", "--listen", address, "--state", str(server.folder / "other")],
                            capture_output=True, text=True, timeout=30, env=server.environment())
    assert second.returncode != 0 and str(server.address[1]) in second.stderr + second.stdout


def test_the_log_is_json_and_holds_no_secret(server):
    """Every line of the log is an object; neither the token nor what a command printed stands in it."""
    with server.client() as client:
        session = client.create()
        client.run(session, "echo 'never-in-a-log'")
        client.call("session.end", session=session)
    lines = [line for line in server.text().splitlines() if line.startswith("{")]
    assert lines and all(isinstance(json.loads(line), dict) for line in lines)
    assert "never-in-a-log" not in server.text() and server.token not in server.text()


def test_the_owner_token_is_the_owners(server):
    """owner.token and the signing key are readable by their owner alone."""
    for path in server.state.glob("*"):
        if path.name in ("owner.token", "signing.key"):
            assert path.stat().st_mode & 0o077 == 0, path


def test_a_hundred_sessions(server):
    """A hundred sessions, each with a command, one after another made and ended: the server's descriptors are as before."""
    with server.client() as client:
        client.call("session.end", session=client.create())
        await_warm(server, 2)
        before = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        for turn in range(100):
            session = client.create()
            if turn % 4 == 0:
                assert client.run(session, "echo x")["stdout"] == b"x\n"
            client.call("session.end", session=session)
        await_warm(server, 2)
        assert len(os.listdir(f"/proc/{server.process.pid}/fd")) <= before
        assert client.call("session.list")["sessions"] == []


@pytest.mark.parametrize("flag", [["--listen", "nowhere"], ["--ring", "7"], ["--log-format", "xml"], ["--state"]])
def test_a_wrong_flag_is_named(programs, flag, tmp_path):
    """The words on stderr name the flag and what is allowed."""
    state = [] if flag[0] == "--state" else ["--state", str(tmp_path)]
    shown = subprocess.run([programs / "sandbard", *state, *flag], capture_output=True, text=True, timeout=30)
    assert shown.returncode not in (0, 134, 139) and flag[0] in shown.stderr


def test_it_listens_on_loopback(server):
    """Nothing but loopback answers, unless the operator says so."""
    assert server.address[0] == "127.0.0.1"
    with socket.create_connection(server.address, 5):
        pass


@pytest.mark.parametrize("descriptors", [190, 197, 201, 206, 213])
def test_what_was_made_can_be_ended_when_descriptors_run_out(start_server, descriptors):
    """The server may open few descriptors: making is refused at last, and all that was made can be ended all the same."""
    if os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    server = start_server(before=["prlimit", f"--nofile={descriptors}:{descriptors}"])
    with server.client() as client:
        made, refused = [], 0
        while refused < 3 and len(made) < 40:
            try:
                made.append(client.create())
            except RemoteError as error:
                assert error.code == "limit", error
                refused += 1
        assert made and refused == 3
        for session in made * 3:
            try:
                client.start(session, "sleep", "100")
            except RemoteError as error:
                assert error.code == "limit", error
        for session in made:
            client.call("session.end", session=session)
        assert client.call("session.list")["sessions"] == []
