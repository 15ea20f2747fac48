"""Sessions that fill what they were given: they see ENOSPC, the others and the host see nothing. (Case 20.)"""

import os
import time

import pytest
from wire import SLOWNESS, USAGE

MIB = 1 << 20
CYCLES = max(5, round(60 / SLOWNESS))
FILL = "for place in /work /tmp /dev/shm; do dd if=/dev/zero of=$place/f bs=1M count=1000; echo $?; done"
INODES = """
import errno, os
made = 0
try:
    while True:
        os.close(os.open(f"/work/empty{made}", os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as error:
    print(errno.errorcode[error.errno], made)
"""


@pytest.fixture(scope="module", params=["root", "user"])
def forgetful(request, start_server):
    """A server that keeps nothing of sessions that have ended."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    return start_server("--keep-sessions", "0", user=request.param)


def on_disk(server):
    """Bytes of the state directory."""
    total = 0
    for folder, _, names in os.walk(server.state):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def test_a_full_session_is_its_own_affair(forgetful):
    """64 MiB and 5,000 files: bytes run out in each place that can be written, then files do. The writers see ENOSPC and exit, they are
    not killed; the session runs commands; another writes as much as ever, and what is said is recorded meanwhile."""
    with forgetful.client() as client:
        full, other = client.create(limits={"workspace": 64 * MIB, "inodes": 5000}), client.create()
        channel, beside = client.attach(full), client.attach(other)
        answer = client.run(full, FILL)
        assert answer["stdout"] == b"1\n1\n1\n" and answer["stderr"].count(b"No space left on device") == 3
        assert answer["exited"]["reason"] == "exited"
        client.start(full, "sleep", "1000")
        channel.wait(lambda view: any("workspace" in frame[3]["near_limits"] for frame in view.of_kind(USAGE)))
        process = client.start(other, "sh", "-c", "dd if=/dev/zero of=/work/f bs=1M count=100 2>/dev/null; echo $?; wc -c < /work/f")
        assert beside.wait_exit(process)["exit_code"] == 0 and beside.view.bytes(process).split() == [b"0", b"104857600"]
        client.run(full, "rm -f /work/* /tmp/* /dev/shm/*")
        files = client.call("process.run", session=full, argv=["python3", "-c", INODES])
        name, made = files["stdout"].split()
        assert name == b"ENOSPC" and 4000 < int(made) <= 5000 and files["exited"]["exit_code"] == 0
        assert client.run(full, "echo on")["stdout"] == b"on\n"
        last = client.call("session.info", session=full)["seq"]
        deadline = time.monotonic() + 30 * SLOWNESS
        while client.call("session.info", session=full)["record"]["last"] < last:
            assert time.monotonic() < deadline
            time.sleep(.1)
        for session in full, other:
            client.call("session.end", session=session)


@pytest.mark.seconds(400)
def test_the_host_has_its_disk_back(forgetful):
    """Session after session writes 50 MiB to what it has, and is ended: the state directory is as large as before, within 1 MiB."""
    with forgetful.client() as client:
        client.call("session.end", session=client.create())
        before = on_disk(forgetful)
        for _ in range(CYCLES):
            session = client.create(limits={"workspace": 64 * MIB})
            answer = client.run(session, "dd if=/dev/zero of=/tmp/f bs=1M count=30 && dd if=/dev/zero of=/work/f bs=1M count=20; head -c 300000 /dev/zero")
            assert answer["exited"]["exit_code"] == 0 and len(answer["stdout"]) == 300000
            client.call("session.end", session=session)
        deadline = time.monotonic() + 30 * SLOWNESS
        while abs(on_disk(forgetful) - before) > MIB:
            assert time.monotonic() < deadline, (before, on_disk(forgetful))
            time.sleep(.2)
