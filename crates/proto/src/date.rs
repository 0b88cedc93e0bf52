//! HTTP dates (RFC 9110 §5.6.7): the three forms that are read, the one that is written, and the
//! access log's form.
//!
//! Dates decide conditional requests and stand in every response, so reading is strict and writing
//! is plain arithmetic on the stack. The clock is not known here: the caller says what time it is,
//! in Unix seconds (leap seconds not counted).

/// The earliest and latest seconds that are written: the years 1970 to 9999.
const WRITABLE: (i64, i64) = (0, 253_402_300_799);

const SECONDS_PER_DAY: i64 = 86_400;

/// Days from 0001-01-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_162;

/// Days in 400 years: the Gregorian calendar repeats after that.
const CYCLE_DAYS: i64 = 146_097;

/// English weekday names, Sunday first.
const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// English month names, January first: the three letters that HTTP and access logs use.
pub const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// A moment as people write it, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year; 0 is the year before 1.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 is Sunday.
    pub weekday: u8,
}

impl Civil {
    /// The moment `seconds` after 1970-01-01T00:00:00Z, in the Gregorian calendar.
    pub fn of(seconds: i64) -> Civil {
        let days = seconds.div_euclid(SECONDS_PER_DAY);
        let time = seconds.rem_euclid(SECONDS_PER_DAY);
        let days_since_1 = days + EPOCH_DAYS;
        // The mean year misses the true one by at most one.
        let mut year = (days_since_1 * 400).div_euclid(CYCLE_DAYS) + 1;
        if days_before_year(year) > days_since_1 {
            year -= 1;
        } else if days_before_year(year + 1) <= days_since_1 {
            year += 1;
        }
        let mut day = days_since_1 - days_before_year(year);
        let mut month = 1;
        while month < 12 && day >= days_in_month(year, month) {
            day -= days_in_month(year, month);
            month += 1;
        }
        Civil {
            year,
            month: month as u8,
            day: day as u8 + 1,
            hour: (time / 3600) as u8,
            minute: (time / 60 % 60) as u8,
            second: (time % 60) as u8,
            // 1970-01-01 was a Thursday.
            weekday: (days + 4).rem_euclid(7) as u8,
        }
    }

    /// The month's three letters; empty for a month that does not exist.
    fn month_name(&self) -> &'static [u8] {
        let name = MONTHS.get(usize::from(self.month).wrapping_sub(1));
        name.map_or(&[], |name| name.as_slice())
    }

    /// The weekday's three letters; empty for a day that does not exist.
    fn weekday_name(&self) -> &'static [u8] {
        let name = WEEKDAYS.get(usize::from(self.weekday));
        name.and_then(|name| name.as_bytes().get(..3)).unwrap_or_default()
    }
}

/// Reads an HTTP-date: IMF-fixdate, RFC 850 form or asctime form (RFC 9110 §5.6.7), and nothing
/// before or after it.
///
/// Gives Unix seconds, negative before 1970. `now`, in Unix seconds, resolves the two-digit year
/// of the RFC 850 form: it is the latest such year that is not more than 50 years ahead. The
/// weekday must be a name of a day, but need not be that day's. The leap second 23:59:60 reads as
/// 23:59:59, which keeps the day and errs towards sending a representation again.
pub fn parse(value: &[u8], now: i64) -> Option<i64> {
    match value.len() {
        29 => imf_fixdate(value),
        24 => asctime(value),
        _ => rfc850(value, now),
    }
}

/// Writes an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Moments outside of the years
/// 1970 to 9999 are moved to the nearest one inside.
pub fn format(seconds: i64) -> [u8; 29] {
    let civil = Civil::of(seconds.clamp(WRITABLE.0, WRITABLE.1));
    let mut out = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    put(&mut out, 0, civil.weekday_name());
    put(&mut out, 5, &two_digits(civil.day));
    put(&mut out, 8, civil.month_name());
    put(&mut out, 12, &four_digits(civil.year));
    put(&mut out, 17, &clock(&civil));
    out
}

/// Writes the access log's form, such as `20/Nov/2026:12:00:00 +0000`, within the same bounds as
/// [`format()`].
pub fn log_time(seconds: i64) -> [u8; 26] {
    let civil = Civil::of(seconds.clamp(WRITABLE.0, WRITABLE.1));
    let mut out = *b"01/Jan/1970:00:00:00 +0000";
    put(&mut out, 0, &two_digits(civil.day));
    put(&mut out, 3, civil.month_name());
    put(&mut out, 7, &four_digits(civil.year));
    put(&mut out, 12, &clock(&civil));
    out
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn imf_fixdate(value: &[u8]) -> Option<i64> {
    let ([weekday @ .., b',', b' '], rest) = value.split_at_checked(5)? else { return None };
    let ([d0, d1, b' ', month @ .., b' '], rest) = rest.split_at_checked(7)? else { return None };
    let ([year @ .., b' '], rest) = rest.split_at_checked(5)? else { return None };
    let [time @ .., b' ', b'G', b'M', b'T'] = rest else { return None };
    short_weekday(weekday)?;
    seconds(digits(year)?, month_number(month)?, digits(&[*d0, *d1])?, time_of_day(time)?)
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(value: &[u8]) -> Option<i64> {
    let ([weekday @ .., b' '], rest) = value.split_at_checked(4)? else { return None };
    let ([month @ .., b' ', d0, d1, b' '], rest) = rest.split_at_checked(7)? else { return None };
    let (time, [b' ', year @ ..]) = rest.split_at_checked(8)? else { return None };
    // One digit is padded with a space, not with a zero; two digits are read in either case.
    let day = if *d0 == b' ' { digits(&[*d1])? } else { digits(&[*d0, *d1])? };
    short_weekday(weekday)?;
    seconds(digits(year)?, month_number(month)?, day, time_of_day(time)?)
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
fn rfc850(value: &[u8], now: i64) -> Option<i64> {
    // All but the weekday has one length.
    let (weekday, rest) = value.split_at_checked(value.len().checked_sub(24)?)?;
    let ([b',', b' ', d0, d1, b'-', month @ .., b'-'], rest) = rest.split_at_checked(9)? else {
        return None;
    };
    let ([y0, y1, b' '], rest) = rest.split_at_checked(3)? else { return None };
    let [time @ .., b' ', b'G', b'M', b'T'] = rest else { return None };
    WEEKDAYS.iter().find(|name| name.as_bytes() == weekday)?;
    let (month, day) = (month_number(month)?, digits(&[*d0, *d1])?);
    let time = time_of_day(time)?;
    let year = full_year(digits(&[*y0, *y1])?, (month, day, time), now);
    seconds(year, month, day, time)
}

/// The latest year that ends in `two_digits` and puts the date at most 50 years after `now`.
fn full_year(two_digits: i64, within_year: (i64, i64, i64), now: i64) -> i64 {
    let now = Civil::of(now.clamp(WRITABLE.0, WRITABLE.1));
    let time = (i64::from(now.hour) * 60 + i64::from(now.minute)) * 60 + i64::from(now.second);
    let latest_year = now.year + 50;
    let latest_within_year = (i64::from(now.month), i64::from(now.day), time);
    let year = latest_year - (latest_year - two_digits).rem_euclid(100);
    if year == latest_year && within_year > latest_within_year { year - 100 } else { year }
}

/// Unix seconds of a date and a time of day in seconds; `None` if the month has no such day.
fn seconds(year: i64, month: i64, day: i64, time: i64) -> Option<i64> {
    if day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let before_month: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    let days = days_before_year(year) - EPOCH_DAYS + before_month + day - 1;
    Some(days * SECONDS_PER_DAY + time)
}

/// Days from 0001-01-01 to the first of January of that year.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Seconds since midnight of `08:49:37`.
fn time_of_day(text: &[u8]) -> Option<i64> {
    let [h0, h1, b':', m0, m1, b':', s0, s1] = text else { return None };
    let (hour, minute, second) = (digits(&[*h0, *h1])?, digits(&[*m0, *m1])?, digits(&[*s0, *s1])?);
    let second = match (hour, minute, second) {
        (23, 59, 60) => 59,
        (0..=23, 0..=59, 0..=59) => second,
        _ => return None,
    };
    Some((hour * 60 + minute) * 60 + second)
}

fn short_weekday(text: &[u8]) -> Option<()> {
    let mut names = WEEKDAYS.iter().filter_map(|name| name.as_bytes().get(..3));
    names.any(|name| name == text).then_some(())
}

/// 1 to 12; names are case-sensitive, as all of an HTTP-date is.
fn month_number(text: &[u8]) -> Option<i64> {
    let index = MONTHS.iter().position(|name| name.as_slice() == text)?;
    i64::try_from(index).ok().map(|index| index + 1)
}

/// The value of up to four decimal digits and nothing else.
fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}

/// `08:49:37`
fn clock(civil: &Civil) -> [u8; 8] {
    let [h0, h1] = two_digits(civil.hour);
    let [m0, m1] = two_digits(civil.minute);
    let [s0, s1] = two_digits(civil.second);
    [h0, h1, b':', m0, m1, b':', s0, s1]
}

fn two_digits(value: u8) -> [u8; 2] {
    [b'0' + value / 10 % 10, b'0' + value % 10]
}

/// The last four digits of a year that is not negative.
fn four_digits(year: i64) -> [u8; 4] {
    let [y0, y1] = two_digits((year / 100 % 100) as u8);
    let [y2, y3] = two_digits((year % 100) as u8);
    [y0, y1, y2, y3]
}

/// Copies `text` over `out` from `at`; leaves `out` as it is where the text does not fit.
fn put(out: &mut [u8], at: usize, text: &[u8]) {
    if let Some(target) = out.get_mut(at..at + text.len()) {
        target.copy_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2026-11-20T12:00:00Z
    const NOW: i64 = 1_795_176_000;
    /// 1994-11-06T08:49:37Z
    const EXAMPLE: i64 = 784_111_777;

    fn read(text: &str) -> Option<i64> {
        parse(text.as_bytes(), NOW)
    }

    fn written(seconds: i64) -> String {
        String::from_utf8(format(seconds).to_vec()).unwrap()
    }

    #[test]
    fn the_three_forms_of_the_rfc_are_one_moment() {
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(EXAMPLE));
        assert_eq!(read("Sunday, 06-Nov-94 08:49:37 GMT"), Some(EXAMPLE));
        assert_eq!(read("Sun Nov  6 08:49:37 1994"), Some(EXAMPLE));
        assert_eq!(written(EXAMPLE), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn edges_of_the_calendar_are_read() {
        assert_eq!(read("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(read("Wed, 31 Dec 1969 23:59:59 GMT"), Some(-1));
        assert_eq!(read("Fri, 31 Dec 9999 23:59:59 GMT"), Some(WRITABLE.1));
        assert_eq!(read("Mon, 01 Jan 0001 00:00:00 GMT"), Some(-62_135_596_800));
        assert_eq!(read("Sat, 01 Jan 0000 00:00:00 GMT"), Some(-62_167_219_200));
        assert_eq!(read("Tue, 29 Feb 2000 00:00:00 GMT"), Some(951_782_400));
        assert_eq!(read("Wed Nov 16 08:49:37 1994"), Some(EXAMPLE + 10 * SECONDS_PER_DAY));
    }

    #[test]
    fn the_weekday_must_be_a_name_but_not_the_right_one() {
        assert_eq!(read("Mon, 06 Nov 1994 08:49:37 GMT"), Some(EXAMPLE));
        assert_eq!(read("Wednesday, 06-Nov-94 08:49:37 GMT"), Some(EXAMPLE));
        for text in [
            "Son, 06 Nov 1994 08:49:37 GMT",
            "sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-94 08:49:37 GMT",
            "Sonntag, 06-Nov-94 08:49:37 GMT",
            ", 06-Nov-94 08:49:37 GMT",
            "Xyz Nov  6 08:49:37 1994",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_leap_second_is_read_as_the_one_before() {
        let last = read("Sat, 31 Dec 2016 23:59:59 GMT");
        assert!(last.is_some());
        assert_eq!(read("Sat, 31 Dec 2016 23:59:60 GMT"), last);
        assert_eq!(read("Saturday, 31-Dec-16 23:59:60 GMT"), last);
        assert_eq!(read("Sat Dec 31 23:59:60 2016"), last);
        assert_eq!(read("Sat, 31 Dec 2016 23:58:60 GMT"), None);
        assert_eq!(read("Sat, 31 Dec 2016 22:59:60 GMT"), None);
        assert_eq!(read("Sat, 31 Dec 2016 23:59:61 GMT"), None);
    }

    #[test]
    fn impossible_days_and_times_are_refused() {
        for text in [
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 32 Dec 1994 08:49:37 GMT",
            "Sun, 29 Feb 1900 08:49:37 GMT",
            "Sun, 29 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT",
            "Sun, 06 Nov 1994 08:49:99 GMT",
            "Sunday, 31-Nov-94 08:49:37 GMT",
            "Sun Nov 31 08:49:37 1994",
            "Sun Nov  0 08:49:37 1994",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "",
            "0",
            " Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 gmt",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun,  6 Nov 1994 08:49:37 GMT",
            "Sun; 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT",
            "Sun, 06 Nov 19x4 08:49:37 GMT",
            "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun, 06 Nov 1994 +8:49:37 GMT",
            "Sunday, 06 Nov 94 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 UTC",
            "Sunday, 06-Nov-9x 08:49:37 GMT",
            "Sun Nov 6  08:49:37 1994",
            "Sun Nov   08:49:37 1994 ",
            "Sun Nov  6 08:49:37 19-4",
            "Sun Nov  6 08:49:37,1994",
            "Sunday, Nov  6 08:49:37 1994",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn two_digit_years_reach_fifty_years_ahead() {
        let year = |text: &str, now| parse(text.as_bytes(), now).map(|at| Civil::of(at).year);
        assert_eq!(year("Friday, 20-Nov-76 12:00:00 GMT", NOW), Some(2076));
        assert_eq!(year("Friday, 20-Nov-76 12:00:01 GMT", NOW), Some(1976));
        assert_eq!(year("Friday, 01-Jan-76 00:00:00 GMT", NOW), Some(2076));
        assert_eq!(year("Friday, 20-Nov-77 12:00:00 GMT", NOW), Some(1977));
        assert_eq!(year("Friday, 20-Nov-26 12:00:00 GMT", NOW), Some(2026));
        assert_eq!(year("Friday, 20-Nov-99 12:00:00 GMT", NOW), Some(1999));
        assert_eq!(year("Friday, 20-Nov-00 12:00:00 GMT", NOW), Some(2000));
        // 2090: small numbers belong to the century that comes.
        let late = 3_786_912_000;
        assert_eq!(year("Friday, 20-Nov-05 12:00:00 GMT", late), Some(2105));
        assert_eq!(year("Friday, 20-Nov-89 12:00:00 GMT", late), Some(2089));
        // The leap day exists in the year that is meant, or the date does not exist.
        assert_eq!(year("Friday, 29-Feb-00 12:00:00 GMT", NOW), Some(2000));
        assert_eq!(year("Friday, 29-Feb-00 12:00:00 GMT", late), None);
        for now in [i64::MIN, i64::MAX] {
            assert!(year("Friday, 20-Nov-26 12:00:00 GMT", now).is_some());
        }
    }

    #[test]
    fn writing_stays_within_its_bounds() {
        assert_eq!(written(i64::MIN), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(written(-1), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(written(i64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(&log_time(i64::MIN), b"01/Jan/1970:00:00:00 +0000");
        assert_eq!(&log_time(i64::MAX), b"31/Dec/9999:23:59:59 +0000");
    }

    #[test]
    fn the_log_has_its_own_form() {
        assert_eq!(&log_time(NOW), b"20/Nov/2026:12:00:00 +0000");
    }

    #[test]
    fn any_second_has_a_civil_form() {
        let civil = Civil::of(-1);
        assert_eq!((civil.year, civil.month, civil.day, civil.weekday), (1969, 12, 31, 3));
        assert_eq!((civil.hour, civil.minute, civil.second), (23, 59, 59));
        assert!(Civil::of(i64::MIN).year < -292_000_000_000);
        assert!(Civil::of(i64::MAX).year > 292_000_000_000);
    }

    #[test]
    fn days_follow_one_another_without_a_gap() {
        let mut before = Civil::of(-800 * 366 * SECONDS_PER_DAY);
        for day in -800 * 366 + 1..800 * 366 {
            let civil = Civil::of(day * SECONDS_PER_DAY);
            assert_eq!(civil.weekday, (before.weekday + 1) % 7);
            if civil.day == 1 {
                let (year, month) = (before.year, i64::from(before.month));
                assert_eq!(i64::from(before.day), days_in_month(year, month));
                assert_eq!(civil.year * 12 + i64::from(civil.month), year * 12 + month + 1);
            } else {
                assert_eq!((civil.year, civil.month), (before.year, before.month));
                assert_eq!(civil.day, before.day + 1);
            }
            before = civil;
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(at in WRITABLE.0..=WRITABLE.1, now: i64) {
            prop_assert_eq!(parse(&format(at), now), Some(at));
        }

        #[test]
        fn the_older_forms_are_read_too(at in WRITABLE.0..=WRITABLE.1) {
            let civil = Civil::of(at);
            let Civil { year, day, hour, minute, second, weekday, .. } = civil;
            let month = str::from_utf8(civil.month_name()).unwrap();
            let weekday = WEEKDAYS[usize::from(weekday)];
            let time = std::format!("{hour:02}:{minute:02}:{second:02}");
            let asctime = std::format!("{} {month} {day:2} {time} {year:04}", &weekday[..3]);
            prop_assert_eq!(parse(asctime.as_bytes(), 0), Some(at));
            let rfc850 = std::format!("{weekday}, {day:02}-{month}-{:02} {time} GMT", year % 100);
            prop_assert_eq!(parse(rfc850.as_bytes(), at), Some(at));
        }

        #[test]
        fn any_bytes_are_survived(value in prop::collection::vec(any::<u8>(), 0..40), now: i64) {
            let _ = parse(&value, now);
        }

        #[test]
        fn damaged_dates_are_survived(at: i64, place in 0..29_usize, byte: u8, now: i64) {
            let mut value = format(at);
            value[place] = byte;
            if let Some(read) = parse(&value, now) {
                prop_assert!((-62_167_219_200..=WRITABLE.1).contains(&read));
            }
        }
    }
}
