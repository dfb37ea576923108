//! `.seek` files: measured seek times.
//!
//! The first line is `Seek distances measured: N`, then N lines `cylinders, ms`. Where there are three or four columns, the third
//! holds the times of writes, and the second those of reads; what the fourth holds is not known.

use crate::error::ImportError;
use crate::report::Report;
use crate::sources::Source;
use crate::tree::At;

const HEAD: &str = "Seek distances measured:";

/// Seek times at measured distances.
#[derive(Debug, PartialEq)]
pub(crate) struct Measured {
    /// `[distance in cylinders, time in ms]`, distances ascending: of all seeks, or of reads.
    pub(crate) reads: Vec<[f64; 2]>,
    /// The same of writes, where the file tells them apart.
    pub(crate) writes: Option<Vec<[f64; 2]>>,
}

/// One line: distance, time, and the time of a write if it is there.
#[derive(Clone, Copy)]
struct Line {
    distance: f64,
    read: f64,
    write: Option<f64>,
    columns: usize,
}

/// The times of a file.
pub(crate) fn measured(source: &Source, report: &mut Report) -> Result<Measured, ImportError> {
    let at = |line: usize| At { file: source.name.clone(), line: line as u32 };
    let mut lines = source
        .text
        .lines()
        .zip(1..)
        .map(|(line, number)| (line.split_once('#').map_or(line, |(before, _)| before).trim(), number))
        .filter(|(line, _)| !line.is_empty());
    let (head, head_line) = lines.next().unwrap_or(("", 1));
    let announced = head.strip_prefix(HEAD).and_then(|count| count.trim().parse::<usize>().ok());
    let announced = announced.ok_or_else(|| {
        ImportError::at(
            &at(head_line),
            format!("must be `{HEAD} N`, but is `{}`", crate::tree::shortened(head)),
        )
        .hint("N is the number of lines that follow")
    })?;
    let mut points: Vec<Line> = Vec::new();
    let mut last_line = head_line;
    for (line, number) in lines {
        points.push(parse(line, &at(number))?);
        last_line = number;
    }
    if points.is_empty() {
        return Err(ImportError::at(&at(last_line), "holds no seek time"));
    }
    if points.len() != announced {
        let message = format!("{announced} seek distances are announced, but {} are here", points.len());
        let problem = ImportError::at(&at(last_line), message).hint("is the file complete?");
        report.refuse(problem, "those that are here count")?;
    }
    in_order(&mut points, &at(head_line), report)?;
    let of_reads: Vec<_> = points.iter().map(|line| [line.distance, line.read]).collect();
    dips(&of_reads, &at(head_line), report);
    misprints(&of_reads, &at(head_line), report);
    Ok(Measured { reads: of_reads, writes: of_writes(&points, &at(head_line), report) })
}

/// The times of writes, if every line has one; how the columns were read is told.
fn of_writes(points: &[Line], at: &At, report: &mut Report) -> Option<Vec<[f64; 2]>> {
    let columns = points.iter().map(|line| line.columns).max().unwrap_or(0);
    if columns <= 2 {
        return None;
    }
    let writes: Option<Vec<_>> = points.iter().map(|line| Some([line.distance, line.write?])).collect();
    let reading = match (&writes, columns) {
        (None, _) => "not every line has a time of writes, so that the second column counts for all",
        (Some(_), 3) => "the second is read as the times of reads, the third as those of writes",
        (Some(_), _) => {
            "the second is read as the times of reads, the third as those of writes; what follows is left out"
        }
    };
    report.warn(at, format!("has {columns} columns: {reading}"));
    writes
}

fn parse(line: &str, at: &At) -> Result<Line, ImportError> {
    let columns: Vec<&str> =
        line.split(|c: char| c == ',' || c.is_whitespace()).filter(|column| !column.is_empty()).collect();
    let number =
        |column: Option<&&str>| column.and_then(|text| text.parse::<f64>().ok()).filter(|n| n.is_finite());
    let (Some(distance), Some(time)) = (number(columns.first()), number(columns.get(1))) else {
        let message = format!("must be `cylinders, milliseconds`, but is `{}`", crate::tree::shortened(line));
        return Err(ImportError::at(at, message));
    };
    if !(1.0..=1e9).contains(&distance) || distance.fract() != 0.0 {
        return Err(ImportError::at(
            at,
            format!("a distance of {distance} cylinders is not a whole number from 1 on"),
        ));
    }
    let write = number(columns.get(2));
    if let Some(time) = [time].into_iter().chain(write).find(|&time| time < 0.0) {
        return Err(ImportError::at(at, format!("a seek of {time} ms is impossible")));
    }
    Ok(Line { distance, read: time, write, columns: columns.len() })
}

fn in_order(points: &mut Vec<Line>, at: &At, report: &mut Report) -> Result<(), ImportError> {
    let Some(wrong) = points.windows(2).find(|pair| pair[1].distance <= pair[0].distance) else {
        return Ok(());
    };
    let message = format!("distances must ascend, but {} follows {}", wrong[1].distance, wrong[0].distance);
    report.refuse(ImportError::at(at, message), "they are sorted, and of equal ones the first counts")?;
    points.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    points.dedup_by_key(|point| point.distance);
    Ok(())
}

/// A time so far below those of the next shorter and the next longer seek is no arm's; nor is one as far above both.
const MISPRINT: f64 = 0.75;

/// Times that no noise explains: DiskSim goes by them, and so does the drive, until somebody takes them out.
fn misprints(points: &[[f64; 2]], at: &At, report: &mut Report) {
    for around in points.windows(3) {
        let [shorter, here, longer] = [around[0], around[1], around[2]];
        let is_less = here[1] < MISPRINT * shorter[1].min(longer[1]);
        if is_less || MISPRINT * here[1] > shorter[1].max(longer[1]) {
            let than = if is_less { "less" } else { "more" };
            report.warn(
                at,
                format!(
                    "a seek over {} cylinders takes {} ms, {than} than over {} ({}) and over {} ({}): a misprint? DiskSim goes by it, and so \
                     does the drive; without that line, and one less announced in the first, its neighbours speak for it",
                    here[0], here[1], shorter[0], shorter[1], longer[0], longer[1]
                ),
            );
        }
    }
}

/// Times that fall with the distance: they are measured so, and stay.
fn dips(points: &[[f64; 2]], at: &At, report: &mut Report) {
    let dips: Vec<_> = points.windows(2).filter(|pair| pair[1][1] < pair[0][1]).collect();
    let worst = dips.iter().max_by(|a, b| (a[0][1] - a[1][1]).total_cmp(&(b[0][1] - b[1][1])));
    if let Some(worst) = worst {
        report.warn(
            at,
            format!(
                "{} of {} seek times are below the one before, the worst by {:.3} ms at {} cylinders; taken over as they are",
                dips.len(),
                points.len(),
                worst[0][1] - worst[1][1],
                worst[1][0]
            ),
        );
    }
}
