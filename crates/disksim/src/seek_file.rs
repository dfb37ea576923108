//! `.seek` files: measured seek times.
//!
//! The first line is `Seek distances measured: N`, then N lines `cylinders, ms`. A third column, and separate times for
//! reads and writes (four columns: distance, read, write, and one more), occur; the first time is taken.

use crate::error::ImportError;
use crate::report::Report;
use crate::sources::Source;
use crate::tree::At;

const HEAD: &str = "Seek distances measured:";

/// `[distance in cylinders, time in ms]`, distances ascending.
pub(crate) fn points(source: &Source, report: &mut Report) -> Result<Vec<[f64; 2]>, ImportError> {
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
    let (mut points, mut more_columns) = (Vec::new(), 0_usize);
    let mut last_line = head_line;
    for (line, number) in lines {
        let (point, columns) = point(line, &at(number))?;
        points.push(point);
        more_columns = more_columns.max(columns);
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
    if more_columns > 2 {
        let left =
            if more_columns == 4 { "the times of writes and the last column" } else { "further columns" };
        let message =
            format!("has {more_columns} columns: the second holds the times that count, left out are {left}");
        report.warn(&at(head_line), message);
    }
    in_order(&mut points, &at(head_line), report)?;
    dips(&points, &at(head_line), report);
    Ok(points)
}

/// A line, and how many columns it has.
fn point(line: &str, at: &At) -> Result<([f64; 2], usize), ImportError> {
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
    if time < 0.0 {
        return Err(ImportError::at(at, format!("a seek of {time} ms cannot be")));
    }
    Ok(([distance, time], columns.len()))
}

fn in_order(points: &mut Vec<[f64; 2]>, at: &At, report: &mut Report) -> Result<(), ImportError> {
    let Some(wrong) = points.windows(2).find(|pair| pair[1][0] <= pair[0][0]) else { return Ok(()) };
    let message = format!("distances must ascend, but {} follows {}", wrong[1][0], wrong[0][0]);
    report.refuse(ImportError::at(at, message), "they are sorted, and of equal ones the first counts")?;
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    points.dedup_by_key(|point| point[0]);
    Ok(())
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
