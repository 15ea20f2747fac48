"""What a server uses: what must be the same after an hour as after a minute."""

import os
import pathlib

import leftovers


def status(pid, key):
    with open(f"/proc/{pid}/status") as file:
        return int(file.read().split(f"{key}:")[1].split()[0])


def descriptors(pid):
    """What each open descriptor is, without what changes from one to the next."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            pass
    return found


def gateway(keeper):
    """The pid of the running gateway, or None."""
    for pid, parent in leftovers.processes().items():
        try:
            if parent == keeper and pathlib.Path(f"/proc/{pid}/comm").read_text().startswith("sandbard-gatewa"):
                return pid
        except OSError:
            pass
    return None


def lines(path, part=""):
    with open(path) as file:
        return sum(part in line for line in file)


def cgroup_names(server):
    """The server's own cgroups, as long as it has sessions."""
    return {name for pid in leftovers.descendants(server.process.pid) for name in leftovers.cgroups_of(pid)}


def of_server(server, names):
    """NAMES: of all cgroups that were seen."""
    keeper = server.process.pid
    door = gateway(keeper)
    pids = leftovers.descendants(keeper)
    every = {pid: descriptors(pid) for pid in pids}
    return {
        "keeper RSS KiB": status(keeper, "VmRSS"),
        "gateway RSS KiB": status(door, "VmRSS"),
        "keeper descriptors": len(every[keeper]),
        "gateway descriptors": len(every[door]),
        "ptys": sum("ptmx" in name for names in every.values() for name in names),
        "processes": len(pids),
        "mounts of the keeper": lines(f"/proc/{keeper}/mounts"),
        "mounts of this host": lines("/proc/self/mounts", str(server.state)),
        "cgroups": sum(bool(set(path.split("/")) & names) for path in leftovers.cgroups()),
        "files under sessions": sum(1 for _ in (server.state / "sessions").rglob("*")),
        "folders under sessions": sum(1 for _ in (server.state / "sessions").iterdir()),
    }


# What may have grown against the warm baseline. What is neither memory nor a record is the same.
MEMORY = {"keeper RSS KiB": 1024, "gateway RSS KiB": 6 * 1024}
FILES = {"files under sessions": 120}  # the sessions that are kept are others, with longer records
SANITIZED = 12  # times as much: freed memory is kept back, and each thread of allocation has shadows


def grown(before, after, is_sanitized):
    """What grew, as lines. The gateways may be two different ones: then the keeper's figures alone count as memory."""
    faults = []
    for name, value in after.items():
        allowed = MEMORY.get(name, 0) * (SANITIZED if is_sanitized else 1) + FILES.get(name, 0)
        if value > before[name] + allowed:
            faults.append(f"{name}: {before[name]} before, {value} now; at most {allowed} more is allowed")
    return faults
