"""Why the second of two reads takes a whole revolution.

They ask for neighbouring sectors, one right after the other, of a drive without a cache. While the controller
decodes the second one, its sector passes under the head.
"""

import headstack

drive = headstack.Drive("mock-disk")
story = headstack.explain("mock-disk", [1_000, 1_001])
print(story)

first, second = story.outcomes
revolution_ms = drive.rotation_ms

# The controller takes 2.0 ms before it looks at the disk, in which 36 sectors pass: a turn less 36 is left.
wait_ms = (150 - 36) / 150 * revolution_ms
assert abs(second.phases_ms["rotation"] - wait_ms) < 0.001
assert abs(second.response_ms - (2.0 + wait_ms + revolution_ms / 150)) < 0.001

# Ask for the sector that is just arriving instead, and there is nothing to wait for.
assert abs(headstack.explain("mock-disk", [1_000, 1_037]).outcomes[1].phases_ms["rotation"]) < 0.001
