"""
The socket file: a stale one is replaced, a live one or another process's is never removed.

The C core of gRPC unlinks whatever socket is at the path before it binds and after it has closed, so all looks come first.
"""

from __future__ import annotations

import errno
import grp
import hashlib
import os
import socket
import stat
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cloudwire_provider.errors import StartError

# Read and write for owner and group: connecting needs write. Contract, TRN-2.
_MODE = 0o660
_UMASK = 0o117
_PROBE_TIMEOUT = 2.0
# A thousand times the longest delay between another process's bind and listen.
_SECOND_LOOK = 0.05
# A rival that starts at the same moment can win at most this often.
_MAX_ATTEMPTS = 5
# Longest wait for a rival that is starting; it needs milliseconds.
_LOCK_MAX_WAIT = 5.0
_LOCK_RETRY = 0.01


@dataclass(frozen=True)
class Identity:
    """Distinguishes socket files: a new file may get the inode of a removed one."""

    inode: int
    made_ns: int


def bind(path: str, group: str, listen: Callable[[], object]) -> Identity:
    """Make room at the path, listen there, and set mode and group; raises StartError."""
    directory = Path(path).parent
    if not directory.is_dir():
        raise StartError(
            [f"the directory {directory} does not exist; make it, or mount the volume there"], unavailable=True
        )
    gid = _group_id(group) if group else -1
    if not os.access(directory, os.W_OK | os.X_OK):
        who = f"user {os.getuid()} cannot create a socket in {directory}"
        raise StartError(
            [f"{who}; grant it write permission, in a pod with an emptyDir volume and fsGroup"], unavailable=True
        )
    with _locked(path):
        _clear(path)
        # The C core leaves what the umask leaves of 0777: the mode is right from the first moment on.
        before = os.umask(_UMASK)
        try:
            listen()
        finally:
            os.umask(before)
    own = identify(path)
    if own is None:
        raise StartError([f"{path} was removed while this provider began to listen there"], unavailable=True)
    Path(path).chmod(_MODE)
    if group:
        try:
            os.chown(path, -1, gid)
        except OSError as error:
            text = f"{path} cannot be given to group {group} ({error.strerror})"
            raise StartError([text]) from error
    return own


def identify(path: str) -> Identity | None:
    """Return which socket is there; None if none. Refuses another kind of file."""
    try:
        found = Path(path).lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        text = f"{path} cannot be looked at ({error.strerror}); the directory must exist and be readable"
        raise StartError([text], unavailable=True) from error
    if not stat.S_ISSOCK(found.st_mode):
        raise StartError([f"{path} exists and is no socket; remove it or give another endpoint"], unavailable=True)
    # A socket is never written to: its time of change of contents is that of its making.
    return Identity(found.st_ino, found.st_mtime_ns)


def is_own(path: str, own: Identity) -> bool:
    """Return whether this process made the socket at this path."""
    try:
        return identify(path) == own
    except StartError:
        return False


def remove_own(path: str, own: Identity) -> None:
    """Remove the socket, if it is still the one made by this process."""
    if is_own(path, own):
        with suppress(OSError):
            Path(path).unlink()


@contextmanager
def keeping_foreign(path: str, own: Identity) -> Iterator[Callable[[], None]]:
    """
    Keep, while a server closes, a socket that another process put in place of ours: closing removes whatever is there.

    Yields what puts it back, to be called as soon as it may have gone.
    """
    kept = f"{path}.{uuid.uuid4().hex[:8]}"
    foreign = not is_own(path, own) and _try_link(path, kept)

    def put_back() -> None:
        if foreign:
            _try_link(kept, path)

    try:
        yield put_back
    finally:
        put_back()
        if foreign:
            with suppress(OSError):
                Path(kept).unlink()


def _clear(path: str) -> None:
    """Free the path: remove a socket without a listener, and reject a live one."""
    for _ in range(_MAX_ATTEMPTS):
        found = identify(path)
        if found is None:
            return
        # Twice: a process that is between bind and listen refuses too.
        if _is_live(path):
            break
        time.sleep(_SECOND_LOOK)
        if _is_live(path):
            break
        if _remove_stale(path, found):
            return
    raise StartError([f"another process listens on {path}; stop it or give another endpoint"], unavailable=True)


def _is_live(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_PROBE_TIMEOUT)
        try:
            probe.connect(path)
        except (TimeoutError, BlockingIOError):
            # A listener whose backlog is full neither accepts nor refuses: it lives.
            return True
        except OSError as error:
            if error.errno in {errno.ECONNREFUSED, errno.ENOENT}:
                return False
            raise StartError([f"{path} cannot be probed ({error.strerror})"], unavailable=True) from error
    return True


def _remove_stale(path: str, dead: Identity) -> bool:
    """
    Remove a socket that was found dead, by renaming first and looking at what was renamed.

    False: another file was there by now; it is back in its place.
    """
    aside = f"{path}.{uuid.uuid4().hex[:8]}"
    try:
        Path(path).rename(aside)
    except FileNotFoundError:
        return True
    except OSError as error:
        text = f"the stale socket {path} cannot be removed ({error.strerror})"
        raise StartError([text], unavailable=True) from error
    is_dead = is_own(aside, dead)
    if not is_dead:
        # A link is refused where a rename would take the place of a third one's socket.
        _try_link(aside, path)
    Path(aside).unlink()
    return is_dead


def _try_link(path: str, name: str) -> bool:
    try:
        os.link(path, name)
    except OSError:
        return False
    return True


def _group_id(group: str) -> int:
    if group.isdecimal():
        return int(group)
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        raise StartError([f"socket group {group} is not known on this system"]) from None


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """
    Hold off other providers that start on the same path, whatever language they are written in.

    The lock is a socket in Linux' abstract namespace: it leaves no file, and ends with its process however that ends. By the
    directory itself and not by its name: containers see one directory under different paths, and different ones under one.
    """
    if sys.platform != "linux":
        yield
        return
    directory = Path(path).parent.stat()
    digest = hashlib.sha256(f"{directory.st_dev}/{directory.st_ino}/{Path(path).name}".encode()).hexdigest()
    name = f"\0cloudwire-provider-{digest[:32]}"
    with socket.socket(socket.AF_UNIX) as lock:
        end = time.monotonic() + _LOCK_MAX_WAIT
        while time.monotonic() < end:
            try:
                lock.bind(name)
                lock.listen(1)
                break
            except OSError:
                # Held for too long: the look at the socket has to decide.
                time.sleep(_LOCK_RETRY)
        yield
