"""mTLS credentials that follow their files."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from cloudwire_provider._server.environment import TlsFiles
from cloudwire_provider.errors import StartError
from cloudwire_provider.log import Log


@dataclass(frozen=True)
class _Material:
    cert: bytes
    key: bytes
    client_ca: bytes


class MutualTls:
    """Callers need a certificate of the given authorities; new connections get what the files hold now."""

    def __init__(self, files: TlsFiles, log: Log) -> None:
        self._files = files
        self._log = log
        material, problems = _read(files)
        if material is None:
            raise StartError(problems)
        self._material = material
        self._abandon_requested: list[str] = []
        self._served: _Material | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials for a server; the C core asks again with each connection."""
        fetch: Any = self._fetch  # its stub does not know that None says: nothing new
        first = _configuration(self._material)
        return grpc.dynamic_ssl_server_credentials(first, fetch, require_client_authentication=True)

    def reload(self) -> None:
        """Read the files again. Those that do not fit together are not taken, and the log says so once."""
        material, problems = _read(self._files)
        if material is None:
            if problems != self._abandon_requested:
                text = "The TLS files are of no use; the ones read before stay in force"
                self._log.error(text, extra={"problems": problems})
            self._abandon_requested = problems
            return
        self._abandon_requested = []
        if material != self._material:
            self._material = material
            self._log.info("New TLS files are in force", extra={"certFile": self._files.cert})

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """Answer the C core, in one of its threads; None: nothing new."""
        material = self._material
        if material is self._served:
            return None
        self._served = material
        return _configuration(material)


def _configuration(material: _Material) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(material.key, material.cert)], root_certificates=material.client_ca
    )


def _read(files: TlsFiles) -> tuple[_Material | None, list[str]]:
    """Read the files. They may not match while another process writes them one after the other."""
    contents: list[bytes] = []
    problems: list[str] = []
    for path in (files.cert, files.key, files.client_ca):
        try:
            content = Path(path).read_bytes()
        except OSError:
            problems.append(f"{path} cannot be read")
            continue
        if b"-----BEGIN " not in content:
            problems.append(f"{path} is not a PEM file")
        contents.append(content)
    if problems:
        return None, problems
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(files.cert, files.key)
    except (ssl.SSLError, OSError):
        return None, [f"{files.key} is not the key of the first certificate in {files.cert}, or one of them is broken"]
    try:
        context.load_verify_locations(cadata=contents[2].decode("ascii", "replace"))
    except (ssl.SSLError, ValueError):
        return None, [f"{files.client_ca} holds no certificate"]
    return _Material(*contents), []
