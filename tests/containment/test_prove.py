"""`sandbar prove`: the server that is installed attacks a session of its own, and the proof can be kept and asked about."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
from wire import PATIENCE

VERDICTS = {"held", "open", "other", "accepted", "skipped"}


def proved(server, *arguments):
    done = server.command("prove", *arguments)
    told, complaint = done.communicate(timeout=200)
    return done.returncode, told.decode(), complaint.decode()


@pytest.fixture(scope="module")
def proof(any_server, tmp_path_factory):
    """(file, what was printed as JSON, exit code)."""
    path = tmp_path_factory.mktemp("proof") / "proof.json"
    code, told, complaint = proved(any_server, "--json", "--save", str(path))
    assert told, complaint
    return path, json.loads(told), code


def test_a_session_of_the_servers_own_is_attacked(any_server, proof):
    """The document says of every attempt what came of it; the exit code says whether all held; no session is left."""
    _, document, code = proof
    broken = [row for row in document["probes"] if row["verdict"] in ("open", "other")]
    assert (code, document["held"], broken) == (0, True, [])
    assert len(document["probes"]) >= 200 and {row["verdict"] for row in document["probes"]} <= VERDICTS
    assert document["counts"] == {verdict: sum(row["verdict"] == verdict for row in document["probes"]) for verdict in VERDICTS}
    assert all(row["control"] and row["expected"] for row in document["probes"])
    assert all(len(document["fingerprints"][name]) == 64 for name in ("kernel", "policy", "root"))
    with any_server.client() as client:
        assert client.call("session.list")["sessions"] == []


def test_what_is_printed_first_is_whether_all_held(any_server):
    """Without flags: the verdict, the sums and the fingerprints, and no list of what held."""
    code, told, _ = proved(any_server)
    lines = told.splitlines()
    assert code == 0 and lines[0] == "everything held" and " 0 open, 0 refused otherwise" in lines[1]
    assert [line.split()[0] for line in lines[2:]] == ["kernel", "policy", "root"]


def test_the_table_names_the_controls(any_server):
    """With --verbose: one line an attempt, and the sums."""
    code, told, _ = proved(any_server, "--verbose")
    lines = told.splitlines()
    assert code == 0 and lines[0].split() == ["VERDICT", "GROUP", "PROBE", "CONTROL", "EXPECTED", "GOT"]
    assert any(line.split() == ["held", "namespaces", "unshare-user", "seccomp", "EPERM", "EPERM"] for line in lines)
    assert any(line.startswith("kernel ") for line in lines) and " 0 open, 0 refused otherwise" in told


def test_a_kept_proof_is_fresh(any_server, proof):
    """What was saved is what was printed, and nothing has changed since."""
    path, document, _ = proof
    assert json.loads(path.read_text()) == document
    code, told, _ = proved(any_server, "--check", str(path))
    assert (code, told[:6]) == (0, "fresh:")


@pytest.mark.parametrize("fact", ["kernel", "policy", "root"])
def test_a_changed_fingerprint_makes_it_stale(any_server, proof, tmp_path, fact):
    """Each of the three: as if it had been another when the proof was made."""
    document = json.loads(proof[0].read_text())
    document["fingerprints"][fact] = "0" * 64
    (tmp_path / "old.json").write_text(json.dumps(document))
    code, told, _ = proved(any_server, "--check", str(tmp_path / "old.json"), "--json")
    assert (code, json.loads(told)["fresh"], json.loads(told)["changed"]) == (1, False, fact)


@pytest.mark.parametrize("said", ["memory = 256M", "user = root"])
def test_another_policy_makes_it_stale(start_server, any_server, proof, said):
    """The operator gives the template less memory, or another user: what was proved was another policy."""
    with tempfile.NamedTemporaryFile("w", prefix="sandbar-conf-") as config:
        config.write(f"[template default]\n{said}\n")
        config.flush()
        os.chmod(config.name, 0o644)
        changed = start_server("--config", config.name, user=any_server.user)
    code, told, _ = proved(changed, "--check", str(proof[0]))
    assert code == 1 and told.startswith("stale: the policy ")


def test_a_proof_that_failed_is_never_good(any_server, proof, tmp_path):
    """Fresh, but not everything held in it."""
    document = json.loads(proof[0].read_text()) | {"held": False}
    (tmp_path / "failed.json").write_text(json.dumps(document))
    code, told, _ = proved(any_server, "--check", str(tmp_path / "failed.json"))
    assert code == 1 and "not everything held" in told


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', "x" * (5 << 20)], ids=["empty", "cut", "list", "later", "long"])
def test_what_is_no_proof_is_an_error(any_server, tmp_path, text):
    (tmp_path / "none.json").write_text(text)
    code, told, complaint = proved(any_server, "--check", str(tmp_path / "none.json"))
    assert code != 0 and told == "" and "no proof" in complaint


def test_without_its_program_it_says_so(any_server, tmp_path):
    """A client that was installed alone cannot attack."""
    shutil.copy2(any_server.programs / "sandbar", tmp_path / "sandbar")
    alone = [str(tmp_path / "sandbar"), "--state", str(any_server.state), "prove"]
    done = subprocess.run(alone, capture_output=True, text=True, env=any_server.shell_environment())
    assert done.returncode != 0 and "sandbar-probe" in done.stderr


def test_who_breaks_it_off_leaves_no_session(any_server):
    """^C in the middle: its sessions are ended before it leaves."""
    with any_server.client() as client:
        child = any_server.command("prove", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        deadline = time.monotonic() + PATIENCE
        while len(client.call("session.list")["sessions"]) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=PATIENCE)
        assert child.returncode == 128 + signal.SIGINT
        assert client.call("session.list")["sessions"] == []
