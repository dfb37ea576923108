//! The power budget of a system: what each of its drives draws, by state, spindle speed and number of arms.

use headstack_drive::power::Budget;
use headstack_drive::spec::DriveSpec;
use schemars::JsonSchema;
use serde::Serialize;

use crate::SystemError;
use crate::spec::SystemConfig;

/// What a system's drives draw.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PowerBudget {
    /// The system's name.
    pub system: String,
    /// Each drive.
    pub drives: Vec<DriveBudget>,
    /// All drives together, in the order of the drives' budgets; empty where the watts of one are not known.
    pub totals: Vec<TotalBudget>,
}

/// What a drive draws.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriveBudget {
    /// Its name in the system.
    pub name: String,
    /// Its drive file.
    pub model: String,
    /// One budget for each speed and number of arms; `null` where the drive's file does not tell its watts.
    pub power: Option<Vec<Budget>>,
}

/// What all drives draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TotalBudget {
    /// Watts with all arms still.
    pub idle_w: f64,
    /// Watts with all arms of all drives seeking.
    pub all_seeking_w: f64,
}

impl PowerBudget {
    /// For each of `rpms` and each of `actuators`; where there are none, as each drive is described.
    ///
    /// # Errors
    /// [`SystemError::Options`] for a speed at which the watts of a drive are not known.
    pub fn new(config: &SystemConfig, rpms: &[f64], actuators: &[u32]) -> Result<Self, SystemError> {
        let drive = |drive: &crate::spec::DriveConfig| {
            Ok(DriveBudget {
                name: drive.name.clone(),
                model: drive.model.clone(),
                power: budgets(&drive.name, &drive.spec, rpms, actuators)?,
            })
        };
        let drives = config.drives.iter().map(drive).collect::<Result<Vec<_>, SystemError>>()?;
        let known: Option<Vec<&Vec<Budget>>> = drives.iter().map(|drive| drive.power.as_ref()).collect();
        let totals = known.map_or_else(Vec::new, |known| totals(&known));
        Ok(Self { system: config.name.clone(), drives, totals })
    }
}

fn budgets(
    name: &str,
    spec: &DriveSpec,
    rpms: &[f64],
    actuators: &[u32],
) -> Result<Option<Vec<Budget>>, SystemError> {
    let Some(power) = &spec.power else { return Ok(None) };
    let rpms = if rpms.is_empty() { &[spec.rotation_rpm] } else { rpms };
    let moving = spec.actuators * spec.arms.moving();
    let actuators = if actuators.is_empty() { &[moving] } else { actuators };
    let mut all = Vec::with_capacity(rpms.len() * actuators.len());
    for &rpm in rpms {
        for &count in actuators {
            let budget =
                Budget::new(power, rpm, count).ok_or_else(|| unknown_at(name, rpm, power.rated_rpm))?;
            all.push(budget);
        }
    }
    Ok(Some(all))
}

fn unknown_at(name: &str, rpm: f64, rated: f64) -> SystemError {
    SystemError::Options {
        problem: format!("what {name} draws at {rpm} rpm is not known: its watts hold at {rated} rpm"),
        hint: "describe its disks, for example `--set power.spindle.platters=4 --set power.spindle.diameter_in=3.74`"
            .to_owned(),
    }
}

fn totals(known: &[&Vec<Budget>]) -> Vec<TotalBudget> {
    let count = known.iter().map(|budgets| budgets.len()).min().unwrap_or(0);
    let total = |index: usize| {
        known.iter().fold(TotalBudget::default(), |sum, budgets| TotalBudget {
            idle_w: sum.idle_w + budgets[index].by_state_w.idle,
            all_seeking_w: sum.all_seeking_w + budgets[index].all_seeking_w,
        })
    };
    (0..count).map(total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(name: &str, rpms: &[f64], actuators: &[u32]) -> Result<PowerBudget, SystemError> {
        PowerBudget::new(&SystemConfig::load(name, &[]).unwrap(), rpms, actuators)
    }

    #[test]
    fn each_speed_and_number_of_arms_has_its_budget() {
        let found = budget("nearline-18tb", &[7200.0, 5400.0], &[1, 2]).unwrap();
        let budgets = found.drives[0].power.as_ref().unwrap();
        let asked: Vec<(f64, u32)> = budgets.iter().map(|b| (b.rpm, b.actuators)).collect();
        assert_eq!(asked, [(7200.0, 1), (7200.0, 2), (5400.0, 1), (5400.0, 2)]);
        assert_eq!(budgets[0].by_state_w.idle, 5.3);
        // Slower disks save in every state what their drag is less.
        let saved = budgets[0].drag_w.unwrap() - budgets[2].drag_w.unwrap();
        assert!((budgets[0].by_state_w.seek - budgets[2].by_state_w.seek - saved).abs() < 1e-9);
        assert_eq!(found.totals[1].all_seeking_w, budgets[1].all_seeking_w);
    }

    #[test]
    fn what_is_not_known_is_not_made_up() {
        let found = budget("hp-97560", &[], &[]).unwrap();
        assert_eq!((found.drives[0].power.as_ref(), found.totals.len()), (None, 0));
        let set = [("power", "{ rated_rpm = 4002.0, idle_w = 9.0, seek_w = 12.0, rotation_w = 9.0, read_w = 9.0, write_w = 9.0 }")]
            .map(|(path, value)| (path.to_owned(), value.to_owned()));
        let config = SystemConfig::load("hp-97560", &set).unwrap();
        assert!(PowerBudget::new(&config, &[], &[]).unwrap().drives[0].power.is_some());
        let error = PowerBudget::new(&config, &[3600.0], &[]).unwrap_err();
        assert!(error.to_string().contains("its watts hold at 4002 rpm"), "{error}");
        assert!(error.hint().unwrap().contains("power.spindle.platters"));
    }
}
