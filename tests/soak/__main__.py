"""./dev soak MINUTES: a server under everything at once, from a seed that is printed; SANDBAR_SEED repeats one.

Four phases: the gateway is killed and replaced at random, is left alone twice, is killed again. Between them everybody
leaves, and what the server still uses is measured: the keeper's share against the first measurement, the gateway's over
the two phases in which it lived."""

import argparse
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))
import measure  # noqa: E402
from conftest import BUILT, Server  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402
from steady import Connecting  # noqa: E402
from websocket import Closed  # noqa: E402
from wire import PATIENCE, RemoteError  # noqa: E402

ACTORS = 8
FAULTS_SHOWN = 30
QUIET_SECONDS = 20
FLAGS = ("--record", "4M", "--keep-sessions", "6", "--log-level", "warn")  # so that as many are kept at the end of every phase
PHASES = (("kills", 0.25), ("calm", 0.2), ("calm", 0.3), ("kills", 0.25))


class Soak(Connecting):
    def __init__(self, server, seed):
        self.server, self.seed = server, seed
        self.deaths, self.is_dying = 0, False  # of gateways, that we brought about
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.faults, self.counts = [], {}
        self.cgroups, self.turn = set(), 0

    # Telling

    def fault(self, text):
        with self.lock:
            self.faults.append(text)
            if len(self.faults) <= FAULTS_SHOWN:
                print(f"soak: FAULT in {threading.current_thread().name}: {text}", flush=True)

    def faults_of(self, client):
        faults = client.faults + [fault for channel in client.channels.values() for fault in channel.view.faults]
        for fault in faults[:3]:
            self.fault(fault)
        client.faults.clear()
        for channel in client.channels.values():
            channel.view.faults.clear()

    # What may be interrupted by a death of the gateway, and must not be done twice

    def create_session(self, rng):
        """A name tells whether the session was made when the answer did not come."""
        name = f"soak-{rng.randrange(1 << 60):x}"
        while True:
            client, sessions = self.connected(lambda client: client.call("session.list")["sessions"])
            client.is_ours_to_cut = True
            try:
                made = [row["session"] for row in sessions if row["name"] == name]
                return made[0] if made else client.create(name=name)
            except (Closed, OSError):
                client.is_ours_to_cut = False
                self.expect_closed(client)
            finally:
                client.socket.shut()

    def start(self, steady, *argv, **params):
        self.turn += 1
        name = f"{threading.current_thread().name}-{self.turn}"
        while True:
            try:
                return steady.client.start(steady.session, *argv, name=name, **params)
            except (Closed, OSError):
                steady.again()
            rows = steady.call("process.list", session=steady.session)["processes"]
            made = [row["process"] for row in rows if row["name"] == name]
            if made:
                return made[0]

    def kill(self, steady, process):
        steady.call("process.kill", session=steady.session, process=process)

    def end_session(self, session):
        while True:
            client, _ = self.connected()
            client.is_ours_to_cut = True
            try:
                client.call("session.end", session=session)
                return
            except RemoteError as error:
                if error.code not in ("not_found", "session_ended"):  # by the request before, whose answer was lost
                    raise
                return
            except (Closed, OSError):
                client.is_ours_to_cut = False
                self.expect_closed(client)
            finally:
                client.socket.shut()

    # Phases

    def act(self, seed):
        rng = random.Random(seed)
        while not self.stopping.is_set():
            scenario = rng.choice(SCENARIOS)
            try:
                scenario(self, rng)
                with self.lock:
                    self.counts[scenario.__name__] = self.counts.get(scenario.__name__, 0) + 1
            except Exception as error:
                self.fault(f"{scenario.__name__}: {type(error).__name__}: {error} at {place(error)}")
                if len(self.faults) > FAULTS_SHOWN:
                    return

    def kill_gateways(self, seed):
        """Now with SIGKILL, now with SIGUSR2 to the keeper; each successor gets to serve somebody before it is its turn."""
        rng = random.Random(seed)
        while not self.stopping.wait(rng.uniform(0.2, 3)):
            before = measure.gateway(self.server.process.pid)
            if before is None:
                continue
            self.is_dying = True
            self.deaths += 1
            try:
                if rng.random() < 0.3:
                    self.server.process.send_signal(signal.SIGUSR2)
                else:
                    os.kill(before, signal.SIGKILL)
                self.await_successor(before)
            except Exception as error:
                self.fault(f"after the death of a gateway: {error}")
            self.is_dying = False

    def await_successor(self, before):
        deadline = time.monotonic() + PATIENCE
        while measure.gateway(self.server.process.pid) in (before, None):
            if time.monotonic() > deadline or self.server.process.poll() is not None:
                raise TimeoutError(f"no new gateway within {PATIENCE} s")
            time.sleep(0.01)
        client, _ = self.connected()
        client.socket.shut()

    def phase(self, kind, seconds, number):
        self.stopping.clear()
        threads = [threading.Thread(target=self.act, args=(f"{self.seed}-{number}-{actor}",), name=f"actor {actor}")
                   for actor in range(ACTORS)]
        if kind == "kills":
            threads.append(threading.Thread(target=self.kill_gateways, args=(f"{self.seed}-{number}",), name="killer"))
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.server.process.poll() is None and len(self.faults) <= FAULTS_SHOWN:
            self.cgroups |= measure.cgroup_names(self.server)
            time.sleep(0.5)
        self.stopping.set()
        for thread in threads:
            thread.join(5 * PATIENCE)
            if thread.is_alive():
                self.fault(f"{thread.name} hangs")

    def quiet(self):
        """Nobody is there, and no session: what the server uses then. A session whose maker never heard of it is ended."""
        client, _ = self.connected()
        client.is_ours_to_cut = True
        deadline = time.monotonic() + QUIET_SECONDS
        while True:
            sessions = client.call("session.list")["sessions"]
            for row in sessions:
                client.call("session.end", session=row["session"])
            if not sessions and client.call("server.info")["connections"] == 1:
                break
            if time.monotonic() > deadline:
                self.fault(f"not quiet after {QUIET_SECONDS} s: {client.call('server.info')}")
                break
            time.sleep(0.2)
        client.close()
        time.sleep(1)
        return measure.of_server(self.server, self.cgroups)

    def run(self, minutes):
        is_sanitized = b"__asan_init" in (BUILT / "sandbard-gateway").read_bytes()
        figures = []
        for number, (kind, share) in enumerate(PHASES):
            self.phase(kind, share * minutes * 60, number)
            if self.server.process.poll() is not None:
                self.fault(f"the server left with {self.server.process.returncode}")
                return
            figures.append(self.quiet())
            print(f"soak: after phase {number + 1} ({kind}): {figures[-1]}", flush=True)
        keeper, warm, gateway, last = figures
        for before, after, part in ((keeper, last, "keeper"), (warm, gateway, "gateway")):
            unlike = "gateway RSS" if part == "keeper" else "keeper RSS"
            for line in measure.grown(before, after, is_sanitized):
                if not line.startswith(unlike):
                    self.fault(line)


def place(error):
    """The innermost lines of the soak itself."""
    found, trace = [], error.__traceback__
    while trace:
        found.append(f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " ".join(found[-5:])


def copied(folder):
    """The programs, where every user can reach them."""
    folder = pathlib.Path(folder)
    folder.chmod(0o755)
    for program in BUILT.iterdir():
        if program.is_file():
            shutil.copy2(program, folder / program.name)
            (folder / program.name).chmod(0o755)
    return folder


def main():
    parser = argparse.ArgumentParser(prog="dev soak")
    parser.add_argument("minutes", type=float)
    minutes = parser.parse_args().minutes
    seed = int(os.environ.get("SANDBAR_SEED", "0")) or random.randrange(1, 1 << 30)
    print(f"soak: {minutes:g} minutes, SANDBAR_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sandbar-soak-") as folder:
        reports = pathlib.Path(tempfile.mkdtemp(dir=folder))
        reports.chmod(0o1777)
        server = Server(copied(folder), FLAGS, user="root" if os.geteuid() == 0 else "user",
                        environment={"ASAN_OPTIONS": f"quarantine_size_mb=4:malloc_context_size=8:log_path={reports}/report"})
        soak = Soak(server, seed)
        try:
            soak.run(minutes)
        finally:
            log = server.text()
            for line in server.finish():
                soak.fault(line)
            for report in reports.iterdir():
                soak.fault(report.read_text(errors="replace"))
    told = ", ".join(f"{count} {name}" for name, count in sorted(soak.counts.items()))
    print(f"soak: {told}; {soak.deaths} deaths of the gateway; {len(soak.faults)} faults", flush=True)
    if soak.faults:
        print(f"soak: SANDBAR_SEED={seed}; the end of the server's log:\n{log[-3000:]}", flush=True)
    sys.exit(1 if soak.faults else 0)


main()
