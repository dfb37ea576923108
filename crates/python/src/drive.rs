//! `Drive`: one drive model, as a library entry, a file or a text.

use crate::convert::{Reduced, dict, operation, reduced, restored};
use crate::error::Error;
use crate::library::{self, OldNames};
use crate::overrides::Overrides;
use crate::range::{Actuator, AtMs, Cylinder, Distance, Head, LbaNumber, Sector, SectorCount};
use crate::results::{self, Typed, typed};
use headstack_drive::layout::Layout;
use headstack_drive::mechanics::{Mechanics, Reach, Spindle};
use headstack_drive::spec::{DriveSpec, ProvenanceKind, ZoneSpec, old_names};
use headstack_drive::{SkewKind, SkewWarning, skew_warnings, zone_rates};
use headstack_units::{Nanos, Op};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where one sector is.
#[pyclass(frozen, get_all, eq, module = "headstack._core")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// Physical cylinder, 0 at the outer edge.
    cylinder: u32,
    /// Head (surface).
    head: u32,
    /// Slot on the track, counted from the track's first sector, spares included.
    sector: u32,
    /// Slots on the track, spares included.
    sectors_on_track: u32,
    /// Zone, counted from 0.
    zone: u32,
    /// Actuator that serves the address, counted from 0.
    actuator: u32,
    /// The angle at which the sector begins, in turns from the index.
    angle_revolutions: f64,
}

#[pymethods]
impl Place {
    fn __repr__(&self) -> String {
        format!(
            "Place(cylinder={}, head={}, sector={}, angle_revolutions={:.6})",
            self.cylinder, self.head, self.sector, self.angle_revolutions
        )
    }
}

/// A drive model.
///
/// Parameters
/// ----------
/// source
///     A name in the library (`hp-97560`) or the path of a drive file.
/// toml
///     The text of a drive file, instead of `source`.
/// overrides
///     Values to replace: dotted paths (`layout.zone.*.track_skew_sectors`) and what to set, as in a drive file.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Drive {
    pub(crate) id: String,
    pub(crate) spec: DriveSpec,
    layout: Layout,
    mechanics: Mechanics,
    renamed: OldNames,
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (source=None, *, toml=None, overrides=Overrides::default()))]
    fn new(source: Option<PathBuf>, toml: Option<&str>, overrides: Overrides) -> Result<Self, Error> {
        let source = source.as_deref().map(Path::to_string_lossy);
        let (id, spec, renamed) = match (source.as_deref(), toml) {
            (Some(source), None) => library::drive_spec(source, &overrides)?,
            (None, Some(text)) => {
                ("drive".to_owned(), DriveSpec::from_toml_with("drive", text, &overrides)?, old_names(text))
            }
            _ => return Err(Error::input("a drive is either a source or a text", "give one of the two")),
        };
        Ok(Self { renamed, ..Self::of(id, spec) })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced::<Self>(py, &self.id, &self.spec)
    }

    /// The drive that was pickled.
    #[staticmethod]
    fn _restored(id: String, spec: &str) -> Result<Self, Error> {
        Ok(Self::of(id, restored(spec)?))
    }

    /// Maker and model.
    #[getter]
    fn name(&self) -> &str {
        &self.spec.name
    }

    /// Logical sectors.
    #[getter]
    fn capacity_sectors(&self) -> u64 {
        self.layout.capacity() * u64::from(self.spec.actuators)
    }

    /// Bytes in a logical sector.
    #[getter]
    fn sector_bytes(&self) -> u32 {
        self.spec.sector_bytes
    }

    /// Time of one revolution at nominal speed, in ms.
    #[getter]
    fn rotation_ms(&self) -> f64 {
        60_000.0 / self.spec.rotation_rpm
    }

    /// Where a logical sector is.
    fn locate(&self, lba: LbaNumber) -> Result<Place, Error> {
        let lba = lba.0;
        self.within(lba)?;
        let part = self.layout.capacity();
        let place = self.layout.locate(lba % part);
        Ok(Place {
            cylinder: place.cylinder,
            head: place.head,
            sector: place.slot,
            sectors_on_track: place.slots,
            zone: place.zone,
            actuator: (lba / part) as u32,
            angle_revolutions: place.start.as_turns(),
        })
    }

    /// The logical sector at a place; `None` where the slot holds no data.
    #[pyo3(
        signature = (cylinder, head, sector, *, actuator=Actuator(0)),
        text_signature = "($self, cylinder, head, sector, *, actuator=0)"
    )]
    fn lba_at(
        &self,
        cylinder: Cylinder,
        head: Head,
        sector: Sector,
        actuator: Actuator,
    ) -> Result<Option<u64>, Error> {
        let (cylinder, head, sector, actuator) = (cylinder.0, head.0, sector.0, actuator.0);
        let layout = &self.layout;
        if actuator >= self.spec.actuators || head >= layout.heads() || cylinder >= layout.cylinders() {
            return Err(Error::Input(
                format!(
                    "actuator {actuator}, cylinder {cylinder}, head {head} is not on the drive: it has {} actuator(s), \
                     {} cylinders and {} heads, counted from 0",
                    self.spec.actuators,
                    layout.cylinders(),
                    layout.heads()
                ),
                None,
            ));
        }
        let first = u64::from(actuator) * layout.capacity();
        Ok(layout.lba_at(cylinder, head, sector).map(|lba| first + lba))
    }

    /// Time of a seek over so many cylinders, in ms.
    fn seek_ms(&self, distance: Distance) -> Result<f64, Error> {
        let cylinders = self.layout.cylinders();
        if distance.0 >= cylinders {
            return Err(Error::Input(
                format!("no seek goes over {} cylinders: the drive has {cylinders}", distance.0),
                Some(format!("give at most {}", cylinders - 1)),
            ));
        }
        Ok(self.mechanics.curve.time(distance.0).as_ms())
    }

    /// The "average seek" by each of the definitions in use, and the ends of the curve, in ms.
    fn seek_averages<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::SeekTimes>> {
        typed(py, &self.averages())
    }

    /// The zones, outermost first: where they are, and what their media give sequential work (`media_mb_per_s` if no
    /// skew were too short, and what reads and writes get), without controller and bus.
    fn zones<'py>(&self, py: Python<'py>) -> PyResult<Vec<Typed<'py, results::ZoneFigures>>> {
        self.zone_values().iter().map(|zone| typed(py, zone)).collect()
    }

    /// Time from the arm standing on the track of `from_lba` at the instant `at_ms` until the sectors at `to_lba` have
    /// passed under the head: seek, rotation and transfer, without controller, cache and bus.
    #[pyo3(
        signature = (from_lba, to_lba, at_ms=AtMs(0.0), *, sectors=SectorCount(1), op="read"),
        text_signature = "($self, from_lba, to_lba, at_ms=0.0, *, sectors=1, op='read')"
    )]
    fn access_ms(
        &self,
        from_lba: LbaNumber,
        to_lba: LbaNumber,
        at_ms: AtMs,
        sectors: SectorCount,
        op: &str,
    ) -> Result<f64, Error> {
        let (from_lba, to_lba, at_ms, sectors) = (from_lba.0, to_lba.0, at_ms.0, sectors.0);
        self.within(from_lba)?;
        self.within(to_lba)?;
        if u64::from(sectors) > self.capacity_sectors() - to_lba {
            return Err(Error::Input(
                format!("{sectors} sectors from {to_lba} on are not on the drive"),
                Some(format!("the drive has {} sectors", self.capacity_sectors())),
            ));
        }
        let part = self.layout.capacity();
        if from_lba / part != to_lba / part {
            return Err(Error::Input("the two addresses are served by different actuators".into(), None));
        }
        Ok(self.access(from_lba % part, to_lba % part, at_ms, sectors, operation(op)?))
    }

    /// How many values are of each kind of provenance, and the entries.
    fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::Provenance>> {
        typed(py, &provenance(&self.spec))
    }

    /// Skews that are shorter than the switch they stand for, so that sequential work loses revolutions: a list of
    /// `zone`, `skew` (`track` or `cylinder`), `op`, `skew_ms`, `switch_ms`, `share` of the changes of track that lose a
    /// revolution, `missing_sectors`, and the rates `rate_mb_per_s` and `possible_mb_per_s`.
    fn skew_warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Typed<'py, results::SkewWarning>>> {
        skew_warnings(&self.spec).iter().map(|warning| typed(py, &skew_warning(warning))).collect()
    }

    /// Keys of its drive file by names that go with the next version, each with its name now.
    #[getter]
    fn renamed_keys(&self) -> Vec<(&'static str, &'static str)> {
        self.renamed.clone()
    }

    /// Everything about the drive that `headstack drives show` tells.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, results::DriveDescription>> {
        typed(py, &self.description())
    }

    /// The drive file's values.
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &serde_json::to_value(&self.spec).unwrap_or_default())
    }

    /// The drive file's text.
    fn to_toml(&self) -> String {
        self.spec.to_toml()
    }

    fn __repr__(&self) -> String {
        format!("Drive({:?}, {} sectors of {} B)", self.name(), self.capacity_sectors(), self.sector_bytes())
    }
}

impl Drive {
    fn of(id: String, spec: DriveSpec) -> Self {
        Self {
            renamed: Vec::new(),
            layout: Layout::new(&spec.joined_layout()),
            mechanics: Mechanics::new(&spec),
            id,
            spec,
        }
    }

    fn within(&self, lba: u64) -> Result<(), Error> {
        let capacity = self.capacity_sectors();
        if lba < capacity {
            return Ok(());
        }
        Err(Error::Input(
            format!("sector {lba} is past the end of {}, which has {capacity} sectors", self.name()),
            Some(format!("the last sector is {}", capacity - 1)),
        ))
    }

    fn averages(&self) -> Value {
        let averages = self.mechanics.curve.averages();
        json!({
            "third_stroke_ms": averages.third_stroke_ms,
            "full_stroke_third_ms": averages.full_stroke_third_ms,
            "unweighted_ms": averages.unweighted_ms,
            "distance_weighted_ms": averages.distance_weighted_ms,
            "single_cylinder_ms": averages.single_cylinder_ms,
            "full_stroke_ms": averages.full_stroke_ms,
        })
    }

    fn zone_values(&self) -> Vec<Value> {
        let rates = zone_rates(&self.spec);
        let zones = self.layout.zones().zip(rates);
        zones
            .map(|(zone, rate)| {
                json!({
                    "first_lba": zone.first_lba,
                    "sectors": zone.sectors,
                    "first_cylinder": zone.first_cylinder,
                    "last_cylinder": zone.last_cylinder,
                    "sectors_per_track": zone.sectors_per_track,
                    "sectors_per_track_by_head": self.by_head(zone.first_cylinder),
                    "media_mb_per_s": rate.possible_mb_per_s,
                    "sequential_read_mb_per_s": rate.read_mb_per_s,
                    "sequential_write_mb_per_s": rate.write_mb_per_s,
                })
            })
            .collect()
    }

    /// Data sectors on the tracks of each head in the zone that holds a cylinder, where heads differ.
    fn by_head(&self, cylinder: u32) -> Option<&[u32]> {
        let holds = |zone: &&ZoneSpec| (zone.first_cylinder..=zone.last_cylinder).contains(&cylinder);
        let by_head = &self.spec.layout.zone.iter().find(holds)?.sectors_per_track_by_head;
        (!by_head.is_empty()).then_some(by_head)
    }

    fn description(&self) -> Value {
        let spec = &self.spec;
        let capacity = self.capacity_sectors();
        json!({
            "name": spec.name,
            "summary": spec.summary,
            "capacity_sectors": capacity,
            "capacity_bytes": capacity * u64::from(spec.sector_bytes),
            "sector_bytes": spec.sector_bytes,
            "physical_sector_bytes": spec.physical_sector_bytes,
            "rotation_rpm": spec.rotation_rpm,
            "rotation_ms": self.rotation_ms(),
            "actuators": spec.actuators,
            "cylinders": self.layout.cylinders(),
            "heads": self.layout.heads(),
            "head_switch_ms": self.mechanics.head_switch.as_ms(),
            "seek": self.averages(),
            "zones": self.zone_values(),
            "bus": spec.bus,
            "buffer": spec.buffer,
            "cache": spec.cache,
            "write_policy": spec.write_policy,
            "controller": spec.controller,
            "provenance": provenance(spec),
        })
    }

    fn access(&self, from: u64, to: u64, at_ms: f64, sectors: u32, op: Op) -> f64 {
        let (layout, mechanics) = (&self.layout, &self.mechanics);
        let spec = &self.spec;
        let reach = Reach::new(spec);
        let mut spindle = Spindle::new(spec.rotation_rpm, &spec.spindle, 0);
        let start = Nanos::from_ms(at_ms);
        let origin = layout.locate(from);
        let mut arm = reach.of((origin.cylinder, origin.head));
        let mut now = start;
        let (mut next, end) = (to, to + u64::from(sectors));
        while next < end {
            let extent = layout.extent(next, end - next);
            let track = reach.of((extent.cylinder, extent.head));
            now += if next == to {
                mechanics.reposition(arm, track, op)
            } else {
                mechanics.switch(arm, track, op)
            };
            let begin = spindle.next(now, extent.start);
            now = spindle.end_of(begin, extent.start, extent.span(extent.sectors));
            next += u64::from(extent.sectors);
            arm = track;
        }
        (now - start).as_ms()
    }
}

fn skew_warning(warning: &SkewWarning) -> Value {
    json!({
        "zone": warning.zone,
        "skew": match warning.kind {
            SkewKind::Track => "track",
            SkewKind::Cylinder => "cylinder",
        },
        "op": if warning.op == Op::Read { "read" } else { "write" },
        "skew_ms": warning.skew_ms,
        "switch_ms": warning.switch_ms,
        "share": warning.share,
        "missing_sectors": warning.missing_sectors,
        "rate_mb_per_s": warning.rate_mb_per_s,
        "possible_mb_per_s": warning.possible_mb_per_s,
    })
}

/// The shares of each kind of provenance, and every entry.
pub(crate) fn provenance(spec: &DriveSpec) -> Value {
    let counts = spec.provenance_counts();
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let share = |wanted: ProvenanceKind| {
        let of_kind: usize = counts.iter().filter(|(kind, _)| *kind == wanted).map(|(_, count)| count).sum();
        of_kind as f64 / total.max(1) as f64
    };
    json!({
        "values": total,
        "shares": {
            "spec": share(ProvenanceKind::Spec),
            "measured": share(ProvenanceKind::Measured),
            "fitted": share(ProvenanceKind::Fitted),
            "assumed": share(ProvenanceKind::Assumed),
        },
        "entries": spec.provenance,
    })
}
