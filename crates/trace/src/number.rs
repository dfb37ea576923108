//! Numbers out of bytes: exact decimal arithmetic, no detour through floating point.

/// What is wrong with a record, in words; the reader adds where.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    #[cold]
    pub(crate) fn field(name: &str, field: &[u8], complaint: &str) -> Self {
        let shown: String = String::from_utf8_lossy(&field[..field.len().min(40)]).escape_debug().collect();
        let cut = if field.len() > 40 { "…" } else { "" };
        Self(format!("`{name}` is `{shown}{cut}`: {complaint}"))
    }
}

const NOT_A_NUMBER: &str = "not a number";
const NEGATIVE: &str = "it must not be negative";
const TOO_LARGE: &str = "too large";

/// An unsigned decimal integer.
#[inline]
pub(crate) fn integer(field: &[u8], name: &str) -> Result<u64, Problem> {
    let (value, used) = digits(field);
    if used == field.len() && used > 0 && used < 20 { Ok(value) } else { long_integer(field, name) }
}

#[cold]
fn long_integer(field: &[u8], name: &str) -> Result<u64, Problem> {
    let mut value = 0_u64;
    for &byte in field {
        if !byte.is_ascii_digit() {
            return Err(complain(field, name, "not a whole number"));
        }
        let next = value.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(byte - b'0')));
        value = next.ok_or_else(|| Problem::field(name, field, TOO_LARGE))?;
    }
    if field.is_empty() { Err(Problem::field(name, field, "missing")) } else { Ok(value) }
}

/// An unsigned decimal integer of 32 bits.
#[inline]
pub(crate) fn integer32(field: &[u8], name: &str) -> Result<u32, Problem> {
    u32::try_from(integer(field, name)?).map_err(|_| Problem::field(name, field, TOO_LARGE))
}

/// The number of a process; what is none, as `-` for the kernel, is [`crate::Io::NO_PID`].
pub(crate) fn process(field: &[u8]) -> u32 {
    integer32(field, "PID").unwrap_or(crate::Io::NO_PID)
}

/// An unsigned hexadecimal integer of 32 bits, with or without `0x`.
#[inline]
pub(crate) fn hexadecimal(field: &[u8], name: &str) -> Result<u32, Problem> {
    let bare = field.strip_prefix(b"0x").or_else(|| field.strip_prefix(b"0X")).unwrap_or(field);
    if bare.is_empty() || bare.len() > 8 {
        return Err(Problem::field(name, field, "not a hexadecimal number of at most 8 digits"));
    }
    bare.iter().try_fold(0_u32, |value, &byte| {
        let digit = (byte as char).to_digit(16);
        digit
            .map(|digit| value << 4 | digit)
            .ok_or_else(|| Problem::field(name, field, "not a hexadecimal number"))
    })
}

/// A decimal number times 10^`decimals`, exact for plain notation, rounded half up. Exponents (`1.5e-3`) are read, with
/// the precision of a double.
#[inline]
pub(crate) fn fixed(field: &[u8], decimals: u32, name: &str) -> Result<u64, Problem> {
    match plain_fixed(field, decimals) {
        Some((value, used)) if used == field.len() => Ok(value),
        _ => awkward(field, decimals, name),
    }
}

/// The number in plain notation that `field` begins with, times 10^`decimals`, and how many bytes it has; `None` if it
/// begins with none or it is too long for this way.
#[inline]
pub(crate) fn plain_fixed(field: &[u8], decimals: u32) -> Option<(u64, usize)> {
    let (whole, used) = digits(field);
    let (fraction, after, point) = match field.get(used) {
        Some(b'.') => {
            let (fraction, after) = digits(&field[used + 1..]);
            (fraction, after, 1)
        }
        _ => (0, 0, 0),
    };
    if used + after == 0 || used > 19 || after > 18 {
        return None;
    }
    let end = used + point + after;
    let after = after as u32;
    let fraction = if after <= decimals {
        fraction * POWERS[(decimals - after) as usize]
    } else {
        let step = POWERS[(after - decimals) as usize];
        fraction / step + u64::from(fraction % step >= step - step / 2)
    };
    let scaled = whole.checked_mul(POWERS[decimals as usize])?.checked_add(fraction)?;
    Some((scaled, end))
}

/// Powers of ten that fit 64 bits.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Leading digits as a number (wrapping beyond 19 of them), and how many there are.
#[inline]
pub(crate) fn digits(field: &[u8]) -> (u64, usize) {
    let mut value = 0_u64;
    let mut used = 0;
    while let Some(chunk) = field[used..].first_chunk() {
        let (part, count) = digits_of_eight(*chunk);
        value = value.wrapping_mul(POWERS[count]).wrapping_add(part);
        used += count;
        if count < 8 {
            return (value, used);
        }
    }
    while let Some(digit) = field.get(used).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        used += 1;
    }
    (value, used)
}

/// [`digits`] of eight bytes, all looked at together.
#[inline]
fn digits_of_eight(bytes: [u8; 8]) -> (u64, usize) {
    const ALL: u64 = 0x0101_0101_0101_0101;
    // A digit becomes its value; what is above 9 sets the highest bit of its byte. Carries reach later bytes only.
    let values = u64::from_le_bytes(bytes) ^ (ALL * 0x30);
    let others = (values.wrapping_add(ALL * 0x76) | values) & (ALL * 0x80);
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    // Zeros in front, then pairs of digits, fours, and all eight.
    let one = values << (64 - 8 * count);
    let two = one.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let four = two.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    (four.wrapping_mul(10_000 << 32 | 1) >> 32, count)
}

/// Exponents, very many digits, and everything that is wrong.
#[cold]
fn awkward(field: &[u8], decimals: u32, name: &str) -> Result<u64, Problem> {
    let plain = !field.is_empty()
        && field.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    let value = plain.then(|| std::str::from_utf8(field).ok()?.parse::<f64>().ok()).flatten();
    let Some(value) = value.filter(|value| *value >= 0.0) else {
        return Err(complain(field, name, NOT_A_NUMBER));
    };
    let scaled = (value * 10_f64.powi(decimals.cast_signed())).round();
    if scaled < 18_446_744_073_709_551_615.0 {
        Ok(scaled as u64)
    } else {
        Err(Problem::field(name, field, TOO_LARGE))
    }
}

#[cold]
fn complain(field: &[u8], name: &str, otherwise: &str) -> Problem {
    let negative = field.len() > 1
        && field[0] == b'-'
        && field[1..].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.'));
    let complaint = match field {
        [] => "missing",
        _ if negative => NEGATIVE,
        _ => otherwise,
    };
    Problem::field(name, field, complaint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fixed_text(text: &str, decimals: u32) -> Result<u64, String> {
        fixed(text.as_bytes(), decimals, "t").map_err(|problem| problem.0)
    }

    #[test]
    fn decimals_are_exact_and_round_half_up() {
        assert_eq!(fixed_text("13.191135", 6), Ok(13_191_135));
        assert_eq!(fixed_text("20935.440364", 3), Ok(20_935_440));
        assert_eq!(fixed_text("0.0005", 3), Ok(1));
        assert_eq!(fixed_text("0.00049999", 3), Ok(0));
        assert_eq!(fixed_text(".5", 1), Ok(5));
        assert_eq!(fixed_text("7.", 0), Ok(7));
        assert_eq!(fixed_text("1.5e-3", 6), Ok(1500));
        assert_eq!(fixed_text("0.1234567890123456789012", 3), Ok(123));
        assert_eq!(fixed_text("18446744073.709551614", 9), Ok(u64::MAX - 1));
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(fixed_text("-3", 0), Err("`t` is `-3`: it must not be negative".into()));
        assert_eq!(fixed_text("nan", 0), Err("`t` is `nan`: not a number".into()));
        assert_eq!(fixed_text("inf", 0), Err("`t` is `inf`: not a number".into()));
        assert_eq!(fixed_text(".", 0), Err("`t` is `.`: not a number".into()));
        assert_eq!(fixed_text("1.2.3", 0), Err("`t` is `1.2.3`: not a number".into()));
        assert_eq!(fixed_text("", 0), Err("`t` is ``: missing".into()));
        assert_eq!(fixed_text("1e300", 9), Err("`t` is `1e300`: too large".into()));
        assert_eq!(fixed_text("99999999999", 9), Err("`t` is `99999999999`: too large".into()));
        assert_eq!(integer(b"18446744073709551615", "n").unwrap(), u64::MAX);
        assert_eq!(
            integer(b"18446744073709551616", "n").unwrap_err().0,
            "`n` is `18446744073709551616`: too large"
        );
        assert_eq!(integer(b"4x", "n").unwrap_err().0, "`n` is `4x`: not a whole number");
        assert_eq!(integer32(b"4294967295", "n").unwrap(), u32::MAX);
        assert!(integer32(b"4294967296", "n").is_err());
        assert_eq!(hexadecimal(b"0x1F", "f").unwrap(), 31);
        assert_eq!(hexadecimal(b"100", "f").unwrap(), 256);
        assert!(hexadecimal(b"123456789", "f").is_err() && hexadecimal(b"0x", "f").is_err());
    }

    proptest! {
        #[test]
        fn integers_agree_with_the_standard_parser(value: u64) {
            prop_assert_eq!(integer(value.to_string().as_bytes(), "n").unwrap(), value);
        }

        #[test]
        fn fixed_point_agrees_with_wide_arithmetic(whole in 0_u64..9_000_000_000, fraction in "[0-9]{0,18}", decimals in 0_u32..10) {
            let text = format!("{whole}.{fraction}");
            let digits = u128::from(whole) * 10_u128.pow(fraction.len() as u32)
                + fraction.parse::<u128>().unwrap_or(0);
            let unit = 10_u128.pow(fraction.len() as u32);
            let expected = (digits * 10_u128.pow(decimals) * 2 + unit) / (2 * unit);
            prop_assert_eq!(u128::from(fixed(text.as_bytes(), decimals, "n").unwrap()), expected);
        }

        /// The naive twin: one byte after the other.
        #[test]
        fn leading_digits_are_those_before_another_byte(text in "[0-9]{0,30}[ ./:,0-9A-z]{0,12}") {
            let used = text.bytes().take_while(u8::is_ascii_digit).count();
            let value = text.bytes().take(used).fold(0_u64, |value, byte| {
                value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'))
            });
            prop_assert_eq!(digits(text.as_bytes()), (value, used));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, decimals in 0_u32..13) {
            let _ = (integer(&bytes, "n"), fixed(&bytes, decimals, "n"), hexadecimal(&bytes, "n"));
        }
    }
}
