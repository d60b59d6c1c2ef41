"""Architectures of torchvision, timm, transformers, diffusers against torch's own counter; the extra models."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="real modules need torch: pip install 'cocco[models]'")
from benchmarks.architectures.cases import every  # noqa: E402
from benchmarks.architectures.tables import REASONS  # noqa: E402
from benchmarks.import_models import answer_of  # noqa: E402

#: what is refused, and the words of its error
REFUSED = {"transformers.FNetModel": "fft"}
#: small ones of each library that continuous integration reads
SOME = (
    "alexnet resnet18 shufflenet_v2_x1_0 mobilenet_v2 timm.resmlp_12_224 timm.convnextv2_atto timm.poolformer_s12 "
    "transformers.BertModel transformers.LlamaForCausalLM transformers.BloomForCausalLM transformers.ViTModel "
    "diffusers.unet_plain"
).split()


def check(name: str) -> None:
    case = every().get(name)
    if case is None:
        pytest.skip(f"the library of {name} is not installed")
    answer = answer_of(case)
    if answer["status"] == "not made":
        pytest.skip(answer["why"])
    if name in REFUSED:
        assert answer["status"] == "refused" and REFUSED[name] in answer["why"]
        return
    assert answer["status"] == "loaded", answer["why"]
    if name not in REASONS:
        assert answer["macs"] == answer["counted"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_a_dozen_architectures_have_the_macs_of_torchs_counter(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(every()) - set(SOME)))
def test_all_other_architectures_have_the_macs_of_torchs_counter(name):
    check(name)
