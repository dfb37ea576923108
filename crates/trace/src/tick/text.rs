//! The text record: `S|R: (major,minor):size:R|W:block:tick` (§2.2 of the paper), the minor number in hexadecimal, the
//! size in blocks of 512 bytes, the clock modulo 65,536. A blank may follow the first colon.

use std::io::Write as _;

use headstack_units::Op;

use super::record::{Half, LAST_BLOCK, TickRecord};
use crate::number::{self, Problem};
use crate::text::trim;

/// The record on a line.
pub(crate) fn parse(line: &[u8]) -> Result<TickRecord, Problem> {
    let mut rest = Some(line);
    let half = match part(&mut rest, "half")? {
        b"S" => Half::Sent,
        b"R" => Half::Received,
        other => return Err(Problem::field("half", other, "expected S (sent) or R (received)")),
    };
    let (major, minor) = device(part(&mut rest, "device")?)?;
    let blocks = part(&mut rest, "size")?;
    let op = match part(&mut rest, "direction")? {
        b"R" => Op::Read,
        b"W" => Op::Write,
        other => return Err(Problem::field("direction", other, "expected R or W")),
    };
    let block = part(&mut rest, "block")?;
    let tick = part(&mut rest, "tick")?;
    if let Some(more) = rest {
        return Err(Problem::field("tick", more, "expected 6 fields, but this follows"));
    }
    Ok(TickRecord {
        half,
        major,
        minor,
        blocks: bounded(blocks, "size", 255)? as u8,
        op,
        block: bounded(block, "block", u64::from(LAST_BLOCK))? as u32,
        tick: bounded(tick, "tick", 65_535)? as u16,
    })
}

fn part<'a>(rest: &mut Option<&'a [u8]>, name: &str) -> Result<&'a [u8], Problem> {
    let line = rest.ok_or_else(|| Problem(format!("the line ends before `{name}`")))?;
    let end = memchr::memchr(b':', line);
    *rest = end.map(|end| &line[end + 1..]);
    Ok(trim(&line[..end.unwrap_or(line.len())]))
}

fn device(field: &[u8]) -> Result<(u8, u8), Problem> {
    let problem = || Problem::field("device", field, "expected (major,0xminor)");
    let inner = field.strip_prefix(b"(").and_then(|field| field.strip_suffix(b")")).ok_or_else(problem)?;
    let comma = memchr::memchr(b',', inner).ok_or_else(problem)?;
    let minor = number::hexadecimal(trim(&inner[comma + 1..]), "minor")?;
    let minor = u8::try_from(minor).map_err(|_| Problem::field("minor", field, "at most 0xff"))?;
    Ok((bounded(trim(&inner[..comma]), "major", 127)? as u8, minor))
}

fn bounded(field: &[u8], name: &str, most: u64) -> Result<u64, Problem> {
    let value = number::integer(field, name)?;
    if value > most {
        return Err(Problem::field(name, field, &format!("at most {most}")));
    }
    Ok(value)
}

/// Appends the line of a record, its end included.
pub fn push_line(out: &mut Vec<u8>, record: &TickRecord) {
    let half = if record.half == Half::Sent { 'S' } else { 'R' };
    let op = if record.op == Op::Read { 'R' } else { 'W' };
    let TickRecord { major, minor, blocks, block, tick, .. } = record;
    // Writing to memory does not fail.
    let _ = writeln!(out, "{half}: ({major},{minor:#x}):{blocks}:{op}:{block}:{tick}");
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::any_record;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_blank_is_optional_and_mistakes_are_named() {
        let spaced = parse(b"S: (32,0x10):2:R:1984:22127").unwrap();
        assert_eq!(parse(b"S:(32,0x10):2:R:1984:22127").unwrap(), spaced);
        assert_eq!((spaced.major, spaced.minor, spaced.tick), (32, 0x10, 22127));
        let error = |line: &str| parse(line.as_bytes()).unwrap_err().0;
        assert_eq!(error("X: (32,0x10):2:R:1:2"), "`half` is `X`: expected S (sent) or R (received)");
        assert_eq!(error("S: (32,0x10):2:R:1"), "the line ends before `tick`");
        assert_eq!(error("S: (32,0x10):2:R:1:65536"), "`tick` is `65536`: at most 65535");
        assert_eq!(error("S: (32,0x10):256:R:1:2"), "`size` is `256`: at most 255");
        assert!(error("S: 32,0x10:2:R:1:2").contains("expected (major,0xminor)"));
        assert!(error("S: (32,0x10):2:R:1:2:3").contains("this follows"));
    }

    proptest! {
        #[test]
        fn written_and_read_is_the_same(record in any_record()) {
            let mut line = Vec::new();
            push_line(&mut line, &record);
            prop_assert_eq!(parse(trim(&line)).unwrap(), record);
        }

        #[test]
        fn no_bytes_make_it_panic(line: Vec<u8>) {
            let _ = parse(&line);
        }
    }
}
