//! The paper's analytic model as a device (Talagala et al. 1999, equations 1 to 7).

use super::{Access, Device, DeviceInfo, Window};
use crate::MeasureError;
use headstack_units::Nanos;

/// The parameters of the analytic model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MockParameters {
    /// Revolutions per minute.
    pub rpm: f64,
    /// Recording surfaces.
    pub heads: u32,
    /// Sectors per track.
    pub sectors_per_track: u32,
    /// Minimum time to media, in ms.
    pub mtm_ms: f64,
    /// Head switch, in ms.
    pub head_switch_ms: f64,
    /// Cylinder switch, in ms.
    pub cylinder_switch_ms: f64,
    /// Cylinders.
    pub cylinders: u32,
}

impl Default for MockParameters {
    /// The mock disk of Figure 3.
    fn default() -> Self {
        Self {
            rpm: 7200.0,
            heads: 15,
            sectors_per_track: 150,
            mtm_ms: 2.0,
            head_switch_ms: 0.7,
            cylinder_switch_ms: 2.1,
            cylinders: 1000,
        }
    }
}

impl MockParameters {
    /// From `key=value` pairs with commas between: `rpm`, `heads`, `sectors_per_track`, `mtm_ms`, `head_switch_ms`,
    /// `cylinder_switch_ms`, `cylinders`; what is not named is as in Figure 3.
    ///
    /// # Errors
    /// [`MeasureError::Refused`] for unknown keys and values that are no numbers.
    pub fn parse(text: &str) -> Result<Self, MeasureError> {
        let mut parameters = Self::default();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let refused = |problem: String| MeasureError::Refused {
                device: format!("`mock:{text}`"),
                problem,
                hint: "for example `mock:rpm=5400,heads=9,sectors_per_track=142`".to_owned(),
            };
            let (key, value) =
                pair.split_once('=').ok_or_else(|| refused(format!("`{pair}` is not KEY=VALUE")))?;
            let number: f64 = value.parse().map_err(|_| refused(format!("`{value}` is not a number")))?;
            match key {
                "rpm" => parameters.rpm = number,
                "heads" => parameters.heads = number as u32,
                "sectors_per_track" => parameters.sectors_per_track = number as u32,
                "mtm_ms" => parameters.mtm_ms = number,
                "head_switch_ms" => parameters.head_switch_ms = number,
                "cylinder_switch_ms" => parameters.cylinder_switch_ms = number,
                "cylinders" => parameters.cylinders = number as u32,
                _ => return Err(refused(format!("there is no parameter `{key}`"))),
            }
        }
        Ok(parameters)
    }
}

/// A disk that is a formula: an access takes the time to reach the media, what is left of the turn, one sector's
/// transfer, and a switch where the track changes. Any change of cylinder costs the cylinder switch.
///
/// What the formula says of two accesses one behind the other holds here for any pause between them: the disk turns on.
#[derive(Clone, Debug)]
pub struct MockDisk {
    info: DeviceInfo,
    parameters: MockParameters,
    /// The sector behind the last access, and when that ended, in ns.
    position: u64,
    ended_ns: f64,
    now_ns: f64,
}

impl MockDisk {
    /// At rest before sector 0.
    ///
    /// # Errors
    /// [`MeasureError::Refused`] for parameters that describe no disk.
    pub fn new(parameters: MockParameters) -> Result<Self, MeasureError> {
        let turn_ms = 60_000.0 / parameters.rpm;
        let sound = parameters.rpm > 0.0
            && parameters.rpm.is_finite()
            && parameters.heads > 0
            && parameters.sectors_per_track > 1
            && parameters.cylinders > 0
            && [parameters.mtm_ms, parameters.head_switch_ms, parameters.cylinder_switch_ms]
                .iter()
                .all(|&time| (0.0..turn_ms).contains(&time));
        if !sound {
            return Err(MeasureError::Refused {
                device: "mock:".to_owned(),
                problem: format!("{parameters:?} describes no disk"),
                hint: "speeds and counts above 0, times below a revolution".to_owned(),
            });
        }
        let sectors = u64::from(parameters.heads)
            * u64::from(parameters.sectors_per_track)
            * u64::from(parameters.cylinders);
        let info = DeviceInfo {
            name: "mock:".to_owned(),
            kind: "mock".to_owned(),
            sectors,
            sector_bytes: 512,
            physical_sector_bytes: 512,
            writable: true,
            queue_depth: 1,
            rotational: Some(true),
            overhead_ns: 0,
        };
        Ok(Self { info, parameters, position: 0, ended_ns: 0.0, now_ns: 0.0 })
    }

    fn switch_ms(&self, lba: u64) -> f64 {
        let track = u64::from(self.parameters.sectors_per_track);
        let last = self.position.saturating_sub(1);
        let cylinder = track * u64::from(self.parameters.heads);
        if lba / cylinder != last / cylinder {
            self.parameters.cylinder_switch_ms
        } else if lba / track == last / track {
            0.0
        } else {
            self.parameters.head_switch_ms
        }
    }

    /// Equations 2, 4, 6 and 7, in ms.
    fn latency_ms(&self, lba: u64) -> f64 {
        let sectors = f64::from(self.parameters.sectors_per_track);
        let turn_ms = 60_000.0 / self.parameters.rpm;
        let sector_ms = turn_ms / sectors;
        let step = lba as f64 - self.position as f64;
        let waited_ms = (self.now_ns - self.ended_ns) / 1e6;
        // Equation 1, for the time from the end of the access before; served without a turn at equality.
        let passed = (self.parameters.mtm_ms + waited_ms) / sector_ms;
        let ahead = (step - passed + 1e-9).rem_euclid(sectors) - 1e-9;
        ahead.max(0.0) * sector_ms + self.parameters.mtm_ms + sector_ms + self.switch_ms(lba)
    }
}

impl Device for MockDisk {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Nanos {
        Nanos(self.now_ns.round() as u64)
    }

    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError> {
        self.now_ns = self.now_ns.max(at.0 as f64);
        Ok(())
    }

    fn access(&mut self, access: Access) -> Result<Window, MeasureError> {
        if access.lba + u64::from(access.sectors) > self.info.sectors {
            return Err(MeasureError::Access {
                device: self.info.name.clone(),
                what: if access.mode.is_write() { "write" } else { "read" },
                lba: access.lba,
                sectors: access.sectors,
                reason: "beyond the end".to_owned(),
            });
        }
        let start = self.now();
        let sector_ms = 60_000.0 / self.parameters.rpm / f64::from(self.parameters.sectors_per_track);
        let first_ms = self.latency_ms(access.lba);
        let crossed: f64 = (1..u64::from(access.sectors))
            .map(|index| {
                let at = Self { position: access.lba + index, ..self.clone() };
                sector_ms + at.switch_ms(access.lba + index)
            })
            .sum();
        self.now_ns += (first_ms + crossed) * 1e6;
        self.ended_ns = self.now_ns;
        self.position = access.lba + u64::from(access.sectors);
        Ok(Window { start, end: self.now() })
    }

    fn queued(&mut self, accesses: &[Access], _depth: u32) -> Result<Vec<Window>, MeasureError> {
        accesses.iter().map(|&access| self.access(access)).collect()
    }

    fn flush(&mut self) -> Result<(), MeasureError> {
        Ok(())
    }
}
