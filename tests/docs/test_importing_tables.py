"""docs/importing.md shows what benchmarks/architectures holds, and every count there is explained."""

from __future__ import annotations

import pytest

from benchmarks.architectures.tables import FAR, PAGE, REASONS, differences, on_page, over, read_rows
from benchmarks.architectures.tables import HERE as FOLDER

ROWS = list(read_rows(FOLDER / "reference.jsonl").values())
EXPORTS = list(read_rows(FOLDER / "exports.jsonl").values())
FILES = list(read_rows(FOLDER / "files.jsonl").values())
LOADED = [row for row in ROWS if row["status"] == "loaded"]
#: files whose plans are far from the least, for reasons that the page gives
EXPLAINED = {"ch_PP-OCRv4_det_infer.onnx", "whisper80_conv.onnx", "whisper128_conv.onnx"}
#: weights that gains are multiplied into: the gains are parameters of more than one dimension, too
GAINS = {"timm.nfnet_f0", "transformers.Wav2Vec2Model"}


def test_page_has_the_tables_of_the_reference():
    page = PAGE.read_text(encoding="utf-8")
    assert on_page(page, "architectures", ROWS) == page
    assert on_page(page, "exports", EXPORTS) == page
    assert on_page(page, "files", FILES) == page


def test_files_of_packages_load_are_planned_and_executed():
    loaded = [row for row in FILES if row["status"] == "loaded"]
    assert len(FILES) >= 40 and len(loaded) >= 0.75 * len(FILES)
    assert all(row["plan"] == "verified" and "different" not in row["compared"] for row in loaded)
    assert {row["name"].rpartition("/")[2] for row in loaded if over(row) >= FAR} == EXPLAINED


def test_every_export_that_was_made_is_the_module():
    forms = [(row, found) for row in EXPORTS for found in row.values() if isinstance(found, dict)]
    made = [(row, found) for row, found in forms if found["status"] != "not made"]
    assert len(EXPORTS) == 15 and len(made) >= 0.85 * len(forms)
    for row, found in made:
        assert found["status"] == "loaded" and (found["macs"], found["weights"]) == (row["macs"], row["weights"])


def test_a_page_without_markers_is_refused():
    with pytest.raises(ValueError, match="has no markers"):
        on_page("# Importing", "architectures", ROWS)


def test_most_architectures_load_as_a_user_calls_them():
    assert len(ROWS) >= 150 and len(LOADED) >= 0.85 * len(ROWS)


def test_macs_are_those_of_torchs_counter_but_for_reasons():
    assert {row["name"] for row in LOADED if row["counted"] != row["macs"]} == set(REASONS)


def test_weights_are_the_parameters_but_for_what_is_said():
    assert {row["name"] for row in LOADED if "folded" in differences(row)} == GAINS
    for row in LOADED:
        assert row["parameters"] + sum(differences(row).values()) == row["weights"]


def test_plans_are_executed_as_priced_and_near_the_least():
    planned = [row for row in LOADED if row.get("plan", "none") != "none"]
    assert all(row["plan"] == "verified" and "different" not in row["compared"] for row in planned)
    assert all(1 <= over(row) < FAR for row in planned if row["name"] != "swin3d_t")  # the page says why
