"""The README's first two lines, as somebody types them who has just cloned the tree."""

import os
import re
import signal
import subprocess
import time

import pytest
from conftest import TOP
from programs import SLEEPER
from wire import Client, RemoteError

DEV = str(TOP / "dev")


@pytest.fixture(scope="module")
def built():
    """The release, built by the script itself: the first call may take long."""
    done = subprocess.run([DEV, "run", "--", "true"], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr


@pytest.mark.seconds(900)
def test_a_command_in_a_fresh_sandbox(built):
    """`./dev run -- sh -c 'echo out; echo err >&2; exit 7'`: the streams apart, the exit code, and nothing else on stdout."""
    argv = [DEV, "run", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]
    begun = time.monotonic()
    done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out\n", b"err\n")
    assert time.monotonic() - begun < 10  # 2 s on an idle machine


def test_its_stdin_is_passed_on(built):
    """A megabyte goes through `cat`."""
    data = os.urandom(1 << 20)
    done = subprocess.run([DEV, "run", "--", "cat"], input=data, capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stdout == data


def servers():
    """The pids of release servers."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                target = os.readlink(f"/proc/{name}/exe")
            except OSError:
                continue
            if target.startswith(str(TOP / "build/release/bin")):
                found.add(int(name))
    return found


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_broken_off_it_leaves_no_server(built, number, code):
    """^C at the terminal, or TERM to the script: the command's code, and no server is left."""
    before = servers()
    process = subprocess.Popen([DEV, "run", "--", *SLEEPER], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"up\n"
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    assert process.wait(60) in (code, -number)
    assert servers() - before == set()


def test_the_link_that_it_prints_is_good_once(built):
    """`./dev run`: whoever opens the link first gets a token with every right; nobody else does by it."""
    process = subprocess.Popen([DEV, "run", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        printed = []
        for line in process.stderr:
            printed.append(line)
            if found := re.search(r"open http://([0-9.]+):([0-9]+)/#(\S+)", line):
                break
        if not found and "is in use" in "".join(printed):
            pytest.skip("this tree's server runs already")
        assert found, printed
        address, link = (found[1], int(found[2])), found[3]
        with Client(address, link) as browser:
            own = browser.call("token.redeem")["token"]
        with Client(address, own) as browser:
            assert browser.hello["rights"] == ["read", "run", "manage", "admin"]
        with pytest.raises(RemoteError) as caught:
            Client(address, link)
        assert "the link was used already" in str(caught.value)
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0
