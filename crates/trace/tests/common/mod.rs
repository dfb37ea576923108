//! What tests of traces made of records share.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod load;

use std::io::Write as _;
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
        let mut number = 0;
        let numbered = events.iter().map(|event| {
            number += 1;
            while whole.is_some_and(|whole| whole[cpu][number - 1] != *event) {
                number += 1;
            }
            (number as u32, *event)
        });
        write_file(folder, cpu, numbered);
    }
}

/// The file of a processor, of events each with its number.
pub(crate) fn write_file(folder: &Path, cpu: usize, events: impl Iterator<Item = (u32, Event)>) {
    let mut bytes = Vec::new();
    for (number, event) in events {
        push_record(&mut bytes, Layout { version: 7, big_endian: false }, number, &event);
    }
    std::fs::write(folder.join(format!("sdb.blktrace.{cpu}")), bytes).unwrap();
}

/// As what events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Packed,
    Files,
}

/// The I/Os of events, each with its number, that are written in such a form.
pub(crate) fn read_as(form: Form, events: &[(u32, Event)]) -> (Vec<Io>, PairingSummary) {
    let folder = tempfile::tempdir().unwrap();
    let options = OpenOptions { tolerant: true, ..OpenOptions::default() };
    let mut path = folder.path().join("trace.txt");
    match form {
        Form::Text => std::fs::write(&path, as_text(events)).unwrap(),
        Form::Packed => {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(as_text(events).as_bytes()).unwrap();
            std::fs::write(&path, packed.finish().unwrap()).unwrap();
        }
        Form::Files => {
            path = folder.path().into();
            for cpu in 0..=events.iter().map(|(_, event)| event.cpu).max().unwrap() {
                let own = events.iter().filter(|(_, event)| event.cpu == cpu);
                write_file(&path, cpu.into(), own.copied());
            }
        }
    }
    read(&path, &options)
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
