"""What a step of a language model means to its users: tokens, energy, caches, bounds, by hand."""

from dataclasses import replace

import pytest

import workloads
from simulator import Accelerator, KiB, MiB, Partition, Technology, evaluate
from tests.helpers.configurations import TINY
from workloads.language.configuration import decoder_of
from workloads.language.step import step


def _serving(network, chip=None):
    return evaluate(network, Partition.layerwise(network), chip or Accelerator(shared_buffer=MiB))


def test_tokens_of_a_decode_step():
    network = workloads.load("llama3_8b", phase="decode", past=4096, layers=1)
    found = _serving(network, Accelerator(shared_buffer=2 * MiB, batch=3, technology=Technology(clock_ghz=2.0)))
    serving = found.serving
    assert serving.seconds == pytest.approx(found.latency_executed_cycles / 2e9)
    assert serving.tokens_per_s == pytest.approx(3 / serving.seconds)
    assert serving.joules_per_token == pytest.approx(found.energy_pj * 1e-12 / 3)
    assert serving.cache_bytes == 3 * 2 * 4097 * 1024 and serving.positions == 4097
    assert not serving.is_prompt and serving.bound == "bandwidth"
    # 16 bytes in a cycle; 218,103,808 of weights, of each sequence its cache, two new rows, tokens in and out
    least = 218_103_808 + 3 * (2 * 4096 * 1024 + 2 * 1024 + 2 * 4096)
    assert serving.least_dram_seconds == pytest.approx(least / 16 / 2e9)


def test_a_prompt_has_a_first_token():
    network = workloads.load("gpt2", length=64, layers=2)
    serving = _serving(network).serving
    assert serving.is_prompt and (serving.new_tokens, serving.positions) == (64, 64)
    assert serving.cache_bytes == 2 * 2 * 64 * 768
    chunk = _serving(workloads.load("gpt2", length=64, past=64)).serving  # its head reads one position
    assert chunk.is_prompt and chunk.positions == 128
    drafted = _serving(workloads.load("gpt2", phase="decode", length=4, past=64)).serving
    assert not drafted.is_prompt and drafted.tokens_per_s == pytest.approx(4 / drafted.seconds)


def test_the_whole_model_is_so_many_times_its_first_layers():
    part = _serving(workloads.load("llama3_8b", phase="decode", past=64, layers=2)).serving
    assert part.times == 16 and part.whole.seconds == pytest.approx(16 * part.seconds)
    assert part.whole.tokens_per_s == pytest.approx(part.tokens_per_s / 16)
    assert part.whole.cache_bytes == 32 * 2 * 65 * 1024
    assert part.to_json()["whole_model"]["joules_per_token"] == pytest.approx(16 * part.joules_per_token)
    assert workloads.load("llama3_8b", layers=3).notes == ()  # 32 are no multiple
    assert workloads.load("gemma2_9b", layers=1).notes == ()  # the second has no window
    assert [note.op for note in workloads.load("gemma2_9b", layers=2).notes] == ["21"]
    whole = _serving(workloads.load("gpt2", phase="decode")).serving
    assert whole.times is None and whole.whole == whole


def test_the_whole_model_with_its_layers_is_the_part_and_its_head():
    """Layer by layer nothing is shared between layers: 12 layers, then norm and head."""
    options = {"phase": "decode", "past": 64}
    part, whole = (
        _serving(workloads.load("gpt2", **options, **more), Accelerator(shared_buffer=MiB, plans="paper")).serving
        for more in ({"layers": 1}, {})
    )
    assert part.whole.joules < whole.joules
    head = 768 * 50257 * 100e-12  # its weights across DRAM, the most of it
    assert part.whole.joules + head == pytest.approx(whole.joules, rel=0.02)


def test_a_state_is_replaced_not_grown():
    model = decoder_of(TINY["state"])
    after = [
        _serving(step("m", model, "decode", past=past, layers=1), Accelerator(shared_buffer=32 * KiB)).serving
        for past in (1, 1000)
    ]
    assert after[0].cache_bytes == after[1].cache_bytes and after[0].positions == 0


def test_what_bounds_a_step():
    found = _serving(workloads.load("gpt2", length=256, layers=1)).serving
    times = {"compute": (3.0, 2.0, 1.0), "capacity": (2.0, 3.0, 1.0), "bandwidth": (1.0, 3.0, 2.0)}
    for bound, (compute, dram, least) in times.items():
        each = replace(found, compute_seconds=compute, dram_seconds=dram, least_dram_seconds=least)
        assert each.bound == bound


def test_other_networks_serve_no_tokens():
    for name in ("vgg16", "bert_base"):
        found = _serving(workloads.load(name), Accelerator(shared_buffer=2 * MiB))
        assert found.serving is None and "serving" not in found.to_json()
