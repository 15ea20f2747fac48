"""`sandbar` on a command line: in a pipe like the command itself, for programs as JSON, and against sessions that live on."""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest
from programs import SLEEPER
from proxy import Proxy

PATIENCE = 60


def finish(process, data=None):
    out, err = process.communicate(data, PATIENCE)
    return process.returncode, out, err


def sandbar(server, *argv, data=None):
    """Run it to its end: (exit code, stdout, stderr)."""
    return finish(server.command(*argv, stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL), data)


@pytest.fixture
def made(server):
    """A session made with `sandbar new`, ended with `sandbar end`."""
    code, out, err = sandbar(server, "new")
    assert code == 0, err
    session = out.decode().strip()
    yield session
    assert sandbar(server, "end", session)[0] == 0


def test_run_is_like_the_command_itself(any_server):
    """The README's first line: out on stdout, err on stderr, and 7."""
    assert sandbar(any_server, "run", "--", "sh", "-c", "echo out; echo err >&2; exit 7") == (7, b"out\n", b"err\n")


@pytest.mark.parametrize("script, code", [("exit 0", 0), ("exit 255", 255), ("kill -9 $$", 137), ("kill -TERM $$", 143)])
def test_run_leaves_with_its_code(server, script, code):
    """Every exit code comes through, also that of a signal."""
    assert sandbar(server, "run", "--", "sh", "-c", script)[0] == code


def test_run_tells_why_it_could_not_start(server):
    """A program that does not exist: 127, and words on stderr, none on stdout."""
    code, out, err = sandbar(server, "run", "--", "no-such-program")
    assert (code, out) == (127, b"") and b"no-such-program" in err
    code, out, err = sandbar(server, "run", "--", "/etc/passwd")
    assert (code, out) == (126, b"") and err


def test_run_passes_ten_megabytes_both_ways(server):
    """10 MiB of noise through `cat`, compared by its hash; and a command that reads nothing of it."""
    data = os.urandom(10 << 20)
    code, out, err = sandbar(server, "run", "--", "cat", data=data)
    assert code == 0 and hashlib.sha256(out).digest() == hashlib.sha256(data).digest(), err
    code, out, err = sandbar(server, "run", "--", "sh", "-c", "exec <&-; echo done", data=data)
    assert (code, out) == (0, b"done\n"), err


def test_run_sees_the_end_of_its_input(server):
    """An empty stdin is an empty stdin."""
    assert sandbar(server, "run", "--", "wc", "-c", data=b"")[:2] == (0, b"0\n")
    assert sandbar(server, "run", "--", "wc", "-c")[:2] == (0, b"0\n")


def test_run_streams_as_it_comes(server):
    """The first line is here while the command still sleeps; ^C ends it, and what it started."""
    # bash: a child of dash that is between fork and exec catches SIGINT and forgets it, at any terminal
    process = server.command("run", "--", "bash", "-c", "echo first; sleep 30; echo never")
    begun = time.monotonic()
    assert process.stdout.readline() == b"first\n" and time.monotonic() - begun < 25
    interrupted = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130 and time.monotonic() - interrupted < 15  # the shell's child has heard it, too


def test_yes_head_ends(server):
    """`sandbar run -- yes | head -1`: head leaves, and the command with it, as without Sandbar."""
    process = server.command("run", "--", "yes", stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"y\n"
    process.stdout.close()
    assert process.wait(PATIENCE) in (-signal.SIGPIPE, 128 + signal.SIGPIPE)
    with server.client() as client:
        deadline = time.monotonic() + 20
        while client.call("session.list")["sessions"]:
            assert time.monotonic() < deadline, "its session is still there"
            time.sleep(.1)


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_reaches_the_command(server, number, code):
    """^C ends what runs inside, and `sandbar` says so with the usual code; its session is gone."""
    process = server.command("run", "--", *SLEEPER)
    assert process.stdout.readline() == b"up\n"
    process.send_signal(number)
    assert finish(process)[0] in (code, -number)
    with server.client() as client:
        deadline = time.monotonic() + 20
        while client.call("session.list")["sessions"]:
            assert time.monotonic() < deadline, "its session is still there"
            time.sleep(.1)


def test_a_command_may_handle_the_interrupt(server):
    """A command that traps INT cleans up and chooses its own code."""
    process = server.command("run", "--", "sh", "-c", "trap 'echo bye; exit 9' INT; echo up; while :; do sleep .1; done")
    assert process.stdout.readline() == b"up\n"
    process.send_signal(signal.SIGINT)
    code, out, _ = finish(process)
    assert (code, out) == (9, b"bye\n")


def test_a_flood_with_a_slow_reader_is_whole(server):
    """Thirty megabytes to somebody who reads slowly: lossless, as a pipe is."""
    process = server.command("run", "--", "sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' z; echo END")
    digest, total = hashlib.sha256(), 0
    while chunk := os.read(process.stdout.fileno(), 1 << 20):
        digest.update(chunk)
        total += len(chunk)
        if total < 3_000_000:
            time.sleep(.02)
    assert process.wait(PATIENCE) == 0 and total == 30000004
    assert digest.digest() == hashlib.sha256(b"z" * 30000000 + b"END\n").digest()


def test_two_streams_stay_apart(server):
    """A thousand lines on each stream: none on the other's."""
    code, out, err = sandbar(server, "run", "--", "sh", "-c", "for i in $(seq 1000); do echo o$i; echo e$i >&2; done")
    assert code == 0
    assert out == b"".join(b"o%d\n" % n for n in range(1, 1001)) and err == b"".join(b"e%d\n" % n for n in range(1, 1001))


def test_a_life_of_a_session(server, made):
    """new, exec, ls, ps, logs, kill, info: what a user does in an afternoon."""
    assert sandbar(server, "exec", made, "--", "sh", "-c", "echo kept > f; echo written")[:2] == (0, b"written\n")
    assert sandbar(server, "exec", made, "--", "cat", "f")[:2] == (0, b"kept\n")
    assert made.encode() in sandbar(server, "ls")[1]
    listed = sandbar(server, "ps", made)[1]
    assert b"cat" in listed and b"exited" in listed
    assert sandbar(server, "logs", made)[1] == b"written\nkept\n"
    assert made.encode() in sandbar(server, "info", made)[1]
    sleeper = server.command("exec", made, "--", "sleep", "300")
    with server.client() as client:
        deadline = time.monotonic() + PATIENCE
        while not (running := [n for n, row in client.processes(made).items() if row["state"] == "running"]):
            assert time.monotonic() < deadline
    assert sandbar(server, "kill", made, str(running[0]))[0] == 0
    assert finish(sleeper)[0] == 137


def test_json_for_programs(server, made):
    """With --json every line is an object."""
    sandbar(server, "exec", made, "--", "echo", "hi")
    for argv in (("ls", "--json"), ("ps", "--json", made), ("info", "--json", made), ("doctor", "--json")):
        code, out, err = sandbar(server, *argv)
        assert code == 0 and out, (argv, err)
        for line in [out] if argv[0] in ("info", "doctor") else out.splitlines():
            json.loads(line)
    code, out, err = sandbar(server, "run", "--json", "--", "sh", "-c", "echo hi; exit 3")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 3 and rows[0] == {"event": "session", "session": rows[0]["session"]}, (out, err)
    assert rows[0]["session"] in sandbar(server, "ls", "--ended")[1].decode()  # it can still be read


def test_info_for_people(server, programs):
    """Sizes, times and limits as people say them, the layers as in `doctor`; --json keeps the numbers of the wire."""
    made = sandbar(server, "new", "--ttl", "2h", "--memory", "64M", "--context", "a_us=1")[1].decode().strip()
    out = sandbar(server, "info", made)[1].decode()
    for told in (r"^created: \d{4}-\d\d-\d\d \d\d:\d\d, \d+s ago$", r"^ttl: 2h$", r"^  memory: 64 MiB$", r"^  cpu: no limit$", r"^  a_us: 1$",
                 r"^LAYER +STATE +DETAIL$", r"^seccomp +on +", r"^  ring: .* of 4 MiB$", r"^  sessions: \d+, no limit$"):
        assert re.search(told, out, re.M), (told, out)
    info = json.loads(sandbar(server, "info", "--json", made)[1])
    assert (info["ttl_ms"], info["limits"]["memory"], info["limits"]["cpu"]) == (7200000, 64 << 20, 0)
    sandbar(server, "end", made)
    code, out, _ = sandbar(server, "doctor")
    assert code == 0 and out.endswith(b"\n\nall essential layers are on\n")


def test_logs_follow(server, made):
    """`logs -f` shows what was, and what comes, until the session ends."""
    sandbar(server, "exec", made, "--", "echo", "before")
    follower = server.command("logs", "-f", made)
    assert follower.stdout.readline() == b"before\n"
    sandbar(server, "exec", made, "--", "echo", "after")
    assert follower.stdout.readline() == b"after\n"
    follower.send_signal(signal.SIGINT)
    finish(follower)


def test_doctor_tells_the_layers(server):
    """Every layer with its state; and why one is missing."""
    code, out, _ = sandbar(server, "doctor")
    for layer in (b"user", b"seccomp", b"cgroup", b"rlimits"):
        assert layer in out
    assert code == 0


@pytest.mark.parametrize("argv, code", [(["frobnicate"], 2), (["run"], 2), (["ps"], 2), ([], 2)])
def test_a_wrong_command_line_is_named(server, argv, code):
    """A usage error is 2, with words on stderr."""
    left, out, err = sandbar(server, *argv)
    assert left == code and err and not out


def told(server, *argv):
    code, out, err = sandbar(server, *argv, "--json")
    assert code == 0, err
    return json.loads(out)


def test_what_is_noted_beside_and_changed(server):
    """An agent notes a conversation beside its session and a call beside a process; later it gives both another name and life."""
    session = told(server, "new", "--context", "conversation=c-17", "--context", "who=ada=b", "--context", "who=bo")["session"]
    info = told(server, "info", session)
    assert info["context"] == {"conversation": "c-17", "who": "bo"}  # the last one counts
    assert sandbar(server, "exec", session, "--context", "call=t-1", "--", "true")[0] == 0
    assert [row["context"] for row in told(server, "ps", session)["processes"]] == [{"call": "t-1"}]
    assert told(server, "update", session, "--name", "second", "--ttl", "1h") == {}
    info = told(server, "info", session)
    assert (info["name"], info["ttl_ms"], info["context"]["who"]) == ("second", 3600000, "bo")
    assert sandbar(server, "update", "second", "--context", "a=", "--ttl", "0") == (0, b"", b"")
    info = told(server, "info", session)
    assert (info["name"], info["ttl_ms"], info["context"]) == ("second", 0, {"a": ""})
    assert sandbar(server, "update", session, "--no-context")[0] == 0
    assert told(server, "info", session)["context"] == {}
    assert sandbar(server, "end", session)[0] == 0


def test_run_notes_it_beside_its_session_too(server):
    process = server.command("run", "--context", "call=t-2", "--", "sleep", "1000")
    deadline = time.monotonic() + PATIENCE
    while not (rows := told(server, "ls")["sessions"]) and time.monotonic() < deadline:
        time.sleep(.05)
    assert [row["context"] for row in rows] == [{"call": "t-2"}]
    process.send_signal(signal.SIGTERM)
    assert finish(process)[0] == 143


@pytest.mark.parametrize("argv, code, words", [
    (["update", "s"], 2, b"nothing to change"), (["update", "--name", "x"], 2, b"an argument is missing"),
    (["update", "nobody", "--name", "x"], 4, b"nobody"), (["update", "s", "--no-context", "--context", "a=b"], 2, b"--no-context"),
    (["new", "--context", "a"], 2, b"NAME=TEXT"), (["new", "--context", "=b"], 2, b"NAME=TEXT"),
    (["new", "--context", "a=" + "x" * 257], 1, b"context"), (["new", "--on-disconnect", "kill"], 2, b"keep or end"),
    (["new", "--require", "wings"], 1, b"wings"), (["run", "--require", "wings", "true"], 125, b"wings"),
])
def test_what_is_wrong_with_it_is_named(server, argv, code, words):
    left, out, err = sandbar(server, *argv)
    assert (left, out) == (code, b"") and words in err, err


def test_a_layer_is_demanded(server):
    """One that is on changes nothing."""
    session = told(server, "new", "--require", "seccomp", "--require", "pid")["session"]
    assert sandbar(server, "end", session)[0] == 0
    assert sandbar(server, "run", "--require", "seccomp", "--", "true")[0] == 0


def gone(server, session):
    deadline = time.monotonic() + PATIENCE
    while session in (row["session"] for row in told(server, "ls")["sessions"]):
        if time.monotonic() > deadline:
            return False
        time.sleep(.05)
    return True


@pytest.mark.parametrize("how", ["signal", "killed", "ended"])
def test_a_session_goes_with_its_program(server, how):
    """`new --on-disconnect end` stays: a signal ends the session at once, its death a little later, and it leaves when
    the session was ended."""
    process = server.command("new", "--on-disconnect", "end", "--give-up", "10ms")
    session = process.stdout.readline().decode().strip()
    assert sandbar(server, "exec", session, "--", "true")[0] == 0 and process.poll() is None
    if how == "ended":
        assert sandbar(server, "end", session)[0] == 0
    else:
        process.send_signal(signal.SIGINT if how == "signal" else signal.SIGKILL)
    left = finish(process)
    assert left == (-9 if how == "killed" else 0, b"", b"")
    assert (how != "signal" or session not in (row["session"] for row in told(server, "ls")["sessions"])) and gone(server, session)


def blocked_in_pipe(process):
    """Wait until it is, as far as this kernel tells; else a second."""
    deadline = time.monotonic() + 1
    while "pipe" not in pathlib.Path(f"/proc/{process.pid}/wchan").read_text() and time.monotonic() < deadline:
        time.sleep(.02)


def test_a_signal_while_the_id_is_told(server):
    """Who has the id may send a signal at once: it ends the session, though the program does no more yet than write into a full pipe."""
    out, into = os.pipe()
    os.set_blocking(into, False)
    room = os.write(into, bytes(1 << 20))
    os.set_blocking(into, True)
    before = {row["session"] for row in told(server, "ls")["sessions"]}
    process = server.command("new", "--on-disconnect", "end", stdout=into)
    os.close(into)
    while not (made := {row["session"] for row in told(server, "ls")["sessions"]} - before):
        assert process.poll() is None
    blocked_in_pipe(process)
    process.send_signal(signal.SIGTERM)
    while room > 0:
        room -= len(os.read(out, room))
    assert (process.wait(PATIENCE), process.stderr.read()) == (0, b"")
    assert made == {os.read(out, 100).decode().strip()} and not made & {row["session"] for row in told(server, "ls")["sessions"]}
    os.close(out)


def test_a_session_whose_id_nobody_hears(server):
    """The id could not be written: nothing stays."""
    before = told(server, "ls")["sessions"]
    with open("/dev/full", "w") as full:
        process = server.command("new", "--on-disconnect", "end", stdout=full)
    assert process.wait(PATIENCE) == 1
    assert told(server, "ls")["sessions"] == before


def test_output_that_has_no_room_is_told(server):
    """A full disk under what is printed: an error, whatever the command."""
    for words in (["ls"], ["ls", "--json"], ["help"]):
        with open("/dev/full", "w") as full:
            process = server.command(*words, stdout=full, stderr=subprocess.PIPE)
        err = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 1 and b"the output could not be written" in err, (words, err)


def test_what_is_not_there_is_said(server):
    """An unknown session: words that name it, and a code that is no success."""
    code, out, err = sandbar(server, "exec", "a" * 16, "--", "true")
    assert code != 0 and out == b"" and b"not_found" in err or b"no such session" in err


def test_no_server_is_said(programs, tmp_path):
    """Nobody listens: an error with words, at once."""
    done = subprocess.run([programs / "sandbar", "--state", str(tmp_path), "ls"], capture_output=True, timeout=30)
    assert done.returncode != 0 and done.stderr


def test_run_survives_cuts(server):
    """The link breaks five times while numbers come out and bytes go in: the output is whole, the input arrived once."""
    proxy = Proxy(server.address)
    environment = server.shell_environment()
    script = "cat > f; for i in $(seq 400); do echo $i; sleep .01; done; sha256sum < f"
    process = subprocess.Popen(server.sandbar_at(proxy.address, "run", "--", "sh", "-c", script), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    data = os.urandom(6 << 20)
    cutter = threading.Thread(target=lambda: [time.sleep(.7) or proxy.cut() for _ in range(5)])
    cutter.start()
    code, out, err = finish(process, data)
    cutter.join()
    proxy.close()
    assert code == 0, err
    lines = out.split(b"\n")
    assert lines[:400] == [b"%d" % n for n in range(1, 401)] and lines[400].split()[0].decode() == hashlib.sha256(data).hexdigest()
