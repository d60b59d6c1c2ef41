"""What an answer is made by: every compiled module is in it, and every library that computes."""

from __future__ import annotations

from pathlib import Path

from cocco.candidates import code


def test_every_compiled_module_has_its_fingerprint():
    found = {".".join(path.relative_to(code.ROOT).with_suffix("").parts) for path in code.ROOT.glob("cocco/**/*.pyx")}
    assert found == set(code.COMPILED)


def test_compiled_modules_are_told_apart_by_their_bytes(tmp_path: Path, monkeypatch):
    """One byte of one of them is another version of the package, and so is another version of a solver."""
    (tmp_path / "a.so").write_bytes(b"1")
    one = code.digest_of({"a": tmp_path / "a.so"})
    (tmp_path / "a.so").write_bytes(b"2")
    assert code.digest_of({"a": tmp_path / "a.so"}) != one
    seen = set()
    for change in ({}, {"compiled": one}, {"ortools": "0"}, {"python": "3"}):
        code.code_version.cache_clear()
        with monkeypatch.context() as patch:
            made = {**code.made_by(), **change}
            patch.setattr(code, "made_by", lambda made=made: made)
            seen.add(code.code_version())
    code.code_version.cache_clear()
    assert len(seen) == 4 and code.code_version() in seen
