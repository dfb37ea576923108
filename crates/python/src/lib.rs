//! `headstack._core`: the compiled half of the Python package. Conversions and nothing else: every number is computed
//! in the crates below, every picture is drawn in Python above.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

mod calibrate;
#[cfg(target_os = "linux")]
mod capture;
mod convert;
mod cost;
mod disksim;
mod drive;
mod error;
mod explain;
mod fleet;
mod library;
mod measure;
mod outputs;
mod overrides;
mod phase;
mod poll;
mod power;
mod range;
mod results;
mod run;
mod scores;
mod sinks;
mod spool;
mod stepper;
mod stream;
mod system;
mod table;
mod trace;
mod trace_convert;
mod trace_info;
mod trace_join;
mod trace_stream;
mod trace_tools;
mod trace_words;
mod validate;
mod watch;

/// The compiled core; import `headstack`, which re-exports what is public.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::calibrate::{CalibrationResult, calibrate};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::capture::capture_trace;
    #[pymodule_export]
    use crate::cost::cost;
    #[pymodule_export]
    use crate::disksim::{import_disksim, import_disksim_simulation};
    #[pymodule_export]
    use crate::drive::{Drive, Place};
    #[pymodule_export]
    use crate::explain::explain;
    #[pymodule_export]
    use crate::fleet::{Fleet, run_fleet};
    #[pymodule_export]
    use crate::library::{
        json_schema, library_designs, library_drives, library_systems, library_workloads, schedulers,
    };
    #[pymodule_export]
    use crate::measure::{
        _measurement_of, Measurement, measure, measure_plan, measure_probes, read_measurement,
    };
    #[pymodule_export]
    use crate::outputs::{Together, check_apart, leftovers, write_at_once, write_whole};
    #[pymodule_export]
    use crate::phase::decide_trace_gap;
    #[pymodule_export]
    use crate::power::power_budget;
    #[pymodule_export]
    use crate::range::check_number;
    #[pymodule_export]
    use crate::run::{RunResult, simulate};
    #[pymodule_export]
    use crate::scores::{demerit, independent_values, mean_interval, per_request_error, student_975};
    #[pymodule_export]
    use crate::stepper::{Completion, Stepper};
    #[pymodule_export]
    use crate::stream::StreamModel;
    #[pymodule_export]
    use crate::system::{System, Workload};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::trace::{Trace, trace_formats, written_formats};
    #[pymodule_export]
    use crate::trace_join::join_traces;
    #[pymodule_export]
    use crate::trace_tools::{
        analyse_trace, fit_workload, make_trace, match_trace, read_iostat, tick_histogram, trace_likeness,
    };
    #[pymodule_export]
    use crate::validate::{ValidationResult, validate};
    #[pymodule_export]
    use crate::watch::SignalWatch;

    /// Version of the core and the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    #[expect(clippy::unnecessary_wraps, reason = "the signature is PyO3's")]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::error::install_panic_hook();
        Ok(())
    }
}
