"""The table of figures: what is measured, beside what, and what it should be.

A program build/release/tests/bench/bench_NAME prints one line of JSON, {"bench": NAME, ...}: times as p50_us, p95_us and
p99_us, rates as mb_s. Those that measure Sandbar start a server of their own. The two programs of a row run in turn,
several times, so that both see the same machine; a figure is the median of its runs.
"""

import dataclasses


@dataclasses.dataclass
class Row:
    name: str         # for ./dev bench NAME
    title: str
    ours: str         # the program that measures Sandbar
    theirs: str       # and what it stands beside
    figure: str       # of which the ratio is taken
    target: float     # of ours / theirs
    at_most: bool     # the ratio should be at most the target; else at least

    def holds(self, ratio):
        return ratio <= self.target if self.at_most else ratio >= self.target

    def aim(self):
        return f"{'≤' if self.at_most else '≥'} {self.target:g}"


ROWS = [
    Row("start", "`process.start` of `/bin/true` to `EXITED`", "sandbar_start", "spawn", "p50_us", 1.6, True),
    Row("create", "`session.create` to the first output byte, cold", "sandbar_create", "bwrap", "p50_us", 0.7, True),
    Row("pipe", "1 GiB through a pipe to one client", "sandbar_pipe", "pipe_tcp", "mb_s", 0.6, False),
    Row("terminal", "a flood through a terminal to one client", "sandbar_terminal", "pty_drain", "mb_s", 0.8, False),
    Row("echo", "a typed byte to its echo", "sandbar_echo", "lws_echo", "p50_us", 3, True),
    Row("shell", "`shell.run` of `:` in a warm shell (p50 ≤ 1,000 µs)", "sandbar_shell", "bash", "p50_us", 5, True),
]
