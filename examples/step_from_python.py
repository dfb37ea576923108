"""A disk inside another simulator: submit requests, ask when the next thing happens, and move there."""

import heapq

import headstack

MS = 1_000_000
disk = headstack.Stepper(headstack.System("hp-97560"))

# The other simulator has a calendar of its own: one program reads a file block by block, thinking 5 ms in
# between, and another writes somewhere else every 200 ms.
calendar = [(0, "reader"), (12 * MS, "writer")]
blocks, written, done = 0, 0, []

while len(done) < 200:
    next_own = calendar[0][0]
    next_disk = disk.next_event_ns()
    if next_disk is not None and next_disk <= next_own:
        for completion in disk.advance(next_disk):
            done.append(completion)
            if completion.op == "read":
                heapq.heappush(calendar, (completion.finish_ns + 5 * MS, "reader"))
        continue
    now, who = heapq.heappop(calendar)
    disk.advance(now)
    if who == "reader":
        disk.submit(now, "read", lba=1_000_000 + 16 * blocks, sectors=16)
        blocks += 1
    else:
        disk.submit(now, "write", lba=2_000_000 + 64 * written, sectors=16)
        written += 1
        heapq.heappush(calendar, (now + 200 * MS, "writer"))

responses = sorted((completion.finish_ns - completion.arrival_ns) / MS for completion in done)
print(f"{len(done)} requests, mean response {sum(responses) / len(responses):.2f} ms")

# Nothing is early, and the phases of each request add up to its response, to the nanosecond.
assert responses[0] > 0
for completion in done:
    assert sum(completion.phases_ns().values()) == completion.finish_ns - completion.arrival_ns
# Read-ahead serves the sequential reads between two writes: a controller overhead and the bus, no revolution.
assert responses[len(responses) // 4] < 4.0
