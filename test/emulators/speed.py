"""Where moto takes seconds for what needs none. It answers the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moto.core.serialize import AttributePickerContext, XFormedAttributePicker
from moto.core.utils import get_value
from moto.ec2.models.amis import AmiBackend

_MISSING = object()

_describe_images = AmiBackend.describe_images


def hasten() -> None:
    """Change moto in this process."""
    known: dict[tuple[object, ...], tuple[list[str], Callable[[Any], Any] | None]] = {}

    def pick(picker: XFormedAttributePicker, context: AttributePickerContext) -> Any:
        """Remember by which names a member may be had, and what it goes through: moto finds that for each value."""
        shape = context.shape
        service = context.service_model.service_name if context.service_model else None
        place = (service, context.key_path, context.key, shape.name, type(context.obj))
        if place not in known:
            known[place] = (list(picker.get_possible_keys(context)), _transformer(picker, context))
        keys, transform = known[place]
        found = (get_value(context.obj, key, _MISSING) for key in keys)
        value = next((value for value in found if value is not _MISSING), None)
        return value if transform is None else transform(value)

    setattr(XFormedAttributePicker, "__call__", pick)  # noqa: B010  # an assignment is no method to the type checker
    setattr(AmiBackend, "describe_images", _images)  # noqa: B010  # likewise


def _transformer(picker: XFormedAttributePicker, context: AttributePickerContext) -> Callable[[Any], Any] | None:
    path = f"{context.key_path}.{context.key}"
    return next((act for end, act in picker.response_transformers.items() if path.endswith(end)), None)


def _images(backend: AmiBackend, ami_ids: Any = None, filters: Any = None, *more: Any, **others: Any) -> list[Any]:
    """Find the image of a new machine by its id; moto compares all images with it, for each machine."""
    if ami_ids or more or any(others.values()) or not filters or list(filters) != ["image-id"]:
        return _describe_images(backend, ami_ids, filters, *more, **others)
    wanted = filters["image-id"]
    image = backend.amis.get(wanted) if isinstance(wanted, str) else None
    return _describe_images(backend, ami_ids, filters) if image is None else [image]
