"""People who share a session from several command lines: in terminals of different sizes, handing over, watching, under attack."""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest
from cast import Cast
from proxy import Proxy
from screen import Screen
from test_gateway import gateway

PATIENCE = 40
KEY = "C-]"


def start(server, session, *argv, cols=80, rows=23):
    with server.client() as client:
        return client.start(session, *argv, terminal={"cols": cols, "rows": rows})


def run(server, session, script):
    with server.client() as client:
        return client.run(session, script)["stdout"]


def terminal_of(server, session, process):
    """How it is shared, as who attaches hears it."""
    with server.client() as client:
        return next(one for one in client.attach(session).answer["terminals"] if one["process"] == process)


def until(done, what, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not (value := done()):
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
    return value


def sandbar(server, *argv, data=None, fails=False):
    process = server.command(*argv, stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL)
    out, err = process.communicate(data, PATIENCE)
    assert (process.returncode != 0) == fails, (argv, process.returncode, err)
    return (out if not fails else err).decode()


def join(server, screen, name, session, *flags):
    screen.run(server.sandbar("attach", "--name", name, *flags, session))
    screen.see(lambda text: "READY>" not in text.split("\n")[0] or "here" in text)
    return screen


def test_one_vim_in_windows_of_three_sizes(server, screens, made):
    """Two work in one vim in windows of different sizes, a third watches in a small one: all see the same cells."""
    start(server, made, "vim.basic", "-u", "NONE", "-N", "-c", "syntax on", "story.c")
    small = join(server, screens("small", cols=80, rows=24), "anna", made)
    small.see("~")
    large = join(server, screens("large", cols=120, rows=40), "bert", made)
    tiny = join(server, screens("tiny", cols=40, rows=12), "carl", made, "--view")
    large.see("3 here")
    small.type("iint main(void) { return 42; } // 日本 größer", enter=False)
    large.see("größer")
    large.type("", enter=True)
    large.type('char *text = "from the large one";', enter=False)
    small.see("from the large one")
    small.keys("Escape")
    until(lambda: small.cells(23, 80) == large.cells(23, 80), "the two show the same cells")
    until(lambda: tiny.cells(11, 30)[0] == small.cells(11, 30)[0], "the small window shows the part around the cursor")
    assert "anna" not in large.cells(23, 120)[0]
    large.type(":q!")


def test_a_terminal_is_handed_over(server, screens, made):
    """Where one drives at a time: taken by a key, asked for, handed over; the others' keys do nothing, and they are told."""
    process = start(server, made, "sh")
    sandbar(server, "terminal", made, str(process), "--input", "driver")
    anna = join(server, screens("anna"), "anna", made)
    bert = join(server, screens("bert"), "bert", made)
    anna.see("nobody drives")
    anna.type("echo no-$((1+1))")
    anna.see("nobody drives: ^] t takes it")
    anna.keys(KEY, "t")
    bert.see("anna drives")
    anna.type("echo yes-$((1+1))")
    bert.see("yes-2")
    bert.type("echo bad-$((1+1))")
    bert.see("anna drives: ^] r asks for it")
    bert.keys(KEY, "r")
    anna.see("bert asks to drive: ^] g hands over")
    listed = sandbar(server, "who", made)
    assert re.search(r"drives 1 .* anna", listed) and re.search(r"asks for 1 .* bert", listed), listed
    anna.keys(KEY, "g")
    bert.see("you drive")
    anna.see("bert drives")
    bert.type("echo fine-$((1+1))")
    anna.see("fine-2")
    assert "no-2" not in anna.text() and "bad-2" not in anna.text()
    bert.keys(KEY, "r")
    anna.see("nobody drives")


def test_who_started_it_and_does_not_drive(server, screens, made):
    """In the window of `exec -t` keys are refused while another may drive: it is said once, and the exit code stays the program's."""
    first = screens("first")
    first.type(shlex.join(server.sandbar("exec", "-t", made, "--", "sh")) + "; echo code-$?")
    first.see("$")
    sandbar(server, "terminal", made, "--input", "driver")
    first.type("echo bad-$((1+1))")
    first.see("only who drives may type")
    first.type("echo worse-$((1+1))")
    sandbar(server, "terminal", made, "--input", "open")
    first.type("echo good-$((1+1))")
    shown = first.see("good-2")
    assert "bad-2" not in shown and "worse-2" not in shown and shown.count("only who drives") == 1, shown
    first.type("exit 5")
    first.see("code-5")


def test_a_viewer_types_nothing(server, screens, made):
    """Who only watches sees what others type; her own keys reach nobody, and ^C leaves."""
    start(server, made, "sh")
    anna = join(server, screens("anna"), "anna", made)
    bert = join(server, screens("bert"), "bert", made, "--view")
    bert.see("you: viewer")
    bert.type("echo never-$((1+1))")
    bert.see("you are a viewer")
    anna.type("echo seen-$((1+1))")
    bert.see("seen-2")
    assert "never" not in anna.text()
    bert.keys("C-c")
    bert.see(lambda text: text.rstrip().endswith("READY>"))
    anna.see("1 here")


def test_an_owner_changes_a_role_and_removes(server, screens, made):
    """Somebody joins by a link as an editor, is made a viewer, and removed; the link is of no use afterwards."""
    start(server, made, "sh")
    link = sandbar(server, "share", made, "--role", "editor", "--name", "guest", "--uses", "2").strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#\S+", link)
    guest = screens("guest")
    guest.run([*server.sandbar("attach", "-")])
    guest.see("Link:")
    guest.type(link)
    guest.see("you: editor")
    assert link.split("#")[1][:20] not in guest.text()
    guest.type("echo in-$((1+1))")
    guest.see("in-2")
    listed = sandbar(server, "who", made)
    assert re.search(r"editor .* guest", listed), listed
    sandbar(server, "role", made, "guest", "viewer")
    guest.see("you are viewer now")
    guest.type("echo not-$((1+1))")
    guest.see("you are a viewer")
    sandbar(server, "kick", made, "guest")
    guest.see(lambda text: text.rstrip().endswith("READY>"))
    assert "forbidden" in sandbar(server, "who", link, fails=True) or "unauthenticated" in sandbar(server, "who", link, fails=True)
    share = json.loads(sandbar(server, "share", "ls", made, "--json"))["shares"][0]
    assert share["name"] == "guest" and share["used"] == 1
    sandbar(server, "share", "revoke", made, share["share"])
    assert json.loads(sandbar(server, "share", "ls", made, "--json"))["shares"][0]["revoked"]


def test_what_is_not_there_to_be_revoked(server, made):
    """Which command lists what there is, is said as a command, not as a method of the wire."""
    told = sandbar(server, "share", "revoke", made, "nothing", fails=True)
    assert "the session has no share `nothing` (not_found)" in told and f"`sandbar share ls {made}` lists" in told, told
    told = sandbar(server, "token", "revoke", "nothing", fails=True)
    assert "there is no token `nothing` (not_found)" in told and "`sandbar token ls` lists" in told, told


def test_a_link_does_not_stand_in_the_list_of_processes(server, made):
    """The token of a link that was given as an argument is overwritten there as soon as it was read."""
    link = sandbar(server, "share", made).strip()
    process = server.command("logs", "-f", link)
    cmdline = pathlib.Path(f"/proc/{process.pid}/cmdline")
    until(lambda: b"#" not in cmdline.read_bytes() or link.split("#")[1].encode() not in cmdline.read_bytes(), "it is gone")
    process.terminate()
    process.wait(PATIENCE)


HOSTILE = (r"\033]52;c;c3RvbGVu\007\033]2;evil\033[6n\007\033[6n\033[c\033[>c\033[=c\033[5n\033]11;?\007\033]4;1;?\033\\\033P$qm\033\\"
           r"\033[18t\033[>q\033[?2026$p\302\2336n\033]2;quiet\302\233title\007\033[8;10;20t\033Z\005"
           r"\033Ptmux;\033\033]52;c;c3RvbGVu\007\033\\end-of-attack")


@pytest.mark.parametrize("flags", [(), ("--no-status",), ("--view",)])
def test_a_hostile_program_reaches_nothing(server, screens, made, flags):
    """It asks whatever terminals answer, and writes to the clipboard: when people watch, and when they come later. No emulator's
    answer comes to it: at most the server's, once."""
    script = f"stty raw -echo; exec 3<&0; cat <&3 > typed & printf '{HOSTILE}'; until [ -e go ]; do sleep .1; done; printf '{HOSTILE}-again'; wait"
    start(server, made, "bash", "-c", script, cols=100, rows=30)
    time.sleep(1)
    before = run(server, made, "cat typed")
    assert before.count(b"\033[1;1R") == 3 and b"sandbar" in before, "the server answers, with nobody there"
    watchers = [screens(f"w{number}") for number in range(2)]
    for number, screen in enumerate(watchers):
        screen.tmux("set", "-s", "set-clipboard", "on")
        screen.run(server.sandbar("attach", *flags, made))
        screen.see("end-of-attack")
    time.sleep(1)
    assert run(server, made, "cat typed") == before, "a replay made a terminal type"
    run(server, made, "touch go")
    for screen in watchers:
        screen.see("end-of-attack-again")
    time.sleep(1)
    live = run(server, made, "cat typed")[len(before):]
    assert re.sub(rb"\d+", b"0", live) == re.sub(rb"\d+", b"0", before), "an emulator answered, beside the server"
    for screen in watchers:
        assert "stolen" not in screen.tmux("list-buffers")
        assert screen.tmux("display-message", "-p", "#{window_width}x#{window_height}").strip() == "100x30"


def test_names_and_notes_steer_nothing(server, screens, made):
    """A name and a note with control characters are shown as they are written, and the lists have them escaped."""
    start(server, made, "sh")
    anna = join(server, screens("anna"), "anna", made)
    with server.client(name="evil") as client:
        client.attach(made, name="ev\x1b[2Jil\x07")
        anna.see("2 here")
        client.call("session.note", session=made, text="now\x1b]2;pwned\x07 and \x1b[6n", process=None)
        anna.see("now\\e]2;pwned\\x07")
        listed = sandbar(server, "who", made)
    assert "\x1b" not in listed and "ev\\e[2Jil" in listed
    assert "pwned" not in anna.tmux("display-message", "-p", "#{pane_title}")


def test_a_driver_is_cut_in_the_middle_of_a_paste(server, screens, made, tmp_path):
    """The link of who drives breaks while 100 kB are pasted: they arrive whole, once, and the driver is the same."""
    text = "".join(f"line {number:06d} of the paste;" for number in range(4000))
    (tmp_path / "paste").write_text(text)
    script = f"stty raw -echo; echo ready; head -c {len(text)} | sha256sum; sleep 1000"
    process = start(server, made, "sh", "-c", script, cols=100, rows=29)
    proxy = Proxy(server.address)
    anna = screens("anna")
    anna.run(server.sandbar_at(proxy.address, "attach", "--name", "anna", made))
    anna.see("ready")
    anna.keys(KEY, "t")
    anna.see("you drive")
    anna.tmux("load-buffer", str(tmp_path / "paste"))
    anna.tmux("paste-buffer", "-r")
    for _ in range(3):
        time.sleep(0.15)
        proxy.cut()
    anna.see(hashlib.sha256(text.encode()).hexdigest())
    anna.see("you drive")
    until(lambda: (at := terminal_of(server, made, process))["driver"] and not at["away"], "she drives on")
    proxy.close()


def test_the_gateway_dies_while_three_are_attached(start_server, tmp_path):
    """One drives, one watches, one draws screens; the gateway is killed: nobody is sent away, the driver drives on, all see the same."""
    server = start_server()
    with server.client() as client:
        session = client.create()
        process = client.start(session, "sh", terminal={"cols": 100, "rows": 29})
    opened = [Screen(tmp_path, name, server.shell_environment() | {"TERM": "xterm-256color"}) for name in ("anna", "bert", "carl")]
    try:
        for screen, flags in zip(opened, ((), ("--view",), ("--safe",))):
            screen.run(server.sandbar("attach", "--name", screen.name, *flags, session))
            screen.see("here")
        sandbar(server, "terminal", session, str(process), "--input", "driver")
        opened[0].keys(KEY, "t")
        opened[1].see("anna drives")
        os.kill(gateway(server), signal.SIGKILL)
        opened[0].type("echo after-$((1+1))")
        for screen in opened:
            screen.see("after-2")
            screen.see("3 here")
        opened[2].see("anna drives")
        until(lambda: opened[0].cells(29, 100) == opened[1].cells(29, 100) == opened[2].cells(29, 100), "all show the same")
    finally:
        for screen in opened:
            screen.end()


def test_safe_shows_the_same_cells(server, screens, made):
    """One attaches as usual, one with --safe, who gets pictures and no output: both show the same."""
    start(server, made, "vim.basic", "-u", "NONE", "-N", "-c", "syntax on", "story.c")
    usual = join(server, screens("usual", cols=80, rows=24), "anna", made)
    safe = join(server, screens("safe", cols=80, rows=24), "bert", made, "--safe")
    safe.see("2 here")
    usual.type("iint main(void) { return 0x2a; } /* 日本 */", enter=False)
    safe.see("0x2a")
    safe.type(" // safe", enter=False)
    usual.see("// safe")
    usual.keys("Escape")
    until(lambda: usual.cells(23, 80) == safe.cells(23, 80), "both show the same cells")
    usual.type(":q!")


def test_the_window_is_left_as_it_was(server, screens, made):
    """Somebody attaches in the middle of an editor, and leaves: what was on the own screen is there, and its modes."""
    start(server, made, "vim.basic", "-u", "NONE", "-N", "-c", "set mouse=a", "story")
    screen = screens("one")
    screen.type("echo remember-$((1+1))")
    screen.see("remember-2")
    screen.run(server.sandbar("attach", made))
    screen.see("~")
    screen.keys(KEY, "d")
    screen.see(lambda text: "remember-2" in text and text.rstrip().endswith("READY>"))
    assert screen.tmux("display-message", "-p", "#{mouse_any_flag}#{alternate_on}#{cursor_flag}").strip() == "001"


def test_without_a_status_line(server, screens, made):
    """--no-status: the program has the whole window, and the key's line comes and goes over it."""
    start(server, made, "sh", cols=100, rows=30)
    screen = screens("one")
    screen.run(server.sandbar("attach", "--no-status", made))
    screen.see("$")
    screen.type("clear; stty size; echo done-$((1+1))")
    screen.see("30 100")
    before = screen.see("done-2")
    assert "here" not in before
    screen.keys(KEY)
    screen.see("d leave")
    screen.keys("Escape")
    until(lambda: screen.text() == before, "what was under the line is there again")
    screen.keys(KEY, "l")
    screen.see("owner")
    screen.keys("x")
    until(lambda: screen.text() == before, "and under the list")


def record(server, session, *flags):
    return Cast(sandbar(server, "logs", "--cast", *flags, session).encode())


def played(screen, cast, path):
    """The last lines that a terminal of the recording's last size shows at its end."""
    path.write_text(cast.output)
    screen.type(f"clear; cat {path}; sleep 1000")
    shown = screen.see("exit 3")
    return [line.rstrip() for line in shown.split("\n") if line.strip()]


def test_a_recording_of_two(server, screens, made, tmp_path):
    """Two type in a shell, one resizes, a note is made, it ends with 3: the recording is valid, from the start and from the middle,
    and played to its end both show what the last one saw."""
    process = start(server, made, "sh", cols=100, rows=29)
    anna = join(server, screens("anna"), "anna", made)
    anna.type("echo gr\u00f6\u00dfer 日本; printf '\\342'; sleep .2; printf '\\224\\200\\n'")
    anna.see("─")
    bert = join(server, screens("bert"), "bert", made)
    bert.see("gr\u00f6\u00dfer")
    sandbar(server, "note", made, "here", "it", "changes")
    anna.resize(90, 25)
    anna.see("$")
    until(lambda: (at := terminal_of(server, made, process))["cols"] == 90 and at["rows"] == 24, "the window's size is told")
    bert.type("echo from-bert")
    anna.see("from-bert\n")
    middle = json.loads(sandbar(server, "info", made, "--json"))["seq"]
    anna.type("seq 30; sleep .3")
    anna.see("30\n$")
    live = anna.cells(24, 90)[0]
    anna.type("exit 3")
    anna.see(lambda text: text.rstrip().endswith("READY>"))
    whole, part = record(server, made), record(server, made, "--from", str(middle))
    assert whole.of("x") == part.of("x") == ["3"]
    assert whole.header["term"]["cols"] == 100 and part.header["term"]["cols"] == 90
    assert "90x24" in whole.of("r") and part.of("r") == []
    assert "owner: here it changes" in whole.of("m") and "exited 3" in whole.of("m")
    assert {json.loads(data)["by"] for data in whole.of("sandbar.input")} == {"anna", "bert"}
    assert "gr\u00f6\u00dfer 日本" in whole.output and "─" in whole.output and "\ufffd" not in whole.output
    assert part.events[0][1] == "o" and "from-bert" in part.events[0][2]
    assert part.seconds < whole.seconds
    expected = [line for line in live if line][:-1] + ["$ exit 3"]
    for name, cast in (("whole", whole), ("part", part)):
        shown = played(screens(name, cols=90, rows=24), cast, tmp_path / f"{name}.bytes")
        assert shown[-20:] == expected[-20:], name


FRAMES = r"""
import random, sys, tty
tty.setcbreak(0)
random.seed(7)
for frame in range(10):
    for _ in range(60):
        row, col = random.randint(1, 22), 1 + 6 * random.randint(0, 12)
        look = random.choice(["0", "1;31", "7", "4;38;5;120", "48;2;10;20;200", "3;9"])
        text = random.choice(["plain ", "größer", "日本  ", "e\u0301x    ", "─│┌   ", "\U0001f600    "])
        sys.stdout.write(f"\033[{row};{col}H\033[{look}m{text}")
    if frame % 3 == 2:
        sys.stdout.write(f"\033[{random.randint(2, 5)};{random.randint(12, 18)}r\033[5;1H\033[3L\033[20;1H\n\n\033[r")
    sys.stdout.write(f"\033[0m\033[23;1H\033[Kframe-{frame}.")
    sys.stdout.flush()
    sys.stdin.read(1)
"""
PLAYER = """
import sys, tty
tty.setcbreak(0)
for path in sys.argv[1:]:
    sys.stdout.write(open(path).read())
    sys.stdout.flush()
    sys.stdin.read(1)
"""


def test_a_recording_shows_at_any_time_what_was_seen_live(server, screens, made, tmp_path):
    """A program draws ten pictures; the recording, played up to each, shows what the one who was there saw. (No wide character is
    half written over: emulators do not agree on what is left of it.)"""
    start(server, made, "python3", "-c", FRAMES, cols=80, rows=23)
    live, pictures = screens("live", cols=80, rows=24), []
    live.run(server.sandbar("attach", made))
    for frame in range(10):
        live.see(f"frame-{frame}.")
        pictures.append(live.cells(23, 80))
        live.type("x", enter=False)
    whole = record(server, made)
    paths = []
    for frame in range(10):
        output, end = whole.output, whole.output.index(f"frame-{frame}.") + len(f"frame-{frame}.")
        paths.append(tmp_path / f"frame{frame}")
        paths[-1].write_text("\033c" + output[:end])
    (tmp_path / "player.py").write_text(PLAYER)
    player = screens("player", cols=80, rows=23)
    player.run(["python3", str(tmp_path / "player.py"), *map(str, paths)])
    for frame in range(10):
        player.see(f"frame-{frame}.")
        until(lambda: player.cells(23, 80) == pictures[frame], f"picture {frame} is the same")
        player.type("x", enter=False)


def test_asciinema_player_plays_it(server, made, tmp_path):
    """The player of asciinema's own reads it: the same output, sizes and markers, and no complaint."""
    modules = pathlib.Path(__file__).parents[1] / "terminal/node_modules"
    if not (modules / "asciinema-player").exists() or not shutil.which("node"):
        pytest.skip("asciinema-player is not installed: `./dev test terminal` does it")
    process = start(server, made, "sh")
    with server.client() as client:
        channel = client.attach(made, after=0)
        channel.send([50, process, 90, 30])
        channel.feed(process, "echo größer; exit 3\n".encode())
        channel.wait_exit(process)
        client.call("session.note", session=made, text="late")
    (tmp_path / "a.cast").write_text(sandbar(server, "logs", "--cast", made))
    cast = Cast((tmp_path / "a.cast").read_bytes())
    done = subprocess.run(["node", str(pathlib.Path(__file__).parent / "play.mjs"), str(modules), str(tmp_path / "a.cast")],
                          capture_output=True, text=True, timeout=PATIENCE, check=True)
    shown = json.loads(done.stdout)
    assert shown["faults"] == [] and shown["output"] == cast.output and shown["resizes"] == cast.of("r") == ["90x30"]
    assert [marker[1] for marker in shown["markers"]] == cast.of("m") == ["exited 3"]
    assert abs(shown["duration"] - cast.seconds) < 0.01


def test_a_recording_needs_a_terminal(server, made):
    """A session with pipes alone: no recording, and words."""
    run(server, made, "echo only pipes")
    assert b"terminal" in sandbar(server, "logs", "--cast", made, fails=True).encode()


@pytest.mark.parametrize("argv, says", [
    (("role", "{}", "nobody", "editor"), "nobody here has this name"),
    (("role", "{}", "1", "king"), "viewer, editor or owner"),
    (("kick", "{}", "99"), "not_found"),
    (("note", "{}", ""), "invalid_params"),
    (("terminal", "{}", "1"), "say what"),
    (("terminal", "{}", "1", "--size", "0x0"), "invalid_params"),
    (("share", "{}", "--role", "king"), "viewer, editor or owner"),
    (("share", "{}", "--uses", "0"), "from 1"),
    (("terminal", "{}", "1", "--size", "huge"), "COLSxROWS"),
    (("logs", "{}", "--process", "99"), "no process 99"),
    (("share", "revoke", "{}"), "it must be"),
    (("attach", "http://127.0.0.1:1/"), "a link looks like"),
    (("logs", "{}", "--from", "5"), "--cast"),
    (("logs", "{}", "--cast", "--from", "soon"), "--from"),
])
def test_bad_input_is_told(server, made, argv, says):
    """What is wrong is said, with what is allowed, and nothing else happens."""
    start(server, made, "sleep", "1000")
    argv = [part.format(made) for part in argv]
    if says:
        assert says in sandbar(server, *argv, fails=True)
    else:
        sandbar(server, *argv)
