//! What is done with a trace beside reading it: matching, analysing, fitting a workload and making one.

use crate::convert::dict;
use crate::error::{Error, guarded};
use crate::outputs::to_write;
use crate::poll::Poll;
use crate::range::{RequestCount, Seed, TicksPerS};
use crate::results::{self, Typed, typed};
use crate::trace::{Trace, process_names};
use headstack_analysis::likeness::likeness;
use headstack_analysis::model::WorkloadModel;
use headstack_analysis::{AnalysisOptions, analyse};
use headstack_trace::event::{EventIos, IoReader, PairingSummary, is_event_trace, open_events, open_ios};
use headstack_trace::info::TimeSummary;
use headstack_trace::iostat::{FIELDS, Iostat};
use headstack_trace::tick::{
    MatchSummary, Orphan, Pair, Quantised, TICKS_PER_S, TickHistogram, TickRecord, match_file,
};
use headstack_trace::{IoSource, Notes, OpenOptions, OutputFormat, TraceError, convert};
use headstack_units::Op;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::PathBuf;

/// How a trace is opened by verbs that read what is sound: bad records are left out and counted, unless `strict`.
fn options(trace: &Trace, strict: bool) -> OpenOptions {
    OpenOptions { tolerant: !strict, ..trace.chosen_part() }
}

/// Pairs the events of a trace, and counts those that stay unpaired.
#[pyfunction]
#[pyo3(signature = (trace, *, strict=false))]
pub(crate) fn match_trace<'py>(
    py: Python<'py>,
    trace: Bound<'py, Trace>,
    strict: bool,
) -> PyResult<Typed<'py, results::Matching>> {
    let trace = trace.get();
    let format = trace.format();
    let value = guarded(py, || {
        let options = options(trace, strict);
        if is_event_trace(format) {
            let events = open_events(&trace.path, &options)?;
            let mut ios = EventIos::new(events, options.pairing).choosing(&options.filter);
            let mut batch = Vec::new();
            loop {
                ios.next_ios(&mut batch)?;
                if batch.is_empty() {
                    break;
                }
            }
            let mut value = events_value(&ios.summary());
            extend(&mut value, json!({ "format": format, "notes": notes(&ios.notes()) }));
            return Ok(value);
        }
        let (summary, seen) = match_file(&trace.path, &options)?;
        let mut value = ticks_value(&summary);
        extend(&mut value, json!({ "format": format, "notes": notes(&seen) }));
        Ok(value)
    })?;
    typed(py, &value)
}

/// Analyses a trace in one pass; with `ticks_per_s` also as a clock of so many ticks would have seen it.
#[pyfunction]
#[pyo3(signature = (trace, *, strict=false, ticks_per_s=None, progress=None))]
pub(crate) fn analyse_trace<'py>(
    py: Python<'py>,
    trace: Bound<'py, Trace>,
    strict: bool,
    ticks_per_s: Option<TicksPerS>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Typed<'py, results::Analysis>> {
    let trace = trace.get();
    let (mut poll, refusal) = Poll::new(progress);
    let ticks_per_s = ticks_per_s.map(|rate| rate.0);
    let value = guarded(py, || {
        let mut reader = open_ios(&trace.path, &options(trace, strict))?;
        let format = reader.format();
        let mut how =
            AnalysisOptions { kernel_devices: reader.kernel_devices(), ticks_per_s, ..Default::default() };
        if reader.knows_more_than_requests() {
            how.processes = process_names(&trace.path, &trace.options)?;
        }
        let analysis =
            analyse(&mut reader, &how, &mut |seen| poll.goes_on(seen, 0.0)).map_err(|e| refusal.or(e))?;
        let mut value =
            serde_json::to_value(&analysis).map_err(|error| Error::Internal(error.to_string()))?;
        extend(
            &mut value,
            json!({
                "format": format,
                "sector_bytes": reader.sector_bytes(),
                "notes": notes(&analysis.notes),
                "quantised": analysis.quantised.as_ref().map(quantised_value),
            }),
        );
        extend(&mut value, halves(&reader));
        Ok(value)
    })?;
    typed(py, &value)
}

/// What pairing or matching came to, where there was any.
fn halves(reader: &IoReader) -> Value {
    match (reader.pairing(), reader.matching()) {
        (Some(pairing), _) => events_value(&pairing),
        (None, Some(matching)) => ticks_value(matching),
        (None, None) => json!({}),
    }
}

/// What `work` finds in the I/Os of a trace, as a dictionary.
fn found<'py, T: serde::Serialize>(
    trace: &Bound<'py, Trace>,
    strict: bool,
    work: impl FnOnce(&mut IoReader) -> Result<T, TraceError> + Send,
) -> PyResult<Bound<'py, PyDict>> {
    let py = trace.py();
    let trace = trace.get();
    let value = guarded(py, || {
        let found = work(&mut open_ios(&trace.path, &options(trace, strict))?)?;
        serde_json::to_value(&found).map_err(|error| Error::Internal(error.to_string()))
    })?;
    dict(py, &value)
}

/// Fits a workload model to a trace.
#[pyfunction]
#[pyo3(signature = (trace, *, strict=false))]
pub(crate) fn fit_workload(trace: Bound<'_, Trace>, strict: bool) -> PyResult<Bound<'_, PyDict>> {
    found(&trace, strict, |reader| WorkloadModel::fit(reader))
}

/// What a trace should have in common with one made after it: burstiness over scales, long memory, seeks, returns.
#[pyfunction]
#[pyo3(signature = (trace, *, strict=false))]
pub(crate) fn trace_likeness(trace: Bound<'_, Trace>, strict: bool) -> PyResult<Bound<'_, PyDict>> {
    found(&trace, strict, |reader| likeness(reader))
}

/// Writes a trace of `requests` requests after a workload model (the JSON text of one); returns their number.
#[pyfunction]
#[pyo3(signature = (model, out, *, requests, seed=Seed(0), format=None))]
pub(crate) fn make_trace(
    py: Python<'_>,
    model: &str,
    out: PathBuf,
    requests: RequestCount,
    seed: Seed,
    format: Option<&str>,
) -> PyResult<u64> {
    let out = to_write(py, &out)?;
    guarded(py, || {
        let model: WorkloadModel = serde_json::from_str(model)
            .map_err(|error| Error::Input(format!("this is not a workload model: {error}"), None))?;
        model.check()?;
        let format = format.map_or_else(|| OutputFormat::of(&out), OutputFormat::named)?;
        Ok(convert(&mut model.generate(requests.0, seed.0), model.sector_bytes, &out, format)?)
    })
}

/// Reads a histogram of ticks: lines `N responses took T ticks.`
#[pyfunction]
pub(crate) fn tick_histogram(py: Python<'_>, path: PathBuf) -> PyResult<Typed<'_, results::TickHistogram>> {
    let value = guarded(py, || Ok(histogram_value(&TickHistogram::of_file(&path)?)))?;
    typed(py, &value)
}

/// Reads the reports of `iostat -x`: what they say of each device on average and at most, and every row.
#[pyfunction]
#[pyo3(signature = (path, *, strict=false, with_first=false))]
pub(crate) fn read_iostat(
    py: Python<'_>,
    path: PathBuf,
    strict: bool,
    with_first: bool,
) -> PyResult<Typed<'_, results::Iostat>> {
    let value = guarded(py, || {
        let read = Iostat::of_file(&path, strict)?;
        let named = |values: &[Option<f64>]| -> Value {
            FIELDS.iter().zip(values).map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        let devices = read.summaries(with_first);
        Ok(json!({
            "reports": read.reports,
            "first_left_out": !with_first && read.reports > 1,
            "devices": devices.iter().map(|each| json!({
                "device": each.device,
                "reports": each.reports,
                "mean": named(&each.mean),
                "most": named(&each.most),
                "queue_by_little": each.queue_by_little,
            })).collect::<Vec<_>>(),
            "rows": read.rows.iter().map(|row| {
                let mut value = json!({ "report": row.report, "device": row.device });
                extend(&mut value, named(&row.values));
                value
            }).collect::<Vec<_>>(),
            "notes": notes(&read.notes),
        }))
    })?;
    typed(py, &value)
}

/// Adds the keys of one object to another.
pub(crate) fn extend(value: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (value.as_object_mut(), more) {
        object.extend(more);
    }
}

pub(crate) fn notes(notes: &Notes) -> Value {
    json!({ "bad_records": notes.bad_records, "out_of_order": notes.out_of_order, "without_length": notes.without_length, "doubled": notes.doubled, "first": notes.first })
}

fn histogram_value(histogram: &TickHistogram) -> Value {
    let moments = histogram.mean_std_ticks();
    let tick_ms = 1000.0 / TICKS_PER_S as f64;
    json!({
        "responses": histogram.responses(),
        "counts": histogram.counts().map(|(ticks, count)| json!({"ticks": ticks, "responses": count})).collect::<Vec<_>>(),
        "mean_ticks": moments.map(|(mean, _)| mean),
        "mean_ms": moments.map(|(mean, _)| mean * tick_ms),
        "std_ms": moments.map(|(_, std)| std * tick_ms),
        "std_corrected_ms": histogram.corrected_std_ms(),
        "within_5_ticks": histogram.share_within(5),
        "at_0_ticks": histogram.share_within(0),
        "text": histogram.to_text(),
    })
}

fn quantised_value(quantised: &Quantised) -> Value {
    json!({
        "ticks_per_s": quantised.ticks_per_s,
        "response_ms": few(&quantised.truth),
        "seen_ms": few(&quantised.seen),
        "bias_ms": { "mean": quantised.mean_bias_ms, "p50": quantised.median_bias_ms },
        "std_added_expected_ms": quantised.added_std_expected_ms,
        "at_0_ticks": quantised.zero_share,
        "at_0_ticks_expected": quantised.zero_share_expected,
        "histogram": quantised.histogram.counts()
            .map(|(ticks, count)| json!({"ticks": ticks, "responses": count})).collect::<Vec<_>>(),
    })
}

fn few(times: &TimeSummary) -> Value {
    json!({ "mean": times.mean_ms, "std": times.std_ms, "p50": times.p50_ms, "p99": times.p99_ms })
}

fn record(record: &TickRecord) -> Value {
    json!({
        "device": [record.major, record.minor],
        "blocks": record.blocks,
        "op": if record.op == Op::Read { "read" } else { "write" },
        "block": record.block,
        "tick": record.tick,
    })
}

fn ticks_value(summary: &MatchSummary) -> Value {
    let pair = |pair: &Pair| {
        let mut value = record(&pair.sent);
        extend(&mut value, json!({ "ticks": pair.ticks }));
        value
    };
    let orphan = |orphan: &Orphan| {
        let mut value = record(&orphan.record);
        let event = if orphan.record.half == headstack_trace::tick::Half::Sent { "sent" } else { "received" };
        extend(&mut value, json!({ "event": event, "record": orphan.number }));
        value
    };
    json!({
        "records": summary.records,
        "pairs": summary.pairs,
        "orphans": summary.orphan_responses + summary.orphan_requests,
        "orphan_responses": summary.orphan_responses,
        "orphan_requests": summary.orphan_requests,
        "off_slice": summary.off_slice,
        "ticks": summary.first_pairs.iter().map(pair).collect::<Vec<_>>(),
        "orphan_records": summary.orphans.iter().map(orphan).collect::<Vec<_>>(),
        "histogram": histogram_value(&summary.histogram),
    })
}

fn events_value(summary: &PairingSummary) -> Value {
    let PairingSummary { tally, counts, btt, loss, .. } = summary;
    let both = |count: &headstack_trace::event::tally::Count| {
        json!({
            "reads": count.events[0], "writes": count.events[1],
            "read_bytes": count.bytes[0], "write_bytes": count.bytes[1],
        })
    };
    let seconds = |row: &headstack_trace::event::btt::Row| json!({"min_s": row.min.as_s(), "mean_s": row.mean_s(), "max_s": row.max.as_s(), "count": row.count});
    let rows: serde_json::Map<_, _> = btt
        .rows()
        .filter(|(_, row)| row.count > 0)
        .map(|(name, row)| (name.to_lowercase(), seconds(&row)))
        .collect();
    let overhead: serde_json::Map<_, _> = btt
        .overhead_percent()
        .into_iter()
        .flatten()
        .map(|(name, share)| (name.to_lowercase(), json!(share)))
        .collect();
    let actions: serde_json::Map<_, _> =
        tally.by_action.iter().map(|(action, count)| (action.letter().to_owned(), json!(count))).collect();
    json!({
        "pairs": counts.pairs,
        "orphans": counts.orphans(),
        "orphan_dispatches": counts.orphan_dispatches,
        "orphan_completions": counts.orphan_completions,
        "orphan_queued": counts.orphan_queued,
        "undispatched": counts.undispatched,
        "doubtful": counts.doubtful,
        "without_queueing": counts.without_queueing,
        "responses_from": if tally.queued.events == [0, 0] { "dispatch" } else { "queueing" },
        "merges": counts.merges,
        "splits": counts.splits,
        "requeues": counts.requeues,
        "partial_completions": counts.partial_completions,
        "double_flush_completions": counts.double_flush_completions,
        "events": {
            "entries": tally.entries, "by_action": actions, "queued": both(&tally.queued),
            "dispatched": both(&tally.dispatched), "requeued": both(&tally.requeued),
            "completed": both(&tally.completed), "merged": both(&tally.merged),
        },
        "btt": rows,
        "btt_overhead_percent": overhead,
        "loss": {
            "missing_cpus": loss.missing_cpus, "empty_cpus": loss.empty_cpus, "short_cpus": loss.short_cpus,
            "late_cpus": loss.late_cpus,
            "lost_events": loss.lost_events, "damaged_places": loss.damaged_places,
            "doubled_records": loss.doubled_records, "set_back_cpus": loss.set_back_cpus, "set_back_events": loss.set_back_events,
        },
    })
}
