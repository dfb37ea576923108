//! Names of processes, learnt as lines name them.

use std::collections::BTreeMap;

use crate::Io;

/// The first name that each number had.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessNames {
    names: BTreeMap<u32, String>,
    last: Option<u32>,
}

impl ProcessNames {
    /// Keeps the first name of a process; what is no process has none.
    #[inline]
    pub(crate) fn learn<'a>(&mut self, pid: u32, name: impl FnOnce() -> &'a [u8]) {
        if self.last != Some(pid) && pid != Io::NO_PID {
            self.last = Some(pid);
            self.names.entry(pid).or_insert_with(|| String::from_utf8_lossy(name()).into_owned());
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> BTreeMap<u32, String> {
        self.names.clone()
    }
}
