//! What kind of error a failed output reports, so that "the same error" holds across arguments.

use super::ansi;

/// The normalised first error line of a failed output; `None` when there is no text.
pub fn error_class(output: &str) -> Option<String> {
    let stripped = ansi::strip(output);
    let line = stripped.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut masked = String::new();
    super::noise::mask(line, &mut masked);
    Some(masked)
}
