//! What the model of a drive must look like from outside, computed from its description and layout and from nothing that the
//! extraction uses.

use headstack_drive::DriveModel;
use headstack_drive::layout::Layout;
use headstack_drive::spec::{DriveSpec, Order};
use headstack_system::System;

pub struct TrueZone {
    pub first_lba: u64,
    pub sectors_per_track: u64,
    pub per_turn: u64,
}

pub struct Truth {
    pub spec: DriveSpec,
    pub layout: Layout,
    pub turn_ms: f64,
    pub zones: Vec<TrueZone>,
    /// Reads follow reads, as on a device that is not written; else they follow writes.
    pub only_reads: bool,
}

impl Truth {
    pub fn of(name: &str) -> Self {
        let system = System::load(name, &[]).unwrap();
        Self::of_model(system.model(0).unwrap())
    }

    pub fn of_model(model: &DriveModel) -> Self {
        let spec = model.spec().clone();
        let layout = Layout::new(&spec.layout);
        let mut zones: Vec<TrueZone> = Vec::new();
        // Neighbours with equally many sectors look like one zone.
        for (zone, summary) in spec.layout.zone.iter().zip(layout.zones()) {
            let sectors = u64::from(zone.sectors_per_track);
            if summary.sectors == 0 || zones.last().is_some_and(|last| last.sectors_per_track == sectors) {
                continue;
            }
            zones.push(TrueZone {
                first_lba: summary.first_lba,
                sectors_per_track: sectors,
                per_turn: sectors + u64::from(zone.spare_sectors_per_track),
            });
        }
        let rpm = spec.rotation_rpm * (1.0 + spec.spindle.error_percent / 100.0);
        Self { turn_ms: 60_000.0 / rpm, layout, zones, spec, only_reads: false }
    }

    pub fn by_surface(&self) -> bool {
        self.spec.layout.order == Order::SerpentineBySurface
    }

    /// Track and cylinder skew where a sector is.
    pub fn skews_at(&self, lba: u64) -> (f64, f64) {
        let zone = &self.spec.layout.zone[self.layout.locate(lba).zone as usize];
        (zone.track_skew_sectors, zone.cylinder_skew_sectors)
    }

    fn bus_ms(&self, rate_mb_per_s: f64) -> f64 {
        // Several sectors flow while they pass: the last one, or the first of a write, counts.
        let bytes = f64::from(self.spec.sector_bytes);
        bytes / rate_mb_per_s / 1e3 + (self.spec.bus.arbitration_us) / 1e3
    }

    /// From issue to the start of the sector's passing under the head plus what follows its end: a write that follows a
    /// write, `move_ms` the repositioning (`None`: same track).
    pub fn write_mtm_ms(&self, move_ms: Option<f64>) -> f64 {
        let c = &self.spec.controller;
        let by = c.by_history.as_ref();
        let overhead = match (by, move_ms) {
            (Some(by), None) => by.write_hit_ms[1],
            (Some(by), Some(_)) => by.write_miss_ms[1],
            (None, _) => c.write_overhead_ms,
        };
        let from = by
            .and_then(|by| by.write_seek_after_ms.map(|after| after[1]))
            .or(c.seek_after_ms)
            .unwrap_or(overhead - c.overhead_beside_seek_ms.min(overhead))
            + c.write_after_write_seek_delay_ms;
        let ready = overhead.max(from + move_ms.unwrap_or(0.0));
        let wanted = c.write_data_after_ms.unwrap_or(overhead);
        let supply_ms = c.data_preparation_ms + self.bus_ms(self.spec.bus.write_mb_per_s);
        let data = if self.spec.buffer.write_overlaps_seek {
            wanted + supply_ms
        } else {
            // They are fetched when the arm is there, over a bus that may have been let go.
            let reconnect_us = if self.spec.bus.disconnects { self.spec.bus.reconnect_us } else { 0.0 };
            wanted.max(ready) + supply_ms + reconnect_us / 1e3
        };
        ready.max(data + self.spec.buffer.write_start_ms) + c.write_completion_ms
    }

    /// The same for a read.
    pub fn read_mtm_ms(&self, move_ms: Option<f64>) -> f64 {
        let c = &self.spec.controller;
        let before = usize::from(!self.only_reads);
        let by = c.by_history.as_ref();
        let overhead = by.map_or(c.read_overhead_ms, |by| by.read_miss_ms[before]);
        let from = by
            .and_then(|by| by.read_seek_after_ms.map(|after| after[before]))
            .or(c.seek_after_ms)
            .unwrap_or(overhead - c.overhead_beside_seek_ms.min(overhead));
        let ready = overhead.max(from + move_ms.unwrap_or(0.0));
        ready + self.read_after_ms()
    }

    /// From the end of a read's passing under the head to its completion. The drive asks for the bus when the fence is in its
    /// buffer, which is one sector at least: with nothing to send it does not ask. Getting the bus then takes its time, but what
    /// comes off the media in the meantime does not wait for it.
    fn read_after_ms(&self) -> f64 {
        let (bus, buffer) = (&self.spec.bus, &self.spec.buffer);
        let bytes = f64::from(self.spec.sector_bytes);
        let sectors = f64::from(self.spec.physical_sector_bytes.unwrap_or(self.spec.sector_bytes)) / bytes;
        let fence = match buffer.read_fence_fraction {
            Some(share) => (share * sectors).ceil(),
            None => (buffer.read_fence_kib * 1024.0 / bytes).floor(),
        };
        let sector_ms = bytes / bus.read_mb_per_s / 1e3;
        let behind_fence_ms = (sectors - fence.clamp(1.0, sectors)) * self.turn_ms
            / f64::from(self.spec.layout.most_sectors_per_track());
        let reconnect_us = if bus.disconnects { bus.reconnect_us } else { 0.0 };
        let setup_ms = (bus.arbitration_us + reconnect_us) / 1e3 + self.spec.controller.data_preparation_ms;
        let all_sent_ms = setup_ms + sectors * sector_ms - behind_fence_ms;
        all_sent_ms.max(sector_ms) + self.spec.controller.read_completion_ms
    }

    /// Repositioning over `cylinders` (0: a head switch) before a write or a read.
    pub fn move_ms(&self, cylinders: u32, heads_differ: bool, write: bool) -> f64 {
        let mechanics = headstack_drive::mechanics::Mechanics::new(&self.spec);
        let op = if write { headstack_units::Op::Write } else { headstack_units::Op::Read };
        let out = mechanics.reposition((cylinders, 0), (0, u32::from(heads_differ)), op).as_ms();
        let inward = mechanics.reposition((0, 0), (cylinders, u32::from(heads_differ)), op).as_ms();
        f64::midpoint(out, inward)
    }

    /// The same to the next cylinder: inwards, or outwards where it is found by reads alone.
    pub fn switch_ms(&self, cylinders: u32, heads_differ: bool, write: bool) -> f64 {
        let mechanics = headstack_drive::mechanics::Mechanics::new(&self.spec);
        let op = if write { headstack_units::Op::Write } else { headstack_units::Op::Read };
        let (near, far) = ((0, 0), (cylinders, u32::from(heads_differ)));
        let (from, to) = if self.only_reads { (far, near) } else { (near, far) };
        mechanics.reposition(from, to, op).as_ms()
    }
}
