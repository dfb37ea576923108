//! `dm_mech_g1`: seeks, head switch, settle, spindle.

use crate::error::ImportError;
use crate::fields::{Fields, wrong};
use crate::parser::open_beside;
use crate::report::Report;
use crate::seek_file;
use crate::sources::Sources;
use crate::tree::{Block, Value};
use headstack_drive::spec::{FidelitySpec, MechanicsSpec, RotationModel, SeekSpec, SwitchModel};

/// What a mechanical model says.
pub(crate) struct Mechanical {
    pub(crate) rotation_rpm: f64,
    pub(crate) seek: SeekSpec,
    /// The file that the seek times come from.
    pub(crate) seek_from: String,
    pub(crate) mechanics: MechanicsSpec,
    pub(crate) fidelity: FidelitySpec,
}

const ACCESS: &str = "Access time type";
const CONSTANT_ACCESS: &str = "Constant access time";
const SEEK: &str = "Seek type";
const AVERAGE: &str = "Average seek time";
const CONSTANT_SEEK: &str = "Constant seek time";
const SINGLE: &str = "Single cylinder seek time";
const FULL: &str = "Full strobe seek time";
const CURVE: &str = "Full seek curve";
const SETTLE: &str = "Add. write settling delay";
const HEAD_SWITCH: &str = "Head switch time";
const RPM: &str = "Rotation speed (in rpms)";
const RPM_ERROR: &str = "Percent error in rpms";
const HPL: &str = "HPL seek equation values";
const FIRST_TEN: &str = "First ten seek times";

const KNOWN: [&str; 14] = [
    ACCESS,
    CONSTANT_ACCESS,
    SEEK,
    AVERAGE,
    CONSTANT_SEEK,
    SINGLE,
    FULL,
    CURVE,
    SETTLE,
    HEAD_SWITCH,
    RPM,
    RPM_ERROR,
    HPL,
    FIRST_TEN,
];

/// Reads the block for a drive with so many cylinders.
pub(crate) fn mechanical(
    block: &Block,
    cylinders: u32,
    sources: &mut Sources,
    report: &mut Report,
) -> Result<Mechanical, ImportError> {
    if block.kind != "dm_mech_g1" {
        let message = format!("`{}` is not a mechanical model that can be read", block.kind);
        return Err(ImportError::at(&block.at, message).hint("known: dm_mech_g1"));
    }
    let fields = Fields::new(block, KNOWN, report)?;
    let rotation_rpm = fields.need_real(RPM)?;
    if !(60.0..=1_000_000.0).contains(&rotation_rpm) {
        let message =
            format!("{rotation_rpm} rpm is not a speed of a drive: between 60 and 1000000 is possible");
        return Err(ImportError::at(fields.at(RPM), message));
    }
    report.carried(RPM, "rotation_rpm");
    let rpm_error_percent = fields.real(RPM_ERROR)?.unwrap_or(0.0);
    if rpm_error_percent == 0.0 {
        report.carried(RPM_ERROR, "0: the spindle turns as announced");
    } else {
        let reason =
            "DiskSim draws the error of each drive at random within it; set spindle.error_percent if wanted";
        report.not_carried(RPM_ERROR, rpm_error_percent.to_string(), reason);
    }
    let fidelity = access_type(&fields, report)?;
    let Curve { seek, used, writes } = seek(&fields, cylinders, sources, report)?;
    let seek_from = match fields.text(CURVE)? {
        Some(name) if used.contains(&CURVE) => name.to_owned(),
        _ => block.at.file.to_string(),
    };
    for name in [AVERAGE, CONSTANT_SEEK, SINGLE, FULL, CURVE, HPL, FIRST_TEN] {
        if let Some(parameter) = fields.find(name)
            && !used.contains(&name)
        {
            let reason = format!("seek type `{}` does not use it", fields.text(SEEK)?.unwrap_or_default());
            report.unused(name, parameter.value.kind.to_string(), reason);
        }
    }
    let head_switch_ms = fields.need_amount(HEAD_SWITCH)?;
    report.carried(HEAD_SWITCH, "mechanics.head_switch_ms");
    let write_settle_ms = fields.need_real(SETTLE)?;
    report.carried(SETTLE, "mechanics.write_settle_ms");
    if write_settle_ms < 0.0 {
        let message = format!(
            "the write settle is negative ({write_settle_ms} ms): before a write the arm moves faster than the seek times \
             say; taken over as it is, and no move takes less than nothing"
        );
        report.warn(fields.at(SETTLE), message);
    }
    let write_settle_by_distance_ms = writes_beside(&seek, writes, write_settle_ms);
    let mechanics = MechanicsSpec {
        head_switch_ms,
        write_settle_ms,
        write_settle_by_distance_ms,
        ..MechanicsSpec::default()
    };
    Ok(Mechanical { rotation_rpm, seek, seek_from, mechanics, fidelity })
}

fn access_type(fields: &Fields<'_>, report: &mut Report) -> Result<FidelitySpec, ImportError> {
    let mut fidelity = FidelitySpec::default();
    match fields.text(ACCESS)? {
        Some("trackSwitchPlusRotation") => {
            report.carried(ACCESS, "rotation is tracked, track changes are skewed");
        }
        Some("averageRotation") => {
            fidelity.rotation = RotationModel::Uniform;
            fidelity.switch = SwitchModel::Fixed;
            report.carried(
                ACCESS,
                "fidelity.rotation, fidelity.switch: the delay is drawn from one revolution",
            );
        }
        Some("constant") => {
            fidelity.constant_ms = Some(fields.need_amount(CONSTANT_ACCESS)?);
            report.carried(ACCESS, "fidelity.constant_ms");
        }
        _ => {
            let value = &fields.need(ACCESS)?.value;
            return Err(wrong(ACCESS, value, "constant, averageRotation or trackSwitchPlusRotation"));
        }
    }
    if fidelity.constant_ms.is_none()
        && let Some(parameter) = fields.find(CONSTANT_ACCESS)
    {
        report.unused(CONSTANT_ACCESS, parameter.value.kind.to_string(), "the access time is not constant");
    }
    Ok(fidelity)
}

/// The curve, the parameters that it comes from, and the times of writes where they have a curve of their own.
struct Curve {
    seek: SeekSpec,
    used: Vec<&'static str>,
    writes: Option<Vec<[f64; 2]>>,
}

/// By how much a write's seek is longer than a read's and the settle that every write has; the settle alone where only the
/// head changes.
fn writes_beside(seek: &SeekSpec, writes: Option<Vec<[f64; 2]>>, settle_ms: f64) -> Vec<[f64; 2]> {
    let (SeekSpec::Table { points }, Some(writes)) = (seek, writes) else { return Vec::new() };
    let beside = points.iter().zip(writes).map(|(read, write)| [read[0], write[1] - read[1] - settle_ms]);
    std::iter::once([0.0, 0.0]).chain(beside).collect()
}

fn seek(
    fields: &Fields<'_>,
    cylinders: u32,
    sources: &mut Sources,
    report: &mut Report,
) -> Result<Curve, ImportError> {
    let mut writes = None;
    let three = || -> Result<[f64; 3], ImportError> {
        Ok([fields.need_amount(SINGLE)?, fields.need_amount(AVERAGE)?, fields.need_amount(FULL)?])
    };
    let (seek, used) = match fields.text(SEEK)? {
        Some("constant") => {
            let from = if fields.find(CONSTANT_SEEK).is_some() { CONSTANT_SEEK } else { AVERAGE };
            (SeekSpec::Constant { time_ms: fields.need_amount(from)? }, vec![from])
        }
        Some("linear") => {
            // Two straight lines: to the average at a third of the stroke, and on.
            let [single, average, full] = three()?;
            let stroke = f64::from(cylinders.saturating_sub(1).max(3));
            let points = vec![[1.0, single], [(stroke / 3.0).max(2.0), average], [stroke, full]];
            (SeekSpec::Table { points }, vec![SINGLE, AVERAGE, FULL])
        }
        Some("curve") => {
            let [single_cylinder_ms, average_ms, full_stroke_ms] = three()?;
            let seek = SeekSpec::LeeKatz { single_cylinder_ms, average_ms, full_stroke_ms };
            (seek, vec![SINGLE, AVERAGE, FULL])
        }
        Some("hpl") => (hpl(fields, false)?, vec![HPL]),
        Some("hplplus10") => (hpl(fields, true)?, vec![HPL, FIRST_TEN]),
        Some("extracted") => {
            let name = fields.text(CURVE)?;
            let at = &fields.need(CURVE)?.value.at;
            let file = open_beside(sources, name.unwrap_or_default(), at)?;
            let measured = seek_file::measured(&file, report)?;
            writes = measured.writes;
            (SeekSpec::Table { points: measured.reads }, vec![CURVE])
        }
        _ => {
            let value = &fields.need(SEEK)?.value;
            return Err(wrong(SEEK, value, "constant, linear, curve, hpl, hplplus10 or extracted"));
        }
    };
    report.carried(SEEK, "seek: the kind of curve");
    for name in &used {
        report.carried(*name, "seek");
    }
    Ok(Curve { seek, used, writes })
}

/// d < V1: V2 + V3·√d; else V4 + V5·d; one cylinder takes V6 unless it is −1; with `first_ten`, those replace the formula.
fn hpl(fields: &Fields<'_>, first_ten: bool) -> Result<SeekSpec, ImportError> {
    fields.need(HPL)?;
    let values = fields.reals(HPL)?;
    let [boundary, a, b, c, e, one] = values[..] else {
        return Err(count(HPL, &fields.need(HPL)?.value, 6, values.len()));
    };
    if !(0.0..=1e9).contains(&boundary) {
        return Err(wrong(HPL, &fields.list(HPL)?[0], "a number of cylinders"));
    }
    let mut first_ms = Vec::new();
    if first_ten {
        fields.need(FIRST_TEN)?;
        first_ms = fields.reals(FIRST_TEN)?;
        if first_ms.len() != 10 {
            return Err(count(FIRST_TEN, &fields.need(FIRST_TEN)?.value, 10, first_ms.len()));
        }
    } else if one != -1.0 {
        first_ms.push(one);
    }
    let boundary_cylinders = boundary.ceil() as u32;
    Ok(SeekSpec::TwoPiece { boundary_cylinders, short_ms: [a, b], long_ms: [c, e], first_ms })
}

fn count(name: &str, value: &Value, wanted: usize, found: usize) -> ImportError {
    ImportError::at(&value.at, format!("`{name}` needs {wanted} values, but has {found}"))
}
