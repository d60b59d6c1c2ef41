"""Language models: traffic of a layer by hand, verified plans of every model, the picture over the capacity."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import workloads
from experiments.beyond import language_models, language_plans
from experiments.page_tables.tables import reference


def check(table: pandas.DataFrame) -> None:
    """Every plan is proved and executed; decode moves what is counted by hand, nothing moves less."""
    assert (table["status"] == "optimal").all() and table["verified"].all() and (table["different"] == 0).all()
    assert (table["ema_bytes"] >= table["hand_bytes"]).all() and (table["equal"] > 10 * table["within"]).all()
    decode = table[table["phase"] == "decode"]
    assert (decode["ema_bytes"] == decode["hand_bytes"]).all() and len(decode) > 0


def test_the_count_by_hand_is_what_the_network_says():
    """Weights, model inputs and outputs once, of all models in both phases, from the configurations alone."""
    for name, phase in reference("language_plans")[["network", "phase"]].to_numpy():
        step = {"phase": "decode", "past": 1024} if phase == "decode" else {"length": 512}
        network = workloads.load(name, layers=1, **step)
        inputs = sum(tensor.size_bytes for tensor in network.inputs)
        outputs = sum(network.layers[v].size_bytes for v in network.outputs)
        assert sum(language_plans.by_hand(name, phase).values()) == network.weight_bytes + inputs + outputs, name


def test_a_layer_of_one_model_in_both_phases(tmp_path: Path):
    table = language_plans.run(tmp_path, networks=["gpt2"], samples=50)
    check(table)
    kept = reference("language_plans").set_index(["network", "phase"])
    for _, row in table.iterrows():
        assert row["ema_bytes"] == kept.loc[(row["network"], row["phase"]), "ema_bytes"]
    assert language_plans.plot(table).axes


@pytest.mark.slow
def test_a_layer_of_every_model_in_every_phase(tmp_path: Path):
    table = language_plans.run(tmp_path, networks=workloads.LANGUAGE_MODELS, samples=2_000)
    check(table)
    assert len(table) == 16
    kept = reference("language_plans")
    columns = ["network", "phase", "ema_bytes", "hand_bytes", "subgraphs", "equal", "within", "not_executed"]
    assert table[columns].equals(kept[columns])


@pytest.mark.slow
def test_energy_over_the_capacity(tmp_path: Path):
    """Head by head never costs more; 4-bit weights cost less; the reference has the same rows."""
    table = language_models.run(tmp_path, samples=50, lengths=[512], pasts=[1024], batches=[1], kilobytes=[4096])
    assert (table["status"] == "optimal").all() and table["verified"].all()
    asked = ["phase", "length", "past", "batch", "weight_bits", "groups_apart", "kilobytes"]
    kept = reference("language_models").set_index(asked)
    for _, row in table.iterrows():
        assert row["energy_pj"] == pytest.approx(kept.loc[tuple(row[asked]), "energy_pj"], rel=1e-12)
    energy = table.set_index(["phase", "weight_bits", "groups_apart"])["energy_pj"]
    for phase in ("prefill", "decode"):
        assert energy[phase, 8, True] <= energy[phase, 8, False] and energy[phase, 4, True] < energy[phase, 8, True]
    assert language_models.plot(table).axes


def test_the_reference_is_proved_and_executed():
    table = reference("language_models")
    assert (table["status"] == "optimal").all() and table["verified"].all() and (table["gap"] == 0).all()
    check(reference("language_plans"))
