//! The end of a run. What is in hand then goes on, and nothing else does, until it is known what of it was done by the end.

use headstack_drive::command::Outcome;
use headstack_units::Nanos;

use super::{BusBook, BusInHand, Engine, Event, Hold, SubRequest, Usage, background};

impl Engine {
    /// What was used since the last restart of the statistics, up to `end`, where the run ends; it is cut if something would still
    /// happen. The engine cannot go on after this.
    pub(crate) fn used(&mut self, end: Nanos, is_cut: bool) -> Usage {
        self.run_out(end);
        let on_until: Vec<Nanos> = (0..self.units.len()).map(|unit| self.close(unit, end, is_cut)).collect();
        let mut used = self.ledger.used(end);
        used.units.iter_mut().zip(on_until).for_each(|(unit, on_until)| unit.off = end - on_until);
        used
    }

    /// Closes the account of a unit in a run that ends at `end`: until when it was on.
    fn close(&mut self, unit: usize, end: Nanos, is_cut: bool) -> Nanos {
        let (end, counted_from) = (self.on_until(unit, end), self.ledger.units[unit].since());
        if end < counted_from {
            // It was off before anything counted: what it would have done by itself since, it did not.
            return counted_from;
        }
        let mut works = Vec::new();
        self.ledger.units[unit].close(&mut self.units[unit].drive, (end, is_cut), &mut works);
        self.background.extend(works.into_iter().map(|work| background(&self.system, unit, work)));
        end
    }

    /// Until when the drive of a unit is on in a run that ends at `end`: a failed one serves what it was sent before.
    fn on_until(&self, unit: usize, end: Nanos) -> Nanos {
        match self.failed_at(unit) {
            Some(at) if self.ledger.units[unit].load() == 0 => {
                at.max(self.units[unit].drive.rests_since()).min(end)
            }
            _ => end,
        }
    }

    /// Drives go on with the commands they have in hand at `end`, and get no others. What was done by then is booked.
    fn run_out(&mut self, end: Nanos) {
        let mut left: u32 = self.units.iter().map(|unit| unit.at_drive).sum();
        if left == 0 {
            return;
        }
        self.units.iter_mut().for_each(|unit| unit.limit = 0);
        let told = self.background.len();
        let books = self.ledger.buses.clone();
        let mut in_hand = vec![BusInHand::default(); books.len()];
        while left > 0
            && let Some((now, event)) = self.calendar.pop_until(Nanos::MAX)
        {
            self.now = now;
            match event {
                Event::Wake(_) | Event::WantsBus { .. } | Event::BusFree(_) => self.happen(now, event),
                Event::Done(sub) => {
                    left -= 1;
                    let (bus, outcome) = self.cut_command(now, sub, end);
                    in_hand[bus].add(&outcome);
                }
                Event::Issued(_) | Event::Recalibrate(_) | Event::Copied(_) | Event::Timer { .. } => {}
            }
        }
        let works = self.background.split_off(told);
        self.background.extend(works.into_iter().filter(|row| row.work.start < end));
        self.cut_buses(books, in_hand, end);
    }

    /// A command is complete that was in hand at `end`: the bus it went over, and what it held that for.
    fn cut_command(&mut self, now: Nanos, sub: usize, end: Nanos) -> (usize, Outcome) {
        let SubRequest { op, unit: index, outcome, .. } = self.subs[sub];
        let outcome = self.outcomes.remove(outcome);
        let unit = &mut self.units[index];
        unit.at_drive -= 1;
        let spans: Vec<_> = unit.drive.take_work().collect();
        let rests: Vec<_> = unit.drive.take_rests().collect();
        let book = &mut self.ledger.units[index];
        book.cut_command((op, &outcome), spans, rests, (unit.drive.model(), end));
        let bus = unit.bus;
        if unit.hold == Hold::Held {
            unit.hold = Hold::None;
            self.release(now, bus);
        }
        (bus, outcome)
    }

    /// The accounts of buses are as they were at `end`, in `books`; and data in hand count as far as they went over by then.
    fn cut_buses(&mut self, books: Vec<BusBook>, in_hand: Vec<BusInHand>, end: Nanos) {
        let now = self.now.max(end);
        for ((later, mut book), mut in_hand) in self.ledger.buses.iter_mut().zip(books).zip(in_hand) {
            in_hand.hold_after(later.used(now).held_ns.saturating_sub(book.used(end).held_ns));
            book.cut(in_hand);
            *later = book;
        }
    }
}
