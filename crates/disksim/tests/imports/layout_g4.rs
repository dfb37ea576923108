//! Layouts of the fourth generation: every block is where the tree says.

use crate::common::g4::{Lists, Place, length, small};
use headstack_drive::layout::Layout;
use headstack_drive::spec::{DriveSpec, ProvenanceKind};

fn place(layout: &Layout, lba: u64) -> Place {
    let place = layout.locate(lba);
    (place.cylinder, place.head, place.slot, place.slots)
}

fn same_places(layout: &Layout, places: &[Place]) {
    assert_eq!(layout.capacity(), places.len() as u64);
    for (lba, &expected) in (0_u64..).zip(places) {
        assert_eq!(place(layout, lba), expected, "block {lba}");
        assert_eq!(layout.lba_at(expected.0, expected.1, expected.2), Some(lba));
    }
}

#[test]
fn every_block_is_where_the_tree_leads() {
    let drive = small().files().import().unwrap();
    let layout = Layout::new(&drive.spec.layout);
    // By hand: 7 is remapped; 100 to 102 are on the spare track.
    for (lba, expected) in [
        (0, (0, 0, 0, 20)),
        (5, (0, 0, 7, 20)),
        (7, (11, 0, 9, 10)),
        (18, (1, 0, 0, 20)),
        (58, (2, 1, 0, 20)),
        (102, (12, 0, 6, 10)),
        (117, (0, 1, 19, 20)),
        (118, (3, 0, 0, 20)),
        (238, (6, 0, 1, 10)),
        (248, (7, 0, 4, 10)),
        (253, (7, 1, 1, 10)),
        (332, (10, 1, 8, 10)),
    ] {
        assert_eq!(place(&layout, lba), expected, "block {lba}");
    }
    same_places(&layout, &small().places().unwrap());
    assert_eq!((drive.spec.layout.run.len(), layout.zones().count(), layout.cylinders()), (11, 2, 14));
    assert!(layout.zones().map(|zone| zone.sectors).eq([238, 95]));
}

#[test]
fn what_the_file_does_not_tell_is_said() {
    let drive = small().files().import().unwrap();
    let warned = |words: &str| drive.report.warnings.iter().any(|warning| warning.message.contains(words));
    assert!(warned("do not tell heads and skews"), "{:?}", drive.report.warnings);
    assert_eq!(drive.spec.provenance_of("layout.run").unwrap().kind, ProvenanceKind::Assumed);
    assert_eq!(drive.spec.provenance_of("layout.heads").unwrap().kind, ProvenanceKind::Measured);
    for name in ["TP", "IDX", "Slips", "Remaps", "Block count"] {
        assert!(drive.report.carried.iter().any(|carried| carried.parameter == name), "{name}");
    }
    let again = DriveSpec::from_toml("small", &drive.to_toml()).unwrap();
    assert_eq!(again, drive.spec);
}

#[test]
fn child_types_may_be_names_or_numbers_of_either_meaning() {
    let places = small().places().unwrap();
    for (pattern, node) in [("TP", "IDX"), ("0", "1")] {
        let mut text = small().model();
        for (from, to) in [(", 1, 0,\n", "P0"), (", 1, 1,\n", "P1"), (", 0, 0,\n", "N0"), (", 0, 1,\n", "N1")]
        {
            assert!(text.contains(from));
            text = text.replace(from, &format!(", {to},\n"));
        }
        for (from, kind) in [("P", pattern), ("N", node)] {
            for child in ["0", "1"] {
                text = text.replace(&format!(", {from}{child},\n"), &format!(", {kind}, {child},\n"));
            }
        }
        let files = small().files();
        files.write("small.model", &text);
        let drive = files.import().unwrap();
        same_places(&Layout::new(&drive.spec.layout), &places);
        let reading = drive.report.carried.iter().find(|carried| carried.parameter == "IDX").unwrap();
        assert_eq!(reading.to.contains("0 being TP"), pattern == "0", "{}", reading.to);
    }
}

/// The small drive in rows of eleven and ten columns, its heads the other way round; lengths of an instance and of all may
/// stand in either order.
fn wide_model(all_first: bool) -> String {
    let row = |(index, &[lbn, cylinder, all, cylinders, one, step, kind, child]): (usize, &[i64; 8])| {
        let (a, b) =
            if all_first { ([all, cylinders], [one, step]) } else { ([one, step], [all, cylinders]) };
        let [[len, cyllen], [runlen, cylrunlen]] = [a, b];
        let child =
            if kind == 1 { format!("TRACK, {child}, {}", 1 - index % 2) } else { format!("IDX, {child}") };
        format!("{lbn}, {cylinder}, 0.25, {len}, {cyllen}, 0.05, {runlen}, {cylrunlen}, {child},\n")
    };
    let node =
        |node: &Vec<[i64; 8]>| format!("[\n{}],\n", node.iter().enumerate().map(row).collect::<String>());
    let (model, nodes) = (small().model(), small().nodes.iter().map(node).collect::<String>());
    let (from, to) = (model.find("IDX = [").unwrap(), model.find("Slips = [").unwrap());
    format!("{}IDX = [\n{nodes}],\n{}", &model[..from], &model[to..])
}

#[test]
fn rows_of_eleven_columns_tell_the_head() {
    let mut places = small().places().unwrap();
    let remapped: Vec<u64> =
        small().remaps.iter().flat_map(|&[lba, count, ..]| lba as u64..(lba + count) as u64).collect();
    for (lba, (_, head, ..)) in (0_u64..).zip(&mut places).filter(|(lba, _)| !remapped.contains(lba)) {
        assert!(*head < 2, "block {lba}");
        *head = 1 - *head;
    }
    for all_first in [false, true] {
        let files = small().files();
        files.write("small.model", &wide_model(all_first));
        let drive = files.import().unwrap();
        same_places(&Layout::new(&drive.spec.layout), &places);
        let warned =
            |words: &str| drive.report.warnings.iter().any(|warning| warning.message.contains(words));
        assert!(warned("do not tell skews") && warned("angles (columns off and alen) are left out"));
    }
}

#[test]
fn rows_of_eleven_columns_that_cannot_be() {
    for (from, to, says) in [
        ("TRACK, 0, 1,", "TRACK, 0, 7,", "head 7, but the drive has 2 surfaces"),
        ("TRACK, 1, 0,\n]", "TRACK, 1,\n]", "the row has 10 values, but rows of this form have 11"),
        ("IDX, 1,\n]", "TAP, 1, 0,\n]", "IDX, TP, 0 or 1"),
    ] {
        let text = wide_model(false);
        assert!(text.contains(from), "{from} in {text}");
        let files = small().files();
        files.write("small.model", &text.replacen(from, to, 1));
        let message = files.import().unwrap_err().to_string();
        assert!(message.contains(says), "{from}: {message}");
    }
}

#[test]
fn skews_count_where_a_file_has_them() {
    let lists = Lists { more: ",\nTrack skew = 2,\nCylinder skew = 5".to_owned(), ..small() };
    let drive = lists.files().import().unwrap();
    let layout = Layout::new(&drive.spec.layout);
    let turns = |lba: u64| layout.locate(lba - u64::from(layout.locate(lba).slot)).start.as_turns();
    // Two changes of cylinder and one of head, in twentieths of a turn.
    for (lba, expected) in [(38, 10.0), (58, 12.0), (78, 17.0)] {
        assert!((turns(lba) - expected / 20.0).abs() < 1e-12, "block {lba} begins at {}", turns(lba));
    }
    // Twelve tracks of 20 sectors (two groups of four changes of cylinder and one of head, and the change between them,
    // two cylinders on), then tenths.
    let first = 9.0_f64.mul_add(5.0, 2.0 * 2.0) / 20.0 + 5.0 / 10.0;
    let start = layout.locate(238).start.as_turns() - 0.1;
    assert!(
        (start - first.fract()).abs() < 1e-12 || (start + 1.0 - first.fract()).abs() < 1e-12,
        "{start} {first}"
    );
    assert!(drive.report.warnings.iter().any(|warning| warning.message.contains("do not tell heads:")));
}

#[test]
fn tracks_of_one_cylinder_are_on_one_head_after_the_other() {
    let mut lists = small();
    (lists.heads, lists.cylinders, lists.blocks) = (4, 10, 800);
    // Four tracks in place, ten times.
    lists.nodes = vec![vec![[0, 0, 80, 1, 20, 0, 1, 0]], vec![[0, 0, 800, 10, 80, 1, 0, 0]]];
    (lists.slips, lists.remaps) = (vec![], vec![]);
    let drive = lists.files().import().unwrap();
    let layout = Layout::new(&drive.spec.layout);
    same_places(&layout, &lists.places().unwrap());
    assert_eq!((place(&layout, 60), place(&layout, 80)), ((0, 3, 0, 20), (1, 0, 0, 20)));
    assert_eq!((layout.cylinder_end(5), layout.cylinder_end(80)), (80, 160));
}

/// A generator of numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % bound
    }
}

/// A tree whose children stand before their parents, around cylinder 30.
fn any_tree(random: &mut Random) -> Lists {
    let mut lists = Lists { heads: 3, cylinders: 60, slips: vec![], remaps: vec![], ..small() };
    let pattern = |random: &mut Random| {
        let slots = 1 + random.below(9);
        let low = random.below(slots);
        [low, low + random.below(slots - low), slots]
    };
    lists.patterns = (0..=random.below(3)).map(|_| pattern(random)).collect();
    lists.nodes = vec![];
    let depth = 1 + random.below(3);
    for number in 0..depth {
        let mut node: Vec<[i64; 8]> = Vec::new();
        for _ in 0..=random.below(3) {
            let is_pattern = number == 0 || random.below(2) == 0;
            let child = random.below(if is_pattern { lists.patterns.len() as i64 } else { number });
            let each = if is_pattern {
                let [low, high, _] = lists.patterns[child as usize];
                high - low + 1
            } else {
                length(&lists.nodes[child as usize])
            };
            let count = 1 + random.below(4);
            let cylinder = random.below(9) - 4 + if number + 1 == depth { 30 } else { 0 };
            let step = random.below(5) - 2;
            let kind = i64::from(is_pattern);
            node.push([length(&node), cylinder, count * each, 0, each, step, kind, child]);
        }
        lists.nodes.push(node);
    }
    lists.blocks = length(lists.nodes.last().unwrap()) as u64;
    if random.below(2) == 0 && lists.blocks > 4 {
        lists.slips = vec![[random.below(lists.blocks as i64 - 2), 2]];
        lists.blocks -= 2;
    }
    lists
}

#[test]
fn any_tree_leads_where_its_descent_leads() {
    let mut random = Random(7);
    let (mut sound, mut refused) = (0, 0);
    while sound < 200 {
        let lists = any_tree(&mut random);
        match (lists.files().import(), lists.places()) {
            (Ok(drive), Some(places)) => {
                same_places(&Layout::new(&drive.spec.layout), &places);
                sound += 1;
            }
            (Err(error), None) => {
                assert!(error.message.contains("has more than 3 tracks on cylinder"), "{error}");
                refused += 1;
            }
            (drive, places) => panic!("{lists:?}: {drive:?}, but {places:?}"),
        }
    }
    assert!(refused > 10, "{refused}");
}

/// What a change of the small drive's lists is refused with: line in the model, then the words.
#[track_caller]
fn refuses(change: impl Fn(&mut Lists), line_of: &str, words: &[&str]) {
    let mut lists = small();
    change(&mut lists);
    let model = lists.model();
    let line = model.lines().position(|line| line.trim_start().starts_with(line_of)).expect(line_of) + 1;
    let message = lists.files().refused();
    assert!(message.starts_with(&format!("small.model:{line} ")), "line {line}: {message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing: {message}");
    }
}

#[test]
fn trees_that_cannot_be() {
    refuses(|lists| lists.nodes[2][0][4] = 60, "0, 0, 240", &["60 LBNs per instance", "node 0 has 120"]);
    refuses(
        |lists| lists.nodes = vec![vec![[0, 0, 30, 1, 30, 1, 0, 1]], vec![[0, 0, 30, 1, 30, 1, 0, 0]]],
        "0, 0, 30, 1, 30, 1, 0, 1",
        &["node 1 contains itself"],
    );
    refuses(|lists| lists.nodes[0][0][4] = 0, "0, 0, 60", &["LBNs per instance", "between 1 and"]);
    refuses(|lists| lists.nodes[0][0][2] = 0, "0, 0, 0, 3", &["LBNs covered", "between 1 and"]);
    refuses(
        |lists| lists.nodes[0][0][2] = 61,
        "0, 0, 61",
        &["61 LBNs covered", "not a whole number", "20 LBNs"],
    );
    refuses(|lists| lists.nodes[0][1][0] = 61, "61, 2", &["begins at LBN 61", "cover 60"]);
    refuses(|lists| lists.nodes[0][1][7] = 2, "60, 2", &["track pattern 2", "2 patterns and 3 nodes"]);
    refuses(|lists| lists.nodes[0][1][6] = 2, "60, 2", &["child type", "`2`", "IDX, TP, 0 or 1"]);
    refuses(|lists| lists.patterns[1] = [1, 10, 10], "1, 10, 10", &["sectors 1 to 10", "a track of 10"]);
    refuses(|lists| lists.patterns[1] = [9, 8, 10], "9, 8, 10", &["sectors 9 to 8"]);
    refuses(
        |lists| lists.blocks = 334,
        "Block count",
        &["334", "336 LBNs", "3 are slipped: 333", "--lenient"],
    );
    refuses(|lists| lists.nodes[2][0][1] = -1, "0, 0, 60", &["cylinder -1", "14 cylinders"]);
    refuses(|lists| lists.nodes[2][1][1] = 5, "0, 0, 16", &["more than 2 tracks on cylinder 5"]);
    refuses(|lists| lists.cylinders = 11, "0, 0, 16", &["cylinder 11", "11 cylinders"]);
}

#[test]
fn trees_without_anything() {
    for (empty, words) in [("nodes", "no node, so no root"), ("node", "the node has no entries")] {
        let mut lists = small();
        if empty == "nodes" {
            lists.nodes.clear();
        } else {
            lists.nodes[1].clear();
        }
        let message = lists.files().refused();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn lists_that_end_in_a_row() {
    let model = small().model();
    for (from, to, words) in [
        ("1, 8, 10,\n", "1, 8,\n", "5 values, but they come in groups of 3: low sector"),
        ("5, 2,\n", "5,\n", "3 values, but they come in groups of 2: offset"),
        ("60, 2, 60, 3, 20, -1, 1, 0,", "60, 2, 60, 3,", "12 values, but they come in groups of 8"),
        ("12, 0, 4, 10,", "12, 0, 4,", "11 values, but they come in groups of 6"),
    ] {
        let files = small().files();
        files.write("small.model", &model.replacen(from, to, 1));
        let message = files.refused();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn defects_that_cannot_be() {
    refuses(|lists| lists.slips[1] = [335, 2], "335, 2", &["2 slips from 335 on", "336 LBNs"]);
    refuses(|lists| lists.slips[1] = [6, 1], "6, 1", &["overlap"]);
    refuses(|lists| lists.remaps[0][0] = 333, "333, 1", &["beyond the drive's 333"]);
    refuses(|lists| lists.remaps[0][0] = 101, "100, 3", &["LBN 101", "second time"]);
    refuses(|lists| lists.remaps[0][5] = 12, "7, 1", &["12 sectors", "it has 10"]);
    refuses(|lists| lists.remaps[0][3] = 2, "7, 1", &["Remaps: head", "between 0 and 1"]);
    refuses(|lists| lists.remaps[1][4] = 8, "100, 3", &["3 sectors from sector 8", "track of 10"]);
}

#[test]
fn what_is_doubtful_goes_on_leniently() {
    for (blocks, capacity) in [(300, 300), (400, 333)] {
        let drive = Lists { blocks, ..small() }.files().import_leniently().unwrap();
        assert_eq!(Layout::new(&drive.spec.layout).capacity(), capacity);
    }
    let mut lists = small();
    lists.remaps[0] = [7, 1, 11, 0, 5, 10];
    let drive = lists.files().import().unwrap();
    assert!(drive.report.warnings.iter().any(|warning| warning.message.contains("where others live")));
}

#[test]
fn too_many_runs_are_refused() {
    let mut lists = small();
    (lists.heads, lists.cylinders) = (3, 90_000);
    lists.nodes = vec![vec![[0, 0, 60, 1, 20, 0, 1, 0]], vec![[0, 0, 5_400_000, 1, 60, 1, 0, 0]]];
    (lists.slips, lists.remaps, lists.blocks) = (vec![], vec![], 5_400_000);
    let message = lists.files().refused();
    assert!(message.contains("more than 100000 runs"), "{message}");
}

/// Any damage and any cut is an error or another drive; a panic fails the test.
#[test]
fn no_damage_is_too_strange() {
    let model = small().model();
    let files = small().files();
    let end = model.rfind('}').unwrap();
    for cut in 0..=end {
        files.write("small.model", &model[..cut]);
        assert!(files.import().is_err(), "cut at {cut}");
    }
    let mut random = Random(3);
    let strange = ["0", "1", "9", "-", ",", "\n", "[", "]", "TP", " ", "99999999"];
    let mut sound = 0;
    for round in 0..500 {
        let mut text = model.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len() as i64 - 2) as usize;
            let with = strange[random.below(strange.len() as i64) as usize];
            text.replace_range(at..at + random.below(2) as usize, with);
        }
        files.write("small.model", &text);
        let drive = if round % 2 == 0 { files.import() } else { files.import_leniently() };
        sound += u32::from(drive.is_ok());
    }
    assert!(sound > 20, "{sound}");
}
