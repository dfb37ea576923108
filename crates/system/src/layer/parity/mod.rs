//! RAID 4, 5 and 6, and declustered parity: data and parity over drives.
//!
//! A write that covers a stripe in part reads first what the new parity takes, then writes ([`WriteOrder`]). Writes of the same stripe exclude
//! each other; one that has to wait is served when those before it are complete. Modelled: which commands go to which drive
//! and when. Not modelled: the time it takes to work parity out, stripes kept in memory from one write to the next, reads
//! that meet a write of the same stripe (they do not wait).

mod plan;

use std::collections::BTreeMap;

use headstack_units::{Lba, Nanos, Op, RequestFlags};

use super::array::{Declustered, Geometry, Layout, Redundant, Repair};
use super::stripes::Span;
use super::{Below, Call, Completed, Effect, Layer, Members, Volume};
use crate::spec::{ArrayOptions, DeclusteredOptions, WriteOrder};
use plan::Planner;

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

/// A volume that survives the failure of as many drives as its stripes have parities.
#[derive(Clone, Debug)]
pub(crate) struct Parity {
    core: Box<Redundant>,
    planner: Planner,
    order: WriteOrder,
    /// By the numbers of their calls.
    active: BTreeMap<usize, Write>,
}

impl Parity {
    fn begin(&mut self, call: Call, effects: &mut Vec<Effect>) {
        let plan = self.planner.write(&self.core.array, call.lba.0, call.sectors);
        let drives = &self.core.drives;
        let mut reading = vec![0; drives.len()];
        let read = Call { op: Op::Read, ..call };
        for &span in &plan.reads {
            reading[span.drive] += read.send_tagged(drives, span, span.drive + 1, effects);
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
            call.send_span(drives, span, effects);
        }
        self.active.insert(call.number, write);
    }

    /// Begins the writes that need not wait any more, in their order.
    fn begin_waiting(&mut self, effects: &mut Vec<Effect>) {
        for call in self.core.admitted() {
            self.begin(call, effects);
        }
    }
}

impl Layer for Parity {
    fn start(&mut self, effects: &mut Vec<Effect>) {
        self.core.start(effects);
    }

    fn call(&mut self, _now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        if call.op == Op::Read {
            for span in self.planner.read(&self.core.array, call.lba.0, call.sectors).reads {
                call.send_span(&self.core.drives, span, effects);
            }
            return;
        }
        // Sectors that are discarded on one drive would no longer agree with the parity.
        if call.flags.contains(RequestFlags::DISCARD) {
            effects.push(Effect::Done { call: call.number, by_child: true, copy: None });
            return;
        }
        // The parity differs from sector to sector: all data go over the bus.
        let flags = call.flags.without(RequestFlags::WRITE_SAME);
        self.core.ask(&Call { flags, ..*call });
        self.begin_waiting(effects);
    }

    fn completed(&mut self, now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        if let Some(number) = child.call
            && let Some(write) = self.active.get_mut(&number)
        {
            if let Some(drive) = child.tag.checked_sub(1) {
                write.reading[drive] -= 1;
                let (call, ready) = (write.call, write.ready());
                for &span in &ready {
                    call.send_span(&self.core.drives, span, effects);
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
            self.core.part_completed(now, child, effects);
            self.begin_waiting(effects);
        }
    }

    fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        self.core.timer(now, tag, effects);
        self.begin_waiting(effects);
    }
}

/// Parity units of a stripe.
fn parities(level: &str, options: &ArrayOptions) -> usize {
    match level {
        DECLUSTERED => options.declustered.parities as usize,
        "raid-6" => 2,
        _ => 1,
    }
}

const DECLUSTERED: &str = "declustered";

/// What keeps stripes from being declustered over so many drives, if anything.
fn check_declustered(drives: usize, options: &ArrayOptions) -> Option<String> {
    let DeclusteredOptions { group_width, parities, distributed_spares, row_kib, design } =
        options.declustered;
    let (width, spares) = (group_width as usize, distributed_spares as usize);
    if !(1..=3).contains(&parities) {
        return Some(format!("`parities`: {parities} is not 1, 2 or 3"));
    }
    if group_width <= parities {
        return Some(format!(
            "`group_width`: {group_width} members of a stripe leave no room for data beside {parities} of parity"
        ));
    }
    if !(drives <= 1_000 && width + spares <= drives) {
        return Some(format!(
            "{drives} drives hold no stripes of {width} members and {spares} distributed spares; there must be as many \
             drives as both together, and at most 1,000"
        ));
    }
    if !(row_kib > 0.0 && row_kib % options.stripe_unit_kib == 0.0) {
        return Some(format!(
            "`row_kib`: {row_kib} is not a multiple of `stripe_unit_kib`, {}",
            options.stripe_unit_kib
        ));
    }
    Declustered::check(drives, width + spares, design)
}

impl Volume for Parity {
    const TAKES: &'static [&'static str] = &[
        "stripe_unit_kib",
        "unequal_drives",
        "spindles",
        "parity_layout",
        "small_writes",
        "write_order",
        "stripe_lock",
        "parity_range",
        "join_gap_kib",
        "failed_drives",
        "failures",
        "spares",
        "rebuild",
        "declustered",
    ];

    fn takes(level: &str, key: &str) -> bool {
        match key {
            "parity_layout" => ["raid-5", "raid-6"].contains(&level),
            "declustered" => level == DECLUSTERED,
            _ => true,
        }
    }

    fn check(level: &str, drives: usize, options: &ArrayOptions) -> Option<String> {
        let (parities, failed) = (parities(level, options), options.failed_count());
        if level == DECLUSTERED {
            if let Some(problem) = check_declustered(drives, options) {
                return Some(problem);
            }
        } else if drives < parities + 2 {
            return Some(format!("level \"{level}\" takes {} drives or more, not {drives}", parities + 2));
        }
        let most =
            if parities == 1 { "1 failed drive".to_owned() } else { format!("{parities} failed drives") };
        (failed > parities)
            .then(|| format!("data are lost: level \"{level}\" survives {most} at most, not {failed}"))
    }

    fn new(members: Members) -> Self {
        let options = &members.options;
        let (drives, parities) = (members.drives.len(), parities(&members.level, options));
        let geometry = if members.level == DECLUSTERED {
            let DeclusteredOptions { group_width, distributed_spares, row_kib, design, .. } =
                options.declustered;
            let shape = (group_width as usize, parities, distributed_spares as usize);
            let row_units = (row_kib / options.stripe_unit_kib) as u64;
            Geometry::Declustered(Declustered::new(drives, shape, row_units, design))
        } else {
            let rotation = (members.level != "raid-4").then_some(options.parity_layout);
            Geometry::Parity(Layout { drives, parities, rotation })
        };
        let planner = Planner {
            small_writes: options.small_writes,
            parity_range: options.parity_range,
            join_gap: (options.join_gap_kib / options.stripe_unit_kib * members.stripe_unit as f64) as u64,
        };
        let (order, excludes) = (options.write_order, options.stripe_lock);
        Self { core: Redundant::boxed(members, geometry, excludes), planner, order, active: BTreeMap::new() }
    }

    fn sectors(&self) -> u64 {
        self.core.sectors()
    }

    fn unit_of(&self, lba: Lba) -> usize {
        self.core.unit_of(lba)
    }

    fn repair(&self) -> Option<&Repair> {
        Some(self.core.repair())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{UnitMap, UnitPart};
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
