//! The scanners that every output goes through: escape sequences, noise, previews, error classes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pi_watchdog_supervisor::text::{
    ansi, error_class, hash_output, mask, normalize_command, normalize_message, preview, quote,
};

fuzz_target!(|input: (u16, u8, &[u8])| {
    let (limit, lines, bytes) = (usize::from(input.0), usize::from(input.1), input.2);
    let text = &*String::from_utf8_lossy(bytes);

    let stripped = ansi::strip(text);
    assert!(stripped.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
    assert_eq!(ansi::strip(&stripped), stripped, "nothing is left to strip");
    assert_eq!(ansi::strip_to(text, limit), &stripped[..stripped.floor_char_boundary(limit)]);

    let (mut masked, mut again) = (String::new(), String::new());
    mask(text, &mut masked);
    mask(&masked, &mut again);
    assert_eq!(again, masked, "a masked text has no noise");
    mask(&stripped, &mut again);
    assert_eq!(again, masked, "escape sequences are no signal");

    let command = normalize_command(text);
    assert_eq!(normalize_command(&command), command);
    let message = normalize_message(text);
    assert_eq!(normalize_message(&message), message);

    let hashed = hash_output(text, limit, lines);
    assert_eq!(hashed.hash, hash_output(&stripped, limit, lines).hash);
    assert!(hashed.preview.lines().count() <= lines);
    assert!(preview(text, lines).lines().count() <= lines);
    // One line more says how much was left out.
    assert!(quote(text, 200, lines).lines().count() <= lines + 1);
    let _ = error_class(text);
});
