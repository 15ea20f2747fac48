"""A shell that keeps its state between commands: where a command ends is never guessed from what it writes, and whatever
a command does to the shell, the next one works or is told why not."""

import hashlib
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from test_gateway import gateway
from websocket import Closed
from wire import SLOWNESS, STDERR, STDOUT, RemoteError

MIB = 1024 * 1024


class Shell:
    def __init__(self, client, session, **params):
        self.client, self.session = client, session
        self.process = client.call("shell.start", session=session, **params)["process"]

    def request(self, command, **params):
        return self.client.request("shell.run", session=self.session, process=self.process, command=command, **params)

    def run(self, command, **params):
        return self.client.call("shell.run", session=self.session, process=self.process, command=command, **params)

    def out(self, command, **params):
        """What a command writes that ends well and says nothing on stderr."""
        answer = self.run(command, **params)
        assert (answer["state"], answer["exit_code"], answer["stderr"]) == ("done", 0, b""), answer
        return answer["stdout"]


@pytest.fixture
def shell(client, session):
    return Shell(client, session)


def ending(shell):
    return shell.client.call("process.wait", session=shell.session, process=shell.process)


# Keeping


def test_state_is_kept_between_commands(client, session):
    shell = Shell(client, session, name="mine", cwd="/tmp", env={"GIVEN": "1"})
    assert shell.out("echo $PWD $GIVEN $0") == b"/tmp 1 bash\n"
    answer = shell.run("cd /; x=5; export y=6; f() { echo f $1; }; set -o pipefail; alias hi='echo hello'; umask 027")
    assert (answer["state"], answer["cwd"]) == ("done", "/")
    assert shell.out("echo $x; sh -c 'echo $y'; f 7; false | true; echo $?; hi; umask; pwd") == b"5\n6\nf 7\n1\nhello\n0027\n/\n"
    row = client.processes(session)[shell.process]
    assert (row["shell"], row["name"], row["stdin"], row["state"], row["argv"][0]) == (True, "mine", False, "running", "bash")


def test_two_hundred_directories_and_variables(shell):
    shell.run("cd /tmp")
    for i in range(200):
        answer = shell.run(f"mkdir -p d{i} && cd d{i} && export V{i}=v{i} && cd ../d{i}")
        assert (answer["exit_code"], answer["cwd"]) == (0, f"/tmp/d{i}")
        assert shell.out(f"sh -c 'echo $V{i} $V{i // 2}'; pwd; cd ..") == f"v{i} v{i // 2}\n/tmp/d{i}\n".encode()


def test_exit_codes_and_the_status_variable(shell):
    for code in (0, 1, 2, 7, 126, 255):
        assert shell.run(f"(exit {code})")["exit_code"] == code
        assert shell.out("echo $?") == f"{code}\n".encode()
    assert shell.run("sh -c 'kill -SEGV $$'")["exit_code"] == 139
    answer = shell.run("sh -c 'kill -KILL $$'")
    assert (answer["state"], answer["exit_code"]) == ("done", 137)


def test_a_thousand_commands_in_a_row(shell):
    shell.run("n=0")
    for i in range(1000):
        answer = shell.run(f"n=$((n + 1)); echo {i}; echo e{i} >&2")
        assert (answer["stdout"], answer["stderr"]) == (f"{i}\n".encode(), f"e{i}\n".encode())
    assert shell.out("echo $n") == b"1000\n"


def test_two_shells_at_once(client, session):
    shells = [Shell(client, session), Shell(client, session)]
    for n, shell in enumerate(shells):
        shell.run(f"cd /tmp; n={n}")
    slow = shells[0].request("sleep 1; echo $n")
    assert shells[1].out("echo $n") == b"1\n"
    assert slow not in client.answers
    assert client.answer(slow)["stdout"] == b"0\n"


def test_commands_wait_for_their_turn(client, shell):
    first = shell.request("sleep 0.5; echo first")
    waiting = [shell.request(f"echo {i}") for i in range(16)]
    with pytest.raises(RemoteError) as refused:
        shell.run("echo one too many")
    assert refused.value.code == "limit"
    client.send(0, [3, waiting[3]])  # it is taken out of the queue
    with pytest.raises(RemoteError) as cancelled:
        client.answer(waiting[3])
    assert cancelled.value.code == "cancelled"
    assert client.answer(first)["stdout"] == b"first\n"
    texts = [client.answer(number)["stdout"] for i, number in enumerate(waiting) if i != 3]
    assert texts == [f"{i}\n".encode() for i in range(16) if i != 3]


# Boundaries


def test_nothing_that_is_written_is_an_end(shell):
    answer = shell.run("echo EXITCODESTART0EXITCODEEND; echo UNIQUESTRING29234; false")
    assert (answer["stdout"], answer["exit_code"]) == (b"EXITCODESTART0EXITCODEEND\nUNIQUESTRING29234\n", 1)
    assert shell.out(r"printf '\001\001\001out\002\002\002err'; printf 'a\0b'") == b"\1\1\1out\2\2\2erra\0b"
    forged = "for f in 3 7 8 9 10 11 12 13 14 15 255; do printf '0123456789abcdef 0 /forged\\n\\0' >&$f; done 2>/dev/null; (exit 9)"
    answer = shell.run(forged)
    assert (answer["exit_code"], answer["cwd"]) == (9, "/work")
    assert shell.out("echo still") == b"still\n"


def test_what_it_executes_inherits_three_descriptors(shell):
    assert shell.out("ls /proc/self/fd") == b"0\n1\n2\n3\n"  # 3 is the directory that ls reads
    assert shell.out("(ls /proc/self/fd); ls /proc/self/fd | cat; x=$(ls /proc/self/fd); echo $x") == b"0\n1\n2\n3\n" * 2 + b"0 1 2 3\n"
    assert shell.out("python3 -c 'import os; print(os.readlink(\"/proc/self/fd/0\"))'") == b"/dev/null\n"


def test_binary_output(client, session, shell):
    answer = shell.run("head -c 1000000 /dev/urandom | tee /tmp/r; sha256sum </tmp/r >&2")
    assert (len(answer["stdout"]), answer["truncated"]) == (1000000, False)
    assert hashlib.sha256(answer["stdout"]).hexdigest() == answer["stderr"].split()[0].decode()
    everything = bytes(range(256)) * 100
    assert shell.out("cat", input=everything) == everything


def test_input_is_a_commands_own(shell):
    assert shell.out("cat; read x; echo $?") == b"1\n"  # /dev/null: what follows is not eaten
    assert shell.out("head -c 3", input=b"abcdef" * 100000) == b"abc"
    assert shell.out("read a; read b; echo $b-$a; cat", input=b"1\n2\nrest%d\\n'!") == b"2-1\nrest%d\\n'!"
    assert shell.out("wc -c", input=os.urandom(MIB)) == b"1048576\n"
    assert shell.out("wc -c", input=b"") == b"0\n"


@pytest.mark.parametrize("prefix", ["", "set -a; "])
def test_three_mebibytes_of_command(shell, prefix):
    body = "é!'\"$\\`%" * 20000
    body += "x" * (3 * MIB - len(body.encode()) - 100)
    command = f"{prefix}cat <<'END' | wc -c; /bin/true\n{body}\nEND\n"
    assert 3 * MIB - 200 < len(command.encode()) <= 3 * MIB
    assert shell.out(command) == f"{len(body.encode()) + 1}\n".encode()
    with pytest.raises(RemoteError) as refused:
        shell.run("#" + "x" * 3 * MIB)
    assert refused.value.code == "too_large"
    assert shell.out("echo $_sandbar_command.") == b".\n"


def test_output_is_live_and_stands_where_the_answer_says(client, session, shell):
    channel = client.attach(session)
    number = shell.request("echo early; echo err >&2; sleep 1; echo late")
    channel.wait(lambda view: view.data.get((shell.process, STDOUT)) == b"early\n")
    assert number not in client.answers
    first = client.answer(number)
    second = shell.run("echo more", stream=True)
    assert (second["stdout"], second["stderr"]) == (None, None)
    channel.wait(lambda view: view.length.get((shell.process, STDOUT), 0) == 16)
    out, err = channel.view.data[shell.process, STDOUT], channel.view.data[shell.process, STDERR]
    for answer, texts in ((first, (b"early\nlate\n", b"err\n")), (second, (b"more\n", b""))):
        (a, b), (c, d) = answer["offsets"]["stdout"], answer["offsets"]["stderr"]
        assert (bytes(out[a:b]), bytes(err[c:d])) == texts


def test_what_background_jobs_write_later_is_no_commands(client, session, shell):
    channel = client.attach(session)
    answer = shell.run("(sleep 0.3; echo late) & echo now")
    assert answer["stdout"] == b"now\n"
    channel.wait(lambda view: view.length.get((shell.process, STDOUT), 0) == 9)
    answer = shell.run("echo next")
    assert (answer["stdout"], answer["offsets"]["stdout"]) == (b"next\n", [9, 14])
    shell.run("yes >&2 & sleep 0.2")  # a flood beside: commands still end
    assert [shell.run("echo a")["stdout"] for _ in range(20)] == [b"a\n"] * 20
    shell.run("kill %%")


def test_who_steals_output_cannot_hang_its_shell(server, client, session, shell):
    """The end of a command's output waits in the pipe, since a client holds it back; a background job opens the pipe and takes
    it. The command is answered all the same, and so is the next."""
    with server.client() as holder:
        holder.call("session.attach", session=session, mode="lossless", credit=0)
        thief = "(sleep 1; exec cat </proc/self/fd/1 >/tmp/stolen) & head -c 1250000 /dev/zero; echo end"
        answer = shell.client.answer(shell.request(thief), 20 * SLOWNESS)
        offsets = answer["offsets"]["stdout"]
        assert (answer["state"], answer["exit_code"]) == ("done", 0) and MIB <= offsets[1] - offsets[0] < 1250004, answer
    assert shell.run("kill $!; :")["state"] == "done"


def test_an_answer_is_bounded(shell):
    answer = shell.run("head -c 3000000 /dev/zero; echo e >&2", max_output=1000)
    assert (len(answer["stdout"]), answer["stderr"], answer["truncated"]) == (1000, b"e\n", True)
    assert answer["offsets"]["stdout"] == [0, 3000000]


# Recovering


@pytest.mark.parametrize("command", [
    "sleep 100; echo after", "while :; do :; done", "while :; do sleep .1; done", "f() { f2; }; f2() { sleep 100; }; f; f",
    "x=$(sleep 100; echo x); echo after", "sleep 100 | cat; echo after", "(sleep 100); echo after", "read x < <(sleep 100); echo after",
    "cat </dev/zero >/dev/null", "wait $(sleep 100)"])
def test_a_stuck_command_is_interrupted_and_the_shell_goes_on(shell, command):
    shell.run("cd /tmp; kept=1; sleep 300 & job=$!")
    begun = time.monotonic()
    answer = shell.run(f"echo partial; {command}", wall_ms=300)
    assert (answer["state"], answer["exit_code"], answer["cwd"]) == ("interrupted", 130, "/tmp")
    assert (answer["stdout"], answer["stderr"]) == (b"partial\n", b"")
    assert time.monotonic() - begun < 3 * SLOWNESS
    assert shell.out("echo $kept $PWD; kill -0 $job && echo job") == b"1 /tmp\njob\n"


@pytest.mark.parametrize("ignored", ["INT", "INT TERM"])
def test_a_child_that_ignores_signals_is_killed(shell, ignored):
    shell.run("kept=1")
    answer = shell.run(f"bash -c \"trap '' {ignored}; sleep 100; sleep 100\"", wall_ms=200, grace_ms=300)
    assert (answer["state"], answer["cwd"]) == ("interrupted", "/work")
    assert shell.out("echo $kept") == b"1\n"


def test_a_cancelled_command_is_interrupted(client, shell):
    shell.run("kept=1")
    number = shell.request("touch /tmp/begun; sleep 100; touch /tmp/PROOF")
    time.sleep(0.5 * SLOWNESS)
    client.send(0, [3, number])
    with pytest.raises(RemoteError) as cancelled:
        client.answer(number)
    assert (cancelled.value.code, cancelled.value.data) == ("cancelled", {"state": "interrupted"})
    assert shell.out("echo $kept; ls /tmp") == b"1\nbegun\n"


def test_a_command_that_is_cancelled_at_once_does_not_end_its_shell(client, session):
    """It is given up while bash still starts, which an interrupt would end: the command is out of the queue, and nothing else."""
    for _ in range(15):
        shell = Shell(client, session)
        number = next(client.ids)
        client.send(0, [0, number, "shell.run", [{"session": session, "process": shell.process, "command": "sleep 5"}]], [3, number])
        with pytest.raises(RemoteError) as cancelled:
            client.answer(number)
        assert cancelled.value.code == "cancelled" and (cancelled.value.data or {}).get("state") in (None, "interrupted"), cancelled.value.data
        assert shell.out("echo alive") == b"alive\n"
        client.call("process.kill", session=session, process=shell.process)


def test_a_client_that_leaves_interrupts_its_command(server, client, session):
    shell = Shell(client, session)
    with server.client() as other:
        other.request("shell.run", session=session, process=shell.process, command="kept=1; sleep 100; kept=2")
        time.sleep(0.5 * SLOWNESS)
    assert shell.out("echo $kept") == b"1\n"


@pytest.mark.parametrize("command, code, text", [
    ("if then", 2, b"syntax error"), ("echo 'unterminated", 2, b"unexpected EOF"), ("echo ${x:?gone}; echo no", 1, b"gone"),
    ("readonly r=1; r=2; echo no", 1, b"readonly variable"), ("nosuchcommand", 127, b"command not found"), ("set -u; echo $nosuch; echo no", 1, b"unbound"),
    ("exec /nosuchprogram", 127, b"No such file"), ("}", 2, b"syntax error"), ("x=(", 1, b"unexpected"), ("cat <<END\nno end", 0, b"")])
def test_an_error_in_a_command_does_not_end_the_shell(shell, command, code, text):
    shell.run("kept=1")
    answer = shell.run(command)
    assert (answer["state"], answer["exit_code"]) == ("done", code), answer
    assert text in answer["stderr"]
    assert b"no\n" != answer["stdout"]
    assert shell.run("echo $kept")["stdout"] == b"1\n"


@pytest.mark.parametrize("command", [
    "read() { :; }; eval() { :; }; printf() { echo no; }; pwd() { echo /forged; }", "unset PATH; PATH=", "alias builtin=no eval=no printf=no",
    "exec 0</dev/null 7>&- 8>&- 9>&-", "exec >/dev/null 2>&1", "trap 'echo DEBUG' DEBUG; trap 'echo ERR' ERR", "set -x", "set -v", "set -n", "set -f; set -b; set -k",
    "PROMPT_COMMAND='echo prompt; false'; PS1='$(echo ps1)'; PS0=ps0", "IFS=0123456789", "set -u; set -o noclobber; set -o posix", "shopt -s extglob nullglob failglob nocasematch",
    "set -o history -H; HISTFILE=/tmp/h", "trap '' TERM HUP", "_sandbar_command=x",
    "set -a; _sandbar_command=$(printf %200000d 0)",
    "cd /tmp; mkdir gone; cd gone; rmdir ../gone", "LC_ALL=C", "LANG=ja_JP.SJIS"])
def test_what_a_command_does_to_the_shell_does_not_break_it(shell, command):
    shell.run(f"kept=1; {command}")
    answer = shell.run('/bin/echo "$kept"; (exit 4)')
    assert (answer["state"], answer["exit_code"]) == ("done", 4)
    assert [line for line in answer["stdout"].split() if line not in (b"DEBUG", b"ERR")] == [b"1"]
    assert len(shell.run("x='" + "é" * 5000 + "'; echo ${#x}")["stdout"]) > 0
    answer = shell.run("cd /")
    assert (answer["state"], answer["cwd"]) == ("done", "/")


@pytest.mark.parametrize("command, code, reason", [
    ("echo last; exit 3", 3, "exited"), ("echo last; kill -9 $$", 137, "signal"), ("exec sh -c 'echo last; exit 4'", 4, "exited"),
    ("set -e; echo last; false; echo no", 1, "exited"), ("trap 'echo last' EXIT; exit 5", 5, "exited")])
def test_a_shell_that_ends_says_so(shell, command, code, reason):
    waiting = None
    if "exit 3" in command:
        shell.request("sleep 0.3")
        number = shell.request(command)
        waiting = shell.request("echo never")
        answer = shell.client.answer(number)
    else:
        answer = shell.run(command)
    assert (answer["state"], answer["exit_code"], answer["cwd"], answer["stdout"]) == ("exited", code, None, b"last\n")
    assert (ending(shell)["exit_code"], ending(shell)["reason"]) == (code, reason)
    for again in (waiting, shell.request("echo never")):
        if again:
            with pytest.raises(RemoteError) as refused:
                shell.client.answer(again)
            assert refused.value.code == "process_exited"


@pytest.mark.parametrize("command, wall_ms", [
    ("builtin() { :; }", 0), ("enable -n eval", 0), ("enable -n printf", 0),
    ("cat <&10 >/dev/null", 0),
    ("trap '' INT; while :; do :; done", 500), ("kill -STOP $$", 500), ("suspend -f", 500)])
def test_a_poisoned_shell_is_told(shell, command, wall_ms):
    begun = time.monotonic()
    answer = shell.run(f"sleep 300 & {command}", wall_ms=wall_ms, grace_ms=500)
    assert (answer["state"], answer["cwd"]) == ("lost", None), answer
    assert answer["message"]
    assert time.monotonic() - begun < 5 * SLOWNESS
    assert (ending(shell)["reason"], ending(shell)["control"]) == ("killed", "shell")


def test_a_shell_is_killed_while_it_runs(client, session, shell):
    number = shell.request("echo partial; sleep 100")
    time.sleep(0.3 * SLOWNESS)
    client.call("process.kill", session=session, process=shell.process)
    answer = client.answer(number)
    assert (answer["state"], answer["exit_code"], answer["stdout"]) == ("exited", 137, b"partial\n")


def test_a_session_that_ends_answers(client):
    """What a command that runs is told, and one that waits: behind another, or until the shell is up."""
    session = client.create()
    shell, starting = Shell(client, session), Shell(client, session)
    assert shell.out("echo up") == b"up\n"
    running, behind, early = shell.request("sleep 100"), shell.request("echo never"), starting.request("sleep 100")
    client.call("session.end", session=session)
    assert client.answer(running)["state"] in ("exited", "lost")
    with pytest.raises(RemoteError) as refused:
        client.answer(behind)
    assert refused.value.code == "process_exited"
    try:  # bash may be up by now
        assert client.answer(early)["state"] in ("exited", "lost")
    except RemoteError as error:
        assert error.code == "process_exited"


def test_what_is_asked_wrongly_is_told(client, session, shell):
    process = client.start(session, "sleep", "100")
    for params, code in (({"process": process, "command": ":"}, "conflict"), ({"process": 4711, "command": ":"}, "not_found"),
                         ({"process": shell.process}, "invalid_params"), ({"process": shell.process, "command": "a\0b"}, "invalid_params"),
                         ({"process": shell.process, "command": ":", "max_output": 2 * MIB}, "invalid_params")):
        with pytest.raises(RemoteError) as refused:
            client.call("shell.run", session=session, **params)
        assert refused.value.code == code, params
    channel = client.attach(session)
    client.send(channel.number, [48, shell.process, 0, b"echo injected\n"])
    channel.wait(lambda _: channel.errors)
    assert shell.out("echo own") == b"own\n"


# The command `sandbar shell`


def command(server, *argv, text=None, **options):
    process = server.command("shell", *argv, **({"stdin": subprocess.PIPE} if text is not None else {}), **options)
    out, err = process.communicate(text, timeout=60)
    return process.returncode, out, err


def test_the_command_runs_in_the_sessions_shell(server, client, session):
    assert command(server, session, "--", "cd /tmp; x=5; echo out; echo err >&2; (exit 3)") == (3, b"out\n", b"err\n")
    assert command(server, session, "echo", "$x", "$PWD;", "printf", "'a\\0b'") == (0, b"5 /tmp\na\0b", b"")
    assert command(server, session, "--new", "--name", "second", "--", "echo .$x.") == (0, b"..\n", b"")
    first, second = (row for row in client.processes(session).values())
    assert (first["shell"], second["shell"], second["name"]) == (True, True, "second")
    assert command(server, session, "--process", "1", "--", "echo .$x.") == (0, b".5.\n", b"")
    assert command(server, session, text=b"y=6\nfor i in 1 2; do\necho $i$y\ndone\n") == (0, b"16\n26\n", b"")
    code, out, err = command(server, session, "--", "head -c 5000000 /dev/zero")
    assert (code, out, err) == (0, bytes(5000000), b"")
    code, out, err = command(server, session, "--wall", "200ms", "--", "echo a; sleep 100")
    assert (code, out) == (130, b"a\n") and b"interrupted" in err
    code, out, err = command(server, session, "--", "echo last; exit 7")
    assert (code, out) == (7, b"last\n") and b"ended with the command" in err
    assert command(server, session, "--", "echo $x.") == (0, b"5.\n", b"")  # the newest that is left: the first
    code, out, _ = command(server, "--json", session, "--", "echo a")
    assert (code, json.loads(out)["state"], json.loads(out)["exit_code"]) == (0, "done", 0)
    assert command(server, "nosuchsession", "--", ":")[0] == 125


def test_an_interrupt_reaches_the_command_and_the_shell_goes_on(server, session):
    process = server.command("shell", session, "--", "x=5; echo begun; sleep 100; x=6")
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert command(server, session, "--", "echo $x") == (0, b"5\n", b"")


# Gateways that die


def reconnect(server):
    deadline = time.monotonic() + 30
    while True:
        try:
            return server.client()
        except (Closed, OSError):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_shells_survive_the_gateway(start_server):
    server = start_server()
    with server.client() as client:
        session = client.create()
        idle, busy, large = (Shell(client, session) for _ in range(3))
        for shell in (idle, busy, large):
            shell.run("cd /tmp; kept=1")
        busy.request("echo begun; sleep 100; kept=2")
        large.request("kept=2; : " + "x" * 3000000)  # perhaps cut off half way
        time.sleep(0.2)
        os.kill(gateway(server), signal.SIGKILL)
        with pytest.raises(Closed):
            client.wait(lambda: False)
        client.closed = None
        client.socket.shut()
    with reconnect(server) as client:
        for shell in (idle, busy, large):
            shell.client = client
            answer = shell.run("echo $kept")
            assert (answer["state"], answer["exit_code"], answer["cwd"]) == ("done", 0, "/tmp")
            assert answer["stdout"] == b"1\n" or shell is large
        assert idle.run("sleep 100", wall_ms=200)["state"] == "interrupted"
        client.call("session.end", session=session)


@pytest.mark.seconds(120)
def test_shells_of_many_clients_at_once(server):
    faults = []

    def work(number):
        try:
            with server.client() as client:
                session = client.create()
                shell = Shell(client, session)
                for i in range(50):
                    assert shell.out(f"echo {number}.{i}") == f"{number}.{i}\n".encode()
                client.call("session.end", session=session)
        except Exception as fault:  # noqa: BLE001
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
