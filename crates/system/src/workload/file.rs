//! Reading workload files.

use super::{ClosedLoop, DeviceShape, Generator, OpenWorkload, WorkloadSpec};
use crate::library::{self, Source};
use crate::{SystemError, overrides};

impl WorkloadSpec {
    /// Reads a workload and checks everything in it; `origin` is for messages.
    ///
    /// # Errors
    /// [`SystemError::Syntax`] for the first syntax, type or unknown-key error; [`SystemError::Contradiction`] for
    /// everything else at once.
    pub fn from_toml(origin: &str, text: &str) -> Result<Self, SystemError> {
        let spec: Self = toml::from_str(text)
            .map_err(|error| SystemError::Syntax { origin: origin.to_owned(), message: error.to_string() })?;
        spec.checked(origin)
    }

    /// Finds a workload by library name or path, and replaces values in it (dotted path, TOML value).
    ///
    /// # Errors
    /// As [`WorkloadSpec::from_toml`]; also for unknown names, unreadable files and overrides that do not apply.
    pub fn load(name: &str, overrides: &[(String, String)]) -> Result<(String, Self), SystemError> {
        let source = library::resolve("workload", name, &[library::workloads()], None)?;
        let spec = Self::from_source(&source, overrides)?;
        Ok((source.name, spec))
    }

    fn from_source(source: &Source, set: &[(String, String)]) -> Result<Self, SystemError> {
        let spec = Self::from_toml(&source.origin, &source.text)?;
        if set.is_empty() {
            return Ok(spec);
        }
        let changed: Self = overrides::apply(&source.origin, &source.text, set)?;
        changed.checked(&source.origin)
    }

    fn checked(self, origin: &str) -> Result<Self, SystemError> {
        let problems = self.check();
        if problems.is_empty() {
            Ok(self)
        } else {
            Err(SystemError::Contradiction { origin: origin.to_owned(), problems })
        }
    }

    /// Makes the workload for these devices. `seed` and `requests` replace what the file says.
    ///
    /// # Errors
    /// [`SystemError::Options`] if a stream names a device or a range that is not there.
    pub fn generate(
        &self,
        devices: &[DeviceShape],
        seed: Option<u64>,
        requests: Option<u64>,
    ) -> Result<Generator, SystemError> {
        let seed = seed.unwrap_or(self.seed);
        let limit = match (requests, self.requests) {
            (Some(wanted), Some(all)) => wanted.min(all),
            (wanted, all) => wanted.or(all).unwrap_or(u64::MAX),
        };
        let open = OpenWorkload::new(self, devices, seed, limit)?;
        let closed = ClosedLoop::new(self, devices, seed, limit)?;
        Ok(Generator { open, closed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_workload_is_sound() {
        for entry in library::workloads() {
            WorkloadSpec::from_toml(entry.name, entry.text).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn errors_name_the_place() {
        let syntax = WorkloadSpec::from_toml("x.toml", "seed = 1\nsneed = 2\n").unwrap_err().to_string();
        assert!(syntax.contains("line 2") && syntax.contains("sneed"), "{syntax}");
        let text = "[[stream]]\nread_fraction = 1.5\nsize.fixed_kib = 4\n";
        let found = WorkloadSpec::from_toml("x.toml", text).unwrap_err().to_string();
        for part in ["`stream.0.read_fraction`", "inter_arrival", "never ends"] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }

    #[test]
    fn values_can_be_replaced() {
        let set = [("stream.0.inter_arrival.exponential_ms".to_owned(), "5".to_owned())];
        let (name, spec) = WorkloadSpec::load("light-million", &set).unwrap();
        assert_eq!(name, "light-million");
        assert_eq!(spec.stream[0].inter_arrival, Some(super::super::TimeLaw::Exponential(5.0)));
    }
}
