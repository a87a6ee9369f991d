import json
from pathlib import Path

import pytest

from cloudwire_provider import canonical_cidr, canonical_cidrs, is_same_instance

VECTORS = Path(__file__).parents[3] / "proto" / "vectors"


def vectors(name):
    return json.loads((VECTORS / name).read_text())["vectors"]


# (case N-7)
@pytest.mark.parametrize("vector", vectors("provider-ids.json"))
def test_provider_ids_are_compared_as_in_every_sdk(vector):
    one, other = vector["one"], vector["other"]
    assert [is_same_instance(one, other), is_same_instance(other, one)] == [vector["same"]] * 2


# (case S-1)
@pytest.mark.parametrize("vector", vectors("cidrs.json"))
def test_cidrs_are_written_as_in_every_sdk(vector):
    assert canonical_cidr(vector["text"]) == vector.get("canonical", vector["text"])


def test_canonical_cidrs_are_equal_for_equal_cidrs():
    texts = ["2001:DB8:0::/32", "10.1.2.3/8", "2001:db8::/32", "10.0.0.0/8"]
    assert canonical_cidrs(texts) == ["10.0.0.0/8", "2001:db8::/32"]


@pytest.mark.parametrize("text", ["10.0.0.1/255.0.0.0", "10.0.0.0/8/8", "/8"])
def test_other_notations_stay_as_they_are(text):
    assert canonical_cidr(text) == text
