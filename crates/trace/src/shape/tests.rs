use proptest::prelude::*;

use super::*;
use crate::testing::{drain, text_file};
use crate::{InMemory, Op};

const DISK: Target = Target { sector_bytes: 512, sectors: 1000 };

fn at(arrival: u64, device: u32, lba: u64, sectors: u32) -> Request {
    Request { device, ..Request::new(Nanos(arrival), Op::Read, Lba(lba), sectors) }
}

fn shape(requests: &[Request], shaping: Shaping, targets: &[Target]) -> Result<Vec<Request>, TraceError> {
    drain(&mut Shaped::new(InMemory::new(requests.to_vec()), 512, shaping, targets.to_vec())?)
}

fn arrivals(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.arrival.0).collect()
}

#[test]
fn nothing_changes_without_a_wish() {
    let mut requests = vec![at(5, 0, 10, 8), at(7, 1, 992, 8)];
    requests[0].start = Nanos(6);
    assert_eq!(shape(&requests, Shaping::default(), &[DISK, DISK]).unwrap(), requests);
}

proptest! {
    /// Whole batches pass through where nothing changes; mapping each device to itself looks at every request.
    #[test]
    fn passing_through_equals_looking_at_each(
        drafts in prop::collection::vec((0..20_u64, 0..2_u32, 0..1010_u64, 0..12_u32, 0..4_u64, 0..4_u64), 0..60),
        far in prop::bool::weighted(0.2),
        wrap in any::<bool>(),
        limit in prop::option::of(0..70_u64),
    ) {
        let mut arrival = if far { LAST_INSTANT.0 - 300 } else { 0 };
        let requests: Vec<Request> = drafts
            .iter()
            .map(|&(gap, device, lba, sectors, start, finish)| {
                arrival += gap;
                let measured = |after: u64| if after == 0 { Nanos::MAX } else { Nanos((arrival + after).saturating_sub(2)) };
                let lba = if far { lba } else { lba % 990 };
                Request { start: measured(start), finish: measured(finish), ..at(arrival, device, lba, sectors) }
            })
            .collect();
        let fit = if wrap { FitLba::Wrap } else { FitLba::None };
        let keep = Shaping { fit, limit, ..Shaping::default() };
        let map = Shaping { devices: Devices::Map(vec![(0, 0), (1, 1)]), ..keep.clone() };
        let outcome = |shaping| shape(&requests, shaping, &[DISK, DISK]).map_err(|error| error.to_string());
        prop_assert_eq!(outcome(keep), outcome(map));
    }
}

#[test]
fn devices_are_chosen_and_renumbered() {
    let requests = [at(0, 3, 0, 1), at(1, 4, 1, 1), at(2, 9, 2, 1)];
    let only = Shaping { devices: Devices::Only(4), ..Shaping::default() };
    assert_eq!(shape(&requests, only, &[DISK]).unwrap(), [at(1, 0, 1, 1)]);
    let map = Shaping { devices: Devices::Map(vec![(3, 1), (9, 1)]), ..Shaping::default() };
    assert_eq!(shape(&requests, map, &[DISK, DISK]).unwrap(), [at(0, 1, 0, 1), at(2, 1, 2, 1)]);
    let error = shape(&requests, Shaping::default(), &[DISK]).unwrap_err();
    assert_eq!(error.to_string(), "request 1 is for device 3, but the system has 1 device (numbered from 0)");
    assert!(error.hint().unwrap().contains("--device 3"));
}

#[test]
fn time_is_cut_scaled_and_spaced() {
    let mut requests: Vec<_> = (0..10).map(|k| at(k * 100, 0, k, 1)).collect();
    (requests[3].start, requests[3].finish) = (Nanos(310), Nanos(350));
    let window = Shaping { start: Some(Nanos(250)), end: Some(Nanos(500)), ..Shaping::default() };
    let cut = shape(&requests, window.clone(), &[DISK]).unwrap();
    assert_eq!(arrivals(&cut), [50, 150]);
    assert_eq!((cut[0].start, cut[0].finish, cut[1].start), (Nanos(60), Nanos(100), Nanos::MAX));
    let doubled = shape(&requests, Shaping { time_scale: 2.0, ..window }, &[DISK]).unwrap();
    assert_eq!(arrivals(&doubled), [100, 300]);
    assert_eq!(
        (doubled[0].start, doubled[0].finish),
        (Nanos(110), Nanos(150)),
        "measured times keep their length"
    );
    let spaced = Shaping { constant_inter_arrival: Some(Nanos(7)), limit: Some(3), ..Shaping::default() };
    assert_eq!(arrivals(&shape(&requests, spaced, &[DISK]).unwrap()), [0, 7, 14]);
    let none = Shaping { limit: Some(0), ..Shaping::default() };
    assert_eq!(shape(&requests, none, &[DISK]).unwrap(), []);
}

#[test]
fn beyond_the_end_names_the_request_and_the_option() {
    let error = shape(&[at(0, 0, 0, 1), at(1, 0, 995, 8)], Shaping::default(), &[DISK]);
    let mut source = Shaped::new(
        InMemory::new(vec![at(0, 0, 0, 1), at(1, 0, 995, 8)]),
        512,
        Shaping::default(),
        vec![DISK],
    )
    .unwrap();
    let mut batch = Vec::new();
    source.next_batch(&mut batch).unwrap();
    assert_eq!((batch.len(), source.kept()), (1, 2));
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        "request 2 (sector 995, 8 sectors) reaches beyond device 0, which has 1000 sectors of 512 bytes"
    );
    assert_eq!(error.hint(), Some("use --fit-lba wrap (or scale, offset)"));
}

#[test]
fn sector_sizes_are_converted_before_the_check() {
    let small = Target { sector_bytes: 256, sectors: 1000 };
    assert_eq!(shape(&[at(0, 0, 10, 4)], Shaping::default(), &[small]).unwrap(), [at(0, 0, 20, 8)]);
    assert!(shape(&[at(0, 0, 500, 1)], Shaping::default(), &[small]).is_err());
    let shaping = Shaping { lba_scale: 0.5, lba_offset: 3, ..Shaping::default() };
    assert_eq!(shape(&[at(0, 0, 10, 4)], shaping, &[small]).unwrap(), [at(0, 0, 13, 8)]);
}

#[test]
fn a_write_fills_the_sectors_of_its_device() {
    let large = Target { sector_bytes: 4096, sectors: 1000 };
    let write = |lba, sectors| Request { op: Op::Write, ..at(0, 0, lba, sectors) };
    let shaped = |request| shape(&[request], Shaping::default(), &[large]);
    assert_eq!(shaped(write(16, 24)).unwrap(), [Request { op: Op::Write, ..at(0, 0, 2, 3) }]);
    let old = Shaped::new(InMemory::new(vec![write(1, 1)]), 256, Shaping::default(), vec![DISK]);
    assert_eq!(
        drain(&mut old.unwrap()).unwrap().len(),
        1,
        "a host of 256-byte sectors would have written 512 bytes"
    );
    for (lba, sectors, from) in [(4, 4, 2048), (8, 4, 4096), (12, 12, 6144)] {
        assert!(shaped(at(0, 0, lba, sectors)).is_ok(), "a read takes what it needs of whole sectors");
        let mut discard = write(lba, sectors);
        discard.flags = discard.flags.with(RequestFlags::DISCARD);
        assert!(shaped(discard).is_ok(), "a discard frees what it can");
        let error = shaped(write(lba, sectors)).unwrap_err();
        let said = format!(
            "request 1 writes {} bytes from byte {from} on, but device 0 writes whole sectors",
            sectors * 512
        );
        assert!(error.to_string().starts_with(&said), "{error}");
        assert!(error.hint().unwrap().contains("`sector_bytes = 512` and `physical_sector_bytes = 4096`"));
    }
}

#[test]
fn a_file_is_surveyed_where_the_fit_needs_it() {
    let file = text_file("0 0 4000 8 1\n1000000 0 4808 8 1\n");
    let fitted = |fit| {
        let shaping = Shaping { fit, ..Shaping::default() };
        let mut shaped = shape_file(file.path(), &OpenOptions::default(), shaping, vec![DISK]).unwrap();
        let lbas: Vec<_> = drain(&mut shaped).unwrap().iter().map(|request| request.lba.0).collect();
        (lbas, shaped.seen(), shaped.moved())
    };
    assert_eq!(fitted(FitLba::Offset), (vec![0, 808], 2, 2));
    assert_eq!(fitted(FitLba::Scale), (vec![824, 992], 2, 2));
    assert_eq!(fitted(FitLba::Wrap), (vec![0, 808], 2, 2));
    let shaping = Shaping { fit: FitLba::Scale, ..Shaping::default() };
    assert!(Shaped::new(InMemory::new(Vec::new()), 512, shaping, vec![DISK]).is_err());
}

#[test]
fn contradictions_are_refused() {
    let bad = [
        Shaping { time_scale: 0.0, ..Shaping::default() },
        Shaping { time_scale: f64::NAN, ..Shaping::default() },
        Shaping { lba_scale: f64::INFINITY, ..Shaping::default() },
        Shaping { time_scale: 2.0, constant_inter_arrival: Some(Nanos(1)), ..Shaping::default() },
        Shaping { start: Some(Nanos(5)), end: Some(Nanos(5)), ..Shaping::default() },
        Shaping { devices: Devices::Map(vec![(1, 0), (1, 0)]), ..Shaping::default() },
        Shaping { devices: Devices::Map(vec![(1, 1)]), ..Shaping::default() },
    ];
    for shaping in bad {
        assert!(shape(&[], shaping.clone(), &[DISK]).is_err(), "{shaping:?}");
    }
    assert!(shape(&[], Shaping::default(), &[Target { sectors: 0, ..DISK }]).is_err());
    let late = Shaping { time_scale: 1e30, ..Shaping::default() };
    assert!(shape(&[at(1, 0, 0, 1)], late, &[DISK]).unwrap_err().to_string().contains("years"));
}

fn any_shaping() -> impl Strategy<Value = Shaping> {
    let fit = prop::sample::select(vec![FitLba::None, FitLba::Wrap, FitLba::Scale, FitLba::Offset]);
    let limit = proptest::option::of(0_u64..30);
    (fit, 0.01_f64..10.0, -1000_i64..1000, 0.1_f64..10.0, limit, proptest::option::of(0_u64..500)).prop_map(
        |(fit, lba_scale, lba_offset, time_scale, limit, start)| Shaping {
            fit,
            lba_scale,
            lba_offset,
            time_scale,
            limit,
            start: start.map(Nanos),
            ..Shaping::default()
        },
    )
}

proptest! {
    #[test]
    fn every_request_let_through_lies_on_its_device_and_in_order(
        mut requests in proptest::collection::vec((0_u64..1000, 0_u32..2, 0_u64..u64::MAX >> 8, 1_u32..64), 0..40),
        shaping in any_shaping(),
        capacities in (1_u64..100_000, 1_u64..1 << 60),
        sizes in prop::sample::select(vec![(512, 512), (512, 4096), (256, 512), (520, 512), (4096, 512)]),
    ) {
        requests.sort_unstable();
        let requests: Vec<_> = requests.into_iter().map(|(t, device, lba, n)| at(t, device, lba, n)).collect();
        let target = |sectors| Target { sector_bytes: sizes.1, sectors };
        let targets = vec![target(capacities.0), target(capacities.1)];
        let Ok(extents) = survey(&mut InMemory::new(requests.clone()), sizes.0, &shaping, &targets) else { return Ok(()) };
        let source = InMemory::new(requests);
        let mut shaped = Shaped::with_extents(source, sizes.0, shaping.clone(), targets.clone(), extents).unwrap();
        let (mut batch, mut last) = (Vec::new(), Nanos::ZERO);
        loop {
            match shaped.next_batch(&mut batch) {
                Ok(()) if batch.is_empty() => break,
                Ok(()) => {}
                Err(error) => {
                    let too_long = error.to_string().contains("more than device");
                    let may_miss = matches!(shaping.fit, FitLba::None | FitLba::Offset);
                    prop_assert!(too_long || may_miss, "{}", error);
                    break;
                }
            }
            for request in &batch {
                let end = request.lba.0 + u64::from(request.sectors);
                prop_assert!(end <= targets[request.device as usize].sectors);
                prop_assert!(request.arrival >= last);
                last = request.arrival;
            }
        }
        prop_assert!(shaping.limit.is_none_or(|limit| shaped.kept() <= limit));
    }
}
