//! What tests of traces made of records share.

use std::path::Path;

use headstack_trace::event::blktrace::{Layout, push_record};
use headstack_trace::event::{Event, PairingSummary, device_numbers, open_ios};
use headstack_trace::{Io, IoSource, OpenOptions};

/// All I/Os of a trace, and what pairing came to.
pub(crate) fn read(path: &Path, options: &OpenOptions) -> (Vec<Io>, PairingSummary) {
    let mut reader = open_ios(path, options).unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        reader.next_ios(&mut batch).unwrap();
        if batch.is_empty() {
            return (all, reader.pairing().unwrap());
        }
        all.append(&mut batch);
    }
}

/// Random numbers without a library: xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A run of blktrace, a file for each processor; each record with its number in `whole`, if there is one.
pub(crate) fn write_run(folder: &Path, files: &[Vec<Event>], whole: Option<&[Vec<Event>]>) {
    for (cpu, events) in files.iter().enumerate() {
        let (mut bytes, mut number) = (Vec::new(), 0);
        for event in events {
            number += 1;
            while whole.is_some_and(|whole| whole[cpu][number - 1] != *event) {
                number += 1;
            }
            push_record(&mut bytes, Layout { version: 7, big_endian: false }, number as u32, event);
        }
        std::fs::write(folder.join(format!("sdb.blktrace.{cpu}")), bytes).unwrap();
    }
}

/// As blkparse prints events of data, each with its number.
pub(crate) fn as_text(events: &[(u32, Event)]) -> String {
    let line = |(number, event): &(u32, Event)| {
        let (seconds, nanos) = (event.time.0 / 1_000_000_000, event.time.0 % 1_000_000_000);
        let (major, minor) = device_numbers(event.device);
        format!(
            "{major:3},{minor:<3} {:2} {number:8} {seconds:5}.{nanos:09} {:5} {:>2} {:>3} {} + {} [app]\n",
            event.cpu,
            event.pid,
            event.action.letter(),
            event.marks.letters(),
            event.sector,
            event.sectors()
        )
    };
    events.iter().map(line).collect()
}
