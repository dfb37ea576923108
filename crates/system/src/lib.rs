//! The system.
