"""A first run: a drive of the library under a Unix-like load, and where its time goes."""

import headstack

run = headstack.simulate("hp-97560", "unix-like", requests=20_000)
summary = run.summary

print(f"{summary['requests']} requests in {summary['simulated_s']:.0f} s of simulated time")
print(f"response: mean {summary['response_ms']['mean']:.2f} ms, 99 % {summary['response_ms']['p99']:.2f} ms")
for phase, mean in summary["phases_ms"].items():
    print(f"  {phase:<9} {mean:7.3f} ms")

# The phases partition the response: nothing is left over, nothing counted twice.
assert abs(sum(summary["phases_ms"].values()) - summary["response_ms"]["mean"]) < 1e-6
assert summary["requests"] == 20_000

# Many writes are reported complete as soon as they are in the buffer; many reads find what was read ahead.
assert summary["cache"]["writes_reported_early"] > 0
assert summary["cache"]["read_hits"] > 0

# The same configuration and seed give the same numbers, bit for bit.
again = headstack.simulate("hp-97560", "unix-like", requests=20_000).summary
assert again["response_ms"] == summary["response_ms"]
assert again["config_hash"] == summary["config_hash"]
