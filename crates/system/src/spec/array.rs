//! What a volume of several drives can be told beside its level.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DriveFailure, RebuildSpec};

/// Options of a volume; each level takes those that mean something to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrayOptions {
    /// Data that lie on one drive before the next one follows, in KiB.
    pub stripe_unit_kib: f64,
    /// How parity goes round the drives.
    pub parity_layout: ParityLayout,
    /// How parity is brought up to date.
    pub small_writes: SmallWrites,
    /// When data and parity are written anew.
    pub write_order: WriteOrder,
    /// Whether writes of the same stripe wait for each other.
    pub stripe_lock: bool,
    /// How much of a stripe's parity is worked out anew.
    pub parity_range: ParityRange,
    /// Commands to one drive whose ends lie no farther apart than this become one, in KiB.
    pub join_gap_kib: f64,
    /// Which copy is read.
    pub read_choice: ReadChoice,
    /// Copies of the data.
    pub copies: u32,
    /// Whether drives may differ in size; of each as much is used as the smallest has.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unequal_drives: bool,
    /// Where the drives' spindles stand to each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spindles: Spindles,
    /// Drives that have failed: positions in the volume's list.
    pub failed_drives: Vec<usize>,
    /// Drives that fail during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<DriveFailure>,
    /// How they are rebuilt.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rebuild: RebuildSpec,
    /// How stripes are spread over more drives than they have members.
    #[serde(default, skip_serializing_if = "is_default")]
    pub declustered: DeclusteredOptions,
}

impl ArrayOptions {
    /// How many drives have failed; one that is named twice is one.
    pub(crate) fn failed_count(&self) -> usize {
        self.failed_drives.iter().collect::<BTreeSet<_>>().len()
    }
}

/// Whether a value is what holds where nothing is said.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for ArrayOptions {
    fn default() -> Self {
        Self {
            stripe_unit_kib: 64.0,
            parity_layout: ParityLayout::default(),
            small_writes: SmallWrites::default(),
            write_order: WriteOrder::default(),
            stripe_lock: true,
            parity_range: ParityRange::default(),
            join_gap_kib: 0.0,
            read_choice: ReadChoice::default(),
            copies: 2,
            unequal_drives: false,
            spindles: Spindles::default(),
            failed_drives: Vec::new(),
            failures: Vec::new(),
            rebuild: RebuildSpec::default(),
            declustered: DeclusteredOptions::default(),
        }
    }
}

/// Where the spindles of a volume's drives stand to each other when a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spindles {
    /// At the angles of their drive files, which is the same for all of a kind.
    #[default]
    Synchronised,
    /// Each at an angle of its own, drawn from the run's seed, beyond that of its drive file.
    Apart,
}

/// How parity goes round the drives of a volume, in the terms of Linux md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParityLayout {
    /// From the last drive to the first; data go on behind the parity, so that long reads use all drives in turn.
    #[default]
    LeftSymmetric,
    /// From the last drive to the first; data begin at the first drive.
    LeftAsymmetric,
    /// From the first drive to the last; data go on behind the parity.
    RightSymmetric,
    /// From the first drive to the last; data begin at the first drive.
    RightAsymmetric,
}

/// How parity is brought up to date where a write covers only part of a stripe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SmallWrites {
    /// Whichever reads from fewer drives, for all of the write in a stripe; where both read from as many, the one with fewer commands, then
    /// read-modify-write, which leaves the other drives alone.
    #[default]
    FewestReads,
    /// As Linux md: whichever reads from fewer drives, for each range of offsets in the units by itself; where both read from as many,
    /// reconstruct-write.
    AsMd,
    /// Read the old data and the old parity, then write both anew.
    ReadModifyWrite,
    /// Read the rest of the stripe, then write data and parity.
    ReconstructWrite,
}

/// How much of a stripe's parity is worked out anew where a write covers several units of it in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParityRange {
    /// The parity of the written sectors.
    #[default]
    Written,
    /// The whole unit.
    Unit,
}

/// What a write to a drive of a parity volume waits for, where parity takes reads first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteOrder {
    /// All reads of the request: nothing is changed before the new parity is known.
    #[default]
    AfterAllReads,
    /// Data: the request's reads from the same drive, and without any nothing; parity: all reads.
    AfterOwnReads,
}

/// Which of several copies is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadChoice {
    /// That whose drive has fewest commands; of equals the one whose arm was sent nearest.
    #[default]
    LeastBusy,
    /// That whose arm was sent nearest, as far as addresses tell; of equals the one with fewest commands.
    Nearest,
    /// One after the other.
    RoundRobin,
    /// Always the first that has not failed.
    First,
}

/// Stripes over more drives than they have members, with room for failed drives among them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeclusteredOptions {
    /// Members of a stripe: data and parity.
    pub group_width: u32,
    /// Of these, parity: 1, 2 or 3.
    pub parities: u32,
    /// Room for so many failed drives, distributed over all.
    pub distributed_spares: u32,
    /// What lies on a drive before the stripes go on to other drives, in KiB.
    pub row_kib: f64,
    /// Which drives hold a stripe.
    pub design: Design,
}

impl Default for DeclusteredOptions {
    fn default() -> Self {
        Self {
            group_width: 5,
            parities: 1,
            distributed_spares: 0,
            row_kib: 16_384.0,
            design: Design::default(),
        }
    }
}

/// Which drives hold the stripes of a declustered volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Groups of neighbours in an order that is drawn anew from row to row, as in OpenZFS's dRAID.
    #[default]
    Permuted,
    /// The blocks of a balanced design (Holland and Gibson 1992): every two drives share equally many stripes.
    BlockDesign,
}
