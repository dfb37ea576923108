//! Controllers' caches by themselves, and what they are made of.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::ranges::Ranges;

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
