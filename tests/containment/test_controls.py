"""Control runs: the same attempts where the layer is not there. What is refused there as well shows nothing on this kernel.

They are made in namespaces of their own, by a user without rights, with a private /tmp; and only those that harm nobody."""

import os
import shlex
import subprocess

import attacked
import pytest
from attacked import rows_of
from system_conftest import as_user

NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--net", "--ipc", "--uts", "--cgroup"]
WORD = "0123456789abcdef0123456789abcdef"
PROBE = "/dev/shm/sandbar-probe"

# Whatever else a kernel lacks, these it has: that they were not shown would be a fault of the suite.
MUST_SHOW = {
    "unshare-user", "unshare-net", "clone-user", "clone-mount", "clone3-user", "set-host-name", "personality-no-random", "tiocsti",
    "open-descriptor", "open-directory", "environment", "setuid-usr", "device-usr",
    "neighbour-abstract", "neighbour-tcp", "neighbour-udp", "neighbour-segment", "neighbour-semaphore", "neighbour-messages",
    "neighbour-queue", "neighbour-process", "neighbour-file-tmp", "neighbour-file-socket", "channel-flock", "channel-record-lock",
    "channel-inotify",
}


@pytest.fixture(scope="module")
def unconfined(programs):
    """Runs a script in namespaces without any of the other layers."""
    set_up = f"mount -t tmpfs none /dev/shm && cp {shlex.quote(str(programs))}/sandbar-probe {PROBE} " \
        "&& for place in /tmp /var/tmp; do mount -t tmpfs none $place; done && " \
        f"printf %s {WORD} >{attacked.WORD_FILE} || exit 70; "

    def run(script, **environment):
        environment |= {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", attacked.VARIABLE: WORD}
        return subprocess.run(as_user([*NAMESPACES, "sh", "-c", set_up + script], "user"), env=environment, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL)

    tried = run("true")
    if tried.returncode != 0:
        pytest.skip(f"this host gives a user no namespaces: {tried.stderr.strip()}")
    return run


def test_what_is_refused_inside_works_without_the_layer(unconfined, tables):
    """With an open descriptor, a secret in the environment, and a neighbour in the same namespaces, the probes find what they
    look for: an answer of `held` in a session is the layer's doing."""
    bait = f"mkfifo /tmp/hold; {PROBE} bait <>/tmp/hold >/tmp/baited & until grep -q ready /tmp/baited 2>/dev/null; do sleep 0.05; done; "
    done = unconfined(bait + f"exec 8</ 9</dev/null; {PROBE} control", SECRET="x")
    rows = rows_of(done.stdout)
    shown = {row.name for row in rows if row.got == "open"}
    title = f"control run: {len(shown)} of {len(rows)} attempts that are tried without their control succeed on this kernel"
    tables.append((title, [("PROBE", "WITHOUT ITS CONTROL", "WITH IT", "CONTROL"),
                           *((row.name, row.got, row.expected, row.control) for row in rows)]))
    missing = MUST_SHOW - shown
    assert not missing, "\n".join(f"{row.name}: {row.got}" for row in rows if row.name in missing) + done.stderr


def test_a_grave_probe_looks_twice(unconfined):
    """Where there is no filter and there are capabilities, what would harm a machine is not tried at all."""
    rows = rows_of(unconfined(f"{PROBE} run mounts").stdout)
    grave = [row for row in rows if row.name not in ("statmount", "listmount")]
    assert len(grave) > 20 and {row.verdict for row in grave} == {"skipped"}
