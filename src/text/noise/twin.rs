//! What the scanner does, said once more in a slow and obvious way: regular expressions for the forms of noise, a search
//! byte by byte for the places where it may begin.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::string::string_regex;
use regex::Regex;

use super::scan::{View, next_digit};
use super::tests::soup;
use super::{id, mask, time};

/// Texts near a form of noise, the texts that are noise as a whole, and their placeholder.
const FORMS: &[(&str, &str, &str)] = &[
    ("[0-9]{1,3}:[0-9]{1,3}(:[0-9]{1,3})?", r"^\d{1,2}:[0-5]\d:([0-5]\d|60)$|^0\d:[0-5]\d$", "<time>"),
    ("[0-9]{1,2}:[0-9]{2}:[0-9]{2}[.,:][0-9]{1,4}", r"^\d{1,2}:[0-5]\d:([0-5]\d|60)[.,]\d{2,}$", "<time>"),
    ("[0-9]{1,2}:[0-9]{2}( ?)(am|pm|AM|p|px)", r"^\d{1,2}:[0-5]\d ?(am|pm|AM)$", "<time>"),
    (
        "[12][09][0-9]{2}[-/][01][0-9][-/][0-3][0-9]",
        r"^(19[7-9]\d|20\d\d)(-(0[1-9]|1[0-2])-|/(0[1-9]|1[0-2])/)(0[1-9]|[12]\d|3[01])$",
        "<time>",
    ),
    (
        "202[0-9]-0[1-9]-1[0-9][T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\\.[0-9]{1,4})?)?(Z|z|\\+[01][0-9]:?[0-6][0-9])?",
        r"^\S{10}[T ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d{2,})?)?([Zz]|\+(0\d|1[0-4]):?[0-5]\d)?$",
        "<time>",
    ),
    (
        "20[0-9]{2}[01][0-9][0-3][0-9][T_ -]?[0-2][0-9][0-6][0-9]{3}Z?",
        r"^\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[T_-]?([01]\d|2[0-3])[0-5]\d([0-5]\d|60)Z?$",
        "<time>",
    ),
    (
        "[0-9]{1,3}(\\.[0-9]{1,3})?( ?)(ns|us|µs|ms|s|m|h|d|min|minutes|sec|hr|x|km|MB)",
        r"^\d+(\.\d+)? ?(ns|us|µs|ms|s|min|minutes|sec|hr)$|^\d+(\.\d+)?h$|^[0-5]?\dm$",
        "<dur>",
    ),
    (
        "[0-9]{1,2}(d|h|m|s)( ?)[0-9]{1,2}(h|m|s|ms)",
        r"^\d+d ?\d+(h|m|s|ms)$|^\d+h ?\d+(m|s|ms)$|^\d+m ?\d+(s|ms)$|^\d+s ?\d+ms$",
        "<dur>",
    ),
    ("[0-9]{1,3}(\\.[0-9])?( ?)(MB|it|ops|)/(s|sec|h|x)", r"^\d+(\.\d+)? ?(MB|it|ops)/(s|sec)$", "<rate>"),
    (
        "[0-9a-g]{8}-[0-9a-f]{4}-[0-9a-f]{3,5}-[0-9a-f]{4}-[0-9a-f]{12}",
        "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        "<id>",
    ),
    ("[0-9a-f]{10,70}", "^([0-9a-f]{16,40}|[0-9a-f]{64})$", "<id>"),
    ("0x[0-9a-f]{1,18}", "^0x[0-9a-f]{9,16}$", "<addr>"),
];

fn masked(text: &str) -> String {
    let mut out = String::new();
    mask(text, &mut out);
    out
}

#[test]
fn each_form_is_what_its_regular_expression_says() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for (near, form, placeholder) in FORMS {
        let form = Regex::new(form).unwrap();
        let (mut inside, mut outside) = (0, 0);
        runner
            .run(&string_regex(near).unwrap(), |text| {
                // An id of digits alone is a number, one of letters alone a word.
                let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && *placeholder == "<id>";
                prop_assume!(!plain && text.bytes().any(|byte| byte.is_ascii_digit()));
                let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic()) || *placeholder != "<id>";
                prop_assert_eq!(masked(&text) == *placeholder, form.is_match(&text) && letters, "{:?}", text);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{form}: {error}"));
        for _ in 0..500 {
            let text = string_regex(near).unwrap().new_tree(&mut runner).unwrap().current();
            *(if form.is_match(&text) { &mut inside } else { &mut outside }) += 1;
        }
        assert!(inside > 5 && outside > 5, "{form} is tried on one side only: {inside} to {outside}");
    }
}

proptest! {
    #[test]
    fn the_next_digit_is_the_first_one(bytes in prop::collection::vec(any::<u8>(), 0..80), from in 0..90_usize) {
        let naive = bytes.iter().skip(from).position(u8::is_ascii_digit).map(|offset| from + offset);
        prop_assert_eq!(next_digit(&bytes, from), naive);
    }

    /// The rules that turn numbers down at first sight turn nothing down that they would have taken.
    #[test]
    fn a_first_look_rejects_nothing_that_is_noise(text in soup()) {
        let bytes = text.as_bytes();
        let view = View { bytes, floor: 0 };
        for at in (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()) {
            let starts_run = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
            if starts_run {
                prop_assert_eq!(time::find(&view, at), time::forms(&view, at));
            }
            if at == 0 || !bytes[at - 1].is_ascii_digit() {
                prop_assert_eq!(id::find(&view, at), id::forms(&view, at));
            }
        }
    }
}
