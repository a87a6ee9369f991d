"""The errors that a provider raises, and those with which it cannot be served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cloudwire_provider._server.contract import DOMAIN, REASONS

# Where the contract requires a delay and the cloud did not report one; seconds.
_DEFAULT_RETRY_AFTER = 5.0


@dataclass(frozen=True)
class FieldViolation:
    """One invalid field of a request; `field` in proto spelling: `spec.ports[2].protocol`."""

    field: str
    """Path of the field."""
    description: str
    """What is invalid, one sentence."""


@dataclass(frozen=True)
class VendorReason:
    """A vendor-specific reason, for cases that the contract does not define."""

    reason: str
    """UPPER_SNAKE_CASE."""
    code: int
    """gRPC code, 1 to 16; determines what the controller does."""
    domain: str
    """The vendor's DNS name."""


@dataclass(frozen=True)
class ErrorDetails:
    """Further details of an error, each sent as the `google.rpc` message of its name."""

    help: tuple[str, str] | None = None
    """Description and URL of further documentation."""
    quota: tuple[str, str] | None = None
    """Subject and description of the exhausted quota."""
    precondition: tuple[str, str, str] | None = None
    """Type, subject and description of the violated precondition."""
    resource: tuple[str, str, str] | None = None
    """Type, name and owner of the cloud object that the error refers to."""


class ProviderError(Exception):
    """
    The error that a provider raises, or returns for one item of a batch.

    The reason determines the gRPC code and what the controller does. The message is human-readable: what was tried, on what,
    what to do. No secrets; at most 1 KiB is sent. The underlying error (`raise … from error`) is logged, never sent.
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
        # A delay that is not positive is none: all callers would retry at the same time.
        asked = retry_after if retry_after is not None and retry_after > 0 else None
        self.retry_after = _DEFAULT_RETRY_AFTER if asked is None and must_wait else asked
        self.metadata = dict(metadata or {})
        self.details = details or ErrorDetails()

    @property
    def is_vendors(self) -> bool:
        """Whether the reason is vendor-specific."""
        return self.domain != DOMAIN

    @property
    def forbids_absence(self) -> bool:
        """Whether the error makes absences invalid: no permission, no cloud, no credentials, throttled. Contract: ABS-2."""
        return self.code in {7, 14, 16} or self.reason == "RATE_LIMITED"


class Cancelled(Exception):  # noqa: N818 - as asyncio.CancelledError: it is no failure
    """Raised in a handler by its context when the caller has canceled or the deadline has passed."""


class StartError(Exception):
    """Why a provider cannot be served. Its message contains every problem and its fix; it needs no traceback."""

    def __init__(self, problems: Sequence[str], *, unavailable: bool = False) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)
        self.exit_code = 69 if unavailable else 78
        """EX_UNAVAILABLE if the endpoint is unavailable, otherwise EX_CONFIG."""
