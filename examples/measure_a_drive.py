"""Measure a drive whose truth is known, make a drive file of what was seen, and hold the two against each other."""

import polars as pl

import headstack

NAME = "ibm-ultrastar-xp"

truth = headstack.Drive(NAME)
measured = headstack.measure.run(f"sim:{NAME}", seed=3)
found = measured.found

print(f"{len(measured):,} accesses")
for parameter in found["parameters"]:
    value = parameter["value"]
    # What the device hides is a bound, not a value.
    shown = f"at most {parameter['upper']:.3f}" if value is None else f"{value:.3f}"
    print(f"  {parameter['name']:<28} {shown:>12} {parameter['unit']:<8} {parameter['method']}")

# Geometry is exact, in every zone.
layout = truth.spec()["layout"]
assert found["heads"] == layout["heads"]
assert [zone["sectors_per_track"] for zone in found["zones"]] == [zone["sectors_per_track"] for zone in layout["zone"]]
assert abs(found["rotation_ms"] / truth.rotation_ms - 1) < 1e-3

# The paper's extractor reads one sector too few, and a turn that much too short.
naive = found["naive"]
print(f"the paper's way: {naive['rotation_ms']:.2f} ms, {naive['sectors_per_track']:.1f} sectors per track")
assert naive["rotation_ms"] < found["rotation_ms"]

# The loop closes: the rebuilt drive serves random requests as the original does.
workload = headstack.Workload(
    toml="""
    seed = 11
    requests = 20_000
    [[stream]]
    read_fraction = 0.67
    size.fixed_kib = 8
    align_kib = 4
    think.constant_ms = 0
    """
)


def services(drive: headstack.Drive) -> list[float]:
    """Service times of the workload, in ms."""
    table = pl.DataFrame(headstack.simulate(drive, workload).completions)
    return ((table["finish_ns"] - table["start_ns"]) / 1e6).to_list()


rebuilt = measured.drive()
score = headstack.demerit(services(truth), services(rebuilt))
print(f"original and rebuilt drive: demerit {score['demerit_percent']:.2f} %")
assert score["demerit_percent"] < 2.0
