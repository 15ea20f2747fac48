"""What a server has made on this host, and what of it is still there when it has stopped."""

import os
import pathlib
import time

CGROUPS = pathlib.Path("/sys/fs/cgroup")
GRACE = 3  # seconds: what the kernel takes away after a process's end


def processes():
    """pid -> parent's pid, of everything that is alive."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
                found[int(name)] = int(fields[1])
            except OSError:
                pass
    return found


def descendants(root):
    parents, found = processes(), {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def started_at(pid):
    """Tells a process from a later one with the same number."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        return None


def cgroups():
    """Every cgroup directory of a server, by its path. Other servers' come and go meanwhile."""
    return {os.path.join(folder, name) for folder, names, _ in os.walk(CGROUPS) for name in names if name.startswith("sandbar-")}


def cgroups_of(pid):
    """The parts named sandbar-* of the cgroups that a process is in."""
    try:
        with open(f"/proc/{pid}/cgroup") as file:
            return {part for line in file for part in line.strip().split("/") if part.startswith("sandbar-")}
    except OSError:
        return set()


def mounts():
    with open("/proc/self/mounts") as file:
        return [line for line in file]


class Traces:
    def __init__(self, pids, names, state):
        self.pids = {pid: started_at(pid) for pid in pids}
        self.names = names
        self.state = str(state)

    def left(self):
        alive = [pid for pid, start in self.pids.items() if start and started_at(pid) == start]
        groups = [path for path in cgroups() if set(path.split("/")) & self.names]
        mounted = [line.strip() for line in mounts() if self.state in line]
        return [f"process {pid} is still there" for pid in alive] + [f"cgroup {path} is still there" for path in groups] + \
            [f"still mounted: {line}" for line in mounted]

    def faults(self):
        deadline = time.monotonic() + GRACE
        while self.left() and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.left()


def of_server(pid, state):
    """Called while it still runs."""
    pids = descendants(pid)
    return Traces(pids, {name for one in pids for name in cgroups_of(one)}, state)
