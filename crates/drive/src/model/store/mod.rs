//! Where cached writes are kept until they are in their place. One file a kind.

mod flash;
mod log;

pub(crate) use flash::Flash;
pub(crate) use log::Log;

/// Where cached writes are kept.
#[derive(Clone, Debug)]
pub(crate) enum Store {
    /// In the buffer alone: they are lost with the power.
    Buffer,
    /// In a log on reserved tracks, too.
    Log(Log),
    /// In flash memory, too.
    Flash(Flash),
}

impl Store {
    /// Whether cached writes are lost with the power.
    pub(crate) fn is_volatile(&self) -> bool {
        matches!(self, Self::Buffer)
    }
}
