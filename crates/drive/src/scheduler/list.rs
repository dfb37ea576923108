//! The list of all schedulers.

use super::asptf::Asptf;
use super::batch_fcfs::BatchFcfs;
use super::c_look::CLook;
use super::c_scan::CScan;
use super::fcfs::Fcfs;
use super::knowledge::Extent;
use super::look::Look;
use super::ncq::Ncq;
use super::order::{Choice, Order, Pick};
use super::policy::Kind;
use super::positional::Positional;
use super::satf::Satf;
use super::scan::Scan;
use super::sptf::Sptf;
use super::sstf::Sstf;
use super::vscan::Vscan;
use super::waiting::{Slot, Waiting};
use super::wstf::Wstf;
use headstack_units::Nanos;

/// One scheduler is one file, one entry in the policy's list, and one line here.
macro_rules! orders {
    ($($kind:ident($order:ty) = |$value:ident, $extent:ident| $new:expr;)+) => {
        /// Any scheduler.
        #[derive(Clone, Debug)]
        pub(super) enum AnyOrder {
            $($kind(Box<$order>)),+
        }

        impl AnyOrder {
            /// An empty one. `value` is its parameter.
            pub(super) fn new(kind: Kind, value: f64, extent: Extent) -> Self {
                match kind {
                    $(Kind::$kind => {
                        let ($value, $extent) = (value, extent);
                        let _ = ($value, $extent);
                        Self::$kind(Box::new($new))
                    })+
                }
            }
        }

        impl Order for AnyOrder {
            fn insert(&mut self, waiting: &Waiting, at: u64, slot: Slot) {
                match self { $(Self::$kind(order) => order.insert(waiting, at, slot)),+ }
            }
            fn remove(&mut self, waiting: &Waiting, at: u64) {
                match self { $(Self::$kind(order) => order.remove(waiting, at)),+ }
            }
            fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
                match self { $(Self::$kind(order) => order.choose(choice)),+ }
            }
            fn decides_by(&self, choice: &Choice<'_>, pick: Pick) -> Nanos {
                match self { $(Self::$kind(order) => order.decides_by(choice, pick)),+ }
            }
            fn meanwhile(&mut self, choice: &Choice<'_>, from: Nanos, until: Nanos) -> Option<Pick> {
                match self { $(Self::$kind(order) => order.meanwhile(choice, from, until)),+ }
            }
            fn refused(&mut self) {
                match self { $(Self::$kind(order) => order.refused()),+ }
            }
            fn taken(&mut self, choice: &Choice<'_>, at: u64) {
                match self { $(Self::$kind(order) => order.taken(choice, at)),+ }
            }
        }
    };
}

orders! {
    Fcfs(Fcfs) = |v, x| Fcfs::default();
    BatchFcfs(BatchFcfs) = |v, x| BatchFcfs::new(v as usize);
    Sstf(Sstf) = |v, x| Sstf::default();
    Scan(Scan) = |v, x| Scan::default();
    Look(Look) = |v, x| Look::default();
    CScan(CScan) = |v, x| CScan::default();
    CLook(CLook) = |v, x| CLook::default();
    Vscan(Vscan) = |v, x| Vscan::new((v * x.coordinates as f64) as u64);
    Sptf(Positional<Sptf>) = |v, x| Positional::new(Sptf, x.cylinders);
    Satf(Positional<Satf>) = |v, x| Positional::new(Satf, x.cylinders);
    Spctf(Positional<Sptf>) = |v, x| Positional::new(Sptf, x.cylinders).cache_aware();
    Asptf(Positional<Asptf>) = |v, x| Positional::new(Asptf::new(v), x.cylinders);
    Aspctf(Positional<Asptf>) = |v, x| Positional::new(Asptf::new(v), x.cylinders).cache_aware();
    Wstf(Positional<Wstf>) = |v, x| Positional::new(Wstf::new(Nanos::from_ms(v)), x.cylinders);
    Ncq(Ncq) = |v, x| Ncq::new(v);
    Gsptf(Positional<Sptf>) = |v, x| Positional::new(Sptf, x.cylinders).grouped(v as u32);
}
