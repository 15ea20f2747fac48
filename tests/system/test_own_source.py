"""A real job: Sandbar is built in Sandbar."""

import hashlib
import io
import os
import subprocess
import tarfile
import threading
import time

import pytest
from conftest import TOP
from wire import EOF, View

BUILD = """
set -e
mkdir -p /work/src && cd /work/src && tar xf - && exec </dev/null
{ cmake -G Ninja -S . -B /work/build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSANDBAR_TESTS=ON && ninja -v -C /work/build; } 2>&1 |
    tee /work/log
test -x /work/build/bin/sandbard
sha256sum </work/log >/work/sum
"""
TESTS = """
cd /work/build
status=0
for test in tests/unit/test_*; do
    case $test in *.tap) continue ;; esac
    $test --tap=/tmp/tap -j2 >/tmp/out 2>&1 || { status=1; echo "FAILED $test"; cat /tmp/tap /tmp/out | tail -n 60; }
    echo "ran $test"
done
exit $status
"""


def source():
    """The tree as git knows it, with what is not committed yet, as a tar."""
    names = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(names, cwd=TOP, capture_output=True, check=True)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in sorted(set(listed.stdout.decode().split("\0")) - {""}):
            if os.path.isfile(TOP / name):
                tar.add(TOP / name, name)
    return packed.getvalue()


@pytest.mark.seconds(600)
def test_sandbar_is_built_in_sandbar_through_ten_cuts(server):
    """The source goes in by tar on stdin and is built with cmake and ninja. Meanwhile the client is cut off ten times and
    comes back: the log that it has is, byte for byte, the log that the session kept. Then the unit tests run inside."""
    data = source()
    with server.client() as owner:
        session = owner.create(limits={"memory": 4 << 30, "workspace": 2 << 30})
        typist = server.client()
        view = View()
        channel = typist.attach(session, view, mode="lossless")
        process = typist.shell(session, BUILD, stdin=True)
        sender = threading.Thread(target=lambda: channel.send([EOF, process, channel.feed(process, data)]))
        sender.start()
        sender.join()
        channel.wait(lambda view: view.bytes(process), 120)
        for _ in range(10):
            try:
                have = view.last
                channel.wait(lambda view: view.last > have + 2 or process in view.exited, 10)
            except TimeoutError:
                pass
            time.sleep(.3)
            typist.cut()
            typist = server.client(client_id=typist.client_id)
            channel = typist.attach(session, view, mode="lossless")
        ending = channel.wait_exit(process, 500)
        log = view.bytes(process)
        assert ending["exit_code"] == 0, log[-4000:].decode(errors="replace")
        kept = owner.run(session, "cat /work/sum")["stdout"].split()[0].decode()
        assert not view.gaps and hashlib.sha256(log).hexdigest() == kept and len(log) > 10000
        tests = channel.wait_exit(tests_process := typist.shell(session, TESTS), 300)
        assert tests["exit_code"] == 0, view.bytes(tests_process)[-6000:].decode(errors="replace")
        assert b"ran tests/unit/" in view.bytes(tests_process)
        typist.close()
        owner.call("session.end", session=session)
