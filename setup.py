"""The compiled engines of both searches. Optional: without a C compiler the Python engines give the same answers."""

from pathlib import Path

from setuptools import Extension, setup


def compiled(source: str) -> Extension:
    """Return the extension of a .pyx file; it is built again when a part beside it changes."""
    path = Path(source)
    return Extension(
        ".".join(path.with_suffix("").parts),
        [source],
        depends=sorted(part.as_posix() for part in path.parent.glob("_*.pxi")),
        extra_compile_args=["-O3", "-ffp-contract=off"],  # no fused multiply-add: both engines must round alike
        optional=True,
    )


setup(ext_modules=[compiled("cocco/search/kernel/_kernel.pyx"), compiled("cocco/allocation/compiled/_search.pyx")])
