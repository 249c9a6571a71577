//! The lexer by examples, against a bash parser, and by what it costs.

use std::hint::black_box;

use brush_parser::ast::{
    AndOr, Command as Parsed, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, Pipeline, SimpleCommand,
};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};
use proptest::prelude::*;

use super::{Command, commands};
use crate::text::growth;

/// The words of each command.
fn words(line: &str) -> Vec<String> {
    commands(line).iter().map(|command| command.words.join(" ")).collect()
}

#[test]
fn quotes_escapes_and_continuation_lines_hold_words_together() {
    for (line, expected) in [
        (r#"rg "retry|watch" src"#, &["rg retry|watch src"][..]),
        (r#"git commit -m "fix: stop; wait""#, &["git commit -m fix: stop; wait"]),
        (r"grep 'a && b' f; ls", &["grep a && b f", "ls"]),
        (r#"echo "a \"b\" c" d\ e"#, &[r#"echo a "b" c d e"#]),
        ("make \\\n  all", &["make all"]),
        (r"printf $'a\n'", &["printf a\n"]),
        (r#"echo a"b c"'d e'"#, &["echo ab cd e"]),
        ("echo 'not closed; ls", &["echo not closed; ls"]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn lists_pipelines_groups_and_blocks_are_taken_apart() {
    for (line, expected) in [
        ("a && b || c; d & e | f |& g", &["a", "b", "c", "d", "e", "f", "g"][..]),
        ("(cd x; make) && { ls; }", &["cd x", "make", "ls"]),
        ("if ! test -f a; then b; elif c; then d; else e; fi", &["test -f a", "b", "c", "d", "e"]),
        ("until curl -f x; do sleep 2; done", &["curl -f x", "sleep 2"]),
        ("for f in a b; do cat $f; done", &["cat $f"]),
        ("for ((i=0; i<3; i++)); do x; done", &["x"]),
        ("case $a in b|c) d;; (e) f ;; *) g; esac; h", &["d", "f", "g", "h"]),
        ("while read -r l\ndo\necho $l\ndone < f", &["read -r l", "echo $l"]),
        ("[[ $a > b && -f c ]] && d", &["[[ $a > b && -f c ]]", "d"]),
        ("f() { a; }; f", &["a", "f"]),
        ("function f { a; }", &["a"]),
        ("((x = 1 > 0)); a", &["a"]),
        ("((a; b) && c)", &["a", "b", "c"]),
        ("a=(1 2 3) b", &["a= b"]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn substitutions_and_lines_within_lines_are_commands_too() {
    for (line, expected) in [
        ("echo $(git status | wc -l)", &["git status", "wc -l", "echo $(git status | wc -l)"][..]),
        ("echo \"at $(date)\"", &["date", "echo at $(date)"]),
        ("echo `ls`", &["ls", "echo `ls`"]),
        ("diff <(a) <(b)", &["a", "b", "diff <(a) <(b)"]),
        ("echo '$(ls)'", &["echo $(ls)"]),
        ("bash -c 'git reset --hard; ls'", &["git reset --hard", "ls"]),
        ("env A=1 bash -lc \"make && ls\"", &["make", "ls"]),
        ("sh -c 'bash -c \"a; b\"'", &["a", "b"]),
        ("eval 'a; b'", &["a", "b"]),
        ("bash script.sh", &["bash script.sh"]),
        ("echo $((1 + 2)) ${x:-$(no)}", &["echo $((1 + 2)) ${x:-$(no)}"]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn what_is_no_command_raises_none() {
    for (line, expected) in [
        ("cat <<EOF\ngit reset --hard\nEOF\nls", &["cat", "ls"][..]),
        ("cat <<'E O' > f\nrm -rf /\nE O\nls", &["cat", "ls"]),
        ("cat <<-E\n\trm x\n\tE\nls", &["cat", "ls"]),
        ("cat <<A <<B\na\nA\nb\nB\nls", &["cat", "ls"]),
        ("ls # rm -rf /", &["ls"]),
        ("# only this", &[]),
        ("echo a#b", &["echo a#b"]),
        ("cat <<< 'rm x'", &["cat"]),
        ("", &[]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn redirections_are_no_words_and_say_what_is_written() {
    for (line, words, writes) in [
        ("make > log.txt 2>&1", "make", &["log.txt"][..]),
        ("a 2>err >>out <in", "a", &["err", "out"]),
        ("a &> all b", "a b", &["all"]),
        ("a >&2", "a", &[]),
        ("a 2>&-", "a", &[]),
        ("a >& f", "a", &["f"]),
        ("a 2 > f", "a 2", &["f"]),
        ("a '>' b", "a > b", &[]),
        ("> f", "", &["f"]),
    ] {
        let [Command { words: found, writes: written, .. }] = &commands(line)[..] else { panic!("{line}") };
        assert_eq!(
            (found.join(" ").as_str(), &written[..]),
            (words, &writes.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>()[..]),
            "{line}"
        );
    }
}

#[test]
fn loops_and_pipes_are_known() {
    let marks = |line: &str| -> Vec<(bool, bool)> {
        commands(line).iter().map(|command| (command.looped, command.piped)).collect()
    };
    assert_eq!(marks("a | b; c"), [(false, false), (false, true), (false, false)]);
    assert_eq!(marks("while a; do b | c; done; d"), [(true, false), (true, false), (true, true), (false, false)]);
    assert_eq!(marks("for x in y; do (a; b); done"), [(true, false), (true, false)]);
    assert_eq!(marks("until bash -c 'a'; do :; done"), [(true, false), (true, false)]);
    assert_eq!(marks("a | (b; c)"), [(false, false), (false, true), (false, false)]);
}

#[test]
fn taking_a_line_apart_costs_what_it_is_long() {
    growth::is_linear(|line| {
        black_box(commands(line));
    });
    for unit in [
        "$(",
        "`",
        "(",
        "{",
        "case x in a) ",
        "while x; ",
        "[[ ",
        "[[\n",
        "<<a ",
        "<<a\n",
        "<(",
        "bash -c '",
        "a=(",
        "${",
        "\"$(",
        "eval ",
        "f() { ",
        "do ",
        "esac ",
        "done ",
        "| ",
        ">&",
        "((",
        "$((",
    ] {
        growth::grows(
            unit,
            |size| unit.repeat(size / unit.len()),
            |line: &String| {
                black_box(commands(line));
            },
        );
    }
}

/// A word as it may stand in a line.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z][a-z0-9./_-]{0,6}",
        1 => "'[a-z ;|&<>#()\"$]{0,8}'",
        1 => "\"[a-z ;|&<>#()']{0,8}\"",
        1 => r"[a-z]\\[ ;|&'#][a-z]",
        1 => "-[a-z]",
    ]
}

fn simple() -> impl Strategy<Value = String> {
    let redirect =
        prop_oneof![Just(String::new()), "( > [a-z]{1,3}| 2>&1| >> [a-z]{1,3}| < [a-z]{1,3}| 2> [a-z]{1,3})",];
    // Words that begin something else as the first one are not programs.
    let keyword = |word: &String| {
        [
            "if", "then", "fi", "do", "done", "for", "case", "esac", "while", "until", "in", "else", "elif", "time",
            "eval", "sh", "select",
        ]
        .contains(&word.as_str())
    };
    (
        "[a-z][a-z0-9_-]{1,6}".prop_filter("a program", move |word| !keyword(word)),
        proptest::collection::vec(word(), 0..4),
        redirect,
    )
        .prop_map(|(program, words, redirect)| format!("{}{redirect}", [vec![program], words].concat().join(" ")))
}

fn line() -> impl Strategy<Value = String> {
    simple().prop_recursive(4, 24, 3, |inner| {
        let list = proptest::collection::vec(
            (inner.clone(), prop::sample::select(vec![" && ", " || ", "; ", " | ", "\n", " & "])),
            1..4,
        )
        .prop_map(|parts| {
            let last = parts.len() - 1;
            parts.into_iter().enumerate().map(|(n, (part, by))| if n == last { part } else { part + by }).collect()
        });
        prop_oneof![
            3 => list,
            1 => inner.clone().prop_map(|list| format!("(a; {list})")),
            1 => inner.clone().prop_map(|list| format!("{{ {list}; }}")),
            1 => (inner.clone(), inner.clone()).prop_map(|(test, then)| format!("if {test}; then {then}; fi")),
            1 => (inner.clone(), inner.clone()).prop_map(|(test, body)| format!("while ! {test}; do {body}; done")),
            1 => inner.clone().prop_map(|body| format!("for x in a 'b c'; do {body}; done")),
            1 => (inner.clone(), inner).prop_map(|(one, other)| format!("case x in a|b) {one};; *) {other};; esac")),
        ]
    })
}

/// The same of the bash parser; nothing when it takes the line for a mistake.
fn parsed(line: &str) -> Option<Vec<Vec<String>>> {
    let tokens = uncached_tokenize_str(line, &brush_parser::TokenizerOptions::default()).ok()?;
    let program = parse_tokens(&tokens, &ParserOptions::default()).ok()?;
    let mut found = Vec::new();
    program.complete_commands.iter().for_each(|list| of_list(list, &mut found));
    Some(found)
}

fn of_list(list: &CompoundList, found: &mut Vec<Vec<String>>) {
    for item in &list.0 {
        of_pipeline(&item.0.first, found);
        for next in &item.0.additional {
            let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
            of_pipeline(pipeline, found);
        }
    }
}

fn of_pipeline(pipeline: &Pipeline, found: &mut Vec<Vec<String>>) {
    for command in &pipeline.seq {
        match command {
            Parsed::Simple(simple) => of_simple(simple, found),
            Parsed::Compound(compound, _) => of_compound(compound, found),
            _ => {}
        }
    }
}

fn of_compound(compound: &CompoundCommand, found: &mut Vec<Vec<String>>) {
    match compound {
        CompoundCommand::BraceGroup(group) => of_list(&group.list, found),
        CompoundCommand::Subshell(subshell) => of_list(&subshell.list, found),
        CompoundCommand::ForClause(clause) => of_list(&clause.body.list, found),
        CompoundCommand::CaseClause(clause) => {
            clause.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|list| of_list(list, found));
        }
        CompoundCommand::IfClause(clause) => {
            of_list(&clause.condition, found);
            of_list(&clause.then, found);
        }
        CompoundCommand::WhileClause(clause) => {
            of_list(&clause.0, found);
            of_list(&clause.1.list, found);
        }
        _ => {}
    }
}

fn of_simple(simple: &SimpleCommand, found: &mut Vec<Vec<String>>) {
    let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        CommandPrefixOrSuffixItem::Word(word) => Some(&word.value),
        _ => None,
    });
    found.push(simple.word_or_name.iter().map(|word| &word.value).chain(suffix).map(|word| unquoted(word)).collect());
}

fn unquoted(word: &str) -> String {
    text_of(&brush_parser::word::parse(word, &ParserOptions::default()).unwrap())
}

fn text_of(pieces: &[WordPieceWithSource]) -> String {
    let text = |piece: &WordPieceWithSource| match &piece.piece {
        WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => text.clone(),
        WordPiece::DoubleQuotedSequence(pieces) => text_of(pieces),
        WordPiece::EscapeSequence(escape) => escape[1..].to_owned(),
        other => panic!("not generated: {other:?}"),
    };
    pieces.iter().map(text).collect()
}

proptest! {
    #[test]
    fn a_line_has_the_commands_that_a_bash_parser_finds_in_it(line in line()) {
        let ours: Vec<Vec<String>> = commands(&line).into_iter().map(|command| command.words).collect();
        let theirs = parsed(&line);
        prop_assume!(theirs.is_some());
        prop_assert_eq!(ours, theirs.unwrap(), "{}", line);
    }

    #[test]
    fn any_text_is_survived(text in ".{0,80}", shell in r#"[a-z $(){}\[\]<>|&;`'"\\#\n=-]{0,60}"#) {
        for line in [&text, &shell] {
            for command in commands(line) {
                prop_assert!(!command.words.is_empty() || !command.writes.is_empty());
            }
        }
    }
}
