"""What the guest boots from: Debian's kernel as a package that is unpacked here and never installed, a root disk made
from this host's own packages, a small initramfs, and the tree with its programs as a tar. All stands in build/vm; what
changes seldom is kept there under a name that holds a hash of what it was made of."""

import glob
import hashlib
import io
import lzma
import os
import re
import shutil
import stat
import subprocess
import tarfile

FOLDER = "build/vm"
NEW = ".new"  # what is not whole yet
PROGRAMS = "build/release/bin"
KERNEL = "linux-image-cloud-amd64"
DISK_FREE = 1 << 30  # bytes beside the packages' own; the file is sparse

# What the guest has, with all that these depend on.
PACKAGES = """base-files base-passwd bash coreutils curl dash diffutils findutils grep gzip hostname libc-bin libwebsockets-evlib-ev login
mawk mount ncurses-base ncurses-bin netbase openssl procps python3 python3-msgpack python3-pytest python3-websockets sed tar tmux util-linux
vim""".split()
USELESS = re.compile(r"/usr/share/(doc|man|info|locale|lintian|bug|vim/vim\d+/(doc|lang|tutor|spell))/")
# What a package's scripts made, which its list of files does not tell.
MADE = {"/etc/passwd": "/usr/share/base-passwd/passwd.master", "/etc/group": "/usr/share/base-passwd/group.master",
        "/etc/nsswitch.conf": "/usr/share/base-files/nsswitch.conf", "/etc/ld.so.cache": "/etc/ld.so.cache"}

# In the order in which they are loaded; one that is part of the kernel itself is no file.
MODULES = ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk"]
INIT = """#!/busybox sh
/busybox mount -t devtmpfs dev /dev
for module in /modules/*; do /busybox insmod $module; done
for try in $(/busybox seq 300); do [ -b /dev/vdc ] && break; /busybox sleep 0.1; done
/busybox mount -t ext4 /dev/vda /root
/busybox mount -o move /dev /root/dev
exec /busybox switch_root /root /usr/bin/python3 -B -u /guest.py
"""

PAYLOAD = ["tests/system", "tests/containment", "tests/vm", "protocol", "docs", "docker", "README.md", PROGRAMS]


class Unavailable(Exception):
    """What this host cannot get: a reason to skip, not a fault of the tree."""


def output(*argv, **options):
    environment = os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}  # mke2fs is there
    return subprocess.run(argv, check=True, capture_output=True, text=True, env=environment, **options).stdout


def digest(*parts):
    with open(__file__) as file:
        return hashlib.sha256("\0".join([file.read(), *parts]).encode()).hexdigest()[:16]


def once(path, make):
    """PATH, made by make(temporary path) where it does not stand yet. Then older ones of its kind go."""
    if not os.path.exists(path):
        kind, _, _ = os.path.basename(path).partition("@")
        older = glob.glob(f"{FOLDER}/{kind}@*")
        make(path + NEW)
        for old in set(older) - {path + NEW}:
            remove(old)
        os.rename(path + NEW, path)
    return path


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


# --- Packages that are only unpacked

def newest(package):
    """"name=version" of what apt would install; for the metapackage of the kernel, of the kernel that it stands for."""
    try:
        if package == KERNEL:
            package = re.search(r"^\s*Depends: (linux-image-\d\S+)", output("apt-cache", "depends", package), re.M)[1]
        version = re.search(r"^Version: (\S+)", output("apt-cache", "show", "--no-all-versions", package), re.M)[1]
    except (OSError, subprocess.CalledProcessError, TypeError) as error:
        raise Unavailable(f"apt knows no package {package} (is apt-get update needed?)") from error
    return f"{package}={version}"


def unpacked(package):
    """The folder with a package's files. Without apt's lists, or off line, an older one that was kept does."""
    kept = [path for path in glob.glob(f"{FOLDER}/{package}@*") if not path.endswith(NEW)]
    try:
        wanted = newest(package)
        return once(f"{FOLDER}/{package}@{wanted.replace(':', '_')}", lambda path: download(wanted, path))
    except Unavailable:
        if kept:
            return kept[0]
        raise


def download(wanted, path):
    remove(path)
    os.makedirs(path)
    try:
        # As root, apt would complain that its own user cannot write into this folder.
        output("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", wanted, cwd=path)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"{wanted} cannot be downloaded: {str(getattr(error, 'stderr', error))[-300:].strip()}") from error
    [package] = glob.glob(f"{path}/*.deb")
    output("dpkg-deb", "-x", package, path)
    os.unlink(package)


# --- The root disk

def installed():
    """name -> version of PACKAGES, and of all that they depend on."""
    only = [f"--no-{kind}" for kind in ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")]
    listed = output("apt-cache", "depends", "--recurse", "--installed", *only, *PACKAGES)
    names = sorted(set(re.findall(r"^[a-z0-9][^\s:<]*", listed, re.M)))
    query = ["dpkg-query", "-W", "-f", "${Package}\t${Version}\t${db:Status-Status}\n", *names]
    rows = [row.split("\t") for row in subprocess.run(query, capture_output=True, text=True).stdout.splitlines()]
    found = {name: version for name, version, status in rows if status == "installed"}
    missing = set(PACKAGES) - set(found)
    if missing:
        raise Unavailable(f"not installed: {', '.join(sorted(missing))}")
    return found


def libraries():
    """What the programs are linked with."""
    programs = [path for path in glob.glob(f"{PROGRAMS}/*") if not os.path.isdir(path)]
    told = subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout  # fails for the static one
    return sorted(set(re.findall(r"(?:=> |^\s)(/\S+)", told, re.M)))


def copy(root, path, source=None):
    """One file, link or folder to the same place below ROOT, through no link of this host such as /bin."""
    source = source or path
    folder = os.path.realpath(os.path.dirname(path))
    target = os.path.join(root + folder, os.path.basename(path))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.lexists(target) and not os.path.isdir(target):
        return
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    elif os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
        os.chmod(target, stat.S_IMODE(os.stat(source).st_mode) | stat.S_IRWXU)
    elif os.path.isfile(source) and os.access(source, os.R_OK):
        shutil.copy2(source, target)


def paths_of(packages):
    listed = subprocess.run(["dpkg-query", "-L", *packages], capture_output=True, text=True, check=True).stdout
    paths = {path for path in listed.splitlines() if path.startswith("/") and path != "/." and not USELESS.match(path + "/")}
    compiled = {f"{os.path.dirname(path)}/__pycache__" for path in paths if path.endswith(".py")}  # spares the guest a minute
    alternatives = {path for path in glob.glob("/usr/bin/*") if os.path.islink(path) and os.readlink(path).startswith("/etc/alternatives/")}
    paths |= {path for folder in compiled for path in glob.glob(folder + "/*.pyc")}
    return sorted(paths | alternatives | set(glob.glob("/etc/alternatives/*"))) + libraries_with_links()


def libraries_with_links():
    """A library's name is often a link to its file."""
    names = libraries()
    return names + [os.path.realpath(name) for name in names]


def make_disk(path, packages):
    root = FOLDER + "/root"
    remove(root)
    os.makedirs(root)
    for link in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + link, f"{root}/{link}")
    for one in paths_of(packages):
        copy(root, one)
    for one, source in MADE.items():
        copy(root, one, source)
    for folder in ("dev", "proc", "sys", "run", "tmp"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)
    shutil.copy2(os.path.join(os.path.dirname(__file__), "guest.py"), root)
    used = sum(os.lstat(os.path.join(folder, name)).st_size + 4096 for folder, _, names in os.walk(root) for name in names)
    as_root = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]  # then our files are root's in the guest
    output(*as_root, "mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-N", "200000", "-d", root, path,
           f"{(used * 5 // 4 + DISK_FREE) >> 10}k")
    shutil.rmtree(root)


def disk():
    packages = installed()
    files = [f"{path} {os.stat(path).st_mtime} {os.stat(path).st_size}" for path in [*libraries(), "/etc/ld.so.cache"]]
    with open(os.path.join(os.path.dirname(__file__), "guest.py")) as file:
        key = digest(file.read(), *(f"{name} {version}" for name, version in packages.items()), *files)
    return once(f"{FOLDER}/disk@{key}", lambda path: make_disk(path, packages))


# --- The initramfs: cpio's "newc" form (Documentation/driver-api/early-userspace/buffer-format.rst)

def cpio_entry(name, mode, data=b""):
    name = name.encode() + b"\0"
    fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def module(kernel, name):
    """A kernel module's file, or None when it is part of the kernel."""
    found = glob.glob(f"{kernel}/lib/modules/**/{name}.ko*", recursive=True) + \
        glob.glob(f"{kernel}/usr/lib/modules/**/{name}.ko*", recursive=True)
    if not found:
        return None
    with open(found[0], "rb") as file:
        return lzma.decompress(file.read()) if found[0].endswith(".xz") else file.read()


def make_initramfs(path, kernel, busybox):
    [program] = glob.glob(f"{busybox}/**/bin/busybox", recursive=True)
    with open(program, "rb") as file:
        entries = [cpio_entry("busybox", 0o100755, file.read())]
    entries += [cpio_entry("init", 0o100755, INIT.encode()), cpio_entry("modules", 0o040755)]
    for number, name in enumerate(MODULES):
        data = module(kernel, name)
        if data:
            entries.append(cpio_entry(f"modules/{number}", 0o100644, data))
    with open(path, "wb") as file:
        file.write(b"".join(entries) + cpio_entry("TRAILER!!!", 0))


def initramfs(kernel, busybox):
    return once(f"{FOLDER}/initramfs@{digest(kernel, busybox)}", lambda path: make_initramfs(path, kernel, busybox))


# --- The tree

def payload():
    """The tests and programs, as they are now."""
    path = FOLDER + "/payload.tar"
    with tarfile.open(path, "w") as tar:
        for name in PAYLOAD:
            tar.add(name, filter=lambda entry: None if entry.name.endswith("__pycache__") else rooted(entry))
    return path


def rooted(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def results(path):
    """An empty disk on which the guest leaves a tar; the name of one that was written is for read_results."""
    with open(path, "wb") as file:
        file.truncate(64 << 20)
    return path


def read_results(path):
    """name -> bytes of what the guest left, nothing when it left nothing whole."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.strip(b"\0"):
        return {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}
    except tarfile.TarError:
        return {}
