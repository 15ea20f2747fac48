"""The first process of the guest: makes it a small Debian with cgroup v2, runs the tests of /dev/vdb, leaves their reports
on /dev/vdc, and turns the machine off. Its stdout is the serial console."""

import ctypes
import fcntl
import io
import os
import resource
import shlex
import socket
import struct
import subprocess
import sys
import tarfile
import traceback

TREE = "/sandbar"
REPORTS = "/run/reports"
OWN_CGROUP = "/sys/fs/cgroup/system.slice/tests.service"  # as systemd has it: not the top, and other processes beside
MOUNTS = [("proc", "/proc", ""), ("sysfs", "/sys", ""), ("devpts", "/dev/pts", "gid=5,mode=620,ptmxmode=666"),
          ("tmpfs", "/dev/shm", "mode=1777"), ("tmpfs", "/run", "mode=755"), ("tmpfs", "/tmp", "mode=1777"),
          ("cgroup2", "/sys/fs/cgroup", "")]
LINKS = {"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2"}
POWER_OFF = 0x4321FEDC  # reboot(2)
SIOCSIFFLAGS, IFF_UP = 0x8914, 1  # netdevice(7)

libc = ctypes.CDLL(None, use_errno=True)


def mount(kind, place, options):
    os.makedirs(place, exist_ok=True)
    if libc.mount(kind.encode(), place.encode(), kind.encode(), 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {kind} on {place}")


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def set_up():
    os.environ.update(PATH="/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", HOME="/root", LANG="C.UTF-8", TERM="dumb")
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 524288))  # as systemd has it
    for row in MOUNTS:
        mount(*row)
    for link, target in LINKS.items():
        os.symlink(target, link)
    socket.sethostname("guest")
    write("/etc/hosts", "127.0.0.1 localhost guest\n")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    os.makedirs(REPORTS)
    with tarfile.open("/dev/vdb", "r|") as tar:
        tar.extractall(TREE)
    # As systemd does at the start.
    write("/sys/fs/cgroup/cgroup.subtree_control", "+memory +pids +cpu")
    os.makedirs(OWN_CGROUP)
    write("/sys/fs/cgroup/system.slice/cgroup.subtree_control", "+memory +pids +cpu")


def run(argv):
    """As a service beside this process, which must go on reaping what others leave. Returns the exit code."""
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            write(OWN_CGROUP + "/cgroup.procs", "0")
            os.chdir(TREE)
            os.execvp(argv[0], argv)
        finally:
            traceback.print_exc()
            os._exit(127)
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def parameters():
    """The words NAME=VALUE of the kernel's command line that are for us."""
    with open("/proc/cmdline") as file:
        words = shlex.split(file.read())
    return {name.removeprefix("sandbar."): value for name, _, value in (word.partition("=") for word in words)
            if name.startswith("sandbar.")}


def run_tests():
    given = parameters()
    os.environ.update(SANDBAR_BIN=TREE + "/build/release/bin", SANDBAR_TEST_SLOWNESS=given["slowness"], PYTHONPATH=TREE + "/tests/vm",
                      SANDBAR_KILLS="5", CI=given["ci"])
    pytest = ["python3", "-B", "-m", "pytest", "-v", "--no-header", "--disable-warnings", "-p", "no:cacheprovider", "--tb=short",
              "--color=no", "-p", "selection"]
    kernel = os.uname()
    print(f"guest: {kernel.sysname} {kernel.release} {kernel.version}", flush=True)
    codes = {"doctor": run(["sh", "-c", f"build/release/bin/sandbard --doctor | tee {REPORTS}/doctor"])}
    for name, folder in (("vm", "tests/vm"), ("containment", "tests/containment"), ("system", "tests/system")):
        durations = ["--durations=12"] if name == "system" else []
        expression = ["-k", given["only"]] if given.get("only") else []
        codes[name] = run([*pytest, *durations, f"--junitxml={REPORTS}/{name}.xml", *expression, folder])
    write(REPORTS + "/codes", "".join(f"{name} {code}\n" for name, code in codes.items()))


def leave_results():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(REPORTS, "")
    with open("/dev/vdc", "r+b") as disk:
        disk.write(packed.getvalue())
        disk.flush()
        os.fsync(disk.fileno())


def main():
    try:
        set_up()
        run_tests()
        subprocess.run(["sh", "-c", "dmesg -l emerg,alert,crit,err | grep -v 'cgroup out of memory' | tail -n 20"], check=False)
        leave_results()
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os.sync()
    libc.reboot(POWER_OFF)


main()
