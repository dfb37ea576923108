"""A disk inside another simulator: submit requests, ask when the next thing happens, and move there."""

import heapq

import headstack

system = headstack.Stepper("hp-97560")

# The other simulator has a calendar of its own: one program reads a file block by block, thinking 5 ms in
# between, and another writes somewhere else every 40 ms.
calendar = [(0.0, "reader"), (12.0, "writer")]
block, written, responses = 0, 0, []

while len(responses) < 200:
    next_own = calendar[0][0] if calendar else float("inf")
    next_disk = system.next_event_ms()
    if next_disk is not None and next_disk <= next_own:
        for done in system.advance(next_disk):
            responses.append(done.response_ms)
            if done.op == "read":
                heapq.heappush(calendar, (done.finish_ms + 5.0, "reader"))
        continue
    now, who = heapq.heappop(calendar)
    if who == "reader":
        system.submit(now, op="read", lba=1_000_000 + 16 * block, sectors=16)
        block += 1
    else:
        system.submit(now, op="write", lba=2_000_000 + 64 * written, sectors=16)
        written += 1
        heapq.heappush(calendar, (now + 40.0, "writer"))

print(f"{len(responses)} requests, mean response {sum(responses) / len(responses):.2f} ms")
assert block > 100
assert all(response > 0 for response in responses)
# Read-ahead serves most of the sequential reads: a controller overhead and the bus, no revolution.
assert sorted(responses)[len(responses) // 4] < 4.0
