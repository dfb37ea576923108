//! What `Trace.info` tells, as JSON.

use headstack_trace::TraceInfo;
use headstack_trace::info::{DeviceInfo, TimeSummary};
use serde_json::{Value, json};

pub(crate) fn info_value(info: &TraceInfo) -> Value {
    json!({
        "format": info.format,
        "sector_bytes": info.sector_bytes,
        "requests": info.requests,
        "reads": info.reads,
        "writes": info.writes,
        "read_fraction": info.read_fraction,
        "records_skipped": info.records_skipped,
        "in_order": info.in_order,
        "first_arrival_s": info.first_arrival_s,
        "span_s": info.span_s,
        "requests_per_s": info.requests_per_s,
        "bytes_read": info.bytes_read,
        "bytes_written": info.bytes_written,
        "sizes": {
            "mean_bytes": info.sizes.mean_bytes,
            "min_bytes": info.sizes.min_bytes,
            "max_bytes": info.sizes.max_bytes,
            "common": info.sizes.common.iter()
                .map(|(bytes, count)| json!({"bytes": bytes, "requests": count})).collect::<Vec<_>>(),
        },
        "footprint_sectors": info.footprint_sectors,
        "footprint_grid_sectors": info.footprint_grid_sectors,
        "highest_lba": info.highest_lba,
        "sequential_fraction": info.sequential_fraction,
        "inter_arrival": info.inter_arrival.as_ref().map(times),
        "service": info.service.as_ref().map(times),
        "response": info.response.as_ref().map(times),
        "max_outstanding": info.max_outstanding,
        "devices": info.devices.iter().map(device).collect::<Vec<_>>(),
    })
}

fn times(times: &TimeSummary) -> Value {
    json!({
        "count": times.count,
        "mean_ms": times.mean_ms,
        "std_ms": times.std_ms,
        "min_ms": times.min_ms,
        "p50_ms": times.p50_ms,
        "p90_ms": times.p90_ms,
        "p95_ms": times.p95_ms,
        "p99_ms": times.p99_ms,
        "p999_ms": times.p999_ms,
        "max_ms": times.max_ms,
        "quantiles": if times.exact { "exact" } else { "hdr" },
    })
}

fn device(device: &DeviceInfo) -> Value {
    json!({
        "device": device.device,
        "requests": device.requests,
        "reads": device.reads,
        "bytes": device.bytes,
        "lowest_lba": device.lowest_lba,
        "highest_lba": device.highest_lba,
        "footprint_sectors": device.footprint_sectors,
        "sequential_fraction": device.sequential_fraction,
        "max_in_service": device.max_in_service,
    })
}
