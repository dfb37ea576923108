//! The numbers that callers may give: one table, by the name of the argument. What lies outside is refused before anything
//! runs; a number that is not finite lies outside everywhere.

use crate::error::Error;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::PyBool;

macro_rules! numbers {
    ($($name:ident($type:ty) $argument:literal: $low:literal ..= $high:expr;)*) => {
        $(
            #[doc = concat!("The argument `", $argument, "`.")]
            #[derive(Clone, Copy)]
            #[allow(dead_code, reason = "numbers that only Python uses are checked here and not read")]
            pub(crate) struct $name(pub(crate) $type);

            impl<'a, 'py> FromPyObject<'a, 'py> for $name {
                type Error = PyErr;
                const INPUT_TYPE: PyStaticExpr = <$type as FromPyObject<'a, 'py>>::INPUT_TYPE;

                fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                    let refused = || outside($argument, &given.to_owned(), $low as $type, $high);
                    // Python counts true as 1; who says so has taken one option for another.
                    if given.is_instance_of::<PyBool>() {
                        return Err(refused());
                    }
                    given.extract::<$type>().ok().filter(|value| ($low as $type..=$high).contains(value)).map(Self).ok_or_else(refused)
                }
            }
        )*

        /// Refuses a number that an argument of this name cannot be; `None` is an argument that was left out.
        #[pyfunction]
        pub(crate) fn check_number(argument: &str, number: &Bound<'_, PyAny>) -> PyResult<()> {
            if number.is_none() {
                return Ok(());
            }
            match argument {
                $($argument => number.extract::<$name>().map(|_| ()),)*
                _ => Err(Error::Internal(format!("no range is known for `{argument}`")).into()),
            }
        }
    };
}

/// 100 years, in s, ms and ns: as long as a run can last.
const LONGEST_S: f64 = 3_155_760_000.0;
const LONGEST_MS: f64 = LONGEST_S * 1e3;
const LONGEST_NS: u64 = headstack_system::LATEST.0;

numbers! {
    Actuator(u32) "actuator": 0 ..= u32::MAX;
    ActuatorCount(u32) "actuators": 1 ..= headstack_cost::MOST_ACTUATORS;
    AtMs(f64) "at_ms": 0 ..= LONGEST_MS;
    Before(u64) "before": 0 ..= 1_000_000_000;
    BufferKib(u32) "buffer_kib": 64 ..= 4 << 20;
    ConstantMs(f64) "constant_ms": 0 ..= LONGEST_MS;
    Cylinder(u32) "cylinder": 0 ..= u32::MAX;
    Device(u32) "device": 0 ..= u32::MAX;
    Distance(u32) "distance": 0 ..= u32::MAX;
    DriveCount(u32) "drives": 1 ..= headstack_cost::MOST_DRIVES;
    DurationS(f64) "duration_s": 0 ..= LONGEST_S;
    FromS(f64) "from_s": 0 ..= LONGEST_S;
    GapMs(f64) "gap_ms": 0 ..= LONGEST_MS;
    Head(u32) "head": 0 ..= u32::MAX;
    Id(u64) "id": 0 ..= u64::MAX;
    InstantNs(u64) "instant_ns": 0 ..= LONGEST_NS;
    InterArrivalMs(f64) "inter_arrival_ms": 0 ..= LONGEST_MS;
    LbaNumber(u64) "lba": 0 ..= u64::MAX;
    LbaOffset(i64) "lba_offset": -9_223_372_036_854_775_807 ..= i64::MAX;
    LbaScale(f64) "lba_scale": 1e-12 ..= 1e12;
    NoisePercent(f64) "noise_percent": 0 ..= 50.0;
    OutlierMs(f64) "outlier_ms": 0 ..= 1e6;
    OutlierPercent(f64) "outlier_percent": 0 ..= 50.0;
    PhaseLock(f64) "phase_lock": 0.05 ..= 0.95;
    PlatterCount(u32) "platters": 1 ..= headstack_cost::MOST_PLATTERS;
    RepeatCount(u32) "repeats": 1 ..= 1000;
    RequestCount(u64) "requests": 1 ..= u64::MAX;
    Rounds(u32) "rounds": 1 ..= 1000;
    Rpm(f64) "rpm": 60 ..= 1e6;
    ScanPercent(f64) "scan_percent": 0.01 ..= 100.0;
    Sector(u32) "sector": 0 ..= u32::MAX;
    SectorBytes(u32) "sector_bytes": 1 ..= 1 << 24;
    SectorCount(u32) "sectors": 1 ..= u32::MAX;
    SectorsIfAny(u32) "sectors of a request": 0 ..= u32::MAX;
    Marks(u16) "flags of a request": 0 ..= u16::MAX;
    Seed(u64) "seed": 0 ..= u64::MAX;
    StartPercent(f64) "start_percent": 0 ..= 100.0;
    Threads(usize) "threads": 1 ..= 65_536;
    TicksPerS(u64) "ticks_per_s": 1 ..= 1_000_000_000;
    TimeScale(f64) "time_scale": 1e-12 ..= 1e12;
    ToS(f64) "to_s": 0 ..= LONGEST_S;
    UntilS(f64) "until_s": 0 ..= LONGEST_S;
    WarmupRequests(u64) "warmup_requests": 0 ..= u64::MAX;
    WarmupS(f64) "warmup_s": 0 ..= LONGEST_S;
    WithinS(f64) "within_s": 1 ..= LONGEST_S;
}

fn outside<T: Limits>(argument: &str, given: &Bound<'_, PyAny>, low: T, high: T) -> PyErr {
    let value = given.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    let allowed = format!("{} {} to {}", T::KIND, low.words(), high.words());
    Error::input(format!("`{argument}` cannot be {value}"), format!("`{argument}`: {allowed}")).into()
}

/// The end of a range, for people.
trait Limits {
    /// What is between them.
    const KIND: &str;

    fn words(self) -> String;
}

impl Limits for f64 {
    const KIND: &str = "a number,";

    fn words(self) -> String {
        self.to_string()
    }
}

macro_rules! whole {
    ($($type:ty)*) => {
        $(impl Limits for $type {
            const KIND: &str = "a whole number,";

            fn words(self) -> String {
                if self == <$type>::MAX { format!("2^{} - 1", <$type>::BITS - u32::from(<$type>::MIN != 0)) } else { self.to_string() }
            }
        })*
    };
}
whole!(u16 u32 u64 usize i64);
