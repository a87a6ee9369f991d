"""What the SDK reads from the contract is what the contract's own generator says."""

import json
import re
from pathlib import Path

import pytest

from cloudwire_provider import load_balancer_key
from cloudwire_provider._server.contract import METHODS, REASONS

PROTO = Path(__file__).parent.parent.parent.parent / "proto"
VECTORS = json.loads((PROTO / "vectors" / "load-balancer-keys.json").read_text())["vectors"]


def test_methods_have_the_reasons_of_the_generated_table():
    rows = re.findall(r"^  (\w+): (\{.*\}),$", (PROTO / "gen" / "methods.ts").read_text(), re.MULTILINE)
    wanted = {name: json.loads(row) for name, row in rows}
    found = {name: (sorted(rule.reasons), sorted(rule.item_reasons)) for name, rule in METHODS.items()}
    assert found == {name: (sorted(row["reasons"]), sorted(row["itemReasons"])) for name, row in wanted.items()}
    # ApplyNodeSet changes the provider's memory only, but its outcome is as open as that of a change.
    assert {name for name, rule in METHODS.items() if rule.mutation} == {
        name for name, row in wanted.items() if row["change"]
    }


def test_reasons_have_the_codes_of_the_specification():
    rows = re.findall(
        r"^\| `([A-Z_]+)` \| ([A-Z_]+) \| [A-Z] \| (.*) \|$", (PROTO / "README.md").read_text(), re.MULTILINE
    )
    import grpc

    wanted = {name: (grpc.StatusCode[code].value[0], "RetryInfo REQUIRED" in text) for name, code, text in rows}
    assert {name: (rule.code, rule.must_wait) for name, rule in REASONS.items()} == wanted


@pytest.mark.parametrize("vector", VECTORS)
def test_load_balancer_key_is_that_of_every_sdk(vector):
    assert load_balancer_key(vector["clusterId"], vector["serviceUid"]) == vector["key"]
