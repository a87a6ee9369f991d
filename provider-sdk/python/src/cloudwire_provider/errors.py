"""The errors that a provider raises, and those with which it cannot be served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cloudwire_provider._server.contract import DOMAIN, REASONS

# Where the contract demands a wait and the cloud did not tell one.
_DEFAULT_RETRY_AFTER = 5.0


@dataclass(frozen=True)
class FieldViolation:
    """What is wrong with one field of a request; `field` in proto spelling: `spec.ports[2].protocol`."""

    field: str
    """Path of the field."""
    description: str
    """What is wrong with it, one sentence."""


@dataclass(frozen=True)
class VendorReason:
    """A reason of the vendor's own, for what the contract has no word for."""

    reason: str
    """UPPER_SNAKE_CASE."""
    code: int
    """gRPC code, 1 to 16: decides what the controller does."""
    domain: str
    """The vendor's DNS name."""


@dataclass(frozen=True)
class ErrorDetails:
    """Rarer facts about an error, each sent as the `google.rpc` message of its name."""

    help: tuple[str, str] | None = None
    """Description and URL of where the user can read on."""
    quota: tuple[str, str] | None = None
    """Subject and description of the quota that is used up."""
    precondition: tuple[str, str, str] | None = None
    """Type, subject and description of what stands in the way."""
    resource: tuple[str, str, str] | None = None
    """Type, name and owner of the cloud object it is about."""


class ProviderError(Exception):
    """
    The error that a provider raises, or answers for one item of many.

    The reason decides the gRPC code and what the controller does; the message is for people: what was tried, on what, what to
    do. No secrets; at most 1 KiB is sent. The error behind it (`raise … from error`) is logged, never sent.
    """

    def __init__(  # noqa: PLR0913 - each is a fact of its own, all by name
        self,
        reason: str | VendorReason,
        message: str,
        *,
        field: str | None = None,
        field_violations: Sequence[FieldViolation] = (),
        retry_after: float | None = None,
        metadata: Mapping[str, str] | None = None,
        details: ErrorDetails | None = None,
    ) -> None:
        """
        Make an error.

        `field`: path of the invalid field, shorthand for one of `field_violations` with the message as its description.
        `retry_after`: seconds to wait at least. Raises ValueError for a reason that is not in the contract.
        """
        super().__init__(message)
        self.message = message
        if isinstance(reason, VendorReason):
            self.reason, self.domain, self.code, must_wait = reason.reason, reason.domain, reason.code, False
        else:
            rule = REASONS.get(reason)
            if rule is None:
                msg = f"{reason} is no reason of the contract; use VendorReason for one of your own"
                raise ValueError(msg)
            self.reason, self.domain, self.code, must_wait = reason, DOMAIN, rule.code, rule.must_wait
        self.field_violations = [*([FieldViolation(field, message)] if field else []), *field_violations]
        self.retry_after = _DEFAULT_RETRY_AFTER if retry_after is None and must_wait else retry_after
        self.metadata = dict(metadata or {})
        self.details = details or ErrorDetails()

    @property
    def is_vendors(self) -> bool:
        """The reason is the vendor's own."""
        return self.domain != DOMAIN

    @property
    def forbids_absence(self) -> bool:
        """Nothing may be called absent after it: no right, no cloud, no credentials, no call left. Contract: ABS-2."""
        return self.code in {7, 14, 16} or self.reason == "RATE_LIMITED"


class Cancelled(Exception):  # noqa: N818 - as asyncio.CancelledError: it is no failure
    """Raised in a handler by its context when the caller has gone or the deadline has passed."""


class StartError(Exception):
    """Why a provider cannot be served. Its message names every problem and what to do; it needs no traceback."""

    def __init__(self, problems: Sequence[str], *, unavailable: bool = False) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)
        self.exit_code = 69 if unavailable else 78
        """EX_UNAVAILABLE when the endpoint cannot be had, else EX_CONFIG."""
