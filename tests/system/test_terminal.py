"""People at terminals: python3 and vim through `sandbar attach` in tmux, one terminal shared, and the own terminal as it was."""

import os
import signal

import pytest

DETACH = ("C-]", "d")


def attach(server, session, process=None):
    return server.sandbar("attach", session, *([str(process)] if process else []))


def start(server, session, *argv, cols=100, rows=29):
    with server.client() as client:
        return client.start(session, *argv, terminal={"cols": cols, "rows": rows})


def test_python_is_interactive(server, screens, made):
    """Somebody computes in python3's REPL, breaks a loop with ^C, and leaves with ^D; the shell is back as it was."""
    screen = screens("one")
    before = screen.settings()
    screen.run(server.sandbar("exec", "-t", made, "--", "python3"))
    screen.see(">>>")
    screen.type("6 * 7")
    screen.see("42")
    screen.type("while True: pass")
    screen.keys("Enter")
    screen.keys("C-c")
    screen.see("KeyboardInterrupt")
    screen.type("print('größer', '日本', len('日本'))")
    screen.see("größer 日本 2")
    screen.keys("C-d")
    screen.see(lambda text: text.rstrip().endswith("READY>"))
    assert screen.settings() == before


def test_vim_edits_a_file(server, screens, made):
    """Somebody writes a file in vim, in the alternate screen, and finds the text in the session and the old screen back."""
    screen = screens("one")
    screen.type("echo remember-me")
    screen.see("remember-me\nREADY>")
    screen.run(server.sandbar("exec", "-t", made, "--", "vim.basic", "-u", "NONE", "-N", "story"))
    screen.see(lambda text: "~" in text and "remember-me" not in text)
    screen.type("i", enter=False)
    screen.type("the first line")
    screen.type("the second", enter=False)
    screen.keys("Escape")
    screen.type(":wq")
    screen.see("remember-me")
    with server.client() as client:
        assert client.run(made, "cat story")["stdout"] == b"the first line\nthe second\n"


def test_two_at_one_terminal_see_and_type(server, screens, made):
    """Two owners attach to one shell: what one types both see, in turn; who comes late gets what was there."""
    process = start(server, made, "sh")
    left, right = screens("left"), screens("right")
    left.run(attach(server, made, process))
    left.see("$")
    left.type("echo from-$((1+0))-left")
    left.see("from-1-left")
    right.run(attach(server, made, process))
    right.see("from-1-left")
    right.type("echo from-$((1+1))-right")
    for screen in (left, right):
        screen.see("from-2-right")
    left.type("exit 5")
    for screen in (left, right):
        screen.see(lambda text: text.rstrip().endswith("READY>"))


def test_detaching_leaves_it_running_and_the_terminal_as_it_was(server, screens, made):
    """The detach key gives the shell back, in its old settings; the process runs on, and takes who comes back."""
    process = start(server, made, "sh")
    screen = screens("one")
    before = screen.settings()
    screen.run(attach(server, made, process))
    screen.see("$")
    screen.type("X=kept; echo ok-$((2+3))")
    screen.see("ok-5")
    screen.keys(*DETACH)
    screen.see(lambda text: text.rstrip().endswith("READY>"))
    assert screen.settings() == before
    with server.client() as client:
        assert client.processes(made)[process]["state"] == "running"
    screen.run(attach(server, made, process))
    screen.type("echo still-$X")
    screen.see("still-kept")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_leaves_the_terminal_as_it_was(server, screens, made, number):
    """`sandbar attach` is killed by a signal that can be caught: the terminal echoes and edits lines again."""
    process = start(server, made, "sh")
    screen = screens("one")
    before = screen.settings()
    screen.run(["sh", "-c", "echo $$ > " + str(server.folder / "pid") + "; exec \"$@\"", "sh", *attach(server, made, process)])
    screen.see("$")
    screen.type("echo up-$((3+3))")
    screen.see("up-6")
    os.kill(int((server.folder / "pid").read_text()), number)
    screen.see(lambda text: text.rstrip().endswith("READY>"))
    assert screen.settings() == before
    with server.client() as client:
        assert client.processes(made)[process]["state"] == "running"


def test_the_window_is_resized(server, screens, made):
    """The window gets another size while attached: the program inside sees it."""
    screen = screens("one")
    screen.run(server.sandbar("exec", "-t", made, "--", "sh"))
    screen.see("$")
    screen.type("stty size")
    screen.see("30 100")
    screen.resize(120, 40)
    screen.type("clear; stty size")
    screen.see("40 120")
    screen.type("exit")
