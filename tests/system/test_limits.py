"""Each row of docs/limits.md, which is made of the table that the server checks by: run into it, and see what it says."""

import os
import pathlib
import re
import time

import pytest

from wire import SLOWNESS, RemoteError

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/limits.md"
MIB = 1 << 20
MARGIN = 5 * SLOWNESS  # seconds beside those of the row


def rows():
    """{name: (sees, told, seconds)}; `seconds` 0 is "at once"."""
    table = {}
    for line in PAGE.read_text().split("## Of a tenant")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") or line.startswith("| ("):
            sees, told, within = cells[-4:-1]
            table[cells[0].strip("`")] = (sees, told, int(within.split()[0]) if within != "at once" else 0)
    return table


ROWS = rows()

# What a program does, by limit. It prints the name of the errno that stopped it.
UNTIL_REFUSED = """
import errno, os
try:
    kept = []
    for n in range(100000): kept.append({action})
    print("never", flush=True)
except OSError as e:
    print(errno.errorcode[e.errno], flush=True)
os._exit(0)
"""
ACTIONS = {
    "workspace": ("open(f'/tmp/{n}', 'wb', 0).write(bytes(1 << 20))", {"workspace": 4 * MIB}),
    "inodes": ("os.close(os.open(f'/work/{n}', os.O_CREAT))", {"inodes": 100}),
    "open_files": ("os.dup(0)", {"open_files": 64}),
    "processes": ("os.fork() or os._exit(os.system('sleep 60'))", {"processes": 16}),
    "(ptys)": ("os.open('/dev/ptmx', os.O_RDWR)", {"open_files": 1024}),
}


def create(client, **limits):
    try:
        return client.create(limits=limits)
    except RemoteError as error:
        assert error.code == "unsupported"
        pytest.skip(error.args[0])


def needs(client, layer):
    layers = {row["name"]: row["on"] for row in client.call("server.info")["layers"]}
    if not layers[layer]:
        pytest.skip(f"this host does not give the layer {layer}")


def ending_of(client, session, argv, **params):
    """How it ended, what it printed, and after which time."""
    started = time.monotonic()
    answer = client.call("process.run", session=session, argv=argv, **params)
    told = [answer["exited"]["reason"], answer["exited"]["control"]]
    return answer["exited"], ", ".join(text for text in told if text), answer["stdout"].decode(), time.monotonic() - started


@pytest.mark.parametrize("name", ACTIONS)
def test_a_call_is_refused(any_server, name):
    """The program goes on, and sees the errno that the row names."""
    action, limits = ACTIONS[name]
    with any_server.client() as client:
        session = create(client, **limits)
        _, told, printed, _ = ending_of(client, session, ["python3", "-c", UNTIL_REFUSED.replace("{action}", action)])
        assert (printed.strip(), told) == (ROWS[name][0], "exited") and ROWS[name][1] == "-"
        client.call("session.end", session=session)


def test_memory(any_server):
    """The process is killed, its session goes on."""
    with any_server.client() as client:
        needs(client, "cgroup-memory")
        session = create(client, memory=64 * MIB)
        ending, told, _, _ = ending_of(client, session, ["python3", "-c", "x = bytearray(1 << 28)"])
        assert (ending["signal"], told) == ROWS["memory"][:2]
        assert client.run(session, "echo on")["stdout"] == b"on\n"
        client.call("session.end", session=session)


def test_file_size(any_server):
    with any_server.client() as client:
        session = create(client, file_size=MIB)
        ending, told, _, _ = ending_of(client, session, ["head", "-c", "2M", "/dev/zero"], cwd="/tmp")
        assert told == "exited"  # a pipe is no file
        ending, told, _, _ = ending_of(client, session, ["sh", "-c", "exec head -c 2M /dev/zero >/tmp/f"])
        assert (ending["signal"], told) == ROWS["file_size"][:2]
        client.call("session.end", session=session)


def test_cpu(any_server):
    """Half a second of processor time takes longer than that."""
    with any_server.client() as client:
        needs(client, "cgroup-cpu")
        session = create(client, cpu=20)
        spin = "import time\nwhile time.process_time() < 0.5: pass"
        _, _, _, seconds = ending_of(client, session, ["python3", "-c", spin])
        assert ROWS["cpu"][0] == "it runs slower" and seconds > 1.5
        client.call("session.end", session=session)


def spinning(client, count, **limits):
    """A session in which COUNT processes turn, each in a session of its own as the kernel calls it, since that shares the processor
    among those (sched_autogroup); and what it has used by now in ms."""
    session = create(client, **limits)
    client.start(session, "sh", "-c", f"for n in $(seq {count}); do setsid sh -c 'while :; do :; done' & done; wait")
    return session, lambda: client.call("session.info", session=session)["usage"]["cpu_ms"]


def shares(client, one, other):
    """How much more processor time the first gets than the second, over three seconds."""
    (first, of_first), (second, of_second) = spinning(client, **one), spinning(client, **other)
    time.sleep(1)
    before = of_first(), of_second()
    time.sleep(3)
    after = of_first(), of_second()
    for session in (first, second):
        client.call("session.end", session=session)
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def test_cpu_weight(any_server):
    """Two sessions that both take all there is: the one with a twentieth of the weight gets much less."""
    with any_server.client() as client:
        needs(client, "cgroup-cpu")
        cores = os.cpu_count()
        assert ROWS["cpu_weight"][0] == "it runs slower"
        assert shares(client, {"count": 2 * cores}, {"count": 2 * cores, "cpu_weight": 5}) > 4


def test_a_crowd_of_processes_gets_no_more_than_one_that_is_alone(any_server):
    """Sessions share the processor, not processes: sixteen of one do not outvote as many as there are cores of another."""
    with any_server.client() as client:
        needs(client, "cgroup-cpu")
        cores = os.cpu_count()
        assert shares(client, {"count": 16 * cores}, {"count": cores}) < 4


SOON = int(400 * SLOWNESS)  # milliseconds: the shell must have set its trap by then
CLOCKS = {
    "wall_ms": (SOON, "while :; do sleep 0.02; done"),
    "idle_ms": (SOON, "while :; do sleep 0.02; done"),
    "cpu_ms": (SOON, "while :; do :; done"),
    "output_bytes": (1000, "while :; do echo 0123456789; done"),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_a_process_is_ended(any_server, name):
    """It is asked first, within the time of its row, and can say what it saw; then its ending says why."""
    most, script = CLOCKS[name]
    with any_server.client() as client:
        if name == "cpu_ms":
            needs(client, "cgroup")
        session = client.create()
        trap = "trap 'echo SIGTERM >/work/seen; exit 0' TERM\n"
        started = time.monotonic()
        _, told, _, _ = ending_of(client, session, ["sh", "-c", trap + script], **{name: most})
        sees, says, seconds = ROWS[name]
        assert told == says and time.monotonic() - started < SOON / 1000 + seconds + MARGIN
        assert client.run(session, "cat /work/seen")["stdout"].decode().strip() == sees
        client.call("session.end", session=session)


def test_too_many_that_clients_started(any_server):
    """One more than the page says is refused; when one has gone there is room again."""
    name = next(row for row in ROWS if "clients" in row)
    most = int(re.search(r"in one session: (\d+)", PAGE.read_text())[1])
    with any_server.client() as client:
        session = create(client, processes=2000, open_files=4096)
        for _ in range(most):
            client.start(session, "sleep", "4321")
        with pytest.raises(RemoteError) as caught:
            client.start(session, "true")
        assert f"the answer `{caught.value.code}`" == ROWS[name][0]
        client.call("session.end", session=session)


def test_every_row_is_tested():
    clients = next(row for row in ROWS if "clients" in row)
    assert set(ROWS) == {*ACTIONS, *CLOCKS, "memory", "file_size", "cpu", "cpu_weight", clients}
