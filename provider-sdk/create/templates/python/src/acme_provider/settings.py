"""What the environment says about the cloud. Variables that begin with CLOUD_PROVIDER_ are the SDK's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cloudwire_provider import ProviderError


@dataclass(frozen=True)
class Settings:
    """Where the cloud is and what opens it."""

    url: str
    """CLOUD_API_URL."""
    token_file: Path
    """CLOUD_API_TOKEN_FILE."""

    def token(self) -> str:
        """Return what is in the file now: a Secret that is changed is in force with the next request."""
        try:
            return self.token_file.read_text().strip()
        except OSError as error:
            message = f"the token cannot be read from {self.token_file}; is its Secret there, and mounted"
            raise ProviderError("CLOUD_CREDENTIALS_INVALID", message) from error


def read_settings(environ: Mapping[str, str]) -> Settings | list[str]:
    """Read the settings, or return every problem with them."""
    url = environ.get("CLOUD_API_URL", "").rstrip("/")
    token_file = environ.get("CLOUD_API_TOKEN_FILE", "")
    problems = []
    if urlsplit(url).scheme not in {"http", "https"}:
        problems.append(f'CLOUD_API_URL "{url}": has to be a URL, such as https://api.example.com')
    if not token_file:
        problems.append("CLOUD_API_TOKEN_FILE: has to name the file with the token")
    return problems or Settings(url, Path(token_file))
