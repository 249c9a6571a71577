//! What goes round: each must be found in the stream within its rounds, whatever came before.

use std::fmt::Write as _;

use super::{Stream, streamed, whole};

/// What is said, and in how many rounds at the latest it must be found.
pub const CHANTS: &[(&str, usize)] = &[
    // Words.
    ("no ", 200),
    ("wait ", 110),
    ("maintain ", 60),
    ("the the ", 70),
    ("really, ", 260),
    ("stop. ", 60),
    ("hahaha ", 80),
    ("Нет, ", 420),
    ("yes no ", 80),
    ("go go gadget ", 45),
    // Phrases.
    ("let me see, ", 50),
    ("and then and so on ", 32),
    ("checking again... ", 30),
    ("I think I should think about what I think ", 14),
    ("one more time and ", 32),
    ("so the answer is the answer, ", 20),
    ("to be or not to be ", 30),
    ("- - wait - - ", 50),
    ("TODO fix this, ", 40),
    // Run together.
    ("lalilu", 90),
    ("END_OF_FILE", 50),
    ("ABCXYZ", 90),
    ("907", 180),
    ("undefinedundefinednull", 26),
    // Sentences.
    ("I will fix the failing test now. ", 18),
    ("Done. ", 60),
    ("Okay, here I go. ", 28),
    ("Let me try a different approach to this problem! ", 12),
    ("What if the cache is stale? ", 20),
    ("I need to stop. I really need to stop. ", 14),
    ("The file `src/main.rs` looks right to me. ", 14),
    ("**Final answer:** the build is green. ", 16),
    ("\"I cannot go on like this,\" it said. ", 16),
    ("Ich fange jetzt mit der Arbeit an. ", 16),
    ("Je vais maintenant vérifier le fichier. ", 14),
    ("Сейчас я проверю этот файл ещё раз. ", 16),
    ("سأتحقق من الملف مرة أخرى الآن. ", 18),
    ("मैं अब फ़ाइल की जाँच करूँगा। ", 20),
    ("我现在就去修改这个文件。", 45),
    ("もう一度ファイルを確認します。", 36),
    ("파일을 다시 확인하겠습니다. ", 34),
    // Lines and blocks.
    ("I am finished with all of this.\n", 18),
    ("Goodbye.\n", 60),
    ("Finished.\nNothing else is left.\nI will wait for the next task.\n", 10),
    ("\nThe plan:\n\nFirst I look at the parser, then at the printer.\n\nThen I write the test.\n", 9),
    ("## Summary\n\nThe work is complete and everything was checked twice.\n\nThank you for your patience.\n\n", 8),
    (
        "Looking at the trace, the request reaches the gateway, the gateway asks the session store, the store answers with \
         a token that has expired, and the gateway refuses. So the clock must be wrong. But the clock is right, because the \
         other service agrees with it. So the token must be wrong. Let me look at the trace again.\n\n",
        6,
    ),
    (
        "Let me think about this differently. The lock is taken before the write. The write waits for the flush. \
         The flush waits for the lock. Hmm, that would be a deadlock. But it is not a deadlock, since the flush runs first. ",
        6,
    ),
    ("Actually, wait. Option one is better. No, hold on, option two is better. ", 9),
];

/// Found by fuzzing: the beginning of the unit was cut off before it was looked at.
#[test]
fn a_unit_that_begins_with_control_characters_is_shown_from_its_first_word() {
    let found = whole(&format!("s0tymd\n{}\u{1}cg", "\0".repeat(123)).repeat(39)).unwrap();
    assert!(["s0tymd", "cg"].iter().any(|word| found.unit.starts_with(word)), "{:?}", found.unit);
}

#[test]
fn every_chant_is_found_in_time() {
    for (unit, rounds) in CHANTS {
        for lead in ["", "I will look at the failing test first and then fix what is wrong with it.\n\n"] {
            let text = format!("{lead}{}", unit.repeat(*rounds));
            let found = streamed(&text).unwrap_or_else(|| panic!("not found: {unit:?} × {rounds}"));
            assert!(!found.counter_only, "{unit:?} has no counter: {found:?}");
            assert!(found.characters >= 300 && found.count >= 5, "{unit:?}: {found:?}");
            assert!(found.unit.chars().count() <= 120 && !found.unit.is_empty(), "{unit:?}: {found:?}");
        }
    }
}

#[test]
fn few_rounds_are_no_chant() {
    for (unit, _) in CHANTS {
        let text = unit.repeat(4);
        assert_eq!(whole(&text), None, "{unit:?}");
    }
}

#[test]
fn a_finished_message_that_is_one_chant_needs_less() {
    for word in ["ok then ", "never ", "la la ", "so "] {
        let text = word.repeat(40);
        assert_eq!(streamed(&text), None, "a stream is not cut for {} characters", text.len());
        let found = whole(&text).unwrap_or_else(|| panic!("{word:?}"));
        assert!(found.count >= 12 && !found.counter_only, "{found:?}");
        let mostly_else = format!("{}{text}", "Each verse says another thing, and the last one ends here. ".repeat(4));
        assert_eq!(whole(&mostly_else).is_some(), text.len() > 236, "{word:?}");
    }
}

#[test]
fn one_sign_is_padding_until_it_is_very_long() {
    for sign in ["不", "a", "!", "🙂", "A"] {
        assert_eq!(streamed(&sign.repeat(2_000)), None, "{sign}");
        assert!(streamed(&sign.repeat(9_000)).is_some(), "{sign}");
    }
}

#[test]
fn what_repeats_is_shown_from_its_start() {
    let unit = |text: &str, times| streamed(&text.repeat(times)).map(|found| found.unit).unwrap_or_default();
    assert_eq!(unit("I will fix the failing test now. ", 20), "I will fix the failing test now.");
    assert_eq!(unit("One line here.\nAnd a second line.\n", 20), "One line here. And a second line.");
    assert_eq!(unit("もう一度ファイルを確認します。", 40), "もう一度ファイルを確認します。");
    assert_eq!(unit("stop \u{1b} now\u{7} please ", 40), "stop   now  please", "no control characters");
}

/// Numbered sentences: a counter is all that changes.
#[test]
fn counting_chants_are_found() {
    let chants: [fn(usize) -> String; 9] = [
        |n| format!("Try {n}: the build fails again. "),
        |n| format!("Attempt {n}: I will try the same fix again and look whether it helps. "),
        |n| format!("Attempt {n}: let me run the very same tests and see what happens now.\n"),
        |n| format!("This is try number {n}, and this time I am sure that it works.\n\n"),
        |n| format!("I have now read the file {n} times and still do not see the reason. "),
        |n| format!("Iteration {n} of {}: nothing changed, so I will look at it once more.\n", n + 100),
        |n| format!("Versuch {n}: Ich probiere jetzt noch einmal genau dasselbe wie vorher. "),
        |n| format!("Попытка {n}: сейчас я ещё раз попробую сделать то же самое, что и раньше. "),
        |n| format!("第{n}次尝试：我现在再用同样的办法修改这个文件，看看这一次能不能解决这个问题。"),
    ];
    for chant in chants {
        let text: String = (7..37).map(chant).collect();
        let found = streamed(&text).unwrap_or_else(|| panic!("not found: {}", chant(1)));
        assert!(found.counter_only && found.count >= 10, "{found:?}");
        let starts = (1..40).any(|n| chant(n).replace('\n', " ").trim().starts_with(&found.unit));
        assert!(starts, "{found:?}");
    }
}

/// A few sentences in no order. The order comes from a small generator, so that no lane sees a period.
#[test]
fn shuffled_sentences_are_found() {
    let sets: [&[&str]; 5] = [
        &["I will do it. ", "I will go on. ", "Then I will run it. ", "Let me begin now. ", "I will run the search. "],
        &["Starting now. ", "I will write the file. ", "Here is the edit. ", "Proceeding with the edit. "],
        &["Let me check.\n", "Reading the file now.\n", "I will look at the file.\n", "I will read it.\n", "Now.\n"],
        &["Ich lese die Datei. ", "Dann schreibe ich sie. ", "Jetzt geht es los. ", "Ich beginne jetzt. "],
        &["我现在开始修改文件。", "接下来我会运行测试。", "好的我马上就去执行。", "然后我再检查一次结果。"],
    ];
    for sentences in sets {
        let mut state = 7_u64;
        let mut text = String::from("The plan is clear and the first file is known. ");
        for _ in 0..90 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pick = usize::try_from(state >> 33).unwrap() % sentences.len();
            let _ = write!(text, "{}", sentences[pick]);
        }
        let found = streamed(&text).unwrap_or_else(|| panic!("not found: {sentences:?}"));
        assert!(found.count >= 20 && found.characters >= 300, "{found:?}");
    }
}

/// Some text may go wrong once: a sentence of another kind does not hide the chant for long.
#[test]
fn an_interruption_does_not_hide_a_chant() {
    let mut text = String::new();
    for round in 0..6 {
        text += &"I will look at the logs now. ".repeat(5);
        let _ = write!(text, "Hm, this is thought number {round}. ");
    }
    assert_eq!(streamed(&text), None, "news come in between");
    text += &"I will look at the logs now. ".repeat(20);
    assert!(streamed(&text).is_some());
}

#[test]
fn told_once_and_again_after_a_reset() {
    let chant = "Let me try that again. ".repeat(200);
    let mut stream = Stream::default();
    assert!(stream.feed(&chant).is_some());
    assert!(stream.feed(&chant).is_none());
    assert!(stream.finish().is_none());
    stream.reset();
    assert!(stream.feed("Let me try that again. ").is_none());
    assert!(stream.feed(&chant).is_some());
}

/// A fence that was never closed does not hide a model that lost its way.
#[test]
fn endless_code_is_found_late() {
    let open = "Here is the file:\n\n```ts\n";
    let line = "    console.log(\"hello\");\n";
    assert_eq!(streamed(&format!("{open}{}", line.repeat(200))), None);
    assert!(streamed(&format!("{open}{}", line.repeat(500))).is_some());
    assert!(streamed(&format!("{open}```\n{}", "I am done with the file. ".repeat(40))).is_some(), "after the fence");
}
