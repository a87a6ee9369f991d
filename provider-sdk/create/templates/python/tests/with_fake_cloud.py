"""
Runs a command with the fake cloud beside it, and the environment that leads the provider there.

    python -m tests.with_fake_cloud python -m acme_provider
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from .fake_cloud import TOKEN, FakeCloud, machine


def main() -> int:
    """Run the command; its exit code is the answer."""
    with FakeCloud() as cloud, tempfile.TemporaryDirectory() as directory:
        cloud.machines += [machine("i-1"), machine("i-2", privateIps=["10.0.0.2"])]
        token_file = Path(directory) / "token"
        token_file.write_text(TOKEN)
        environ = {"CLOUD_API_URL": cloud.url, "CLOUD_API_TOKEN_FILE": str(token_file)}
        child = subprocess.Popen(sys.argv[1:], env={**os.environ, **environ})
        # Ctrl-C goes to both; the command decides when it has ended.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda received, _: child.send_signal(received))
        return child.wait()


if __name__ == "__main__":
    sys.exit(main())
