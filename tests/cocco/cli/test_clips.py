"""Networks with windows over time: the commands that show take them, those that price refuse them in one line."""

import pytest

from tests.helpers.command_line import answer, cocco


def test_show_counts_a_clip():
    content = answer(cocco("show", "s3d", "--json"))
    assert content["macs"] == 17_978_771_456
    assert content["layers"][0]["out_shape"] == [1, 64, 16 * 112, 112]


@pytest.mark.parametrize(
    "command",
    [("partition", "s3d", "--shared-buffer", "2MB"), ("explore", "resnet50", "s3d", "--shared", "--samples", "100")],
)
def test_a_clip_is_refused_where_tiles_are_priced(command, tmp_path):
    output = tmp_path / "out.json"
    finished = cocco(*command, "-o", str(output))
    assert finished.returncode == 2 and finished.stdout == ""
    assert finished.stderr.count("\n") == 1 and "network 's3d' has no price: 'conv1'" in finished.stderr
    assert not output.exists()
