//! hfplayer's traces of storage arrays: a header that begins `#DUMP_OFFSET`, whose columns end in a type (`LBA.I`,
//! `LATENCY_USECS.D`), then comma-separated values. Sectors of 512 bytes; the LUN becomes the device.

use headstack_units::{Lba, Nanos};

use crate::format::{Decoder, Format};
use crate::input::Input;
use crate::number::{self, Problem};
use crate::text::{LineParser, Lines, TextDecoder, find, trim};
use crate::{Op, OpenOptions, Request, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "hfplayer",
    about: "hfplayer: header #DUMP_OFFSET.I,…; ELAPSED_USECS, CMD, LBA, NBLKS, LATENCY_USECS; comma separated",
    sniff: |sample| sample.bytes.starts_with(b"#DUMP_OFFSET"),
    open,
};

/// The columns used, and whether a trace must have them.
const COLUMNS: [(&str, bool); 6] = [
    ("ELAPSED_USECS", true),
    ("CMD", true),
    ("LBA", true),
    ("NBLKS", true),
    ("LATENCY_USECS", false),
    ("LUN_SSID", false),
];

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Decoder>, TraceError> {
    let path = input.path().clone();
    let mut lines = Lines::new(input.into_buffer());
    let header = lines.next()?.map(|(line, _)| trim(line).to_vec()).unwrap_or_default();
    let names: Vec<String> = String::from_utf8_lossy(header.strip_prefix(b"#").unwrap_or(&header))
        .split(',')
        .map(|name| name.split('.').next().unwrap_or_default().to_owned())
        .collect();
    let mut at = vec![None; names.len()];
    for (slot, (name, needed)) in COLUMNS.into_iter().enumerate() {
        if let Some(column) = names.iter().position(|column| column == name) {
            at[column] = Some(slot);
        } else if needed {
            return Err(TraceError::unusable(
                format!("`{}` has no column {name}", path.display()),
                "an hfplayer trace begins with the names of its columns: #DUMP_OFFSET.I,ELAPSED_USECS.D,…"
                    .into(),
            ));
        }
    }
    Ok(Box::new(TextDecoder::new(lines, Parser { at }, options.sector_bytes_or(512)).with_absolute_clock()))
}

struct Parser {
    /// For each column of the file, which of [`COLUMNS`] it is.
    at: Vec<Option<usize>>,
}

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut cells: [Option<&[u8]>; COLUMNS.len()] = [None; COLUMNS.len()];
        let mut rest = Some(line);
        for &slot in &self.at {
            let Some(cells_left) = rest else { break };
            let end = find(b',', cells_left);
            rest = end.map(|end| &cells_left[end + 1..]);
            if let Some(slot) = slot {
                cells[slot] = Some(trim(&cells_left[..end.unwrap_or(cells_left.len())]));
            }
        }
        let needed = |slot: usize| {
            cells[slot].ok_or_else(|| Problem(format!("the line ends before `{}`", COLUMNS[slot].0)))
        };
        let arrival = Nanos(number::fixed(needed(0)?, 3, "ELAPSED_USECS")?);
        let op = match needed(1)? {
            b"RD_IN" | b"RD" => Op::Read,
            b"WR_IN" | b"WR" => Op::Write,
            other => return Err(Problem::field("CMD", other, "expected RD_IN or WR_IN")),
        };
        let lba = Lba(number::integer(needed(2)?, "LBA")?);
        let sectors = number::integer32(needed(3)?, "NBLKS")?;
        let mut request = Request::new(arrival, op, lba, sectors);
        if let Some(latency) = cells[4] {
            request.finish = arrival.saturating_add(Nanos(number::fixed(latency, 3, "LATENCY_USECS")?));
        }
        if let Some(device) = cells[5] {
            request.device = number::integer32(device, "LUN_SSID")?;
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_text;

    #[test]
    fn columns_are_found_by_name() {
        let header = "#DUMP_OFFSET.I,ELAPSED_USECS.D,CMD.S,LUN_SSID.I,LBA.I,NBLKS.I,LATENCY_USECS.D";
        let text = format!("{header}\n4096,10.5,WR_IN,6,8,16,124.858\n4124,25.076,RD_IN,6,0,8,1\n");
        let requests = read_text(None, &text).unwrap();
        let first =
            Request { device: 6, finish: Nanos(124_858), ..Request::new(Nanos(0), Op::Write, Lba(8), 16) };
        assert_eq!((requests[0], requests[1].arrival), (first, Nanos(14_576)));
        let error = read_text(None, &text.replace("LBA.I", "LBB.I")).unwrap_err().to_string();
        assert!(error.contains("has no column LBA"), "{error}");
    }
}
