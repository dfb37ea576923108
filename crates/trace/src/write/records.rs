//! The formats with one record a request, written: lines of text, and the binary records of vscsi and SRT.

#![expect(clippy::unnecessary_wraps, reason = "one signature for all formats; some refuse nothing")]

use std::io::Write as _;

use headstack_units::{Nanos, Op};

use super::others::Form;
use crate::{Io, Request, RequestFlags};

/// Writing to memory does not fail.
macro_rules! put {
    ($out:expr, $($what:tt)*) => {{
        let _ = writeln!($out, $($what)*);
    }};
}

pub(super) use put;

/// What a format needs that a request may not have.
pub(super) type Refusal = &'static str;

/// A format with one record a request.
pub(super) struct RecordFormat {
    /// What `--as` calls it, and `--format` on reading.
    pub(super) name: &'static str,
    /// What stands before the first record.
    pub(super) header: &'static str,
    push: fn(&mut Vec<u8>, &Record) -> Result<(), Refusal>,
}

/// A request.
struct Record {
    request: Request,
    /// Its sectors, bytes; 512 but in SRT.
    sector_bytes: u32,
    /// Its number, from 0.
    number: u64,
    /// When the next request is issued; `None` for the last.
    next: Option<Nanos>,
}

/// Writes records, each when the next request is known.
pub(super) struct Records {
    format: &'static RecordFormat,
    sector_bytes: u32,
    held: Option<Record>,
}

impl Records {
    pub(super) fn new(format: &'static RecordFormat, sector_bytes: u32) -> Self {
        Self { format, sector_bytes, held: None }
    }

    fn release(&mut self, out: &mut Vec<u8>, next: Option<Nanos>) -> Result<(), (u64, Refusal)> {
        let Some(held) = self.held.take() else { return Ok(()) };
        let number = held.number;
        (self.format.push)(out, &Record { next, ..held }).map_err(|reason| (number, reason))
    }
}

impl Form for Records {
    fn push(&mut self, out: &mut Vec<u8>, number: u64, io: &Io) -> Result<(), (u64, Refusal)> {
        let request = &io.request;
        self.release(out, Some(request.start.present().unwrap_or(request.arrival)))?;
        self.held = Some(Record { request: *request, sector_bytes: self.sector_bytes, number, next: None });
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), (u64, Refusal)> {
        self.release(out, None)
    }
}

pub(super) const NO_RESPONSE: Refusal = "it has no measured response, which this format cannot do without";
const SEQUENCED: Refusal = "the next request is issued before it completes, which this format cannot say";

const HFPLAYER: &str = "#DUMP_OFFSET.I,ELAPSED_USECS.D,CMD.S,LUN_SSID.I,LBA.I,NBLKS.I,LATENCY_USECS.D\n";

/// The format whose header says how large sectors are.
pub(super) static SRT: RecordFormat = RecordFormat { name: "srt", header: "", push: srt };

/// What stands before the first record of an SRT file.
pub(super) fn srt_header(sector_bytes: u32) -> String {
    format!("$$TR_IOREC-1.3 \nversion = 1.3;\ndisks = {{ 0 -> {{ sectorsize  = {sector_bytes}, }} }};\n\x0c")
}

pub(super) static RECORD_FORMATS: [RecordFormat; 13] = [
    RecordFormat { name: "disksim-ascii", header: "", push: disksim_ascii },
    RecordFormat { name: "disksim-batch", header: "", push: disksim_batch },
    RecordFormat { name: "disksim-validate", header: "", push: disksim_validate },
    RecordFormat { name: "emcsymm", header: "", push: emcsymm },
    RecordFormat { name: "fio-iolog", header: "fio version 3 iolog\n", push: fio_iolog },
    RecordFormat { name: "hfplayer", header: HFPLAYER, push: hfplayer },
    RecordFormat { name: "mqsim", header: "", push: mqsim },
    RecordFormat { name: "msr", header: "", push: msr },
    RecordFormat { name: "spc", header: "", push: spc },
    RecordFormat { name: "ssdsim", header: "", push: ssdsim },
    RecordFormat { name: "systor17", header: "Timestamp,Response,IOType,LUN,Offset,Size\n", push: systor17 },
    RecordFormat { name: "tencent", header: "", push: tencent },
    RecordFormat { name: "vscsi", header: "", push: vscsi },
];

/// A number of nanoseconds in a larger unit with all its digits.
pub(super) fn decimal(ns: u64, digits: usize) -> String {
    let unit = 10_u64.pow(digits as u32);
    format!("{}.{:0digits$}", ns / unit, ns % unit)
}

fn response(request: &Request) -> Result<u64, Refusal> {
    Ok(request.measured_response().ok_or(NO_RESPONSE)?.0)
}

fn disksim_flags(request: &Request) -> u32 {
    let asynchronous = request.flags.contains(RequestFlags::ASYNC);
    u32::from(request.op == Op::Read) | if asynchronous { 0x100 } else { 0 }
}

fn disksim_ascii(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let Request { device, lba, sectors, .. } = request;
    put!(out, "{} {device} {} {sectors} {:x}", decimal(request.arrival.0, 6), lba.0, disksim_flags(request));
    Ok(())
}

fn disksim_batch(out: &mut Vec<u8>, record: &Record) -> Result<(), Refusal> {
    disksim_ascii(out, record)?;
    // Each request is a batch of its own.
    out.pop();
    put!(out, " {}", record.number & 0xffff_ffff);
    Ok(())
}

fn disksim_validate(out: &mut Vec<u8>, record: &Record) -> Result<(), Refusal> {
    let request = &record.request;
    let finish = request.finish.present().ok_or(NO_RESPONSE)?;
    let start = request.start.present().unwrap_or(request.arrival);
    let think = match record.next {
        Some(next) => next.0.checked_sub(finish.0).ok_or(SEQUENCED)?,
        None => 0,
    };
    let op = letter(request.op);
    let (service, think) = (decimal(finish.0 - start.0, 3), decimal(think, 3));
    put!(out, "{op} Hit {} {} {service} {think}", request.lba.0, request.sectors);
    Ok(())
}

fn emcsymm(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let Request { device, lba, sectors, .. } = request;
    put!(out, "{} {} 0 {device:x} {} {sectors}", decimal(request.arrival.0, 6), word(request.op), lba.0);
    Ok(())
}

fn fio_iolog(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let (us, op) = (request.arrival.0 / 1000, word(request.op).to_lowercase());
    put!(out, "{us} device{} {op} {} {}", request.device, request.lba.0 * 512, bytes(request));
    Ok(())
}

fn hfplayer(out: &mut Vec<u8>, record: &Record) -> Result<(), Refusal> {
    let Request { arrival, device, lba, sectors, op, .. } = record.request;
    let (time, latency) = (decimal(arrival.0, 3), decimal(response(&record.request)?, 3));
    let command = if op == Op::Read { "RD_IN" } else { "WR_IN" };
    put!(out, "{},{time},{command},{device},{},{sectors},{latency}", record.number, lba.0);
    Ok(())
}

fn mqsim(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let Request { arrival, device, lba, sectors, op, .. } = request;
    put!(out, "{} {device} {} {sectors} {}", arrival.0, lba.0, u8::from(*op == Op::Read));
    Ok(())
}

/// 1 January 1970 on the clock of MSR's traces, 100 ns since 1601.
const EPOCH: u64 = 116_444_736_000_000_000;

fn msr(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let (time, response) = (EPOCH + request.arrival.0 / 100, response(request)? / 100);
    let (offset, size, op) = (request.lba.0 * 512, bytes(request), word(request.op));
    put!(out, "{time},headstack,{},{op},{offset},{size},{response}", request.device);
    Ok(())
}

fn spc(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let Request { arrival, device, lba, op, .. } = request;
    put!(out, "{device},{},{},{},{}", lba.0, bytes(request), letter(*op), decimal(arrival.0, 9));
    Ok(())
}

/// HP's records, which count in microseconds and 32 bits.
fn srt(out: &mut Vec<u8>, Record { request, sector_bytes, .. }: &Record) -> Result<(), Refusal> {
    const LATE: Refusal = "it arrives more than 2^32 seconds after the first, or takes so many microseconds";
    let us = |instant: Nanos| instant.0 / 1000;
    let finish = request.arrival.saturating_add(request.measured_response().ok_or(NO_RESPONSE)?);
    let start = request.start.present().unwrap_or(request.arrival);
    let arrival = us(request.arrival);
    let after = |instant: Nanos| u32::try_from(us(instant) - arrival).map_err(|_| LATE);
    let device = u8::try_from(request.device).map_err(|_| "its device number is above 255")?;
    let asynchronous = request.flags.contains(RequestFlags::ASYNC);
    let flags = u32::from(request.op == Op::Read) | if asynchronous { 0x100 } else { 0 };
    let words = [
        56,
        4 << 16 | 1,
        u32::try_from(arrival / 1_000_000).map_err(|_| LATE)?,
        (arrival % 1_000_000) as u32,
        after(start)?,
        after(finish)?,
        request.sectors.checked_mul(*sector_bytes).ok_or("it is larger than 4 GiB")?,
        u32::try_from(request.lba.0).map_err(|_| "its address has more than 32 bits")?,
        u32::from(device) << 8,
        0,
        0,
        flags,
        0,
        0,
    ];
    for word in words {
        out.extend(u32::to_be_bytes(word));
    }
    Ok(())
}

fn ssdsim(out: &mut Vec<u8>, Record { request, number, .. }: &Record) -> Result<(), Refusal> {
    let Request { arrival, device, lba, sectors, op, .. } = request;
    put!(out, "{number}\t{}\t0\t{device}\t{}\t{}\t{sectors}\t1", arrival.0, word(*op), lba.0);
    Ok(())
}

fn systor17(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let response = response(request).map_or_else(|_| String::new(), |response| decimal(response, 9));
    let (time, op) = (decimal(request.arrival.0, 9), letter(request.op));
    put!(out, "{time},{response},{op},{},{},{}", request.device, request.lba.0 * 512, bytes(request));
    Ok(())
}

/// Whole seconds are all that this format knows of time.
fn tencent(out: &mut Vec<u8>, Record { request, .. }: &Record) -> Result<(), Refusal> {
    let Request { arrival, device, lba, sectors, op, .. } = request;
    let write = u8::from(*op == Op::Write);
    put!(out, "{},{},{sectors},{write},{device}", arrival.0 / 1_000_000_000, lba.0);
    Ok(())
}

fn vscsi(out: &mut Vec<u8>, Record { request, number, .. }: &Record) -> Result<(), Refusal> {
    let size = u32::try_from(bytes(request)).map_err(|_| "it is larger than 4 GiB")?;
    let operation: u16 = if request.op == Op::Read { 0x28 } else { 0x2a };
    out.extend((*number as u32).to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(1_u32.to_le_bytes());
    out.extend(operation.to_le_bytes());
    out.extend(0x0100_u16.to_le_bytes());
    out.extend(request.lba.0.to_le_bytes());
    out.extend((request.arrival.0 / 1000).to_le_bytes());
    Ok(())
}

fn bytes(request: &Request) -> u64 {
    u64::from(request.sectors) * 512
}

pub(super) fn letter(op: Op) -> char {
    if op == Op::Read { 'R' } else { 'W' }
}

fn word(op: Op) -> &'static str {
    if op == Op::Read { "Read" } else { "Write" }
}
