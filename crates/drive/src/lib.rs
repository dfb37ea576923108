//! One drive.
