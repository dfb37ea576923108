//! The buffer cache against its twin, and what always holds.

use headstack_units::Lba;
use proptest::prelude::*;

use super::twin::{Twin, Wish, instant};
use super::*;

const BLOCK_SECTORS: u32 = 2;

fn spec(blocks: u32) -> BufferCacheSpec {
    BufferCacheSpec {
        blocks,
        block_kib: 1.0,
        cluster_blocks: 1,
        write_policy: CacheWritePolicy::WriteBack,
        sync_every_s: None,
        sync_order: SyncOrder::Lru,
        trickle_every_s: None,
        trickle_blocks: Some(2),
        dirty_limit_blocks: None,
        copy_us_per_kib: 0.0,
    }
}

/// What happens to a cache.
#[derive(Clone, Copy, Debug)]
enum Step {
    Call {
        device: u32,
        lba: u64,
        sectors: u32,
        is_write: bool,
        is_forced: bool,
    },
    /// One of the transfers under way ends.
    Complete(usize),
    Sync,
    Trickle,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let call = (0..2_u32, 0..24_u64, 1..9_u32, any::<bool>(), prop::bool::weighted(0.15)).prop_map(
        |(device, lba, sectors, is_write, is_forced)| Step::Call {
            device,
            lba,
            sectors,
            is_write,
            is_forced,
        },
    );
    let step = prop_oneof![
        8 => call,
        10 => any::<usize>().prop_map(Step::Complete),
        1 => Just(Step::Sync),
        1 => Just(Step::Trickle),
    ];
    prop::collection::vec(step, 1..160)
}

fn specs() -> impl Strategy<Value = BufferCacheSpec> {
    let order = prop_oneof![Just(SyncOrder::Lru), Just(SyncOrder::Buffer), Just(SyncOrder::Address)];
    (1..12_u32, 1..5_u32, order, prop::bool::weighted(0.2), prop::option::of(0..6_u32)).prop_map(
        |(blocks, cluster_blocks, sync_order, is_through, dirty_limit_blocks)| BufferCacheSpec {
            cluster_blocks,
            sync_order,
            dirty_limit_blocks,
            write_policy: if is_through {
                CacheWritePolicy::WriteThrough
            } else {
                CacheWritePolicy::WriteBack
            },
            ..spec(blocks)
        },
    )
}

/// A cache, its twin, and the transfers under way.
struct Pair {
    cache: BufferCache,
    twin: Twin,
    capacity: usize,
    under_way: Vec<usize>,
    /// The cache's numbers of calls, with the twin's.
    calls: Vec<(usize, usize)>,
    made: usize,
    effects: Vec<Effect>,
}

impl Pair {
    fn new(spec: &BufferCacheSpec) -> Self {
        Self {
            cache: BufferCache::new(spec, BLOCK_SECTORS),
            twin: Twin::new(spec, u64::from(BLOCK_SECTORS)),
            capacity: spec.blocks as usize,
            under_way: Vec::new(),
            calls: Vec::new(),
            made: 0,
            effects: Vec::new(),
        }
    }

    fn step(&mut self, at: usize, step: Step) {
        let now = instant(at);
        match step {
            Step::Call { device, lba, sectors, is_write, is_forced } => {
                let op = if is_write { Op::Write } else { Op::Read };
                let flags = if is_forced { RequestFlags::FORCE_MEDIA } else { RequestFlags::default() };
                let call = Call { device, lba: Lba(lba), sectors, op, flags };
                let number = self.cache.call(now, call, &mut self.effects);
                self.calls.push((number, self.made));
                self.made += 1;
                self.twin.call(call);
            }
            Step::Complete(which) => {
                if self.under_way.is_empty() {
                    return;
                }
                let number = self.under_way.remove(which % self.under_way.len());
                let Transfer { first, blocks, op, .. } = *self.cache.transfer(number);
                self.cache.completed(now, number, &mut self.effects);
                self.twin.complete(first, blocks, op);
            }
            Step::Sync => {
                self.cache.sync(&mut self.effects);
                self.twin.sync();
            }
            Step::Trickle => {
                self.cache.trickle(&mut self.effects);
                self.twin.trickle();
            }
        }
        self.compare();
    }

    fn compare(&mut self) {
        let mut found = Vec::new();
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Queue(number) => {
                    let Transfer { first, blocks, op, origin, .. } = *self.cache.transfer(number);
                    let apart = |other: &usize| {
                        let other = self.cache.transfer(*other);
                        other.first.0 != first.0
                            || other.first.1 + u64::from(other.blocks) <= first.1
                            || first.1 + u64::from(blocks) <= other.first.1
                    };
                    assert!(self.under_way.iter().all(apart), "two transfers of a block at a time");
                    self.under_way.push(number);
                    found.push(Wish::Queue { first, blocks, op, origin });
                }
                Effect::Ready { call, .. } => {
                    let at = self.calls.iter().position(|(known, _)| *known == call).unwrap();
                    found.push(Wish::Ready { call: self.calls.remove(at).1 });
                }
            }
        }
        assert_eq!(found, std::mem::take(&mut self.twin.wishes));
        let (counts, dirty, _) = self.cache.counts();
        assert_eq!(dirty, self.twin.dirty().len() as u64);
        assert!(self.twin.len() <= self.capacity);
        // What became dirty was written once, or is dirty still.
        assert_eq!(counts.dirtied, counts.written.iter().sum::<u64>() + dirty);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_cache_does_what_its_twin_does(spec in specs(), steps in steps()) {
        let mut pair = Pair::new(&spec);
        for (at, &step) in steps.iter().enumerate() {
            pair.step(at, step);
        }
        // Every call is ready once every transfer has ended.
        for at in steps.len()..steps.len() + 10_000 {
            if pair.under_way.is_empty() {
                break;
            }
            pair.step(at, Step::Complete(0));
        }
        prop_assert!(pair.calls.is_empty() && pair.under_way.is_empty());
        pair.step(steps.len() + 10_000, Step::Sync);
        prop_assert!(pair.twin.dirty().is_empty());
    }
}

fn call(op: Op, lba: u64, sectors: u32) -> Call {
    Call { device: 0, lba: Lba(lba), sectors, op, flags: RequestFlags::default() }
}

fn queued(cache: &BufferCache, effects: &[Effect]) -> Vec<(Op, u64, u32, Origin)> {
    let transfer = |effect: &Effect| match effect {
        Effect::Queue(number) => {
            let Transfer { first, blocks, op, origin, .. } = *cache.transfer(*number);
            Some((op, first.1, blocks, origin))
        }
        Effect::Ready { .. } => None,
    };
    effects.iter().filter_map(transfer).collect()
}

#[test]
fn whole_blocks_are_written_unread_and_parts_are_read_first() {
    let mut cache = BufferCache::new(&spec(8), BLOCK_SECTORS);
    let mut effects = Vec::new();
    let number = cache.call(Nanos(1), call(Op::Write, 4, 4), &mut effects);
    assert_eq!(effects, [Effect::Ready { call: number, by_transfer: false }]);
    effects.clear();
    let number = cache.call(Nanos(2), call(Op::Write, 9, 2), &mut effects);
    assert_eq!(queued(&cache, &effects), [(Op::Read, 4, 1, Origin::Fetch), (Op::Read, 5, 1, Origin::Fetch)]);
    let transfers: Vec<Effect> = std::mem::take(&mut effects);
    for (at, transfer) in transfers.iter().enumerate() {
        let Effect::Queue(transfer) = transfer else { panic!("{transfer:?}") };
        cache.completed(Nanos(3 + at as u64), *transfer, &mut effects);
    }
    assert_eq!(effects, [Effect::Ready { call: number, by_transfer: true }]);
    effects.clear();
    cache.sync(&mut effects);
    let blocks: Vec<u64> = queued(&cache, &effects).iter().map(|(_, block, ..)| *block).collect();
    assert_eq!(blocks, [2, 3, 4, 5]);
    let Effect::Queue(last) = effects[3] else { panic!("{effects:?}") };
    effects.clear();
    cache.completed(Nanos(40), last, &mut effects);
    let (counts, dirty, writing) = cache.counts();
    assert_eq!((dirty, writing, counts.longest_dirty, counts.most_dirty), (0, 3, Nanos(36), 4));
}

#[test]
fn dirty_blocks_in_the_way_are_written_and_the_first_clean_one_goes() {
    let mut cache = BufferCache::new(&spec(3), BLOCK_SECTORS);
    let mut effects = Vec::new();
    cache.call(Nanos(1), call(Op::Write, 0, 4), &mut effects);
    cache.call(Nanos(2), call(Op::Read, 4, 2), &mut effects);
    let Effect::Queue(fetch) = effects[1] else { panic!("{effects:?}") };
    cache.completed(Nanos(3), fetch, &mut effects);
    effects.clear();
    cache.call(Nanos(4), call(Op::Read, 6, 2), &mut effects);
    let expected = [
        (Op::Write, 0, 1, Origin::Eviction),
        (Op::Write, 1, 1, Origin::Eviction),
        (Op::Read, 3, 1, Origin::Fetch),
    ];
    assert_eq!(queued(&cache, &effects), expected);
    // All three have a transfer under way now: there is no room.
    cache.call(Nanos(5), call(Op::Read, 8, 2), &mut effects);
    assert_eq!((queued(&cache, &effects).len(), cache.counts().0.room_waits), (3, 1));
    let Effect::Queue(write) = effects[0] else { panic!("{effects:?}") };
    effects.clear();
    cache.completed(Nanos(6), write, &mut effects);
    assert_eq!(queued(&cache, &effects), [(Op::Read, 4, 1, Origin::Fetch)]);
}
