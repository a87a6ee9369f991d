"""Where moto takes seconds for what needs none. It answers the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from botocore.model import Shape
from moto.core.serialize import AttributePickerContext, EC2Serializer, ResponseSerializer, XFormedAttributePicker
from moto.core.utils import get_value
from moto.ec2.models.amis import AmiBackend

_MISSING = object()

_get_value = ResponseSerializer.get_value
_describe_images = AmiBackend.describe_images


def hasten() -> None:
    """Change moto in this process."""
    known: dict[tuple[object, ...], tuple[list[str], Callable[[Any], Any] | None]] = {}

    def value_of(serializer: ResponseSerializer, value: Any, key: str, shape: Shape) -> Any:
        """Remember by which names a member may be had, and what it goes through: moto finds that for each value."""
        picker = serializer._value_picker  # noqa: SLF001  # there is no other way to what moto compares
        if not isinstance(picker, XFormedAttributePicker):
            return _get_value(serializer, value, key, shape)
        model = serializer.operation_model
        path = ".".join(serializer.path)
        place = (model.service_model.service_name, path, key, shape.name, type(value))
        if place not in known:
            context = AttributePickerContext(value, key, shape, model, model.service_model, path)
            known[place] = (list(picker.get_possible_keys(context)), _transformer(picker, f"{path}.{key}"))
        names, transform = known[place]
        found = None
        for name in names:
            found = get_value(value, name, _MISSING)
            if found is not _MISSING:
                break
        found = None if found is _MISSING else found
        return found if transform is None else transform(found)

    setattr(ResponseSerializer, "get_value", value_of)  # noqa: B010  # an assignment is no method to the type checker
    setattr(AmiBackend, "describe_images", _images)  # noqa: B010  # likewise
    setattr(EC2Serializer, "_serialize_body", lambda _, body: "".join(_xml(body)))  # noqa: B010  # likewise


def _transformer(picker: XFormedAttributePicker, path: str) -> Callable[[Any], Any] | None:
    return next((act for end, act in picker.response_transformers.items() if path.endswith(end)), None)


def _xml(body: dict[str, Any]) -> Iterator[str]:
    """Write a tree as xmltodict does, by which `@key` is an attribute, but without its callbacks for each element."""
    for name, value in body.items():
        for one in value if isinstance(value, list) else [value]:
            yield from _element(name, one)


def _element(name: str, value: Any) -> Iterator[str]:
    children = value if isinstance(value, dict) else {}
    attributes = "".join(f" {key[1:]}={quoteattr(str(each))}" for key, each in children.items() if key.startswith("@"))
    inner = {key: each for key, each in children.items() if not key.startswith("@")} if attributes else children
    content = "".join(_xml(inner)) if isinstance(value, dict) else _text(value)
    yield f"<{name}{attributes}>{content}</{name}>" if content else f"<{name}{attributes}/>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else escape(str(value))


def _images(backend: AmiBackend, ami_ids: Any = None, filters: Any = None, *more: Any, **others: Any) -> list[Any]:
    """Find the image of a new machine by its id; moto compares all images with it, for each machine."""
    if ami_ids or more or any(others.values()) or not filters or list(filters) != ["image-id"]:
        return _describe_images(backend, ami_ids, filters, *more, **others)
    wanted = filters["image-id"]
    image = backend.amis.get(wanted) if isinstance(wanted, str) else None
    return _describe_images(backend, ami_ids, filters) if image is None else [image]
