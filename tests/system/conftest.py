"""The real server, started for a module of tests as a user would start it, and looked after: what it must not leave
behind when it has stopped is checked after each module."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import again  # noqa: E402
import leftovers  # noqa: E402
from screen import Screen  # noqa: E402
from wire import SLOWNESS, Client  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
QUARANTINE = 16 << 20  # bytes that were freed and that AddressSanitizer does not give back, where it is built in
BUILT = pathlib.Path(os.environ.get("SANDBAR_BIN", TOP / "build/asan/bin"))
STRANGER = 1717  # a user id without rights, when the tests run as root
TEST_SECONDS = 240
# What LeakSanitizer says of a process that is killed while it looks through it; who was killed before that has said nothing.
SAID_DYING = re.compile(r"(==\d+==Unable to get registers from thread \d+\.\n)*")
FAULTS = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "Assertion")


# Who starts the tests in the background may have these ignored, and the programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ignored, signal.SIG_DFL)


def as_user(argv, user):
    if user == "user" and os.geteuid() == 0:
        return ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", "--", *argv]
    return argv


class Server:
    """sandbard with a state directory and a port of its own."""

    def __init__(self, programs, flags=(), user="root", environment=None, before=()):
        self.programs = programs
        self.user = user
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sandbar-test-"))
        self.state = self.folder / "state"
        self.reports = self.folder / "reports"
        self.reports.mkdir()
        self.state.mkdir(mode=0o700)
        self.folder.chmod(0o755)
        self.reports.chmod(0o1777)
        if user == "user" and os.geteuid() == 0:
            os.chown(self.state, STRANGER, STRANGER)
        self.log = open(self.folder / "log", "w+")
        argv = [str(programs / "sandbard"), "--listen", "127.0.0.1:0", "--state", str(self.state), "--log-format", "json", *flags]
        self.process = subprocess.Popen([*before, *as_user(argv, user)], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=self.environment() | (environment or {}), start_new_session=True, cwd="/")
        self.traces = None
        self.expected = 0  # exit code
        self.await_address()

    def environment(self):
        report = f"log_path={self.reports}/report"
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": "/nonexistent", "ASAN_OPTIONS": f"quarantine_size_mb={QUARANTINE >> 20}:{report}",
                "UBSAN_OPTIONS": f"print_stacktrace=1:{report}"}

    def await_address(self, seconds=30 * SLOWNESS):
        deadline = time.monotonic() + seconds
        while not (told := re.search(r"^sandbard: listening on https?://(\S+):(\d+)$", self.text(), re.M)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start (exit {self.process.poll()}):\n{self.text()}")
            time.sleep(0.02)
        self.address = (told[1], int(told[2]))

    @property
    def token(self):
        return (self.state / "owner.token").read_text().strip()

    def text(self):
        return (self.folder / "log").read_text(errors="replace")

    def client(self, **options):
        return Client(self.address, options.pop("token", None) or self.token, **options)

    def command(self, *argv, **options):
        """A `sandbar` command against this server: a Popen with pipes."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen(self.sandbar(*argv), env=self.shell_environment(), **options)

    def sandbar(self, *argv):
        return [str(self.programs / "sandbar"), "--state", str(self.state), *argv]

    def sandbar_at(self, address, *argv):
        """The same through another address than the server's own."""
        return self.sandbar("--url", "ws://{}:{}".format(*address), *argv)

    def shell_environment(self):
        return os.environ | {"ASAN_OPTIONS": f"log_path={self.reports}/command", "UBSAN_OPTIONS": f"log_path={self.reports}/command"}

    def stop(self, seconds=30 * SLOWNESS):
        """SIGTERM, and what the server must have done by then. Returns its exit code."""
        if self.process.poll() is None:
            self.traces = leftovers.of_server(self.process.pid, self.state)
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(seconds)
        return self.process.returncode

    def finish(self):
        """Stop, whatever happened; then tell what was left, and what the sanitizers reported."""
        faults = []
        try:
            code = self.stop()
            if code != self.expected:
                faults.append(f"the server left with {code}")
        except subprocess.TimeoutExpired:
            faults.append("the server did not stop")
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        faults += self.traces.faults() if self.traces else []
        reports = {path.name: path.read_text(errors="replace") for path in sorted(self.reports.iterdir())}
        faults += [f"{name}:\n{report}" for name, report in reports.items() if not SAID_DYING.fullmatch(report)]
        text = self.text()
        faults += [f"in its log:\n{text[-8000:]}" for fault in FAULTS if fault in text][:1]
        if "Bearer " in text or (self.state / "owner.token").exists() and self.token in text:
            faults.append("a token stands in the log")
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return faults


@pytest.fixture(scope="session")
def programs():
    """The built programs, where every user can reach them."""
    if not (BUILT / "sandbard").exists():
        pytest.fail(f"there is no {BUILT}/sandbard: build first (./dev test does)")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sandbar-bin-"))
    folder.chmod(0o755)
    for program in BUILT.iterdir():
        if program.is_file():
            shutil.copy2(program, folder / program.name)
            (folder / program.name).chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def start_server(programs):
    """Start servers with flags of their own; all are stopped, and looked after, at the end of the module."""
    started = []

    def start(*flags, **options):
        started.append(Server(programs, flags, **options))
        return started[-1]

    yield start
    faults = [fault for server in started for fault in server.finish()]
    assert not faults, "\n\n".join(faults)


@pytest.fixture(scope="module")
def server(start_server):
    """One server for a module, started by the user who runs the tests."""
    return start_server(user="root" if os.geteuid() == 0 else "user")


@pytest.fixture(scope="module", params=["root", "user"])
def any_server(request, start_server):
    """The same, once as root and once as a user without rights."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("a server with root's rights needs root")
    return start_server(user=request.param)


@pytest.fixture
def client(server):
    with server.client() as connected:
        yield connected


@pytest.fixture
def session(client):
    """A session that is ended with its test."""
    made = client.create()
    yield made
    client.call("session.end", session=made)


@pytest.fixture
def guests(server):
    """Clients that are closed at the end; each call opens one more."""
    opened = []

    def come(**options):
        opened.append(server.client(**options))
        return opened[-1]

    yield come
    for client in opened:
        if client.closed:
            client.check()
        else:
            client.close()


@pytest.fixture
def screens(server, tmp_path):
    """Open terminal windows; all are closed at the end."""
    opened = []

    def open_screen(name, **size):
        opened.append(Screen(tmp_path, name, server.shell_environment() | {"TERM": "xterm-256color"}, **size))
        return opened[-1]

    yield open_screen
    for screen in opened:
        screen.end()


@pytest.fixture
def made(server):
    """A session that no client of the test is in, ended with its test."""
    with server.client() as client:
        session = client.create()
        yield session
        client.call("session.end", session=session)


@pytest.fixture(autouse=True)
def bounded(request):
    """No test hangs: after its time an exception stands where it waited."""
    marker = request.node.get_closest_marker("seconds")
    seconds = int((marker.args[0] if marker else TEST_SECONDS) * SLOWNESS)

    def late(_signal, _frame):
        raise TimeoutError(f"the test took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pytest_configure(config):
    config.addinivalue_line("markers", "seconds(n): how long a test may take")
    if os.environ.get("CI"):
        config.pluginmanager.register(again)


@pytest.fixture
def traced_folder():
    """For the files of a server that is traced, which only root may do."""
    if os.geteuid() != 0:
        pytest.skip("only root may trace the keeper")
    path = pathlib.Path(tempfile.mkdtemp(prefix="sandbar-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)
