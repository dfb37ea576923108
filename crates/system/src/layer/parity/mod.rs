//! RAID 4, 5 and 6: data and parity over drives.
//!
//! A write that covers a stripe in part reads first what the new parity takes, then writes. Writes of the same stripe exclude
//! each other; one that has to wait is served when those before it are complete. Modelled: which commands go to which drive
//! and when. Not modelled: the time it takes to work parity out, stripes kept in memory from one write to the next, reads
//! that meet a write of the same stripe (they do not wait).

mod layout;
mod plan;

use std::collections::{BTreeMap, VecDeque};

use headstack_units::{Lba, Nanos, Op};

use super::stripes::{Span, Stripes};
use super::{Below, Call, Completed, Effect, Layer, Members, UnitMap, Volume};
use crate::spec::ArrayOptions;
use layout::Layout;
use plan::Array;

/// A write on its way.
#[derive(Clone, Debug)]
struct Write {
    call: Call,
    /// What is written when everything has been read.
    then: Vec<Span>,
}

/// A volume that survives the failure of one drive or two.
#[derive(Clone, Debug)]
pub(crate) struct Parity {
    drives: Vec<UnitMap>,
    array: Array,
    /// By the numbers of their calls.
    active: BTreeMap<usize, Write>,
    waiting: VecDeque<Call>,
}

impl Parity {
    /// First and last stripe of a request.
    fn stripes(&self, call: &Call) -> (u64, u64) {
        let stripe = self.array.layout.data() as u64 * self.array.stripes.unit;
        (call.lba.0 / stripe, (call.lba.0 + u64::from(call.sectors) - 1) / stripe)
    }

    fn overlap(&self, a: &Call, b: &Call) -> bool {
        let (a, b) = (self.stripes(a), self.stripes(b));
        a.0 <= b.1 && b.0 <= a.1
    }

    fn begin(&mut self, call: Call, effects: &mut Vec<Effect>) {
        let plan = self.array.write(call.lba.0, call.sectors);
        let (first, then) = if plan.reads.is_empty() {
            (Call { op: Op::Write, ..call }, Vec::new())
        } else {
            (Call { op: Op::Read, ..call }, plan.writes.clone())
        };
        let spans = if then.is_empty() { plan.writes } else { plan.reads };
        for span in spans {
            first.send_span(&self.drives, span, effects);
        }
        self.active.insert(call.number, Write { call, then });
    }

    /// Begins the writes that need not wait any more, in their order.
    fn begin_waiting(&mut self, effects: &mut Vec<Effect>) {
        let mut still: VecDeque<Call> = VecDeque::new();
        for call in std::mem::take(&mut self.waiting) {
            let must_wait = self.active.values().any(|write| self.overlap(&write.call, &call))
                || still.iter().any(|earlier| self.overlap(earlier, &call));
            if must_wait {
                still.push_back(call);
            } else {
                self.begin(call, effects);
            }
        }
        self.waiting = still;
    }
}

impl Layer for Parity {
    fn call(&mut self, _now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        if call.op == Op::Read {
            for span in self.array.read(call.lba.0, call.sectors).reads {
                call.send_span(&self.drives, span, effects);
            }
            return;
        }
        self.waiting.push_back(*call);
        self.begin_waiting(effects);
    }

    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        let Some(number) = child.call.filter(|_| child.left == 0) else { return };
        if let Some(write) = self.active.get_mut(&number) {
            let then = std::mem::take(&mut write.then);
            if !then.is_empty() {
                let call = write.call;
                for span in then {
                    call.send_span(&self.drives, span, effects);
                }
                return;
            }
            self.active.remove(&number);
            effects.extend(child.done_with_all());
            self.begin_waiting(effects);
        } else {
            effects.extend(child.done_with_all());
        }
    }
}

/// Parity units of a stripe, by level.
fn parities(level: &str) -> usize {
    if level == "raid-6" { 2 } else { 1 }
}

impl Volume for Parity {
    const TAKES: &'static [&'static str] =
        &["stripe_unit_kib", "parity_layout", "small_writes", "failed_drives"];

    fn check(level: &str, drives: usize, options: &ArrayOptions) -> Option<String> {
        let (parities, failed) = (parities(level), options.failed_drives.len());
        if drives < parities + 2 {
            return Some(format!("level \"{level}\" takes {} drives or more, not {drives}", parities + 2));
        }
        (failed > parities).then(|| {
            format!(
                "data are lost: level \"{level}\" survives {parities} failed drives at most, not {failed}"
            )
        })
    }

    fn new(members: Members) -> Self {
        let options = &members.options;
        let rotation = (members.level != "raid-4").then_some(options.parity_layout);
        let layout = Layout { drives: members.drives.len(), parities: parities(&members.level), rotation };
        let array = Array {
            layout,
            stripes: Stripes::new(members.stripe_unit, &members.drives),
            failed: members.failed(),
            small_writes: options.small_writes,
        };
        Self { drives: members.drives, array, active: BTreeMap::new(), waiting: VecDeque::new() }
    }

    fn sectors(&self) -> u64 {
        self.array.stripes.rows * self.array.stripes.unit * self.array.layout.data() as u64
    }

    fn unit_of(&self, lba: Lba) -> usize {
        self.array.locate(lba.0).map_or(0, |(drive, at)| self.drives[drive].unit_of(Lba(at)))
    }
}
