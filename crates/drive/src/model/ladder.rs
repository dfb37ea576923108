//! The ladder of models M0–M5 (Ruemmler & Wilkes 1994, Table 3) as presets over one model: each rung is the same drive
//! description with effects left out.

use crate::mechanics::SeekCurve;
use crate::scheduler::{Needs, Policy};
use crate::spec::{
    ArmsSpec, BufferSpec, DriveSpec, LadderStep, RotationModel, SeekSpec, SwitchModel, TransferModel,
    WriteCacheSpec, WritePolicy,
};

impl LadderStep {
    /// All rungs, lowest first.
    pub const ALL: [Self; 6] = [Self::M0, Self::M1, Self::M2, Self::M3, Self::M4, Self::M5];

    /// "M0" … "M5".
    pub fn name(self) -> &'static str {
        ["M0", "M1", "M2", "M3", "M4", "M5"][self as usize]
    }

    /// What the rung models, in one line.
    pub fn content(self) -> &'static str {
        match self {
            Self::M0 => "constant time per request",
            Self::M1 => "linear seek, uniform rotational delay, linear transfer, fixed overhead",
            Self::M2 => "adds the drive's seek curve and a fixed cost per track switch",
            Self::M3 => "adds rotational position, skews, and overlap of media and bus",
            Self::M4 => "adds read-ahead and early completion of writes",
            Self::M5 => {
                "adds overheads by request and history, and measured bus rates: the drive file as it stands"
            }
        }
    }
}

impl DriveSpec {
    /// The drive as the rung sees it. `constant_ms` is what every request takes on M0, usually the measured mean.
    #[must_use]
    pub fn ladder(&self, step: LadderStep, constant_ms: f64) -> Self {
        let mut spec = self.clone();
        if step < LadderStep::M5 {
            spec.forget_history();
            if let Some(rate) = self.published.bus_mb_per_s {
                (spec.bus.read_mb_per_s, spec.bus.write_mb_per_s) = (rate, rate);
            }
        }
        if step < LadderStep::M4 {
            spec.cache = None;
            spec.write_policy = WritePolicy::WriteThrough {};
            spec.write_cache = WriteCacheSpec::default();
        }
        if step < LadderStep::M3 {
            spec.fidelity.rotation = RotationModel::Uniform;
            let surfaces_at_once = spec.arms.surfaces_at_once;
            spec.arms = ArmsSpec { surfaces_at_once, ..ArmsSpec::default() };
            spec.fidelity.switch = SwitchModel::Fixed;
            spec.fidelity.transfer = TransferModel::Linear;
            spec.buffer = BufferSpec {
                size_kib: self.buffer.size_kib,
                write_overlaps_seek: self.buffer.write_overlaps_seek,
                ..BufferSpec::default()
            };
            spec.physical_sector_bytes = None;
            let policy = spec.controller.scheduler.parse::<Policy>();
            if policy.is_ok_and(|policy| policy.needs() > Needs::Addresses) {
                // Who does not know the rotation can go by the seek.
                "sstf".clone_into(&mut spec.controller.scheduler);
            }
            spec.controller.overhead_beside_seek_ms = 0.0;
            let published = &self.published;
            let controller = &mut spec.controller;
            controller.read_overhead_ms = published.read_overhead_ms.unwrap_or(controller.read_overhead_ms);
            controller.write_overhead_ms =
                published.write_overhead_ms.unwrap_or(controller.write_overhead_ms);
        }
        if step < LadderStep::M2 {
            let cylinders =
                spec.layout.cylinders.unwrap_or_else(|| spec.layout.cylinders_with_tracks().max(1));
            spec.seek = SeekCurve::new(&self.seek, cylinders).linearised();
            if let SeekSpec::Linear { single_cylinder_ms, full_stroke_ms } = &mut spec.seek {
                *single_cylinder_ms = self.published.single_cylinder_seek_ms.unwrap_or(*single_cylinder_ms);
                *full_stroke_ms = self.published.full_stroke_seek_ms.unwrap_or(*full_stroke_ms);
            }
            spec.fidelity.switch = SwitchModel::Free;
        }
        if step < LadderStep::M1 {
            spec.fidelity.constant_ms = Some(constant_ms);
            // No arm rests where none works.
            if let Some(power) = &mut spec.power {
                power.condition.clear();
            }
        }
        spec.cover_shadowed_values(step);
        spec
    }

    /// What a command costs does not depend on the one before, nor on where the arm comes from.
    fn forget_history(&mut self) {
        let controller = &mut self.controller;
        controller.by_history = None;
        controller.seek_after_ms = None;
        controller.write_after_write_seek_delay_ms = 0.0;
        controller.data_preparation_ms = 0.0;
        self.buffer.write_start_ms = 0.0;
        self.mechanics.inward_seek_extra_ms = 0.0;
        self.mechanics.write_settle_by_distance_ms.clear();
        self.mechanics.seek_extra_by_distance_ms.clear();
    }

    /// A preset's own values need a provenance like any other.
    fn cover_shadowed_values(&mut self, step: LadderStep) {
        use crate::spec::{Provenance, ProvenanceKind};
        let source = format!("simplified by preset {}", step.name());
        for path in ["seek", "write_policy"] {
            self.provenance
                .entry(path.to_owned())
                .or_insert_with(|| Provenance { kind: ProvenanceKind::Assumed, source: source.clone() });
        }
        for problem in self.check() {
            // Entries about values the rung leaves out go with them.
            if let Some(path) = problem.path.strip_prefix("provenance.\"").and_then(|p| p.strip_suffix('"')) {
                self.provenance.remove(path);
            }
        }
    }
}
