//! A simulated system as a device, in virtual time.

use super::{Access, Device, DeviceInfo, Mode, Window};
use crate::MeasureError;
use headstack_system::{Stepper, System};
use headstack_trace::Request;
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How far the host's view of a simulated device is from the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Each time is read too long or too short by up to this share of it, evenly distributed.
    pub relative: f64,
    /// This share of completions is seen late …
    pub outlier_share: f64,
    /// … by this much on average (exponentially distributed), in ms.
    pub outlier_ms: f64,
}

impl Noise {
    /// None.
    pub const NONE: Self = Self { relative: 0.0, outlier_share: 0.0, outlier_ms: 0.0 };
}

/// A system in virtual time: an access takes what it takes in the model, and no time of ours.
pub struct SimulatedDevice {
    info: DeviceInfo,
    made_by: Option<String>,
    stepper: Stepper,
    now: Nanos,
    noise: Noise,
    random: Pcg64,
    /// The address accessed last.
    last: u64,
}

impl SimulatedDevice {
    /// The first volume of a system, at rest at time 0.
    ///
    /// # Errors
    /// [`MeasureError::System`] if the system cannot run.
    pub fn new(name: &str, system: &Arc<System>, seed: u64) -> Result<Self, MeasureError> {
        let shape = &system.devices()[0];
        let physical = system
            .model(0)
            .and_then(|model| model.spec().physical_sector_bytes)
            .unwrap_or(shape.sector_bytes)
            .max(shape.sector_bytes);
        let info = DeviceInfo {
            name: name.to_owned(),
            kind: "simulated".to_owned(),
            sectors: shape.sectors,
            sector_bytes: shape.sector_bytes,
            physical_sector_bytes: physical,
            writable: true,
            queue_depth: 256,
            rotational: None,
            overhead_ns: 0,
        };
        let stepper = Stepper::new(system, seed);
        Ok(Self {
            made_by: None,
            info,
            stepper,
            now: Nanos::ZERO,
            noise: Noise::NONE,
            random: Pcg64::seed_from_u64(seed ^ 0x5eed_0f5e_a501),
            last: 0,
        })
    }

    /// The same device seen by an inaccurate host.
    #[must_use]
    pub fn with_noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// The same device, which says by what options it was made.
    #[must_use]
    pub fn made_by(mut self, words: String) -> Self {
        self.made_by = Some(words);
        self
    }

    /// The same device, not to be written.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.info.writable = false;
        self
    }

    fn request(&self, access: Access) -> Result<Request, MeasureError> {
        if access.mode.is_write() && !self.info.writable {
            return Err(MeasureError::Refused {
                device: self.info.name.clone(),
                problem: "it was opened for reading only".to_owned(),
                hint: "open it for writing, or use a probe that reads".to_owned(),
            });
        }
        let op = if access.mode.is_write() { Op::Write } else { Op::Read };
        let mut request = Request::new(self.now, op, Lba(access.lba), access.sectors);
        if access.mode == Mode::WriteForced {
            request.flags = RequestFlags::FORCE_MEDIA;
        }
        Ok(request)
    }

    /// A request goes alone: when it was submitted, and when it was complete.
    fn complete(&mut self, request: Request) -> Result<(Nanos, Nanos), MeasureError> {
        self.stepper.advance(self.now);
        let start = self.now;
        let id = self.stepper.submit(request)?;
        while let Some(next) = self.stepper.next_event() {
            if let Some(row) = self.stepper.advance(next).into_iter().find(|row| row.id == id) {
                return Ok((start, row.finish));
            }
        }
        unreachable!("a submitted request completes")
    }

    /// What the host sees of a completion, which it waits for.
    fn seen(&mut self, start: Nanos, end: Nanos) -> Window {
        let seen = self.seen_at(start, end);
        self.now = self.now.max(end).max(seen);
        Window { start, end: seen }
    }

    /// When the host sees a completion.
    fn seen_at(&mut self, start: Nanos, end: Nanos) -> Nanos {
        let noise = self.noise;
        let mut seen = end;
        if noise.relative > 0.0 {
            let share = noise.relative * (2.0 * self.random.random::<f64>() - 1.0);
            let length = (end - start).0 as f64;
            seen = Nanos((end.0 as f64 + share * length).round() as u64).max(start);
        }
        if noise.outlier_share > 0.0 && self.random.random::<f64>() < noise.outlier_share {
            let late = -noise.outlier_ms * (1.0 - self.random.random::<f64>()).ln();
            seen += Nanos::from_ms(late);
        }
        seen
    }
}

impl Device for SimulatedDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn made_by(&self) -> Option<&str> {
        self.made_by.as_deref()
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError> {
        self.now = self.now.max(at);
        self.stepper.advance(self.now);
        Ok(())
    }

    fn access(&mut self, access: Access) -> Result<Window, MeasureError> {
        let request = self.request(access)?;
        let (start, finish) = self.complete(request)?;
        self.last = access.lba;
        Ok(self.seen(start, finish))
    }

    fn queued(&mut self, accesses: &[Access], depth: u32) -> Result<Vec<Window>, MeasureError> {
        self.stepper.advance(self.now);
        let mut windows = vec![Window { start: Nanos::ZERO, end: Nanos::ZERO }; accesses.len()];
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        // Complete, and when the host will see it.
        let mut unseen: BTreeSet<(Nanos, usize)> = BTreeSet::new();
        let mut next = 0;
        loop {
            while next < accesses.len() && places.len() + unseen.len() < depth.max(1) as usize {
                let request = self.request(accesses[next])?;
                windows[next].start = self.now;
                places.insert(self.stepper.submit(request)?, next);
                self.last = accesses[next].lba;
                next += 1;
            }
            if places.is_empty() && unseen.is_empty() {
                return Ok(windows);
            }
            let seen = unseen.first().map(|&(seen, _)| seen);
            let Some(event) = self.stepper.next_event().into_iter().chain(seen).min() else {
                unreachable!("a submitted request completes")
            };
            self.now = self.now.max(event);
            for row in self.stepper.advance(self.now) {
                if let Some(place) = places.remove(&row.id) {
                    windows[place].end = self.seen_at(windows[place].start, row.finish);
                    unseen.insert((windows[place].end, place));
                }
            }
            let now = self.now;
            unseen.retain(|&(seen, _)| seen > now);
        }
    }

    fn flush(&mut self) -> Result<(), MeasureError> {
        if self.info.writable {
            // A system takes no request without sectors: the one accessed last is read after the flush.
            let mut request = self.request(Access { mode: Mode::Read, lba: self.last, sectors: 1 })?;
            request.flags = RequestFlags::FLUSH;
            let (_, finish) = self.complete(request)?;
            self.now = self.now.max(finish);
        }
        Ok(())
    }
}
