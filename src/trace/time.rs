//! Entry timestamps. Pi writes them with `Date.toISOString()`, so there is exactly one shape to read; anything else
//! counts as absent and the reader falls back to the message's own time.

/// Milliseconds since the epoch of `YYYY-MM-DDTHH:MM:SS.mmmZ`.
pub fn parse_iso_ms(text: &str) -> Option<f64> {
    let b: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let fits = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if fits.iter().any(|&(at, byte)| b[at] != byte) {
        return None;
    }
    let number = |from: usize, len: usize| {
        b[from..from + len].iter().try_fold(0_i64, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
    };
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second, milli) = (number(11, 2)?, number(14, 2)?, number(17, 2)?, number(20, 3)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some((seconds * 1000 + milli) as f64)
}

/// Counts years from March, so that the leap day is the last day of a year and needs no special case.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 153 days in every five months from March on; 719 468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + (153 * month + 2) / 5 + (day - 1) - 719_468
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "whole milliseconds are exact in f64")]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(parse_iso_ms("1970-01-01T00:00:00.000Z"), Some(0.0));
        assert_eq!(parse_iso_ms("2024-12-03T14:00:00.000Z"), Some(1_733_234_400_000.0));
        assert_eq!(parse_iso_ms("2000-02-29T23:59:59.999Z"), Some(951_868_799_999.0));
        assert_eq!(parse_iso_ms("1969-12-31T23:59:59.999Z"), Some(-1.0));
    }

    #[test]
    fn consecutive_days_are_one_day_apart() {
        let mut last = parse_iso_ms("1999-12-31T00:00:00.000Z").unwrap();
        for year in 2000..2105 {
            for month in 1..=12 {
                let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                let days = match month {
                    2 if leap => 29,
                    2 => 28,
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                for day in 1..=days {
                    let at = parse_iso_ms(&format!("{year:04}-{month:02}-{day:02}T00:00:00.000Z")).unwrap();
                    assert_eq!(at - last, 86_400_000.0, "{year}-{month}-{day}");
                    last = at;
                }
            }
        }
    }

    #[test]
    fn other_shapes_are_absent() {
        for text in ["", "2024-12-03", "2024-12-03T14:00:00Z", "2024-13-03T14:00:00.000Z", "2024-12-03T14:00:00.00xZ"] {
            assert_eq!(parse_iso_ms(text), None, "{text}");
        }
    }
}
