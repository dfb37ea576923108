//! A refillable window over a byte stream: what every streaming reader parses from.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use crate::TraceError;
use crate::gate::{Gate, Place};
use crate::number::Problem;

const CAPACITY: usize = 256 * 1024;

/// The bytes between what was consumed and what was read so far.
pub(crate) struct Buffer {
    path: Arc<Path>,
    reader: Box<dyn Read + Send>,
    data: Vec<u8>,
    start: usize,
    end: usize,
    consumed: u64,
    at_end: bool,
}

impl Buffer {
    pub(crate) fn new(path: Arc<Path>, reader: Box<dyn Read + Send>) -> Self {
        Self { path, reader, data: vec![0; CAPACITY], start: 0, end: 0, consumed: 0, at_end: false }
    }

    /// The file, for messages.
    pub(crate) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// How many (decompressed) bytes lie before [`Self::bytes`].
    pub(crate) fn offset(&self) -> u64 {
        self.consumed
    }

    /// What is at hand.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data[self.start..self.end]
    }

    /// Takes the first `count` bytes at hand out of the window.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> &[u8] {
        let start = self.start;
        self.start += count;
        self.consumed += count as u64;
        &self.data[start..self.start]
    }

    /// Puts back what was taken last, before anything more is read.
    pub(crate) fn put_back(&mut self, count: usize) {
        self.start -= count;
        self.consumed -= count as u64;
    }

    /// Reads on until at least `wanted` bytes are at hand; false if the stream ends before.
    pub(crate) fn ensure(&mut self, wanted: usize) -> Result<bool, TraceError> {
        while self.end - self.start < wanted {
            if !self.refill()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next `RECORD` bytes, which lie at `place`; none at the end, and what is left of a record that is cut is a problem.
    #[inline]
    pub(crate) fn record<const RECORD: usize>(
        &mut self,
        place: Place,
        gate: &mut Gate,
    ) -> Result<Option<[u8; RECORD]>, TraceError> {
        if self.ensure(RECORD)? {
            return Ok(self.take(RECORD).first_chunk().copied());
        }
        let left = self.bytes().len();
        self.take(left);
        if left > 0 {
            gate.problem(place, Problem(format!("the file ends after {left} of {RECORD} bytes")))?;
        }
        Ok(None)
    }

    /// Reads on, growing the window where it is full; false at the end of the stream.
    pub(crate) fn refill(&mut self) -> Result<bool, TraceError> {
        if self.at_end {
            return Ok(false);
        }
        self.data.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.data.len() {
            self.data.resize(2 * self.data.len(), 0);
        }
        loop {
            match self.reader.read(&mut self.data[self.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(TraceError::reading(&self.path, source)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out at most three bytes at a time.
    struct Drip(Vec<u8>);

    impl Read for Drip {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.len().min(3).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn bytes_come_through_in_order_and_are_counted() {
        let mut buffer = Buffer::new(Path::new("x").into(), Box::new(Drip(b"abcdefgh".to_vec())));
        assert!(buffer.ensure(4).unwrap());
        assert_eq!(buffer.take(2), b"ab");
        assert!(buffer.ensure(6).unwrap());
        assert_eq!(buffer.bytes(), b"cdefgh");
        assert_eq!(buffer.offset(), 2);
        assert!(!buffer.ensure(7).unwrap());
        assert_eq!(buffer.take(6), b"cdefgh");
        assert_eq!(buffer.offset(), 8);
    }
}
