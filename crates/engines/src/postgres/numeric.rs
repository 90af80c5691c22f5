//! Exact numbers: Postgres's digits of 10000 to one whole number of 128 bits.

use super::columns::Cell;

/// As many digits as Arrow's decimals of 128 bits have.
const MOST: u8 = 38;
const NEGATIVE: u16 = 0x4000;

/// Why a number cannot be told.
#[derive(Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Not a number, or infinite.
    NoNumber,
    /// It has more digits behind the point than the column.
    Scale,
    /// More than 38 digits in all.
    Size,
    /// Not as Postgres writes it.
    Broken,
}

/// `numeric(10, 2)` as its modifier says it; without one, the first rows decide.
pub fn cell(modifier: i32) -> Cell {
    let unsettled = Cell::Numeric { precision: MOST, scale: None };
    let Some(packed) = modifier.checked_sub(4).filter(|packed| *packed >= 0) else { return unsettled };
    let precision = u8::try_from((packed >> 16) & 0xffff).ok().filter(|p| (1..=MOST).contains(p));
    // Eleven bits with a sign.
    let scale = i8::try_from(((packed & 0x7ff) ^ 0x400) - 0x400).ok();
    match (precision, scale) {
        (Some(precision), Some(scale)) if scale >= 0 && scale <= precision.cast_signed() => {
            Cell::Numeric { precision, scale: Some(scale) }
        }
        _ => unsettled,
    }
}

/// How many digits are shown behind the point.
pub fn digits(raw: &[u8]) -> Option<i8> {
    let [_, _, _, digits] = head(raw)?;
    Some(i8::try_from(digits).unwrap_or(i8::MAX).min(MOST.cast_signed()))
}

/// The number in units of its last digit, `scale` digits behind the point.
pub fn read(raw: &[u8], scale: i8) -> Result<i128, Misfit> {
    let [count, weight, sign, _] = head(raw).ok_or(Misfit::Broken)?;
    let negative = match sign {
        0 => false,
        NEGATIVE => true,
        _ => return Err(Misfit::NoNumber),
    };
    let groups = raw.get(8..).unwrap_or_default();
    if groups.len() != usize::from(count) * 2 {
        return Err(Misfit::Broken);
    }
    let mut number: i128 = 0;
    // Where the last digit of a group stands, in units of the number that is made.
    let mut stands = i32::from(weight.cast_signed()) * 4 + i32::from(scale);
    for group in groups.chunks_exact(2) {
        let group = group.try_into().map(u16::from_be_bytes).map_err(|_| Misfit::Broken)?;
        number = with_group(number, group, stands)?;
        stands -= 4;
    }
    // What follows the last group are zeros.
    if number != 0 && stands > -4 {
        let zeros = 10_i128.checked_pow((stands + 4).unsigned_abs());
        number = zeros.and_then(|zeros| number.checked_mul(zeros)).ok_or(Misfit::Size)?;
    }
    if number >= 10_i128.pow(u32::from(MOST)) {
        return Err(Misfit::Size);
    }
    Ok(if negative { -number } else { number })
}

/// The number with four more digits, or as many of them as it has room for: the others must be zeros.
fn with_group(number: i128, group: u16, stands: i32) -> Result<i128, Misfit> {
    let kept = (stands + 4).clamp(0, 4).unsigned_abs();
    let cut = 10_u16.pow(4 - kept);
    if !group.is_multiple_of(cut) {
        return Err(Misfit::Scale);
    }
    let shifted = number.checked_mul(10_i128.pow(kept));
    shifted.and_then(|number| number.checked_add(i128::from(group / cut))).ok_or(Misfit::Size)
}

fn head(raw: &[u8]) -> Option<[u16; 4]> {
    let mut head = [0; 4];
    for (place, bytes) in head.iter_mut().zip(raw.get(..8)?.chunks_exact(2)) {
        *place = u16::from_be_bytes(bytes.try_into().ok()?);
    }
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(weight: i16, sign: u16, scale: u16, groups: &[u16]) -> Vec<u8> {
        let head = [groups.len() as u16, weight.cast_unsigned(), sign, scale];
        head.iter().chain(groups).flat_map(|n| n.to_be_bytes()).collect()
    }

    #[test]
    fn numbers_keep_every_digit() {
        // 12345.67, -0.05, 10000, 0, 1.10 as numeric(10, 2) and longer ones.
        assert_eq!(read(&raw(1, 0, 2, &[1, 2345, 6700]), 2), Ok(1_234_567));
        assert_eq!(read(&raw(-1, NEGATIVE, 2, &[500]), 2), Ok(-5));
        assert_eq!(read(&raw(1, 0, 0, &[1]), 2), Ok(1_000_000));
        assert_eq!(read(&raw(0, 0, 2, &[]), 2), Ok(0));
        assert_eq!(read(&raw(0, 0, 2, &[1, 1000]), 20), Ok(110_000_000_000_000_000_000));
        assert_eq!(read(&raw(0, 0, 3, &[1, 1230]), 2), Err(Misfit::Scale));
        assert_eq!(read(&raw(9, 0, 0, &[1]), 2), Err(Misfit::Size));
        assert_eq!(read(&raw(0, 0xc000, 0, &[]), 2), Err(Misfit::NoNumber));
        assert_eq!(read(&[0, 1], 2), Err(Misfit::Broken));
        // 38 digits, of which the last two stand in a group of four.
        let long = raw(6, NEGATIVE, 10, &[1234, 5678, 9012, 3456, 7890, 1234, 5678, 123, 4567, 8900]);
        assert_eq!(read(&long, 10), Ok(-12_345_678_901_234_567_890_123_456_780_123_456_789));
        assert_eq!(read(&raw(0, 0, 0, &[1])[..9], 2), Err(Misfit::Broken));
    }

    #[test]
    fn modifiers_say_how_many_digits() {
        assert_eq!(cell(((12 << 16) | 2) + 4), Cell::Numeric { precision: 12, scale: Some(2) });
        for modifier in [-1, ((39 << 16) | 2) + 4, ((5 << 16) | 0x7fe) + 4, i32::MIN, i32::MAX] {
            assert_eq!(cell(modifier), Cell::Numeric { precision: 38, scale: None }, "{modifier}");
        }
    }
}
