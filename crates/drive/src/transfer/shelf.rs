//! Transfers that are done, kept for the commands to come.

use super::{AnyTransfer, Buffered, Constant, Read, Write};

/// Transfers nobody uses, by kind. What they hold is of commands before; their vectors keep their room.
#[expect(clippy::vec_box, reason = "they are taken out and put back, and are large: only the box moves")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    constant: Vec<Box<Constant>>,
    read: Vec<Box<Read>>,
    write: Vec<Box<Write>>,
    buffered: Vec<Box<Buffered>>,
}

#[expect(clippy::unnecessary_box_returns, reason = "the box is what is kept")]
impl Shelf {
    #[inline]
    pub(super) fn constant(&mut self) -> Box<Constant> {
        self.constant.pop().unwrap_or_default()
    }

    #[inline]
    pub(super) fn read(&mut self) -> Box<Read> {
        self.read.pop().unwrap_or_default()
    }

    #[inline]
    pub(super) fn write(&mut self) -> Box<Write> {
        self.write.pop().unwrap_or_default()
    }

    #[inline]
    pub(super) fn buffered(&mut self) -> Box<Buffered> {
        self.buffered.pop().unwrap_or_default()
    }

    /// A transfer is done.
    #[expect(clippy::inline_always, reason = "who calls it knows the kind")]
    #[inline(always)]
    pub(crate) fn keep(&mut self, transfer: AnyTransfer) {
        match transfer {
            AnyTransfer::Constant(constant) => self.constant.push(constant),
            AnyTransfer::Read(read) => self.read.push(read),
            AnyTransfer::Write(write) => self.write.push(write),
            AnyTransfer::Buffered(buffered) => self.buffered.push(buffered),
        }
    }
}
