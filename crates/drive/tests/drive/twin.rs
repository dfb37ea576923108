//! The naive twin: one command on a drive at rest, worked out sector by sector in floating point from the definition of
//! the machine, without any of the model's code.

use crate::common::{command, ms, plain, serve};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Nanos, Op};
use proptest::prelude::*;
use std::sync::Arc;

const TURN_MS: f64 = 10.0;
const SECTOR_MS: f64 = 0.1;

/// The plain drive's layout by its definition: where, in turns, a sector begins, and its track.
fn place(lba: u64) -> (f64, u64, u64) {
    let (track, slot) = (lba / 100, lba % 100);
    let cylinder = track / 4;
    let skew = 10 * (track - cylinder) + 20 * cylinder;
    (((slot + skew) % 100) as f64 / 100.0, cylinder, track % 4)
}

fn move_ms(from: (u64, u64), to: (u64, u64)) -> f64 {
    let d = from.0.abs_diff(to.0) as f64;
    let seek = if d > 0.0 { 2.0 + (d - 1.0) * 9.8 / 98.0 } else { 0.0 };
    seek.max(if from.1 == to.1 { 0.0 } else { 1.0 })
}

/// The first time at or after `t` at which a sector beginning at `angle` comes; a microsecond late is on time.
fn comes(t: f64, angle: f64) -> f64 {
    let turns = t / TURN_MS;
    let wait = (angle - turns.fract()).rem_euclid(1.0) * TURN_MS;
    if TURN_MS - wait < 1e-4 { t } else { t + wait }
}

struct Machine {
    at: f64,
    buffer: usize,
    fence: usize,
    bus_sector_ms: f64,
}

/// How a drive that lets go of the bus uses it, in sectors.
struct Bursts {
    burst: usize,
    gathered: usize,
    room: usize,
    /// A sector that comes this much later than the bus could take it has not come in time, in ms.
    late: f64,
}

/// The mechanism of the naive machine, sector by sector.
struct Arm {
    track: (u64, u64),
    t: f64,
}

impl Arm {
    /// The next sector has passed, which could not begin before `not_before`.
    fn pass(&mut self, lba: u64, not_before: f64) -> f64 {
        let (angle, cylinder, head) = place(lba);
        self.t += move_ms(self.track, (cylinder, head));
        self.track = (cylinder, head);
        let mut start = comes(self.t, angle);
        while start < not_before - 1e-4 {
            start = comes(start + TURN_MS / 2.0, angle);
        }
        self.t = start + SECTOR_MS;
        self.t
    }
}

impl Machine {
    /// The drive sends what it has, lets go of the bus when that is gone or a burst is through, and asks again when enough
    /// has come, or all it can hold.
    fn read_in_bursts(&self, lba: u64, sectors: usize, bursts: &Bursts) -> f64 {
        let mut arm = Arm { track: (0, 0), t: self.at };
        let (mut read, mut sent): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut go_on = |read: &mut Vec<f64>, sent: &[f64]| {
            while read.len() < sectors && read.len() < sent.len() + self.buffer {
                let room = read.len().checked_sub(self.buffer).map_or(0.0, |oldest| sent[oldest]);
                let sector = lba + read.len() as u64;
                read.push(arm.pass(sector, room));
            }
        };
        go_on(&mut read, &sent);
        let mut bus = read[self.fence.min(sectors) - 1];
        loop {
            let first = sent.len();
            while sent.len() < sectors.min(first + bursts.burst) {
                go_on(&mut read, &sent);
                if read[sent.len()] > bus + bursts.late && sent.len() > first {
                    break;
                }
                bus = bus.max(read[sent.len()]) + self.bus_sector_ms;
                sent.push(bus);
            }
            if sent.len() == sectors {
                return bus;
            }
            go_on(&mut read, &sent);
            let enough = (sent.len() + bursts.gathered).min(read.len());
            bus = bus.max(read[enough - 1]);
        }
    }

    /// The drive takes a burst at a time, and the next one at once or, when the buffer has been full, when there is room.
    fn write_in_bursts(&self, lba: u64, sectors: usize, bursts: &Bursts) -> f64 {
        let mut arm = Arm { track: (0, 0), t: self.at };
        let (mut come, mut written): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut bus = self.at;
        while come.len() < sectors {
            let left = sectors - come.len();
            let free = self.buffer.saturating_sub(come.len());
            let count = if free > 0 {
                left.min(bursts.burst).min(free)
            } else {
                let count = left.min(bursts.burst).min(bursts.room).min(self.buffer);
                while written.len() < come.len() + count - self.buffer {
                    written.push(arm.pass(lba + written.len() as u64, come[written.len()]));
                }
                bus = bus.max(*written.last().unwrap());
                count
            };
            for _ in 0..count {
                bus += self.bus_sector_ms;
                come.push(bus);
            }
        }
        while written.len() < sectors {
            written.push(arm.pass(lba + written.len() as u64, come[written.len()]));
        }
        written[sectors - 1]
    }

    fn read(&self, lba: u64, sectors: usize) -> f64 {
        let mut track = (0, 0);
        let mut t = self.at;
        let mut read: Vec<f64> = Vec::new();
        let mut sent: Vec<f64> = Vec::new();
        for i in 0..sectors {
            let (angle, cylinder, head) = place(lba + i as u64);
            t += move_ms(track, (cylinder, head));
            track = (cylinder, head);
            let room = if i >= self.buffer { sent[i - self.buffer] } else { 0.0 };
            let mut start = comes(t, angle);
            while start < room - 1e-4 {
                start = comes(start + TURN_MS / 2.0, angle);
            }
            t = start + SECTOR_MS;
            read.push(t);
            // The bus begins when the fence is reached; it cannot be reached later than all of it or a full buffer.
            let fence = self.fence.min(sectors);
            if read.len() == fence {
                let mut free = t;
                for arrived in &read {
                    free = free.max(*arrived) + self.bus_sector_ms;
                    sent.push(free);
                }
            } else if read.len() > fence {
                sent.push(sent[i - 1].max(t) + self.bus_sector_ms);
            }
        }
        sent[sectors - 1]
    }

    fn write(&self, lba: u64, sectors: usize) -> f64 {
        let mut track = (0, 0);
        let mut t = self.at;
        let mut received: Vec<f64> = Vec::new();
        let mut written: Vec<f64> = Vec::new();
        let arrival = |i: usize, received: &[f64], written: &[f64]| {
            let before = if i == 0 { self.at } else { received[i - 1] };
            let room = if i >= self.buffer { written[i - self.buffer] } else { 0.0 };
            before.max(room) + self.bus_sector_ms
        };
        for i in 0..sectors {
            while received.len() < sectors && received.len() < written.len() + self.buffer {
                let next = arrival(received.len(), &received, &written);
                received.push(next);
            }
            let (angle, cylinder, head) = place(lba + i as u64);
            t += move_ms(track, (cylinder, head));
            track = (cylinder, head);
            let mut start = comes(t, angle);
            while start < received[i] - 1e-4 {
                start = comes(start + TURN_MS / 2.0, angle);
            }
            t = start + SECTOR_MS;
            written.push(t);
        }
        written[sectors - 1]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn one_read_takes_what_the_naive_machine_takes(
        at_us in 0_u64..40_000,
        lba in 0_u64..39_000,
        sectors in 1_u32..400,
        buffer in 8_u64..300,
        fence_share in 0.0..1.0_f64,
        bus_sector_us in prop::sample::select(vec![2_u64, 40, 99, 101, 130, 256, 700]),
    ) {
        let fence = ((buffer as f64 * fence_share) as u64).max(1);
        let rate = 512.0 / bus_sector_us as f64;
        let spec = plain(&format!(
            "bus = {{ read_mb_per_s = {rate:?}, write_mb_per_s = {rate:?} }}\nbuffer = {{ size_kib = {:?}, read_fence_kib = {:?} }}\n",
            buffer as f64 / 2.0, fence as f64 / 2.0
        ));
        let mut drive = Drive::new(Arc::new(DriveModel::new(&spec).unwrap()), 1);
        let outcome = serve(&mut drive, Nanos(at_us * 1000), command(0, Op::Read, lba, sectors));
        let naive = Machine { at: at_us as f64 / 1e3, buffer: buffer as usize, fence: fence as usize,
            bus_sector_ms: bus_sector_us as f64 / 1e3 }.read(lba, sectors as usize);
        prop_assert!((outcome.finish.as_ms() - naive).abs() < 0.002,
            "model {} ms, naive {naive} ms: {outcome:?}", outcome.finish.as_ms());
    }

    #[test]
    fn one_command_in_bursts_takes_what_the_naive_machine_takes(
        read: bool,
        at_us in 0_u64..40_000,
        lba in 0_u64..39_000,
        sectors in 1_u32..400,
        buffer in 8_u64..300,
        fence_share in 0.0..1.0_f64,
        (burst, gathered, room) in (1_u64..200, 1_u64..200, 1_u64..200),
        bus_sector_us in prop::sample::select(vec![2_u64, 40, 99, 101, 130, 256]),
    ) {
        let fence = ((buffer as f64 * fence_share) as u64).max(1);
        let rate = 512.0 / bus_sector_us as f64;
        let kib = |sectors: u64| sectors as f64 / 2.0;
        let spec = plain(&format!(
            "bus = {{ read_mb_per_s = {rate:?}, write_mb_per_s = {rate:?} }}\nbuffer = {{ bus_transfers = \"bursts\", \
             size_kib = {:?}, read_fence_kib = {:?}, write_fence_kib = 0.5, burst_kib = {:?}, buffer_full_kib = {:?}, \
             buffer_empty_kib = {:?} }}\n",
            kib(buffer), kib(fence), kib(burst), kib(gathered.min(buffer)), kib(room.min(buffer))
        ));
        let mut drive = Drive::new(Arc::new(DriveModel::new(&spec).unwrap()), 1);
        let op = if read { Op::Read } else { Op::Write };
        let outcome = serve(&mut drive, Nanos(at_us * 1000), command(0, op, lba, sectors));
        let machine = Machine { at: at_us as f64 / 1e3, buffer: buffer as usize, fence: fence as usize,
            bus_sector_ms: bus_sector_us as f64 / 1e3 };
        // Where a sector comes just when the bus is there for it, the model's ticks decide: either is right.
        let naive = [1e-7, -2e-6].map(|late| {
            let bursts = Bursts { burst: burst.min((buffer / 2).max(1)) as usize, gathered: gathered.min(buffer) as usize,
                room: room.min(buffer) as usize, late };
            if read {
                machine.read_in_bursts(lba, sectors as usize, &bursts)
            } else {
                machine.write_in_bursts(lba, sectors as usize, &bursts)
            }
        });
        prop_assert!(naive.iter().any(|naive| (outcome.finish.as_ms() - naive).abs() < 0.002),
            "model {} ms, naive {naive:?} ms: {outcome:?}", outcome.finish.as_ms());
        // The bus is held for the data alone: no arbitration here, and no reconnection.
        prop_assert!(outcome.busy.bus.0.abs_diff(outcome.bus_data.0) <= u64::from(outcome.bus_transfers));
        prop_assert_eq!(outcome.phases.total(), outcome.finish - outcome.submitted);
    }

    #[test]
    fn one_write_takes_what_the_naive_machine_takes(
        at_us in 0_u64..40_000,
        lba in 0_u64..39_000,
        sectors in 1_u32..400,
        buffer in 8_u64..300,
        bus_sector_us in prop::sample::select(vec![2_u64, 40, 99, 101, 130, 256, 700]),
    ) {
        let rate = 512.0 / bus_sector_us as f64;
        // A fence of one sector: begin as soon as the first sector is there, whatever comes of it.
        let spec = plain(&format!(
            "bus = {{ read_mb_per_s = {rate:?}, write_mb_per_s = {rate:?} }}\nbuffer = {{ size_kib = {:?}, write_fence_kib = 0.5 }}\n",
            buffer as f64 / 2.0
        ));
        let mut drive = Drive::new(Arc::new(DriveModel::new(&spec).unwrap()), 1);
        let outcome = serve(&mut drive, Nanos(at_us * 1000), command(0, Op::Write, lba, sectors));
        let naive = Machine { at: at_us as f64 / 1e3, buffer: buffer as usize, fence: 1,
            bus_sector_ms: bus_sector_us as f64 / 1e3 }.write(lba, sectors as usize);
        prop_assert!((outcome.finish.as_ms() - naive).abs() < 0.002,
            "model {} ms, naive {naive} ms: {outcome:?}", outcome.finish.as_ms());
    }

    /// Waiting for the bus to stay ahead is never slower than starting at once and losing revolutions.
    #[test]
    fn starting_in_time_beats_running_dry(
        lba in 0_u64..39_000, sectors in 1_u32..100, bus_sector_us in 50_u64..400, at_us in 0_u64..10_000,
    ) {
        let rate = 512.0 / bus_sector_us as f64;
        let at = ms(at_us as f64 / 1e3);
        let finish = |fence: &str| {
            let spec = plain(&format!(
                "bus = {{ read_mb_per_s = {rate:?}, write_mb_per_s = {rate:?} }}\nbuffer = {{ size_kib = 64.0{fence} }}\n"
            ));
            let mut drive = Drive::new(Arc::new(DriveModel::new(&spec).unwrap()), 1);
            serve(&mut drive, at, command(0, Op::Write, lba, sectors)).finish
        };
        prop_assert!(finish("") <= finish(", write_fence_kib = 0.5") + Nanos(2000));
    }
}
