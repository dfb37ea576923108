//! Commands of another protocol, passed through to the device: of smartctl, hdparm, or the kernel's own polls.
//!
//! Nobody queues them and they have no place, so that what they lack tells nothing of losses. A completion belongs to the first of its
//! direction, of its size if one has it: text tells no size.

use headstack_units::Lba;

use super::Pairing;
use super::active::{Active, undoubted};
use crate::event::{Action, Event, Marks};
use crate::{Io, Request};

impl Pairing {
    /// Takes an event of such a command.
    #[cold]
    pub(super) fn command(&mut self, event: &Event) {
        match event.action {
            Action::Issue => self.issue_command(event),
            Action::Requeue => {
                self.counts.requeues += 1;
                self.take_command(event);
            }
            Action::Complete => match self.take_command(event) {
                Some(active) => {
                    if !self.gives_up(&active) {
                        self.end(active.io, event.time);
                    }
                }
                None => self.counts.orphan_completions += 1,
            },
            _ => {}
        }
    }

    fn issue_command(&mut self, event: &Event) {
        let list = self.commands.entry(event.device).or_default();
        if self.lossy {
            // A drive has one of them at a time, or few: those before may have lost their end.
            self.counts.orphan_dispatches += undoubted(list.iter());
            list.clear();
        }
        let request = Request::new(event.time, event.marks.op(), Lba(event.sector), event.sectors());
        let mut io = Io::new(Request { device: event.device, start: event.time, ..request });
        (io.kind, io.pid) = (event.marks.kind(event.bytes), event.pid);
        io.sync = event.marks.has(Marks::SYNC);
        list.push_back(Active::new(io, event, self.completions));
    }

    fn take_command(&mut self, event: &Event) -> Option<Active> {
        let list = self.commands.get_mut(&event.device)?;
        let alike = |active: &Active| active.marks.side() == event.marks.side();
        let same = |active: &Active| alike(active) && active.end == event.end();
        let at = list.iter().position(same).or_else(|| list.iter().position(alike))?;
        list.remove(at)
    }
}
