"""A host with cgroup v2 alone, as Debian comes: every layer is there for root, and for a user to whom a cgroup was given."""

import json
import os
import pathlib
import subprocess

import pytest
from system_conftest import STRANGER, as_user

DELEGATED = pathlib.Path("/sys/fs/cgroup/user.slice/user-1717.slice")
LIMITS = ["cgroup-memory", "cgroup-pids", "cgroup-cpu"]


def doctor(programs, argv):
    """The layers that --doctor tells of, by name."""
    done = subprocess.run([*argv, str(programs / "sandbard"), "--doctor", "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    layers = json.loads(done.stdout)
    return {row["name"]: row for row in layers["layers"]}


def test_this_is_version_2_alone():
    """No v1 hierarchy, and the test's own process is not at the top."""
    own = pathlib.Path("/proc/self/cgroup").read_text().split()
    assert own == ["0::/system.slice/tests.service"]


def test_every_layer_is_on_for_root(programs):
    """Root in a service, with other processes beside it in its cgroup."""
    layers = doctor(programs, [])
    assert {name for name, row in layers.items() if not row["on"]} == set(), layers
    assert all("v2" in layers[name]["detail"] for name in LIMITS), layers


@pytest.fixture
def delegated():
    """What systemd does for a unit with Delegate=yes: a cgroup that is the user's, with the controllers."""
    service = DELEGATED / "sandbar.service"
    DELEGATED.mkdir(parents=True)
    for folder in (DELEGATED.parent, DELEGATED):
        (folder / "cgroup.subtree_control").write_text("+memory +pids +cpu")
    service.mkdir()
    for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(service / name, STRANGER, STRANGER)
    yield ["sh", "-c", f'echo $$ >{service}/cgroup.procs && exec "$@"', "sh", *as_user([], "user")]
    left = [path for path in service.iterdir() if path.is_dir()]
    service.rmdir()
    DELEGATED.rmdir()
    DELEGATED.parent.rmdir()
    assert left == []


def test_a_user_with_a_cgroup_of_their_own_has_limits(programs, delegated):
    """Delegate=yes gives a user without rights the limits of memory, tasks and processor time."""
    layers = doctor(programs, delegated)
    assert all(layers[name]["on"] for name in ["cgroup", "freeze", *LIMITS]), layers


def test_a_user_without_one_is_told(programs):
    """Without it the layers are off, and the words say why; the server starts all the same."""
    layers = doctor(programs, as_user([], "user"))
    assert not any(layers[name]["on"] for name in ["cgroup", *LIMITS]) and all(layers[name]["detail"] for name in LIMITS), layers
