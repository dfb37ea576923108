"""A random 8 KB read on the HP 97560, by hand from the paper's Table 2, and by simulation.

Ruemmler & Wilkes print no number for this; the parts follow from their Table 2.
"""

import math

import headstack

drive = headstack.Drive("hp-97560")
rotation_ms = 60_000 / 4_002

# 1. By hand. Seeks are weighted by how often each distance occurs between two random cylinders.
cylinders = 1_962


def seek_ms(distance: int) -> float:
    """Return the time of a seek by the paper's curve."""
    if distance == 0:
        return 0.0
    return 3.24 + 0.400 * math.sqrt(distance) if distance < 383 else 8.00 + 0.008 * distance


pairs = [(cylinders - distance, distance) for distance in range(1, cylinders)]
average_seek = sum(ways * seek_ms(d) for ways, d in pairs) / sum(ways for ways, _ in pairs)
overhead, transfer = 2.2, 16 / 72 * rotation_ms
# Of the nine places on a track where an aligned 8 KB begins, one runs over its end: it waits for the skew.
crossing = (18 * 8 + 18) / 19 / 72 * rotation_ms / 9
bus = 8_192 / 10e6 * 1e3 + 0.203
by_hand = overhead + average_seek + rotation_ms / 2 + transfer + crossing + bus

assert abs(average_seek - drive.seek_averages()["distance_weighted_ms"]) < 0.001
assert round(average_seek, 2) == 12.84

# 2. By simulation: one reader who asks again as soon as he has his data.
workload = headstack.Workload(
    toml="""
    seed = 7
    requests = 50_000
    [[stream]]
    read_fraction = 1.0
    size.fixed_kib = 8
    align_kib = 4
    think.constant_ms = 0
    """
)
summary = headstack.simulate(drive, workload).summary
simulated = summary["service_ms"]["mean"]

print(f"by hand    {by_hand:.2f} ms")
print(f"simulated  {simulated:.2f} ms ± {summary['service_ms']['mean_ci95']:.2f}")
assert abs(simulated - by_hand) < 0.01 * by_hand
