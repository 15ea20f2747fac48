"""Tokens and tenants: who is let in, what they see of each other, and how somebody is shown the door."""

import json
import os
import re
import signal
import threading
import time

import pytest
from test_gateway import again, gateway
from wire import RemoteError


def made(client, **params):
    """A token made over CLIENT: (id, token)."""
    answer = client.call("token.create", **({"name": "ada"} | params))
    return answer["id"], answer["token"]


def refused(client, method, **params):
    with pytest.raises(RemoteError) as caught:
        client.call(method, **params)
    return caught.value


def test_a_token_works_until_it_is_revoked(server):
    """An operator gives a colleague a token, who works with it; it is revoked, and within a second the colleague's
    connection is closed with 4003, and the token opens no other. The operator's goes on."""
    with server.client() as owner:
        number, token = made(owner, name="grace")
        colleague = server.client(token=token)
        assert colleague.hello["principal"] == "grace" and colleague.hello["rights"] == ["read", "run", "manage"]
        assert colleague.run(colleague.create(), "echo hi")["stdout"] == b"hi\n"
        begun = time.monotonic()
        owner.call("token.revoke", id=number)
        assert colleague.wait_closed(5) == 4003 and time.monotonic() - begun < 1
        with pytest.raises(RemoteError) as caught:
            server.client(token=token)
        assert caught.value.code == "unauthenticated"
        owner.call("token.revoke", id=number)  # again: nothing more
        listed = {row["id"]: row for row in owner.call("token.list")["tokens"]}
        assert listed[number]["revoked"] and listed[number]["name"] == "grace" and listed[number]["by"] == "owner"
        for session in owner.call("session.list")["sessions"]:
            owner.call("session.end", session=session["session"])


def test_who_does_not_read_is_closed_too(server):
    """The client of a revoked token has stopped reading in the middle of a flood: it is cut all the same."""
    with server.client() as owner:
        number, token = made(owner)
        deaf = server.client(token=token, receive_buffer=4096)
        session = deaf.create()
        deaf.attach(session)
        deaf.shell(session, "yes")
        deaf.pause()
        time.sleep(1)
        before = owner.call("server.info")["connections"]
        owner.call("token.revoke", id=number)
        deadline = time.monotonic() + 3
        while owner.call("server.info")["connections"] >= before:
            assert time.monotonic() < deadline, "the connection is still there"
            time.sleep(.05)
        deaf.socket.shut()
        deaf.resume()
        owner.call("session.end", session=session)


def test_a_token_expires(server):
    """A token for two seconds: its connection is closed with 4003 then, and it is worthless and forgotten."""
    with server.client() as owner:
        number, token = made(owner, expires_ms=2000)
        guest = server.client(token=token)
        assert guest.wait_closed(10) == 4003
        with pytest.raises(RemoteError):
            server.client(token=token)
        assert number not in [row["id"] for row in owner.call("token.list")["tokens"]]


def test_rights_are_those_of_the_token(server):
    """Who may only read can list and watch, and neither starts nor makes anything; nobody gives away more than he has."""
    with server.client() as owner:
        session = owner.create()
        _, reading = made(owner, rights=["read"])
        with server.client(token=reading) as reader:
            assert [row["session"] for row in reader.call("session.list")["sessions"]] == [session]
            assert reader.attach(session).answer["role"] == "viewer"
            for method, params in (("process.start", {"session": session, "argv": ["true"]}), ("session.create", {}),
                                   ("session.end", {"session": session}), ("token.create", {"name": "x"}),
                                   ("token.list", {}), ("server.info", {})):
                assert refused(reader, method, **params).code == "forbidden", method
        _, narrow = made(owner, rights=["admin", "read"])
        with server.client(token=narrow) as maker:
            assert refused(maker, "token.create", name="x", rights=["run"]).code == "forbidden"
            assert server.client(token=made(maker)[1]).hello["rights"] == ["read"]
        _, short = made(owner, rights=["admin"], expires_ms=60000)
        with server.client(token=short) as maker:
            assert refused(maker, "token.create", name="x", rights=["admin"]).data["field"] == "expires_ms"
            assert refused(maker, "token.create", name="x", rights=["admin"], expires_ms=70000).code == "forbidden"
            made(maker, rights=["admin"], expires_ms=1000)
        owner.call("session.end", session=session)


def test_tenants_do_not_see_each_other(server):
    """Two tenants: neither finds the other's session by any method, nor its tokens; an administrator of one makes tokens
    of his tenant alone and does not look at the server."""
    with server.client() as owner:
        here = owner.create(name="secret")
        mine, admin = made(owner, tenant="acme", rights=["read", "run", "manage", "admin"])
        with server.client(token=admin) as other:
            assert other.call("session.list")["sessions"] == []
            for method, more in (("session.info", {}), ("session.end", {}), ("session.attach", {}), ("process.list", {}),
                                 ("process.start", {"argv": ["true"]}), ("process.run", {"argv": ["true"]}),
                                 ("process.kill", {"process": 1}), ("process.wait", {"process": 1}),
                                 ("process.signal", {"process": 1, "signal": "INT"})):
                assert refused(other, method, session=here, **more).code == "not_found", method
            assert refused(other, "server.info").code == "forbidden"
            assert refused(other, "token.create", name="x", tenant="default").data["field"] == "tenant"
            _, colleague = made(other, name="cy")
            there = server.client(token=colleague)
            session = there.create(name="theirs")
            assert [row["name"] for row in other.call("session.list")["sessions"]] == ["theirs"]
            assert [row["name"] for row in owner.call("session.list")["sessions"]] == ["secret"]
            assert {row["tenant"] for row in other.call("token.list")["tokens"]} == {"acme"}
            outside = made(owner)[0]
            assert refused(other, "token.revoke", id=outside).code == "not_found"
            other.call("session.end", session=session)
        owner.call("token.revoke", id=mine)
        owner.call("session.end", session=here)


def test_bad_parameters_are_named(server):
    with server.client() as owner:
        for params, field in (({"name": ""}, "name"), ({"name": "x" * 65}, "name"), ({}, "name"),
                              ({"name": "x", "rights": ["fly"]}, "rights"), ({"name": "x", "rights": []}, "rights"),
                              ({"name": "x", "rights": ["read"] * 5}, "rights"),
                              ({"name": "x", "tenant": "a/b"}, "tenant"), ({"name": "x", "tenant": "t" * 64}, "tenant"),
                              ({"name": "x", "expires_ms": -1}, "expires_ms")):
            assert refused(owner, "token.create", **params).data["field"] == field, params
        assert "must have 1...4 entries" in str(refused(owner, "token.create", name="x", rights=[]))
        assert refused(owner, "token.revoke", id="nobody").code == "not_found"


def test_a_tenant_has_so_many_sessions(start_server):
    """--tenant-sessions 2: the third session of a tenant is refused, another tenant's first is not."""
    server = start_server("--tenant-sessions", "2")
    with server.client() as owner:
        sessions = [owner.create(), owner.create()]
        error = refused(owner, "session.create")
        assert error.code == "limit" and error.data == {"limit": "tenant_sessions"}
        with server.client(token=made(owner, tenant="b")[1]) as other:
            other.create()
        owner.call("session.end", session=sessions[0])
        owner.create()


def tenants_limit(client, method, **params):
    """Which limit of its tenant a call runs into, and the number that the message names."""
    error = refused(client, method, **params)
    assert error.code == "limit"
    return error.data["limit"], [int(number) for number in re.findall(r"at most (\d+)", str(error))]


def test_a_tenant_has_so_much_memory_and_so_many_processes(start_server):
    """Its sessions' limits, and what runs in them, are summed up; what has ended is free again; others are not concerned."""
    server = start_server("--tenant-memory", "200M", "--tenant-processes", "2")
    memory, processes = {"limits": {"memory": 100 << 20}}, {"argv": ["sleep", "1000"]}
    with server.client() as owner, server.client(token=made(owner, tenant="b")[1]) as other:
        first, second = owner.create(**memory), owner.create(**memory)
        assert tenants_limit(owner, "session.create", **memory) == ("tenant_memory", [200 << 20])
        running = owner.call("process.start", session=first, **processes)["process"]
        owner.call("shell.start", session=second)
        for method in ("process.start", "process.run"):
            assert tenants_limit(owner, method, session=first, **processes) == ("tenant_processes", [2])
        assert tenants_limit(owner, "shell.start", session=second) == ("tenant_processes", [2])
        used = owner.call("session.info", session=first)["tenant"]
        assert used["memory"] == {"used": 200 << 20, "limit": 200 << 20} and used["sessions"] == {"used": 2, "limit": 0}
        assert used["processes"] == {"used": 2, "limit": 2}
        there = other.create(**memory)
        other.call("process.start", session=there, **processes)
        assert {row["tenant"]: row["processes"]["used"] for row in owner.call("server.info")["tenants"]} == {"default": 2, "b": 1}
        owner.call("process.kill", session=first, process=running)
        owner.call("process.wait", session=first, process=running)
        assert owner.run(first, "echo on")["stdout"] == b"on\n"
        owner.call("session.end", session=second)
        owner.create(**memory)
        share = owner.call("session.share", session=first)["token"]
        with server.client(token=share) as guest:
            assert guest.call("session.info", session=first)["tenant"] is None


def test_a_tenant_makes_so_much_a_minute(start_server):
    """Sessions and processes are counted alike, also those that have ended; another tenant has a count of its own."""
    server = start_server("--tenant-starts", "4")
    with server.client() as owner, server.client(token=made(owner, tenant="b")[1]) as other:
        session = owner.create()
        for _ in range(3):
            assert owner.run(session, "echo on")["stdout"] == b"on\n"
        for method, params in (("process.run", {"session": session, "argv": ["true"]}), ("session.create", {}),
                               ("process.start", {"session": session, "argv": ["true"]}), ("shell.start", {"session": session})):
            assert tenants_limit(owner, method, **params) == ("tenant_starts", [4])
        assert owner.call("session.info", session=session)["tenant"]["starts"] == {"used": 4, "limit": 4}
        other.create()


def test_what_was_revoked_stays_revoked(start_server):
    """A gateway that was killed, and a whole new server, still know it; a damaged file is not overlooked."""
    server = start_server()
    with server.client() as owner:
        number, token = made(owner)
        _, good = made(owner)
        owner.call("token.revoke", id=number)
        file = server.state / "tokens/tokens.json"
        assert file.stat().st_mode & 0o077 == 0
        told = json.loads(file.read_text())
        assert {row["id"]: row["revoked"] for row in told["tokens"]}[number] and token not in file.read_text()
    server.process.send_signal(signal.SIGUSR2)  # another gateway
    deadline = time.monotonic() + 20
    while True:
        try:
            with server.client(token=good) as client:
                if client.hello["epoch"] == 2:
                    break
        except (OSError, RemoteError, Exception):
            assert time.monotonic() < deadline
        time.sleep(.1)
    with pytest.raises(RemoteError) as caught:
        server.client(token=token)
    assert caught.value.code == "unauthenticated"


def redeemed(server, link):
    with server.client(token=link) as bearer:
        return bearer.call("token.redeem")


def test_a_link_is_good_once(server):
    """Who opens a link gets a token of his own, with the rights and the life that the link was made for; the link itself allows
    nothing else. Of several who race for it exactly one wins, the others are told, and so is who comes later."""
    with server.client() as owner:
        number, link = made(owner, name="browser", rights=["read", "manage"], uses=1, expires_ms=3600000)
        racers = [server.client(token=link) for _ in range(8)]
        assert racers[0].hello["rights"] == ["redeem"] and racers[0].hello["principal"] == "browser"
        for method, params in (("session.list", {}), ("session.create", {}), ("template.list", {}), ("token.list", {}),
                               ("token.create", {"name": "x", "rights": ["read"]}), ("token.revoke", {"id": number}), ("server.info", {})):
            assert refused(racers[0], method, **params).code == "forbidden", method
        assert refused(owner, "token.redeem").code == "forbidden"
        told, begin = [], threading.Barrier(len(racers))

        def race(racer):
            begin.wait()
            try:
                told.append(racer.call("token.redeem"))
            except RemoteError as error:
                told.append(error)

        threads = [threading.Thread(target=race, args=(racer,)) for racer in racers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        won = [one for one in told if isinstance(one, dict)]
        assert len(told) == len(racers) and len(won) == 1, told
        assert {(one.code, str(one)) for one in told if one not in won} == {("unauthenticated", "unauthenticated: the link was used already")}
        for racer in racers:
            racer.close()
        with pytest.raises(RemoteError) as caught:
            server.client(token=link)
        assert caught.value.code == "unauthenticated" and "the link was used already" in str(caught.value)
        with server.client(token=won[0]["token"]) as bearer:
            assert bearer.hello["rights"] == ["read", "manage"] and bearer.hello["principal"] == "browser"
        rows = {row["id"]: row for row in owner.call("token.list")["tokens"]}
        assert (rows[number]["uses"], rows[number]["used"]) == (1, 1)
        own = rows[won[0]["id"]]
        assert (own["uses"], own["used"], own["by"], own["revoked"]) == (0, 0, "owner", False)
        assert 3590 < own["expires_us"] / 1e6 - time.time() < 3610, "from its use on"
        owner.call("token.revoke", id=won[0]["id"])
        with pytest.raises(RemoteError):
            server.client(token=won[0]["token"])


def test_a_link_that_nobody_uses(server):
    """It is worthless once its time is over, or when it was revoked; what it gives is bounded even where nobody said how."""
    with server.client() as owner:
        _, short = made(owner, uses=1, redeem_ms=1000)
        number, revoked = made(owner, uses=1)
        rows = {row["id"]: row for row in owner.call("token.list")["tokens"]}
        assert 3500 < rows[number]["expires_us"] / 1e6 - time.time() < 3610
        owner.call("token.revoke", id=number)
        time.sleep(2.1)
        for link in (short, revoked):
            with pytest.raises(RemoteError) as caught:
                server.client(token=link)
            assert caught.value.code == "unauthenticated"
        number = redeemed(server, made(owner, uses=1)[1])["id"]
        rows = {row["id"]: row for row in owner.call("token.list")["tokens"]}
        assert 29 < (rows[number]["expires_us"] / 1e6 - time.time()) / 86400 < 31


def test_a_link_gives_no_more_than_its_maker_has(server):
    """Neither more rights nor a longer life; and what makes no sense is named."""
    with server.client() as owner:
        for params, field in (({"uses": 257}, "uses"), ({"uses": -1}, "uses"), ({"redeem_ms": 1000}, "redeem_ms"),
                              ({"uses": 1, "redeem_ms": 0}, "redeem_ms"), ({"uses": 1, "rights": ["redeem"]}, "rights")):
            assert refused(owner, "token.create", name="x", **params).data["field"] == field, params
        _, short = made(owner, rights=["admin", "read"], expires_ms=60000)
        with server.client(token=short) as maker:
            assert refused(maker, "token.create", name="x", uses=1, rights=["run"]).code == "forbidden"
            for params in ({"expires_ms": 70000}, {"redeem_ms": 70000}):
                error = refused(maker, "token.create", name="x", rights=["read"], uses=1, **params)
                assert error.code == "forbidden" and error.data["field"] in params
            link = made(maker, rights=["read"], uses=1)[1]
        number = redeemed(server, link)["id"]
        rows = {row["id"]: row for row in owner.call("token.list")["tokens"]}
        assert rows[number]["expires_us"] / 1e6 - time.time() < 61


def test_a_tenant_that_has_all_its_tokens(server):
    """A link's last use needs no other place than the link's; links that were used up or revoked, and what has expired, are not in the
    way of others, also while nothing is made that forgets them."""
    with server.client() as owner, server.client(token=made(owner, tenant="full", rights=["read", "admin"])[1]) as admin:
        twice = made(admin, rights=["read"], uses=2)[1]
        links = [made(admin, rights=["read"], uses=1) for _ in range(253)]
        last = made(admin, rights=["read"], expires_ms=60000)[0]
        error = refused(admin, "token.create", name="x", rights=["read"])
        assert error.code == "limit" and "at most 256" in str(error)
        with server.client(token=twice) as bearer:
            assert refused(bearer, "token.redeem").code == "limit", "its token would be one more beside the link"
        for _, link in links[:2]:
            with server.client(token=redeemed(server, link)["token"]) as bearer:
                assert bearer.hello["rights"] == ["read"]
        assert refused(admin, "token.create", name="x", rights=["read"]).code == "limit", "the tokens are there in the links' places"
        admin.call("token.revoke", id=last)
        assert refused(admin, "token.create", name="x", rights=["read"]).code == "limit", "that it was revoked must be remembered"
        admin.call("token.revoke", id=links[2][0])
        short = made(admin, rights=["read"], expires_ms=1000)
        assert refused(admin, "token.create", name="x", rights=["read"]).code == "limit"
        time.sleep(2.1)
        assert short[0] not in {row["id"] for row in admin.call("token.list")["tokens"]}
        assert redeemed(server, twice)["token"]
        with server.client(token=twice) as bearer:
            assert bearer.call("token.redeem")["token"]


def test_a_used_link_stays_used(start_server):
    """The gateway is killed before and after a link was used: an unused one is good for the next gateway, a used one is not."""
    server = start_server()
    with server.client() as owner:
        _, link = made(owner, uses=1)
    os.kill(gateway(server), signal.SIGKILL)
    with again(server, token=link) as bearer:
        token = bearer.call("token.redeem")["token"]
    os.kill(gateway(server), signal.SIGKILL)
    with again(server, token=token) as own:
        assert own.hello["rights"] == ["read", "run", "manage"]
    with pytest.raises(RemoteError) as caught:
        server.client(token=link)
    assert "the link was used already" in str(caught.value)


def test_the_command_for_a_link(server):
    """`sandbar token link` prints an address that a browser opens, and what it is good for; `ls` tells whether it was used."""
    def said(*argv):
        done = server.command("token", *argv)
        return [text.decode() for text in done.communicate(timeout=60)] + [done.returncode]

    out, err, code = said("link", "--rights", "read,admin", "--expires", "2h")
    address, token = out.strip().split("/#")
    assert code == 0 and address == f"http://{server.address[0]}:{server.address[1]}" and "one browser" in err
    number = err.split()[-1]
    row = next(line for line in said("ls")[0].splitlines() if line.startswith(number))
    assert "read,admin" in row and " 0/1 " in row and row.endswith(" browser")
    with server.client(token=redeemed(server, token)["token"]) as bearer:
        assert bearer.hello["rights"] == ["read", "admin"]
    assert f"{number} " in said("ls")[0] and " 1/1 " in said("ls")[0]
    told = json.loads(said("link", "--json")[0])
    assert told["link"] == f"{address}/#{told['token']}" and redeemed(server, told["token"])


def test_a_link_is_no_token_for_the_command(server):
    """Who gives it a link's token is told that, and what to do."""
    with server.client() as owner:
        link = made(owner, uses=1)[1]
    file = server.folder / "link"
    file.write_text(link + "\n")
    for argv in (["ls"], ["new"], ["ps", "nosuchsession"], ["token", "ls"]):
        done = server.command("--token-file", str(file), *argv)
        err = done.communicate(timeout=60)[1].decode()
        assert done.returncode == 1 and "this is a sign-in link" in err and "in a browser" in err and "`sandbar token new`" in err, (argv, err)


def test_an_id_that_begins_with_a_dash(server):
    """None that the server makes does; another is taken behind `--`."""
    with server.client() as owner:
        session = owner.create()
        for number in [made(owner)[0] for _ in range(64)] + [owner.call("session.share", session=session)["share"] for _ in range(64)]:
            assert not number.startswith("-")
        for argv in (["token", "revoke", "--", "-AbC"], ["share", "revoke", session, "--", "-AbC"]):
            done = server.command(*argv)
            err = done.communicate(timeout=60)[1].decode()
            assert done.returncode == 4 and "`-AbC`" in err, (argv, done.returncode, err)
        owner.call("session.end", session=session)


def test_the_command(server):
    """`sandbar token new`, `ls`, `revoke`: the token alone stands on stdout, and works from a file."""
    done = server.command("token", "new", "--name", "ci", "--rights", "read,run,manage", "--expires", "1h")
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0 and len(out.split()) == 1, err
    number = err.decode().split()[-1]
    file = server.folder / "token"
    file.write_bytes(out)
    made_session = server.command("--token-file", str(file), "new")
    session = made_session.communicate(timeout=60)[0].decode().strip()
    assert made_session.returncode == 0
    listed = server.command("token", "ls")
    text = listed.communicate(timeout=60)[0].decode()
    assert number in text and "read,run,manage" in text and "ci" in text
    assert server.command("token", "revoke", number).wait(60) == 0
    again = server.command("--token-file", str(file), "ls")
    assert again.wait(60) == 3 and b"unauthenticated" in again.stderr.read()
    assert server.command("token", "revoke", number).wait(60) == 0
    assert server.command("token", "revoke").wait(60) == 2
    assert server.command("token", "new", "--rights", "fly").wait(60) == 1
    assert server.command("end", session).wait(60) == 0
