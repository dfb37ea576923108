//! Systems that perform alike, and what the drives of each cost.

use crate::bill::counted;
use crate::money::Range;
use crate::{Design, MOST_DRIVES};
use headstack_system::SystemError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of equal drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemOfDrives {
    /// How many drives.
    pub drives: u32,
    /// Actuators of each.
    pub actuators: u32,
}

/// What the drives of a system cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostOfSystem {
    /// The system.
    #[serde(flatten)]
    pub system: SystemOfDrives,
    /// Price of its drives.
    #[serde(flatten)]
    pub price: Range,
    /// Mean of the lowest and the highest price, in dollars.
    pub mean_usd: f64,
    /// How much less their mean price is than that of the first system, in percent; negative if it is more.
    pub saving_percent: f64,
}

/// Systems held against the first of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Who says that they perform alike.
    pub source: String,
    /// Each system.
    pub systems: Vec<CostOfSystem>,
}

impl Design {
    /// Compares `systems`, which the caller holds to perform alike; without them those of the design, if it names some.
    ///
    /// # Errors
    /// [`SystemError::Options`] for counts of none or of too many.
    pub fn compare(
        &self,
        systems: Option<&[SystemOfDrives]>,
        platters: Option<u32>,
    ) -> Result<Option<Comparison>, SystemError> {
        let (source, systems) = match (systems, &self.spec().iso_performance) {
            (Some(systems), _) => ("given by the caller", systems),
            (None, Some(iso)) => (iso.source.as_str(), iso.system.as_slice()),
            (None, None) => return Ok(None),
        };
        let mut costs: Vec<CostOfSystem> = Vec::with_capacity(systems.len());
        for &system in systems {
            counted("drives", system.drives, MOST_DRIVES)?;
            let price = self.bill(system.actuators, platters)?.total * system.drives;
            let mean_usd = price.mean_usd();
            let first = costs.first().map_or(mean_usd, |first| first.mean_usd);
            let saving_percent = if first > 0.0 { 100.0 * (first - mean_usd) / first } else { 0.0 };
            costs.push(CostOfSystem { system, price, mean_usd, saving_percent });
        }
        Ok(Some(Comparison { source: source.to_owned(), systems: costs }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_performance_costs_297_217_and_177_dollars() {
        let design = Design::load("four-platter").unwrap();
        let found = design.compare(None, None).unwrap().unwrap();
        let means: Vec<f64> = found.systems.iter().map(|each| each.mean_usd).collect();
        assert_eq!(means, [297.0, 217.0, 177.0]);
        let savings: Vec<f64> = found.systems.iter().map(|each| each.saving_percent.round()).collect();
        assert_eq!(savings, [0.0, 27.0, 40.0]);
    }

    #[test]
    fn systems_of_ones_own_can_be_compared() {
        let design = Design::load("four-platter").unwrap();
        let own = [SystemOfDrives { drives: 1, actuators: 4 }, SystemOfDrives { drives: 3, actuators: 1 }];
        let found = design.compare(Some(&own), None).unwrap().unwrap();
        // 3 × 74.25 dollars are more than 177, which is a negative saving.
        assert_eq!(found.systems[1].mean_usd, 222.75);
        assert!(found.systems[1].saving_percent < 0.0);
        let none = [SystemOfDrives { drives: 0, actuators: 1 }];
        assert!(design.compare(Some(&none), None).unwrap_err().to_string().contains("`drives` cannot be 0"));
    }
}
