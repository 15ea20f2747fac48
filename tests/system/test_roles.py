"""Who is in a session, as what, and by which link: roles, removal, shares, notes; all of it also after the gateway was killed.
(Cases T16, T19, T35.)"""

import json
import time

import pytest
from people import connect, errors, kill_gateway, refused, sh, token, up, wait_driver, wait_kind
from wire import DRIVER, EOF, NOTE, PARTICIPANT, RESIZE, RESIZED, SLOWNESS, STARTED, STDIN, TTY, RemoteError


def test_everybody_sees_who_comes_and_goes(server, client, session, guests):
    """Each has a number, a name, a role and a colour of its own; who comes late is told who is here."""
    first = client.attach(session, name="ann")
    other = guests()
    second = other.attach(session, name="bob", role="viewer", after=None)
    assert second.answer["role"] == "viewer" and second.answer["colour"] != first.answer["colour"]
    assert [(row["name"], row["role"]) for row in second.answer["participants"]] == [("bob", "viewer"), ("ann", "owner")]
    assert {row["colour"] for row in second.answer["participants"]} == {first.answer["colour"], second.answer["colour"]}
    second.detach()
    first.wait(lambda view: len(view.of_kind(PARTICIPANT)) == 3)
    assert [(row[4]["change"], row[4]["name"], row[4]["by"]) for row in first.view.of_kind(PARTICIPANT)] == \
        [("joined", "ann", None), ("joined", "bob", None), ("left", "bob", None)]


def test_one_user_in_five_tabs(server, client, session):
    """T35: the same token five times is five participants, and none is thrown out by another."""
    tabs = [server.client() for _ in range(5)]
    channels = [tab.attach(session) for tab in tabs]
    time.sleep(1)
    assert not any(tab.closed for tab in tabs)
    assert len({channel.answer["participant"] for channel in channels}) == 5
    assert len({channel.answer["colour"] for channel in channels}) == 5
    assert len(client.call("session.info", session=session)["participants"]) == 5
    for tab in tabs:
        tab.close()


def test_a_role_changes_while_he_types(server, client, session, guests):
    """T16: the owner makes an editor a viewer while he sends: each input is written whole before the change, or refused
    whole after it; then back again. All see the same events in the same order."""
    watch = client.attach(session)
    process = sh(client, session)
    up(watch, process)
    editor = guests(token=token(client, "read", "run"))
    typing = editor.attach(session, name="ed")
    number = typing.answer["participant"]
    offset = 0
    for turn in range(200):
        if turn == 100:
            editor.wait(lambda: typing.acknowledged.get(process))
            client.call("session.role", session=session, participant=number, role="viewer")
        typing.send([STDIN, process, offset, b"<%04d>" % turn])
        offset += 6
    editor.wait(lambda: len(typing.errors) + typing.acknowledged.get(process, 0) // 6 >= 200)
    taken = typing.acknowledged.get(process, 0)
    assert 0 < taken < 1200 and taken % 6 == 0
    assert typing.errors[0][2] == "forbidden" and typing.errors[0][4] == {"expected": taken}
    watch.wait(lambda view: len(view.bytes(process, TTY)) >= len(b"up\n") + taken)
    assert watch.view.bytes(process, TTY)[-taken:] == b"".join(b"<%04d>" % turn for turn in range(taken // 6))
    assert refused(editor, "process.start", session=session, argv=["true"]).code == "forbidden"
    assert refused(editor, "process.signal", session=session, process=process, signal="INT").code == "forbidden"
    again = guests(token=token(client, "read"), client_id=editor.client_id)  # another token is another's role
    assert again.attach(session).answer["role"] == "viewer"
    typing.detach()
    typing = editor.attach(session)  # coming anew changes nothing
    assert typing.answer["role"] == "viewer"
    assert refused(editor, "session.attach", session=session, role="editor").code == "forbidden"
    client.call("session.role", session=session, participant=typing.answer["participant"], role="editor")
    typing.wait(lambda view: [row for row in view.of_kind(PARTICIPANT) if row[4]["change"] == "role"][-1][4]["role"] == "editor")
    typing.send([STDIN, process, taken, b"and again"])
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"and again"))
    last = watch.view.last
    typing.wait(lambda view: view.last >= last)
    assert [row for row in typing.view.of_kind(PARTICIPANT) if row[1] <= last] == [row for row in watch.view.of_kind(PARTICIPANT) if row[1] <= last]


def test_a_viewer_is_made_an_editor(server, client, session, guests):
    """Who may only look by the token may type, and start processes, once the owner says so: here, and nowhere else."""
    elsewhere = client.create()
    watch = client.attach(session)
    process = sh(client, session)
    up(watch, process)
    viewer = guests(token=token(client, "read"))
    channel = viewer.attach(session)
    channel.send([STDIN, process, 0, b"no"])
    assert errors(channel) == [("forbidden", {"expected": 0})]
    client.call("session.role", session=session, participant=channel.answer["participant"], role="editor")
    channel.send([STDIN, process, 0, b"yes"])
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"yes"))
    assert viewer.run(session, "echo hi")["stdout"] == b"hi\n"
    assert refused(viewer, "process.start", session=elsewhere, argv=["true"]).code == "forbidden"
    assert refused(viewer, "session.share", session=session).code == "forbidden"
    client.call("session.end", session=elsewhere)


def test_somebody_is_removed(server, client, session, guests):
    """T16: his channel closes with a reason, his connection with 4004; his token is no good here any more, but elsewhere;
    the session goes on; and he can be let in again."""
    elsewhere = client.create()
    watch = client.attach(session)
    process = sh(client, session)
    up(watch, process)
    key = token(client, "read", "run", name="eve")
    one, two = guests(token=key), guests(token=key)
    channel, also = one.attach(session), two.attach(session)
    there = two.attach(elsewhere)
    number = channel.answer["participant"]
    begun = time.monotonic()
    client.call("session.remove", session=session, participant=number)
    assert one.wait_closed() == 4004 and time.monotonic() - begun < 2 * SLOWNESS
    assert channel.closed == "removed"
    two.wait(lambda: also.closed)
    assert also.closed == "removed" and not two.closed  # it has something else
    there.wait_live()
    for method, params in (("session.attach", {}), ("process.list", {}), ("process.start", {"argv": ["true"]}), ("session.info", {}),
                           ("session.note", {"text": "x"})):
        assert refused(two, method, session=session, **params).code == "forbidden", method
    assert refused(guests(token=key), "session.attach", session=session).code == "forbidden"
    assert two.run(elsewhere, "echo hi")["stdout"] == b"hi\n"
    told = [row[4] for row in wait_kind(watch, PARTICIPANT, 5) if row[4]["name"] == "eve"]
    assert [(row["change"], row["by"]) for row in told] == [("joined", None)] * 2 + [("removed", "owner")] * 2
    watch.send([STDIN, process, 0, b"on"])
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"on"))
    client.call("session.role", session=session, participant=number, role="viewer")
    assert two.attach(session).answer["role"] == "viewer"
    client.call("session.end", session=elsewhere)


def test_an_owner_cannot_lock_himself_out(server, client, session, guests):
    """Removing another window of one's own token, or an administrator's, closes that channel, and nothing else."""
    desk = guests()
    mine = desk.attach(session)
    tab = guests()
    other = tab.attach(session)
    client.call("session.remove", session=session, participant=other.answer["participant"])
    assert tab.wait_closed() == 4004
    assert guests().attach(session).answer["role"] == "owner"
    client.call("session.role", session=session, participant=mine.answer["participant"], role="viewer")
    assert desk.run(session, "echo hi")["stdout"] == b"hi\n"
    manager = guests(token=token(client, "read", "run", "manage"))
    manager.call("session.remove", session=session, participant=mine.answer["participant"])
    assert desk.wait_closed() == 4004 and mine.closed == "removed"
    assert guests(client_id=desk.client_id).attach(session).answer["role"] == "owner"


def test_a_viewer_writes_by_no_path(server, client, session, guests):
    """T19: everything that a viewer's token could send is refused with one code, has no effect, and the connection lives."""
    watch = client.attach(session)
    process = sh(client, session)
    up(watch, process)
    other = client.create()
    share = client.call("session.share", session=session, role="viewer")
    viewer = guests(token=share["token"])
    channel = viewer.attach(session, after=None)
    assert channel.answer["role"] == "viewer" and viewer.hello["session"] == session and viewer.hello["rights"] == ["read"]
    captured = [STDIN, process, 0, b"captured"]  # as an editor would send it
    for frame in (captured, [EOF, process, 0], [RESIZE, process, 100, 40]):
        channel.send(frame)
    assert [code for code, _ in errors(channel, 3)] == ["forbidden"] * 3
    mine, his = channel.answer["participant"], watch.answer["participant"]
    here = {"session": session}
    on = here | {"process": process}
    seat = {"channel": channel.number, "process": process}
    for method, params in (
            ("session.update", here | {"name": "x"}), ("session.end", here), ("session.role", here | {"participant": mine, "role": "owner"}),
            ("session.remove", here | {"participant": his}), ("session.note", here | {"text": "x"}), ("session.share", here),
            ("session.shares", here), ("session.unshare", here | {"share": share["share"]}), ("process.start", here | {"argv": ["true"]}),
            ("process.run", here | {"argv": ["true"]}), ("process.signal", on | {"signal": "KILL"}), ("process.kill", on),
            ("shell.start", here), ("shell.run", on | {"command": "true"}), ("terminal.set", on | {"input": "driver"}),
            ("terminal.take", seat), ("terminal.release", seat), ("terminal.grant", seat | {"participant": mine}), ("terminal.request", seat),
            ("session.create", {}), ("token.create", {"name": "x"}), ("token.list", {}), ("server.info", {}), ("template.list", {}),
            ("session.attach", here | {"role": "editor"}), ("session.attach", here | {"mode": "lossless"})):
        assert refused(viewer, method, **params).code == "forbidden", method
    for method in ("session.attach", "session.info", "process.list"):
        assert refused(viewer, method, session=other).code == "not_found", method
    assert [row["session"] for row in viewer.call("session.list")["sessions"]] == [session]
    assert viewer.call("session.list", ended=True)["sessions"] == []
    assert [row["process"] for row in viewer.call("process.list", session=session)["processes"]] == [process]
    assert client.processes(session)[process]["state"] == "running" and watch.view.bytes(process, TTY) == b"up\n"
    assert not watch.view.of_kind(RESIZED) and not watch.view.of_kind(DRIVER) and len(watch.view.of_kind(STARTED)) == 1
    assert not viewer.closed
    client.call("session.end", session=other)


def test_a_link_lets_in_so_many(server, client, session, guests):
    """A link for two: the first may come back as often as he likes, the second comes, the third does not."""
    share = client.call("session.share", session=session, role="editor", uses=2, name="friend")
    first = server.client(token=share["token"])
    assert first.hello["principal"] == "friend" and first.hello["rights"] == ["read", "run"] and first.hello["session"] == session
    first.close()
    for _ in range(3):
        server.client(token=share["token"], client_id=first.client_id).close()
    second = guests(token=share["token"])
    assert second.attach(session).answer["role"] == "editor"
    with pytest.raises(RemoteError) as caught:
        server.client(token=share["token"])
    assert caught.value.code == "unauthenticated"
    listed = client.call("session.shares", session=session)["shares"]
    assert [(row["share"], row["role"], row["uses"], row["used"], row["open"], row["revoked"], row["by"]) for row in listed] == \
        [(share["share"], "editor", 2, 2, False, False, "owner")]
    assert share["token"] not in json.dumps(client.call("session.info", session=session), default=str)


def test_a_link_is_revoked(server, client, session, guests):
    """Who came by it is out within a second, with 4003, and nobody comes by it; another link's guest stays."""
    bad, good = (client.call("session.share", session=session, uses=5) for _ in range(2))
    out = [server.client(token=bad["token"]) for _ in range(3)]
    stays = guests(token=good["token"])
    stays.attach(session)
    out[0].attach(session)
    begun = time.monotonic()
    client.call("session.unshare", session=session, share=bad["share"])
    assert [guest.wait_closed() for guest in out] == [4003] * 3 and time.monotonic() - begun < 1 * SLOWNESS
    client.call("session.unshare", session=session, share=bad["share"])  # again: nothing more
    for client_id in (None, out[0].client_id):
        with pytest.raises(RemoteError) as caught:
            server.client(token=bad["token"], client_id=client_id)
        assert caught.value.code == "unauthenticated"
    assert stays.call("session.info", session=session)["session"] == session
    assert {row["share"]: row["revoked"] for row in client.call("session.shares", session=session)["shares"]} == \
        {bad["share"]: True, good["share"]: False}


def test_a_link_expires_and_ends_with_its_session(server, client, guests):
    """A link for two seconds closes with 4003 then; one without an end is worth nothing when the session has ended."""
    session = client.create()
    short = client.call("session.share", session=session, expires_ms=2000)
    lasting = client.call("session.share", session=session, uses=9)
    guest = server.client(token=short["token"])
    assert guest.wait_closed(15 * SLOWNESS) == 4003
    with pytest.raises(RemoteError):
        server.client(token=short["token"], client_id=guest.client_id)
    stays = guests(token=lasting["token"])
    channel = stays.attach(session)
    client.call("session.end", session=session)
    stays.wait(lambda: channel.closed)
    assert channel.closed == "session_ended"
    with pytest.raises(RemoteError) as caught:
        server.client(token=lasting["token"])
    assert caught.value.code == "unauthenticated"


def test_a_guest_is_removed_and_the_others_stay(server, client, session, guests):
    """One of three guests of a link is removed: 4004, on all his connections; he comes back neither as himself nor as somebody new;
    the other two stay, and may come back."""
    share = client.call("session.share", session=session, uses=50)
    guest = [guests(token=share["token"]) for _ in range(3)]
    twin = guests(token=share["token"], client_id=guest[1].client_id)  # not attached
    channels = [one.attach(session) for one in guest]
    client.call("session.remove", session=session, participant=channels[1].answer["participant"])
    assert guest[1].wait_closed() == 4004 and twin.wait_closed() == 4004
    for client_id, code in ((guest[1].client_id, "forbidden"), (None, "unauthenticated")):
        with pytest.raises(RemoteError) as caught:
            server.client(token=share["token"], client_id=client_id)
        assert caught.value.code == code
    assert not guest[0].closed and not guest[2].closed
    server.client(token=share["token"], client_id=guest[2].client_id).close()
    row = client.call("session.shares", session=session)["shares"][0]
    assert not row["open"] and not row["revoked"] and row["used"] == 3


def test_a_guest_with_another_role_keeps_it(server, client, session, guests):
    """A guest of a viewer's link is made an editor, and another of the same link is not."""
    share = client.call("session.share", session=session, uses=2)
    one, two = guests(token=share["token"]), guests(token=share["token"])
    channel = one.attach(session)
    two.attach(session)
    client.call("session.role", session=session, participant=channel.answer["participant"], role="editor")
    assert one.run(session, "echo hi")["stdout"] == b"hi\n"
    assert refused(two, "process.run", session=session, argv=["true"]).code == "forbidden"
    one.cut()
    again = guests(token=share["token"], client_id=one.client_id)
    assert again.attach(session).answer["role"] == "editor"


def test_a_note_is_pinned_to_its_moment(server, client, session, guests):
    """It stands in the journal where it was made, with who made it, attached or not."""
    watch = client.attach(session, name="ann")
    process = sh(client, session)
    seq = client.call("session.note", session=session, text="here \x1b[31mit\x07 broke", process=process)["seq"]
    other = guests(token=token(client, "read", "run", name="script"))
    other.call("session.note", session=session, text="from afar")
    notes = wait_kind(watch, NOTE, 2)
    assert notes[0][1] == seq
    assert notes[0][3] == {"text": "here \x1b[31mit\x07 broke", "by": "ann", "participant": watch.answer["participant"], "process": process}
    assert notes[1][3] == {"text": "from afar", "by": "script", "participant": None, "process": None}
    assert refused(client, "session.note", session=session, text="").data["field"] == "text"
    assert refused(client, "session.note", session=session, text="x" * 1025).code == "too_large"
    assert refused(client, "session.note", session=session, text="x", process=99).code == "not_found"


def test_all_of_it_survives_the_gateway(start_server):
    """Three are attached, one drives, a size is fixed, one was removed, one has another role, links are out: the gateway is killed. The
    next one knows it all; the driver is away and comes back."""
    server = start_server()
    owner = server.client()
    session = owner.create()
    watch = owner.attach(session)
    process = sh(owner, session)
    up(watch, process)
    owner.call("terminal.set", session=session, process=process, input="driver", size="fixed", cols=111, rows=33)
    keys = {name: token(owner, "read", "run", name=name) for name in ("driver", "demoted", "removed")}
    clients = {name: server.client(token=key) for name, key in keys.items()}
    channels = {name: client.attach(session) for name, client in clients.items()}
    clients["driver"].call("terminal.take", channel=channels["driver"].number, process=process)
    owner.call("session.role", session=session, participant=channels["demoted"].answer["participant"], role="viewer")
    owner.call("session.remove", session=session, participant=channels["removed"].answer["participant"])
    once, revoked = (owner.call("session.share", session=session, uses=1) for _ in range(2))
    guest = server.client(token=once["token"])
    owner.call("session.unshare", session=session, share=revoked["share"])
    owner.call("session.note", session=session, text="before")
    view = watch.view
    kill_gateway(server)
    for client in (owner, guest, *clients.values()):
        client.wait_closed()
    owner = connect(server)
    watch = owner.attach(session, view)
    assert wait_driver(watch, "away")["driver"] == channels["driver"].answer["participant"]
    back = connect(server, token=keys["driver"], client_id=clients["driver"].client_id)
    seat = back.attach(session)
    assert seat.answer["terminals"] == [{"process": process, "cols": 111, "rows": 33, "input": "driver", "size": "fixed",
                                         "driver": seat.answer["participant"], "away": False, "requests": []}]
    seat.send([STDIN, process, 0, b"still driving"])
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"still driving"))
    demoted = connect(server, token=keys["demoted"])
    assert demoted.attach(session).answer["role"] == "viewer"
    assert refused(demoted, "process.run", session=session, argv=["true"]).code == "forbidden"
    removed = connect(server, token=keys["removed"])
    assert refused(removed, "session.attach", session=session).code == "forbidden"
    for bad in (once, revoked):
        with pytest.raises(RemoteError) as caught:
            server.client(token=bad["token"])
        assert caught.value.code == "unauthenticated"
    again = connect(server, token=once["token"], client_id=guest.client_id)
    assert again.attach(session).answer["role"] == "viewer"
    assert [row[3]["text"] for row in view.of_kind(NOTE)] == ["before"]
    owner.call("session.role", session=session, participant=channels["removed"].answer["participant"], role="editor")
    assert removed.attach(session).answer["role"] == "editor"
    for client in (again, removed, demoted, back):
        client.close()
    owner.call("session.end", session=session)
    owner.close()
