"""Every probe of tests/containment/probe, from inside of a session, as root and as a user. The answer names the control."""

import os
import socket
import subprocess
import tempfile

import attacked
import pytest
from attacked import Attacked, Neighbour
from wire import SLOWNESS

HOST_SOCKET = "\0sandbar-bait-host"
LATE = 5 * SLOWNESS  # seconds: far more than an echo takes on the slowest machine, and less than a hang


@pytest.fixture(scope="module")
def probe(programs):
    return programs / "sandbar-probe"


@pytest.fixture(scope="module")
def host_bait():
    """What the probes must not reach on the host itself."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(HOST_SOCKET)
        listener.listen(16)
        yield listener


@pytest.fixture(scope="module", params=["root", "user"])
def any_server(request, start_server):
    """One with a template whose user is root in name."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    with tempfile.NamedTemporaryFile("w", prefix="sandbar-conf-") as config:
        config.write("[template named]\nuser = root\n")
        config.flush()
        os.chmod(config.name, 0o644)
        yield start_server("--config", config.name, user=request.param)


# What is attacked: what its session asks for, its profile, and how many attempts it leaves out. Without a second process, what would
# end the first is.
ATTACKED = {
    "default": ({}, "default", 8),
    "compute": ({"profile": "compute"}, "compute", 40),
    "build": ({"profile": "build"}, "build", 8),
    "root in name": ({"template": "named"}, "default", 8),
}


@pytest.fixture(scope="module", params=ATTACKED)
def outcome(request, any_server, probe, host_bait, tables):
    """All of them run once in each profile, and where the user is root in name, with a neighbour who holds the bait and another who answers an echo."""
    params, profile, skips = ATTACKED[request.param]
    with any_server.client() as client, any_server.client() as other:
        bait = Attacked(other, probe)
        holder = bait.start("bait", stdin=True)
        bait.channel.wait(lambda view: b"ready" in view.bytes(holder))
        victim = Attacked(client, probe, **params)
        ids = victim.read("/proc/self/status").split(b"Uid:\t")[1].split()[0]
        mounts = victim.read("/proc/self/mounts")
        with Neighbour(any_server) as neighbour:
            ending, told, complaint = victim.run("attack", profile)
        after = victim.read("/proc/self/mounts")
        survives = victim.shell("echo alive")["stdout"]
        victim.end()
        bait.end()
    rows = attacked.rows_of(told)
    title = f"{len(rows)} probes against a session of the kind `{request.param}`, of a server that runs as {any_server.user}; " \
        f"{neighbour.told()}"
    tables.append((title, [("VERDICT", "GROUP", "PROBE", "CONTROL", "EXPECTED", "GOT", "ATTEMPT"), *rows]))
    return {"rows": rows, "ending": ending, "complaint": complaint, "mounts": (mounts, after), "survives": survives,
            "neighbour": neighbour, "skips": skips, "id": (int(ids), 0 if params.get("template") else 1000)}


def test_every_probe_is_stopped_by_its_control(outcome):
    """No attempt succeeds, and each is refused as its control refuses it."""
    wrong = [row for row in outcome["rows"] if row.verdict in ("open", "other")]
    told = "\n".join(f"{row.verdict}: {row.group}/{row.name}: {row.attempt}: {row.got}, not {row.expected} ({row.control})" for row in wrong)
    assert not wrong, told
    assert len(outcome["rows"]) >= 200 and outcome["ending"]["exit_code"] == 0, outcome["complaint"]


def test_it_was_attacked_by_whom_it_should(outcome):
    assert outcome["id"][0] == outcome["id"][1]


def test_few_were_skipped(outcome):
    """A kernel may lack something; a suite that skips itself shows nothing."""
    skipped = [row.name for row in outcome["rows"] if row.verdict == "skipped"]
    assert len(skipped) <= outcome["skips"], skipped


def test_the_session_and_its_neighbour_lived_on(outcome):
    """Whatever was tried, the session runs commands afterwards, its mounts are as before, and the neighbour never waited."""
    assert outcome["survives"] == b"alive\n"
    assert outcome["mounts"][0] == outcome["mounts"][1]
    assert max(outcome["neighbour"].times) < LATE


def test_the_guard_refuses_on_this_host(probe):
    """Outside of a sandbox not one attempt is made."""
    for command in ("run", "control", "bait"):
        done = subprocess.run([probe, command], env={attacked.VARIABLE: "0" * 32}, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (attacked.GUARDED, ""), command


def test_the_guard_refuses_without_the_word(any_server, probe):
    """Nor inside, unless who started it has put the word into both places."""
    with any_server.client() as client, attacked.attacked(client, probe, word=False) as victim:
        ending, told, _ = victim.run("run")
        assert (ending["exit_code"], told) == (attacked.GUARDED, "")
        victim.put(attacked.WORD_FILE, b"another word, just as long as that", mode="600")
        assert victim.run("run")[0]["exit_code"] == attacked.GUARDED
