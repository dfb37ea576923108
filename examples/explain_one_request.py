"""Why the second of two reads takes most of a revolution.

They ask for neighbouring sectors, one right after the other, of a drive without a cache. While the controller
decodes the second one, its sector passes under the head.
"""

import headstack

first, second = headstack.explain("mock-disk", [1_000, 1_001], sectors=1).timelines
for timeline in (first, second):
    print(f"sector {timeline['lba']}: {timeline['response_ms']:.3f} ms")
    for step in timeline["steps"]:
        print(f"  {step['label']:<9} {step['end_ms'] - step['start_ms']:6.3f} ms  {step['note']}")

# The controller takes 2.0 ms before it looks at the disk, in which 36 sectors pass: a turn less 36 is left.
sector_ms = second["rotation_ms"] / 150
assert abs(second["phases_ms"]["rotation"] - (150 - 36) * sector_ms) < 0.001
assert abs(second["response_ms"] - (2.0 + (150 - 36 + 1) * sector_ms)) < 0.001

# Ask for the next sector to arrive instead, and there is next to nothing to wait for.
_, later = headstack.explain("mock-disk", [1_000, 1_038], sectors=1).timelines
assert later["phases_ms"]["rotation"] < sector_ms
