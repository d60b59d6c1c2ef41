"""The compiled engine of the search. Optional: without a C compiler the Python engine gives the same answers."""

from setuptools import Extension, setup

PARTS = ("subgraph", "tiling", "price", "streaming", "operators", "fit", "generation", "downsets", "orders", "improve")

setup(
    ext_modules=[
        Extension(
            "cocco.search._kernel",
            ["cocco/search/_kernel.pyx"],
            depends=[f"cocco/search/_{part}.pxi" for part in PARTS],
            # no fused multiply-add: both engines must round alike
            extra_compile_args=["-O3", "-ffp-contract=off"],
            optional=True,
        )
    ]
)
