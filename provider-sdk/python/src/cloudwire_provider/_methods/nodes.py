"""Turns node selections, however they travel, into the one thing that a provider sees: the whole list."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

from cloudwire_provider import v1
from cloudwire_provider._server.rules import quote
from cloudwire_provider._state.lru import Lru
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.requests import NodesDiff

# Where the provider declares nothing. Contract: Limits.max_inline_nodes.
_DEFAULT_MAX_INLINE = 15_000
# An upload whose caller went away is dropped after this many seconds.
_STAGING_MAX_AGE = 600.0
# Load balancers whose nodes are remembered; beyond it a node change costs one full list again.
_MAX_LOAD_BALANCERS = 10_000


class NodeList:
    """Nodes at one fingerprint. Many load balancers share one list."""

    def __init__(self, fingerprint: str, nodes: Sequence[v1.TargetNode]) -> None:
        self.fingerprint = fingerprint
        self.nodes = nodes
        self.by_id = {node.provider_id: node for node in nodes}


@dataclass
class _Staging:
    head: v1.ApplyNodeSetRequest
    chunks: dict[int, v1.ApplyNodeSetRequest] = field(default_factory=dict)


class NodeSets:
    """Keeps node sets: chunks are staged in any order; nothing is visible before the last missing one, then all is."""

    def __init__(self, max_sets: int) -> None:
        self._sets: Lru[NodeList] = Lru(max_sets)
        self._staged: Lru[_Staging] = Lru(max_sets, _STAGING_MAX_AGE)

    def get(self, set_id: str) -> NodeList | None:
        """Return the set in force."""
        return self._sets.get(set_id)

    def apply(self, chunk: v1.ApplyNodeSetRequest) -> v1.ApplyNodeSetResponse:
        """Take one chunk; raises NODE_SET_BASE_MISMATCH or NODE_SET_INTEGRITY and then commits nothing."""
        set_id = chunk.node_set_id
        held = self._sets.get(set_id)
        if held and held.fingerprint == chunk.target_fingerprint and len(held.nodes) == chunk.target_count:
            self._staged.remove(set_id)
            return _state_of(held, committed=True)
        _require_base(chunk, held)
        staging = self._staged.get(set_id)
        if staging is None or not _same_upload(staging.head, chunk):
            # A chunk of another upload of the same set starts over.
            staging = _Staging(chunk)
        staging.chunks[chunk.chunk_index] = chunk
        self._staged.set(set_id, staging)
        if len(staging.chunks) < chunk.chunk_count:
            return _state_of(held, committed=False)
        self._staged.remove(set_id)
        made = _build(staging, held)
        self._sets.set(set_id, made)
        return _state_of(made, committed=True)


class NodeResolver:
    """Finds the nodes of selections, and remembers those of each load balancer for `unchanged` and for differences."""

    def __init__(self, max_inline: int, max_sets: int) -> None:
        self.sets = NodeSets(max_sets)
        self._max_inline = max_inline or _DEFAULT_MAX_INLINE
        self._acknowledged: Lru[NodeList] = Lru(_MAX_LOAD_BALANCERS)
        # Equal lists are kept once; the load balancers keep them alive.
        self._lists: weakref.WeakValueDictionary[str, NodeList] = weakref.WeakValueDictionary()

    def resolve(self, key: str, selection: v1.NodeSelection) -> NodeList:
        """Return the nodes of a selection; raises rather than answer "none" for one that cannot be resolved."""
        found = self._find(key, selection)
        if len(found.nodes) != selection.count:
            text = f"nodes.count is {selection.count}, but the selection has {len(found.nodes)} nodes; send them whole"
            raise ProviderError("NODE_SET_INTEGRITY", text, field="nodes.count")
        return found

    def diff(self, key: str, wanted: NodeList) -> NodesDiff | None:
        """What distinguishes these nodes from those that a load balancer has; None: they are not known."""
        before = self._acknowledged.get(key)
        return None if before is None else diff_nodes(before, wanted)

    def acknowledge(self, key: str, wanted: NodeList) -> None:
        """Remember that a load balancer has these nodes."""
        known = self._lists.get(wanted.fingerprint)
        if known is None or len(known.nodes) != len(wanted.nodes):
            self._lists[wanted.fingerprint] = known = wanted
        self._acknowledged.set(key, known)

    def forget(self, key: str) -> None:
        """Forget a load balancer."""
        self._acknowledged.remove(key)

    def _find(self, key: str, selection: v1.NodeSelection) -> NodeList:
        source = selection.WhichOneof("source")
        if source == "inline":
            return NodeList(selection.fingerprint, self._inline(selection.inline.nodes))
        if source == "node_set_id":
            return self._from_set(selection.node_set_id, selection.fingerprint)
        if source == "unchanged":
            return self._unchanged(key, selection.fingerprint)
        raise ProviderError("FIELD_MISSING", "nodes.source is required", field="nodes.source")

    def _inline(self, nodes: Sequence[v1.TargetNode]) -> Sequence[v1.TargetNode]:
        path = "nodes.inline.nodes"
        if len(nodes) > self._max_inline:
            text = f"{path} has {len(nodes)} nodes; at most {self._max_inline} are taken"
            raise ProviderError("FIELD_TOO_LARGE", text, field=path)
        first_at: dict[str, int] = {}
        for index, node in enumerate(nodes):
            earlier = first_at.setdefault(node.provider_id, index)
            if earlier != index:
                name = f"{path}[{index}].provider_id"
                text = f"{name} is {quote(node.provider_id)}, as {path}[{earlier}] is already"
                raise ProviderError("FIELD_INVALID", text, field=name)
        return list(nodes)

    def _from_set(self, set_id: str, fingerprint: str) -> NodeList:
        held = self.sets.get(set_id)
        if held is not None and held.fingerprint == fingerprint:
            return held
        state = f"held at fingerprint {quote(held.fingerprint)}" if held else "not known here"
        text = f"node set {quote(set_id)} is {state}; upload it at {quote(fingerprint)}"
        metadata = {"node_set_id": set_id, "fingerprint": held.fingerprint if held else ""}
        raise ProviderError("NODE_SET_UNKNOWN", text, metadata=metadata)

    def _unchanged(self, key: str, fingerprint: str) -> NodeList:
        known = self._acknowledged.get(key)
        if known is not None and known.fingerprint == fingerprint:
            return known
        state = f"have fingerprint {quote(known.fingerprint)}" if known else "are not known here"
        text = f"the nodes of this load balancer {state}, not {quote(fingerprint)}; send them whole"
        metadata = {"fingerprint": known.fingerprint if known else ""}
        raise ProviderError("NODES_FINGERPRINT_MISMATCH", text, metadata=metadata)


def diff_nodes(before: NodeList, after: NodeList) -> NodesDiff:
    """What distinguishes two lists, by provider ID."""
    if before is after:
        return NodesDiff([], [], [])
    old, new = before.by_id, after.by_id
    return NodesDiff(
        added=[node for node_id, node in new.items() if node_id not in old],
        removed=[node for node_id, node in old.items() if node_id not in new],
        changed=[node for node_id, node in new.items() if node_id in old and old[node_id] != node],
    )


def _state_of(held: NodeList | None, *, committed: bool) -> v1.ApplyNodeSetResponse:
    return v1.ApplyNodeSetResponse(
        fingerprint=held.fingerprint if held else "",
        count=len(held.nodes) if held else 0,
        committed=committed,
    )


def _require_base(chunk: v1.ApplyNodeSetRequest, held: NodeList | None) -> None:
    if not chunk.base_fingerprint or (held and held.fingerprint == chunk.base_fingerprint):
        return
    state = f"at fingerprint {quote(held.fingerprint)}" if held else "not known here"
    text = (
        f"node set {quote(chunk.node_set_id)} is {state}, "
        f"the difference is against {quote(chunk.base_fingerprint)}; upload it whole"
    )
    raise ProviderError("NODE_SET_BASE_MISMATCH", text, metadata={"fingerprint": held.fingerprint if held else ""})


def _same_upload(left: v1.ApplyNodeSetRequest, right: v1.ApplyNodeSetRequest) -> bool:
    def facts(chunk: v1.ApplyNodeSetRequest) -> tuple[str, str, int, int]:
        return chunk.base_fingerprint, chunk.target_fingerprint, chunk.chunk_count, chunk.target_count

    return facts(left) == facts(right)


def _build(staging: _Staging, held: NodeList | None) -> NodeList:
    head = staging.head
    nodes = dict(held.by_id) if held and head.base_fingerprint else {}
    for chunk in staging.chunks.values():
        for node_id in chunk.removed_provider_ids:
            nodes.pop(node_id, None)
    for chunk in staging.chunks.values():
        nodes.update((node.provider_id, node) for node in chunk.upserts)
    if len(nodes) != head.target_count:
        text = (
            f"node set {quote(head.node_set_id)} would have {len(nodes)} nodes "
            f"instead of {head.target_count}; upload it whole"
        )
        metadata = {"count": str(len(nodes)), "target_count": str(head.target_count)}
        raise ProviderError("NODE_SET_INTEGRITY", text, metadata=metadata)
    return NodeList(head.target_fingerprint, list(nodes.values()))
