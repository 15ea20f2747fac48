"""The system tests once more with a release build, on Debian's own kernel with cgroup v2 alone: a guest under QEMU, which
needs no KVM. tests/vm makes it. A host that cannot have one skips; a guest that does not come to its end is a failure."""

import fcntl
import os
import re
import sys

import system
from result import SKIPPED, Result

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vm"))
import image  # noqa: E402
import machine  # noqa: E402

SECONDS = 50 * 60  # of the guest; on two processors that have nothing else to do it takes a third of that
SLOWNESS = 3
UNTOLD = re.compile(r" PASSED +\[ *\d+%\]$|^collecting |^$")  # what passed is counted
RUNS = ("vm", "containment", "system")  # of pytest, each over a folder of tests/


def run(report, only, _options):
    lack = machine.lacks()
    if lack:
        report.add(Result("vm", SKIPPED, lack))
        return
    os.makedirs(image.FOLDER, exist_ok=True)
    with open(f"{image.FOLDER}/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two would write the same disks
        run_guest(report, only)


def run_guest(report, only):
    try:
        kernel = image.unpacked(image.KERNEL)
        initramfs = image.initramfs(kernel, image.unpacked("busybox-static"))
        disks = [image.disk(), image.payload(), image.results(f"{image.FOLDER}/results")]
    except image.Unavailable as lack:
        report.add(Result("vm", SKIPPED, str(lack)))
        return
    arguments = machine.argv(machine.kernel_of(kernel), initramfs, disks, {"slowness": SLOWNESS, "only": only, "ci": os.environ.get("CI", "")})
    tail = []

    def say(line):
        if not UNTOLD.search(line):
            print(f"    {line}", flush=True)
        tail.append(line)
        del tail[:-40]

    code = machine.run(arguments, SECONDS, say)
    if code is None:
        report.failed("vm", f"stopped: the guest took longer than {SECONDS} s; it came to\n" + "\n".join(tail[-3:]))
    elif code != 0:
        report.failed("vm", f"QEMU left with {code}\n" + "\n".join(tail))
    read(report, image.read_results(disks[-1]), only)


def read(report, found, only):
    """Whatever the guest has not told is a failure: it went down, or its pytest did."""
    codes = dict(line.split() for line in found.get("codes", b"").decode().splitlines())
    if codes.get("doctor") != "0":
        report.failed("vm/doctor", "the guest told of no --doctor" if not codes else "an essential layer is missing in the guest")
    for name in RUNS:
        if name not in codes or f"{name}.xml" not in found:
            report.failed(f"vm/{name}", "the guest left no report of these tests")
            continue
        if codes[name] not in ("0", "1") and not (only and codes[name] == "5"):
            report.failed(f"vm/{name}", f"pytest left with {codes[name]}")
        path = f"{image.FOLDER}/{name}.xml"
        with open(path, "wb") as file:
            file.write(found[f"{name}.xml"])
        system.read_xml(report, path, f"vm/{name}")
