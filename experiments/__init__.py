"""Which question has which answer: sweeps over many searches, and one script per figure or table (docs/sweeps.md).

A script is called by its own name, whichever folder holds it: `python -m experiments.pareto`, `from experiments import
pareto` and `from experiments.pareto import run` all mean `experiments.beyond.pareto`. A finder, asked for what nobody
else finds, sees to that. A `__getattr__` would not serve `python -m`, and folders in `__path__` would make a second
module of each script. Here it is one module, and `python -m` runs it under its full name, by which a sweep knows its
points again. Type checkers ask no finders: for them a script has its full name only.
"""

import sys

if sys.argv[:1] == ["-m"]:  # Python looks for the script that it runs; Ctrl-C is heard before that imports the rest
    try:
        from cocco.cli.running.interrupts import leave_at_once

        leave_at_once()
    except KeyboardInterrupt:
        sys.exit(130)

from collections.abc import Sequence
from importlib import import_module, util
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

FOLDERS = ("paper", "paper.related", "beyond")  #: of scripts
TABLES = "page_tables"  #: the folder of what prints tables of the pages


class _ShortName(SourceFileLoader):
    """Gives the module of a script, loaded under its full name, to an import, and its code to `python -m`."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return import_module(self.name)

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[f"{__name__}.{self.name.rpartition('.')[2]}"] = module

    def get_code(self, fullname: str) -> CodeType | None:
        return super().get_code(self.name)


class _Scripts(MetaPathFinder):
    """Finds experiments.<script> in the folders; the spec has the full name of the script."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        for folder in (*FOLDERS, TABLES) if package == __name__ else ():
            found = util.find_spec(f"{package}.{folder}.{name}")
            if found is not None and found.origin is not None:
                return util.spec_from_file_location(
                    found.name, found.origin, loader=_ShortName(found.name, found.origin)
                )
        return None


sys.meta_path.append(_Scripts())
