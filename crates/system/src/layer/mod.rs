//! Layers: what stands between a host's requests and the drives' commands.
//!
//! A layer is told when a request comes in, when one of its sub-requests is complete, and when a timer it set has gone off;
//! it answers with [`Effect`]s: sub-requests to what lies below, the completion of a request, a timer. It knows no clock
//! and no calendar. Layers stack: what one sends goes to a drive, or to another layer.
//!
//! A layer is a file in this folder and a line in the list below.

mod array;
mod array_cache;
pub(crate) mod buffer_cache;
mod concatenation;
mod flush_first;
mod mirror;
mod parity;
mod read_choice;
mod striped_mirror;
mod stripes;
mod striping;
#[cfg(test)]
pub(crate) mod testing;
mod unit_map;

use headstack_drive::command::Command;
use headstack_trace::Request;
use headstack_units::{Lba, Nanos, Op, RequestFlags};

pub(crate) use array::{Intake, Loss, MARKS, Record, Repair};
pub(crate) use unit_map::{UnitMap, UnitPart, UnitRange};

pub(crate) use array_cache::{ArrayCache, Counts as ArrayCacheCounts, Parts as ArrayCacheParts};
pub use buffer_cache::Origin;
pub(crate) use flush_first::FlushFirst;

use crate::SystemError;
use crate::spec::ArrayOptions;
use buffer_cache::BufferCacheLayer;
use concatenation::Concatenation;
use mirror::Mirror;
use parity::Parity;
use striped_mirror::StripedMirror;
use stripes::Span;
use striping::Striping;
#[cfg(test)]
use testing::{Phased, Stripe};

/// A request as a layer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Names it until it is done.
    pub(crate) number: usize,
    pub(crate) device: u32,
    pub(crate) op: Op,
    pub(crate) lba: Lba,
    pub(crate) sectors: u32,
    pub(crate) flags: RequestFlags,
}

impl Call {
    /// A request under a number.
    #[inline]
    pub(crate) fn new(number: usize, request: &Request) -> Self {
        let &Request { device, op, lba, sectors, flags, .. } = request;
        Self { number, device, op, lba, sectors, flags }
    }

    /// The same of one unit.
    #[inline]
    pub(crate) fn send(&self, range: UnitRange) -> Effect {
        let &Self { number, op, flags, .. } = self;
        let UnitRange { unit, lba, sectors } = range;
        Effect::Send {
            call: Some(number),
            tag: 0,
            to: Target::Unit(unit),
            piece: Piece { op, lba, sectors, flags, background: false },
        }
    }

    /// A flush of one unit. It neither overtakes what waits nor is overtaken.
    pub(crate) fn flush(&self, unit: usize, tag: usize) -> Effect {
        let flags = RequestFlags::FLUSH;
        let piece = Piece { op: Op::Write, lba: Lba(0), sectors: 0, flags, background: false };
        Effect::Send { call: Some(self.number), tag, to: Target::Unit(unit), piece }
    }

    /// The same of sectors of one drive of an array; how many commands that takes.
    pub(crate) fn send_span(&self, drives: &[UnitMap], span: Span, effects: &mut Vec<Effect>) -> u32 {
        self.send_tagged(drives, span, 0, effects)
    }

    /// As [`Call::send_span`], under a tag.
    pub(crate) fn send_tagged(
        &self,
        drives: &[UnitMap],
        Span { drive, from, to }: Span,
        name: usize,
        effects: &mut Vec<Effect>,
    ) -> u32 {
        let before = effects.len();
        drives[drive].map(Lba(from), (to - from) as u32, |range| {
            let mut sent = self.send(range);
            if let Effect::Send { tag, .. } = &mut sent {
                *tag = name;
            }
            effects.push(sent);
        });
        (effects.len() - before) as u32
    }
}

/// What a sub-request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) op: Op,
    pub(crate) lba: Lba,
    pub(crate) sectors: u32,
    pub(crate) flags: RequestFlags,
    /// The driver lets it wait while others do.
    pub(crate) background: bool,
}

impl Piece {
    /// As a drive's command.
    #[inline]
    pub(crate) fn command(&self, id: u64) -> Command {
        let &Self { op, lba, sectors, flags, .. } = self;
        Command { id, op, lba, sectors, flags }
    }
}

/// Where a sub-request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a unit: an actuator of a drive.
    Unit(usize),
    /// To the layer of a volume: the driver has had it.
    Below(u32),
    /// Through the driver to the layer of a volume, and into the record of the driver's requests.
    Volume(u32, Origin),
}

/// What a layer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A sub-request.
    Send {
        /// The request it is part of. One sent on the completion of another of the same request continues its critical path.
        call: Option<usize>,
        /// Names it to the layer.
        tag: usize,
        to: Target,
        piece: Piece,
    },
    /// A request that came with [`Layer::call`] has waited in the driver's queue until now.
    Begin { call: usize },
    /// A request is complete.
    Done {
        call: usize,
        /// It was the sub-request just completed that it waited for last.
        by_child: bool,
        /// Copying its data takes so long yet.
        copy: Option<Nanos>,
    },
    /// [`Layer::timer`] is to be called.
    TimerAt { at: Nanos, tag: u32 },
}

/// A sub-request is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completed {
    /// As it was sent.
    pub(crate) call: Option<usize>,
    pub(crate) tag: usize,
    /// Sub-requests of the same request still on their way.
    pub(crate) left: u32,
}

impl Completed {
    /// Its request is complete with the last of its sub-requests.
    #[inline]
    pub(crate) fn done_with_all(&self) -> Option<Effect> {
        let call = self.call.filter(|_| self.left == 0)?;
        Some(Effect::Done { call, by_child: true, copy: None })
    }
}

/// What a layer may know of the units below.
pub(crate) trait Below {
    /// Commands in a unit's queue or at its drive.
    fn load(&self, unit: usize) -> u64;
    /// The sector after the last one of the last command handed to its drive, as the unit counts them.
    fn last_end(&self, unit: usize) -> u64;
}

/// Nothing is known of what lies below; for layers without state, which do not ask.
impl Below for () {
    fn load(&self, _unit: usize) -> u64 {
        0
    }

    fn last_end(&self, _unit: usize) -> u64 {
        0
    }
}

/// What every layer does.
pub(crate) trait Layer {
    /// The first timers of a run.
    fn start(&mut self, _effects: &mut Vec<Effect>) {}

    /// A request comes in.
    fn call(&mut self, now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>);

    /// A sub-request is complete.
    fn completed(&mut self, now: Nanos, child: &Completed, below: &dyn Below, effects: &mut Vec<Effect>);

    /// The instant of a timer has come.
    fn timer(&mut self, _now: Nanos, _tag: u32, _effects: &mut Vec<Effect>) {}
}

/// What a layer does that is a volume: one address space over units.
pub(crate) trait Volume: Layer + Sized {
    /// The keys of a system file that mean something to it.
    const TAKES: &'static [&'static str] = &[];

    /// Whether one of them means something to this one of its levels.
    fn takes(_level: &str, _key: &str) -> bool {
        true
    }

    /// What keeps a volume of a level from having so many drives and such options, if anything.
    fn check(level: &str, drives: usize, options: &ArrayOptions) -> Option<String>;

    /// A volume of its members.
    fn new(members: Members) -> Self;

    /// Its size in the host's sectors.
    fn sectors(&self) -> u64;

    /// The unit on which a sector lies; the first where it lies on several.
    fn unit_of(&self, lba: Lba) -> usize;

    /// Its failures and rebuilds, where it is redundant.
    fn repair(&self) -> Option<&Repair> {
        None
    }

    /// What a request means for the one unit on which all of it lies; `None` if there are several, or if that is not known without
    /// asking more.
    fn whole(&self, _call: &Call) -> Option<UnitRange> {
        None
    }

    /// Whether it is free of state: a request is turned into sub-requests at once, whatever went before, and is complete when
    /// they all are.
    const IS_STATELESS: bool = false;
}

/// What a volume is made of.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    /// The word for its level.
    pub(crate) level: String,
    /// Its drives, each of them one unit or several.
    pub(crate) drives: Vec<UnitMap>,
    /// Drives that take the place of failed ones.
    pub(crate) spares: Vec<UnitMap>,
    /// The stripe unit in the host's sectors.
    pub(crate) stripe_unit: u64,
    /// Bytes in one of the host's sectors.
    pub(crate) sector_bytes: u32,
    pub(crate) options: ArrayOptions,
    /// How fast its drives take what is rebuilt onto them.
    pub(crate) intake: Intake,
}

#[cfg(test)]
impl Members {
    /// With the usual options.
    pub(crate) fn plain(drives: Vec<UnitMap>, stripe_unit: u64) -> Self {
        let options = ArrayOptions::default();
        Self {
            level: String::new(),
            drives,
            spares: Vec::new(),
            stripe_unit,
            sector_bytes: 512,
            options,
            intake: Intake::default(),
        }
    }
}

/// A level of volumes.
pub(crate) struct Level {
    /// The word in the system file.
    pub(crate) name: &'static str,
    /// As [`Volume::check`].
    pub(crate) check: fn(&str, usize, &ArrayOptions) -> Option<String>,
    /// As [`Volume::TAKES`].
    keys: &'static [&'static str],
    /// As [`Volume::takes`].
    is_taken: fn(&str, &str) -> bool,
    /// As [`Volume::new`].
    pub(crate) new: fn(Members) -> AnyVolume,
}

impl Level {
    /// The keys of a system file that mean something to it.
    pub(crate) fn takes(&self) -> Vec<&'static str> {
        self.keys.iter().copied().filter(|key| (self.is_taken)(self.name, key)).collect()
    }
}

/// The level of a name.
///
/// # Errors
/// [`SystemError::UnknownName`] if there is none.
pub(crate) fn level(name: &str) -> Result<&'static Level, SystemError> {
    let levels = || LEVELS.iter().copied().flatten();
    let known = levels().find(|level| level.name == name);
    known.ok_or_else(|| {
        let mut known: Vec<_> = levels().map(|level| level.name.to_owned()).collect();
        known.sort_unstable();
        SystemError::unknown("volume level", name, known)
    })
}

/// Makes an enum of the volumes, so that none of the calls on the way of a request is a virtual one, and the list of the
/// levels a system file may name.
macro_rules! volumes {
    ($($(#[$attribute:meta])* $volume:ident: $($level:literal),+;)+) => {
        /// A volume of any level.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyVolume {
            $($(#[$attribute])* $volume($volume),)+
        }

        /// All levels, by name.
        pub(crate) const LEVELS: &[&[Level]] = &[$($(#[$attribute])* &[$(Level {
            name: $level,
            check: <$volume as Volume>::check,
            keys: <$volume as Volume>::TAKES,
            is_taken: <$volume as Volume>::takes,
            new: |members| AnyVolume::$volume(<$volume as Volume>::new(members)),
        },)+],)+];

        impl AnyVolume {
            pub(crate) fn sectors(&self) -> u64 {
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.sectors(),)+ }
            }

            pub(crate) fn unit_of(&self, lba: Lba) -> usize {
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.unit_of(lba),)+ }
            }

            pub(crate) fn repair(&self) -> Option<&Repair> {
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.repair(),)+ }
            }

            #[inline]
            pub(crate) fn whole(&self, call: &Call) -> Option<UnitRange> {
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.whole(call),)+ }
            }

            pub(crate) fn is_stateless(&self) -> bool {
                match self { $($(#[$attribute])* Self::$volume(_) => <$volume as Volume>::IS_STATELESS,)+ }
            }
        }

        impl Layer for AnyVolume {
            fn start(&mut self, effects: &mut Vec<Effect>) {
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.start(effects),)+ }
            }

            #[inline]
            fn call(&mut self, now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>) {
                if call.sectors == 0 {
                    // Of a volume with caches in several units, `FlushFirst` takes care.
                    return effects.push(call.flush(self.unit_of(Lba(0)), 0));
                }
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.call(now, call, below, effects),)+ }
            }

            #[inline]
            fn completed(&mut self, now: Nanos, child: &Completed, below: &dyn Below, effects: &mut Vec<Effect>) {
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.completed(now, child, below, effects),)+ }
            }

            fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
                match self { $($(#[$attribute])* Self::$volume(volume) => volume.timer(now, tag, effects),)+ }
            }
        }
    };
}

// The volumes, and the levels that each of them is.
volumes! {
    Concatenation: "concatenation", "single";
    Mirror: "mirror", "raid-1";
    Parity: "raid-4", "raid-5", "raid-6", "declustered";
    StripedMirror: "raid-10";
    Striping: "raid-0";
    #[cfg(test)]
    Stripe: "test-stripe";
    #[cfg(test)]
    Phased: "test-phased";
}

/// A layer of any kind.
#[derive(Clone, Debug)]
pub(crate) enum AnyLayer {
    Volume(AnyVolume),
    FlushFirst(Box<FlushFirst>),
    ArrayCache(Box<ArrayCache>),
    BufferCache(Box<BufferCacheLayer>),
}

impl AnyLayer {
    /// As [`Volume::whole`].
    #[inline]
    pub(crate) fn whole(&self, call: &Call) -> Option<UnitRange> {
        match self {
            Self::Volume(volume) if call.sectors > 0 => volume.whole(call),
            _ => None,
        }
    }

    /// As [`Volume::repair`].
    pub(crate) fn repair(&self) -> Option<&Repair> {
        match self {
            Self::Volume(volume) => volume.repair(),
            Self::FlushFirst(volume) => volume.repair(),
            Self::ArrayCache(_) | Self::BufferCache(_) => None,
        }
    }
}

impl Layer for AnyLayer {
    fn start(&mut self, effects: &mut Vec<Effect>) {
        match self {
            Self::Volume(volume) => volume.start(effects),
            Self::FlushFirst(volume) => volume.start(effects),
            Self::ArrayCache(cache) => cache.start(effects),
            Self::BufferCache(cache) => cache.start(effects),
        }
    }

    #[inline]
    fn call(&mut self, now: Nanos, call: &Call, below: &dyn Below, effects: &mut Vec<Effect>) {
        match self {
            Self::Volume(volume) => volume.call(now, call, below, effects),
            Self::FlushFirst(volume) => volume.call(now, call, below, effects),
            Self::ArrayCache(cache) => cache.call(now, call, below, effects),
            Self::BufferCache(cache) => cache.call(now, call, below, effects),
        }
    }

    #[inline]
    fn completed(&mut self, now: Nanos, child: &Completed, below: &dyn Below, effects: &mut Vec<Effect>) {
        match self {
            Self::Volume(volume) => volume.completed(now, child, below, effects),
            Self::FlushFirst(volume) => volume.completed(now, child, below, effects),
            Self::ArrayCache(cache) => cache.completed(now, child, below, effects),
            Self::BufferCache(cache) => cache.completed(now, child, below, effects),
        }
    }

    fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        match self {
            Self::Volume(volume) => volume.timer(now, tag, effects),
            Self::FlushFirst(volume) => volume.timer(now, tag, effects),
            Self::ArrayCache(cache) => cache.timer(now, tag, effects),
            Self::BufferCache(cache) => cache.timer(now, tag, effects),
        }
    }
}
