//! Statistics of runs.
