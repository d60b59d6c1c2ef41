"""Plans with kept tensors that the exact search finds for several cores: priced alike by both engines, and executed."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from cocco.bounds.cheapest import cheapest_plans
from cocco.problem.problem import on_hardware
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator
from simulator.execution.verify import verify
from simulator.metrics import METRIC_NAMES
from simulator.model.cost import METRICS, total
from simulator.model.priced import price_partition
from simulator.model.pricing import Price
from tests.helpers.parts import few_seeds
from tests.helpers.random_cores import CORES, random_channels

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


def found_schemes(seed: int) -> Counter[str]:
    """Search a random network on 2 to 7 cores, execute what is found, and return the ways its steps are shared."""
    rng, network = random.Random(seed), random_channels(seed)
    size, batch = int(10 ** rng.uniform(2, 4)), rng.choice((1, 1, 2, 3, 5))
    chip = Accelerator(shared_buffer=size, cores=rng.choice(CORES), batch=batch)
    metric = rng.choice(METRIC_NAMES)
    problem = on_hardware(network, chip, metric=metric, keep="auto")
    found = cheapest_plans(problem, 20_000, 2_000_000, engine="fast")
    if found.partitions is None:
        return Counter(none=1)
    (plan,) = found.partitions
    assert cheapest_plans(problem, 20_000, 2_000_000, engine="reference") == found
    prices = [each for each in price_partition(network, plan, chip).prices if isinstance(each, Price)]
    assert METRICS[metric](total(prices, chip), chip) == pytest.approx(found.cost, rel=1e-12)
    result = verify(network, plan, chip)
    assert result.verified, result.message
    return Counter(each.scheme for each in prices) + Counter(kept=len(plan.keep))


@few_seeds(14, 36)
def test_what_is_found_runs(seeds):
    found = sum((found_schemes(seed) for seed in seeds), Counter())
    assert all(found[each] > len(seeds) // 12 for each in ("kept", "channels", "held")), found
    assert found["rotated"] and found["alone"], found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_what_is_found_runs_on_hundreds(part):
    found = sum((found_schemes(seed) for seed in range(1000 + 60 * part, 1060 + 60 * part)), Counter())
    assert found["kept"] > 5
