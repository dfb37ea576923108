//! The design file: the components of a drive, what each costs, and how many of it there are.

use crate::money::{Range, Usd};
use crate::{MOST_ACTUATORS, MOST_DRIVES, MOST_PLATTERS, SystemOfDrives};
use headstack_system::SystemError;
use headstack_system::library::{self, Source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drive as a list of components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DesignSpec {
    /// What to call it in reports.
    pub name: String,
    /// Where the prices come from, and of when they are.
    pub source: String,
    /// Platters of the drive; 1 to 64.
    pub platters: u32,
    /// Its components.
    pub component: Vec<ComponentSpec>,
    /// Systems of such drives that perform alike.
    #[serde(default, rename = "iso-performance", skip_serializing_if = "Option::is_none")]
    pub iso_performance: Option<IsoPerformanceSpec>,
}

/// One kind of component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentSpec {
    /// What it is.
    pub name: String,
    /// Lowest and highest price of one, in dollars.
    pub unit_usd: [f64; 2],
    /// How many there are for each of `per`.
    #[serde(default = "one")]
    pub quantity: u32,
    /// What the quantity is multiplied by; nothing: so many a drive.
    #[serde(default)]
    pub per: Vec<Per>,
    /// Part of the price that is paid once a drive, in dollars.
    #[serde(default)]
    pub base_usd: [f64; 2],
}

fn one() -> u32 {
    1
}

/// What a component can be counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each platter.
    Platter,
    /// Each actuator.
    Actuator,
}

/// Systems of drives of this design that perform alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IsoPerformanceSpec {
    /// Who found that they do, and by what measure.
    pub source: String,
    /// The systems; savings are counted from the first.
    pub system: Vec<SystemOfDrives>,
}

/// A design file whose values are sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The library name, or the file's name without `.toml`.
    pub id: String,
    spec: DesignSpec,
}

impl Design {
    /// Finds a design by library name or path.
    ///
    /// # Errors
    /// [`SystemError::UnknownName`] with the names there are; [`SystemError::Io`] for an unreadable file; otherwise as
    /// [`Design::from_source`].
    pub fn load(name: &str) -> Result<Self, SystemError> {
        Self::from_source(&library::resolve("design", name, &[library::designs()], None)?)
    }

    /// Reads a design file.
    ///
    /// # Errors
    /// [`SystemError::Syntax`] for the first syntax, type or unknown-key error; [`SystemError::Contradiction`] for
    /// everything else at once.
    pub fn from_source(source: &Source) -> Result<Self, SystemError> {
        let Source { name, origin, text, .. } = source;
        let spec: DesignSpec = toml::from_str(text)
            .map_err(|error| SystemError::Syntax { origin: origin.clone(), message: error.to_string() })?;
        let problems = spec.problems();
        if problems.is_empty() {
            Ok(Self { id: name.clone(), spec })
        } else {
            Err(SystemError::Contradiction { origin: origin.clone(), problems })
        }
    }

    /// What the file says.
    pub fn spec(&self) -> &DesignSpec {
        &self.spec
    }
}

impl DesignSpec {
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        check("platters", self.platters, MOST_PLATTERS, &mut problems);
        if self.component.is_empty() {
            problems.push("there are no components: add `[[component]]` tables".to_owned());
        }
        for (index, component) in self.component.iter().enumerate() {
            let at = format!("component.{index}");
            check(&format!("{at}.quantity"), component.quantity, 1_000, &mut problems);
            check_price(&format!("{at}.unit_usd"), component.unit_usd, &mut problems);
            check_price(&format!("{at}.base_usd"), component.base_usd, &mut problems);
            if self.component[..index].iter().any(|earlier| earlier.name == component.name) {
                problems.push(format!("`{at}.name`: `{}` is listed twice", component.name));
            }
            if component.per.len() == 2 && component.per[0] == component.per[1] || component.per.len() > 2 {
                problems.push(format!("`{at}.per`: each of `platter` and `actuator` at most once"));
            }
        }
        for (index, system) in self.iso_performance.iter().flat_map(|iso| &iso.system).enumerate() {
            let at = format!("iso-performance.system.{index}");
            check(&format!("{at}.drives"), system.drives, MOST_DRIVES, &mut problems);
            check(&format!("{at}.actuators"), system.actuators, MOST_ACTUATORS, &mut problems);
        }
        problems
    }
}

fn check(key: &str, value: u32, most: u32, problems: &mut Vec<String>) {
    if !(1..=most).contains(&value) {
        problems.push(format!("`{key}` is {value}; allowed: 1 to {most}"));
    }
}

fn check_price(key: &str, price: [f64; 2], problems: &mut Vec<String>) {
    if range(price).is_none() {
        problems.push(format!(
            "`{key}` is [{}, {}]; allowed: the lowest and the highest price, 0 to 1000000 dollars, in this order",
            price[0], price[1]
        ));
    }
}

/// A price of a file as a range; `None` if it is none.
pub(crate) fn range([low, high]: [f64; 2]) -> Option<Range> {
    let range = Range { low: Usd::new(low)?, high: Usd::new(high)? };
    (range.low <= range.high).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Design, String> {
        let (name, origin) = ("x".to_owned(), "x.toml".to_owned());
        Design::from_source(&Source { name, origin, directory: None, text: text.to_owned() })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_design_of_the_library_is_sound() {
        assert!(!library::designs().is_empty());
        for entry in library::designs() {
            Design::load(entry.name).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn an_unknown_design_names_those_there_are() {
        let error = Design::load("three-platter").unwrap_err();
        assert!(error.to_string().contains("no design called `three-platter`"), "{error}");
        assert!(error.hint().unwrap().contains("four-platter"));
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let text = r#"
            name = "x"
            source = "x"
            platters = 65
            [[component]]
            name = "head"
            unit_usd = [3.0, 2.0]
            quantity = 0
            per = ["platter", "platter"]
            [[component]]
            name = "head"
            unit_usd = [-1.0, nan]
            [iso-performance]
            source = "x"
            system = [{ drives = 0, actuators = 17 }]
        "#;
        let error = read(text).unwrap_err();
        for part in [
            "`platters` is 65; allowed: 1 to 64",
            "`component.0.unit_usd` is [3, 2]",
            "`component.0.quantity` is 0",
            "`component.0.per`",
            "`head` is listed twice",
            "`component.1.unit_usd` is [-1, NaN]",
            "`iso-performance.system.0.drives` is 0",
            "`iso-performance.system.0.actuators` is 17",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
        let unknown = read("name = \"x\"\nprice = 3\n").unwrap_err();
        assert!(unknown.contains("line 2") && unknown.contains("price"), "{unknown}");
        let none = read("name = 'x'\nsource = 'x'\nplatters = 1\ncomponent = []\n").unwrap_err();
        assert!(none.contains("no components"), "{none}");
    }
}
