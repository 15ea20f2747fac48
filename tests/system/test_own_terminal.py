"""The user's own terminal: whatever a session wrote, by whatever command it comes, reaches it only as far as it draws."""

import os
import pty
import signal
import subprocess
import threading
import time

import pytest

PATIENCE = 40

# It asks, writes the clipboard, sets modes in several ways; and then it draws.
ATTACK = (rb"\033[6n\033[c\033]11;?\007\033]52;c;c3RvbGVu\007\033P$qm\033\\\033[?;2048h\033[?2031h\033[2h\033[?1049s"
          rb"\033[?;1003h\033[?25l\033[4h\033[31mred\033[0m\303\244\n")
FORBIDDEN = (b"\033[6n", b"\033[c", b"?\007", b"]52", b"\033P", b"2048", b"2031", b"\033[2h", b"1049s")
UNDONE = (b"\033[?1003l", b"\033[?25h", b"\033[4l")
RAW = ATTACK.replace(rb"\033", b"\033").replace(rb"\007", b"\007").replace(rb"\\", b"\\").replace(rb"\303\244", b"\303\244").replace(rb"\n", b"\n")


class Terminal:
    """A terminal whose other end keeps every byte that comes."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.bytes = b""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while piece := os.read(self.master, 65536):
                self.bytes += piece
        except OSError:  # nobody has the terminal any more
            pass

    def wait(self, wanted):
        deadline = time.monotonic() + PATIENCE
        while wanted not in self.bytes:
            assert time.monotonic() < deadline, (wanted, self.bytes)
            time.sleep(.05)

    def end(self):
        """All that came."""
        os.close(self.slave)
        self.reader.join(PATIENCE)
        os.close(self.master)
        return self.bytes


@pytest.fixture
def terminal():
    return Terminal()


def check(came):
    """It was drawn, and nothing else came; and what was set is as it was."""
    assert b"\033[31mred\033[0m\303\244" in came, came
    assert not [what for what in FORBIDDEN if what in came], came
    for undo in UNDONE:
        assert came.rfind(undo) > came.find(b"red"), (undo, came)


def script(stream):
    return ["sh", "-c", f"printf '{ATTACK.decode()}' >&{stream}"]


@pytest.fixture
def attacked(server, made):
    """A session whose processes wrote the attack: 1 to stdout, 2 to stderr."""
    with server.client() as client:
        for stream in (1, 2):
            client.run(made, script(stream)[2])
    return made


@pytest.mark.parametrize("how", ["exec", "run", "exec -t", "shell"])
@pytest.mark.parametrize("stream", [1, 2])
def test_a_command_whose_output_is_a_terminal(server, made, terminal, how, stream):
    """Nothing is typed into it: with or without a terminal inside, on stdout and on stderr."""
    words = {"run": ["run"], "shell": ["shell", made]}.get(how, [*how.split(), made])
    argv = script(stream)[2:] if how == "shell" else script(stream)
    code = server.command(*words, "--", *argv, stdout=terminal.slave, stderr=terminal.slave).wait(PATIENCE)
    assert code == 0, terminal.bytes
    check(terminal.end())


@pytest.mark.parametrize("there", [1, 2])
def test_the_other_stream_is_a_file(server, made, terminal, tmp_path, there):
    """A file gets each byte as it was written; the terminal on the other descriptor is none the worse for it."""
    streams = {"stdout" if there == 1 else "stderr": terminal.slave}
    with open(tmp_path / "file", "wb") as file:
        streams["stderr" if there == 1 else "stdout"] = file
        both = f"printf '{ATTACK.decode()}'; printf '{ATTACK.decode()}' >&2"
        assert server.command("exec", made, "--", "sh", "-c", both, **streams).wait(PATIENCE) == 0
    assert (tmp_path / "file").read_bytes() == RAW
    check(terminal.end())


def test_a_terminal_inside_and_a_file_outside(server, made, terminal, tmp_path):
    """`exec -t >file`, typed at a terminal: the file gets what was written (without the echo of what the terminal inside answers)."""
    quiet = ["sh", "-c", f"stty raw -echo; printf '{ATTACK.decode()}'"]
    with open(tmp_path / "file", "wb") as file:
        process = server.command("exec", "-t", made, "--", *quiet, stdin=terminal.slave, stdout=file, stderr=terminal.slave)
    assert process.wait(PATIENCE) == 0
    terminal.end()
    assert (tmp_path / "file").read_bytes() == RAW


@pytest.mark.parametrize("there", [1, 2])
def test_logs_on_a_terminal(server, attacked, terminal, tmp_path, there):
    """`logs`, `logs >file` and `logs 2>file`."""
    with open(tmp_path / "file", "wb") as file:
        streams = {"stdout": file, "stderr": file} | {"stdout" if there == 1 else "stderr": terminal.slave}
        assert server.command("logs", attacked, **streams).wait(PATIENCE) == 0
    assert (tmp_path / "file").read_bytes() == RAW
    check(terminal.end())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_logs_that_are_left_by_a_signal(server, attacked, terminal, number):
    """`logs -f` ends by the signal, as ever; the terminal is left as it was."""
    process = server.command("logs", "-f", attacked, stdout=terminal.slave, stderr=terminal.slave)
    terminal.wait(b"\033[0m\303\244\r\n")
    process.send_signal(number)
    assert process.wait(PATIENCE) == -number
    check(terminal.end())


@pytest.mark.parametrize("flags", [(), ("--safe",)])
def test_attach_to_a_process_without_a_terminal(server, made, terminal, flags):
    """What comes out of its pipes is filtered; with --safe it is text alone."""
    with server.client() as client:
        process = client.start(made, "sh", "-c", f"printf '{ATTACK.decode()}'; printf '{ATTACK.decode()}' >&2; sleep 3; exit 5")
    code = server.command("attach", *flags, made, str(process), stdin=terminal.slave, stdout=terminal.slave, stderr=terminal.slave).wait(PATIENCE)
    assert code == 5, terminal.bytes
    came = terminal.end()
    if not flags:
        check(came)
    assert not flags or came.replace(b"\r\n", b"\n") == "redä\nredä\n".encode(), came


@pytest.mark.parametrize("flags, passes", [((), False), (("--allow-clipboard",), True)])
def test_the_clipboard_of_who_allows_it(server, made, terminal, flags, passes):
    """--allow-clipboard means the same without -t."""
    code = server.command("exec", *flags, made, "--", *script(1), stdout=terminal.slave, stderr=terminal.slave).wait(PATIENCE)
    assert code == 0 and (b"\033]52;c;c3RvbGVu\007" in terminal.end()) == passes


# ---- The link that is asked for ----

def echoes(screen, name):
    """Whether the terminal shows what is typed, as the shell's next command finds it."""
    screen.type(f"stty -a | tr ' ;' '\\n\\n' | sed -n 's/^-echo$/{name}-is-off/p; s/^echo$/{name}-is-on/p'")
    return f"{name}-is-on" in screen.see(lambda text: f"\n{name}-is-o" in text)


def child(screen, name):
    """The program that runs in this screen's shell."""
    shell = screen.tmux("display-message", "-p", "#{pane_pid}").strip()
    deadline = time.monotonic() + PATIENCE
    while not (found := subprocess.run(["pgrep", "-P", shell, "-x", name], capture_output=True, text=True).stdout.split()):
        assert time.monotonic() < deadline
        time.sleep(.05)
    return int(found[0])


@pytest.mark.parametrize("how, code", [("C-c", 130), ("C-\\", 131), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_who_leaves_at_the_prompt_for_a_link(server, screens, made, how, code):
    """The signal ends it as before, and what is typed afterwards is shown."""
    screen = screens("one")
    screen.type("ulimit -c 0")
    screen.run(server.sandbar("attach", "-"))
    screen.see("Link:")
    if isinstance(how, str):
        screen.type("secret", enter=False)
        screen.keys(how)
    else:
        os.kill(child(screen, "sandbar"), how)
    screen.see(lambda text: text.rstrip().endswith("READY>") and "Link:" in text)
    screen.type("echo code-$?")
    screen.see(f"code-{code}")
    assert echoes(screen, "echo")
    assert "secret" not in screen.text()


def test_who_stops_at_the_prompt_for_a_link(server, screens, made):
    """^Z gives the shell its terminal back as it was; `fg` asks anew, in silence."""
    link = server.command("share", made, "--uses", "2").communicate(timeout=PATIENCE)[0].decode().strip()
    screen = screens("one")
    screen.run(server.sandbar("who", "-"))
    screen.see("Link:")
    screen.type("half of it", enter=False)
    screen.keys("C-z")
    screen.see(lambda text: text.rstrip().endswith("READY>") and "Link:" in text)
    assert echoes(screen, "first")
    screen.type("clear; fg")
    screen.see("Link:")
    screen.type(link)
    screen.see("PARTICIPANT")
    assert link.split("#")[1][:20] not in screen.text() and "half of it" not in screen.text()
    assert echoes(screen, "second")
