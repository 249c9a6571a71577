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
