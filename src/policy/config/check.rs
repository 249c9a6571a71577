//! One value against its key: accepted, clamped, or refused.

use serde_json::{Value, json};

use crate::setting::{Key, Shape, whole};

pub enum Checked {
    Good(Value),
    /// Usable after a change, and what was wrong.
    Changed(Value, String),
    /// Not usable, and what was expected.
    Bad(String),
}

pub fn check(key: &Key, value: &Value) -> Checked {
    match &key.shape {
        Shape::Bool => keep_if(value, value.is_boolean(), "true or false"),
        Shape::BoolOrNull => keep_if(value, value.is_boolean() || value.is_null(), "true, false or null"),
        Shape::OneOf(names) => {
            let known = value.as_str().is_some_and(|value| names.contains(&value));
            keep_if(value, known, &format!("one of {}", names.join(", ")))
        }
        Shape::Text(max) => text(value, *max),
        Shape::OptionalText(max) => {
            let fits = value.as_str().is_some_and(|text| text.chars().count() <= *max && !text.contains('\0'));
            keep_if(value, fits, &format!("a text of at most {max} characters"))
        }
        Shape::Texts { max, max_chars } => {
            let fits = |word: &Value| {
                word.as_str().is_some_and(|word| word.chars().count() <= *max_chars && !word.contains('\0'))
            };
            // An empty name of a program can never be run.
            let good = value.as_array().is_some_and(|words| {
                words.len() <= *max && words.iter().all(fits) && words.first().is_none_or(|first| *first != json!(""))
            });
            keep_if(value, good, &format!("a list of at most {max} texts, the first a program"))
        }
        Shape::Integer { min, max } => integer(value, *min, *max),
        Shape::Usd { max } => match value.as_f64().filter(|number| number.is_finite()) {
            None => Checked::Bad("an amount in US dollars".to_owned()),
            Some(number) => within(number, number.clamp(0.0, *max), &whole(0.0), &whole(*max)),
        },
        Shape::Seconds { min, max } => match value.as_f64().filter(|number| number.is_finite()) {
            None => Checked::Bad("a number of seconds".to_owned()),
            Some(number) => within(number, number.clamp(*min, *max), &whole(*min), &whole(*max)),
        },
    }
}

fn keep_if(value: &Value, good: bool, expected: &str) -> Checked {
    if good { Checked::Good(value.clone()) } else { Checked::Bad(expected.to_owned()) }
}

fn text(value: &Value, max: usize) -> Checked {
    let Some(text) = value.as_str().map(str::trim).filter(|text| !text.is_empty()) else {
        return Checked::Bad("a text that is not empty".to_owned());
    };
    match text.char_indices().nth(max) {
        Some((end, _)) => Checked::Changed(json!(text[..end]), format!("longer than {max} characters")),
        None => Checked::Good(json!(text)),
    }
}

fn integer(value: &Value, min: u32, max: u32) -> Checked {
    let Some(number) = value.as_f64().filter(|number| number.is_finite() && number.fract() == 0.0) else {
        return Checked::Bad("a whole number".to_owned());
    };
    within(number, number.clamp(f64::from(min), f64::from(max)), &json!(min), &json!(max))
}

fn within(given: f64, clamped: f64, min: &Value, max: &Value) -> Checked {
    #[expect(clippy::float_cmp, reason = "clamp returns the very value unless it changes it")]
    if given == clamped {
        Checked::Good(whole(given))
    } else {
        Checked::Changed(whole(clamped), format!("not between {min} and {max}"))
    }
}
