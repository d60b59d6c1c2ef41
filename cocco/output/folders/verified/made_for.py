"""Which hardware a plan was made for, and where the plan of a run is: from partition files and run folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cocco.output.folders.read.compared import Comparer
from cocco.output.folders.read.reading import about_of, result_file
from cocco.output.folders.read.run import common_accelerator, plans_of
from cocco.output.folders.written.about import CORES_FILE, FRONT, PARTITIONS, RESULT, About, folder_of, partition_names
from cocco.output.text.plans.hardware import buffers
from simulator.accelerator import Accelerator
from simulator.hardware_files import BUFFERS, hardware_of
from workloads.errors import FileFormatError, one_line, shown
from workloads.files import read_mapping


def made_for(path: Path) -> Accelerator | None:
    """Return the accelerator that a partition file says it was made for, or None if it does not say.

    Raises FileFormatError, one line that names the file, if that is not a valid accelerator.
    """
    content = read_mapping(path).get("accelerator")
    if content is None:
        return None
    if not isinstance(content, dict):
        raise FileFormatError(f"{path}: 'accelerator' is {shown(content)}; it must be a mapping, as a hardware file")
    said = {name: value for name, value in content.items() if name != "mapper"}
    found = hardware_of(f"{path}: accelerator", said)
    if not any(name in found for name in BUFFERS):
        raise FileFormatError(f"{path}: 'accelerator' has no buffers; a plan is made for {', '.join(BUFFERS)}")
    if "mapper" in content:
        found["mapper"] = _mapper(path, content["mapper"])
    return Accelerator(**found)


def _mapper(path: Path, content: object) -> object:
    from cocco.mapping.mapper import mapper_from_json

    try:
        return mapper_from_json(content if isinstance(content, dict) else {"": content})
    except (TypeError, ValueError, KeyError) as error:
        raise FileFormatError(f"{path}: 'accelerator': {one_line(error)}") from None


class RunFolder:
    """What the commands need from a folder written by explore or pareto, except its tables: read once, not trusted.

    Raises FileFormatError, one line that names the folder or its file, if it is not such a folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if (folder / CORES_FILE).is_file() and not (folder / RESULT).is_file():
            inner = ", ".join(sorted(each.name for each in folder.glob(folder_of(0).replace("0", "[0-9]*"))))
            raise FileFormatError(f"{folder}: has a run for each number of cores; name one of {inner or 'them'} in it")
        content = result_file(folder)
        self.content = content.content
        self.result = content.inner("result")
        self.about: About = about_of(content)

    @property
    def networks(self) -> list[str]:
        """The names of its networks."""
        networks = self.about.settings.get("networks")
        if not isinstance(networks, list) or not networks or not all(isinstance(name, str) for name in networks):
            raise FileFormatError(
                f"{self.folder / RESULT}: settings: 'networks' is {shown(networks)}; it must be names"
            )
        return networks

    @property
    def accelerator(self) -> Accelerator:
        """The hardware that it recommends."""
        self._check_is_one_plan()
        found = common_accelerator(plans_of(self.result))
        if found is None:
            raise FileFormatError(f"{self.folder}: holds no hardware: no memory runs its networks")
        for name, plan in zip(self.files, plans_of(self.result)):
            made = made_for(self.folder / name) if (self.folder / name).is_file() else None
            if made is not None:
                compared = Comparer(self.folder / RESULT, self.about)
                compared.compare(plan.content["accelerator"], made.to_json(), f"{plan.where}accelerator", "")
        return found

    def plan(self, network: str | None = None) -> Path:
        """Return the partition file of a network, whose name is optional if there is only one."""
        self._check_is_one_plan()
        names = self.networks
        if network is None and len(names) > 1:
            raise FileFormatError(
                f"{self.folder}: holds plans of {', '.join(names)}; name the network too, such as "
                f"'cocco evaluate {names[0]} {self.folder}'"
            )
        if network is not None and network not in names:
            raise FileFormatError(f"{self.folder}: holds a plan of {', '.join(names)}, none of {network!r}")

        return self.folder / self.files[0 if network is None else names.index(network)]

    @property
    def files(self) -> list[str]:
        """The partition file of each network, in the folder."""
        count = len(self.networks)
        if (self.folder / FRONT).is_file() and "minimize" in self.result.content:
            names = ["1.json"] if count == 1 else [f"1-{place}.json" for place in range(1, count + 1)]
            return [f"{PARTITIONS}/{name}" for name in names]
        return partition_names(self.networks)

    def _check_is_one_plan(self) -> None:
        """Raise FileFormatError if there are many plans, or none."""
        if "front" in self.result.content:
            first = min((self.folder / PARTITIONS).glob("*.json"), default=self.folder / PARTITIONS)
            raise FileFormatError(f"{self.folder}: is a front of several plans; name one of its files, such as {first}")
        if "nearest" in self.result.content or not plans_of(self.result):
            raise FileFormatError(f"{self.folder}: holds no plan: no memory that it looked at is an answer")


def differences(made: Accelerator, priced: Accelerator) -> list[str]:
    """Return in which fields two accelerators differ, one text each, such as 'cores 2 (made for 1)'.

    Examples
    --------
    >>> differences(Accelerator(shared_buffer=1024), Accelerator(shared_buffer=2048, cores=2))
    ['a shared buffer of 2 KB in place of a shared buffer of 1 KB', 'cores 2 (made for 1)']
    """
    ours, theirs = made.to_json(), priced.to_json()
    memory = buffers(made), buffers(priced)
    found = [] if memory[0] == memory[1] else [f"{memory[1]} in place of {memory[0]}"]
    for name in dict.fromkeys([*ours, *theirs]):
        one, two = ours.get(name), theirs.get(name)
        if name in BUFFERS:
            continue
        if one != two and name == "technology":
            found += [f"technology.{each}" for each in _changed(one, two)]
        elif one != two:
            found.append(name if isinstance(one or two, dict) else f"{name} {_word(two)} (made for {_word(one)})")
    return found


def _changed(one: Any, two: Any) -> list[str]:
    return [name for name in dict.fromkeys([*one, *two]) if one.get(name) != two.get(name)]


def _word(value: object) -> str:
    return "none" if value is None else str(value)
