"""A template that demands a fresh proof: nobody gets a session of it before the server was attacked, and everything held."""

import json
import os
import signal
import time

import pytest
from websocket import Closed, Refused
from wire import PATIENCE, RemoteError

DIGEST = {"kernel": "a" * 64, "policy": "b" * 64, "root": "c" * 64}
CONFIG = "[template careful]\nrequire-proof = 24h\n\n[template hurried]\nrequire-proof = 1s\nmemory = 64M\n"


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "sandbar.conf"
    path.write_text(CONFIG)
    return path


def refused(client, method, **params):
    with pytest.raises(RemoteError) as caught:
        client.call(method, **params)
    return caught.value


def why(client, template="careful", **params):
    error = refused(client, "session.create", template=template, **params)
    assert error.code == "proof" and error.data == {"template": template} and f"sandbar prove --template {template}" in str(error)
    return str(error)


def listed(client, template):
    return next(row for row in client.call("template.list")["templates"] if row["name"] == template)


def another_gateway(server, epoch):
    server.process.send_signal(signal.SIGUSR2)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with server.client() as client:
                if client.hello["epoch"] == epoch:
                    return
            time.sleep(.1)
        except (OSError, Refused, Closed):
            time.sleep(.1)


def test_it_is_refused_until_it_was_proved(start_server, config):
    """The command line says what to run; that is run, and sessions are made, by a later gateway too. Another template is not concerned."""
    server = start_server("--config", str(config))
    with server.client() as client:
        assert "there is none" in why(client)
        made = server.command("new", "--template", "careful")
        assert b"sandbar prove --template careful" in made.communicate(timeout=60)[1] and made.returncode == 1
        client.call("session.end", session=client.create())
        assert listed(client, "careful")["require_proof_ms"] == 24 * 3600 * 1000 and listed(client, "careful")["proved_us"] is None
        proved = server.command("prove", "--template", "careful", "--json")
        told = json.loads(proved.communicate(timeout=200)[0])
        assert told["held"] and proved.returncode == 0
        client.call("session.end", session=client.create(template="careful"))
        assert abs(listed(client, "careful")["proved_us"] / 1e6 - time.time()) < 300
        assert "there is none" in why(client, "hurried")
    kept = json.loads((server.state / "tokens/proofs.json").read_text())["proofs"]
    assert [(row["template"], row["kernel"]) for row in kept] == [("careful", told["fingerprints"]["kernel"])]
    another_gateway(server, 2)
    with server.client() as client:
        client.call("session.end", session=client.create(template="careful"))


def test_what_a_proof_is_not_worth(start_server, config):
    """One that is too old, in which not all held, or that was made of another kernel, server or template."""
    server = start_server("--config", str(config))
    with server.client() as client:
        client.call("proof.keep", template="hurried", held=True, fingerprints=DIGEST)
        client.call("session.end", session=client.create(template="hurried"))
        time.sleep(2.1)
        assert "older" in why(client, "hurried")
        client.call("proof.keep", template="careful", held=False, fingerprints=DIGEST)
        assert "not everything held" in why(client)
        client.call("proof.keep", template="careful", held=True, fingerprints=DIGEST)
        client.create(template="careful")
        file = server.state / "tokens/proofs.json"
        for change, word in ((lambda row: row | {"facts": "0" * 64}, "changed"), (lambda row: row | {"proved_s": 1 << 32}, "older"),
                             (lambda row: {}, "none")):
            whole = json.loads(file.read_text())
            owner = file.stat()
            file.write_text(json.dumps(whole | {"proofs": [change(row) for row in whole["proofs"] if row["template"] == "careful"]}))
            os.chown(file, owner.st_uid, owner.st_gid)
            another_gateway(server, client.hello["epoch"] + 1)
            client = server.client()
            assert word in why(client)
            client.call("proof.keep", template="careful", held=True, fingerprints=DIGEST)


def test_only_an_operator_keeps_one_or_goes_without(start_server, config):
    """A tenant's administrator, and a user: their sessions are refused whatever they say, and so are their proofs."""
    server = start_server("--config", str(config))
    with server.client() as owner:
        for params in ({"tenant": "acme", "rights": ["read", "run", "manage", "admin"]}, {}):
            token = owner.call("token.create", name="eve", **params)["token"]
            with server.client(token=token) as client:
                why(client, for_proof=True)
                assert refused(client, "proof.keep", template="careful", held=True, fingerprints=DIGEST).code == "forbidden"
        owner.call("session.end", session=owner.create(template="careful", for_proof=True))
        for wrong in (DIGEST | {"root": "C" * 64}, DIGEST | {"kernel": "a" * 63}, {"kernel": "a" * 64}, {}):
            assert refused(owner, "proof.keep", template="careful", held=True, fingerprints=wrong).code in ("invalid_params", "too_large")
        assert refused(owner, "proof.keep", template="careful", held=True, fingerprints=None).code == "invalid_params"
        assert refused(owner, "proof.keep", template="nobody", held=True, fingerprints=DIGEST).code == "not_found"
        why(owner)
