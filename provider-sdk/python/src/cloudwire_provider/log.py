"""Log lines in JSON, through Python's `logging`, with secrets redacted."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from datetime import datetime, timezone
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

_REDACTED = "***"
# Keys under which libraries and vendors keep credentials.
_SECRET_KEYS = ("authorization", "password", "passwd", "secret", "token", "api_key", "apikey", "private_key", "cookie")
_MAX_DEPTH = 8
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
# What logging itself keeps in a record; the rest came with `extra`.
_OWN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

root = logging.getLogger("cloudwire_provider")
"""The logger of the SDK and of its contexts."""


class Log(logging.LoggerAdapter[logging.Logger]):
    """A logger that adds fields to every line: `context.log.info("Made a pool", extra={"pool": pool.id})`."""

    def __init__(self, logger: logging.Logger, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(logger, dict(facts or {}))

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Add the fields of the logger to those of the line."""
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs

    def child(self, **facts: Any) -> Log:
        """Return a logger that adds these fields to every line."""
        return Log(self.logger, {**(self.extra or {}), **facts})


class JsonFormatter(logging.Formatter):
    """One JSON object per line: `time`, `level`, `message`, then the fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Make the line; a field that cannot be written never fails a call."""
        level = "warn" if record.levelno == logging.WARNING else record.levelname.lower()
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": level,
            "message": record.getMessage(),
        }
        facts = {key: value for key, value in vars(record).items() if key not in _OWN}
        line.update({key: _plain(key, value, 0) for key, value in facts.items()})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _plain("error", record.exc_info[1], 0)
        return json.dumps(line, ensure_ascii=False, default=repr)


def configure(level: str) -> None:
    """Write JSON lines to standard error, unless the program has set up logging itself."""
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(JsonFormatter())
        logging.getLogger().addHandler(handler)
    root.setLevel(_LEVELS[level])


def debug_switch() -> Callable[[Log], None]:
    """Return a function that toggles debug lines."""
    usual = root.level

    def switch(log: Log) -> None:
        on = root.level != logging.DEBUG
        root.setLevel(logging.DEBUG if on else usual)
        log.warning("Debug lines are on" if on else "Debug lines are off again", extra={"signal": "SIGUSR2"})

    return switch


def is_level(text: str) -> bool:
    """Return whether a text is a log level."""
    return text in _LEVELS


def _plain(key: str, value: Any, depth: int) -> Any:
    if any(word in key.lower() for word in _SECRET_KEYS):
        return _REDACTED
    if isinstance(value, BaseException):
        return {
            "name": type(value).__name__,
            "message": str(value),
            "stack": "".join(traceback.format_exception(value)),
        }
    if isinstance(value, Message):
        return redacted(value)
    if depth >= _MAX_DEPTH:
        return repr(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(str(name), item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain("", item, depth + 1) for item in value]
    return value


def redacted(message: Message) -> Any:
    """Return a message as plain values, with the fields that the contract marks as sensitive replaced."""
    return _without_sensitive(message, MessageToDict(message, preserving_proto_field_name=True))


def _without_sensitive(message: Message, plain: dict[str, Any]) -> dict[str, Any]:
    from cloudwire_provider._server.rules import is_map, is_sensitive  # noqa: PLC0415 - the rules log nothing, but import much

    for field, value in message.ListFields():
        if is_sensitive(field):
            plain[field.name] = _REDACTED
        elif field.message_type is None or is_map(field) or field.message_type.full_name.startswith("google."):
            continue
        elif isinstance(plain[field.name], list):
            plain[field.name] = [_without_sensitive(*pair) for pair in zip(value, plain[field.name], strict=True)]
        else:
            plain[field.name] = _without_sensitive(value, plain[field.name])
    return plain
