//! Devices made of a formula for the time of an access.

use headstack_measure::MeasureError;
use headstack_measure::device::{Access, Device, DeviceInfo, Window};
use headstack_units::Nanos;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// What an access takes, in ms.
pub type Behaviour = fn(&mut At<'_>) -> f64;

/// Where and when an access is made.
pub struct At<'a> {
    pub lba: u64,
    pub now_ms: f64,
    pub since_last_end_ms: f64,
    /// From the access before, as a share of the device.
    pub distance: f64,
    random: &'a mut Pcg64,
}

impl At<'_> {
    pub fn uniform(&mut self) -> f64 {
        self.random.random()
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.uniform() < share
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A device of 64 GiB in virtual time.
pub struct Synthetic {
    info: DeviceInfo,
    behaviour: Behaviour,
    random: Pcg64,
    now_ms: f64,
    last_end_ms: f64,
    last_lba: u64,
}

impl Synthetic {
    pub fn new(behaviour: Behaviour, seed: u64, writable: bool) -> Self {
        let info = DeviceInfo {
            name: "synthetic".to_owned(),
            kind: "block-device".to_owned(),
            sectors: 1 << 27,
            sector_bytes: 512,
            physical_sector_bytes: 4096,
            writable,
            queue_depth: 1,
            rotational: None,
            overhead_ns: 0,
        };
        let random = Pcg64::seed_from_u64(seed);
        Self { info, behaviour, random, now_ms: 0.0, last_end_ms: 0.0, last_lba: 0 }
    }
}

impl Device for Synthetic {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Nanos {
        Nanos::from_ms(self.now_ms)
    }

    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError> {
        self.now_ms = self.now_ms.max(at.as_ms());
        Ok(())
    }

    fn access(&mut self, access: Access) -> Result<Window, MeasureError> {
        let start = self.now();
        let mut at = At {
            lba: access.lba,
            now_ms: self.now_ms,
            since_last_end_ms: self.now_ms - self.last_end_ms,
            distance: access.lba.abs_diff(self.last_lba) as f64 / self.info.sectors as f64,
            random: &mut self.random,
        };
        self.now_ms += (self.behaviour)(&mut at);
        (self.last_end_ms, self.last_lba) = (self.now_ms, access.lba);
        Ok(Window { start, end: self.now() })
    }

    fn queued(&mut self, accesses: &[Access], _depth: u32) -> Result<Vec<Window>, MeasureError> {
        accesses.iter().map(|&access| self.access(access)).collect()
    }

    fn flush(&mut self) -> Result<(), MeasureError> {
        Ok(())
    }
}
