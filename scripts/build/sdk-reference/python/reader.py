"""
Prints what Python modules export as JSON: names, signatures and docstrings. Reads sources only and imports none of them.

    python3 scripts/build/sdk-reference/python/reader.py <directory of the sources> <module>...
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

Export = dict[str, Any]


class Module:
    """A module by its source."""

    def __init__(self, sources: Path, name: str) -> None:
        self.sources = sources
        self.name = name
        path = sources.joinpath(*name.split("."))
        self.path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        self.tree = ast.parse(self.path.read_text("utf-8"), str(self.path))

    def public_names(self) -> list[str]:
        """What `__all__` lists, or else what is defined here without underscore."""
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign) and _targets(statement) == ["__all__"]:
                return [
                    str(name)
                    for name in ast.literal_eval(statement.value)
                    if not name.startswith("__")
                ]
        return [
            name
            for statement in self.tree.body
            for name in _defined(statement)
            if not name.startswith("_")
        ]

    def export(self, name: str) -> Export:
        """Everything about one name, in whichever module it is defined."""
        body = self.tree.body
        for index, statement in enumerate(body):
            if name in _defined(statement):
                following = body[index + 1] if index + 1 < len(body) else None
                return self._inherited(_describe(name, statement, following), statement)
            if isinstance(statement, ast.ImportFrom) and statement.module is not None:
                for alias in statement.names:
                    if (alias.asname or alias.name) == name:
                        return self._imported(statement.module, alias.name)
        raise SystemExit(f"{self.path} does not define {name}")

    def _inherited(self, found: Export, statement: ast.stmt) -> Export:
        """A method that says nothing of itself does what the class above says."""
        if isinstance(statement, ast.ClassDef):
            own = {
                inner.name: inner
                for inner in self.tree.body
                if isinstance(inner, ast.ClassDef)
            }
            bases = [
                own[base.id]
                for base in statement.bases
                if isinstance(base, ast.Name) and base.id in own
            ]
            above = {
                member["name"]: member["doc"]
                for base in bases
                for member in _members(base)
            }
            for member in found["members"]:
                member["doc"] = member["doc"] or above.get(member["name"], "")
        return found

    def _imported(self, module: str, name: str) -> Export:
        inner = self.sources.joinpath(*module.split("."), name)
        if inner.is_dir() or inner.with_suffix(".py").is_file():
            doc = ast.get_docstring(Module(self.sources, f"{module}.{name}").tree)
            return _export(name, f"from {module} import {name}", doc)
        return Module(self.sources, module).export(name)


def _targets(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case (
            ast.ClassDef(name=name)
            | ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
        ):
            return [name]
    return _targets(statement)


def _export(
    name: str, signature: str, doc: str | None, members: list[Export] | None = None
) -> Export:
    return {
        "name": name,
        "signature": signature,
        "doc": doc or "",
        "members": members or [],
        "parts": [],
    }


def _describe(name: str, statement: ast.stmt, following: ast.stmt | None) -> Export:
    match statement:
        case ast.ClassDef():
            return _export(
                name,
                _class_head(statement),
                ast.get_docstring(statement),
                _members(statement),
            )
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _export(
                name, _function_head(statement), ast.get_docstring(statement)
            )
        case ast.Assign(value=ast.Name(id=meant)) if not _literal(following):
            return _export(name, ast.unparse(statement), f"Short for `{meant}`.")
    return _export(name, ast.unparse(statement), _literal(following))


def _class_head(statement: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(base) for base in statement.bases)
    decorators = "".join(
        f"@{ast.unparse(decorator)}\n" for decorator in statement.decorator_list
    )
    return (
        f"{decorators}class {statement.name}({bases})"
        if bases
        else f"{decorators}class {statement.name}"
    )


def _function_head(statement: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async def" if isinstance(statement, ast.AsyncFunctionDef) else "def"
    answer = f" -> {ast.unparse(statement.returns)}" if statement.returns else ""
    decorators = "".join(
        f"@{ast.unparse(decorator)}\n" for decorator in statement.decorator_list
    )
    return f"{decorators}{word} {statement.name}({ast.unparse(statement.args)}){answer}"


def _members(statement: ast.ClassDef) -> list[Export]:
    """Public fields and methods; `__init__` is documented with the class."""
    members = []
    for index, inner in enumerate(statement.body):
        following = (
            statement.body[index + 1] if index + 1 < len(statement.body) else None
        )
        for name in _defined(inner):
            if name == "__init__" and isinstance(inner, ast.FunctionDef):
                doc = ast.get_docstring(inner) or "Makes one."
                members.append(
                    {"name": name, "signature": _function_head(inner), "doc": doc}
                )
            elif not name.startswith("_"):
                described = _describe(name, inner, following)
                members.append(
                    {key: described[key] for key in ("name", "signature", "doc")}
                )
    return members


def _literal(statement: ast.stmt | None) -> str:
    """The text of a string that stands alone, as it documents what stands before it."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
    return ""


def main(sources: str, *modules: str) -> None:
    """Prints the packages as the page maker reads them."""
    packages = []
    for name in modules:
        module = Module(Path(sources), name)
        exports = [module.export(public) for public in module.public_names()]
        packages.append(
            {
                "name": name,
                "doc": ast.get_docstring(module.tree) or "",
                "exports": exports,
            }
        )
    json.dump(packages, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
