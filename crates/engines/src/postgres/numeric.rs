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
    for group in groups.chunks_exact(2) {
        let group = group.try_into().map(u16::from_be_bytes).map_err(|_| Misfit::Broken)?;
        number = number.checked_mul(10_000).and_then(|n| n.checked_add(i128::from(group))).ok_or(Misfit::Size)?;
    }
    if number == 0 {
        return Ok(0);
    }
    let last = (i32::from(weight.cast_signed()) + 1 - i32::from(count)) * 4;
    let number = shifted(number, last + i32::from(scale))?;
    if number >= 10_i128.pow(u32::from(MOST)) {
        return Err(Misfit::Size);
    }
    Ok(if negative { -number } else { number })
}

/// Times ten to some power; below one only if nothing is lost.
fn shifted(number: i128, by: i32) -> Result<i128, Misfit> {
    let factor = 10_i128.checked_pow(by.unsigned_abs());
    if by >= 0 {
        return factor.and_then(|factor| number.checked_mul(factor)).ok_or(Misfit::Size);
    }
    match factor {
        Some(factor) if number % factor == 0 => Ok(number / factor),
        _ => Err(Misfit::Scale),
    }
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
