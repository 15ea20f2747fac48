"""One terminal, several people: who types, whose window counts, and what is refused. (Cases T14, T15, T22.)"""

import re
import shlex
import threading
import time

import pytest
from people import TERMINAL, drivers, errors, refused, settle, sh, sizes, token, up, wait_driver, wait_kind
from programs import SLEEPER
from wire import EOF, INPUT, OUTPUT, RESIZE, RESIZED, SLOWNESS, STDIN, TTY, TYPING


def test_one_drives_and_hands_over(server, client, session, guests):
    """In mode `driver` only one types. Another asks, the driver sees it and hands over; an owner takes it all the same."""
    owner = client.attach(session)
    process = sh(client, session)
    up(owner, process)
    anns, bobs = guests(token=token(client, "read", "run")), guests(token=token(client, "read", "run"))
    ann, bob = anns.attach(session, name="ann"), bobs.attach(session, name="bob")
    client.call("terminal.set", session=session, process=process, input="driver")
    assert wait_driver(ann, "set") == {"change": "set", "by": 0, "input": "driver", "driver": None, "away": False, "requests": [], "size": "driver"}
    ann.send([STDIN, process, 0, b"early"])
    assert errors(ann) == [("not_driver", {"expected": 0})] and "nobody has taken it" in ann.errors[0][3]
    anns.call("terminal.take", channel=ann.number, process=process)
    assert refused(bobs, "terminal.take", channel=bob.number, process=process).code == "conflict"
    ann.send([STDIN, process, 0, b"from ann;"])
    bob.send([STDIN, process, 0, b"from bob;"], [EOF, process, 0])
    assert [code for code, _ in errors(bob, 2)] == ["not_driver", "not_driver"] and "another participant drives" in bob.errors[0][3]
    bobs.call("terminal.request", channel=bob.number, process=process)
    assert wait_driver(ann, "requested")["requests"] == [bob.answer["participant"]]
    assert refused(bobs, "terminal.grant", channel=bob.number, process=process, participant=bob.answer["participant"]).code == "forbidden"
    anns.call("terminal.grant", channel=ann.number, process=process, participant=bob.answer["participant"])
    now = wait_driver(ann, "granted")
    assert now["driver"] == bob.answer["participant"] and now["by"] == ann.answer["participant"] and now["requests"] == []
    bob.send([STDIN, process, 0, b"from bob;"])
    ann.send([STDIN, process, 9, b"not any more"])
    assert errors(ann, 2)[1] == ("not_driver", {"expected": 9})
    client.call("terminal.take", channel=owner.number, process=process)
    owner.send([STDIN, process, 0, b"from the owner"])
    owner.wait(lambda view: view.bytes(process, TTY).endswith(b"from the owner"))
    assert owner.view.bytes(process, TTY) == b"up\nfrom ann;from bob;from the owner"
    client.call("terminal.release", channel=owner.number, process=process)
    assert wait_driver(owner, "released")["driver"] is None
    assert refused(client, "terminal.release", channel=owner.number, process=process).code == "conflict"
    late = guests().attach(session, after=None)
    assert late.answer["terminals"] == [{"process": process, "cols": 80, "rows": 24, "input": "driver", "driver": None, "away": False,
                                         "requests": [], "size": "driver"}]


def test_requests_are_bounded_and_go_with_who_asks(server, client, session, guests):
    """A request is taken back, or leaves with its participant; asking twice is one request; a viewer cannot ask."""
    owner = client.attach(session)
    process = sh(client, session)
    client.call("terminal.take", channel=owner.number, process=process)
    assert refused(client, "terminal.request", channel=owner.number, process=process).code == "conflict"
    many = guests()
    channels = [many.attach(session) for _ in range(17)]
    for channel in channels[:16]:
        many.call("terminal.request", channel=channel.number, process=process)
    many.call("terminal.request", channel=channels[0].number, process=process)
    assert refused(many, "terminal.request", channel=channels[16].number, process=process).code == "limit"
    many.call("terminal.release", channel=channels[0].number, process=process)
    assert len(wait_driver(owner, "withdrawn")["requests"]) == 15
    channels[1].detach()
    many.call("session.role", session=session, participant=channels[2].answer["participant"], role="viewer")
    owner.wait(lambda view: len(drivers(owner)[-1]["requests"]) == 13)


def test_a_driver_who_drops_comes_back(server, client, session, guests):
    """His connection is cut: for ten seconds nobody else but an owner gets it, and he has it again when he is back."""
    owner = client.attach(session)
    process = sh(client, session)
    client.call("terminal.set", session=session, process=process, input="driver")
    key = token(client, "read", "run")
    driver, other = server.client(token=key), guests(token=key)
    channel, waiting = driver.attach(session), other.attach(session)
    driver.call("terminal.take", channel=channel.number, process=process)
    driver.cut()
    away = wait_driver(waiting, "away")
    assert away["away"] and away["driver"] == channel.answer["participant"]
    assert refused(other, "terminal.take", channel=waiting.number, process=process).code == "conflict"
    again = guests(token=key, client_id=driver.client_id)
    back = again.attach(session)
    told = wait_driver(waiting, "back")
    assert not told["away"] and told["driver"] == back.answer["participant"]
    back.send([STDIN, process, 0, b"here I am"])
    owner.wait(lambda view: view.bytes(process, TTY).endswith(b"here I am"))
    back.detach()  # on purpose: at once
    assert wait_driver(waiting, "released")["driver"] is None
    other.call("terminal.take", channel=waiting.number, process=process)


def test_a_driver_who_does_not_come_back_is_none(server, client, session, guests):
    """After ten seconds anybody may take it."""
    owner = client.attach(session)
    process = sh(client, session)
    key = token(client, "read", "run")
    driver, other = server.client(token=key), guests(token=key)
    channel, waiting = driver.attach(session), other.attach(session)
    driver.call("terminal.take", channel=channel.number, process=process)
    driver.cut()
    wait_driver(waiting, "away")
    begun = time.monotonic()
    assert wait_driver(waiting, "expired")["driver"] is None
    assert 8 < time.monotonic() - begun < 12 * SLOWNESS
    other.call("terminal.take", channel=waiting.number, process=process)
    assert drivers(owner)[-1]["driver"] == waiting.answer["participant"] or wait_driver(owner, "taken")


def test_messages_are_not_interleaved(server, client, session, guests):
    """A program that reads slowly gets messages that are larger than the terminal takes at once, of three who type at the
    same time: each arrives as one piece."""
    watch = client.attach(session)
    process = sh(client, session, "stty raw -echo; echo up; while dd bs=997 count=1 2>/dev/null; do sleep .001; done")
    up(watch, process)
    size, turns = 20000, 5
    typists = [guests().attach(session) for _ in range(3)]

    def type_all(who):
        for turn in range(turns):
            typists[who].send([STDIN, process, turn * size, bytes([65 + who]) * (size - 1) + b"."])

    threads = [threading.Thread(target=type_all, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watch.wait(lambda view: len(view.bytes(process, TTY)) >= 3 + 3 * turns * size)
    pieces = watch.view.bytes(process, TTY)[3:].split(b".")[:-1]
    assert len(pieces) == 3 * turns and all(len(set(piece)) == 1 and len(piece) == size - 1 for piece in pieces)
    who = {typist.answer["participant"] for typist in typists}
    watch.wait(lambda view: {frame[3] for frame in view.of_kind(INPUT)} == who)


def test_an_interrupt_overtakes_what_nobody_reads(server, client, session, guests):
    """T22: a program does not read; a window of paste is queued, more is refused; ^C of another gets through at once."""
    watch = client.attach(session)
    process = sh(client, session, "stty -echo; trap 'echo broken; exit 0' INT; echo up; while :; do sleep .1; done")
    up(watch, process)
    paster, other = guests().attach(session), guests().attach(session)
    for piece in range(3):
        paster.send([STDIN, process, piece << 19, (b"x" * 1023 + b"\n") * 512])
    assert errors(paster)[0][0] == "stdin_window"
    other.send([STDIN, process, 0, b"\x03"])
    assert watch.wait_exit(process, 20 * SLOWNESS)["exit_code"] == 0 and b"broken" in watch.view.bytes(process, TTY)


@pytest.mark.parametrize("own", [True, False], ids=["own", "others"])
@pytest.mark.parametrize("kib", [0, 4, 8, 64, 900])
def test_an_interrupt_is_heard_whatever_was_pasted(server, client, session, guests, kib, own):
    """T22: so much was pasted at once to a program that never reads, and all of it, or a part, went into the terminal. ^C and ^\\
    get through all the same."""
    watch = client.attach(session)
    for key, number in ((b"\x03", "SIGINT"), (b"\x1c", "SIGQUIT")):
        process = sh(client, session, f"stty -echo; exec {shlex.join(SLEEPER)}")
        up(watch, process)
        paster = guests().attach(session)
        pressing, offset = (paster, kib << 10) if own else (guests().attach(session), 0)
        if kib:
            paster.send([STDIN, process, 0, (b"x" * 1023 + b"\n") * kib])
            time.sleep(.3)
        pressing.send([STDIN, process, offset, key])
        assert watch.wait_exit(process, 20 * SLOWNESS)["signal"] == number


def test_others_see_who_types(server, client, session, guests):
    """A mark, at most once a second, to everybody but who types; the journal says who it was, not what."""
    watch = client.attach(session)
    process = sh(client, session)
    up(watch, process)
    typist = guests().attach(session)
    watch.wait_live()
    begun = time.monotonic()
    for turn in range(100):
        typist.send([STDIN, process, turn, b"k"])
        time.sleep(.01)
    watch.wait(lambda view: view.bytes(process, TTY).count(b"k") == 100)
    marks = wait_kind(watch, TYPING)
    assert 1 <= len(marks) <= time.monotonic() - begun + 1 and marks[0] == [TYPING, typist.answer["participant"], process]
    assert not typist.view.of_kind(TYPING)
    watch.wait(lambda view: sum(frame[5] for frame in view.of_kind(INPUT)) == 100)


WINCH = "trap 'n=$((n+1)); echo \"<$n $(stty size)>\"' WINCH; echo up; while :; do sleep .02; done"


def test_two_sizes_do_not_fight(server, client, session, guests):
    """T14: 159×72 and 47×49 are sent ten times a second each, by turns under every policy; a viewer sends one too. The program gets a
    signal only where the size changed; when the small one leaves the size is made anew; everybody hears the size in force."""
    process = sh(client, session, "stty -echo; " + WINCH)
    watch = client.attach(session)
    up(watch, process)
    big, small = guests().attach(session), guests().attach(session)
    viewer = guests(token=token(client, "read")).attach(session)

    def fight():
        for _ in range(10):
            big.send([RESIZE, process, 159, 72])
            small.send([RESIZE, process, 47, 49])
            viewer.send([RESIZE, process, 10, 10])
            time.sleep(.1)
        settle(watch, .3)

    big.send([RESIZE, process, 159, 72])
    watch.wait(lambda view: sizes(watch) == [(159, 72)])
    expected = []
    for policy, more in (("driver", (159, 72)), ("smallest", (47, 49)), ("largest", (159, 72)), ("smallest", (47, 49))):
        client.call("terminal.set", session=session, process=process, size=policy)
        fight()
        expected.append(more)
        assert sizes(watch) == expected, policy
    small.client.cut()
    watch.wait(lambda view: sizes(watch) == expected + [(159, 72)])
    client.call("terminal.set", session=session, process=process, size="fixed", cols=100, rows=30)
    big.send([RESIZE, process, 120, 50])
    watch.wait(lambda view: sizes(watch)[-1] == (100, 30))
    settle(watch, .5)
    changes = sizes(watch)
    assert changes == expected + [(159, 72), (100, 30)]
    seen = re.findall(rb"<(\d+) (\d+) (\d+)>", watch.view.bytes(process, TTY))
    assert 0 < len(seen) <= len(changes) and seen[-1][1:] == (b"30", b"100")
    assert {code for code, _ in errors(viewer, 40)} == {"forbidden"}
    late = guests().attach(session, after=None)
    assert [(row["cols"], row["rows"], row["size"]) for row in late.answer["terminals"]] == [(100, 30, "fixed")]


def test_the_drivers_window_counts(server, client, session, guests):
    """S1: policy `driver`: the size is the driver's, whoever it is; where nobody drives, that of who was here first; a window that
    is not the driver's waits until it is."""
    process = sh(client, session)
    watch = client.attach(session)
    up(watch, process)
    one, two = guests().attach(session), guests().attach(session)
    two.send([RESIZE, process, 90, 30])
    watch.wait(lambda view: sizes(watch) == [(90, 30)])
    one.send([RESIZE, process, 100, 40])
    watch.wait(lambda view: sizes(watch)[-1] == (100, 40))
    two.send([RESIZE, process, 91, 31])
    two.client.call("terminal.take", channel=two.number, process=process)
    watch.wait(lambda view: sizes(watch)[-1] == (91, 31))
    client.call("session.role", session=session, participant=two.answer["participant"], role="viewer")
    watch.wait(lambda view: sizes(watch)[-1] == (100, 40))
    assert drivers(watch)[-1]["driver"] is None
    assert sizes(watch) == [(90, 30), (100, 40), (91, 31), (100, 40)]


def test_a_small_viewer_shrinks_nobodys_terminal(server, client, session, guests):
    """S1: the driver's window has 120×40; a viewer with 20×5 joins and says so, and a second writer with another: the program sees 120×40
    all the time, and both are told it. Only when the driver hands over is it the second's; everybody hears of each change."""
    process = sh(client, session, "stty -echo; echo up; while read x; do stty size; done", cols=120, rows=40)
    watch = client.attach(session)
    up(watch, process)
    client.call("terminal.set", session=session, process=process, input="driver")
    driving, viewing, second = (guests(token=token(client, *rights, name=name)).attach(session)
                                for name, rights in (("driver", ("read", "run")), ("viewer", ("read",)), ("second", ("read", "run"))))
    driving.client.call("terminal.take", channel=driving.number, process=process)
    driving.send([RESIZE, process, 120, 40])
    viewing.send([RESIZE, process, 20, 5])
    second.send([RESIZE, process, 60, 15])
    assert errors(viewing)[0][0] == "forbidden"
    for channel in viewing, second:
        assert [(row["cols"], row["rows"]) for row in channel.answer["terminals"]] == [(120, 40)]
    settle(watch)
    driving.send([STDIN, process, 0, b"\n"])
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"40 120\r\n"))
    assert sizes(watch) == []
    assert refused(second.client, "terminal.take", channel=second.number, process=process).code == "conflict"
    second.client.call("terminal.request", channel=second.number, process=process)
    driving.client.call("terminal.grant", channel=driving.number, process=process, participant=second.answer["participant"])
    for channel in watch, driving, viewing, second:
        channel.wait(lambda view, channel=channel: sizes(channel) == [(60, 15)])
        assert [row["change"] for row in drivers(channel)] == ["set", "taken", "requested", "granted"]
    second.send([STDIN, process, 0, b"\n"])
    watch.wait(lambda view: view.bytes(process, TTY).endswith(b"15 60\r\n"))


@pytest.mark.parametrize("last", [(120, 40), (80, 24)])
def test_a_storm_of_sizes(server, client, session, guests, last):
    """T15: two thousand sizes in a second while output floods, ending at another size or where it began: at most twenty changes a
    second, the last one is right, and the program was told at least twice."""
    process = sh(client, session, "stty -echo; trap 'echo \"<$(stty size)>\"' WINCH; echo up; "
                                  "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; echo done; while :; do sleep .02; done")
    watch = client.attach(session)
    window = guests().attach(session)
    up(watch, process)
    begun = time.monotonic()
    for turn in range(2000):
        window.send([RESIZE, process, 60 + turn % 50, 20 + turn % 17])
        if turn % 50 == 0:
            time.sleep(.02)
    window.send([RESIZE, process, *last])
    watch.wait(lambda view: b"done" in view.bytes(process, TTY))
    watch.wait(lambda view: sizes(watch) and sizes(watch)[-1] == last)
    took = time.monotonic() - begun
    settle(watch, .5)
    assert sizes(watch)[-1] == last and 2 <= len(sizes(watch)) <= 20 * took + 2
    stamps = [frame[2] for frame in watch.view.of_kind(RESIZED)]
    assert all(later - earlier > 40000 for earlier, later in zip(stamps, stamps[1:]))
    seen = re.findall(rb"<(\d+) (\d+)>", watch.view.bytes(process, TTY))
    assert seen[-1] == (b"%d" % last[1], b"%d" % last[0])


# A shell takes two signals that come while its child runs for one; the wake-up of a Python program counts them as they come.
COUNTS_SIGNALS = """import os, signal
wake, woken = os.pipe()
os.set_blocking(woken, False)
signal.set_wakeup_fd(woken)
signal.signal(signal.SIGWINCH, lambda *_: None)
print("up", flush=True)
while True: print("<" * len(os.read(wake, 100)), flush=True)"""


def test_there_and_back_makes_it_draw_again(server, client, session, guests):
    """A window is made larger and as it was within a blink, just after another change: the program gets both signals."""
    process = client.start(session, "python3", "-c", COUNTS_SIGNALS, terminal=TERMINAL)
    watch = client.attach(session)
    window = guests().attach(session)
    up(watch, process)
    window.send([RESIZE, process, 100, 30], [RESIZE, process, 101, 30], [RESIZE, process, 100, 30])
    watch.wait(lambda view: len(sizes(watch)) == 3)
    settle(watch, .3)
    assert sizes(watch) == [(100, 30), (101, 30), (100, 30)]
    watch.wait(lambda view: len(re.findall(rb"<", view.bytes(process, TTY))) >= 2)


def test_a_size_stands_in_order_with_the_output(server, client, session, guests):
    """What a program wrote before its size changed stands before RESIZED, what it wrote because of it behind."""
    process = sh(client, session, "stty -echo; trap 'stty size; exit 0' WINCH; echo up; printf 'a%.0s' $(seq 3000); echo; echo before; while :; do sleep .02; done")
    order = []
    watch = client.attach(session)
    take = watch.view.take

    def ordered(frame):
        if frame[0] == RESIZED:
            order.append("resized")
        elif frame[0] == OUTPUT:
            order.extend(word for word in ("before", "44 133") if word.encode() in frame[6])
        take(frame)

    watch.view.take = ordered
    up(watch, process)
    watch.wait(lambda view: b"before" in view.bytes(process, TTY))
    watch.send([RESIZE, process, 133, 44])
    watch.wait_exit(process)
    assert order == ["before", "resized", "44 133"]


def test_bad_input_is_named(server, client, session, guests):
    """Each wrong thing gets the error that says what is allowed, and the connection lives."""
    channel = client.attach(session)
    process = sh(client, session)
    up(channel, process)
    for size in ((0, 24), (80, 0), (1001, 24), (80, 1001), (1 << 40, 24)):
        channel.send([RESIZE, process, *size])
    assert [code for code, _ in errors(channel, 5)] == ["invalid_frame"] * 5 and all("1...1000" in row[3] for row in channel.errors)
    channel.send([RESIZE, process, -1, 24])
    assert errors(channel, 6)[5][0] == "invalid_frame"
    on = {"session": session, "process": process}
    here = {"session": session, "participant": channel.answer["participant"]}
    for method, params, field in (
            ("terminal.set", on | {"size": "fixed"}, "cols"), ("terminal.set", on | {"size": "fixed", "cols": 0, "rows": 5}, "cols"),
            ("terminal.set", on | {"size": "fixed", "cols": 1001, "rows": 5}, "cols"), ("terminal.set", on | {"size": "fixed", "cols": 5, "rows": -3}, "rows"),
            ("terminal.set", on | {"cols": 5, "rows": 5}, "cols"), ("terminal.set", on | {"size": "latest"}, "size"),
            ("terminal.set", on | {"input": "anarchy"}, "input"), ("session.role", here | {"role": "king"}, "role"),
            ("session.share", {"session": session, "role": "approver"}, "role"), ("session.share", {"session": session, "uses": 0}, "uses"),
            ("session.share", {"session": session, "uses": 257}, "uses")):
        error = refused(client, method, **params)
        assert (error.code, error.data["field"]) == ("invalid_params", field), (method, params, error)
    assert '"viewer", "editor", "owner"' in refused(client, "session.role", **here, role="king").message
    assert refused(client, "session.role", session=session, participant=77, role="viewer").code == "not_found"
    assert refused(client, "session.remove", session=session, participant=77).code == "not_found"
    assert refused(client, "terminal.take", channel=99, process=process).code == "not_found"
    assert refused(client, "terminal.take", channel=channel.number, process=99).code == "not_found"
    assert refused(client, "terminal.grant", channel=channel.number, process=process, participant=99).code == "not_found"
    viewer = guests(token=token(client, "read")).attach(session)
    assert refused(client, "terminal.grant", channel=channel.number, process=process, participant=viewer.answer["participant"]).code == "conflict"
    assert refused(viewer.client, "terminal.set", **on, input="driver").code == "forbidden"
    pipes = client.start(session, "sleep", "9")
    assert refused(client, "terminal.set", session=session, process=pipes, input="driver").code == "not_terminal"
    client.call("process.kill", **on)
    channel.wait_exit(process)
    channel.send([STDIN, process, 0, b"hello?"], [RESIZE, process, 90, 30])
    assert [code for code, _ in errors(channel, 8)[6:]] == ["process_exited", "process_exited"]
    assert refused(client, "terminal.take", channel=channel.number, process=process).code == "process_exited"
    assert client.run(session, "echo alive")["stdout"] == b"alive\n"
