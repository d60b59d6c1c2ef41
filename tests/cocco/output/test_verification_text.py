"""The table of what was compared."""

from __future__ import annotations

from cocco.output.text.plans.verification import checks_text, status_text
from simulator.execution.count.checks import Check
from simulator.execution.verification import Verification


def found(*checks):
    return Verification(True, "", (), 1, checks, (("a",), ("b",)))


def test_each_number_stands_beside_the_one_that_was_counted():
    text = checks_text(
        found(
            Check("ema_bytes", 1000, 1000, "equal"),
            Check("latency_cycles", 12.5, None, "not executed"),
            Check("weight_buffer_bytes", 900, 1000, "within"),
            Check("ema_bytes", 1000, 1000, "equal", 0),
            Check("weight_buffer_bytes", 450, 500, "within", 1),
        )
    ).splitlines()
    assert text[2].split() == ["ema_bytes", "1,000", "1,000", "equal"]
    assert text[3].split() == ["latency_cycles", "12", "not", "executed"]
    assert text[4].endswith("within 10.00 %")
    assert [line.split()[0] for line in text if "450" in line] == ["1"]
    assert not any(line.split()[:2] == ["0", "ema_bytes"] for line in text)


def test_a_memory_is_within_its_bytes_without_a_share():
    assert status_text(Check("shared_memory_bytes", 100, 60, "within")) == "within"


def test_different_numbers_come_first_and_the_rest_is_counted():
    checks = [Check("ema_bytes", 100 + i, 100, "within", 0) for i in range(12)]
    text = checks_text(found(*checks, Check("ema_bytes", 100.5, 100, "different", 1)))
    assert text.split("\n\n")[1].splitlines()[2].endswith("different")
    assert text.endswith("5 more in --json")
