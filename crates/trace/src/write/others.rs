//! The formats of others, which count in sectors of 512 bytes.

use std::path::Path;

use headstack_units::Lba;

use super::completed::{self, Completed};
use super::records::{RECORD_FORMATS, Records, Refusal};
use super::steps::Steps;
use super::{Output, for_each_batch};
use crate::{Request, RequestSource, TraceError};

/// How a format turns requests into bytes.
pub(super) trait Form {
    /// Takes a request, the `number`th from 0; appends what can be written by now. An error says which request it is of.
    fn push(&mut self, out: &mut Vec<u8>, number: u64, request: &Request) -> Result<(), (u64, Refusal)>;

    /// Appends what is left.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), (u64, Refusal)>;
}

/// The form of a format, and what stands before the first record.
fn form(name: &'static str) -> (Box<dyn Form>, &'static str) {
    if let Some(format) = RECORD_FORMATS.iter().find(|format| format.name == name) {
        (Box::new(Records::new(format)), format.header)
    } else if completed::NAMES.contains(&name) {
        (Box::new(Completed::new(name)), completed::header(name))
    } else {
        (Box::new(Steps::new(name)), "")
    }
}

/// Writes all of `source`; the number of requests.
pub(super) fn write(
    source: &mut dyn RequestSource,
    sector_bytes: u32,
    path: &Path,
    name: &'static str,
) -> Result<u64, TraceError> {
    if !sector_bytes.is_multiple_of(512) {
        return Err(TraceError::unusable(
            format!("{name} counts in sectors of 512 bytes, and the trace's have {sector_bytes}"),
            "parquet, csv and arrow keep any sector size".into(),
        ));
    }
    let refused = |(number, reason): (u64, Refusal)| {
        TraceError::unusable(
            format!("request {} cannot be written as {name}: {reason}", number + 1),
            "parquet, csv and arrow keep everything a request has".into(),
        )
    };
    let mut file = Output::create(path)?;
    let (mut form, header) = form(name);
    file.write(header.as_bytes())?;
    let (mut out, mut number) = (Vec::new(), 0);
    let count = for_each_batch(source, |batch| {
        out.clear();
        for request in batch {
            let request = in_small_sectors(request, sector_bytes / 512);
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

/// The request counted in sectors of 512 bytes, `unit` times smaller.
fn in_small_sectors(request: &Request, unit: u32) -> Result<Request, Refusal> {
    let far = "its byte address reaches beyond 64 bits";
    let lba =
        request.lba.0.checked_mul(u64::from(unit)).filter(|lba| lba.checked_mul(512).is_some()).ok_or(far)?;
    let sectors =
        request.sectors.checked_mul(unit).filter(|&n| n < 1 << 23).ok_or("it is larger than 4 GiB")?;
    Ok(Request { lba: Lba(lba), sectors, ..*request })
}
