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
        "inter_arrival_ms": info.inter_arrival.as_ref().map(times),
        "service_ms": info.service.as_ref().map(times),
        "response_ms": info.response.as_ref().map(times),
        "max_outstanding": info.max_outstanding,
        "devices": info.devices.iter().map(device).collect::<Vec<_>>(),
    })
}

fn times(times: &TimeSummary) -> Value {
    json!({
        "count": times.count,
        "mean": times.mean_ms,
        "std": times.std_ms,
        "min": times.min_ms,
        "p50": times.p50_ms,
        "p90": times.p90_ms,
        "p95": times.p95_ms,
        "p99": times.p99_ms,
        "p999": times.p999_ms,
        "max": times.max_ms,
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
