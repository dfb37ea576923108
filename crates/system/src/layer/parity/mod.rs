//! RAID 4, 5 and 6: data and parity over drives.
//!
//! A write that covers a stripe in part reads first what the new parity takes, then writes ([`WriteOrder`]). Writes of the same stripe exclude
//! each other; one that has to wait is served when those before it are complete. Modelled: which commands go to which drive
//! and when. Not modelled: the time it takes to work parity out, stripes kept in memory from one write to the next, reads
//! that meet a write of the same stripe (they do not wait).

mod layout;
mod plan;

use std::collections::{BTreeMap, VecDeque};

use headstack_units::{Lba, Nanos, Op, RequestFlags};

use super::stripes::{Span, Stripes};
use super::{Below, Call, Completed, Effect, Layer, Members, UnitMap, Volume};
use crate::spec::{ArrayOptions, WriteOrder};
use layout::Layout;
use plan::Array;

/// A write on its way.
#[derive(Clone, Debug)]
struct Write {
    call: Call,
    /// Reads on their way, by drive; the tag of a read is its drive's number and one.
    reading: Vec<u32>,
    then: Vec<Next>,
}

/// What is written later.
#[derive(Clone, Copy, Debug)]
struct Next {
    span: Span,
    /// It waits for all reads, not only for those from its drive.
    needs_all: bool,
}

impl Write {
    /// What need not wait any more.
    fn ready(&mut self) -> Vec<Span> {
        let is_all_read = self.reading.iter().all(|&reads| reads == 0);
        let is_ready = |next: &Next| is_all_read || !next.needs_all && self.reading[next.span.drive] == 0;
        let (ready, wait): (Vec<Next>, Vec<Next>) = self.then.iter().partition(|next| is_ready(next));
        self.then = wait;
        ready.iter().map(|next| next.span).collect()
    }
}

/// A volume that survives the failure of one drive or two.
#[derive(Clone, Debug)]
pub(crate) struct Parity {
    drives: Vec<UnitMap>,
    array: Array,
    order: WriteOrder,
    /// Whether writes of the same stripe wait for each other.
    locks: bool,
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
        self.locks && a.0 <= b.1 && b.0 <= a.1
    }

    fn begin(&mut self, call: Call, effects: &mut Vec<Effect>) {
        let plan = self.array.write(call.lba.0, call.sectors);
        let mut reading = vec![0; self.drives.len()];
        let read = Call { op: Op::Read, ..call };
        for &span in &plan.reads {
            reading[span.drive] += read.send_tagged(&self.drives, span, span.drive + 1, effects);
        }
        let next = |needs_all| move |span| Next { span, needs_all };
        let then = match self.order {
            WriteOrder::AfterAllReads => plan.writes().into_iter().map(next(true)).collect(),
            WriteOrder::AfterOwnReads => plan
                .data
                .into_iter()
                .map(next(false))
                .chain(plan.parity.into_iter().map(next(true)))
                .collect(),
        };
        let mut write = Write { call, reading, then };
        for span in write.ready() {
            call.send_span(&self.drives, span, effects);
        }
        self.active.insert(call.number, write);
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
        // Sectors that are discarded on one drive would no longer agree with the parity.
        if call.flags.contains(RequestFlags::DISCARD) {
            effects.push(Effect::Done { call: call.number, by_child: false, copy: None });
            return;
        }
        // The parity differs from sector to sector: all data go over the bus.
        let flags = call.flags.without(RequestFlags::WRITE_SAME);
        self.waiting.push_back(Call { flags, ..*call });
        self.begin_waiting(effects);
    }

    fn completed(&mut self, _now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        let Some(number) = child.call else { return };
        if let Some(write) = self.active.get_mut(&number) {
            if let Some(drive) = child.tag.checked_sub(1) {
                write.reading[drive] -= 1;
                let (call, ready) = (write.call, write.ready());
                for &span in &ready {
                    call.send_span(&self.drives, span, effects);
                }
                if !ready.is_empty() {
                    return;
                }
            }
            if child.left == 0 {
                self.active.remove(&number);
            }
        }
        effects.extend(child.done_with_all());
        if child.left == 0 {
            self.begin_waiting(effects);
        }
    }
}

/// Parity units of a stripe, by level.
fn parities(level: &str) -> usize {
    if level == "raid-6" { 2 } else { 1 }
}

impl Volume for Parity {
    const TAKES: &'static [&'static str] = &[
        "stripe_unit_kib",
        "parity_layout",
        "small_writes",
        "write_order",
        "stripe_lock",
        "parity_range",
        "join_gap_kib",
        "failed_drives",
    ];

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
            parity_range: options.parity_range,
            join_gap: (options.join_gap_kib / options.stripe_unit_kib * members.stripe_unit as f64) as u64,
        };
        let (order, locks) = (options.write_order, options.stripe_lock);
        Self {
            drives: members.drives,
            array,
            order,
            locks,
            active: BTreeMap::new(),
            waiting: VecDeque::new(),
        }
    }

    fn sectors(&self) -> u64 {
        self.array.stripes.rows * self.array.stripes.unit * self.array.layout.data() as u64
    }

    fn unit_of(&self, lba: Lba) -> usize {
        self.array.locate(lba.0).map_or(0, |(drive, at)| self.drives[drive].unit_of(Lba(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::UnitPart;
    use crate::spec::SmallWrites;
    use headstack_units::RequestFlags;

    fn raid_5(options: ArrayOptions) -> Parity {
        let drive = |unit| UnitMap::new(vec![UnitPart::new(unit, 80, 512, 512)]);
        let members = Members::plain((0..5).map(drive).collect(), 8);
        Parity::new(Members { level: "raid-5".to_owned(), options, ..members })
    }

    /// Reads and writes among effects.
    fn counted(effects: &mut Vec<Effect>) -> (usize, usize) {
        let writes = |effect: &Effect| matches!(effect, Effect::Send { piece, .. } if piece.op == Op::Write);
        let written = effects.iter().filter(|effect| writes(effect)).count();
        let counts = (effects.len() - written, written);
        effects.clear();
        counts
    }

    /// What is sent at once, once drive 0 has been read, and once drive 4 has been, too.
    fn steps(small_writes: SmallWrites, write_order: WriteOrder) -> [(usize, usize); 3] {
        let mut volume = raid_5(ArrayOptions { small_writes, write_order, ..ArrayOptions::default() });
        let flags = RequestFlags::default();
        let call = Call { number: 0, device: 0, op: Op::Write, lba: Lba(0), sectors: 4, flags };
        let mut effects = Vec::new();
        volume.call(Nanos(0), &call, &(), &mut effects);
        let first = counted(&mut effects);
        let mut read = |drive: usize, left| {
            let child = Completed { call: Some(0), tag: drive + 1, left };
            volume.completed(Nanos(1), &child, &(), &mut effects);
            counted(&mut effects)
        };
        [first, read(0, 1), read(4, 0)]
    }

    #[test]
    fn data_wait_for_their_own_drive_or_for_all() {
        use SmallWrites::ReadModifyWrite;
        // The first stripe of five drives is 0 1 2 3 P.
        assert_eq!(steps(ReadModifyWrite, WriteOrder::AfterAllReads), [(2, 0), (0, 0), (0, 2)]);
        assert_eq!(steps(ReadModifyWrite, WriteOrder::AfterOwnReads), [(2, 0), (0, 1), (0, 1)]);
    }

    #[test]
    fn where_the_rest_is_read_data_need_not_wait() {
        let begin = |write_order| {
            let small_writes = SmallWrites::ReconstructWrite;
            let mut volume = raid_5(ArrayOptions { small_writes, write_order, ..ArrayOptions::default() });
            let flags = RequestFlags::default();
            let call = Call { number: 0, device: 0, op: Op::Write, lba: Lba(0), sectors: 4, flags };
            let mut effects = Vec::new();
            volume.call(Nanos(0), &call, &(), &mut effects);
            counted(&mut effects)
        };
        assert_eq!(begin(WriteOrder::AfterAllReads), (3, 0));
        assert_eq!(begin(WriteOrder::AfterOwnReads), (3, 1));
    }
}
