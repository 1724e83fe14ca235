"""Makes throw-away certificates of a test cluster with the openssl program (elliptic curves: milliseconds each)."""

import hashlib
import subprocess
from pathlib import Path

DAYS = "30"
SERVER_NAMES = "IP:127.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:10.96.0.1"


def openssl(*args, stdin=None):
    """Runs openssl and returns its standard output. Raises RuntimeError with its complaint when it fails."""
    done = subprocess.run(["openssl", *args], input=stdin, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {args[0]}: {done.stderr.decode().strip()}")
    return done.stdout


def new_key(path: Path):
    path.touch(mode=0o600)
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(path))


def new_ca(folder: Path):
    """Writes ca.key, ca.crt and the key pair sa.key, sa.pub that signs service account tokens."""
    folder.mkdir(mode=0o700, parents=True)
    new_key(folder / "ca.key")
    openssl("req", "-x509", "-new", "-key", str(folder / "ca.key"), "-out", str(folder / "ca.crt"), "-days", DAYS,
            "-subj", "/CN=test-cluster-ca", "-addext", "keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign")
    new_key(folder / "sa.key")
    openssl("pkey", "-in", str(folder / "sa.key"), "-pubout", "-out", str(folder / "sa.pub"))


def new_certificate(folder: Path, name: str, user: str, groups=(), server=False):
    """Writes NAME.key and NAME.crt for a client (user and groups as Kubernetes reads them) or for the API server."""
    subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
    extensions = folder / f"{name}.ext"
    extensions.write_text("keyUsage=critical,digitalSignature\n" + (
        f"subjectAltName={SERVER_NAMES}\nextendedKeyUsage=serverAuth,clientAuth\n" if server else "extendedKeyUsage=clientAuth\n"))
    new_key(folder / f"{name}.key")
    request = openssl("req", "-new", "-key", str(folder / f"{name}.key"), "-subj", subject)
    openssl("x509", "-req", "-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key"), "-CAcreateserial", "-days", DAYS,
            "-extfile", str(extensions), "-out", str(folder / f"{name}.crt"), stdin=request)
    extensions.unlink()


def ca_hash(folder: Path) -> str:
    """Returns the value of kubeadm's --discovery-token-ca-cert-hash."""
    public = openssl("x509", "-in", str(folder / "ca.crt"), "-noout", "-pubkey")
    return "sha256:" + hashlib.sha256(openssl("pkey", "-pubin", "-outform", "DER", stdin=public)).hexdigest()
