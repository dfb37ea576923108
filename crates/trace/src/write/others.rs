//! The formats of others, which count in sectors of 512 bytes; SRT says how large its are.

use std::path::Path;

use headstack_units::Lba;

use super::completed::{self, Completed};
use super::records::{RECORD_FORMATS, Records, Refusal, SRT, srt_header};
use super::steps::Steps;
use super::{Output, for_each_batch};
use crate::{Request, RequestSource, TraceError};

/// The sectors of all formats but one, bytes.
const SECTOR: u32 = 512;

/// How a format turns requests into bytes.
pub(super) trait Form {
    /// Takes a request, the `number`th from 0; appends what can be written by now. An error says which request it is of.
    fn push(&mut self, out: &mut Vec<u8>, number: u64, request: &Request) -> Result<(), (u64, Refusal)>;

    /// Appends what is left.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), (u64, Refusal)>;
}

/// The form of a format, what stands before the first record, and what sectors it counts in, where the trace's have
/// `sector_bytes`.
fn form(name: &'static str, sector_bytes: u32) -> (Box<dyn Form>, String, u32) {
    if name == "srt" {
        (Box::new(Records::new(&SRT, sector_bytes)), srt_header(sector_bytes), sector_bytes)
    } else if let Some(format) = RECORD_FORMATS.iter().find(|format| format.name == name) {
        (Box::new(Records::new(format, SECTOR)), format.header.into(), SECTOR)
    } else if completed::NAMES.contains(&name) {
        (Box::new(Completed::new(name)), completed::header(name).into(), SECTOR)
    } else {
        (Box::new(Steps::new(name)), String::new(), SECTOR)
    }
}

/// Writes all of `source`; the number of requests.
pub(super) fn write(
    source: &mut dyn RequestSource,
    sector_bytes: u32,
    path: &Path,
    name: &'static str,
) -> Result<u64, TraceError> {
    let refused = |(number, reason): (u64, Refusal)| {
        TraceError::unusable(
            format!("request {} cannot be written as {name}: {reason}", number + 1),
            "parquet, csv and arrow keep everything a request has".into(),
        )
    };
    let mut file = Output::create(path)?;
    let (mut form, header, sector) = form(name, sector_bytes);
    file.write(header.as_bytes())?;
    let (mut out, mut number) = (Vec::new(), 0);
    let count = for_each_batch(source, |batch| {
        out.clear();
        for request in batch {
            let request = in_sectors(request, sector_bytes, sector);
            let request = request.map_err(|reason| refused((number, reason)))?;
            form.push(&mut out, number, &request).map_err(refused)?;
            number += 1;
        }
        file.write(&out)
    })?;
    out.clear();
    form.finish(&mut out).map_err(refused)?;
    file.write(&out)?;
    file.commit()?;
    Ok(count)
}

/// The request counted in sectors of `to` bytes instead of `from`.
fn in_sectors(request: &Request, from: u32, to: u32) -> Result<Request, Refusal> {
    let (far, large) = ("its byte address reaches beyond 64 bits", "it is larger than 4 GiB");
    let apart = "it does not begin and end at a multiple of 512 bytes, the sectors of this format";
    let (from, to) = (u64::from(from), u64::from(to));
    let (offset, bytes) = (request.lba.0.checked_mul(from).ok_or(far)?, u64::from(request.sectors) * from);
    if !offset.is_multiple_of(to) || !bytes.is_multiple_of(to) {
        return Err(apart);
    }
    let sectors = u32::try_from(bytes).map_err(|_| large)? / to as u32;
    Ok(Request { lba: Lba(offset / to), sectors, ..*request })
}
