"""Certificates as an operator makes them, with `openssl req`."""

import ssl
import subprocess

KINDS = {"rsa": ["rsa:2048"], "ec": ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]}


def run(*argv):
    subprocess.run(["openssl", *map(str, argv)], check=True, capture_output=True, timeout=60)


def self_signed(folder, name, kind="ec", days=2):
    """A certificate for 127.0.0.1 and localhost that vouches for itself: the paths (certificate, key)."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    run("req", "-x509", "-newkey", *KINDS[kind], "-nodes", "-keyout", key, "-out", cert, "-days", days, "-subj", f"/CN={name}",
        "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
    key.chmod(0o600)
    return cert, key


def vouched(folder, name):
    """One that an intermediate authority vouches for, with that in its file: the paths (certificate, key, root)."""
    root, root_key = folder / f"{name}-root.crt", folder / f"{name}-root.key"
    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", root_key, "-out", root, "-days", 2, "-subj", f"/CN={name} root")
    extensions = folder / f"{name}.ext"
    above, above_key = root, root_key
    for step, words in (("middle", "basicConstraints=critical,CA:TRUE"), ("leaf", "subjectAltName=IP:127.0.0.1,DNS:localhost")):
        key, request, cert = (folder / f"{name}-{step}.{end}" for end in ("key", "csr", "crt"))
        extensions.write_text(words)
        run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name} {step}")
        run("x509", "-req", "-in", request, "-CA", above, "-CAkey", above_key, "-CAcreateserial", "-days", 2, "-out", cert,
            "-extfile", extensions)
        above, above_key = cert, key
    chain = folder / f"{name}-chain.crt"
    chain.write_text(above.read_text() + (folder / f"{name}-middle.crt").read_text())
    return chain, above_key, root


def trusting(*files, **settings):
    """An SSLContext that trusts these and nothing else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for file in files:
        context.load_verify_locations(file)
    for name, value in settings.items():
        setattr(context, name, value)
    return context
