//! What a volume of several drives can be told beside its level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Which copy is read.
    pub read_choice: ReadChoice,
    /// Copies of the data.
    pub copies: u32,
    /// Drives that have failed: positions in the volume's list.
    pub failed_drives: Vec<usize>,
}

impl Default for ArrayOptions {
    fn default() -> Self {
        Self {
            stripe_unit_kib: 64.0,
            parity_layout: ParityLayout::default(),
            small_writes: SmallWrites::default(),
            write_order: WriteOrder::default(),
            stripe_lock: true,
            read_choice: ReadChoice::default(),
            copies: 2,
            failed_drives: Vec::new(),
        }
    }
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
    /// Whichever reads from fewer drives; where both read from as many, read-modify-write, which leaves the other drives alone.
    #[default]
    FewestReads,
    /// Read the old data and the old parity, then write both anew.
    ReadModifyWrite,
    /// Read the rest of the stripe, then write data and parity.
    ReconstructWrite,
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
