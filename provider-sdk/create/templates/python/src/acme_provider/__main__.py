"""Serves the provider: `python -m acme_provider`."""

from __future__ import annotations

import os
import sys

from cloudwire_provider import serve

from acme_provider.cloud import Cloud
from acme_provider.provider import make_provider
from acme_provider.settings import read_settings


def main() -> None:
    """Serve until the process is asked to end."""
    settings = read_settings(os.environ)
    if isinstance(settings, list):
        for problem in settings:
            print(f"acme-provider: {problem}", file=sys.stderr)
        sys.exit(78)
    serve(make_provider(Cloud(settings.url, settings.token)))


if __name__ == "__main__":
    main()
