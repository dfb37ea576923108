//! Any bytes as any format, tolerant or not: an error or sound requests, never a panic.

#![no_main]

use headstack_trace::{FORMATS, OpenOptions, RequestSource, open};
use libfuzzer_sys::fuzz_target;
use std::io::Write;

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else { return };
    let mut file = tempfile::NamedTempFile::new_in("/dev/shm").expect("a file in memory");
    file.write_all(rest).expect("room");
    let format = FORMATS[usize::from(which & 0x7f) % FORMATS.len()].name;
    let options = OpenOptions { format: Some(format.into()), tolerant: which & 0x80 != 0, ..OpenOptions::default() };
    let Ok(mut reader) = open(file.path(), &options) else { return };
    let mut batch = Vec::new();
    while reader.next_batch(&mut batch).is_ok() && !batch.is_empty() {
        assert!(batch.iter().all(|request| request.sectors > 0 && request.finish >= request.arrival));
    }
});
