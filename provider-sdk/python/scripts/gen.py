"""Writes src/cloudwire_provider/gen from the .proto files: messages, their types, a client, and the descriptor set."""

import ast
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PROTO = HERE.parent.parent / "proto"
PACKAGE = "cloudwire_provider.gen"
GEN = HERE / "src" / "cloudwire_provider" / "gen"
SERVICE = "cloud_provider"
NOT_FOR_VENDORS = {"options", SERVICE}
HEADER = "# Generated from the .proto files by `npm run gen`. Do not edit.\n"


def main() -> None:
    """Regenerate everything."""
    shutil.rmtree(GEN, ignore_errors=True)
    GEN.mkdir(parents=True)
    sources = sorted(path.relative_to(PROTO).as_posix() for path in (PROTO / "cloudprovider" / "v1").glob("*.proto"))
    protoc(sources, "--python_out", "--mypy_out")
    protoc([f"cloudprovider/v1/{SERVICE}.proto"], "--grpc_python_out", "--mypy_grpc_out")
    for path in sorted(GEN.rglob("*.py*")):
        path.write_text(inside_package(path.read_text()))
    for directory in [GEN, GEN / "cloudprovider", GEN / "cloudprovider" / "v1"]:
        (directory / "__init__.py").write_text(HEADER)
    (GEN / "v1.py").write_text(names_of_all_messages())
    descriptor_set()


def protoc(sources: list[str], *outputs: str) -> None:
    """Runs the compiler of grpcio-tools; generators are those of this environment."""
    scripts = sysconfig.get_path("scripts")
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}"]
    command += [f"--plugin={tool}={scripts}/{tool}" for tool in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    targets = [f"{output}={'quiet:' if 'mypy' in output else ''}{GEN}" for output in outputs]
    subprocess.run([*command, *targets, *sources], check=True)


def inside_package(text: str) -> str:
    """The same module, importing its neighbors from within the package: no top-level name is taken."""
    text = re.sub(r"^(from|import) cloudprovider\b", rf"\1 {PACKAGE}.cloudprovider", text, flags=re.MULTILINE)
    return re.sub(r"(?<![\w./])cloudprovider\.v1\.(\w+_pb2)\b", rf"{PACKAGE}.cloudprovider.v1.\1", text)


def names_of_all_messages() -> str:
    """One module with every message and enum value of the contract."""
    lines = [HEADER, '"""Every message and enum value of cloudprovider.v1, under one roof."""\n\n']
    exported: list[str] = []
    for path in sorted((GEN / "cloudprovider" / "v1").glob("*_pb2.pyi")):
        if path.name.removesuffix("_pb2.pyi") in NOT_FOR_VENDORS:
            continue
        names = [name for name in top_level_names(path) if not name.startswith("_")]
        exported += names
        lines.append(f"from {PACKAGE}.cloudprovider.v1.{path.stem} import (\n")
        lines += [f"    {name},\n" for name in names]
        lines.append(")\n")
    lines += ["\n__all__ = [\n", *(f'    "{name}",\n' for name in sorted(exported)), "]\n"]
    return "".join(lines)


def top_level_names(path: Path) -> list[str]:
    """Classes and enum values that a type stub declares."""
    found: list[str] = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found.append(node.name)
        elif (
            isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and "TypeAlias" not in ast.dump(node)
        ):
            found.append(node.target.id)
    return sorted(name for name in found if name != "DESCRIPTOR")


def descriptor_set() -> None:
    """Health and reflection are served from descriptors, so that no other package's names are taken."""
    sources = ["cloudprovider/v1/cloud_provider.proto"]
    sources += ["grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto"]
    sources += ["grpc/reflection/v1alpha/reflection.proto"]
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", "--include_imports"]
    subprocess.run([*command, f"--descriptor_set_out={GEN}/descriptor_set.binpb", *sources], check=True)


if __name__ == "__main__":
    main()
