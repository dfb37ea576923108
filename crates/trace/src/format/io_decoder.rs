//! Requests out of a stream of I/Os: the reads and writes with data and, where they are wanted, flushes and discards; the
//! others are counted as skipped.

use crate::gate::{Gate, Notes, Place};
use crate::{Io, IoSource, Kind, Request, TraceError};

/// A format whose records are not requests but what happened to them.
pub(crate) struct IoDecoder<S> {
    source: S,
    batch: Vec<Io>,
    row: u64,
    skipped: u64,
    /// Flushes and discards are wanted, too.
    commands: bool,
}

impl<S: IoSource> IoDecoder<S> {
    pub(crate) fn new(source: S, commands: bool) -> Self {
        Self { source, batch: Vec::new(), row: 0, skipped: 0, commands }
    }
}

impl<S: IoSource> crate::format::Decoder for IoDecoder<S> {
    fn sector_bytes(&self) -> u32 {
        self.source.sector_bytes()
    }

    fn records_skipped(&self) -> u64 {
        self.skipped
    }

    fn notes(&self) -> Notes {
        self.source.notes()
    }

    fn absolute_clock(&self) -> bool {
        true
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.is_empty() {
            self.source.next_ios(&mut self.batch)?;
            if self.batch.is_empty() {
                return Ok(());
            }
            for io in &self.batch {
                self.row += 1;
                match io.command().filter(|_| self.commands || io.kind == Kind::Data) {
                    Some(request) => gate.admit(batch, request, Place::Row(self.row))?,
                    None => self.skipped += 1,
                }
            }
        }
        Ok(())
    }
}
