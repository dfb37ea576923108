"""Compare orders of service at one load: mean, tail and longest wait, in the drive and in the host.

150 random requests a second are more than the Cheetah 9LP can serve first come, first served; with a scheduler it can.
"""

import headstack

LOAD = headstack.Workload(
    toml="""
seed = 7
requests = 20_000
[[stream]]
read_fraction = 0.6
size.fixed_kib = 4
align_kib = 4
inter_arrival.exponential_ms = 6.667
"""
)
# Writes on the media before they are reported, so that every request waits for the arm; a queue in the drive.
QUEUED = {"drive.*.write_policy": "{ write-through = {} }", "drive.*.controller.queue_depth": 1024}


def response(place: str, scheduler: str) -> dict[str, float]:
    """Return the response times of a run, in ms."""
    placed = {**QUEUED, place: scheduler}
    if place == "host.scheduler":
        placed["host.outstanding_per_drive"] = 1
    return headstack.simulate("cheetah-9lp", LOAD, overrides=placed, keep=False).summary["response_ms"]


IN_DRIVE, IN_HOST = "drive.*.controller.scheduler", "host.scheduler"
orders = [
    (IN_DRIVE, "fcfs"),
    (IN_DRIVE, "sstf"),
    (IN_DRIVE, "c-look"),
    (IN_DRIVE, "sptf"),
    (IN_DRIVE, "asptf(0.006)"),
    (IN_DRIVE, "sptf+age-limit(400 ms)"),
    (IN_HOST, "c-look"),
    (IN_HOST, "sptf"),
]
found = {}
print(f"{'in':6} {'scheduler':24} {'mean':>9} {'p99':>9} {'longest':>9}  ms")
for place, scheduler in orders:
    times = response(place, scheduler)
    where = "host" if place == IN_HOST else "drive"
    found[where, scheduler] = times
    print(f"{where:6} {scheduler:24} {times['mean']:9.1f} {times['p99']:9.1f} {times['max']:9.1f}")

# The drive drowns first come, first served.
assert found["drive", "fcfs"]["mean"] > 1000
# Knowing the rotation is worth a third of the mean and more.
assert found["drive", "sptf"]["mean"] < 0.67 * found["drive", "c-look"]["mean"]
# In the host it is worth as much, with the overheads in the estimate.
assert found["host", "sptf"]["mean"] < 0.67 * found["host", "c-look"]["mean"]
# SPTF lets some wait for long; ageing shortens the tail for little, an age limit cuts it off.
assert found["drive", "asptf(0.006)"]["max"] < found["drive", "sptf"]["max"]
assert found["drive", "asptf(0.006)"]["mean"] < 1.1 * found["drive", "sptf"]["mean"]
assert found["drive", "sptf+age-limit(400 ms)"]["max"] < 500 < found["drive", "sptf"]["max"]
