"""What may stand in front of a server: TLS, and a proxy that buffers a stream or cuts a reply that is held back."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

CHUNK_BYTES = 65_536
YEAR_BEFORE, YEAR_BEHIND = (
    dt.datetime(2000, 1, 1, tzinfo=dt.UTC),
    dt.datetime(2099, 1, 1, tzinfo=dt.UTC),
)


def make_certificate(
    folder: Path, *, address: str = "127.0.0.1", expires: dt.datetime = YEAR_BEHIND
) -> tuple[Path, ssl.SSLContext]:
    """Return a certificate that signs itself, as the file of an authority, and the context of a server that has it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A test")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(YEAR_BEFORE)
        .not_valid_after(expires)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "authority.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_path = folder / "key.pem"
    key_path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key_path)
    return path, context


class Front:
    """Passes connections on to a port of this machine.

    What comes back to a request that begins with `buffers` is kept until the server ends it; where `cuts` begins one,
    the connection is closed when nothing came back for `cut_seconds`.
    """

    def __init__(
        self,
        port: int,
        *,
        tls: ssl.SSLContext | None = None,
        buffers: bytes | None = None,
        cuts: bytes | None = None,
        cut_seconds: float = 0.3,
    ) -> None:
        self._port, self._tls = port, tls
        self._buffers, self._cuts, self._cut_seconds = buffers, cuts, cut_seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
            with client, socket.create_connection(("127.0.0.1", self._port)) as server:
                self._open |= {client, server}
                first = client.recv(CHUNK_BYTES)
                server.sendall(first)
                threading.Thread(target=_pump, args=(client, server), daemon=True).start()
                if self._cuts is not None and first.startswith(self._cuts):
                    server.settimeout(self._cut_seconds)
                keeps = self._buffers is not None and first.startswith(self._buffers)
                with suppress(OSError):
                    self._answer(client, server, keeps=keeps)
                client.shutdown(socket.SHUT_RDWR)  # closing alone would wait for the thread that reads from it
                self._open -= {client, server}

    def _answer(self, client: socket.socket, server: socket.socket, *, keeps: bool) -> None:
        kept = b""
        while chunk := server.recv(CHUNK_BYTES):
            if keeps:
                kept += chunk
            else:
                client.sendall(chunk)
        client.sendall(kept)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(CHUNK_BYTES):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
