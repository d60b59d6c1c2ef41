"""An editable install, as CONTRIBUTING has it, and a type checker that is run from another folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.environments import copy_of_the_project, environment, install, needs_build_tools, run

pytest.importorskip("mypy", reason="needs the extra 'test'")
needs_build_tools()

SCRIPT = """
import cocco, experiments, simulator, workloads

network = workloads.load("resnet50")
chip = simulator.Accelerator(shared_buffer="2MB")
reveal_type(network)
reveal_type(cocco.partition(network, chip))
"""


@pytest.mark.slow
def test_mypy_sees_the_types_of_an_editable_install(tmp_path: Path):
    """A wrong call is reported, and nothing is `Any`; no engine is compiled: the types do not ask for them."""
    python, project = environment(tmp_path / "environment"), copy_of_the_project(tmp_path / "project")
    for source in project.rglob("*.pyx"):
        source.write_text("")
        source.with_suffix(".pxd").unlink(missing_ok=True)
    install(python, "-e", project, CC="false")
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "script.py").write_text(SCRIPT)
    options = ("--config-file=", "--cache-dir", tmp_path / "cache", "--python-executable", python)
    said = run(sys.executable, "-m", "mypy", *options, "script.py", folder=tmp_path / "user").stdout.splitlines()
    assert 'script.py:5: error: Argument "shared_buffer" to "Accelerator" has incompatible type "str"' in said[0], said
    assert said[1].endswith('"workloads.network.network.Network"') and said[2].endswith('.Result"'), said
    assert len(said) == 4, said
