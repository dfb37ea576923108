//! The bill of materials of one drive.

use crate::design::{ComponentSpec, Design, Per, range};
use crate::money::Range;
use crate::{MOST_ACTUATORS, MOST_PLATTERS};
use headstack_system::SystemError;
use serde::Serialize;

/// What one drive is made of, and what that costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bill {
    /// Actuators of the drive.
    pub actuators: u32,
    /// Its platters.
    pub platters: u32,
    /// What its components cost together.
    #[serde(flatten)]
    pub total: Range,
    /// Its components, in the order of the design.
    pub components: Vec<Item>,
}

/// One line of a bill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// The component.
    pub name: String,
    /// How many of it the drive has.
    pub count: u32,
    /// Price of all of them.
    #[serde(flatten)]
    pub price: Range,
}

impl Design {
    /// The bill of a drive with so many actuators; `platters` replaces the design's number.
    ///
    /// # Errors
    /// [`SystemError::Options`] for a count that is 0 or above [`MOST_ACTUATORS`] or [`MOST_PLATTERS`].
    pub fn bill(&self, actuators: u32, platters: Option<u32>) -> Result<Bill, SystemError> {
        let platters = platters.unwrap_or(self.spec().platters);
        counted("actuators", actuators, MOST_ACTUATORS)?;
        counted("platters", platters, MOST_PLATTERS)?;
        let components: Vec<Item> =
            self.spec().component.iter().map(|component| item(component, actuators, platters)).collect();
        let total = components.iter().map(|item| item.price).sum();
        Ok(Bill { actuators, platters, total, components })
    }
}

fn item(component: &ComponentSpec, actuators: u32, platters: u32) -> Item {
    let each = component.per.iter().map(|per| match per {
        Per::Platter => platters,
        Per::Actuator => actuators,
    });
    let count = component.quantity * each.product::<u32>();
    let price = |usd| range(usd).unwrap_or_default();
    let (unit, base) = (price(component.unit_usd), price(component.base_usd));
    Item { name: component.name.clone(), count, price: base + unit * count }
}

/// Refuses a count of none or of too many.
pub(crate) fn counted(what: &str, count: u32, most: u32) -> Result<(), SystemError> {
    if (1..=most).contains(&count) {
        return Ok(());
    }
    let (problem, hint) = (format!("`{what}` cannot be {count}"), format!("`{what}`: 1 to {most}"));
    Err(SystemError::Options { problem, hint })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn four_platter() -> Design {
        Design::load("four-platter").unwrap()
    }

    /// Each cell of Table 5.1(a), as printed.
    #[test]
    fn the_thesis_table_is_reproduced_cell_by_cell() {
        let printed: [(&str, [[f64; 2]; 3]); 9] = [
            ("media", [[24.0, 28.0]; 3]),
            ("spindle motor", [[5.0, 10.0]; 3]),
            ("voice-coil motor", [[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]),
            ("head suspension", [[2.0, 3.6], [4.0, 7.2], [8.0, 14.4]]),
            ("head", [[24.0, 24.0], [48.0, 48.0], [96.0, 96.0]]),
            ("pivot bearing", [[3.0, 3.0], [6.0, 6.0], [12.0, 12.0]]),
            ("disk controller", [[4.0, 5.0]; 3]),
            ("motor driver", [[3.5, 4.0], [5.0, 6.0], [8.0, 10.0]]),
            ("preamplifier", [[1.2, 1.2], [2.4, 2.4], [4.8, 4.8]]),
        ];
        let totals = [[67.7, 80.8], [100.4, 116.6], [165.8, 188.2]];
        for (column, actuators) in [1, 2, 4].into_iter().enumerate() {
            let bill = four_platter().bill(actuators, None).unwrap();
            let dollars = |range: Range| [range.low.dollars(), range.high.dollars()];
            let ours: Vec<_> =
                bill.components.iter().map(|item| (item.name.as_str(), dollars(item.price))).collect();
            let theirs: Vec<_> = printed.iter().map(|(name, prices)| (*name, prices[column])).collect();
            assert_eq!(ours, theirs);
            assert_eq!(dollars(bill.total), totals[column]);
        }
    }

    #[test]
    fn counts_of_none_or_too_many_are_refused() {
        for (actuators, platters) in [(0, None), (17, None), (1, Some(0)), (1, Some(65)), (u32::MAX, None)] {
            let error = four_platter().bill(actuators, platters).unwrap_err();
            assert!(error.hint().unwrap().contains("1 to"), "{error}");
        }
    }

    proptest! {
        /// One more actuator adds the same whatever the number: nothing in the table has a step in it. Two platters more
        /// cost twice what one more does.
        #[test]
        fn more_parts_cost_in_proportion(actuators in 1..MOST_ACTUATORS - 1, platters in 1..MOST_PLATTERS - 1) {
            let cost = |a, p| four_platter().bill(a, Some(p)).unwrap().total;
            let here = cost(actuators, platters);
            prop_assert_eq!(here + cost(actuators + 2, platters), cost(actuators + 1, platters) * 2);
            prop_assert_eq!(here + cost(actuators, platters + 2), cost(actuators, platters + 1) * 2);
            prop_assert!(here.low <= here.high);
        }
    }
}
