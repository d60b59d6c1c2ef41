"""Reads a plan that `cocco export --json` wrote, without Cocco: checks its addresses and times, adds up what crosses.

python read_plan.py plan-data.json
"""

import json
import sys
from collections import Counter


def check_step(step, sizes):
    """Return the bytes in use in each memory; raises ValueError where two regions overlap or one lies outside."""
    used = Counter()
    for memory, size in sizes.items():
        regions = {(each["first"], each["end"]) for each in step["regions"] if each["memory"] == memory}
        end = 0
        for first, last in sorted(regions):  # a result may lie where its operand lay: the same first and end
            if first < end or last > size:
                raise ValueError(f"{step['layers'][0]}: {first} to {last} of {memory} is not free")
            end = last
            used[memory] += last - first
    return used


def main(path):
    """Print what crosses and the most bytes in use."""
    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    if plan["format"] != "cocco-plan/1":
        raise ValueError(f"format {plan['format']!r}, not cocco-plan/1")
    sizes = {each["memory"]: each["bytes"] for each in plan["memories"]}
    most = Counter()
    for step in plan["steps"]:
        most |= check_step(step, sizes)
    crossed, now = Counter(), 0
    for each in plan["transfers"]:
        if each["start"] < now or each["stop"] - each["start"] < each["bytes"]:
            raise ValueError(f"transfer at {each['start']}: DRAM is not free, or too slow")
        now = each["stop"]
        crossed[each["kind"]] += each["bytes"]
    print(f"{plan['network']}: {len(plan['steps'])} steps, {now / plan['slots_per_cycle']:,.0f} cycles")
    for name, size in [*most.items(), *crossed.items()]:
        print(f"{name:<8} {size:>12,} bytes")


main(sys.argv[1])
