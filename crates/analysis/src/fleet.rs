//! Devices side by side: ranked by how long they take, and the one that stands out named.
//!
//! A device stands out if it takes longer than the others, as they differ among themselves, explain: Grubbs' test, one-sided,
//! on the logarithms of median, p99 and p99.9, with the chance of naming one where none stands out held at 5 % for all devices
//! and measures together. A device whose responses come in stretches of slow and of quick ones has quantiles that vary more than
//! those of the others do, by what its own responses tell (see [`crate::batches`]): that counts as chance, too. It needs four devices, of a hundred responses each for the median, a thousand for p99 and ten thousand
//! for p99.9: the largest of a few hundred responses is a matter of chance. A device that takes less than a fifth longer
//! is not named, however alike the others are.
//!
//! Of several slow devices each hides the other from that test. So it is told besides which devices differ most from the others in the
//! median, how many they are and how far apart, with an interval that allows for all ways to part them (Scheffé); how far the median of
//! a device is left to chance its own responses tell. That devices differ no more than chance explains is said only where it is so.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use crate::batches::Batches;
use crate::groups::GroupSummary;
use crate::times::TimesSummary;

/// Fewer devices tell nothing of what is usual.
const FEWEST_DEVICES: usize = 4;
/// Devices with fewer responses are not compared.
const FEWEST_RESPONSES: u64 = 100;
/// The chance of naming a device where none stands out.
const CHANCE: f64 = 0.05;
/// The least that matters.
const LEAST_RATIO: f64 = 1.2;

/// Devices that differ by less are not told apart.
const LEAST_APART: f64 = 1.05;

/// What is compared.
struct Measure {
    name: &'static str,
    of: fn(&TimesSummary) -> f64,
    share: f64,
    /// Of devices with fewer responses it is left to chance: ten lie beyond a quantile.
    fewest: u64,
}

const MEASURES: [Measure; 3] = [
    Measure { name: "p50", of: |times| times.p50_ms, share: 0.5, fewest: FEWEST_RESPONSES },
    Measure { name: "p99", of: |times| times.p99_ms, share: 0.99, fewest: 1000 },
    Measure { name: "p99.9", of: |times| times.p999_ms, share: 0.999, fewest: 10_000 },
];

/// Several devices beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fleet {
    /// Devices with enough responses to be compared, the slowest (by p99) first.
    pub ranked: Vec<Ranked>,
    /// Devices that were left out, with too few responses.
    pub left_out: usize,
    /// The device that stands out, if one does.
    pub outlier: Option<Outlier>,
    /// The two groups of devices that differ most by their medians; `None` with too few responses to know how far chance goes.
    pub apart: Option<Apart>,
}

/// Some devices against the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Apart {
    /// The smaller group: those that take longer, or less long, than the others.
    pub devices: Vec<String>,
    /// How many others there are.
    pub others: usize,
    /// The ratio of the geometric means of their medians.
    pub times_as_long: f64,
    /// Lower end of its 95 % interval, of the widest apart of all ways to part them.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether the devices of each group differ among themselves, too: then there are no two groups.
    pub graded: bool,
    /// The slowest device ÷ the fastest.
    pub slowest_to_fastest: f64,
    /// Whether more than chance parts them: the 99 % interval lies beyond [`LEAST_APART`].
    pub found: bool,
}

/// A device in the rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// Its name.
    pub device: String,
    /// Its responses.
    pub responses: u64,
    /// Them.
    pub response_ms: RankedTimes,
    /// p99 ÷ median of the p99 of the others.
    pub p99_to_others: f64,
}

/// Responses of a device in the rank, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RankedTimes {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99 %.
    pub p99: f64,
}

/// A device that takes longer than the others explain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlier {
    /// Its name.
    pub device: String,
    /// `p50`, `p99` or `p99.9`.
    pub measure: &'static str,
    /// What it comes to.
    pub value_ms: f64,
    /// Geometric mean of the others'.
    pub others_ms: f64,
    /// The first ÷ the second.
    pub times_as_long: f64,
    /// Standard deviations of the others (of logarithms) above them.
    pub deviations: f64,
}

/// A device with enough responses to be compared.
#[derive(Clone, Copy)]
struct Compared<'a> {
    device: &'a str,
    times: &'a TimesSummary,
    batches: &'a Batches,
}

/// What a measure comes to on a device.
struct Value<'a> {
    device: &'a str,
    /// Its logarithm.
    log: f64,
    /// What it lies between but for chance, as the share of responses below it says.
    low: f64,
    high: f64,
    /// Its variance, as far as responses that are alike from one to the next make it.
    variance: f64,
}

/// The devices of a trace beside each other; `None` if there is one, or responses are not measured.
pub fn fleet(devices: &[GroupSummary]) -> Option<Fleet> {
    let timed = devices.iter().filter_map(|each| {
        Some(Compared { device: &each.name, times: each.response.as_ref()?, batches: each.batches.as_ref()? })
    });
    let (compared, few): (Vec<_>, Vec<_>) = timed.partition(|each| each.times.count >= FEWEST_RESPONSES);
    if compared.len() < 2 {
        return None;
    }
    let mut ranked: Vec<Ranked> = compared
        .iter()
        .enumerate()
        .map(|(at, Compared { device, times, .. })| Ranked {
            device: (*device).to_owned(),
            responses: times.count,
            response_ms: RankedTimes { mean: times.mean_ms, p50: times.p50_ms, p99: times.p99_ms },
            p99_to_others: times.p99_ms / median(others(&compared, at).map(|times| times.p99_ms)),
        })
        .collect();
    ranked.sort_by(|first, second| second.response_ms.p99.total_cmp(&first.response_ms.p99));
    Some(Fleet { ranked, left_out: few.len(), outlier: outlier(&compared), apart: apart(&compared) })
}

fn others<'a>(compared: &'a [Compared<'a>], at: usize) -> impl Iterator<Item = &'a TimesSummary> {
    compared.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, other)| other.times)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}

/// A median, as a logarithm, and the square of its standard error.
struct Median<'a> {
    device: &'a str,
    log: f64,
    variance: f64,
}

/// The groups that differ most. Of two slow devices each hides the other where one is held against the rest; here all ways to part the
/// devices, slow from quick, are looked at, and what is told allows for it (Scheffé).
fn apart(compared: &[Compared<'_>]) -> Option<Apart> {
    let known: Option<Vec<_>> = compared.iter().map(|each| Some((each, each.batches.error(0.5)?))).collect();
    let known = known?;
    let pooled = known.iter().map(|(_, (error, _))| error * error).sum::<f64>() / known.len() as f64;
    let freedom: u64 = known.iter().map(|(_, (_, freedom))| freedom).sum();
    let medians = known.iter().map(|(each, (error, _))| Median {
        device: each.device,
        log: each.times.p50_ms.max(1e-9).ln(),
        // A device of which responses happened to be much alike is not surer than the others.
        variance: pooled.max(error * error),
    });
    let mut medians: Vec<Median<'_>> = medians.collect();
    medians.sort_by(|one, two| one.log.total_cmp(&two.log));
    let parted = |at: &usize| {
        let (quick, slow) = medians.split_at(*at);
        let error = (variance_of(quick) + variance_of(slow)).sqrt();
        (mean_of(slow) - mean_of(quick), error)
    };
    let clarity = |at: &usize| {
        let (difference, error) = parted(at);
        difference / error
    };
    let at = (1..medians.len()).max_by(|one, two| clarity(one).total_cmp(&clarity(two)))?;
    let (difference, error) = parted(&at);
    let wide = |chance: f64, ways: usize| {
        let law = FisherSnedecor::new(ways as f64, freedom as f64).ok()?;
        Some((ways as f64 * law.inverse_cdf(1.0 - chance)).sqrt())
    };
    let ways = medians.len() - 1;
    let half = wide(CHANCE, ways)? * error;
    let found = difference - wide(CHANCE / 5.0, ways)? * error > LEAST_APART.ln();
    let (quick, slow) = medians.split_at(at);
    let differ = |group: &[Median<'_>]| {
        let mean = mean_of(group);
        group.iter().map(|each| (each.log - mean).powi(2) / each.variance).sum::<f64>()
    };
    let graded = ways > 1
        && wide(CHANCE / 5.0, ways - 1).is_some_and(|most| differ(quick) + differ(slow) > most * most)
        // Two groups that differ a little among themselves are two groups.
        && [quick, slow].iter().any(|group| group[group.len() - 1].log - group[0].log > difference / 4.0);
    let is_slow = slow.len() <= quick.len();
    let (group, sign) = if is_slow { (slow, 1.0) } else { (quick, -1.0) };
    let ends = [difference - half, difference + half].map(|log| (sign * log).exp());
    Some(Apart {
        devices: compared
            .iter()
            .filter(|each| group.iter().any(|of| of.device == each.device))
            .map(|each| each.device.to_owned())
            .collect(),
        others: medians.len() - group.len(),
        times_as_long: (sign * difference).exp(),
        low: ends[0].min(ends[1]),
        high: ends[0].max(ends[1]),
        graded,
        slowest_to_fastest: (medians[medians.len() - 1].log - medians[0].log).exp(),
        found,
    })
}

fn mean_of(group: &[Median<'_>]) -> f64 {
    group.iter().map(|each| each.log).sum::<f64>() / group.len() as f64
}

/// The square of the standard error of their mean.
fn variance_of(group: &[Median<'_>]) -> f64 {
    group.iter().map(|each| each.variance).sum::<f64>() / (group.len() as f64).powi(2)
}

/// The device and measure farthest above the others.
fn outlier(compared: &[Compared<'_>]) -> Option<Outlier> {
    let values = MEASURES.iter().map(|measure| {
        let enough = compared.iter().filter(|each| each.times.count >= measure.fewest);
        let values = enough.map(|each| {
            let log = (measure.of)(each.times).max(1e-9).ln();
            let [less, more] = each.batches.off(measure.share);
            Value {
                device: each.device,
                log,
                low: log - less,
                high: log + more,
                variance: each.batches.variance(measure.share),
            }
        });
        (measure.name, values.collect::<Vec<_>>())
    });
    let measured: Vec<_> = values.filter(|(_, values)| values.len() >= FEWEST_DEVICES).collect();
    let comparisons = measured.iter().map(|(_, values)| values.len()).sum();
    let found = measured.iter().filter_map(|(measure, values)| farthest(measure, values, comparisons));
    found.max_by(|first, second| first.deviations.total_cmp(&second.deviations))
}

/// Of devices and logarithms, the one farthest above the others.
fn farthest(measure: &'static str, values: &[Value<'_>], comparisons: usize) -> Option<Outlier> {
    let limit = limit(values.len(), comparisons)?;
    let each = values.iter().enumerate().map(|(at, value)| {
        let others = || values[..at].iter().chain(&values[at + 1..]);
        let (mean, deviation) = moments(&others().map(|other| other.log).collect::<Vec<_>>());
        let (most, _) = moments(&others().map(|other| other.high).collect::<Vec<_>>());
        let above = value.log - mean;
        let count = (values.len() - 1) as f64;
        // Their own share of chance is in how the others differ; what this one has beyond theirs is not.
        let theirs = others().map(|other| other.variance).sum::<f64>() / count;
        let more = (value.variance - theirs).max(0.0);
        // Of one that is not among those that the deviation is of.
        let variance = deviation.max(1e-6).powi(2) * (1.0 + 1.0 / count) + more;
        let deviations = |above: f64| above / variance.sqrt();
        // Of responses of two sorts a quantile jumps from one to the other where the share of these is a little different.
        let stands_out = deviations(above) > limit && value.low - most > LEAST_RATIO.ln();
        stands_out.then(|| Outlier {
            device: value.device.to_owned(),
            measure,
            value_ms: value.log.exp(),
            others_ms: mean.exp(),
            times_as_long: above.exp(),
            deviations: deviations(above),
        })
    });
    each.flatten()
        .filter(|each| each.times_as_long >= LEAST_RATIO)
        .max_by(|first, second| first.deviations.total_cmp(&second.deviations))
}

/// So many deviations above the others are left to chance, for any of `devices`, of all `comparisons`.
fn limit(devices: usize, comparisons: usize) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, (devices - 2) as f64).ok()?;
    Some(student.inverse_cdf(1.0 - CHANCE / comparisons as f64))
}

/// Mean and sample deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use headstack_units::Nanos;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, LogNormal, Normal};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::groups::Groups;

    /// Twelve devices that differ by a tenth among themselves, the fifth of them `slower` times as slow, or for one request
    /// in 50 only.
    fn made(seed: u64, slower: f64, sometimes: bool) -> Fleet {
        let mut random = Pcg64::seed_from_u64(seed);
        let (between, within) = (LogNormal::new(0.0, 0.1).unwrap(), LogNormal::new(1.0, 0.5).unwrap());
        let mut groups = Groups::in_batches();
        for device in 0..12 {
            let own: f64 = between.sample(&mut random);
            for _ in 0..1000 {
                let hit = device == 4 && (!sometimes || random.random_range(0..50) == 0);
                let ms: f64 = own * within.sample(&mut random) * if hit { slower } else { 1.0 };
                groups.record(device, true, 4096, Some(Nanos::from_ms(ms)));
            }
        }
        fleet(&groups.finish(|device| format!("d{device}"))).unwrap()
    }

    #[test]
    fn where_no_device_stands_out_few_are_named() {
        let named = (0..200).filter(|&seed| made(seed, 1.0, false).outlier.is_some()).count();
        assert!(named <= 10, "{named} of 200");
    }

    /// The p99 of a hundred and fifty responses is nearly the largest of them.
    #[test]
    fn where_responses_are_few_the_longest_are_left_to_chance() {
        let within = LogNormal::new(1.0, 0.5).unwrap();
        let named = (0..200).filter(|&seed| {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut groups = Groups::in_batches();
            for request in 0..50 * 150 {
                groups.record(request % 50, true, 4096, Some(Nanos::from_ms(within.sample(&mut random))));
            }
            fleet(&groups.finish(|device| format!("d{device}"))).unwrap().outlier.is_some()
        });
        let named = named.count();
        assert!(named <= 10, "{named} of 200");
    }

    /// One in fifty devices does not answer for 3 s once in 500 requests: less often than p99 shows.
    #[test]
    fn a_device_that_stalls_now_and_then_is_named() {
        let mut random = Pcg64::seed_from_u64(7);
        let within = LogNormal::new(1.0, 0.5).unwrap();
        let mut groups = Groups::in_batches();
        for request in 0..50 * 12_000_u64 {
            let stall = request % 50 == 17 && random.random_range(0..500) == 0;
            let ms = within.sample(&mut random) + if stall { 3000.0 } else { 0.0 };
            groups.record(request % 50, true, 4096, Some(Nanos::from_ms(ms)));
        }
        let outlier = fleet(&groups.finish(|device| format!("d{device}"))).unwrap().outlier.unwrap();
        assert_eq!((&*outlier.device, outlier.measure), ("d17", "p99.9"));
        assert!(outlier.times_as_long > 100.0, "{outlier:?}");
    }

    /// All devices take equally long on average. Of one, or of all, responses are alike for about 500 of 20,000: slow for a while, then
    /// quick for a while.
    #[test]
    fn a_device_of_slow_and_quick_whiles_does_not_stand_out() {
        let named = |alike_ones: u64| {
            let found = (0..200).filter(|&seed| {
                let mut random = Pcg64::seed_from_u64(seed);
                let normal = Normal::new(0.0, 0.5).unwrap();
                let (kept, mut groups) = (1.0_f64 - 1.0 / 500.0, Groups::in_batches());
                for device in 0..8 {
                    let mut level: f64 = normal.sample(&mut random);
                    for _ in 0..20_000 {
                        let kept = if device < alike_ones { kept } else { 0.0 };
                        level = kept * level + (1.0 - kept * kept).sqrt() * normal.sample(&mut random);
                        groups.record(device, true, 4096, Some(Nanos::from_ms(5.0 * level.exp())));
                    }
                }
                fleet(&groups.finish(|device| format!("d{device}"))).unwrap().outlier.is_some()
            });
            found.count()
        };
        for alike_ones in [1, 8] {
            assert!(named(alike_ones) <= 10, "{alike_ones}: {} of 200", named(alike_ones));
        }
    }

    /// Half of the responses come from a cache, for a while more and for a while less: of some devices the median lies among these, of
    /// others among the rest.
    #[test]
    fn a_median_between_two_sorts_of_responses_is_left_to_chance() {
        for (devices, stretch) in [(6, 1), (4, 400)] {
            let found = (0..100).filter(|&seed| {
                let mut random = Pcg64::seed_from_u64(seed);
                let mut groups = Groups::in_batches();
                for device in 0..devices {
                    let mut hits = 0.5;
                    for _ in 0..3000 {
                        if stretch > 1 && random.random_range(0..stretch) == 0 {
                            hits = if hits > 0.5 || (hits - 0.5_f64).abs() < 0.1 && random.random() {
                                0.3
                            } else {
                                0.9
                            };
                        }
                        let range = if random.random_bool(hits) { 0.1..0.2 } else { 6.0..18.0 };
                        groups.record(device, true, 4096, Some(Nanos::from_ms(random.random_range(range))));
                    }
                }
                fleet(&groups.finish(|device| format!("d{device}"))).unwrap().outlier.is_some()
            });
            let found = found.count();
            assert!(found <= 8, "{devices} devices, for {stretch}: {found} of 100");
        }
    }

    /// Devices that take so many times as long; responses are alike over so many in a row.
    fn of_times(seed: u64, times: &[f64], alike: f64) -> Fleet {
        let mut random = Pcg64::seed_from_u64(seed);
        let normal = Normal::new(0.0, 0.4).unwrap();
        let kept: f64 = 1.0 - 1.0 / alike;
        let mut groups = Groups::in_batches();
        for (device, times) in (0..).zip(times) {
            let mut level: f64 = normal.sample(&mut random);
            for _ in 0..1500 {
                level = kept * level + (1.0 - kept * kept).sqrt() * normal.sample(&mut random);
                groups.record(device, true, 4096, Some(Nanos::from_ms(8.0 * times * level.exp())));
            }
        }
        fleet(&groups.finish(|device| format!("d{device}"))).unwrap()
    }

    /// Each of two slow devices made the others seem to differ so much that neither stood out: "no more than chance explains".
    #[test]
    fn several_slow_devices_are_told_and_how_far_apart() {
        let one = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0];
        for (times, names, ratio) in [
            (&one[..], &["d6", "d7"][..], 2.0),
            (&[1.0, 3.0, 1.0, 1.0, 3.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0], &["d1", "d4", "d7"], 3.0),
            (&[1.5, 1.0, 1.5, 1.0], &["d0", "d2"], 1.5),
            (&[1.0, 1.0, 1.0, 0.5, 1.0, 1.0], &["d3"], 0.5),
        ] {
            let found: Vec<Apart> = (0..40).map(|seed| of_times(seed, times, 1.0).apart.unwrap()).collect();
            let right = found.iter().filter(|each| each.found && !each.graded && each.devices == names);
            assert!(right.count() >= 38, "{names:?}");
            let held = found.iter().filter(|each| each.low <= ratio && ratio <= each.high).count();
            assert!(held >= 38, "{names:?}: {held}");
        }
        let graded: Vec<f64> = (0..8).map(|k| 1.0 + f64::from(k) / 7.0).collect();
        let told = (0..40)
            .filter(|&seed| of_times(seed, &graded, 1.0).apart.is_some_and(|each| each.found && each.graded));
        assert!(told.count() >= 38);
    }

    #[test]
    fn devices_that_are_alike_are_left_to_chance() {
        for (devices, alike) in [(2, 1.0), (3, 1.0), (8, 1.0), (12, 1.0), (8, 20.0), (4, 100.0), (12, 300.0)]
        {
            let found = (0..200).filter(|&seed| {
                of_times(seed, &vec![1.0; devices], alike).apart.is_some_and(|apart| apart.found)
            });
            let found = found.count();
            assert!(found <= 4, "{devices} devices, alike over {alike}: {found} of 200");
        }
    }

    #[test]
    fn a_slow_device_is_named() {
        let named = |sometimes, slower| {
            let outliers = (0..200).filter_map(|seed| made(1000 + seed, slower, sometimes).outlier);
            outliers.filter(|outlier| outlier.device == "d4").count()
        };
        assert!(named(false, 2.0) >= 180, "{}", named(false, 2.0));
        assert!(named(true, 10.0) >= 180, "{}", named(true, 10.0));
    }

    #[test]
    fn the_slowest_stands_first_and_few_devices_tell_nothing() {
        let fleet_of = |devices: u64, count: u64| {
            let mut groups = Groups::in_batches();
            for device in 0..devices {
                for _ in 0..count {
                    groups.record(device, true, 4096, Some(Nanos::from_ms(1.0 + device as f64)));
                }
            }
            fleet(&groups.finish(|device| format!("d{device}")))
        };
        let three = fleet_of(3, 100).unwrap();
        assert_eq!(three.ranked.iter().map(|each| &*each.device).collect::<Vec<_>>(), ["d2", "d1", "d0"]);
        assert!((three.ranked[0].p99_to_others - 2.0).abs() < 0.01, "{three:?}");
        assert_eq!(three.outlier, None);
        assert_eq!((fleet_of(3, 99), fleet_of(1, 100)), (None, None));
    }
}
