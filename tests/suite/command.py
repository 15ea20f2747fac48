"""Running a program with a time-out that also ends what it started."""

import os
import signal
import subprocess


def run(argv, seconds, cwd=None, env=None, live=False):
    """Returns (exit code or None after a time-out, output). With `live` it goes to our own stdout instead."""
    with subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, start_new_session=True, errors="replace",
                          stdout=None if live else subprocess.PIPE, stderr=subprocess.STDOUT) as child:
        try:
            output, _ = child.communicate(timeout=seconds)
            return child.returncode, output or ""
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            return None, (output or "") + f"\nstopped: it took longer than {seconds} s"
