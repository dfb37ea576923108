//! Any bytes behind a blktrace magic, of each version and byte order: read tolerantly, they end in I/Os in order.

#![no_main]

use headstack_trace::event::open_ios;
use headstack_trace::{IoSource, OpenOptions};
use libfuzzer_sys::fuzz_target;
use std::io::Write;

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else { return };
    let magic = 0x6561_7400_u32 | if which & 1 == 0 { 7 } else { 8 };
    let magic = if which & 2 == 0 { magic.to_le_bytes() } else { magic.to_be_bytes() };
    let mut file = tempfile::NamedTempFile::new_in("/dev/shm").expect("a file in memory");
    file.write_all(&magic).and_then(|()| file.write_all(rest)).expect("room");
    let options = OpenOptions { format: Some("blktrace".into()), tolerant: true, ..OpenOptions::default() };
    let Ok(mut ios) = open_ios(file.path(), &options) else { return };
    let mut batch = Vec::new();
    while ios.next_ios(&mut batch).is_ok() && !batch.is_empty() {
        assert!(batch.iter().all(|io| io.request.finish >= io.request.arrival));
    }
});
