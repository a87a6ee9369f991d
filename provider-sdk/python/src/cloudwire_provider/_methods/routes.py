"""Serves the RPCs about routes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from cloudwire_provider import v1
from cloudwire_provider._methods.lists import PagedList
from cloudwire_provider._methods.lookup import note_item_error
from cloudwire_provider._methods.results import operation
from cloudwire_provider._server.rules import answer_problem
from cloudwire_provider._server.runtime import MAX_SINGLES, Runtime
from cloudwire_provider._server.status import item_error
from cloudwire_provider._state.change_serializer import Change, ChangeSerializer, SequenceFence
from cloudwire_provider._telemetry.call_recorder import Call, CallRecorder
from cloudwire_provider.context import RouteContext
from cloudwire_provider.errors import ProviderError
from cloudwire_provider.results import Pending

RequestT = TypeVar("RequestT", v1.BatchEnsureRoutesRequest, v1.BatchDeleteRoutesRequest)

_DEFAULT_MAX_PAGE_SIZE = 500

Answers = Sequence[Any]
ChangeRoutes = Callable[[Sequence[v1.Route], RouteContext, CallRecorder], Awaitable[Answers]]


class RouteService:
    """Serves lists and changes of routes."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._handlers = runtime.provider.routes
        self._limit = asyncio.Semaphore(MAX_SINGLES)
        self._serializer: ChangeSerializer[Any] = ChangeSerializer()
        self._fence = SequenceFence()
        self.pages: PagedList[v1.Route] = PagedList(
            runtime,
            self._handlers.list.function,
            runtime.capabilities.routes.max_page_size or _DEFAULT_MAX_PAGE_SIZE,
            lambda route, _cluster: self._completed(route, None),
            lambda recorder: RouteContext(recorder, v1.ChangeContext()),
        )

    async def list(self, request: v1.ListRoutesRequest, call: Call) -> v1.ListRoutesResponse:
        """Answer one page."""
        page = await self.pages.page(request, call)
        return v1.ListRoutesResponse(
            routes=page.items,
            next_page_token=page.next_page_token,
            complete=page.complete,
            scope_id=self._runtime.known_scope(),
            quota=page.recorder.route_quota,
            stats=page.stats,
        )

    async def ensure(self, request: v1.BatchEnsureRoutesRequest, call: Call) -> v1.BatchEnsureRoutesResponse:
        """Make routes exist."""
        answer = await self._in_turn(request, call, "ensure", self._ensure_mine)
        return v1.BatchEnsureRoutesResponse(**answer)

    async def delete(self, request: v1.BatchDeleteRoutesRequest, call: Call) -> v1.BatchDeleteRoutesResponse:
        """Make routes be gone."""
        answer = await self._in_turn(request, call, "delete", self._delete)
        return v1.BatchDeleteRoutesResponse(**answer)

    async def _ensure_mine(self, routes: Sequence[v1.Route], context: RouteContext, recorder: CallRecorder) -> Answers:
        """Refuse routes to instances of other providers one by one; the provider sees the rest."""
        mine = [route for route in routes if self._runtime.provider.cloud_id(route.target_provider_id)]
        many, one = self._handlers.ensure_many.function, self._handlers.ensure.function
        given = await self._all(mine, context, recorder, many, one) if mine else []
        left = iter(given)
        return [
            next(left) if self._runtime.provider.cloud_id(route.target_provider_id) else _foreign_target(route)
            for route in routes
        ]

    async def _delete(self, routes: Sequence[v1.Route], context: RouteContext, recorder: CallRecorder) -> Answers:
        many, one = self._handlers.delete_many.function, self._handlers.delete.function
        answers = await self._all(routes, context, recorder, many, one)
        # None says that the route is gone.
        return [asked if answer is None else answer for asked, answer in zip(routes, answers, strict=True)]

    async def _all(
        self,
        routes: Sequence[v1.Route],
        context: RouteContext,
        recorder: CallRecorder,
        many: Callable[..., Any] | None,
        one: Callable[..., Any] | None,
    ) -> Answers:
        if many is None:
            return await asyncio.gather(*(self._one(route, context, recorder, one) for route in routes))
        answers: Answers = await self._runtime.run(many, recorder, routes, context)
        if len(answers) != len(routes):
            text = f"the provider answered {len(answers)} items to {len(routes)} routes"
            raise ProviderError("INVARIANT_BROKEN", text)
        return answers

    async def _one(
        self, route: v1.Route, context: RouteContext, recorder: CallRecorder, handler: Callable[..., Any] | None
    ) -> Any:
        try:
            async with self._limit:
                return await self._runtime.run(handler, recorder, route, context)
        except Exception as error:  # noqa: BLE001 - it is the item's outcome
            return error

    async def _in_turn(self, request: RequestT, call: Call, kind: str, work: ChangeRoutes) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            recorder = self._runtime.recorder(request.context, call)
            context = RouteContext(recorder, request.change)
            answers = await self._unless_superseded(request, context, recorder, work)
            results = [
                self._result(answer, asked, recorder) for answer, asked in zip(answers, request.routes, strict=True)
            ]
            planned = recorder.planned_changes
            return {
                "results": results,
                "quota": recorder.route_quota,
                "planned_changes": planned,
                "stats": recorder.stats(),
            }

        if request.change.validate_only:
            return await run()
        digest = hashlib.sha256(request.SerializeToString(deterministic=True)).hexdigest()
        change_id = request.change.request_id
        # Different changes run side by side: which routes they touch is the controller's to keep apart.
        change = Change(change_id, change_id, f"{kind} {digest}", run, _is_final)
        answer: dict[str, Any] = await self._serializer.run(change)
        return answer

    async def _unless_superseded(
        self, request: RequestT, context: RouteContext, recorder: CallRecorder, work: ChangeRoutes
    ) -> Answers:
        """Refuse routes that a newer change has passed one by one; the provider sees the rest."""
        sequence = 0 if request.change.validate_only else request.change.sequence
        keys = [f"{request.context.cluster.id} {route.destination_cidr}" for route in request.routes]
        superseded = [self._fence.superseded(key, sequence) for key in keys]
        current = [route for route, late in zip(request.routes, superseded, strict=True) if late is None]
        for key, late in zip(keys, superseded, strict=True):
            if late is None:
                self._fence.begin(key, sequence)
        left = iter(await work(current, context, recorder) if current else [])
        return [next(left) if late is None else late for late in superseded]

    def _result(self, answer: Any, asked: v1.Route, recorder: CallRecorder) -> v1.RouteResult:
        if isinstance(answer, Exception):
            error = note_item_error(answer, recorder, mutation=True)
            return v1.RouteResult(error=item_error(error))
        if isinstance(answer, Pending):
            return v1.RouteResult(operation=operation(answer))
        if not isinstance(answer, v1.Route):
            text = f"the provider answered {type(answer).__name__}, no route"
            return v1.RouteResult(error=item_error(ProviderError("INVARIANT_BROKEN", text)))
        route = self._completed(answer, asked)
        problem = answer_problem(route)
        return v1.RouteResult(error=item_error(problem)) if problem else v1.RouteResult(route=route)

    def _completed(self, answer: v1.Route, asked: v1.Route | None) -> v1.Route:
        """Return a route as it travels, under the provider ID by which its target is known to Kubernetes."""
        if not isinstance(answer, v1.Route):
            msg = "a Route was expected"
            raise TypeError(msg)
        provider = self._runtime.provider
        route = v1.Route()
        route.CopyFrom(answer)
        if asked is not None:
            route.target_provider_id = route.target_provider_id or asked.target_provider_id
            route.target_node_name = route.target_node_name or asked.target_node_name
            route.name_hint = route.name_hint or asked.name_hint
        if route.target_provider_id:
            prefix = provider.prefix_of(asked.target_provider_id) if asked else None
            # A delete is answered with the route as it was asked for, whatever its target.
            if answer is not asked:
                route.target_provider_id = provider.complete_id(route.target_provider_id, prefix)
        return route


def _foreign_target(route: v1.Route) -> ProviderError:
    text = f"{route.target_provider_id} is not a machine of this provider"
    return ProviderError("ROUTE_TARGET_NOT_FOUND", text)


def _is_final(answer: dict[str, Any]) -> bool:
    return all(result.WhichOneof("outcome") == "route" for result in answer["results"])
