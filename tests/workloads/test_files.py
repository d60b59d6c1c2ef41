"""Untrusted JSON and YAML: a mapping comes back, or one line that names the file and the rule."""

import errno
import os
import stat

import pytest

from workloads.files import FileFormatError, read_mapping, write_atomic, write_whole

BOMB = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP = 100_000

MALFORMED = {
    "empty": ("x.json", b"", "is empty"),
    "blank": ("x.yaml", b" \n\n", "is empty"),
    "a comment only": ("x.yaml", b"# nothing\n", "holds None; it must hold a mapping"),
    "truncated": ("x.json", b'{"subgraphs": [["conv1"', "is not JSON: Expecting ',' delimiter: line 1 column 24"),
    "binary": ("x.json", bytes(range(256)), "is not text: byte 128 is not UTF-8"),
    "binary YAML": ("x.yaml", b"a: \x00\x01", "is not YAML"),
    "two values": ("x.json", b"{} {}", "is not JSON: Extra data"),
    "two documents": ("x.yaml", b"a: 1\n---\nb: 2\n", "is not YAML"),
    "a list": ("x.json", b"[1, 2]", "holds [1, 2]; it must hold a mapping"),
    "a text": ("x.yaml", b"hello", "holds 'hello'; it must hold a mapping"),
    "an integer of 400 digits": ("x.json", b'{"a": [{"b": 1' + b"0" * 399 + b"}]}", "holds 1000000000"),
    "deep lists": ("x.json", b"[" * DEEP, "nests values more than 64 deep"),
    "deep closed lists": ("x.json", b'{"a": ' + b"[" * 65 + b"]" * 65 + b"}", "nests values more than 64 deep"),
    "deep mappings": ("x.json", b'{"a":' * DEEP, "nests values more than 64 deep"),
    "deep YAML": ("x.yaml", b"[" * DEEP, "nests values more than 64 deep"),
    "deep YAML blocks": ("x.yml", b"- " * 500 + b"a", "nests values more than 64 deep"),
    "not a number": ("x.json", b'{"a": [NaN]}', "holds the number NaN; numbers must be finite"),
    "infinity": ("x.json", b'{"a": -Infinity}', "holds the number -Infinity"),
    "too large a float": ("x.json", b'{"a": [{"b": 1e999}]}', "holds the number inf"),
    "YAML infinity": ("x.yaml", b"a: .inf", "holds the number inf"),
    "YAML not a number": ("x.yaml", b"a: [.nan]", "holds the number nan"),
    "too long an integer": ("x.json", b'{"a": ' + b"9" * 5000 + b"}", "is not JSON: Exceeds the limit"),
    "too long a YAML integer": ("x.yaml", b"a: " + b"9" * 5000, "is not YAML: Exceeds the limit"),
    "a repeated key": ("x.json", b'{"a": {"b": 1, "c": 2, "b": 3}}', "repeats the key 'b'"),
    "a repeated YAML key": ("x.yaml", b"a: 1\nb:\n  c: a\n  c: b\n", "repeats the key 'c'"),
    "a key that is a number": ("x.yaml", b"a: {1: 2}", "has the key 1; keys must be text"),
    "a key that is a list": ("x.yaml", b"? [a, b]\n: 1", "is not YAML"),
    "an alias bomb": ("x.yaml", BOMB.encode(), "has more than 10 aliases (*b)"),
    "an alias inside itself": ("x.yaml", b"a: &a [1, *a]", "has an alias (*a) inside what it names"),
    "an unknown alias": ("x.yaml", b"a: *b", "is not YAML"),
    "a tag": ("x.yaml", b"a: !!python/object/apply:os.getcwd []", "has the tag 'tag:yaml.org,2002:python/object"),
    "a tag of YAML itself": ("x.yaml", b"a: !!timestamp x", "has the tag 'tag:yaml.org,2002:timestamp'"),
    "an impossible date": ("x.yaml", b"a: 2020-99-99", "is not YAML: month must be in 1..12"),
    "a tab": ("x.yaml", b"a:\n\t- b", "is not YAML: while scanning"),
    "another suffix": ("x.txt", b"{}", "has the suffix '.txt'; known are .json, .yaml, .yml"),
    "no suffix": ("x", b"{}", "has the suffix ''"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_named(tmp_path, case):
    name, data, rule = MALFORMED[case]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(FileFormatError) as error:
        read_mapping(path)
    message = str(error.value)
    assert message.startswith(f"{path}: {rule}")
    assert "\n" not in message


@pytest.mark.parametrize(("name", "bound"), [("x.json", 2**24), ("x.yaml", 2**18)])
def test_a_file_over_the_bound_is_not_read(tmp_path, name, bound):
    path = tmp_path / name
    with open(path, "wb") as file:
        file.truncate(bound + 1)
    with pytest.raises(FileFormatError, match=f"larger than {bound} bytes"):
        read_mapping(path)


def test_a_file_at_the_bound_is_read(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n#".ljust(2**18, "."))
    assert read_mapping(path) == {"a": 1}


def test_an_unreadable_path_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="none.yaml: cannot be read: No such file or directory"):
        read_mapping(tmp_path / "none.yaml")
    with pytest.raises(FileFormatError, match=r"a\\x00b.json.*cannot be read"):
        read_mapping("a\0b.json")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", '{"network": "net", "subgraphs": [["a", "b"]]}'),
        ("X.JSON", '\ufeff{"network": "net", "subgraphs": [["a", "b"]]}\r\n'),
        ("x.yaml", "network: net\nsubgraphs:\n- [a, b]\n"),
        ("x.yml", '{"network": "net", "subgraphs": [["a", "b"]]}'),
        ("x.yaml", "network: net\nsubgraphs:\n- [&first a, b]\n# a comment\n"),
    ],
)
def test_json_and_yaml_give_the_same_mapping(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    assert read_mapping(path) == {"network": "net", "subgraphs": [["a", "b"]]}


def test_a_few_aliases_are_read(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: &a [1, 2]\nb: *a\n")
    assert read_mapping(path) == {"a": [1, 2], "b": [1, 2]}


def test_nesting_up_to_the_bound_is_read(tmp_path):
    """The mapping and 63 lists in it: 64; what is in the innermost nests no further."""
    text = '{"a": ' + "[" * 63 + "1" + "]" * 63 + "}"
    for name in ("x.json", "x.yaml"):
        (tmp_path / name).write_text(text)
        assert list(read_mapping(tmp_path / name)) == ["a"]


def test_writing_replaces_the_file_whole_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "x.json"
    write_atomic(path, "first")
    write_atomic(path, "zweite Fassung: ü\n")
    assert path.read_bytes() == "zweite Fassung: ü\n".encode()
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    write_atomic(path, "old")

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path):
    path = tmp_path / "x.json"
    write_atomic(path, "old")

    def full(file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match=f"No space left on device: '{path}'$"):
        write_whole(path, full)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x.json"]


def test_two_that_write_one_file_do_not_touch_each_other(tmp_path):
    """The second writes all of it while the first is half done; the last to end is what stays."""
    path = tmp_path / "x.json"

    def half(file):
        file.write(b"first")
        write_atomic(path, "second")
        assert path.read_text() == "second"

    write_whole(path, half)
    assert path.read_text() == "first" and os.listdir(tmp_path) == ["x.json"]


def test_a_pipe_is_refused_before_it_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.json")
    with pytest.raises(FileFormatError, match="x.json: cannot be read: it is no regular file"):
        read_mapping(tmp_path / "x.json")


def test_written_files_have_ordinary_permissions_and_keep_those_they_had(tmp_path):
    path = tmp_path / "x.json"
    mask = os.umask(0o022)
    try:
        write_atomic(path, "a")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    write_atomic(path, "b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_mask_of_the_process_is_never_changed_to_write(tmp_path, monkeypatch):
    """It is that of all threads, and of the processes that they start meanwhile."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the mask is changed"))
    write_atomic(tmp_path / "x.json", "a")
    write_atomic(tmp_path / "x.json", "b")
    assert (tmp_path / "x.json").read_text() == "b"


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_atomic(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_only_regular_files_in_existing_folders_are_written(tmp_path):
    with pytest.raises(OSError, match="not a regular file"):
        write_atomic(tmp_path, "text")
    with pytest.raises(OSError, match="not a regular file"):
        write_atomic(os.devnull, "text")
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "none" / "x.json", "text")
