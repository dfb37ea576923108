//! What can be wrong with a device, a record or a measurement.

use headstack_drive::spec::SpecError;
use headstack_system::SystemError;
use headstack_trace::TraceError;
use headstack_units::grouped;
use std::path::PathBuf;

/// Why a device cannot be measured, or a record not be read. Each message says what and where; [`MeasureError::hint`]
/// says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The device is not one that may be measured (so). Nothing was done to it.
    #[error("{device}: {problem}")]
    Refused {
        /// The device as it was named.
        device: String,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// One access failed; others may succeed.
    #[error("{device}: cannot {what} {}: {reason}", place(*lba, *sectors))]
    Access {
        /// The device as it was named.
        device: String,
        /// "read" or "write".
        what: &'static str,
        /// First sector.
        lba: u64,
        /// Number of sectors.
        sectors: u32,
        /// The system's reason.
        reason: String,
    },
    /// The device is no longer there. What was measured before is in the record.
    #[error("{device}: the device has disappeared: {reason}")]
    Gone {
        /// The device as it was named.
        device: String,
        /// The system's reason.
        reason: String,
    },
    /// The caller's progress function asked to stop. What was measured before is in the record.
    #[error("stopped by the caller")]
    Stopped,
    /// Too many accesses failed for a probe to go on.
    #[error("{device}: {failed} accesses in a row failed: {last}")]
    Unreadable {
        /// The device as it was named.
        device: String,
        /// How many.
        failed: u32,
        /// The last one's message.
        last: String,
    },
    /// There is no probe of that name.
    #[error("there is no probe called `{name}`")]
    UnknownProbe {
        /// The name as given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The record cannot be read, written or continued.
    #[error("{}: {problem}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The record does not hold what is asked of it.
    #[error("{problem}")]
    Insufficient {
        /// What is missing.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// The system to simulate cannot be built.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The drive description cannot be.
    #[error(transparent)]
    Drive(#[from] SpecError),
    /// The record's file cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// Sectors, in words.
fn place(lba: u64, sectors: u32) -> String {
    let first = grouped(lba);
    match sectors {
        1 => format!("sector {first}"),
        _ => format!("{} sectors from {first} on", grouped(u64::from(sectors))),
    }
}

impl MeasureError {
    /// The `hint:` line to print below the message, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { hint, .. } | Self::Insufficient { hint, .. } => Some(hint.clone()),
            Self::UnknownProbe { known, .. } => Some(format!("known: {}", known.join(", "))),
            Self::Record { hint, .. } => hint.clone(),
            Self::System(error) => error.hint(),
            Self::Trace(error) => error.hint().map(str::to_owned),
            Self::Gone { .. } | Self::Unreadable { .. } => Some(
                "what was measured is in the record: measure again with the same record to go on".to_owned(),
            ),
            _ => None,
        }
    }

    /// Whether the next access may succeed although this one failed.
    pub fn is_of_one_access(&self) -> bool {
        matches!(self, Self::Access { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_place_is_told_in_words() {
        assert_eq!(place(55_413, 1), "sector 55,413");
        assert_eq!(place(1_000_000, 256), "256 sectors from 1,000,000 on");
    }
}
