//! A statement at the end of events that this program wrote: how many they are. Where as many are read nothing is missing, though some
//! requests have no dispatch, or no queueing, as in the trace that they are of.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::{Action, EventSource};
use crate::input::Input;

/// What it begins with, …
const BEGIN: &str = "headstack: ";
/// … and ends with.
const END: &str = " events end here";

/// It lies in so many bytes at the end of a file.
const BYTES: u64 = 160;

/// What is packed must be read from its beginning: of more bytes the end is not looked at.
const MOST_PACKED_BYTES: u64 = 1 << 22;

/// That so many events were written.
pub(crate) fn statement(events: u64) -> String {
    format!("{BEGIN}{events}{END}")
}

/// Whether a message is such a statement.
pub(super) fn is_statement(message: &[u8]) -> bool {
    message.starts_with(BEGIN.as_bytes())
}

/// How many events a file says that it has.
pub(super) fn stated(path: &Path, is_packed: bool) -> Option<u64> {
    let end = if is_packed { end_of_packed(path)? } else { end_of_plain(path)? };
    let end = String::from_utf8_lossy(&end);
    let (_, said) = end.rsplit_once(BEGIN)?;
    said.split_once(END)?.0.parse().ok()
}

fn end_of_plain(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let from = file.metadata().ok()?.len().saturating_sub(BYTES);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).ok()?;
    Some(end)
}

fn end_of_packed(path: &Path) -> Option<Vec<u8>> {
    if std::fs::metadata(path).ok()?.len() > MOST_PACKED_BYTES {
        return None;
    }
    let mut buffer = Input::open_packed(path, false).ok()?.into_buffer();
    loop {
        let length = buffer.bytes().len();
        buffer.take(length.saturating_sub(BYTES as usize));
        if !buffer.refill().ok()? {
            return Some(buffer.bytes().to_vec());
        }
    }
}

/// Whether a source, read to its end, has so many events, and nothing is wrong with it.
pub(super) fn holds(source: &mut dyn EventSource, events: u64) -> bool {
    let (mut read, mut batch) = (0, Vec::new());
    loop {
        if source.next_events(&mut batch).is_err() {
            return false;
        }
        if batch.is_empty() {
            // Of two events at one instant only the order of lines tells which was first.
            return read == events && !source.loss().is_certain() && source.notes().out_of_order == 0;
        }
        read += batch.iter().filter(|event| event.action != Action::Message).count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::blkparse;
    use crate::event::lines::TextEvents;
    use crate::testing;

    #[test]
    fn a_statement_holds_of_as_many_events_as_were_written() {
        let line = |n: u64| format!("8,16 1 {n} {n}.0 7 Q R {n} + 8 [a]\n");
        let holds = |numbers: &[u64], end: &str| {
            let text: String = numbers.iter().map(|&n| line(n)).collect();
            let file = testing::text_file(&format!("{text}{end}"));
            let source = || {
                let input = Input::open(file.path()).unwrap();
                TextEvents::new(input, blkparse::Parser::default(), false)
            };
            stated(file.path(), false).map(|events| super::holds(&mut source(), events))
        };
        let (all, end): (Vec<u64>, _) = ((1..=40).collect(), format!("# {}\n", statement(40)));
        assert_eq!(holds(&all, &end), Some(true));
        assert_eq!(holds(&all[..39], &end), Some(false));
        assert_eq!(holds(&(1..=41).collect::<Vec<_>>(), &end), Some(false));
        // As many, of which numbers tell that one is missing.
        assert_eq!(holds(&[&all[..9], &(11..=41).collect::<Vec<_>>()].concat(), &end), Some(false));
        // All of them, and not as they were written.
        assert_eq!(holds(&[&all[1..], &all[..1]].concat(), &end), Some(false));
        assert_eq!(holds(&all, ""), None);
        assert_eq!(holds(&all, "# headstack: some events end here\n"), None);
    }
}
