//! Which column of a table holds what: in words (`time:0:us,op:2,offset:3:bytes,size:4`), and under a name, as a file.
//!
//! `formats/` holds one TOML file a table of others; `--format` takes its name, or the path of a file of the user's own:
//!
//! ```toml
//! name = "alibaba"
//! about = "Alibaba's block traces of 2020"
//! columns = "device:0,op:1,offset:2:bytes,size:3:bytes,time:4:us"
//! clock = "absolute"              # or "trace": whether the first request comes at zero
//! separator = ","                 # optional, as all that follows: what occurs most
//! sector_bytes = 512
//! reads = ["28"]                  # other words for a read
//! writes = ["2a"]
//! source = "where the columns are described"
//! ```

use std::path::Path;

use serde::Deserialize;

use crate::{OpenOptions, TraceError};

/// The files of the library; one line each.
const LIBRARY: [&str; 5] = [
    include_str!("../../../../formats/alibaba.toml"),
    include_str!("../../../../formats/baleen.toml"),
    include_str!("../../../../formats/cloudphysics.toml"),
    include_str!("../../../../formats/fiu.toml"),
    include_str!("../../../../formats/thesios.toml"),
];

/// Whether the first request comes at zero.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
enum Clock {
    /// Times count from the start of the trace.
    #[default]
    Trace,
    /// They count from something else.
    Absolute,
}

impl TryFrom<String> for Clock {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match &*word {
            "trace" => Ok(Self::Trace),
            "absolute" => Ok(Self::Absolute),
            _ => Err(format!(
                "`{word}` is not a clock: \"trace\" if times count from its start, \"absolute\" if the first request is to come at zero"
            )),
        }
    }
}

/// A table of others.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// What `--format` calls it.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// Where its columns are described.
    #[serde(default)]
    pub source: Option<String>,
    columns: String,
    #[serde(default)]
    separator: Option<char>,
    #[serde(default)]
    clock: Clock,
    #[serde(default)]
    sector_bytes: Option<u32>,
    #[serde(default)]
    reads: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
}

/// How the lines of a table are read beside its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableWords {
    /// What stands between cells, instead of what occurs most.
    pub separator: Option<u8>,
    /// Other words for reads.
    pub reads: Vec<String>,
    /// Other words for writes.
    pub writes: Vec<String>,
}

/// The presets of the library.
///
/// # Panics
/// Never: a test reads each.
#[expect(clippy::expect_used, reason = "the files are part of the build, and a test reads each")]
pub fn presets() -> Vec<Preset> {
    LIBRARY.iter().map(|text| toml::from_str(text).expect("a file of the library")).collect()
}

/// Their names in a row.
pub(crate) fn names() -> String {
    presets().into_iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}

/// The options with what the preset they name stands for; as they are if they name none.
pub(crate) fn expanded(options: &OpenOptions) -> Result<OpenOptions, TraceError> {
    let Some(name) = &options.format else { return Ok(options.clone()) };
    let path = Path::new(name);
    let own = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let preset =
        if own { Some(of_file(path)?) } else { presets().into_iter().find(|each| each.name == *name) };
    let Some(preset) = preset else { return Ok(options.clone()) };
    if !options.columns.is_empty() {
        return Err(TraceError::unusable(
            format!("--format {name} says which column holds what, and --column or --columns says it again"),
            "give one of them".into(),
        ));
    }
    if let Some(word) = preset.reads.iter().find(|word| preset.writes.contains(word)) {
        return Err(TraceError::unusable(
            format!("format {name}: `{word}` is said to be a read and a write"),
            "leave it in `reads` or in `writes`".into(),
        ));
    }
    let separator = preset.separator.map(u8::try_from).transpose().map_err(|_| {
        TraceError::unusable(
            format!("format {name}: the separator is not an ASCII character"),
            "a comma, a blank, …".into(),
        )
    })?;
    Ok(OpenOptions {
        format: Some("csv".into()),
        columns: columns(&preset.columns)?,
        sector_bytes: options.sector_bytes.or(preset.sector_bytes),
        rebase: options.rebase || preset.clock == Clock::Absolute,
        words: TableWords { separator, reads: preset.reads, writes: preset.writes },
        ..options.clone()
    })
}

fn of_file(path: &Path) -> Result<Preset, TraceError> {
    let text = std::fs::read_to_string(path).map_err(|source| TraceError::reading(path, source))?;
    toml::from_str(&text).map_err(|error| {
        TraceError::unusable(
            format!("{}: {}", path.display(), error.to_string().trim_end()),
            "a format has name, about and columns, as the files in formats/".into(),
        )
    })
}

/// Pairs (column, field) out of `FIELD:COLUMN[:UNIT],…`.
///
/// # Errors
/// If a part is not of that form.
pub fn columns(words: &str) -> Result<Vec<(String, String)>, TraceError> {
    let words = words.split(',').map(str::trim);
    let in_bytes = words.clone().any(is_in_bytes);
    let columns = words.clone().map(|word| column(word, in_bytes)).collect::<Result<Vec<_>, _>>()?;
    let field = |word: &'_ str| word.split(':').next().unwrap_or_default().trim().to_owned();
    let fields: Vec<_> = words.map(field).collect();
    let repeated = |at: usize| columns[..at].iter().position(|(place, _)| *place == columns[at].0);
    if let Some((before, at)) = (0..columns.len()).find_map(|at| repeated(at).map(|before| (before, at))) {
        return Err(TraceError::unusable(
            format!(
                "--columns: column `{}` is said to hold two things, `{}` and `{}`",
                columns[at].0, fields[before], fields[at]
            ),
            "name each column once".into(),
        ));
    }
    match fields.iter().enumerate().find(|(at, field)| fields[..*at].contains(field)) {
        Some((_, twice)) => Err(TraceError::unusable(
            format!("--columns: two columns are said to hold `{twice}`"),
            "name one of them".into(),
        )),
        None => Ok(columns),
    }
}

/// Another word for a field, as it is said here.
fn said_otherwise(word: &str) -> Option<&'static str> {
    match word {
        "lba" | "sector" | "block" => Some("offset:COLUMN:sectors"),
        "sectors" | "blocks" => Some("size:COLUMN:sectors"),
        "bytes" | "length" | "len" => Some("size:COLUMN:bytes"),
        "arrival" | "timestamp" | "ts" => Some("time:COLUMN:us"),
        "latency" | "lat" | "duration" => Some("response:COLUMN:us"),
        "type" | "rw" | "operation" => Some("op:COLUMN"),
        "disk" | "volume" | "lun" => Some("device:COLUMN"),
        _ => None,
    }
}

/// Whether a word says an offset in bytes; a size without a unit is then in bytes, too.
fn is_in_bytes(word: &str) -> bool {
    let mut parts = word.split(':').map(str::trim);
    parts.next() == Some("offset") && parts.nth(1) == Some("bytes")
}

fn column(word: &str, in_bytes: bool) -> Result<(String, String), TraceError> {
    let unlike = |problem: &str| {
        TraceError::unusable(
            format!("--columns: `{word}` {problem}"),
            "FIELD:COLUMN[:UNIT], as in time:0:us,op:2,offset:3:bytes,size:4; fields: time, start, finish, response (s, ms, \
             us, ns), offset, size (bytes, sectors), file, op, is_read, device, major, flags"
                .into(),
        )
    };
    let mut parts = word.split(':').map(str::trim);
    let (Some(field), Some(column), unit, None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(unlike("is not of the form FIELD:COLUMN[:UNIT]"));
    };
    if column.is_empty() {
        return Err(unlike("names no column"));
    }
    let field = match (field, unit) {
        ("time", Some(unit @ ("s" | "ms" | "us" | "ns"))) => format!("arrival_{unit}"),
        ("start" | "finish" | "response", Some(unit @ ("s" | "ms" | "us" | "ns"))) => {
            format!("{field}_{unit}")
        }
        ("time" | "start" | "finish" | "response", _) => return Err(unlike("needs a unit: s, ms, us or ns")),
        ("offset", None) => return Err(unlike("needs a unit: bytes or sectors")),
        ("offset", Some("bytes")) => "offset_bytes".into(),
        ("offset", Some("sectors")) => "lba".into(),
        ("size", None) if !in_bytes => {
            return Err(unlike("needs a unit: bytes or sectors, as no offset is in bytes"));
        }
        ("size", None | Some("bytes")) => "size_bytes".into(),
        ("size", Some("sectors")) => "sectors".into(),
        ("offset" | "size", _) => return Err(unlike("has a unit that is neither bytes nor sectors")),
        ("op" | "is_read" | "device" | "major" | "flags" | "file", None) => field.into(),
        ("op" | "is_read" | "device" | "major" | "flags" | "file", Some(_)) => {
            return Err(unlike("has no unit"));
        }
        (word, _) => {
            let other = said_otherwise(word).map_or(String::new(), |form| format!("; did you mean {form}?"));
            return Err(unlike(&format!("names no field{other}")));
        }
    };
    Ok((column.into(), field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_all, text_file};
    use crate::{Op, Request};
    use headstack_units::{Lba, Nanos};

    fn read(format: &str, text: &str) -> Result<Vec<Request>, TraceError> {
        let options = OpenOptions { format: Some(format.into()), ..OpenOptions::default() };
        read_all(text_file(text).path(), &options)
    }

    #[test]
    fn each_file_of_the_library_has_a_name_of_its_own_and_a_source() {
        let presets = presets();
        for preset in &presets {
            assert!(crate::FORMATS.iter().all(|format| format.name != preset.name));
            assert_eq!(presets.iter().filter(|other| other.name == preset.name).count(), 1);
            assert!(preset.source.is_some());
            assert!(columns(&preset.columns).is_ok());
        }
    }

    #[test]
    fn tables_of_others_are_read_by_name() {
        let alibaba =
            read("alibaba", "7,R,8192,4096,1577808000000018\n9,W,0,512,1577808000000118\n").unwrap();
        let first = Request { device: 7, ..Request::new(Nanos(0), Op::Read, Lba(16), 8) };
        assert_eq!(
            alibaba,
            [first, Request { device: 9, ..Request::new(Nanos(100_000), Op::Write, Lba(0), 1) }]
        );
        let text = "version,time,op,size,lbn\n1,5633898,2a,512,42\n1,5633998,28,1024,43\n";
        let cloudphysics = read("cloudphysics", text).unwrap();
        assert_eq!(cloudphysics[0], Request::new(Nanos(0), Op::Write, Lba(42), 1));
        assert_eq!(cloudphysics[1], Request::new(Nanos(100_000_000_000), Op::Read, Lba(43), 2));
        let baleen = read("baleen", "b1 0 4096 5.5 1 p n u 0 1 h\nb2 8192 512 5.75 3 p n u 0 1 h\n").unwrap();
        assert_eq!(baleen[0], Request::new(Nanos(0), Op::Read, Lba(0), 8));
        let second_slot = (64 << 11) + 16;
        assert_eq!(baleen[1], Request::new(Nanos(250_000_000), Op::Write, Lba(second_slot), 1));
        let unknown = read("baleen", "b1 0 4096 5.5 100 p n u 0 1 h\n").unwrap_err();
        assert!(unknown.to_string().contains("`op` is `100`"), "{unknown}");
        let fiu = read("fiu", "100 7 kjournald 80 8 W 8 1 a0\n350  7 cp 800 8 R 8 1 b1\n").unwrap();
        let cp = Request { device: 8 << 20 | 1, ..Request::new(Nanos(250), Op::Read, Lba(800), 8) };
        assert_eq!(fiu[1], cp);
    }

    #[test]
    fn two_disks_of_one_table_stay_apart() {
        let fiu = read("fiu", "5 100 fio 0 8 R 8 0 a0\n9 100 fio 8 8 W 8 16 a1\n12 100 fio 16 8 R 9 0 a2\n")
            .unwrap();
        let devices: Vec<u32> = fiu.iter().map(|request| request.device).collect();
        assert_eq!(devices, [8 << 20, 8 << 20 | 16, 9 << 20]);
        let error = read("fiu", "5 100 fio 0 8 R 4096 0 a0\n").unwrap_err();
        assert!(error.to_string().contains("4096,0 is not a device"), "{error}");
        let columns = columns("time:0:ms,op:1,offset:2:bytes,size:3,major:4").unwrap();
        let options = OpenOptions { columns, ..OpenOptions::default() };
        let error = read_all(text_file("1,R,512,512,8\n").path(), &options).unwrap_err();
        assert!(error.to_string().contains("needs the minor one"), "{error}");
    }

    #[test]
    fn a_file_needs_an_offset_in_bytes() {
        let columns = columns("time:0:ms,op:1,file:2,offset:3:sectors,size:4:bytes").unwrap();
        let options = OpenOptions { columns, ..OpenOptions::default() };
        let error = read_all(text_file("1,R,f,8,512\n").path(), &options).unwrap_err();
        assert!(error.to_string().contains("no such column"), "{error}");
    }

    #[test]
    fn a_file_of_the_users_own_is_a_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        let name = path.to_string_lossy().into_owned();
        write(
            "name = 'mine'\nabout = 'mine'\nseparator = ';'\ncolumns = 'time:t:ms,offset:at:bytes,size:n:sectors,op:w'\n",
        );
        let read_own = |text: &str| read(&name, text);
        let requests = read_own("w;t;at;n\nR;5;1024;2\n").unwrap();
        assert_eq!(requests, [Request::new(Nanos(5_000_000), Op::Read, Lba(2), 2)]);
        let error = read_own("w;t;place;n\nR;5;1024;2\n").unwrap_err();
        assert!(error.to_string().contains("no column `at`"), "{error}");
        write("name = 'mine'\nabout = ''\ncolumns = 'time:0:us'\nreads = ['X']\nwrites = ['W', 'X']\n");
        let error = read_own("").unwrap_err().to_string();
        assert!(error.contains("`X` is said to be a read and a write"), "{error}");
        write("name = 'mine'\nabout = ''\ncolums = ''\n");
        let error = read_own("").unwrap_err();
        assert!(error.to_string().contains("colums"), "{error}");
        write("name = 'mine'\nabout = ''\ncolumns = 'time:0:us'\nclock = 'sideways'\n");
        let error = read_own("").unwrap_err().to_string();
        let said = ["mine.toml", "line 4", "`sideways` is not a clock", "\"trace\"", "\"absolute\""];
        assert!(said.iter().all(|part| error.contains(part)), "{error}");
    }

    #[test]
    fn columns_say_what_is_wrong_with_them() {
        for (words, problem) in [
            ("time:0", "needs a unit"),
            ("time:0:h", "needs a unit"),
            ("size:1:kib", "neither bytes nor sectors"),
            ("time:0:us,op:1,offset:2,size:3", "`offset:2` needs a unit: bytes or sectors"),
            ("time:0:us,op:1,offset:2:sectors,size:3", "`size:3` needs a unit: bytes or sectors"),
            ("time:0:us,op:1,lba:1:bytes", "names no field"),
            (
                "time:0:us,op:0,offset:2:bytes,size:3",
                "column `0` is said to hold two things, `time` and `op`",
            ),
            ("place:1", "names no field"),
            ("lba:2", "names no field; did you mean offset:COLUMN:sectors?"),
            ("time:0:us,time:1:us,op:2", "two columns are said to hold `time`"),
            ("op", "not of the form"),
            ("op::", "names no column"),
            ("op:1:x", "has no unit"),
        ] {
            let error = columns(words).unwrap_err().to_string();
            assert!(error.contains(problem), "{words}: {error}");
        }
    }
}
