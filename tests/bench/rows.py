"""The tables of figures: what is measured, beside what, and what it should be.

A program build/release/tests/bench/bench_NAME prints one line of JSON, {"bench": NAME, ...}: times as p50_us, p95_us and
p99_us, rates as mb_s, and figures of its own. Those that measure Sandbar start a server of their own. The two programs
of a row run in turn, several times, so that both see the same machine; a figure is the median of its runs.
"""

import dataclasses


@dataclasses.dataclass
class Row:
    """A ratio of what two programs measured."""
    name: str             # for ./dev bench NAME
    title: str
    ours: str             # the program that measures Sandbar, and its options
    theirs: str           # and what it stands beside
    figure: str           # of which the ratio is taken
    target: float | None  # of ours / theirs
    at_most: bool         # the ratio should be at most the target; else at least
    beside: str = ""      # what `theirs` is called, if not by its name

    def commands(self):
        return [self.ours, self.theirs]

    def holds(self, ratio):
        return self.target is None or (ratio <= self.target if self.at_most else ratio >= self.target)

    def aim(self):
        return "" if self.target is None else f"{'≤' if self.at_most else '≥'} {self.target:g}"


@dataclasses.dataclass
class Figure:
    """What one program measured, as it is."""
    name: str
    title: str                 # {key} stands for another figure of the same run
    command: str               # the program and its options; it runs once for all figures that name the same
    key: str
    unit: str = "ms"
    scale: float = 1           # what is printed is shown so many times as large
    most: float | None = None  # its target, in the unit shown

    def commands(self):
        return [self.command]

    def aim(self):
        return "" if self.most is None else f"≤ {self.most:g} {self.unit}"


ROWS = [
    Row("start", "`process.start` of `/bin/true` to `EXITED`", "sandbar_start", "spawn", "p50_us", 1.6, True),
    Row("create", "`session.create` to the first output byte, cold", "sandbar_create", "bwrap", "p50_us", 0.7, True),
    Row("create", "… the same", "sandbar_create", "unshare", "p50_us", None, True),
    Row("create", "… the same", "sandbar_create", "crun", "p50_us", None, True),
    Row("create", "… the same, beside a bare start", "sandbar_create", "spawn", "p50_us", 3, True),
    Row("warm", "`session.create` to the first output byte, from two that stand ready, every 0.2 s", "sandbar_create --warm 2 --pause 200",
        "bwrap --pause 200", "p50_us", 0.7, True),
    Row("pipe", "1 GiB through a pipe to one client", "sandbar_pipe", "pipe_tcp", "mb_s", 0.6, False),
    Row("terminal", "a flood through a terminal to one client", "sandbar_terminal", "pty_drain", "mb_s", 0.8, False),
    Row("echo", "a typed byte to its echo", "sandbar_echo", "lws_echo", "p50_us", 3, True),
    Row("record", "1 GiB through a pipe, recorded (64 MiB of it are kept)", "sandbar_pipe", "sandbar_pipe --record 0", "mb_s",
        0.9, False, "without a record"),
    Row("tls-pipe", "1 GiB through a pipe, with TLS", "sandbar_pipe --tls 1", "sandbar_pipe", "mb_s", None, False, "plain"),
    Row("tls-echo", "a typed byte to its echo, with TLS", "sandbar_echo --tls 1", "sandbar_echo", "p50_us", None, True, "plain"),
]

CALLS = ("getpid", "read of /dev/zero", "open and close", "mmap and munmap")
ROWS += [Row("calls", f"system calls in a session: {what}", f"sandbar_calls --call {call}", f"calls --call {call}", "calls_s", 0.9, False,
             "the host") for call, what in enumerate(CALLS)]

# What a program may write to a terminal: the VT core beside two others, over the same bytes.
VT_KINDS = ("lines of text", "coloured lines", "a full-screen program's redraws")
ROWS += [Row("vt", f"VT core: {what}", f"vt_core --kind {kind}", f"{other} --kind {kind}", "mb_s", None, False, called)
         for kind, what in enumerate(VT_KINDS)
         for other, called in (("vt_libvterm", "libvterm"), ("vt_xterm", "`@xterm/headless`"))]

# The bare server's messages are as large as the gateway's were in the run before it, and as far apart.
ROWS += [Row("fanout", f"a terminal that floods before {viewers:,} viewer{'s' if viewers > 1 else ''}: MB a second of the gateway's processor time",
             f"sandbar_fanout --viewers {viewers} --seconds 2",
             f"lws_fanout --viewers {viewers} --seconds 2 --bytes {{message_bytes:.0f}} --apart {{apart_us:.0f}}", "mb_cpu_s", 0.8, False,
             "a bare server that sends a ready-made buffer as often")
         for viewers in (1, 10, 100, 1000)]
ROWS.append(Row("fanout", "… before 100 viewers, with TLS", "sandbar_fanout --viewers 100 --seconds 2 --tls 1",
                "lws_fanout --viewers 100 --seconds 2 --bytes {message_bytes:.0f} --apart {apart_us:.0f} --tls 1", "mb_cpu_s", 0.8, False,
                "the bare server with TLS"))
ROWS.append(Row("browser-key", "a key in Chromium to its glyph on a session's page (drawn without a graphics card)", "browser_key", "browser_bare_key",
                "p50_us", None, True, "a page with xterm.js alone, a bare echo"))
SILENT = "sandbar_fanout --viewers 10 --silent 5 --seconds 2", "sandbar_fanout --viewers 5 --seconds 2"
ROWS += [Row("silent", "ten viewers of whom five never read: what each of the others gets", *SILENT, "each_mb_s", 0.95, False, "without those five"),
         Row("silent", "… what the program writes", *SILENT, "flood_mb_s", 0.95, False, "without those five")]

FLOODS, BOMBS = "sandbar_echo --runs 1000 --floods 3", "sandbar_echo --runs 1000 --bombs 2"
HUNDRED, THOUSAND = (f"sandbar_fanout --viewers {viewers} --seconds 5" for viewers in (100, 1000))
IDLE, CONNECTIONS = "sandbar_idle", "sandbar_connections"

# Phases of one after the other, then steps of the child's set-up, which overlap the phases from `ids` on.
PHASES = {"p50": "a sandbox is made cold, by the keeper's library alone: p50", "groups": "… of it: its cgroups", "birth": "… `clone3` into the namespaces",
          "ids": "… the maps of ids", "join": "… it is put into the groups of cgroup v1", "setup": "… the rest of its set-up, until init is executed",
          "init": "… until the keeper has heard that init has confined itself", "root": "… in the set-up: the root", "masks": "… `/proc` and its masks",
          "workspace": "… the workspace", "terminals": "… `/dev/pts`", "queues": "… `/dev/mqueue`", "end": "its end, until nothing of it is left: p50"}

FIGURES = [
    Figure("vt", "a terminal of 80×24 with 1,000 lines above it: its memory in the VT core", "vt_core --kind 1 --rounds 1", "memory_kib",
           "KiB"),
    Figure("vt", "… the time to make a screen of it for a late viewer", "vt_core --kind 1 --rounds 1", "screen_us", "µs"),
    Figure("floods", "a typed byte to its echo beside three sessions that flood, each with a reader: p50", FLOODS, "p50_us",
           scale=1e-3),
    Figure("floods", "… p99", FLOODS, "p99_us", scale=1e-3, most=5),
    Figure("bombs", "a typed byte to its echo beside two sessions that hold a fork bomb each: p50", BOMBS, "p50_us", scale=1e-3),
    Figure("bombs", "… p99", BOMBS, "p99_us", scale=1e-3, most=10),
    *(Figure("phases", title, "sandbox_phases", f"{phase}_us", scale=1e-3) for phase, title in PHASES.items()),
    Figure("end", "`session.end` of a session with a process to its answer: p50", "sandbar_end", "p50_us", scale=1e-3),
    Figure("end", "… p99", "sandbar_end", "p99_us", scale=1e-3),
    Figure("shell", "`shell.run` of `:` in a warm shell: p50", "sandbar_shell", "p50_us", scale=1e-3, most=1),
    *(Figure("interrupt", f"`^C` under a flood to the prompt, drawn at {rate / 1e6:g} MB/s: p50 of {runs}",
             f"sandbar_interrupt --runs {runs} --rate {rate}", "p50_us", scale=1e-3, most=most)
      for rate, runs, most in ((1_000_000, 20, 100), (200_000, 10, 300))),
    Figure("fanout", "a terminal that floods before {viewers} viewers: messages delivered in a second of the gateway's processor time", HUNDRED, "deliveries_cpu_s", ""),
    Figure("fanout", "… their size", HUNDRED, "message_bytes", "KiB", 1 / 1024),
    Figure("fanout", "… a typed byte to its echo in another terminal of the session: p50", HUNDRED, "p50_us", scale=1e-3),
    Figure("fanout", "… p99", HUNDRED, "p99_us", scale=1e-3, most=20),
    Figure("fanout", "… the gateway's memory for each (RSS)", HUNDRED, "viewer_kib", "KiB", most=16),
    Figure("fanout", "… for each of {viewers}", THOUSAND, "viewer_kib", "KiB", most=16),
    Figure("join", "`session.attach` to the whole screen of vim: p50 of {runs}", "sandbar_join", "p50_us", scale=1e-3),
    Figure("join", "… p99", "sandbar_join", "p99_us", scale=1e-3),
    Figure("join", "… its bytes", "sandbar_join", "bytes", "KiB", 1 / 1024),
    Figure("idle", "an idle session, of {sessions}: its {processes} processes (PSS)", IDLE, "sandbox_kib", "KiB"),
    Figure("idle", "… and what the server grew by (PSS of keeper, gateway, workers)", IDLE, "server_kib", "KiB"),
    Figure("idle", "… all {sessions} together", IDLE, "all_mib", "MiB"),
    Figure("idle", "… how much less memory the machine has, each (with the kernel's; rough)", IDLE, "machine_kib", "KiB"),
    Figure("connections", "an idle connection, of {connections} after `hello`: the gateway's memory (RSS)", CONNECTIONS, "each_kib",
           "KiB"),
    Figure("connections", "… the gateway's processor time for all of them", CONNECTIONS, "cpu_percent", "ms/s", 10),
    Figure("browser-first", "a link opened in a Chromium that was never here: all that it fetches until the terminal shows its prompt", "browser_first",
           "bytes", "KiB", 1 / 1024, 400),
    Figure("browser-first", "… the time to that prompt, its processor held back to a quarter: p50 of {runs}", "browser_first", "prompt_us", "s", 1e-6),
    Figure("browser-first", "… and until a key that was typed then is drawn", "browser_first", "p50_us", "s", 1e-6),
    Figure("browser-flood", "a terminal that floods, on a page without a graphics card: MB/s drawn while 95 % of the keys there are answered within 50 ms",
           "browser_flood", "mb_s", "MB/s"),
    Figure("browser-flood", "… and if it writes as much as it can", "browser_flood", "all_mb_s", "MB/s"),
    Figure("browser-flood", "… a key to its answer meanwhile: p50", "browser_flood", "all_p50_us", scale=1e-3),
    Figure("browser-flood", "… p95", "browser_flood", "all_p95_us", scale=1e-3),
    Figure("browser-memory", "a tab that drew {mib} MiB of output, in {seconds} s: its JavaScript heap", "browser_memory", "heap_mib", "MiB"),
    Figure("browser-memory", "… before that", "browser_memory", "fresh_heap_mib", "MiB"),
    Figure("browser-memory", "… its process after it (RSS)", "browser_memory", "rss_mib", "MiB"),
    *(Figure("resume", f"the gateway's death to the first byte after resume, {sessions}: {percent} of 20 kills",
             f"sandbar_resume --sessions {sessions.split()[0]}", f"{percent}_us", scale=1e-3)
      for sessions in ("1 session", "200 sessions") for percent in ("p50", "p99")),
    *(Figure("crowd", f"{clients} client{'s' if clients > 1 else ''}: {what} a second", f"sandbar_crowd --clients {clients}", key, "")
      for clients in (1, 8, 32, 64)
      for key, what in (("creations_s", "sessions made and ended"), ("starts_s", "`process.run` of `/bin/true`"),
                        ("messages_s", "smallest requests answered"))),
]
