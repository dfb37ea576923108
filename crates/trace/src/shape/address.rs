//! Addresses of one device on another: conversion between sector sizes, moving, fitting.

use super::Target;

/// What becomes of requests that reach beyond the end of their device.
///
/// Fitting keeps the alignment of an address to 4 KiB: its remainder by 4096 bytes (in the target's sectors) stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FitLba {
    /// They are an error.
    #[default]
    None,
    /// Their first sector is taken modulo the capacity (rounded down to 4 KiB). If the request then still reaches beyond the
    /// end, it goes to the last aligned place before it. Requests that fit stay where they are: runs stay runs.
    Wrap,
    /// All first sectors are multiplied by capacity ÷ (highest sector used + 1), so that the trace spans the whole device,
    /// whether that shrinks or stretches it. Lengths stay: neighbours may come to overlap (or lie apart), runs break.
    Scale,
    /// The lowest sector used (rounded down to 4 KiB) becomes sector 0. What still reaches beyond the end is an error.
    Offset,
}

impl FitLba {
    /// Whether the addresses must be known before the first request is let through.
    pub fn needs_survey(self) -> bool {
        matches!(self, Self::Scale | Self::Offset)
    }
}

/// The addresses used on a device: first, and first beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    lowest: u64,
    end: u64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { lowest: u64::MAX, end: 0 }
    }
}

impl Extent {
    pub(super) fn include(&mut self, lba: u64, sectors: u32) {
        self.lowest = self.lowest.min(lba);
        self.end = self.end.max(lba.saturating_add(u64::from(sectors)));
    }
}

/// Why a request has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unplaced {
    /// It reaches beyond the end.
    Beyond,
    /// It is longer than the device.
    TooLong,
    /// It would lie before sector 0.
    Negative,
    /// Its address exceeds 64 bits, or its length 32.
    Unrepresentable,
    /// A survey knows nothing of its address.
    Unsurveyed,
}

/// The sectors of size `to` that hold the given sectors of size `from`.
#[inline]
pub(super) fn convert(lba: u64, sectors: u32, from: u32, to: u32) -> Result<(u64, u32), Unplaced> {
    if from == to {
        return Ok((lba, sectors));
    }
    let (from, to) = (u128::from(from), u128::from(to));
    let first = u128::from(lba) * from / to;
    let end = ((u128::from(lba) + u128::from(sectors)) * from).div_ceil(to);
    let length = u32::try_from(end - first).map_err(|_| Unplaced::Unrepresentable)?;
    u64::try_from(first).map(|first| (first, length)).map_err(|_| Unplaced::Unrepresentable)
}

/// `lba` × `scale` (rounded down) + `offset`.
#[inline]
pub(super) fn move_by(lba: u64, scale: f64, offset: i64) -> Result<u64, Unplaced> {
    let scaled = if scale == 1.0 { i128::from(lba) } else { (lba as f64 * scale).floor() as i128 };
    let moved = scaled.checked_add(i128::from(offset)).ok_or(Unplaced::Unrepresentable)?;
    let beyond = if moved < 0 { Unplaced::Negative } else { Unplaced::Unrepresentable };
    u64::try_from(moved).map_err(|_| beyond)
}

/// Where on `target` a request goes that starts at `lba`.
#[inline]
pub(super) fn fit(
    fit: FitLba,
    lba: u64,
    sectors: u32,
    target: Target,
    extent: Option<&Extent>,
) -> Result<u64, Unplaced> {
    let capacity = target.sectors;
    let length = u64::from(sectors);
    let last = capacity.checked_sub(length).ok_or(Unplaced::TooLong)?;
    let grain = (4096 / u64::from(target.sector_bytes)).max(1);
    match fit {
        FitLba::None => (lba <= last).then_some(lba).ok_or(Unplaced::Beyond),
        FitLba::Wrap if lba <= last => Ok(lba),
        FitLba::Wrap => {
            let whole = capacity - capacity % grain;
            let wrapped = lba % if whole == 0 { capacity } else { whole };
            Ok(if wrapped <= last { wrapped } else { align_down(last, lba, grain) })
        }
        FitLba::Scale => {
            let end = extent.map_or(0, |extent| extent.end);
            if lba.saturating_add(length) > end {
                return Err(Unplaced::Unsurveyed);
            }
            let scaled = (u128::from(lba) * u128::from(capacity) / u128::from(end)) as u64;
            Ok(align_down(scaled.min(last), lba, grain))
        }
        FitLba::Offset => {
            let lowest = extent.map_or(0, |extent| extent.lowest);
            let moved = lba.checked_sub(lowest - lowest % grain).ok_or(Unplaced::Unsurveyed)?;
            (moved <= last).then_some(moved).ok_or(Unplaced::Beyond)
        }
    }
}

/// The highest address up to `limit` that lies in its grain like `model`; 0 if there is none.
fn align_down(limit: u64, model: u64, grain: u64) -> u64 {
    limit.checked_sub(model % grain).map_or(0, |room| limit - room % grain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Target = Target { sector_bytes: 512, sectors: 1003 };

    #[test]
    fn sectors_convert_outwards() {
        assert_eq!(convert(3, 5, 512, 256), Ok((6, 10)));
        assert_eq!(convert(7, 2, 512, 4096), Ok((0, 2)));
        assert_eq!(convert(8, 8, 512, 4096), Ok((1, 1)));
        assert_eq!(convert(1, 1, 520, 512), Ok((1, 2)));
        assert_eq!(convert(u64::MAX, 1, 512, 256), Err(Unplaced::Unrepresentable));
        assert_eq!(convert(0, u32::MAX, 512, 256), Err(Unplaced::Unrepresentable));
    }

    #[test]
    fn addresses_move() {
        assert_eq!(move_by(10, 1.0, -10), Ok(0));
        assert_eq!(move_by(10, 1.0, -11), Err(Unplaced::Negative));
        assert_eq!(move_by(11, 0.5, 3), Ok(8));
        assert_eq!(move_by(u64::MAX, 1.0, 1), Err(Unplaced::Unrepresentable));
        assert_eq!(move_by(u64::MAX, 1e300, 1), Err(Unplaced::Unrepresentable));
    }

    #[test]
    fn wrapping_moves_only_what_does_not_fit_and_keeps_alignment() {
        let wrap = |lba, sectors| fit(FitLba::Wrap, lba, sectors, DISK, None);
        assert_eq!(wrap(995, 8), Ok(995));
        assert_eq!(wrap(996, 8), Ok(988), "996 mod 1000 is still too high; 988 is 4 mod 8, as 996 is");
        assert_eq!(wrap(1000, 4), Ok(0));
        assert_eq!(wrap(1013, 4), Ok(13));
        assert_eq!(wrap(0, 1003), Ok(0));
        assert_eq!(wrap(5, 1003), Ok(0));
        assert_eq!(wrap(0, 1004), Err(Unplaced::TooLong));
        let tiny = Target { sector_bytes: 512, sectors: 5 };
        assert_eq!(fit(FitLba::Wrap, 7, 2, tiny, None), Ok(2));
    }

    #[test]
    fn scaling_spans_the_device() {
        let extent = Extent { lowest: 0, end: 2006 };
        let scale = |lba, sectors| fit(FitLba::Scale, lba, sectors, DISK, Some(&extent));
        assert_eq!(scale(800, 8), Ok(400));
        assert_eq!(scale(808, 8), Ok(400), "404, aligned");
        assert_eq!(scale(1998, 8), Ok(990), "999 would reach beyond 1003; 990 is 6 mod 8, as 1998 is");
        assert_eq!(scale(1999, 8), Err(Unplaced::Unsurveyed));
        assert_eq!(fit(FitLba::Scale, 0, 1, DISK, None), Err(Unplaced::Unsurveyed));
    }

    #[test]
    fn offset_starts_at_the_lowest() {
        let extent = Extent { lowest: 5003, end: 6100 };
        let offset = |lba, sectors| fit(FitLba::Offset, lba, sectors, DISK, Some(&extent));
        assert_eq!(offset(5003, 8), Ok(3));
        assert_eq!(offset(5995, 8), Ok(995));
        assert_eq!(offset(5996, 8), Err(Unplaced::Beyond));
    }
}
