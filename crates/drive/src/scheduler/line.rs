//! Waiting commands in line, by two numbers.

use super::waiting::Slot;
use std::collections::BTreeMap;

/// So many lie in a list; a tree pays for more.
const FEW: usize = 32;

/// Where a command stands: the first number decides, the second among equals.
pub(super) type Key = (u64, u64);

/// Commands by key, which no two of them share. Mostly few wait: they lie in a sorted list, and in a tree while there are many.
#[derive(Clone, Debug)]
pub(super) enum Line {
    Few(Vec<(Key, Slot)>),
    Many(BTreeMap<Key, Slot>),
}

impl Default for Line {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Line {
    pub(super) fn insert(&mut self, key: Key, slot: Slot) {
        match self {
            Self::Few(list) => {
                list.insert(place(list, key), (key, slot));
                if list.len() > FEW {
                    *self = Self::Many(list.drain(..).collect());
                }
            }
            Self::Many(tree) => {
                tree.insert(key, slot);
            }
        }
    }

    /// Takes the command at `key` out, if there is one.
    pub(super) fn remove(&mut self, key: Key) {
        match self {
            Self::Few(list) => {
                let place = place(list, key);
                if list.get(place).is_some_and(|&(found, _)| found == key) {
                    list.remove(place);
                }
            }
            Self::Many(tree) => {
                tree.remove(&key);
                // Not at once: a line about as long as a list can be would change again and again.
                if tree.len() <= FEW / 2 {
                    *self = Self::Few(std::mem::take(tree).into_iter().collect());
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(list) => list.len(),
            Self::Many(tree) => tree.len(),
        }
    }

    /// The first of all.
    pub(super) fn first(&self) -> Option<(Key, Slot)> {
        match self {
            Self::Few(list) => list.first().copied(),
            Self::Many(tree) => tree.first_key_value().map(|(&key, &slot)| (key, slot)),
        }
    }

    /// The first at `key` or behind it.
    pub(super) fn from(&self, key: Key) -> Option<(Key, Slot)> {
        match self {
            Self::Few(list) => list.get(place(list, key)).copied(),
            Self::Many(tree) => tree.range(key..).next().map(|(&key, &slot)| (key, slot)),
        }
    }

    /// The last before `key`.
    pub(super) fn before(&self, key: Key) -> Option<(Key, Slot)> {
        match self {
            Self::Few(list) => place(list, key).checked_sub(1).map(|place| list[place]),
            Self::Many(tree) => tree.range(..key).next_back().map(|(&key, &slot)| (key, slot)),
        }
    }
}

/// Where the first command stands at `key` or behind it.
fn place(list: &[(Key, Slot)], key: Key) -> usize {
    list.partition_point(|&(other, _)| other < key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::btree_map::Entry;

    proptest! {
        #[test]
        fn it_equals_a_tree_however_many_wait(
            steps in prop::collection::vec((0..10, 0_u64..12, 0_u64..12), 0..400),
            from in (0_u64..13, 0_u64..13),
        ) {
            let (mut line, mut tree) = (Line::default(), BTreeMap::new());
            let pair = |(&key, &slot): (&Key, &Slot)| (key, slot);
            for (number, (chance, first, second)) in (0..).zip(steps) {
                let key = (first, second);
                // First most come, then most go.
                let comes = if number < 150 { chance < 8 } else { chance < 2 };
                if !comes {
                    line.remove(key);
                    tree.remove(&key);
                } else if let Entry::Vacant(entry) = tree.entry(key) {
                    line.insert(key, number);
                    entry.insert(number);
                }
                prop_assert_eq!(line.len(), tree.len());
                prop_assert_eq!(line.first(), tree.first_key_value().map(pair));
                prop_assert_eq!(line.from(from), tree.range(from..).next().map(pair));
                prop_assert_eq!(line.before(from), tree.range(..from).next_back().map(pair));
            }
        }
    }
}
