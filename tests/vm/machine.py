"""The guest as a process: QEMU with what image.py made, its console line by line, its end or its time-out."""

import os
import re
import shutil
import signal
import subprocess
import threading

import image

QEMU = "qemu-system-x86_64"
MEMORY = "2560M"
ESCAPES = re.compile(r"\x1b(\[[0-9;?=]*[A-Za-z]|c)|\r")  # the firmware clears its screen


def argv(kernel, initramfs, disks, parameters):
    """The disks are written into temporary files, save the last, on which the results come back."""
    drives = []
    for number, disk in enumerate(disks):
        keep = "off" if number == len(disks) - 1 else "on"
        drives += ["-drive", f"file={disk},if=virtio,format=raw,cache=unsafe,snapshot={keep}"]
    words = " ".join(f'"sandbar.{name}={value}"' for name, value in parameters.items())
    return [QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio", "-m", MEMORY, "-smp", "2",
            "-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max", *drives,
            "-kernel", kernel, "-initrd", initramfs, "-append", f"console=ttyS0 quiet loglevel=3 panic=-1 {words}"]


def run(arguments, seconds, say):
    """Each line of the console goes to say(). Returns QEMU's exit code, or None after a time-out."""
    environment = os.environ | {"TMPDIR": os.path.abspath(image.FOLDER)}
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                          text=True, errors="replace", start_new_session=True) as qemu:
        late = threading.Event()

        def stop():
            late.set()
            os.killpg(qemu.pid, signal.SIGKILL)

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            for line in qemu.stdout:
                say(ESCAPES.sub("", line).rstrip())
        finally:
            timer.cancel()
            if qemu.poll() is None and not late.is_set():
                try:
                    qemu.wait(10)
                except subprocess.TimeoutExpired:
                    stop()
        return None if late.is_set() else qemu.wait()


def kernel_of(folder):
    [kernel] = image.glob.glob(f"{folder}/boot/vmlinuz-*")
    return kernel


def lacks():
    """Why no guest can run here, or None."""
    if os.uname().machine != "x86_64":
        return f"the guest is x86-64, this host is {os.uname().machine}"
    for program, package in ((QEMU, "qemu-system-x86"), ("mke2fs", "e2fsprogs")):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            return f"{program} is not here (package {package})"
    return None
