"""Counter-based randomness: golden numbers that every engine must draw, and rough fairness."""

from __future__ import annotations

import pytest

from cocco.candidates.stream import MAX_SEED, ONE, Stream, check_seed, threshold


def test_a_stream_is_splitmix64_from_its_key():
    """The published first outputs of SplitMix64 for the state 1234567."""
    stream = Stream(0, 0, 0)
    stream._state = 1234567
    assert [stream.draw() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_golden_numbers():
    first, second = Stream(0, 0, 0), Stream(1, 2, 3)
    assert [first.draw() for _ in range(3)] == [2391539541053276776, 920862675595841680, 12365375887819322540]
    assert [second.draw() for _ in range(3)] == [1321962074176129191, 15925659190040627001, 6588988029983277238]
    mixed = Stream(MAX_SEED, 0, 7)
    assert [mixed.below(10) for _ in range(12)] == [1, 3, 3, 2, 7, 5, 2, 7, 6, 4, 5, 9]
    assert [mixed.chance(ONE // 4) for _ in range(9)] == [True, False, False, False, False, False, True, True, False]
    assert [mixed.chance(ONE // 4) for _ in range(3)] == [True, False, False]
    assert [mixed.normal_step(3 << 16) for _ in range(12)] == [3, 1, -1, 1, -2, -5, 3, 1, 1, 0, -1, 4]


def test_streams_of_neighbouring_names_differ():
    names = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1)]
    assert len({Stream(*name).draw() for name in names}) == len(names)


def test_below_is_uniform():
    """6000 draws below 6: each 1000 times, give or take 5 standard deviations of 29."""
    stream = Stream(5, 0, 0)
    counts = [0] * 6
    for _ in range(6000):
        counts[stream.below(6)] += 1
    assert all(abs(count - 1000) < 145 for count in counts)


def test_chance_at_the_ends():
    stream = Stream(5, 0, 1)
    assert not any(stream.chance(threshold(0.0)) for _ in range(100))
    assert all(stream.chance(threshold(1.0)) for _ in range(100))


def test_normal_steps_have_mean_0_and_the_deviation_asked_for():
    """4000 steps of deviation 8: mean in 5 * 8 / sqrt(4000) = 0.63, variance 64 within 5 * 64 * sqrt(2/4000) = 7."""
    stream = Stream(5, 0, 2)
    steps = [stream.normal_step(8 << 16) for _ in range(4000)]
    mean = sum(steps) / len(steps)
    assert abs(mean) < 0.63
    assert abs(sum((step - mean) ** 2 for step in steps) / len(steps) - 64) < 7.2


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", None, True])
def test_a_seed_is_an_integer_of_64_bits(seed):
    with pytest.raises(ValueError, match="seed must be an integer from 0 to 18446744073709551615"):
        check_seed(seed)
