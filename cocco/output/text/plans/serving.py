"""What a step of a language model takes, in the words of those whom it serves; for consoles and pages."""

from __future__ import annotations

from simulator.timing.serving import Serving
from simulator.units import ENERGY, SIZE, TIME, TRAFFIC

WHY = {
    "compute": "computing takes longest",
    "capacity": "DRAM takes longest, and would not if everything crossed once: with room for it on chip",
    "bandwidth": "DRAM takes longest, even if everything crossed once",
    "link": "what crosses between chips takes longest",
}
NANO, PICO = 1e9, 1e12  #: of seconds and joules, to the units of the model


def serving_lines(serving: Serving | None) -> list[tuple[str, str]]:
    """Return pairs of a name and a text; nothing of a network that is no language model."""
    if serving is None:
        return []
    lines = [
        _speed(serving),
        *([("pipeline", _flowing(serving))] if serving.interval_seconds else []),
        ("energy per token", ENERGY.text(serving.joules_per_token * PICO)),
        ("cache", _cache(serving)),
        *([("chips", _chips(serving))] if serving.chips > 1 else []),
        ("bound by", f"{serving.bound}: {WHY[serving.bound]}; {_times(serving)}"),
    ]
    if serving.times is not None and serving.times > 1:
        whole = serving.whole
        name, speed = _speed(whole)
        said = f"{serving.times} times this, without norm and head: {name} {speed}, "
        said += f"{ENERGY.text(whole.joules_per_token * PICO)} per token, cache {_cache(whole)}"
        lines.append(("whole model", said))
    return lines


def _speed(serving: Serving) -> tuple[str, str]:
    """Return when the first token comes after a prompt, or how many tokens follow in a second."""
    rate, time = f"{_rate(serving.tokens_per_s)} tokens/s", TIME.text(serving.seconds * NANO)
    many = serving.sequences > 1
    if serving.is_prompt:
        whose = f"{serving.sequences:,} prompts" if many else "a prompt"
        return "first token", f"after {time}, of {whose} of {_counted(serving.new_tokens, 'token')}: {rate}"
    own = _rate(serving.tokens_per_s / serving.sequences)
    each = f", {own} for each of {serving.sequences:,} sequences" if many else ""
    step = "a step" if serving.new_tokens == 1 else f"a step of {serving.new_tokens} tokens"
    return "tokens", f"{rate}{each}; {step} takes {time}"


def _cache(serving: Serving) -> str:
    size, at = SIZE.text(serving.cache_bytes), _counted(serving.positions, "position")
    if serving.sequences > 1:
        return f"{size} of {serving.sequences:,} sequences" + (f", the longest of {at}" if serving.positions else "")
    return f"{size} at {at}" if serving.positions else size


def _flowing(serving: Serving) -> str:
    """Return how many tokens come in a second if there are as many steps under way as chips."""
    assert serving.interval_seconds, "it is a pipeline"
    tokens, time = serving.sequences * serving.new_tokens / serving.interval_seconds, serving.interval_seconds * NANO
    return f"{_rate(tokens)} tokens/s with {serving.chips} steps under way, one each {TIME.text(time)}"


def _chips(serving: Serving) -> str:
    """Return what each of several chips holds and sends, and what all take; the rest of the answer is of one."""
    each, all_of = (_held(serving, number) for number in (serving.chips, 1))
    if serving.interval_seconds:  # whose stages differ
        each = f"{each} in the mean"
    moved, energy = TRAFFIC.text(serving.dram_bytes), ENERGY.text(serving.joules * PICO)
    sent = f"{TRAFFIC.text(serving.link_bytes)} leave each, in {TIME.text(serving.link_seconds * NANO)} more"
    return f"{serving.chips}, each with {each}; {sent}; in all {all_of}, DRAM traffic {moved}, {energy}"


def _held(serving: Serving, number: int) -> str:
    weights, cache = (SIZE.text(size // number) for size in (serving.weight_bytes, serving.cache_bytes))
    return f"{weights} of weights and {cache} of cache"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number > 1)}"


def _times(serving: Serving) -> str:
    seconds = serving.compute_seconds, serving.dram_seconds, serving.least_dram_seconds, serving.link_seconds
    compute, dram, least, link = (TIME.text(each * NANO) for each in seconds)
    return f"computing {compute}, DRAM {dram}, at least {least}" + (f", link {link}" if serving.chips > 1 else "")
