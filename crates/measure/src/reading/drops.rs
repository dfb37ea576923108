//! Where Skippy's latencies drop.

use crate::angles::median::median;

/// Places at which the latency falls by more than half of the tooth's height, noise and switch points left out; with
/// `backwards`, at which it rises.
pub(crate) fn jumps(latencies: &[f64], backwards: bool) -> Vec<usize> {
    let mut sorted: Vec<f64> = latencies.iter().copied().filter(|latency| latency.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.len() < 16 {
        return Vec::new();
    }
    let half = (sorted[sorted.len() * 49 / 50] - sorted[sorted.len() / 50]) * 0.5;
    let sign = if backwards { -1.0 } else { 1.0 };
    let falls = |place: usize| sign * (latencies[place - 1] - latencies[place]) > half;
    let stays = |place: usize| {
        let before = median(&latencies[place.saturating_sub(3)..place]);
        let behind = median(&latencies[place..(place + 3).min(latencies.len())]);
        sign * (before - behind) > half
    };
    let mut jumps: Vec<usize> = Vec::new();
    for place in 3..latencies.len().saturating_sub(3) {
        if falls(place) && stays(place) && jumps.last().is_none_or(|last| place > last + 8) {
            jumps.push(place);
        }
    }
    jumps
}
