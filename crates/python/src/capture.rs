//! Capturing a device's requests.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::poll::Poll;
use crate::range::{BufferKib, DurationS};
use headstack_trace::capture::{CaptureOptions, Captured, capture};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Captures the requests of a block device to a file, for `duration_s` or until Ctrl-C, which ends it as well as time does.
#[pyfunction]
#[pyo3(signature = (device, out, *, duration_s=None, buffer_kib=BufferKib(8192)))]
pub(crate) fn capture_trace(
    py: Python<'_>,
    device: PathBuf,
    out: PathBuf,
    duration_s: Option<DurationS>,
    buffer_kib: BufferKib,
) -> PyResult<Bound<'_, PyDict>> {
    let duration = duration_s.map(|seconds| Duration::from_secs_f64(seconds.0));
    let options = CaptureOptions { device, out, duration, buffer_kib: buffer_kib.0 };
    let (mut poll, _refusal) = Poll::new(None);
    let captured = guarded(py, || {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let work = scope.spawn(|| capture(&options, &stop));
            while !work.is_finished() {
                std::thread::sleep(Duration::from_millis(20));
                if !poll.goes_on(0, 0.0) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            let done = work.join().map_err(|_| Error::Internal("the capture panicked".into()))?;
            Ok(done?)
        })
    })?;
    dict(py, &value(&captured))
}

fn value(captured: &Captured) -> Value {
    let (cpu, wall) = (captured.cpu.as_secs_f64(), captured.wall.as_secs_f64());
    json!({
        "device": [captured.device.0, captured.device.1],
        "requests": captured.requests,
        "others": captured.others,
        "pairs": captured.counts.pairs,
        "orphans": captured.counts.orphans(),
        "events": captured.events,
        "lost_events": captured.lost_events,
        "bytes_read": captured.bytes_read,
        "cpu_s": cpu,
        "wall_s": wall,
        "cpu_share": if wall > 0.0 { cpu / wall } else { 0.0 },
        "tracefs_mounted": captured.mounted,
    })
}
