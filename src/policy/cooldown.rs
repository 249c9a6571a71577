//! When an alert is due. No clock: the caller says what time it is.

/// Whether a stuck verdict with evidence `key` should be told now.
///
/// `last`: key and time (ms) of the last alert. `cooldown_sec` 0: at every check; negative: the same key never again;
/// positive: the same key not within so many seconds. Another key is told at once.
pub fn should_alert(last: Option<(&str, f64)>, stuck: bool, key: &str, now_ms: f64, cooldown_sec: f64) -> bool {
    if !stuck {
        return false;
    }
    let Some((last_key, last_at)) = last else { return true };
    if last_key != key || cooldown_sec == 0.0 {
        return true;
    }
    cooldown_sec > 0.0 && now_ms - last_at >= cooldown_sec * 1000.0
}

#[cfg(test)]
mod tests {
    use super::should_alert;

    #[test]
    fn what_is_not_stuck_is_never_told() {
        assert!(!should_alert(None, false, "", 0.0, 0.0));
        assert!(!should_alert(Some(("a", 0.0)), false, "b", 1e9, 0.0));
    }

    #[test]
    fn the_first_verdict_and_a_new_one_are_told_at_once() {
        for cooldown in [-1.0, 0.0, 60.0] {
            assert!(should_alert(None, true, "a", 0.0, cooldown));
            assert!(should_alert(Some(("a", 0.0)), true, "b", 1.0, cooldown));
        }
    }

    #[test]
    fn the_same_verdict_waits_for_its_cooldown() {
        assert!(!should_alert(Some(("a", 1000.0)), true, "a", 60_999.0, 60.0));
        assert!(should_alert(Some(("a", 1000.0)), true, "a", 61_000.0, 60.0));
        assert!(!should_alert(Some(("a", 1000.0)), true, "a", 500.0, 60.0));
    }

    #[test]
    fn zero_tells_at_every_check_and_negative_never_again() {
        assert!(should_alert(Some(("a", 1000.0)), true, "a", 1000.0, 0.0));
        assert!(!should_alert(Some(("a", 1000.0)), true, "a", 1e15, -1.0));
    }
}
