//! Files that appear together, or none of them.

use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;

use super::naming::Unnamed;
use crate::TraceError;

/// While one is there, files that this thread completes wait for their names; [`publish`](Self::publish) gives them all of
/// them, one rename after the other and nothing between. Dropped before, none appears. Within another one it leaves
/// everything to that.
pub struct Together {
    /// Belongs to its thread.
    _thread: PhantomData<*const ()>,
}

#[derive(Default)]
struct Waiting {
    depth: u32,
    files: Vec<Unnamed>,
}

thread_local! {
    static WAITING: RefCell<Waiting> = RefCell::default();
}

impl Together {
    /// From here on files wait.
    #[expect(clippy::new_without_default, reason = "what it does is not what a default value is for")]
    pub fn new() -> Self {
        WAITING.with_borrow_mut(|waiting| waiting.depth += 1);
        Self { _thread: PhantomData }
    }

    /// Gives all files their names.
    ///
    /// # Errors
    /// If the system refuses; what can be found out before the first rename is, and then nothing has changed.
    pub fn publish(self) -> Result<(), TraceError> {
        let mut files = WAITING.with_borrow_mut(|waiting| match waiting.depth {
            1 => std::mem::take(&mut waiting.files),
            _ => Vec::new(),
        });
        let failed =
            |file: &Unnamed, source| TraceError::Io { action: "write", path: file.target().into(), source };
        for file in &mut files {
            file.prepare().map_err(|source| failed(file, source))?;
        }
        for file in files {
            let path = file.target().into();
            file.appear().map_err(|source| TraceError::Io { action: "write", path, source })?;
        }
        Ok(())
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        let dropped = WAITING.with_borrow_mut(|waiting| {
            waiting.depth -= 1;
            if waiting.depth == 0 { std::mem::take(&mut waiting.files) } else { Vec::new() }
        });
        drop(dropped);
    }
}

/// What is completed in `work` appears at once, whoever waits: what took long is not lost to what comes after.
pub fn at_once<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(u32);
    impl Drop for Restore {
        fn drop(&mut self) {
            WAITING.with_borrow_mut(|waiting| waiting.depth = self.0);
        }
    }
    let _restore = Restore(WAITING.with_borrow_mut(|waiting| std::mem::take(&mut waiting.depth)));
    work()
}

/// Gives a complete file its name, or lets it wait for the others.
pub(super) fn publish(file: Unnamed) -> io::Result<()> {
    let alone = WAITING.with_borrow_mut(|waiting| {
        if waiting.depth == 0 {
            return Some(file);
        }
        waiting.files.push(file);
        None
    });
    alone.map_or(Ok(()), Unnamed::appear)
}
