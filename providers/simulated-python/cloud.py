"""The client of the simulated cloud, and what its refusals mean in the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from cloudwire_provider import BackgroundContext, ErrorDetails, HttpResponse, ProviderError, v1

OWNERSHIP_PREFIX = "cloudwire.dev/"
"""Prefix of the provider's ownership tags, which tags of users must not have."""
CLUSTER_TAG = f"{OWNERSHIP_PREFIX}cluster-id"
CLUSTER_NAME_TAG = f"{OWNERSHIP_PREFIX}cluster-name"

# By the cloud's own word first: its 403 is a quota as well as a right.
_REASONS = {
    "InvalidRequest": "FIELD_INVALID",
    "PortNotPermitted": "FIELD_INVALID",
    "NameInUse": "OPERATION_IN_PROGRESS",
    "AddressInUse": "ADDRESS_IN_USE",
    "RouteExists": "CIDR_CONFLICT",
    "InstanceNotFound": "ROUTE_TARGET_NOT_FOUND",
    "LoadBalancerNotFound": "OPERATION_IN_PROGRESS",
    "InvalidState": "NOT_READY",
    "ResourceProtected": "DELETION_PROTECTED",
    "RevisionMismatch": "OPERATION_IN_PROGRESS",
    "QuotaExceeded": "QUOTA_EXCEEDED",
    "AddressPoolExhausted": "QUOTA_EXCEEDED",
}


class Cloud:
    """The cloud of one account. The context of the call counts, cancels and classifies each request."""

    def __init__(self, url: str, key: Callable[[], str], call_timeout: float) -> None:
        """`key` is asked for at each request, so that a new one needs no restart. `call_timeout`: of one, in seconds."""
        self._url = url
        self._key = key
        self._call_timeout = call_timeout
        self._account = ""

    def scope(self, context: BackgroundContext) -> str:
        """Return the account that the key belongs to."""
        self._account = str(self.ask(context, "GET", "/v1/account")["id"])
        return f"simcloud/{self._account}"

    def ask(self, context: BackgroundContext, method: str, path: str, body: Any = None, *, reads: bool = False) -> Any:
        """Send one request; raises ProviderError with the cloud's own words where it refuses."""
        headers = {"authorization": f"Bearer {self._key()}"}
        mutation = False if reads else None
        answer = context.fetch(
            self._url + path,
            method=method,
            json=body,
            headers=headers,
            timeout=self._call_timeout,
            mutation=mutation,
        )
        if answer.status >= 400:
            raise _refusal(answer)
        return answer.json() if answer.body else None

    def read_all(self, context: BackgroundContext, path: str, **query: Any) -> Iterator[Mapping[str, Any]]:
        """Yield all pages of a list, read from the primary: only that proves what there is not."""
        token = ""
        while True:
            asked = urlencode({"consistent": "true", "pageSize": "500", **query}, doseq=True)
            page = self.ask(
                context, "GET", f"{path}?{asked}" + (f"&{urlencode({'pageToken': token})}" if token else "")
            )
            self.require_own(page)
            yield page
            token = page.get("nextPageToken", "")
            if not token:
                return

    def read_complete(self, context: BackgroundContext, path: str, **query: Any) -> list[Any]:
        """Return all items of a list; raises when the cloud could not read a part of them."""
        items: list[Any] = []
        for page in self.read_all(context, path, **query):
            require_complete(page)
            items += page["items"]
        return items

    def require_own(self, answer: Mapping[str, Any]) -> None:
        """Refuse an answer about another account: the key was given away, and what it lacks is not absent from ours."""
        if self._account and answer["account"] != self._account:
            text = f"the API key now belongs to account {answer['account']}, this provider works in {self._account}"
            raise ProviderError("SCOPE_MISMATCH", text)


def require_complete(answer: Mapping[str, Any]) -> None:
    """Refuse an answer that proves nothing about what it lacks."""
    zones: Sequence[str] = answer["unreachable"]["zones"]
    if zones:
        raise ProviderError("ZONE_UNREACHABLE", f"zone {zones[0]} cannot be read", metadata={"zone": zones[0]})
    if answer["consistency"] != "strong":
        raise ProviderError("INCOMPLETE_ANSWER", "the response came from a replica that may lag")


def cluster_tags(cluster: v1.ClusterRef) -> dict[str, str]:
    """Return the tags that say whose a cloud object is."""
    return {CLUSTER_TAG: cluster.id, **({CLUSTER_NAME_TAG: cluster.name} if cluster.name else {})}


def ownership_problem(kind: str, found: Mapping[str, Any], cluster: v1.ClusterRef) -> ProviderError | None:
    """Say why an object may not be touched for this cluster."""
    owner, tags = found["tags"].get(CLUSTER_TAG), found["tags"]
    if owner == cluster.id:
        return None
    if owner is None:
        text = f"{kind} {found['id']} has the name {found['name']} but no ownership tags"
        return ProviderError("NAME_TAKEN", text, metadata={"name": found["name"], "id": found["id"]})
    name = tags.get(CLUSTER_NAME_TAG, "")
    metadata = {"owner_cluster_id": owner, "owner_cluster_name": name, "id": found["id"]}
    text = f"{kind} {found['id']} belongs to cluster {name or owner}"
    return ProviderError("OWNED_BY_ANOTHER_CLUSTER", text, metadata=metadata)


def item_error(refusal: Mapping[str, str]) -> ProviderError:
    """Say what the refusal of one item of many means: what the same refusal of a whole call means."""
    return ProviderError(_REASONS.get(refusal["code"], "INVARIANT_BROKEN"), f"{refusal['code']}: {refusal['message']}")


def _refusal(answer: HttpResponse) -> Exception:
    try:
        refusal = answer.json()
        reason = _REASONS.get(refusal["code"])
    except (ValueError, KeyError, TypeError):
        reason = None
    if reason is not None:
        text = f"{answer.method} {answer.url}: {refusal['code']}: {refusal['message']}"
        details = ErrorDetails(quota=("account", refusal["message"])) if reason == "QUOTA_EXCEEDED" else None
        return ProviderError(reason, text, details=details)
    # The SDK knows what HTTP's status and Retry-After mean.
    try:
        answer.raise_for_status()
    except Exception as error:  # noqa: BLE001 - handed on
        return error
    return RuntimeError("unreachable")
