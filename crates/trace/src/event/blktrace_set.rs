//! The files of one blktrace run, one for each processor, merged by time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use headstack_units::Nanos;

use super::blktrace::{BlktraceFile, End, end_of};
use super::{Event, EventSource, Loss};
use crate::input::{Cut, Input};
use crate::text::BATCH;
use crate::{Notes, TraceError};

/// The files of a run that `path` names: its folder, or `FOLDER/NAME` of files `NAME.blktrace.N`. Empty if it names none.
///
/// # Errors
/// If the folder cannot be read or holds several runs.
pub fn files_of(path: &Path) -> Result<Vec<(u32, PathBuf)>, TraceError> {
    let (folder, name) = if path.is_dir() {
        (path, None)
    } else {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        (path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")), name)
    };
    if path.is_file() {
        return Ok(Vec::new());
    }
    let mut runs: BTreeMap<String, Vec<(u32, PathBuf)>> = BTreeMap::new();
    let reading = |source| TraceError::reading(folder, source);
    for entry in std::fs::read_dir(folder).map_err(reading)? {
        let file = entry.map_err(reading)?.path();
        if let Some((run, cpu)) =
            numbered(&file).filter(|(run, _)| name.as_ref().is_none_or(|name| name == run))
        {
            runs.entry(run).or_default().push((cpu, file));
        }
    }
    if runs.len() > 1 {
        let names: Vec<_> = runs.into_keys().collect();
        return Err(TraceError::unusable(
            format!("`{}` holds several blktrace runs: {}", path.display(), names.join(", ")),
            format!("name one: {}", folder.join(&names[0]).display()),
        ));
    }
    let mut files = runs.into_values().next().unwrap_or_default();
    files.sort();
    Ok(files)
}

/// A file that ends so long before another has perhaps lost events,
const SHORT: Nanos = Nanos(1_000_000_000);

/// if that is so many times as long as its processor ever had nothing to tell before.
const GAPS: u64 = 8;

/// NAME and N of `NAME.blktrace.N`, also compressed.
fn numbered(file: &Path) -> Option<(String, u32)> {
    let name = file.file_name()?.to_str()?;
    let plain = [".gz", ".zst", ".bz2"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let (run, cpu) = plain.rsplit_once(".blktrace.")?;
    Some((run.to_owned(), cpu.parse().ok()?))
}

/// The files of a run as one stream, in order of time; equal times in order of processors.
pub(crate) struct BlktraceSet {
    files: Vec<Stream>,
    missing: Vec<u32>,
    empty: Vec<u32>,
    short: Vec<u32>,
    /// Processors that had counted before their first record, and how far, where the first of all begins to count.
    late: Vec<(u32, u64)>,
    ends: Vec<(u32, End)>,
    unreadable: Notes,
}

struct Stream {
    file: BlktraceFile,
    cut: Cut,
    batch: Vec<Event>,
    at: usize,
    failure: Option<TraceError>,
}

impl Stream {
    /// The next events; what was read before an error is given out first.
    fn refill(&mut self) -> Result<bool, TraceError> {
        self.at = 0;
        if let Some(failure) = self.failure.take() {
            self.batch.clear();
            return Err(failure);
        }
        match self.file.next_events(&mut self.batch) {
            Err(failure) if !self.batch.is_empty() => self.failure = Some(failure),
            result => result?,
        }
        Ok(!self.batch.is_empty())
    }
}

impl BlktraceSet {
    /// Opens all files; empty ones are those of processors that had nothing to tell.
    pub(crate) fn open(files: &[(u32, PathBuf)], tolerant: bool) -> Result<Self, TraceError> {
        let mut streams = Vec::new();
        let (mut empty, mut unreadable) = (Vec::new(), Notes::default());
        let mut ends = Vec::new();
        for (cpu, path) in files {
            if std::fs::metadata(path).is_ok_and(|about| about.len() == 0) {
                empty.push(*cpu);
                continue;
            }
            let opened = Input::open_packed(path, tolerant).and_then(|input| {
                let cut = input.cut();
                BlktraceFile::new(input, tolerant).map(|file| (file, cut))
            });
            match opened {
                Ok((file, cut)) => {
                    ends.extend(end_of(path, file.layout()).map(|end| (*cpu, end)));
                    streams.push(Stream { file, cut, batch: Vec::new(), at: 0, failure: None });
                }
                Err(error @ TraceError::Unusable { .. }) if tolerant => unreadable.bad(&error),
                Err(error) => return Err(error),
            }
        }
        let last = files.last().map_or(0, |(cpu, _)| *cpu);
        let there: Vec<u32> = files.iter().map(|(cpu, _)| *cpu).collect();
        let missing = (0..last.min(0xffff)).filter(|cpu| there.binary_search(cpu).is_err()).collect();
        let end = ends.iter().map(|(_, end)| end.time).max().unwrap_or_default();
        let short = ends.iter().filter(|(_, last)| {
            let usual = last.longest_gap.0.saturating_mul(GAPS);
            end.saturating_sub(last.time) > SHORT.max(Nanos(usual))
        });
        let short = short.map(|(cpu, _)| *cpu).collect();
        let mut set = Self { files: streams, missing, empty, short, late: Vec::new(), ends, unreadable };
        set.drop_ended()?;
        set.late = set.begun_late();
        Ok(set)
    }

    /// What processors had counted before their first record, if the one that was the first to tell had not.
    fn begun_late(&self) -> Vec<(u32, u64)> {
        let begun = |stream: &&Stream| stream.batch.first().map_or(Nanos::MAX, |event| event.time);
        let is_whole = self.files.iter().min_by_key(begun).is_some_and(|stream| stream.file.is_whole());
        // Of a file that holds several processors it is told by the file itself.
        let alone = self.files.iter().filter(|stream| is_whole && !stream.file.is_whole());
        alone.flat_map(|stream| stream.file.counted_before()).collect()
    }

    /// How the file of each processor ends, where that is known.
    pub(crate) fn ends(&self) -> &[(u32, End)] {
        &self.ends
    }

    /// Fills streams whose batch is used up; forgets none, as their notes are still wanted.
    fn drop_ended(&mut self) -> Result<(), TraceError> {
        for stream in &mut self.files {
            if stream.at == stream.batch.len() {
                stream.refill()?;
            }
        }
        Ok(())
    }
}

impl EventSource for BlktraceSet {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        while batch.len() < BATCH {
            // The earliest head, and the time until which its file may go on before another must be looked at.
            let mut first: Option<(Event, usize)> = None;
            let mut second = u64::MAX;
            for (index, stream) in self.files.iter().enumerate() {
                let Some(head) = stream.batch.get(stream.at) else { continue };
                match first {
                    Some((best, _)) if best.time <= head.time => second = second.min(head.time.0),
                    _ => {
                        second = first.map_or(second, |(best, _)| second.min(best.time.0));
                        first = Some((*head, index));
                    }
                }
            }
            let Some((_, index)) = first else { break };
            let stream = &mut self.files[index];
            let run = &stream.batch[stream.at..];
            let room = BATCH - batch.len();
            // The head itself goes in any case: an equal head in a later file waits its turn.
            let length = 1 + run[1..].iter().take(room - 1).take_while(|event| event.time.0 < second).count();
            batch.extend_from_slice(&run[..length]);
            stream.at += length;
            if stream.at == stream.batch.len() {
                stream.refill()?;
            }
        }
        Ok(())
    }

    fn notes(&self) -> Notes {
        let mut notes = self.unreadable.clone();
        for stream in &self.files {
            notes.merge(&stream.file.notes());
            stream.cut.note(&mut notes);
        }
        notes
    }

    fn loss(&self) -> Loss {
        let losses: Vec<Loss> = self.files.iter().map(|stream| stream.file.loss()).collect();
        let cut = self.files.iter().filter(|stream| stream.cut.error().is_some()).count() as u64;
        Loss {
            missing_cpus: self.missing.clone(),
            empty_cpus: self.empty.clone(),
            short_cpus: self.short.clone(),
            late_cpus: (losses.iter().flat_map(|loss| loss.late_cpus.clone()))
                .chain(self.late.iter().map(|(cpu, _)| *cpu))
                .collect(),
            lost_events: losses.iter().map(|loss| loss.lost_events).sum::<u64>()
                + self.late.iter().map(|(_, count)| count).sum::<u64>(),
            damaged_places: losses.iter().map(|loss| loss.damaged_places).sum::<u64>()
                + self.unreadable.bad_records
                + cut,
            doubled_records: losses.iter().map(|loss| loss.doubled_records).sum(),
            set_back_cpus: losses.iter().flat_map(|loss| loss.set_back_cpus.clone()).collect(),
            set_back_events: losses.iter().map(|loss| loss.set_back_events).sum(),
        }
    }

    fn processes(&self) -> BTreeMap<u32, String> {
        self.files.iter().flat_map(|stream| stream.file.processes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::blktrace::push_record;
    use crate::event::blktrace::tests::{LAYOUTS, any_event};
    use headstack_units::Nanos;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// Merged by time is the same as sorted by time, whatever the batches.
        #[test]
        fn merging_equals_sorting(
            events in proptest::collection::vec((any_event(), 0_usize..4, 0_u64..50), 1..300),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut files = vec![Vec::new(); 4];
            let mut now = 0;
            let mut expected = Vec::new();
            for (event, cpu, gap) in events {
                now += gap;
                let event = Event { time: Nanos(now), cpu: cpu as u16, ..event };
                push_record(&mut files[cpu], LAYOUTS[0], 0, &event);
                expected.push((now, cpu, event));
            }
            expected.sort_by_key(|(time, cpu, _)| (*time, *cpu));
            for (cpu, bytes) in files.iter().enumerate() {
                std::fs::write(folder.path().join(format!("sdx.blktrace.{cpu}")), bytes).unwrap();
            }
            let files = files_of(folder.path()).unwrap();
            prop_assert_eq!(files.len(), 4);
            let mut set = BlktraceSet::open(&files, false).unwrap();
            let (mut all, mut batch) = (Vec::new(), Vec::new());
            loop {
                set.next_events(&mut batch).unwrap();
                if batch.is_empty() { break; }
                all.append(&mut batch);
            }
            let expected: Vec<_> = expected.into_iter().map(|(_, _, event)| event).collect();
            prop_assert_eq!(all, expected);
        }
    }

    #[test]
    fn a_cut_file_gives_its_events_before_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        for time in [5, 9] {
            let event = Event {
                time: Nanos(time),
                sector: 8,
                bytes: 4096,
                pid: 1,
                device: 7,
                cpu: 0,
                action: crate::event::Action::Issue,
                marks: crate::event::Marks::READ,
            };
            push_record(&mut bytes, LAYOUTS[0], 0, &event);
        }
        std::fs::write(folder.path().join("sdx.blktrace.0"), &bytes[..bytes.len() - 9]).unwrap();
        let files = files_of(folder.path()).unwrap();
        let mut set = BlktraceSet::open(&files, false).unwrap();
        let mut batch = Vec::new();
        let error = set.next_events(&mut batch).unwrap_err();
        assert_eq!(batch.iter().map(|event| event.time.0).collect::<Vec<_>>(), [5]);
        assert!(error.to_string().contains("the file ends after"), "{error}");
    }

    #[test]
    fn a_folder_of_two_runs_asks_which() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.blktrace.0", "a.blktrace.2", "b.blktrace.0", "notes.txt"] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let error = files_of(folder.path()).unwrap_err();
        assert!(error.to_string().contains("several blktrace runs: a, b"), "{error}");
        let files = files_of(&folder.path().join("a")).unwrap();
        assert_eq!(files.iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(), [0, 2]);
        let set = BlktraceSet::open(&files, false).unwrap();
        assert_eq!(set.loss().missing_cpus, [1]);
    }

    /// Ends of files of two processors: events each so many ms, and then the note of a message that holds what a record begins with, or
    /// nothing more. Which of them end early?
    fn short(files: [&[u64]; 2], note: bool) -> Vec<u32> {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, times) in files.iter().enumerate() {
            let mut bytes = Vec::new();
            for ms in *times {
                let event = Event {
                    time: Nanos(ms * 1_000_000),
                    sector: 8,
                    bytes: 4096,
                    pid: 1,
                    device: 7,
                    cpu: cpu as u16,
                    action: crate::event::Action::Issue,
                    marks: crate::event::Marks::READ,
                };
                push_record(&mut bytes, LAYOUTS[0], 0, &event);
                if note {
                    // What looks like a record of long ago.
                    let within = String::from_utf8([&LAYOUTS[0].magic()[..], &[1; 48]].concat()).unwrap();
                    crate::event::blktrace::push_process(&mut bytes, LAYOUTS[0], &event, &within);
                }
            }
            std::fs::write(folder.path().join(format!("sdx.blktrace.{cpu}")), bytes).unwrap();
        }
        BlktraceSet::open(&files_of(folder.path()).unwrap(), false).unwrap().loss().short_cpus
    }

    #[test]
    fn a_file_is_short_if_its_last_record_lies_far_before_those_of_others() {
        const NONE: [u32; 0] = [];
        for note in [false, true] {
            assert_eq!(short([&[1, 2, 3], &[1, 2, 5000]], note), [0], "{note}");
            assert_eq!(short([&[1, 2, 5000], &[1, 2, 3]], note), [1], "{note}");
            assert_eq!(short([&[1, 2, 900], &[1, 2, 3]], note), NONE, "{note}");
            // It had nothing to tell for as long before.
            assert_eq!(short([&[1, 2, 400, 800], &[1, 2, 2000]], note), NONE, "{note}");
        }
    }
}
