//! A signal is obeyed also where no Python code can run: while a library draws a page and holds the interpreter's lock.

use crate::error::Error;
use pyo3::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long Python may take to hear of a signal: of the processor's time, for on a busy machine it may not have got any yet, and a
/// measurement would lose its record.
const PATIENCE: Duration = Duration::from_millis(400);
/// And in all, whoever has the processor.
const UTMOST: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// Waits for signals beside Python: their numbers come out of a pipe (`signal.set_wakeup_fd`). If Python has not said within
/// 0.4 s of the processor's time, or 3 s of anybody's, that it `heard` one of them, the process ends there and then, with `says` on
/// stderr and the code 128 and the number.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct SignalWatch {
    heard: Arc<AtomicBool>,
}

#[pymethods]
impl SignalWatch {
    #[new]
    fn new(pipe: &str, says: Vec<(u8, String)>) -> Result<Self, Error> {
        let heard = Arc::new(AtomicBool::new(false));
        let mut pipe = File::open(pipe)
            .map_err(|error| Error::Internal(format!("the pipe of signals cannot be opened: {error}")))?;
        let flag = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut number = [0];
            while pipe.read_exact(&mut number).is_ok() {
                let Some((_, text)) = says.iter().find(|(known, _)| *known == number[0]) else { continue };
                if !is_heard(&flag) {
                    end(number[0], text);
                }
            }
        });
        Ok(Self { heard })
    }

    /// Python has heard the signal, and is clearing up.
    fn heard(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }
}

/// Waits for Python to hear of a signal; whether it did in time.
fn is_heard(flag: &AtomicBool) -> bool {
    let (asked, worked) = (Instant::now(), processor_time());
    while asked.elapsed() < UTMOST && processor_time().saturating_sub(worked) < PATIENCE {
        if flag.load(Ordering::Relaxed) {
            return true;
        }
        std::thread::sleep(LOOK);
    }
    flag.load(Ordering::Relaxed)
}

/// What the process has had of the processor.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Ends the process without running anything of what is loaded in it, which could hang or fail: another program takes its
/// place. Outputs under way have no names, so that nothing is left of them.
fn end(number: u8, text: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "{text}");
    let code = 128 + i32::from(number);
    let _not_replaced = Command::new("/bin/sh").arg("-c").arg(format!("exit {code}")).exec();
    std::process::exit(code)
}
