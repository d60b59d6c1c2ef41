"""The compiled engines of both searches. Optional: without a C compiler the Python engines give the same answers."""

from setuptools import Extension, setup

PARTS = (
    "loops", "subgraph", "tiling", "price", "bands", "columns", "ways", "layer_orders", "layer_groups", "together",
    "cheapest", "choice", "loop_layers", "operators", "fit", "generation", "downsets", "orders", "improve",
    "kept_floors", "kept_prices", "kept_near", "kept_search", "kept_steps", "kept_layers", "kept_gaps", "kept_memo",
    "kept_decode", "kept_settle", "near", "annealing", "generations", "evolve", "pattern_runs", "pattern_ways",
    "pattern_steps", "kept_alike",
)  # fmt: skip

setup(
    ext_modules=[
        Extension(
            "cocco.search.kernel._kernel",
            ["cocco/search/kernel/_kernel.pyx"],
            depends=[f"cocco/search/kernel/_{part}.pxi" for part in PARTS],
            # no fused multiply-add: both engines must round alike
            extra_compile_args=["-O3", "-ffp-contract=off"],
            optional=True,
        ),
        Extension(
            "cocco.allocation._search",
            ["cocco/allocation/_search.pyx"],
            depends=["cocco/allocation/_ejection.pxi", "cocco/allocation/_lowest.pxi"],
            extra_compile_args=["-O3", "-ffp-contract=off"],
            optional=True,
        ),
    ]
)
