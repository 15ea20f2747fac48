"""What happens to the server: each scenario is one small story with its own session, told by SOAK and a random source,
and leaves nothing. A promise that is broken is a fault or an exception; what the soak did itself is neither."""

import time

import pattern
from steady import Checked, Steady
from websocket import Closed
from wire import ENDED, EXITED, RESIZE, STDOUT, TTY


def end(soak, steady):
    """End the session. Whoever watched all of it saw each start end once, and ENDED last."""
    soak.end_session(steady.session)
    try:
        steady.channel.wait(lambda view: view.frames and view.frames[-1][0] == ENDED)
        if not steady.view.gaps:
            exits = [frame[3] for frame in steady.view.frames if frame[0] == EXITED]
            if sorted(exits) != sorted(steady.view.started()):
                soak.fault(f"started {sorted(steady.view.started())}, ended {sorted(exits)}")
    except Closed:
        soak.expect_closed(steady.client)
    steady.leave()


def no_gaps(soak, steady):
    if steady.view.gaps:
        soak.fault(f"a GAP for who needs none: {steady.view.gaps[:3]}")


def offsets_are(soak, ending, **expected):
    for stream, length in expected.items():
        if ending["offsets"].get(stream) != length:
            soak.fault(f"{stream} ended at {ending['offsets']}, expected {length}: {ending}")


def sequences(soak, rng):
    """Several processes print on both streams; who watches is cut off now and then, and has it all in the end."""
    session = soak.create_session(rng)
    steady = Steady(soak, session, mode=rng.choice(["live", "lossless"]))
    running = {}
    for _ in range(rng.randrange(1, 4)):
        out, err = rng.randrange(1, 60_000), rng.randrange(1, 5_000)
        script = f"{pattern.printing(out)}; {pattern.printing(err)} >&2; exit 7"
        running[soak.start(steady, "sh", "-c", script)] = out, err
    for _ in range(rng.randrange(3)):
        time.sleep(rng.uniform(0, 0.2))
        steady.cut()
    for process, (out, err) in running.items():
        ending = steady.wait_exit(process)
        offsets_are(soak, ending, stdout=out * pattern.LINE, stderr=err * pattern.LINE)
        if (ending["exit_code"], ending["reason"]) != (7, "exited"):
            soak.fault(f"exit 7 became {ending}")
    end(soak, steady)


def input_through_a_pipe(soak, rng):
    """A long input goes through `cat`, exact but for what is reported."""
    echoed(soak, rng, STDOUT, ["cat"], stdin=True)


def input_through_a_terminal(soak, rng):
    """The same through a raw terminal, which changes its size meanwhile."""
    script = f"stty raw -echo; {pattern.printing(1)}; exec cat"
    echoed(soak, rng, TTY, ["sh", "-c", script], skip=pattern.LINE, terminal={"cols": 80, "rows": 24})


def echoed(soak, rng, stream, argv, skip=0, **options):
    session = soak.create_session(rng)
    steady = Steady(soak, session, mode="lossless")
    process = soak.start(steady, *argv, **options)
    length = rng.randrange(1, 400_000)
    if stream == TTY:
        steady.wait(lambda view: view.length.get((process, TTY)), what="the terminal's first line")
        steady.send([RESIZE, process, rng.randrange(1, 300), rng.randrange(1, 100)])
        feed_terminal(soak, steady, process, length, skip, rng)
    else:
        steady.feed(process, length, skip, rng)
    got, unknown = steady.view.length.get((process, stream), 0), steady.unknown(process)
    if not 0 <= length + skip - got <= unknown:
        soak.fault(f"{length + skip} bytes of input became {got}; {unknown} were reported as unknown")
    steady.forgive()
    no_gaps(soak, steady)
    end(soak, steady)


def feed_terminal(soak, steady, process, length, skip, rng):
    """A raw terminal has no end of input: the process is killed when all came back."""
    steady.end_input = lambda *_: None
    steady.feed(process, length, skip, rng)
    steady.wait(lambda view: view.length[process, TTY] >= length + skip - steady.unknown(process), what=f"the echo of {length} bytes")
    soak.kill(steady, process)


def flood(soak, rng):
    """A process floods, one reader is slow, one is quick, one does not read for a while; then it is killed."""
    session = soak.create_session(rng)
    process_options = {"terminal": {"cols": 80, "rows": 24}} if rng.random() < 0.5 else {}
    script = ("stty raw -echo; " if process_options else "") + pattern.FOREVER
    quick = Steady(soak, session)
    process = soak.start(quick, "sh", "-c", script, **process_options)
    slow = Steady(soak, session, Checked(), pace=rng.uniform(5e5, 3e6))
    lazy = Steady(soak, session, Checked())
    lazy.client.pause()
    time.sleep(rng.uniform(0.5, 2))
    lazy.client.resume()
    before = quick.view.length.get((process, TTY if process_options else STDOUT), 0)
    quick.wait(lambda view: view.length.get((process, TTY if process_options else STDOUT), 0) > before, what="more of the flood")
    begun = time.monotonic()
    soak.kill(quick, process)
    if time.monotonic() - begun > 10 and not soak.is_dying:
        soak.fault(f"a kill beside a slow reader took {time.monotonic() - begun:.1f} s")
    for who in (quick, slow, lazy):
        if who.wait_exit(process)["reason"] != "killed":
            soak.fault(f"a killed process ended as {who.view.exited[process]}")
    for who in (slow, lazy):
        who.leave()
    end(soak, quick)


def slow_but_lossless(soak, rng):
    """Who is slow and needs every byte gets every byte; its process waits."""
    session = soak.create_session(rng)
    steady = Steady(soak, session, pace=rng.uniform(1e6, 4e6), mode="lossless")
    lines = rng.randrange(100_000, 400_000)
    process = soak.start(steady, "sh", "-c", pattern.printing(lines))
    if rng.random() < 0.3:
        time.sleep(rng.uniform(0, 0.3))
        steady.cut()
    ending = steady.wait_exit(process)
    offsets_are(soak, ending, stdout=lines * pattern.LINE)
    end(soak, steady)


ENDINGS = {  # what is started with which options, and the reason and exit codes that it may end with
    "wall": (["sleep", "100"], {"wall_ms": 200, "grace_ms": 50}, "timeout"),
    "idle": (["sleep", "100"], {"idle_ms": 300, "grace_ms": 50}, "idle"),
    "output": (["sh", "-c", pattern.FOREVER], {"output_bytes": 100_000}, "output_limit"),
    "signal": (["sh", "-c", "kill -SEGV $$"], {}, "signal"),
    "missing": (["/no/such/program"], {}, "exited"),
    "tree": (["sh", "-c", "(setsid sleep 100 &); exit 3"], {"on_exit": "kill_tree"}, "exited"),
    "stubborn": (["sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done"], {"wall_ms": 100, "grace_ms": 100}, "timeout"),
}


def endings(soak, rng):
    """Every way to end, told with its own reason."""
    session = soak.create_session(rng)
    steady = Steady(soak, session)
    expected = {}
    for name in rng.sample(sorted(ENDINGS), 4):
        argv, options, reason = ENDINGS[name]
        expected[soak.start(steady, *argv, **options)] = name, reason
    left = soak.start(steady, "sh", "-c", f"{pattern.printing(3)}; sleep 100")  # ends with its session
    for process, (name, reason) in expected.items():
        ending = steady.wait_exit(process)
        if ending["reason"] != reason:
            soak.fault(f"`{name}` ended as {ending}")
    if left in steady.view.exited:
        soak.fault(f"what nobody touched has ended: {steady.view.exited[left]}")
    end(soak, steady)


def commands(soak, rng):
    """An agent's day: a session, a few commands, their answers, an end."""
    session = soak.create_session(rng)
    client, _ = soak.connected()
    for turn in range(rng.randrange(1, 8)):
        lines = rng.randrange(1, 2_000)
        try:
            result = client.call("process.run", session=session, argv=["sh", "-c", f"{pattern.printing(lines)}; exit {turn}"])
        except (Closed, OSError):
            soak.expect_closed(client)
            client, _ = soak.connected()
            continue
        if result["stdout"] != pattern.piece(0, lines * pattern.LINE) or result["exited"]["exit_code"] != turn:
            soak.fault(f"run of {lines} lines: {len(result['stdout'])} bytes, {result['exited']}")
    client.is_ours_to_cut = True
    client.socket.shut()
    soak.end_session(session)


def strangers(soak, rng):
    """Connections that come to nothing: cut in the handshake, in a message, after hello; silent ones; wrong ones."""
    for _ in range(rng.randrange(5, 30)):
        client, _ = soak.connected()
        client.is_ours_to_cut = True
        try:
            kind = rng.randrange(5)
            if kind == 0:
                client.socket.socket.sendall(bytes([0x82, 0xFE, 0x10, 0x00]) + b"half")
            elif kind == 1:
                client.socket.send(rng.randbytes(rng.randrange(200)))
            elif kind == 2:
                client.request("session.list")
            elif kind == 3:
                client.socket.send(b"\x00" * 70_000, final=False)
            if kind == 4:
                client.socket.close()
                client.socket.shut()
            else:
                client.socket.cut()
        except OSError:
            client.socket.shut()


def questions(soak, rng):
    """Many requests at once, each answered with its own answer."""
    session = soak.create_session(rng)
    steady = Steady(soak, session)
    process = soak.start(steady, "sleep", "100")
    for _ in range(rng.randrange(3, 10)):
        try:
            asked = [(name, steady.client.request(name, **params)) for name, params in (
                ("session.info", {"session": session}), ("process.list", {"session": session}), ("session.list", {}),
                ("process.signal", {"session": session, "process": process, "signal": "CONT"}), ("server.info", {}))]
            for name, number in asked:
                check_answer(soak, name, session, process, steady.client.answer(number))
        except (Closed, OSError):
            steady.again()
    end(soak, steady)


def check_answer(soak, name, session, process, answer):
    if name == "process.list" and [row["process"] for row in answer["processes"]] != [process]:
        soak.fault(f"process.list: {answer}")
    if name == "session.list" and session not in [row["session"] for row in answer["sessions"]]:
        soak.fault(f"session.list without {session}")
    for queue, figures in answer.get("queues", {}).items():
        if figures["used"] > figures["limit"]:
            soak.fault(f"the queue {queue} is over its limit: {figures}")


SCENARIOS = [sequences, input_through_a_pipe, input_through_a_terminal, flood, slow_but_lossless, endings, commands, strangers,
             questions]
