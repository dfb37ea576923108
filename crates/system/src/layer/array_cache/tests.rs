//! Controllers' caches by themselves, and what they are made of.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::ranges::Ranges;
use super::recency::Recency;

proptest! {
    /// Ranges are a set of sectors.
    #[test]
    fn ranges_are_a_set_of_sectors(steps in prop::collection::vec((any::<bool>(), 0_u64..60, 1_u64..12), 1..60)) {
        let (mut ranges, mut naive) = (Ranges::default(), BTreeSet::new());
        for (is_insert, start, count) in steps {
            let range = start..start + count;
            if is_insert {
                ranges.insert(range.clone());
                naive.extend(range.clone());
            } else {
                ranges.remove(&range);
                naive.retain(|sector| !range.contains(sector));
            }
            prop_assert_eq!(ranges.count(), naive.len() as u64);
            for start in 0..72 {
                let held = (start..start + 3).all(|sector| naive.contains(&sector));
                prop_assert_eq!(ranges.contains(&(start..start + 3)), held);
            }
            let first = naive.first().map(|&first| first..(first..first + 10_000).find(|at| !naive.contains(at)).unwrap());
            prop_assert_eq!(ranges.first(), first);
        }
    }
}

fn in_order(recency: &Recency) -> Vec<u64> {
    recency.oldest().collect()
}

/// Four lines of eight in the upper segment. What is used twice is there when a hundred others have come and gone.
#[test]
fn what_is_used_again_outlives_what_is_used_once() {
    let survivors = |shares: &[f64]| {
        let mut recency = Recency::new(8, shares);
        let give_way = |recency: &mut Recency| {
            while in_order(recency).len() > 8 {
                let oldest = recency.oldest().next().unwrap();
                recency.forget(oldest);
            }
        };
        for number in [1, 2, 3, 1, 2, 3].into_iter().chain(100..200) {
            recency.touch(number);
            give_way(&mut recency);
        }
        in_order(&recency)
    };
    assert_eq!(survivors(&[]), [192, 193, 194, 195, 196, 197, 198, 199]);
    assert_eq!(survivors(&[0.5, 0.5]), [195, 196, 197, 198, 199, 1, 2, 3]);
}

/// Ten lines, two of them in the middle segment and one in the upper.
#[test]
fn what_a_segment_has_too_much_of_falls_into_the_one_below() {
    let mut recency = Recency::new(10, &[0.7, 0.2, 0.1]);
    for number in [1, 2, 3] {
        recency.touch(number);
    }
    // Into the middle one.
    for number in [1, 2] {
        recency.touch(number);
    }
    assert_eq!(in_order(&recency), [3, 1, 2]);
    // The third there is one too many: the first falls back, behind what is below.
    recency.touch(3);
    recency.touch(4);
    assert_eq!(in_order(&recency), [1, 4, 2, 3]);
    // Into the upper one, from which the next that comes sends it down.
    recency.touch(2);
    assert_eq!(in_order(&recency), [1, 4, 3, 2]);
    recency.touch(3);
    assert_eq!(in_order(&recency), [1, 4, 2, 3]);
    // In the upper one already: it stays.
    recency.touch(3);
    recency.forget(4);
    assert_eq!(in_order(&recency), [1, 2, 3]);
}

proptest! {
    /// Lists, each with the least recently used first.
    #[test]
    fn segments_are_lists(
        shares in prop::collection::vec(0.05..1.0_f64, 1..5),
        steps in prop::collection::vec((any::<bool>(), 0_u64..12), 1..120),
    ) {
        let mut recency = Recency::new(8, &shares);
        let mut naive: Vec<Vec<u64>> = vec![Vec::new(); shares.len()];
        for (is_touch, number) in steps {
            let stood = naive.iter().position(|segment| segment.contains(&number));
            for segment in &mut naive {
                segment.retain(|other| *other != number);
            }
            if is_touch {
                recency.touch(number);
                let top = naive.len() - 1;
                naive[stood.map_or(0, |at| top.min(at + 1))].push(number);
                for above in (1..naive.len()).rev() {
                    while naive[above].len() > ((shares[above] * 8.0).round() as usize).max(1) {
                        let oldest = naive[above].remove(0);
                        naive[above - 1].push(oldest);
                    }
                }
            } else {
                recency.forget(number);
            }
            prop_assert_eq!(in_order(&recency), naive.concat());
        }
    }
}
