"""Turns what handlers answer into messages of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from cloudwire_provider import v1
from cloudwire_provider._server.status import MAX_MESSAGE_BYTES, duration, response_text
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.results import Absent, Pending

_MAX_POLL_AFTER = 60.0


def to_timestamp(moment: datetime | Timestamp) -> Timestamp:
    """Return a time in the contract's type. A time without zone is local, as everywhere in Python."""
    if isinstance(moment, Timestamp):
        return moment
    result = Timestamp()
    result.FromNanoseconds(round(moment.timestamp() * 1e9))
    return result


def absence(answer: Absent, call_time: Timestamp) -> v1.Absence:
    """An absence, observed when the call began unless the handler says when."""
    return v1.Absence(
        basis=v1.AbsenceBasis.Value(f"ABSENCE_BASIS_{answer.basis}"),
        observe_time=to_timestamp(answer.observe_time or call_time),
        strongly_consistent=answer.strongly_consistent,
    )


def operation(work: Pending) -> v1.Operation:
    """Work that goes on."""
    return v1.Operation(
        id=work.operation_id,
        stage=response_text(work.stage, 253),
        progress_percent=work.progress_percent,
        poll_after=duration(min(max(work.poll_after, 0.001), _MAX_POLL_AFTER)),
        message=response_text(work.message, MAX_MESSAGE_BYTES),
        start_time=to_timestamp(work.start_time) if work.start_time else None,
        expected_end_time=to_timestamp(work.expected_end_time) if work.expected_end_time else None,
    )


def refuse_absence(answer: Absent, errors: Sequence[ProviderError]) -> ProviderError | None:
    """
    Return the error that takes the place of an absence, if one was met on the way after which nothing may be called absent.

    A Node would be deleted because a firewall rule or a right was missing. Contract: ABS-2, ABS-5.
    """
    for error in errors:
        if error.forbids_absence:
            return error
    if answer.basis != "COMPLETE_LIST_MISS" or not errors:
        return None
    text = f"a list with an error in it is not complete: {errors[0].message}"
    return ProviderError("INCOMPLETE_ANSWER", text)
