//! What programs ask for: files from their beginning, several requests under way, popular blocks, strides.

use headstack_trace::{Op, Request, RequestSource};
use headstack_units::Nanos;

use super::*;

const SECTORS: u64 = 10_000;

fn devices() -> [DeviceShape; 1] {
    [DeviceShape { name: "a".to_owned(), sectors: SECTORS, sector_bytes: 512 }]
}

fn spec(rest: &str) -> WorkloadSpec {
    let text = format!("[[stream]]\nread_fraction = 1\nsize.fixed_kib = 4\n{rest}\n");
    WorkloadSpec::from_toml("test", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Where the requests of an open stream begin.
fn places(count: usize, rest: &str) -> Vec<u64> {
    let spec = spec(&format!("requests = {count}\ninter_arrival.constant_ms = 1\n{rest}"));
    let mut open = spec.generate(&devices(), None, None).unwrap().open.unwrap();
    let mut batch = Vec::new();
    open.next_batch(&mut batch).unwrap();
    batch.iter().map(|request| request.lba.0).collect()
}

#[test]
fn a_program_reads_its_file_from_the_first_sector_and_then_again() {
    let found = places(7, "sequential_fraction = 1\nrun_start = 'first'\nrange_lba = [800, 823]");
    assert_eq!(found, [800, 808, 816, 800, 808, 816, 800]);
    // Half of the requests lie elsewhere, and the others go on from there.
    let mixed =
        places(2_000, "sequential_fraction = 0.5\nrun_start = 'first'\nrange_lba = [0, 7999]\nalign_kib = 4");
    let goes_on = mixed.windows(2).filter(|pair| pair[1] == pair[0] + 8).count();
    assert!((900..1_100).contains(&goes_on), "{goes_on}");
}

#[test]
fn reads_and_writes_of_a_mixed_program_go_on_each_for_themselves() {
    let text = "requests = 400\n[[stream]]\nread_fraction = 0.7\nsize.fixed_kib = 4\nsequential_fraction = 1\n\
                run_start = 'first'\nseparate_directions = true\ninter_arrival.constant_ms = 1\n";
    let spec = WorkloadSpec::from_toml("test", text).unwrap();
    let mut open = spec.generate(&devices(), None, None).unwrap().open.unwrap();
    let (mut ends, mut counts) = ([0; 2], [0; 2]);
    while let Some(request) = open.next_request() {
        let which = usize::from(request.op == Op::Write);
        assert_eq!(request.lba.0, ends[which]);
        ends[which] += 8;
        counts[which] += 1;
    }
    // Three standard deviations: of 400 requests 280 are reads, give or take 28.
    assert!(counts[0] + counts[1] == 400 && (252..=308).contains(&counts[0]), "{counts:?}");
}

#[test]
fn a_stride_reads_its_parts_one_after_the_other() {
    // Parts of 16 sectors with 84 between: two requests in each, and the third begins at 200.
    let stride = "sequential_fraction = 1\nrun_start = 'first'\nrange_lba = [1000, 1299]\n\
                  stride = { span_kib = 8, skip_kib = 42 }";
    assert_eq!(places(8, stride), [1000, 1008, 1100, 1108, 1200, 1208, 1000, 1008]);
    // More is transferred than the part is long: it is read again.
    let again = stride.replace("span_kib = 8", "span_kib = 8, transfer_kib = 12");
    assert_eq!(places(7, &again), [1000, 1008, 1000, 1100, 1108, 1100, 1200]);
    // Less: the rest is left out.
    let less = stride.replace("span_kib = 8", "span_kib = 8, transfer_kib = 4");
    assert_eq!(places(4, &less), [1000, 1100, 1200, 1000]);
}

#[test]
fn random_requests_of_a_stride_stay_in_their_part() {
    let found =
        places(4_000, "align_kib = 4\nstride = { span_kib = 400, transfer_kib = 400, skip_kib = 100 }");
    for (visit, part) in found.chunks(100).enumerate() {
        // Ten parts of 1,000 sectors each fill the device; 800 of each are used.
        let first = visit as u64 % 10 * 1_000;
        assert!(part.iter().all(|lba| (first..first + 800).contains(lba)), "visit {visit}");
        assert!(part.iter().max().unwrap() - part.iter().min().unwrap() > 600);
    }
}

#[test]
fn a_part_that_the_range_cuts_off_is_used_as_far_as_it_goes() {
    let found = places(
        9,
        "sequential_fraction = 1\nrun_start = 'first'\nrange_lba = [0, 41]\nstride = { span_kib = 16 }",
    );
    // 32 sectors, then the 10 that are left, of which a request takes 8 and then has nothing to go on to.
    assert_eq!(found, [0, 8, 16, 24, 32, 32, 32, 32, 0]);
}

#[test]
fn popular_blocks_are_the_same_for_all_users_and_for_each_seed_others() {
    let text = "requests = 4000\nthink.constant_ms = 1\nusers = 2\nalign_kib = 4\npopularity.zipf = 1.5";
    let most = |seed: u64, user: u32| {
        let mut users = spec(text).generate(&devices(), Some(seed), None).unwrap().closed.unwrap();
        let mut counts = [0_u32; SECTORS as usize / 8];
        let mut call = users.start(user);
        for id in 0..1_000 {
            let at = call.unwrap();
            let Call::Issue(request) = users.call(user, at) else { panic!("a request") };
            counts[request.lba.0 as usize / 8] += 1;
            users.issued(user, id, at);
            call = users.completed(user, id, at).map(|(_, at)| at);
        }
        (0..counts.len()).max_by_key(|&block| counts[block]).unwrap()
    };
    assert_eq!(most(1, 0), most(1, 1));
    assert_ne!(most(1, 0), most(2, 0));
}

/// All that `depth` requests under way ask for, each complete in the order of issue, the first `count`.
fn under_way(count: u64, rest: &str) -> Vec<Request> {
    let spec = spec(&format!("think.constant_ms = 0\nrequests = {count}\n{rest}"));
    let mut users = spec.generate(&devices(), None, None).unwrap().closed.unwrap();
    let mut queue = std::collections::VecDeque::new();
    let mut found = Vec::new();
    let mut issue = |users: &mut ClosedLoop, user: u32, at: Nanos| {
        if let Call::Issue(request) = users.call(user, at) {
            users.issued(user, found.len() as u64, at);
            found.push(request);
            return Some((user, found.len() as u64 - 1, at));
        }
        None
    };
    for user in 0..users.users() {
        if let Some(at) = users.start(user) {
            queue.extend(issue(&mut users, user, at));
        }
    }
    while let Some((user, id, at)) = queue.pop_front() {
        if let Some((user, at)) = users.completed(user, id, at + Nanos::from_ms(1.0)) {
            queue.extend(issue(&mut users, user, at));
        }
    }
    found
}

#[test]
fn requests_under_way_of_one_user_go_on_from_one_place() {
    let all = under_way(12, "sequential_fraction = 1\nrun_start = 'first'\nqueue_depth = 4");
    assert_eq!(
        all.iter().map(|request| request.lba.0).collect::<Vec<_>>(),
        (0..96).step_by(8).collect::<Vec<_>>()
    );
    let at_once = all.iter().filter(|request| request.arrival == Nanos::ZERO).count();
    assert_eq!(at_once, 4);
    // Two users read the file each for themselves.
    let both = under_way(12, "sequential_fraction = 1\nrun_start = 'first'\nqueue_depth = 3\nusers = 2");
    let mut places: Vec<u64> = both.iter().map(|request| request.lba.0).collect();
    places.sort_unstable();
    assert_eq!(places, [0, 0, 8, 8, 16, 16, 24, 24, 32, 32, 40, 40]);
}

#[test]
fn what_contradicts_itself_is_refused_where_it_stands() {
    let open = "inter_arrival.constant_ms = 1";
    for (rest, key) in [
        ("popularity.zipf = -1", "popularity.zipf"),
        ("popularity.zipf = nan", "popularity.zipf"),
        ("popularity = { zipf = 1, pareto = 0.5 }", "popularity"),
        ("popularity = { clustered = true }", "popularity"),
        ("popularity.pareto = 1", "popularity.pareto"),
        ("popularity = { normal_percent = 5, center_percent = 101 }", "popularity.center_percent"),
        ("popularity.zipf = 1\nranges_percent = [[0, 1], [5, 6]]", "popularity"),
        ("popularity.zipf = 1\nstride.span_kib = 8", "stride"),
        ("stride.span_kib = 0", "stride.span_kib"),
        ("stride = { span_kib = 8, transfer_kib = inf }", "stride.transfer_kib"),
        ("stride = { span_kib = 8, skip_kib = -1 }", "stride.skip_kib"),
        ("queue_depth = 2", "queue_depth"),
    ] {
        let text =
            format!("requests = 1\n[[stream]]\nread_fraction = 1\nsize.fixed_kib = 4\n{open}\n{rest}\n");
        let problem = WorkloadSpec::from_toml("test", &text).unwrap_err().to_string();
        assert!(problem.contains(&format!("`stream.0.{key}`")), "{rest}: {problem}");
    }
    let closed = "requests = 1\n[[stream]]\nread_fraction = 1\nsize.fixed_kib = 4\nthink.constant_ms = 0\n";
    for (rest, key) in
        [("queue_depth = 0", "queue_depth"), ("queue_depth = 2000\nusers = 2000", "queue_depth")]
    {
        let problem = WorkloadSpec::from_toml("test", &format!("{closed}{rest}\n")).unwrap_err().to_string();
        assert!(problem.contains(&format!("`stream.0.{key}`")), "{rest}: {problem}");
    }
}
