//! What waits in one place, in the order of a policy.

use super::by_address::ByAddress;
use super::estimate::Estimate;
use super::knowledge::{Knowledge, Last};
use super::list::AnyOrder;
use super::order::{Choice, Order, Pick};
use super::policy::{Kind, Needs, Policy};
use super::stream::Stream;
use super::taken::{Held, Taken};
use super::waiting::{Slot, Slots, Target, Waiting};
use crate::command::Command;
use headstack_units::{Nanos, Op};
use std::collections::{BTreeMap, VecDeque};

/// What waits for one drive, in the driver or in the drive itself.
///
/// The scheduler chooses from at most `limit` commands. A command marked `ORDERED`, or a flush, neither overtakes nor is overtaken:
/// it enters the scheduler only when that is empty, and nothing enters after it until it has left.
#[derive(Clone, Debug)]
pub struct Queue {
    policy: Policy,
    knowledge: Knowledge,
    /// One command alone, where it makes no difference to the policy: nothing is ordered before there are two.
    alone: Option<Waiting>,
    may_be_alone: bool,
    slots: Slots,
    /// One for each class of commands, the first served first.
    orders: Vec<AnyOrder>,
    /// By age, where that is asked for.
    by_age: Option<BTreeMap<u64, Slot>>,
    /// By direction and address, where that is asked for.
    by_address: Option<ByAddress>,
    /// Writes by age, where that is asked for.
    writes: Option<BTreeMap<u64, Slot>>,
    /// Served before all others, the last first.
    heads: Vec<Waiting>,
    /// What the scheduler must not see yet.
    backlog: VecDeque<(Nanos, Command)>,
    limit: usize,
    /// The scheduler holds an ordered command (and nothing else).
    is_closed: bool,
    next_sequence: u64,
    held_back: u64,
    newest: Nanos,
    last: Last,
    stream: Stream,
}

impl Queue {
    /// An empty queue. The scheduler sees at most `limit` commands.
    ///
    /// # Panics
    /// If the policy needs to know more than is given (see [`Policy::needs`]); who places it checks.
    pub fn new(policy: Policy, knowledge: Knowledge, limit: Option<u32>) -> Self {
        assert!(
            policy.needs() == Needs::Addresses || matches!(knowledge, Knowledge::Layout(_)),
            "{policy} needs the layout"
        );
        let knowledge = if policy.kind == Kind::Fcfs { knowledge.forgotten() } else { knowledge };
        let order = AnyOrder::new(policy.kind, policy.value, knowledge.extent());
        Self {
            alone: None,
            may_be_alone: policy.leaves_one_alone(),
            slots: Slots::default(),
            orders: vec![order; policy.classes()],
            by_age: policy.age_limit.or(policy.sequential_first).map(|_| BTreeMap::new()),
            by_address: (policy.reads_first
                || policy.concatenate_kib.is_some()
                || policy.sequential_first.is_some())
            .then(ByAddress::default),
            writes: None,
            heads: Vec::new(),
            backlog: VecDeque::new(),
            limit: limit.map_or(usize::MAX, |limit| limit as usize),
            is_closed: false,
            next_sequence: 0,
            held_back: 0,
            newest: Nanos::ZERO,
            last: Last::default(),
            stream: Stream::default(),
            policy,
            knowledge,
        }
    }

    /// The same, of which writes can be taken out that it has not chosen, if they `are_kept` by themselves.
    pub(crate) fn with_writes(self, are_kept: bool) -> Self {
        Self { writes: are_kept.then(BTreeMap::new), may_be_alone: self.may_be_alone && !are_kept, ..self }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The reads among which the scheduler chooses: first address, and one after the last.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (u64, u64)> + Clone + '_ {
        let waiting = self.alone.iter().chain(self.slots.iter());
        let reads = waiting.filter(|waiting| waiting.command.op == Op::Read);
        reads.map(|waiting| (waiting.command.lba.0, waiting.end()))
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.seen() + self.heads.len() + self.backlog.len()
    }

    /// How many of them the scheduler sees.
    #[inline]
    fn seen(&self) -> usize {
        self.slots.len() + usize::from(self.alone.is_some())
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When the newest command came that ever did.
    pub fn newest_arrival(&self) -> Nanos {
        self.newest
    }

    /// How many commands had to wait because the scheduler saw as many as it may.
    pub fn held_back(&self) -> u64 {
        self.held_back
    }

    /// The last sector of the command taken last, and whether it was a write; `None` before the first.
    pub fn last_sector(&self) -> Option<(u64, Op)> {
        self.last.end.checked_sub(1).map(|sector| (sector, self.last.op))
    }

    /// Takes a command in that arrives at `now`.
    pub fn push(&mut self, command: Command, now: Nanos) {
        self.newest = now;
        if self.backlog.is_empty() && self.may_enter(&command) {
            self.enter(command, now);
            return;
        }
        self.held_back += u64::from(self.seen() >= self.limit);
        self.backlog.push_back((now, command));
    }

    /// Takes a command in that goes before all others.
    pub fn push_front(&mut self, command: Command, now: Nanos) {
        self.newest = now;
        let waiting = self.waiting(command, now);
        self.heads.push(waiting);
    }

    fn may_enter(&self, command: &Command) -> bool {
        let seen = self.seen();
        !self.is_closed && seen < self.limit && (seen == 0 || !command.is_ordered())
    }

    fn waiting(&mut self, command: Command, arrived: Nanos) -> Waiting {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let target = match self.knowledge.model() {
            None => Target::default(),
            Some(model) => Target::of(model, &command),
        };
        Waiting { command, sequence, arrived, target }
    }

    fn enter(&mut self, command: Command, arrived: Nanos) {
        self.is_closed = command.is_ordered();
        let waiting = self.waiting(command, arrived);
        if self.may_be_alone && self.seen() == 0 {
            self.alone = Some(waiting);
            return;
        }
        self.put_in_order();
        self.insert(waiting);
    }

    /// Another command comes, or a choice is to be made, and the one that was alone is one of several.
    #[inline]
    fn put_in_order(&mut self) {
        if let Some(waiting) = self.alone.take() {
            self.insert(waiting);
        }
    }

    #[inline]
    fn insert(&mut self, waiting: Waiting) {
        let command = waiting.command;
        let slot = self.slots.insert(waiting);
        let at = self.at(&waiting);
        self.order_of(&command).insert(&waiting, at, slot);
        if let Some(by_age) = &mut self.by_age {
            by_age.insert(waiting.sequence, slot);
        }
        if let Some(by_address) = &mut self.by_address {
            by_address.insert(&waiting, slot);
        }
        if let Some(writes) = self.writes.as_mut().filter(|_| command.op == Op::Write) {
            writes.insert(waiting.sequence, slot);
        }
    }

    fn at(&self, waiting: &Waiting) -> u64 {
        match self.knowledge {
            Knowledge::Addresses { .. } => waiting.command.lba.0,
            Knowledge::Cylinders(_) | Knowledge::Layout(_) => u64::from(waiting.target.cylinder),
        }
    }

    fn order_of(&mut self, command: &Command) -> &mut AnyOrder {
        let class = self.policy.class(command.op, command.flags);
        &mut self.orders[class]
    }

    /// Takes the only command out, if there is but one and the policy has no state that a choice would change.
    pub(crate) fn pop_only(&mut self) -> Option<Waiting> {
        let is_free = self.policy.needs() != Needs::Addresses && !self.policy.puts_choices_off();
        if !is_free || self.len() != 1 {
            return None;
        }
        if let Some(waiting) = self.alone.take() {
            return Some(self.leave(waiting));
        }
        self.slots.only().map(|slot| self.take(slot))
    }

    /// Chooses the next command at `now` and takes it out. `arms` and `buffered` (ranges of addresses, first and one after
    /// the last) tell about the drive; they are looked at where the policy needs them. Where several arms could serve any
    /// of the commands, the best pair is chosen, and the arm's number is in the answer.
    pub fn pop(&mut self, now: Nanos, arms: &[Estimate<'_>], buffered: &[(u64, u64)]) -> Option<Taken> {
        self.pop_by(now, Nanos::MAX, arms, Held { buffered, coming: None, read_on: None })
            .and_then(Result::ok)
    }

    /// As [`Queue::pop`], where `by` is how late it is already: a scheduler that can put its choice of `now` off for longer
    /// does, and says until when.
    pub fn pop_by(
        &mut self,
        now: Nanos,
        by: Nanos,
        arms: &[Estimate<'_>],
        held: Held<'_>,
    ) -> Option<Result<Taken, Nanos>> {
        self.pop_that(now, by, arms, held, |_| true)
    }

    /// Chooses as [`Queue::pop_by`] does, where nothing is put off; the command stays where it is unless it is `wanted`.
    pub(crate) fn pop_if(
        &mut self,
        now: Nanos,
        arms: &[Estimate<'_>],
        held: Held<'_>,
        wanted: impl Fn(&Waiting) -> bool,
    ) -> Option<Waiting> {
        let popped = self.pop_that(now, Nanos::MAX, arms, held, wanted)?;
        popped.ok().map(|taken| taken.waiting)
    }

    #[inline]
    fn pop_that(
        &mut self,
        now: Nanos,
        by: Nanos,
        arms: &[Estimate<'_>],
        Held { buffered, coming, read_on }: Held<'_>,
        wanted: impl Fn(&Waiting) -> bool,
    ) -> Option<Result<Taken, Nanos>> {
        if !self.heads.is_empty() {
            let waiting = self.heads.pop_if(|waiting| wanted(waiting))?;
            self.remember(&waiting.command);
            return Some(Ok(Taken::of(waiting, 0)));
        }
        if arms.len() > 1 {
            self.put_in_order();
        }
        if let Some(waiting) = self.alone {
            if !wanted(&waiting) {
                return None;
            }
            self.tell_orders(now, &waiting);
            self.alone = None;
            return Some(Ok(Taken::of(self.leave(waiting), 0)));
        }
        let Self { ref knowledge, ref slots, last, .. } = *self;
        let choice = Choice { now, last, knowledge, arms, buffered, coming, read_on, slots };
        let chosen = self
            .overdue(self.policy.age_limit, now)
            .or_else(|| self.in_stream(now))
            .or_else(|| self.follower())
            .map(Pick::of);
        let mut put_off = None;
        let Pick { slot, arm } = if let Some(pick) = chosen {
            pick
        } else {
            let (order, pick) =
                self.orders.iter_mut().find_map(|order| order.choose(&choice).map(|pick| (order, pick)))?;
            let until = order.decides_by(&choice, pick);
            let writes = self.writes.as_ref();
            let cached = |slot| writes.and_then(|writes| oldest_cached(writes, slots, arms, slot));
            let pick = if until > by {
                put_off = Some(until);
                let meanwhile = order.meanwhile(&choice, by, until);
                // Writes come into the cache in their order: one that would have to let another go first, which takes longer, waits.
                let in_order = |pick: &Pick| cached(pick.slot).is_none_or(|first| first == pick.slot);
                let Some(meanwhile) = meanwhile.filter(in_order) else { return Some(Err(until)) };
                meanwhile
            } else {
                pick
            };
            let by_address = self.by_address.as_ref().filter(|_| self.policy.reads_first);
            let older = by_address.and_then(|by_address| by_address.older_write(slots, pick.slot));
            older.or_else(|| cached(pick.slot)).map_or(pick, Pick::of)
        };
        if !wanted(&self.slots[slot]) {
            let command = self.slots[slot].command;
            self.order_of(&command).refused();
            return None;
        }
        let at = self.at(&self.slots[slot]);
        for order in &mut self.orders {
            order.taken(&choice, at);
        }
        Some(Ok(Taken { put_off, ..Taken::of(self.take(slot), arm as usize) }))
    }

    /// The command that was alone is taken: a sweep has moved there.
    fn tell_orders(&mut self, now: Nanos, waiting: &Waiting) {
        let at = self.at(waiting);
        let Self { ref knowledge, ref slots, last, .. } = *self;
        let (arms, buffered) = (&[], &[]);
        let choice = Choice { now, last, knowledge, arms, buffered, coming: None, read_on: None, slots };
        for order in &mut self.orders {
            order.taken(&choice, at);
        }
    }

    /// Of the writes that are kept by themselves the one that `begins` first, `from` an instant on, among equals the oldest: when,
    /// and its number.
    pub(crate) fn first_write(
        &self,
        from: Nanos,
        begins: impl Fn(&Waiting) -> Option<Nanos>,
    ) -> Option<(Nanos, Slot)> {
        let mut first: Option<(Nanos, Slot)> = None;
        for &slot in self.writes.as_ref()?.values() {
            let waiting = &self.slots[slot];
            if let Some(at) = begins(waiting).filter(|&at| first.is_none_or(|(before, _)| at < before)) {
                first = Some((at, slot));
                if at <= from {
                    break;
                }
            }
        }
        first
    }

    /// Takes out a command that nobody waits for any more.
    pub(crate) fn withdraw(&mut self, id: u64) -> Option<Waiting> {
        if let Some(index) = self.heads.iter().position(|waiting| waiting.command.id == id) {
            return Some(self.heads.remove(index));
        }
        self.put_in_order();
        if let Some(slot) = self.slots.position(|waiting| waiting.command.id == id) {
            return Some(self.take_unchosen(slot));
        }
        let index = self.backlog.iter().position(|(_, command)| command.id == id)?;
        let (arrived, command) = self.backlog.remove(index)?;
        let waiting = self.waiting(command, arrived);
        self.let_in();
        Some(waiting)
    }

    /// Takes out a command that the scheduler has not chosen: it is not the last that was served.
    pub(crate) fn take_unchosen(&mut self, slot: Slot) -> Waiting {
        let (last, stream) = (self.last, self.stream);
        let waiting = self.take(slot);
        (self.last, self.stream) = (last, stream);
        waiting
    }

    /// Takes out the command that continues the last one, if the policy joins them.
    pub fn pop_follower(&mut self) -> Option<Waiting> {
        let slot = self.follower()?;
        Some(self.take(slot))
    }

    /// When a drive that is free at `now` turns to what waits: later, where it has let a sequential stream pass and waits for
    /// the next of it, for at most `patience`. `busy_until` is when the last command was complete: what came later has let
    /// nothing pass.
    pub(crate) fn waits_for_stream(&self, now: Nanos, busy_until: Nanos, patience: Nanos) -> Nanos {
        let Some(limit) = self.policy.sequential_first else { return now };
        let oldest = self.by_age.as_ref().and_then(|by_age| by_age.first_key_value());
        let Some((_, &slot)) = oldest.filter(|_| self.heads.is_empty() && self.in_stream(now).is_none())
        else {
            return now;
        };
        let arrived = self.slots[slot].arrived;
        if !self.stream.was_last || arrived >= busy_until {
            return now;
        }
        (now + patience).min(arrived.saturating_add(limit)).max(now)
    }

    fn take(&mut self, slot: Slot) -> Waiting {
        let waiting = self.slots.remove(slot);
        let at = self.at(&waiting);
        self.order_of(&waiting.command).remove(&waiting, at);
        if let Some(by_age) = &mut self.by_age {
            by_age.remove(&waiting.sequence);
        }
        if let Some(by_address) = &mut self.by_address {
            by_address.remove(&waiting);
        }
        if let Some(writes) = &mut self.writes {
            writes.remove(&waiting.sequence);
        }
        self.leave(waiting)
    }

    /// A command has left, and others may enter.
    #[inline]
    fn leave(&mut self, waiting: Waiting) -> Waiting {
        self.remember(&waiting.command);
        self.is_closed = false;
        self.let_in();
        waiting
    }

    /// What waited behind a command that has left enters.
    #[inline]
    fn let_in(&mut self) {
        while let Some((arrived, next)) = self.backlog.front().copied()
            && self.may_enter(&next)
        {
            self.backlog.pop_front();
            self.enter(next, arrived);
        }
    }

    fn remember(&mut self, command: &Command) {
        if self.policy.sequential_first.is_some() {
            self.stream.remember(command);
        }
        let sectors = u64::from(command.sectors);
        let follows = self.last.op == command.op && self.last.end == command.lba.0;
        let joined = if follows { self.last.joined + sectors } else { sectors };
        self.last = Last {
            op: command.op,
            flags: command.flags,
            lba: command.lba.0,
            end: command.lba.0 + sectors,
            joined,
        };
    }

    /// The oldest, if it has waited for longer than `limit`.
    fn overdue(&self, limit: Option<Nanos>, now: Nanos) -> Option<Slot> {
        let &slot = self.by_age.as_ref()?.first_key_value()?.1;
        (now.saturating_sub(self.slots[slot].arrived) > limit?).then_some(slot)
    }

    /// Where sequential reads go first: the oldest if it has waited for them for too long, or else one that continues the
    /// stream.
    fn in_stream(&self, now: Nanos) -> Option<Slot> {
        let limit = self.policy.sequential_first?;
        self.overdue(Some(limit), now).or_else(|| {
            let reads = self.by_address.as_ref()?.of(Op::Read);
            let at = self.stream.end?;
            reads.range((at, 0)..=(at, u64::MAX)).next().map(|(_, &slot)| slot)
        })
    }

    /// The oldest that continues the last command, if that is not too much yet.
    fn follower(&self) -> Option<Slot> {
        let kib = self.policy.concatenate_kib?;
        let by_address = self.by_address.as_ref()?;
        let Last { op, flags, end, joined, .. } = self.last;
        let slot = by_address.of(op).range((end, 0)..=(end, u64::MAX)).next().map(|(_, &slot)| slot)?;
        let sectors = joined + u64::from(self.slots[slot].command.sectors);
        if sectors == joined {
            // A flush has no sectors.
            return None;
        }
        let bytes = sectors as f64 * f64::from(self.knowledge.sector_bytes());
        (bytes <= kib * 1024.0 && self.slots[slot].command.flags == flags).then_some(slot)
    }
}

/// Where the chosen is a write into the cache, the oldest of these: where the arm is makes no difference to them.
fn oldest_cached(
    writes: &BTreeMap<u64, Slot>,
    slots: &Slots,
    arms: &[Estimate<'_>],
    chosen: Slot,
) -> Option<Slot> {
    let is_cached = |slot: &&Slot| {
        let command = &slots[**slot].command;
        command.op == Op::Write && arms.first().is_some_and(|arm| arm.goes_into_cache(command))
    };
    is_cached(&&chosen).then(|| writes.values().find(is_cached).copied()).flatten()
}
