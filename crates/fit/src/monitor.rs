//! Who watches a fit from another thread, and may end it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Lets another thread see how far a fit is, read what it has to say, and stop it.
///
/// ```
/// let monitor = headstack_fit::Monitor::default();
/// monitor.stop();
/// assert_eq!(monitor.evaluations(), 0);
/// assert!(monitor.take_notes().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Monitor {
    evaluations: AtomicU64,
    stopped: AtomicBool,
    notes: Mutex<Vec<String>>,
}

impl Monitor {
    /// Ends the fit with [`FitError::Stopped`](crate::FitError::Stopped), at the latest when the drives that are being
    /// replayed are through.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// How many drives were replayed so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Sentences about how it goes, since the last call.
    pub fn take_notes(&self) -> Vec<String> {
        self.notes.lock().map(|mut notes| std::mem::take(&mut *notes)).unwrap_or_default()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, sentence: String) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.push(sentence);
        }
    }
}
