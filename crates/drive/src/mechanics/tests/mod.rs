//! Does the arm take the published times, and does the disk never lose a turn?

mod rotation;
mod seeks;
