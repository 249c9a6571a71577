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
        (r"a $'it\'s; b'; c", &["a it's; b", "c"]),
        (r#"echo "${x:-'}"; a'}" && b"#, &[r#"echo ${x:-'}"; a'}"#, "b"]),
        (r#"echo "${x:-"}; a"}" ${y//'}'/}; b"#, &[r#"echo ${x:-"}; a"} ${y//'}'/}"#, "b"]),
        (r#"a=("x)" 'y)'); b"#, &["a=", "b"]),
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
        ("case x in a) b;& c) d;;& e) f; esac; g", &["b", "d", "f", "g"]),
        ("[[ $a =~ ^(b|c)$ ]]; [[ a && \"]]\" ]] || d", &["[[ $a =~ ^(b|c)$ ]]", "[[ a && ]] ]]", "d"]),
        ("[[ not closed; a\nb", &["[[ not closed; a", "b"]),
        ("time a; time -p b", &["a", "time -p b"]),
        ("([[ a ]])&&[[ b ]]|c", &["[[ a ]]", "[[ b ]]", "c"]),
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
        ("echo $((1 + 2)) ${x:-$(a)}", &["a", "echo $((1 + 2)) ${x:-$(a)}"]),
        ("[[ -n $(a) && \"`b`\" ]]", &["a", "b", "[[ -n $(a) && `b` ]]"]),
        (r"echo `a \`b; c\``; d", &["b", "c", r"a `b; c`", r"echo `a \`b; c\``", "d"]),
        ("echo $(case x in a) b;& c) d;; esac); e", &["b", "d", "echo $(case x in a) b;& c) d;; esac)", "e"]),
        ("bash -euo pipefail -c 'a; b' c", &["a", "b"]),
        ("bash +x --rcfile f -O extglob -c 'a; b'", &["a", "b"]),
        ("setsid nohup sh -c 'a; b' &", &["a", "b"]),
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
        ("cat <<E\r\nrm x\r\nE\r\nls", &["cat", "ls"]),
        ("a \"$(cat <<'E'\nit's \"x) rm\nE\n)\"; b", &["cat", "a $(cat <<'E'\nit's \"x) rm\nE\n)", "b"]),
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
fn commands_know_which_of_them_run_in_one_shell() {
    let shells = |line: &str| -> Vec<Vec<usize>> { commands(line).into_iter().map(|command| command.shell).collect() };
    for line in ["(a); b", "$(a) b", "`a` b", "c <(a)", "bash -c a; b", "sh -c '(a)'; b", "if (a); then b; fi"] {
        let [inner, outer] = &shells(line)[..] else { panic!("{line}") };
        assert!(inner.len() > outer.len() && inner.starts_with(outer), "{line}");
    }
    for line in ["{ a; }; b", "eval a; b", "a && b", "(a; b)", "if a; then b; fi", "bash -c 'a; b'"] {
        let [one, other] = &shells(line)[..] else { panic!("{line}") };
        assert_eq!(one, other, "{line}");
    }
    for line in ["(a); (b)", "(a); bash -c b", "bash -c a; bash -c b", "`a` $(b)", "(a; (b); (c))"] {
        let mut all = shells(line);
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "{line}");
    }
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
        "[[ a ]];",
        "((a;b);",
        "(a);",
        "${x:-\"",
        "\"${x:-",
        "`\\`",
        "time ",
        "bash -o ",
        "a=(\"",
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
        6 => "[a-z][a-z0-9./_-]{0,6}",
        1 => "'[a-z ;|&<>#()\"$`\\\\]{0,8}'",
        1 => "\"[a-z ;|&<>#()']{0,8}\"",
        1 => r"\$'[a-z ;|&<>#()]{0,6}'",
        1 => r"[a-z]\\[ ;|&'#][a-z]",
        1 => "-[a-z]",
        1 => r"[a-z]{0,2}(\$x|\$\{x\}|\$#|\$\(\(1 \+ 2\)\))[a-z']{0}",
        1 => r#"("[a-z' ]{0,3}\$\{x:-[a-z]{1,3}('[};]?')?\}[;' ]{0,2}")"#,
        1 => r"\$\([a-z]{2,3}_( '[a-z;)]{0,3}')?(; [a-z]{2,3}_| \| [a-z]{2,3}_)?\)",
        1 => r#""[a-z ']{0,3}\$\([a-z]{2,3}_ "[a-z ;)]{0,3}"\)[;' ]{0,2}""#,
        1 => r"`[a-z]{2,3}_( '[a-z;)]{0,3}')?(; [a-z]{2,3}_)?`",
    ]
}

fn simple() -> impl Strategy<Value = String> {
    let redirect = prop_oneof![
        Just(String::new()),
        "( > [a-z]{1,3}| 2>&1| >> [a-z]{1,3}| < [a-z]{1,3}| 2> [a-z]{1,3}| <<< '[a-z;]')",
    ];
    // The names of programs end in a way in which no keyword does.
    let space = prop_oneof![6 => Just(" "), 1 => Just("  "), 1 => Just(" \\\n ")];
    (
        prop_oneof![3 => "", 1 => "(A=1 |B='x; y' ){1,2}"],
        "[a-z]{1,6}_",
        proptest::collection::vec(word(), 0..4),
        redirect,
        space,
    )
        .prop_map(|(assigned, program, words, redirect, space)| {
            format!("{assigned}{}{redirect}", [vec![program], words].concat().join(space))
        })
}

fn line() -> impl Strategy<Value = String> {
    simple().prop_recursive(4, 24, 3, |inner| {
        let list = proptest::collection::vec(
            (inner.clone(), prop::sample::select(vec![" && ", " || ", "; ", " | ", " |& ", "\n", " & ", " &&\n"])),
            1..4,
        )
        .prop_map(|parts| {
            let last = parts.len() - 1;
            parts.into_iter().enumerate().map(|(n, (part, by))| if n == last { part } else { part + by }).collect()
        });
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            6 => list,
            1 => inner.clone().prop_map(|list| format!("(a; {list})")),
            1 => inner.clone().prop_map(|list| format!("{{ {list}; }}")),
            1 => inner.clone().prop_map(|list| format!("f_() {{ {list}; }}")),
            1 => two.clone().prop_map(|(test, then)| format!("if {test}; then {then}; fi > f")),
            1 => two.clone().prop_map(|(one, other)| format!("if a; then {one}; elif b; then {other}; else c; fi")),
            1 => two.clone().prop_map(|(test, body)| format!("while ! {test}; do {body}; done")),
            1 => two.clone().prop_map(|(test, body)| format!("until {test}\ndo {body}\ndone")),
            1 => inner.clone().prop_map(|body| format!("for x in a 'b c' $(d); do {body}; done")),
            1 => two.prop_map(|(one, other)| format!("case x in a|b) {one};; (c) {other};& *) d;; esac")),
            1 => (inner.clone(), r#"[a-z ;|&<>()'"\n]{0,12}"#, prop::sample::select(vec![("E_", "E_"), ("'E _'", "E _")]))
                .prop_map(|(list, text, (begin, end))| format!("{{ {list}\na <<{begin}\n{text}\n{end}\nb; }}")),
            1 => (inner, r#"[a-z ;|&<>()'"`$]{0,9}"#).prop_map(|(list, comment)| format!("{{ {list} # {comment}\n}}")),
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
            Parsed::Function(function) => of_compound(&function.body.0, found),
            Parsed::ExtendedTest(..) => panic!("not generated"),
        }
    }
}

fn of_compound(compound: &CompoundCommand, found: &mut Vec<Vec<String>>) {
    match compound {
        CompoundCommand::BraceGroup(group) => of_list(&group.list, found),
        CompoundCommand::Subshell(subshell) => of_list(&subshell.list, found),
        CompoundCommand::ForClause(clause) => {
            clause.values.iter().flatten().for_each(|word| drop(unquoted(&word.value, found)));
            of_list(&clause.body.list, found);
        }
        CompoundCommand::CaseClause(clause) => {
            clause.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|list| of_list(list, found));
        }
        CompoundCommand::IfClause(clause) => {
            of_list(&clause.condition, found);
            of_list(&clause.then, found);
            for other in clause.elses.iter().flatten() {
                other.condition.iter().chain([&other.body]).for_each(|list| of_list(list, found));
            }
        }
        CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
            of_list(&clause.0, found);
            of_list(&clause.1.list, found);
        }
        other => panic!("not generated: {other}"),
    }
}

fn of_simple(simple: &SimpleCommand, found: &mut Vec<Vec<String>>) {
    let of = |item: &CommandPrefixOrSuffixItem| match item {
        CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
            Some(word.value.clone())
        }
        _ => None,
    };
    let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0).filter_map(of);
    let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(of);
    let name = simple.word_or_name.iter().map(|word| word.value.clone());
    let words = prefix.chain(name).chain(suffix).map(|word| unquoted(&word, found)).collect();
    found.push(words);
}

/// A word without its quotes. The commands of its substitutions are found before the one that it belongs to.
fn unquoted(word: &str, found: &mut Vec<Vec<String>>) -> String {
    text_of(word, &brush_parser::word::parse(word, &ParserOptions::default()).unwrap(), found)
}

fn text_of(word: &str, pieces: &[WordPieceWithSource], found: &mut Vec<Vec<String>>) -> String {
    let mut text = String::new();
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(plain) | WordPiece::SingleQuotedText(plain) | WordPiece::AnsiCQuotedText(plain) => {
                text.push_str(plain);
            }
            WordPiece::DoubleQuotedSequence(pieces) => text.push_str(&text_of(word, pieces, found)),
            WordPiece::EscapeSequence(escape) => text.push_str(&escape[1..]),
            WordPiece::CommandSubstitution(line) | WordPiece::BackquotedCommandSubstitution(line) => {
                found.extend(parsed(line).expect("a line that was taken for one"));
                text.push_str(&word[piece.start_index..piece.end_index]);
            }
            WordPiece::ParameterExpansion(_) | WordPiece::ArithmeticExpression(_) => {
                text.push_str(&word[piece.start_index..piece.end_index]);
            }
            other => panic!("not generated: {other:?}"),
        }
    }
    text
}

proptest! {
    #[test]
    fn a_line_has_the_commands_that_a_bash_parser_finds_in_it(line in line()) {
        // What is redirected as a whole is a command without words here.
        let ours = commands(&line).into_iter().map(|command| command.words).filter(|words| !words.is_empty());
        let ours: Vec<Vec<String>> = ours.collect();
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
