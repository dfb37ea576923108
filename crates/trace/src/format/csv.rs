//! Tables in text: a header line with column names, then one request per line.
//!
//! Columns are found by name, in any order; `NAME=FIELD` mappings (`--column`) name others. A table without a header is
//! read if all mappings give positions, from 0 on, instead of names. Fields:
//!
//! | field | meaning |
//! | --- | --- |
//! | `arrival_s`, `_ms`, `_us`, `_ns` | when the host issued the request (required) |
//! | `start_…`, `finish_…` | measured instants on the same clock; an empty cell is an absent one |
//! | `response_…` | measured finish, counted from the arrival |
//! | `lba` or `offset_bytes` | first sector, or first byte (rounded outwards to sectors) (required) |
//! | `sectors` or `size_bytes` | length (required) |
//! | `file` | a file in which `offset_bytes` counts: it is placed by the model of [`placing`](super::placing) |
//! | `op` | R, Read, W, Write, or 0 (read), 1 (write) (required, or the next) |
//! | `is_read` | 1, true, 0, false |
//! | `device` | device number, 0 if absent |
//! | `major` | the major number, of which `device` is the minor one: the device is that of the kernel, major × 2^20 + minor |
//! | `flags` | the bits of [`RequestFlags`], 0 if absent |
//!
//! The separator (comma, semicolon, tab or bar) is the one that occurs most in the header; where none does, blanks are. Cells may stand in double quotes,
//! not across lines. Comments start with `#`; the comment `# sector_bytes = N` before the header states the sector size,
//! which is otherwise 512 or `--sector-bytes`. Other columns are ignored.

use headstack_units::{Lba, Nanos};

use crate::format::placing::Placing;
use crate::format::preset::TableWords;
use crate::format::{Decoder, Format};
use crate::input::{Input, Sample};
use crate::number::{self, Problem};
use crate::text::{LineParser, Lines, TextDecoder, direction, find, sectors_of, trim};
use crate::{Op, OpenOptions, Request, RequestFlags, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "csv",
    about: "a table with named columns (arrival_ms, lba, sectors, op, …)",
    sniff,
    open,
};

/// The comment that states the sector size.
pub(crate) const SECTOR_BYTES_COMMENT: &str = "sector_bytes";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// An instant or a length of time, and the power of ten that makes it nanoseconds.
    Time(Time, u32),
    Lba,
    OffsetBytes,
    Sectors,
    SizeBytes,
    Op,
    IsRead,
    Device,
    Major,
    Flags,
    File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    Arrival,
    Start,
    Finish,
    Response,
}

impl Field {
    const PLAIN: [(&'static str, Self); 10] = [
        ("lba", Self::Lba),
        ("offset_bytes", Self::OffsetBytes),
        ("sectors", Self::Sectors),
        ("size_bytes", Self::SizeBytes),
        ("op", Self::Op),
        ("is_read", Self::IsRead),
        ("device", Self::Device),
        ("major", Self::Major),
        ("flags", Self::Flags),
        ("file", Self::File),
    ];
    const TIMES: [(&'static str, Time); 4] = [
        ("arrival", Time::Arrival),
        ("start", Time::Start),
        ("finish", Time::Finish),
        ("response", Time::Response),
    ];
    const UNITS: [(&'static str, u32); 4] = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0)];

    fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        if let Some(&(_, field)) = Self::PLAIN.iter().find(|(plain, _)| *plain == name) {
            return Some(field);
        }
        let (kind, unit) = name.rsplit_once('_')?;
        let &(_, kind) = Self::TIMES.iter().find(|(time, _)| *time == kind)?;
        let &(_, decimals) = Self::UNITS.iter().find(|(known, _)| *known == unit)?;
        Some(Self::Time(kind, decimals))
    }

    /// Where [`Cells`] keeps it: fields that say the same thing share a place.
    fn slot(self) -> usize {
        match self {
            Self::Time(Time::Arrival, _) => 0,
            Self::Lba | Self::OffsetBytes => 1,
            Self::Sectors | Self::SizeBytes => 2,
            Self::Op | Self::IsRead => 3,
            Self::Device => 4,
            Self::Flags => 5,
            Self::Time(Time::Start, _) => 6,
            Self::Time(Time::Finish | Time::Response, _) => 7,
            Self::File => 8,
            Self::Major => 9,
        }
    }
}

const SLOTS: usize = 10;

const UNKNOWN_OP: &str = "expected R, Read, 0 or W, Write, 1 (is_read: 1, 0). Other words for them stand in a file that \
                          --format names (FILE.toml): reads = [\"GET\"], writes = [\"PUT\"]";
pub(crate) const REQUIRED: [&str; 4] =
    ["arrival_s (or _ms, _us, _ns)", "lba or offset_bytes", "sectors or size_bytes", "op or is_read"];

fn sniff(sample: Sample<'_>) -> bool {
    let first = sample.lines().next();
    first.is_some_and(|header| Parser::from_header(header, &[], &TableWords::default(), 512).is_ok())
}

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Decoder>, TraceError> {
    let path = input.path().clone();
    let mut lines = Lines::new(input.into_buffer());
    let mut stated = None;
    while let Some((line, number)) = lines.next()? {
        let line = trim(line);
        if let Some(comment) = line.strip_prefix(b"#") {
            stated = stated.or_else(|| sector_size(comment));
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let sector_bytes = options.agreed_sector_bytes(&path, stated)?.unwrap_or(512);
        let parser = if by_position(&options.columns) {
            Parser::by_position(line, &options.columns, &options.words, sector_bytes)
        } else {
            Parser::from_header(line, &options.columns, &options.words, sector_bytes)
        };
        let parser = parser.map_err(|Problem(problem)| TraceError::Record {
            path: path.to_path_buf(),
            place: format!("line {number}"),
            problem,
            hint: Some(naming(&options.columns)),
        })?;
        if parser.begins_with_data {
            lines.put_back();
        }
        return Ok(Box::new(TextDecoder::new(lines, parser, sector_bytes)));
    }
    Err(TraceError::unusable(
        format!("`{}` has no header line", path.display()),
        "a csv trace starts with the names of its columns".into(),
    ))
}

/// Whether all mappings name columns by their place.
fn by_position(columns: &[(String, String)]) -> bool {
    !columns.is_empty() && columns.iter().all(|(name, _)| is_number(name))
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// How to name columns that were not found.
fn naming(columns: &[(String, String)]) -> String {
    match columns.iter().find(|(name, _)| is_number(name)) {
        Some((place, _)) if !by_position(columns) => format!(
            "beside names `{place}` is a name, too: give all columns by their names, or all by their places (0 is the first)"
        ),
        _ => "name columns with --column NAME=FIELD, or with --columns FIELD:COLUMN[:UNIT],…".into(),
    }
}

/// N of `sector_bytes = N` in a comment.
fn sector_size(comment: &[u8]) -> Option<u32> {
    let (key, value) = std::str::from_utf8(comment).ok()?.split_once('=')?;
    let size = value.trim().parse().ok().filter(|&size| size > 0);
    size.filter(|_| key.trim() == SECTOR_BYTES_COMMENT)
}

/// The kernel's number of a device.
fn kernel_number(major: u32, minor: u32) -> Result<u32, Problem> {
    if major >= 1 << 12 || minor >= 1 << 20 {
        return Err(Problem(format!(
            "{major},{minor} is not a device: major numbers end at 4095, minor ones at 1048575"
        )));
    }
    Ok((major << 20) | minor)
}

/// The cells of a line, for messages.
pub(crate) fn cells_of(line: &[u8]) -> Vec<String> {
    let cells = Cells::new(line, separator_of(line));
    cells.map(|cell| String::from_utf8_lossy(cell).escape_debug().to_string()).collect()
}

/// The separator that occurs most; a blank where there is no other.
fn separator_of(line: &[u8]) -> u8 {
    let count = |separator: u8| memchr::memchr_iter(separator, line).count();
    let most = [b'|', b'\t', b';', b','].into_iter().max_by_key(|&byte| count(byte)).unwrap_or(b',');
    if count(most) == 0 && count(b' ') > 0 { b' ' } else { most }
}

struct Parser {
    separator: u8,
    /// What the columns hold, up to the last one that matters.
    columns: Vec<Option<Field>>,
    fields: [Option<Field>; SLOTS],
    sector_bytes: u32,
    words: TableWords,
    /// Where files lie, if the table tells files.
    files: Option<Placing>,
    /// The first line is no header.
    begins_with_data: bool,
}

impl Parser {
    /// Columns by their places; the first line is a header if its time begins with no digit.
    fn by_position(
        line: &[u8],
        mapping: &[(String, String)],
        words: &TableWords,
        sector_bytes: u32,
    ) -> Result<Self, Problem> {
        let separator = words.separator.unwrap_or_else(|| separator_of(line));
        let names: Vec<String> = (0..Cells::new(line, separator).count()).map(|at| at.to_string()).collect();
        let numbered = TableWords { separator: Some(b','), ..words.clone() };
        let parser = Self::from_header(names.join(",").as_bytes(), mapping, &numbered, sector_bytes)?;
        let is_arrival = |field: &Option<Field>| matches!(field, Some(Field::Time(Time::Arrival, _)));
        let at = parser.columns.iter().position(is_arrival).unwrap_or(0);
        let time = Cells::new(line, separator).nth(at).and_then(|cell| cell.first());
        Ok(Self { begins_with_data: time.is_some_and(u8::is_ascii_digit), separator, ..parser })
    }

    fn from_header(
        header: &[u8],
        mapping: &[(String, String)],
        words: &TableWords,
        sector_bytes: u32,
    ) -> Result<Self, Problem> {
        let separator = words.separator.unwrap_or_else(|| separator_of(header));
        let names: Vec<String> =
            Cells::new(header, separator).map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let mut columns: Vec<_> = names.iter().map(|name| Field::named(name)).collect();
        for (name, field) in mapping {
            let at = names.iter().position(|known| known == name);
            let at = at.ok_or_else(|| {
                Problem(format!("there is no column `{name}`; columns: {}", names.join(", ")))
            })?;
            let known = Field::named(field).ok_or_else(|| unknown_field(field))?;
            for column in &mut columns {
                column.take_if(|other| other.slot() == known.slot());
            }
            columns[at] = Some(known);
        }
        let mut fields = [None; SLOTS];
        for (column, name) in columns.iter().zip(&names) {
            let Some(field) = *column else { continue };
            if fields[field.slot()].replace(field).is_some() {
                return Err(Problem(format!("column `{name}` says the same as another column")));
            }
        }
        if let Some(missing) = (0..REQUIRED.len()).find(|&slot| fields[slot].is_none()) {
            let columns =
                names.iter().map(|name| name.escape_debug().to_string()).collect::<Vec<_>>().join(", ");
            return Err(Problem(format!(
                "there is no column {}; columns: {columns:.200}",
                REQUIRED[missing]
            )));
        }
        while columns.last().is_some_and(Option::is_none) {
            columns.pop();
        }
        let files = fields[Field::File.slot()].map(|_| Placing::default());
        if files.is_some() && fields[1] != Some(Field::OffsetBytes) {
            return Err(Problem(
                "an address in a `file` is an `offset_bytes`, and there is no such column".into(),
            ));
        }
        if fields[Field::Major.slot()].is_some() && fields[Field::Device.slot()].is_none() {
            return Err(Problem("a `major` number needs the minor one beside it, as `device`".into()));
        }
        let words = words.clone();
        Ok(Self { separator, columns, fields, sector_bytes, words, files, begins_with_data: false })
    }

    /// First sector and number of sectors.
    fn extent(&mut self, at: &[u8], length: &[u8], file: &[u8]) -> Result<(u64, u32), Problem> {
        let in_bytes = self.fields[1] == Some(Field::OffsetBytes);
        let mut at = number::integer(at, if in_bytes { "offset_bytes" } else { "lba" })?;
        if let Some(files) = &mut self.files {
            at = files.address(file, at)?;
        }
        match (in_bytes, self.fields[2] == Some(Field::SizeBytes)) {
            (false, false) => Ok((at, number::integer32(length, "sectors")?)),
            (false, true) => {
                let (_, sectors) = sectors_of(0, number::integer(length, "size_bytes")?, self.sector_bytes)?;
                Ok((at, sectors))
            }
            (true, true) => sectors_of(at, number::integer(length, "size_bytes")?, self.sector_bytes),
            (true, false) => {
                let bytes = number::integer32(length, "sectors")?;
                sectors_of(at, u64::from(bytes) * u64::from(self.sector_bytes), self.sector_bytes)
            }
        }
    }
}

impl LineParser for Parser {
    fn parse(&mut self, line: &[u8]) -> Result<Request, Problem> {
        let mut cells: [&[u8]; SLOTS] = [&[]; SLOTS];
        let mut found = Cells::new(line, self.separator);
        for (index, column) in self.columns.iter().enumerate() {
            let cell = found.next().ok_or_else(|| too_few(index, self.columns.len()))?;
            if let Some(field) = column {
                cells[field.slot()] = cell;
            }
        }
        let arrival = self.time(0, cells[0])?.ok_or_else(|| Problem::field("arrival", b"", "missing"))?;
        let (lba, sectors) = self.extent(cells[1], cells[2], cells[8])?;
        let usual =
            || if self.fields[3] == Some(Field::IsRead) { truth(cells[3]) } else { operation(cells[3]) };
        let op = self
            .own_word(cells[3])
            .or_else(usual)
            .ok_or_else(|| Problem::field("op", cells[3], UNKNOWN_OP))?;
        let mut request = Request::new(arrival, op, Lba(lba), sectors);
        request.start = self.time(6, cells[6])?.unwrap_or(Nanos::MAX);
        request.finish = match (self.time(7, cells[7])?, self.fields[7]) {
            (Some(response), Some(Field::Time(Time::Response, _))) => {
                let finish = arrival.0.checked_add(response.0);
                Nanos(finish.ok_or_else(|| Problem("the response time is too large".into()))?)
            }
            (finish, _) => finish.unwrap_or(Nanos::MAX),
        };
        if self.fields[4].is_some() {
            request.device = number::integer32(cells[4], "device")?;
            if self.fields[9].is_some() {
                request.device = kernel_number(number::integer32(cells[9], "major")?, request.device)?;
            }
        }
        if self.fields[5].is_some() {
            let flags = u16::try_from(number::integer(cells[5], "flags")?);
            request.flags = RequestFlags(flags.map_err(|_| Problem::field("flags", cells[5], "too large"))?);
        }
        Ok(request)
    }
}

impl Parser {
    /// What a word of the table's own means; it may be one that means something else in others.
    #[inline]
    fn own_word(&self, cell: &[u8]) -> Option<Op> {
        let among = |words: &[String]| words.iter().any(|word| word.as_bytes() == cell);
        if among(&self.words.reads) { Some(Op::Read) } else { among(&self.words.writes).then_some(Op::Write) }
    }

    /// The time in a cell, if its column exists and the cell is not empty.
    #[inline]
    fn time(&self, slot: usize, cell: &[u8]) -> Result<Option<Nanos>, Problem> {
        const NAMES: [&str; SLOTS] = ["arrival", "", "", "", "", "", "start", "finish", "", ""];
        match self.fields[slot] {
            Some(Field::Time(_, decimals)) if !cell.is_empty() => {
                number::fixed(cell, decimals, NAMES[slot]).map(|ns| Some(Nanos(ns)))
            }
            _ => Ok(None),
        }
    }
}

#[inline]
fn operation(cell: &[u8]) -> Option<Op> {
    match cell {
        b"0" => Some(Op::Read),
        b"1" => Some(Op::Write),
        word => direction(word),
    }
}

#[inline]
fn truth(cell: &[u8]) -> Option<Op> {
    if cell == b"1" || cell.eq_ignore_ascii_case(b"true") {
        Some(Op::Read)
    } else if cell == b"0" || cell.eq_ignore_ascii_case(b"false") {
        Some(Op::Write)
    } else {
        None
    }
}

#[cold]
fn unknown_field(field: &str) -> Problem {
    let plain = Field::PLAIN.map(|(name, _)| name).join(", ");
    Problem(format!(
        "there is no field `{field}`; fields: {plain}, and arrival, start, finish, response with _s, _ms, _us or _ns"
    ))
}

#[cold]
fn too_few(found: usize, wanted: usize) -> Problem {
    Problem(format!("the line has {found} cells, but at least {wanted} columns are needed"))
}

/// The cells of a line, quotes and blanks around them removed.
pub(super) struct Cells<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Cells<'a> {
    pub(super) fn new(line: &'a [u8], separator: u8) -> Self {
        Self { rest: Some(line), separator }
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = &'a [u8];

    #[expect(clippy::inline_always, reason = "a cell costs little more than a call")]
    #[inline(always)]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        if rest.first() == Some(&b'"')
            && let Some((cell, rest)) = quoted(rest, self.separator)
        {
            self.rest = rest;
            return Some(cell);
        }
        let end = find(self.separator, rest);
        self.rest = end.map(|end| &rest[end + 1..]);
        if self.separator == b' ' {
            // Several blanks are one.
            self.rest = self.rest.map(<[u8]>::trim_ascii_start);
        }
        Some(trim(&rest[..end.unwrap_or(rest.len())]))
    }
}

/// The cell in quotes that `line` begins with, and what follows its separator. Two quotes in it stand for one; where something
/// else follows the closing one, the cell is all of it, which is neither a number nor a word.
fn quoted(line: &[u8], separator: u8) -> Option<(&[u8], Option<&[u8]>)> {
    let mut close = 1 + memchr::memchr(b'"', &line[1..])?;
    while line.get(close + 1) == Some(&b'"') {
        close += 2 + memchr::memchr(b'"', &line[close + 2..])?;
    }
    let end = find(separator, &line[close + 1..]).map(|at| close + 1 + at);
    let beyond = &line[close + 1..end.unwrap_or(line.len())];
    let cell = if trim(beyond).is_empty() { &line[1..close] } else { &line[..close + 1 + beyond.len()] };
    Some((trim(cell), end.map(|end| &line[end + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_all, read_text, text_file};

    #[test]
    fn columns_are_found_by_name() {
        let text =
            "\u{feff}op,lba,Arrival_ms,extra,sectors,device\nR,10,1.5,x,4,2\nwrite,\"20\",2,\"a,b\",8,0\n";
        let requests = read_text(None, text).unwrap();
        let first = Request { device: 2, ..Request::new(Nanos(1_500_000), Op::Read, Lba(10), 4) };
        assert_eq!(requests, [first, Request::new(Nanos(2_000_000), Op::Write, Lba(20), 8)]);
    }

    #[test]
    fn bytes_responses_and_empty_cells() {
        let text = "#sector_bytes = 4096\narrival_s;offset_bytes;size_bytes;is_read;start_us;response_ms;flags\n\
            1;4095;2;true;1000001;2;9\n2;8192;4096;0;;;0\n";
        let file = text_file(text);
        let reader = crate::open(file.path(), &OpenOptions::default()).unwrap();
        assert_eq!((reader.format(), reader.sector_bytes()), ("csv", 4096));
        let requests = read_text(None, text).unwrap();
        let first = Request::new(Nanos(1_000_000_000), Op::Read, Lba(0), 2);
        let (start, finish) = (Nanos(1_000_001_000), Nanos(1_002_000_000));
        assert_eq!(requests[0], Request { start, finish, flags: RequestFlags(9), ..first });
        assert_eq!(requests[1], Request::new(Nanos(2_000_000_000), Op::Write, Lba(2), 1));
    }

    #[test]
    fn blanks_are_between_cells_where_nothing_else_is() {
        let requests = read_text(None, "arrival_us op lba  sectors\n1 R  16 8\n2   W 32 8\n").unwrap();
        assert_eq!(requests[1], Request::new(Nanos(2_000), Op::Write, Lba(32), 8));
    }

    #[test]
    fn quotes_hold_separators_and_quotes_and_nothing_follows_them() {
        let head = "arrival_ms,name,lba,sectors,op\n";
        let requests = read_text(None, &format!("{head}1,\"say \"\"a, b\"\" twice\",\"7\" ,8,R\n")).unwrap();
        assert_eq!(requests, [Request::new(Nanos(1_000_000), Op::Read, Lba(7), 8)]);
        for cell in ["\"1\"\"6\"", "\"1\"6", "\"1"] {
            let error = read_text(Some("csv"), &format!("{head}1,x,{cell},8,R\n")).unwrap_err().to_string();
            assert!(
                error.contains("line 2: `lba` is `") && error.ends_with("not a whole number"),
                "{cell}: {error}"
            );
        }
    }

    #[test]
    fn other_names_are_mapped() {
        let text = "Stamp,Response,IOType,LUN,Offset,Size\n1.5,0.25,R,3,1024,512\n";
        assert!(read_text(None, text).unwrap_err().to_string().contains("does not begin like a trace"));
        let map = |pairs: &[(&str, &str)]| {
            let columns = pairs.iter().map(|&(name, field)| (name.into(), field.into())).collect();
            read_all(text_file(text).path(), &OpenOptions { columns, ..OpenOptions::default() })
        };
        let pairs = [
            ("Stamp", "arrival_s"),
            ("Response", "response_s"),
            ("IOType", "op"),
            ("LUN", "device"),
            ("Offset", "offset_bytes"),
        ];
        let error = map(&pairs).unwrap_err();
        assert!(
            error.to_string().contains("line 1: there is no column sectors or size_bytes; columns: Stamp,"),
            "{error}"
        );
        let requests = map(&[&pairs[..], &[("Size", "size_bytes")]].concat()).unwrap();
        let expected = Request {
            device: 3,
            finish: Nanos(1_750_000_000),
            ..Request::new(Nanos(1_500_000_000), Op::Read, Lba(2), 1)
        };
        assert_eq!(requests, [expected]);
        assert!(
            map(&[("Size", "bytes")]).unwrap_err().to_string().contains("no field `bytes`; fields: lba,")
        );
        assert!(map(&[("Sizes", "size_bytes")]).unwrap_err().to_string().contains("no column `Sizes`"));
    }

    #[test]
    fn a_table_without_a_header_is_read_by_position() {
        let columns = |pairs: &[(&str, &str)]| OpenOptions {
            columns: pairs.iter().map(|&(place, field)| (place.into(), field.into())).collect(),
            ..OpenOptions::default()
        };
        let alibaba = columns(&[
            ("0", "device"),
            ("1", "op"),
            ("2", "offset_bytes"),
            ("3", "size_bytes"),
            ("4", "arrival_us"),
        ]);
        let text = "725,R,126703644672,4096,1577808000000018\n725,W,8192,512,1577808000000118\n";
        let expected = [
            Request {
                device: 725,
                ..Request::new(Nanos(1_577_808_000_000_018_000), Op::Read, Lba(126_703_644_672 / 512), 8)
            },
            Request { device: 725, ..Request::new(Nanos(1_577_808_000_000_118_000), Op::Write, Lba(16), 1) },
        ];
        assert_eq!(read_all(text_file(text).path(), &alibaba).unwrap(), expected);
        let headed = format!("device_id,opcode,offset,length,timestamp\n{text}");
        assert_eq!(read_all(text_file(&headed).path(), &alibaba).unwrap(), expected);
        let beyond = columns(&[("0", "device"), ("9", "arrival_us")]);
        let error = read_all(text_file(text).path(), &beyond).unwrap_err().to_string();
        assert!(error.contains("no column `9`; columns: 0, 1, 2, 3, 4"), "{error}");
    }

    #[test]
    fn bad_cells_are_named() {
        let error = |line: &str| {
            let text = format!("arrival_s,lba,sectors,op\n{line}\n");
            read_text(Some("csv"), &text).unwrap_err().to_string()
        };
        assert!(error(",1,1,R").ends_with("line 2: `arrival` is ``: missing"));
        let words = error("1,1,1,GET");
        assert!(
            words.contains("`op` is `GET`: expected R") && words.contains("reads = [\"GET\"]"),
            "{words}"
        );
        assert!(error("1,1,1").ends_with("line 2: the line has 3 cells, but at least 4 columns are needed"));
        assert!(error("1,1,4294967296,R").ends_with("`sectors` is `4294967296`: too large"));
        let twice = read_text(Some("csv"), "arrival_s,arrival_ms,lba,sectors,op\n").unwrap_err().to_string();
        assert!(twice.contains("`arrival_ms` says the same as another column"), "{twice}");
    }
}
