"""The configuration file: flags by their names, templates, and mistakes that are told with their line."""

import os
import subprocess

import pytest
from wire import RemoteError

GOOD = """
# Everything that a session needs, and no more.
max-sessions = 7
session-ttl=2h
allow-origin = https://one.example
allow-origin = https://two.example
log-format = json

[template small]
memory = 64M
max-memory = 128M
processes = 16
open-files = 64
ttl = 10m
max-ttl = 1h
env = GREETING=hello world # not a comment
env = LANG=C
require = seccomp
profile = build

[template heavy]
cpu-weight = 300
max-cpu-weight = 600

[template default]
processes = 32
max-processes = 64
"""


@pytest.fixture(scope="module")
def server(start_server, tmp_path_factory):
    file = tmp_path_factory.mktemp("config") / "sandbar.conf"
    file.write_text(GOOD)
    return start_server("--config", str(file), "--max-sessions", "5")


def refused(client, **params):
    with pytest.raises(RemoteError) as caught:
        client.call("session.create", **params)
    return caught.value


def test_the_command_line_wins(server):
    """The file says 7 sessions and the command line 5: it is 5; what only the file says holds, too."""
    with server.client() as client:
        assert client.call("server.info")["queues"]["sessions"]["limit"] == 5


def test_a_profile_of_a_template_is_not_the_clients_to_change(server):
    """What the operator has said holds; where he has said nothing, a client chooses."""
    with server.client() as client:
        assert refused(client, template="small", profile="default").code == "limit"
        for template, profile in (("small", "build"), ("default", "compute")):
            session = client.create(template=template, profile=profile)
            assert client.call("session.info", session=session)["profile"] == profile
            client.call("session.end", session=session)
        assert {row["name"]: row["profile"] for row in client.call("template.list")["templates"]} == {"small": "build", "heavy": None, "default": None}


def test_a_session_of_a_template(server):
    """Its limits and environment are the template's, until it asks for others, within what may be asked for."""
    with server.client() as client:
        session = client.create(template="small")
        limits = client.call("session.info", session=session)["limits"]
        assert (limits["memory"], limits["processes"], limits["open_files"]) == (64 << 20, 16, 64)
        told = client.run(session, "echo $GREETING; echo $LANG; ulimit -n")["stdout"].decode().splitlines()
        assert told == ["hello world # not a comment", "C", "64"]
        client.call("session.end", session=session)
        session = client.create(template="small", limits={"memory": 100 << 20}, env={"LANG": "C.UTF-8"})
        assert client.call("session.info", session=session)["limits"]["memory"] == 100 << 20
        assert client.run(session, "echo $GREETING $LANG")["stdout"] == b"hello world # not a comment C.UTF-8\n"
        client.call("session.end", session=session)
        error = refused(client, template="small", limits={"memory": 1 << 30})
        assert error.code == "limit" and error.data == {"limit": "memory"} and "134217728" in str(error)
        assert refused(client, template="small", ttl_ms=2 * 3600 * 1000).data == {"limit": "ttl_ms"}
        error = refused(client, template="nowhere")
        assert error.code == "not_found" and str(error).endswith("there are: `small`, `heavy`, `default`"), error


def test_the_default_can_be_configured(server):
    with server.client() as client:
        session = client.create()
        assert client.call("session.info", session=session)["limits"]["processes"] == 32
        client.call("session.end", session=session)
        assert refused(client, limits={"processes": 65}).data == {"limit": "processes"}
        rows = {row["name"]: row for row in client.call("template.list")["templates"]}
        assert set(rows) == {"small", "heavy", "default"} and rows["small"]["require"] == ["seccomp"]
        assert rows["small"]["most"] == {"memory": 128 << 20} and rows["small"]["ttl_ms"] == 600000


@pytest.mark.parametrize("template, given, most", [("heavy", 300, 600), ("default", 100, 100), ("small", 100, 100)])
def test_a_share_is_not_the_clients_to_raise(server, template, given, most):
    """Less may be asked for, and more only as far as the operator says."""
    with server.client() as client:
        for limits, weight in (({}, given), ({"cpu_weight": 10}, 10), ({"cpu_weight": most}, most)):
            session = client.create(template=template, limits=limits)
            assert client.call("session.info", session=session)["limits"]["cpu_weight"] == weight
            client.call("session.end", session=session)
        error = refused(client, template=template, limits={"cpu_weight": most + 1})
        assert error.code == "limit" and error.data == {"limit": "cpu_weight"} and str(most) in str(error)


def test_the_command_makes_one(server):
    made = server.command("new", "--template", "small")
    session = made.communicate(timeout=60)[0].decode().strip()
    assert made.returncode == 0
    with server.client() as client:
        assert client.call("session.info", session=session)["limits"]["processes"] == 16
        client.call("session.end", session=session)
    assert server.command("new", "--template", "nowhere").wait(60) == 4
    assert server.command("run", "--template", "small", "--", "sh", "-c", "test \"$LANG\" = C").wait(60) == 0


@pytest.mark.parametrize("text, line, word", [
    ("listen = nowhere\n", 1, "ADDR:PORT"),
    ("\n# fine\nbogus = 1\n", 3, "there are: listen"),
    ("--listen = 127.0.0.1:0\n", 1, "`--listen`"),
    ("listen 127.0.0.1:0\n", 1, "name = value"),
    ("= 1\n", 1, "``"),
    ("help = yes\n", 1, "`help`"),
    ("config = other\n", 1, "`config`"),
    ("ring = 7\n", 1, "ring"),
    ("state =\n", 1, "empty"),
    ("log-level = info\nlog-level = debug\n", 2, "line 1 already"),
    ("allow-plaintext = maybe\n", 1, "yes nor no"),
    ("max-sessions = " + "1" * 600 + "\n", 1, "at most 511 bytes"),
    ("[template]\n", 1, "[template NAME]"),
    ("[box x]\n", 1, "[template NAME]"),
    ("[template a/b]\n", 1, "name of a template"),
    ("[template a]\n[template a]\n", 2, "already"),
    ("[template a]\nlisten = 127.0.0.1:0\n", 2, "in a template"),
    ("[template a]\nmemory = 1K\n", 2, "memory"),
    ("[template a]\nprocesses = 2000000\n", 2, "1048576"),
    ("[template a]\nmax-inodes = 4000000000\n", 2, "2147483648"),
    ("[template a]\nrequire = magic\n", 2, "no layer `magic`"),
    ("[template a]\nenv = x\n", 2, "NAME=VALUE"),
    ("[template a]\nuser = admin\n", 2, "no user `admin` inside; there are: user root"),
    ("[template a]\nmemory = 64M\nmax-memory = 32M\n", 1, "over `max-memory`"),
], ids=map(str, range(22)))
def test_a_mistake_is_told_with_its_line(programs, tmp_path, text, line, word):
    """A wrong name, value or section: exit code 2, and FILE:LINE with what is allowed."""
    file = tmp_path / "wrong.conf"
    file.write_text(text)
    shown = subprocess.run([programs / "sandbard", "--config", file, "--state", tmp_path / "state"], capture_output=True, text=True,
                           timeout=60)
    assert shown.returncode == 2 and f"{file}:{line}: " in shown.stderr and word in shown.stderr, shown.stderr


@pytest.mark.parametrize("content, word", [(b"listen = \0\n", "NUL"), (b"#" * (1 << 20), "more than"), (None, "No such file")], ids=["nul", "large", "missing"])
def test_a_file_that_is_none(programs, tmp_path, content, word):
    file = tmp_path / "wrong.conf"
    if content is not None:
        file.write_bytes(content)
    shown = subprocess.run([programs / "sandbard", "--config", file, "--state", tmp_path / "state"], capture_output=True, text=True,
                           timeout=60)
    assert shown.returncode == 2 and word in shown.stderr, shown.stderr


def test_only_root_needs_to_read_it(start_server, tmp_path):
    """A file of root's alone is read by root's server, though its reader has no rights."""
    file = tmp_path / "private.conf"
    file.write_text("max-sessions = 3\n")
    file.chmod(0o600)
    server = start_server("--config", str(file), user="root" if os.geteuid() == 0 else "user")
    with server.client() as client:
        assert client.call("server.info")["queues"]["sessions"]["limit"] == 3
