//! Tasks for several threads.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many threads are meant: as many as there are cores where it is left out.
pub(super) fn count_of(threads: Option<usize>) -> usize {
    threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Does tasks by several threads; this one does its `own` part first. Returns what that came to.
pub(super) fn do_meanwhile<T: Send, O>(
    tasks: &mut [T],
    threads: usize,
    work: impl Fn(&mut T) + Sync,
    own: impl FnOnce() -> O,
) -> O {
    let others = threads.saturating_sub(1).min(tasks.len());
    let waiting = Mutex::new(tasks.iter_mut());
    let go_on = || {
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(task) = next() {
            work(task);
        }
    };
    thread::scope(|scope| {
        for _ in 0..others {
            // A machine that has no threads to give gets the same results from one.
            let _ = thread::Builder::new().spawn_scoped(scope, go_on);
        }
        let done = own();
        go_on();
        done
    })
}
