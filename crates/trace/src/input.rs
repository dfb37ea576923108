//! From a path to a stream of plain bytes: decompression by magic number, and a look at the beginning.

mod packed;

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use crate::TraceError;
use crate::buffer::Buffer;
pub(crate) use packed::Cut;
use packed::{Counted, Packed, Sizes, Taken, unpacked_bytes};

/// How many decompressed bytes are looked at to recognise a format.
const SAMPLE_BYTES: usize = 64 * 1024;

/// As much as the longest header of zstd takes; the others begin with less.
const MAGIC_BYTES: u64 = 18;

/// What some programs put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An opened file whose beginning has been read.
pub(crate) struct Input {
    path: Arc<Path>,
    head: Vec<u8>,
    complete: bool,
    rest: Box<dyn Read + Send>,
    compression: Option<&'static str>,
    cut: Cut,
}

/// The beginning of a file, for recognising its format.
#[derive(Clone, Copy)]
pub(crate) struct Sample<'a> {
    /// Up to 64 KiB.
    pub(crate) bytes: &'a [u8],
    /// Whether this is the whole file.
    pub(crate) complete: bool,
}

impl Input {
    /// Opens `path` and reads its beginning; gzip, zstd and bzip2 unpack by themselves, and must be whole.
    pub(crate) fn open(path: &Path) -> Result<Self, TraceError> {
        Self::open_packed(path, false)
    }

    /// The same; of what is packed and `tolerant`, as much is read as can be unpacked, and [`Cut`] tells.
    pub(crate) fn open_packed(path: &Path, tolerant: bool) -> Result<Self, TraceError> {
        let reading = |source| TraceError::reading(path, source);
        let mut file = File::open(path).map_err(reading)?;
        let mut magic = Vec::new();
        file.by_ref().take(MAGIC_BYTES).read_to_end(&mut magic).map_err(reading)?;
        let compression = compression(&magic);
        let cut = Cut::default();
        let whole = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len());
        let (taken, plain) = (Taken::default(), unpacked_bytes(&magic));
        let raw = Counted::new(Cursor::new(magic).chain(file), taken.clone());
        let packed = |inner: Box<dyn Read + Send>| {
            Packed::new(inner, path, tolerant, cut.clone(), Sizes::new(taken, whole, plain))
        };
        let mut rest: Box<dyn Read + Send> = match compression {
            None => Box::new(raw.into_inner()),
            Some("gzip") => Box::new(packed(Box::new(flate2::bufread::MultiGzDecoder::new(raw)))),
            Some("bzip2") => Box::new(packed(Box::new(bzip2::bufread::MultiBzDecoder::new(raw)))),
            Some("zstd") => {
                Box::new(packed(Box::new(zstd::stream::read::Decoder::with_buffer(raw).map_err(reading)?)))
            }
            Some(other) => {
                return Err(TraceError::unusable(
                    format!(
                        "`{}` is compressed with {other}, which headstack does not unpack",
                        path.display()
                    ),
                    format!("unpack it with {other}, or repack it with gzip, zstd or bzip2"),
                ));
            }
        };
        let mut head = Vec::new();
        rest.by_ref().take(SAMPLE_BYTES as u64).read_to_end(&mut head).map_err(reading)?;
        let complete = head.len() < SAMPLE_BYTES;
        if let Some(error) = cut.error().filter(|_| head.is_empty()) {
            return Err(error);
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
        if head.is_empty() {
            return Err(TraceError::unusable(
                format!("`{}` is empty", path.display()),
                "a trace holds at least a header or one request".into(),
            ));
        }
        Ok(Self { path: path.into(), head, complete, rest, compression, cut })
    }

    /// About so many bytes of lines at the end of a file that is not packed, and whether they are all of it.
    pub(crate) fn end_of(path: &Path, bytes: u64) -> Option<(Self, bool)> {
        let mut file = File::open(path).ok()?;
        let from = file.metadata().ok()?.len().saturating_sub(bytes);
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut head = Vec::new();
        file.take(bytes).read_to_end(&mut head).ok()?;
        // The line that it begins amid is left out.
        let line = if from > 0 { memchr::memchr(b'\n', &head)? + 1 } else { 0 };
        head.drain(..line);
        let (rest, cut) = (Box::new(io::empty()), Cut::default());
        Some((Self { path: path.into(), head, complete: true, rest, compression: None, cut }, from == 0))
    }

    /// Whether it can be read again.
    pub(crate) fn is_file(&self) -> bool {
        self.path.is_file()
    }

    /// Whether it can be read from its beginning only.
    pub(crate) fn is_packed(&self) -> bool {
        self.compression.is_some()
    }

    /// The file, for messages.
    pub(crate) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Whether it turns out to be cut.
    pub(crate) fn cut(&self) -> Cut {
        self.cut.clone()
    }

    /// The beginning of the (decompressed) contents.
    pub(crate) fn sample(&self) -> Sample<'_> {
        Sample { bytes: &self.head, complete: self.complete }
    }

    /// The whole contents as a stream.
    pub(crate) fn into_buffer(self) -> Buffer {
        Buffer::new(self.path, Box::new(Cursor::new(self.head).chain(self.rest)))
    }

    /// The file itself, for formats that jump about in it.
    pub(crate) fn into_file(self) -> Result<File, TraceError> {
        if let Some(compression) = self.compression {
            return Err(TraceError::unusable(
                format!("`{}` is a columnar file inside {compression}", self.path.display()),
                format!("unpack it first: it is read out of order, which {compression} does not allow"),
            ));
        }
        File::open(&self.path).map_err(|source| TraceError::reading(&self.path, source))
    }
}

/// Lines that tell the format of a text.
const LINES: usize = 16;

impl<'a> Sample<'a> {
    /// The first sixteen lines that are neither blank nor a `#` comment; one cut off by the end of the sample is left
    /// out. None at all if the sample is not text: zeros behind them are what a system leaves that crashed.
    pub(crate) fn lines(self) -> impl Iterator<Item = &'a [u8]> {
        let zero = memchr::memchr(0, self.bytes);
        let text = &self.bytes[..zero.unwrap_or(self.bytes.len())];
        let whole = match memchr::memrchr(b'\n', text) {
            _ if self.complete && zero.is_none() => text,
            Some(end) => &text[..end],
            None => &[],
        };
        let enough = zero.is_none() || lines_of(whole).nth(LINES - 1).is_some();
        lines_of(if enough { whole } else { &[] }).take(LINES)
    }
}

fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split(|&byte| byte == b'\n').map(crate::text::trim);
    lines.filter(|line| !line.is_empty() && line[0] != b'#')
}

fn compression(magic: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 4] = [
        (&[0x1f, 0x8b], "gzip"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
        (b"BZh", "bzip2"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    ];
    KINDS.iter().find(|(start, _)| magic.starts_with(start)).map(|&(_, name)| name)
}

impl TraceError {
    /// The system refused to read `path`.
    pub(crate) fn reading(path: &Path, source: io::Error) -> Self {
        Self::Io { action: "read", path: path.into(), source }
    }

    /// A file or option that cannot be used, and what to do.
    pub(crate) fn unusable(problem: String, hint: String) -> Self {
        Self::Unusable { problem, hint: Some(hint) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_off_by_the_sample_is_left_out() {
        let lines = |bytes, complete| Sample { bytes, complete }.lines().count();
        assert_eq!((lines(b"1 2\n# x\n\n3 4", false), lines(b"1 2\n# x\n\n3 4", true)), (1, 2));
        assert_eq!((lines(b"1 2", false), lines(b"1 2\n\0\n", true)), (0, 0));
    }

    /// As where a system crashed that wrote it.
    #[test]
    fn text_with_zeros_behind_its_first_lines_is_text() {
        let of = |count| ["1 2\n".repeat(count).as_bytes(), b"3 \0\0\0"].concat();
        let lines =
            |bytes: &[u8]| Sample { bytes, complete: true }.lines().filter(|line| *line == b"1 2").count();
        assert_eq!((lines(&of(LINES - 1)), lines(&of(LINES)), lines(&of(100))), (0, LINES, LINES));
    }
}
