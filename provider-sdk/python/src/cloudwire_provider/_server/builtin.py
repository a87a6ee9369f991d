"""
Health and server reflection.

Their messages are made from descriptors in a pool of their own: the packages that ship them as modules would clash with those
of a vendor, and reflection v1 is in none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import lru_cache
from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import DecodeError, Message

from cloudwire_provider._server.rpc import Method, StreamMethod, UnaryMethod
from cloudwire_provider._server.runtime import draining
from cloudwire_provider._telemetry.call_recorder import Call
from cloudwire_provider.errors import ProviderError, VendorReason

HEALTH = "grpc.health.v1.Health"
REFLECTIONS = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")

_SERVING, _NOT_SERVING, _SERVICE_UNKNOWN = 1, 2, 3
_NOT_FOUND, _INVALID_ARGUMENT = 5, 3


@lru_cache(maxsize=1)
def _pool() -> Any:
    files = resources.files("cloudwire_provider.gen").joinpath("descriptor_set.binpb").read_bytes()
    # Any: its stubs are not typed.
    pool: Any = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(files).file:
        pool.Add(file)
    return pool


def message_class(full_name: str) -> Any:
    """Return the class of a message of health or reflection."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(full_name))


def health_methods(services: list[str], drain: asyncio.Event) -> list[Method]:
    """State of the process, not of the cloud: serving until it begins to shut down."""
    known = {"", *services}
    response = message_class("grpc.health.v1.HealthCheckResponse")

    def status(service: str) -> Message:
        state = _SERVICE_UNKNOWN if service not in known else _NOT_SERVING if drain.is_set() else _SERVING
        made: Message = response(status=state)
        return made

    async def check(request: Any, _call: Call) -> Message:
        if request.service not in known:
            reason = VendorReason("SERVICE_UNKNOWN", _NOT_FOUND, HEALTH)
            raise ProviderError(reason, f"{request.service[:128]} is not served here")
        return status(request.service)

    async def watch(request: Any, _call: Call) -> AsyncIterator[Message]:
        reported = status(request.service)
        yield reported
        await drain.wait()
        # The drain may have begun while the first was on its way.
        if (now := status(request.service)) != reported:
            yield now
        raise draining()

    request = message_class("grpc.health.v1.HealthCheckRequest")
    return [UnaryMethod("Check", request, mutation=False, work=check), StreamMethod("Watch", request, watch)]


def reflection_methods(service: str, services: list[str]) -> list[Method]:
    """
    Serve reflection.

    Answers hold the file asked for and everything it imports, well-known types included, so that a client
    never has to guess.
    """
    package = service.rpartition(".")[0]
    request_class = message_class(f"{package}.ServerReflectionRequest")
    response_class = message_class(f"{package}.ServerReflectionResponse")

    async def info(requests: Any, _call: Call) -> AsyncIterator[Message]:
        sent: set[str] = set()
        async for raw in requests:
            request = request_class()
            try:
                request.ParseFromString(raw)
            except DecodeError as error:
                raise ProviderError("FIELD_INVALID", "The request is not a valid protobuf message") from error
            response = response_class(valid_host=request.host, original_request=request)
            _answer(request, response, services, sent)
            yield response

    return [StreamMethod("ServerReflectionInfo", None, info, duplex=True)]


def _answer(request: Any, response: Any, services: list[str], sent: set[str]) -> None:
    asked = request.WhichOneof("message_request")
    if asked == "list_services":
        for name in services:
            response.list_services_response.service.add(name=name)
        return
    if asked is None:
        _fail(response, _INVALID_ARGUMENT, "the request asks for nothing")
        return
    try:
        if asked == "all_extension_numbers_of_type":
            _extension_numbers(request.all_extension_numbers_of_type, response)
        else:
            _files(_find(asked, request), response, sent)
    except (KeyError, UnicodeError):
        _fail(response, _NOT_FOUND, "what is asked for is not known")


def _find(asked: str, request: Any) -> FileDescriptor:
    pool = _pool()
    file: FileDescriptor
    if asked == "file_by_filename":
        file = pool.FindFileByName(request.file_by_filename)
        return file
    if asked == "file_containing_symbol":
        file = pool.FindFileContainingSymbol(request.file_containing_symbol)
        return file
    extension = request.file_containing_extension
    extended = pool.FindMessageTypeByName(extension.containing_type)
    file = pool.FindExtensionByNumber(extended, extension.extension_number).file
    return file


def _extension_numbers(type_name: str, response: Any) -> None:
    pool = _pool()
    answer = response.all_extension_numbers_response
    numbers = [extension.number for extension in pool.FindAllExtensions(pool.FindMessageTypeByName(type_name))]
    answer.base_type_name = type_name
    answer.extension_number.extend(sorted(numbers))


def _files(file: FileDescriptor, response: Any, sent: set[str]) -> None:
    """Put in the file asked for, always, and those of its imports that this stream has not carried yet."""
    pending, seen = [file], {file.name}
    while pending:
        current = pending.pop()
        if current is file or current.name not in sent:
            response.file_descriptor_response.file_descriptor_proto.append(current.serialized_pb)
        sent.add(current.name)
        for imported in current.dependencies:
            if imported.name not in seen:
                seen.add(imported.name)
                pending.append(imported)


def _fail(response: Any, code: int, text: str) -> None:
    response.error_response.error_code = code
    response.error_response.error_message = text
