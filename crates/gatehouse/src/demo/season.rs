//! How much busier than usual a day is.

use jiff::civil::{Date, date};

/// Days since 1970-01-01, as Arrow counts dates.
pub fn epoch_days(day: Date) -> i32 {
    (day - date(1970, 1, 1)).get_days()
}

/// Days from `from` to `to`, negative when `to` is earlier.
pub fn days_between(from: Date, to: Date) -> i32 {
    epoch_days(to) - epoch_days(from)
}

/// Every day from `first` to `last`, both included.
pub fn days(first: Date, last: Date) -> impl Iterator<Item = Date> {
    use jiff::ToSpan;
    first.series(1.day()).take_while(move |day| *day <= last)
}

/// The value of a yearly curve, given as the values of mid-January to mid-December, without steps
/// at the ends of months.
pub fn yearly(curve: &[f64; 12], day: Date) -> f64 {
    let position = (f64::from(day.day_of_year()) - 15.0) / 365.0 * 12.0;
    let position = if position < 0.0 { position + 12.0 } else { position };
    let month = position as usize;
    let at = |index: usize| curve.iter().cycle().nth(index).copied().unwrap_or(1.0);
    let share = position - month as f64;
    at(month) * (1.0 - share) + at(month + 1) * share
}

/// The value of a weekly curve, Monday first.
pub fn weekly(curve: &[f64; 7], day: Date) -> f64 {
    let monday_zero = day.weekday().to_monday_zero_offset();
    curve.get(monday_zero as usize).copied().unwrap_or(1.0)
}
