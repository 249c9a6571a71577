//! The one lexer for shell lines: which simple commands a line runs, in words. It knows quotes, escapes, continuation lines,
//! comments, here-documents, redirections, lists, pipelines, subshells, groups, `$(…)`, backticks, `<(…)`, loops, `if`, `case`,
//! `[[ … ]]`, functions, and lines within lines (`bash -c '…'`, `eval`).
//!
//! It expands nothing and never fails: what is no shell is read as words. The whole of a line costs its length.

/// Substitutions within substitutions that are looked into; deeper ones are text.
const DEEPEST: usize = 16;
/// Lines within lines: `bash -c "bash -c '…'"`.
const LINES_WITHIN: usize = 3;

/// One simple command: a program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// Without quotes. Substitutions stand in them as they were written.
    pub words: Vec<String>,
    /// Files that it is redirected into.
    pub writes: Vec<String>,
    /// It reads what another command writes.
    pub piped: bool,
    /// It runs again and again, by `for`, `while` or `until`.
    pub looped: bool,
    /// The subshells that it runs in, from the outermost one on, each by its number. Where one of them is, the shells around
    /// it are not: `(cd x)`.
    pub shell: Vec<usize>,
}

/// The simple commands of a line, in the order in which they are written; those within a substitution come before the
/// command that they are a part of.
pub fn commands(line: &str) -> Vec<Command> {
    within(line, LINES_WITHIN)
}

fn within(line: &str, deeper: usize) -> Vec<Command> {
    let mut lexer = Lexer::new(line, Vec::new());
    lexer.list(End::Text, 0);
    let mut shells = lexer.shells;
    let mut found = Vec::with_capacity(lexer.found.len());
    for command in lexer.found {
        match inner_line(&command.words).filter(|_| deeper > 0) {
            Some(inner) => {
                // What it does is what its line does; where it writes to is said by itself.
                let Command { writes, piped, looped, words, mut shell } = command;
                let outside = shell.clone();
                if !is_eval(&words) {
                    shell.push(shells);
                    shells += 1;
                }
                for (place, mut inner) in within(&inner, deeper - 1).into_iter().enumerate() {
                    inner.looped |= looped;
                    inner.piped |= piped && place == 0;
                    inner.shell.splice(..0, shell.iter().copied());
                    found.push(inner);
                }
                if !writes.is_empty() {
                    found.push(Command { writes, shell: outside, ..Command::default() });
                }
            }
            None => found.push(command),
        }
    }
    found
}

/// `eval` runs its line in the same shell.
fn is_eval(words: &[String]) -> bool {
    super::programs::without_wrappers(words).first().is_some_and(|word| word == "eval")
}

/// The line that a shell is given as an argument.
fn inner_line(words: &[String]) -> Option<String> {
    let mut words = super::programs::without_wrappers(words).iter().map(String::as_str);
    match super::programs::base_name(words.next()?) {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" => {
            let mut runs = false;
            while let Some(word) = words.next() {
                let Some(flags) = word.strip_prefix(['-', '+']) else { return runs.then(|| word.to_owned()) };
                let short = !flags.starts_with('-');
                runs |= short && word.starts_with('-') && flags.contains('c');
                // `-euo pipefail`: an option that is named in a word of its own.
                if short && flags.contains(['o', 'O']) || matches!(word, "--rcfile" | "--init-file") {
                    words.next();
                }
            }
            None
        }
        "eval" => Some(words.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty()),
        _ => None,
    }
}

/// What ends a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Text,
    /// `)`
    Parenthesis,
}

/// What a keyword began; ends with its own word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// `for`, `while`, `until`, `select`: to `done`.
    Loop,
    /// `case`: to `esac`.
    Case,
}

/// A here-document whose text begins with the next line.
struct Here {
    delimiter: String,
    /// Leading tabs are no part of it: `<<-`.
    tabs: bool,
}

struct Lexer<'a> {
    line: &'a str,
    at: usize,
    found: Vec<Command>,
    here: Vec<Here>,
    /// The subshells that are open.
    shell: Vec<usize>,
    /// How many there have been.
    shells: usize,
}

/// What keywords have begun and not ended.
#[derive(Default)]
struct Blocks {
    open: Vec<Block>,
    loops: usize,
}

impl Blocks {
    fn last(&self) -> Option<Block> {
        self.open.last().copied()
    }

    fn push(&mut self, block: Block) {
        self.loops += usize::from(block == Block::Loop);
        self.open.push(block);
    }

    fn end(&mut self, block: Block) {
        if self.last() == Some(block) {
            self.loops -= usize::from(block == Block::Loop);
            self.open.pop();
        }
    }
}

/// What is read of the simple command that is being written.
#[derive(Default)]
struct Open {
    command: Command,
    word: Option<String>,
    /// Something of the word was quoted or escaped: it is no keyword, no comment and no number of a descriptor.
    quoted: bool,
    /// The next word is where a redirection leads to.
    redirects: Option<Redirect>,
    /// Words up to here are no command: the head of `for`, that of `case`, and its patterns.
    head: bool,
    /// The next word is the name of a function that is defined.
    names: bool,
    /// Within `[[ … ]]`, where no operator has a meaning of its own.
    test: bool,
}

impl Open {
    /// Within a test that the word which is being read does not end.
    fn tests(&self) -> bool {
        self.test && (self.quoted || self.word.as_deref() != Some("]]"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirect {
    /// Into a file.
    Writes,
    /// `>&`: into a file unless a descriptor is named.
    Descriptor,
    Reads,
    HereDocument {
        tabs: bool,
    },
}

impl<'a> Lexer<'a> {
    fn new(line: &'a str, shell: Vec<usize>) -> Self {
        Self { line, at: 0, found: Vec::new(), here: Vec::new(), shell, shells: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    fn starts(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Takes the next character.
    fn next(&mut self) -> Option<char> {
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Commands up to the closing parenthesis, which run in a shell of their own.
    fn subshell(&mut self, depth: usize) {
        self.shell.push(self.shells);
        self.shells += 1;
        self.list(End::Parenthesis, depth);
        self.shell.pop();
    }

    /// Commands up to the end of the list, the end taken.
    fn list(&mut self, end: End, depth: usize) {
        let mut open = Open::default();
        let mut blocks = Blocks::default();
        let mut piped = false;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => {
                    self.at += 1;
                    self.end_word(&mut open, &mut blocks);
                }
                b'\n' => {
                    self.at += 1;
                    self.end_command(&mut open, &mut blocks, &mut piped, false);
                    self.here_documents();
                }
                b'#' if open.word.is_none() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' if open.tests() => {
                    self.at += 1;
                    open.word.get_or_insert_default().push(char::from(byte));
                }
                b';' | b'&' | b'|' => self.separator(byte, &mut open, &mut blocks, &mut piped),
                b'<' | b'>' => self.redirect(byte, &mut open, &mut blocks, depth),
                b'(' => self.parenthesis(&mut open, &mut blocks, &mut piped, depth),
                b')' => {
                    self.at += 1;
                    self.end_word(&mut open, &mut blocks);
                    if end == End::Parenthesis && !in_pattern(&open, &blocks) {
                        break;
                    }
                    // The pattern of a case, or one too many.
                    open = Open::default();
                }
                _ => self.word(&mut open, depth),
            }
        }
        self.end_command(&mut open, &mut blocks, &mut piped, false);
    }

    /// One piece of a word: a plain character, an escape, a quotation or a substitution.
    fn word(&mut self, open: &mut Open, depth: usize) {
        let Some(letter) = self.next() else { return };
        match letter {
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(escaped) => {
                    open.quoted = true;
                    open.word.get_or_insert_default().push(escaped);
                }
            },
            '\'' => {
                open.quoted = true;
                let rest = self.rest();
                let end = rest.find('\'');
                open.word.get_or_insert_default().push_str(&rest[..end.unwrap_or(rest.len())]);
                self.at += end.map_or(rest.len(), |end| end + 1);
            }
            '"' => {
                open.quoted = true;
                self.double_quoted(open.word.get_or_insert_default(), depth);
            }
            '$' | '`' => {
                let word = open.word.get_or_insert_default();
                open.quoted |= self.dollar(letter, word, depth, true);
            }
            _ => {
                // As far as nothing has a meaning, in one go.
                let begin = self.at - letter.len_utf8();
                let plain = |c: char| !c.is_whitespace() && !"\\'\"$`;&|<>()#\n".contains(c);
                self.at += self.rest().find(|c| !plain(c)).unwrap_or(self.rest().len());
                open.word.get_or_insert_default().push_str(&self.line[begin..self.at]);
            }
        }
    }

    /// Up to the closing quote.
    fn double_quoted(&mut self, word: &mut String, depth: usize) {
        while let Some(letter) = self.next() {
            match letter {
                '"' => return,
                '\\' => match self.next() {
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => word.push(escaped),
                    Some('\n') | None => {}
                    Some(other) => word.extend(['\\', other]),
                },
                '$' | '`' => {
                    self.dollar(letter, word, depth, false);
                }
                _ => word.push(letter),
            }
        }
    }

    /// What a `$` or a backtick begins. True when it was a quotation.
    fn dollar(&mut self, letter: char, word: &mut String, depth: usize, bare: bool) -> bool {
        let begin = self.at - 1;
        match self.peek() {
            _ if letter == '`' => self.backticks(depth, !bare),
            Some(b'\'') if bare => {
                self.at += 1;
                self.ansi_quoted(word);
                return true;
            }
            Some(b'"') if bare => {
                self.at += 1;
                self.double_quoted(word, depth);
                return true;
            }
            Some(b'(') if self.starts("((") => self.balanced(b'(', b')'),
            Some(b'(') if depth < DEEPEST => {
                self.at += 1;
                self.subshell(depth + 1);
            }
            Some(b'{') => self.braces(depth),
            _ => {}
        }
        word.push_str(&self.line[begin..self.at]);
        false
    }

    /// `` `…` ``: up to the next backtick that is not escaped, whatever is quoted. What is escaped is so for this reading only.
    fn backticks(&mut self, depth: usize, quoted: bool) {
        let mut line = String::new();
        while let Some(letter) = self.next() {
            match letter {
                '`' => break,
                '\\' => match self.next() {
                    Some(escaped) if "`$\\".contains(escaped) || quoted && escaped == '"' => line.push(escaped),
                    escaped => line.extend(std::iter::once('\\').chain(escaped)),
                },
                _ => line.push(letter),
            }
        }
        if depth < DEEPEST {
            let mut shell = self.shell.clone();
            shell.push(self.shells);
            self.shells += 1;
            let mut inner = Lexer::new(&line, shell);
            inner.list(End::Text, depth + 1);
            self.found.append(&mut inner.found);
        }
    }

    /// `${…}`, in which quotations and substitutions may stand, between double quotes too.
    fn braces(&mut self, depth: usize) {
        if depth >= DEEPEST {
            return self.balanced(b'{', b'}');
        }
        self.at += 1;
        let mut text = String::new();
        while let Some(letter) = self.next() {
            match letter {
                '}' => return,
                '\\' => drop(self.next()),
                '\'' => self.at += self.rest().find('\'').map_or(self.rest().len(), |end| end + 1),
                '"' => self.double_quoted(&mut text, depth + 1),
                '$' | '`' => drop(self.dollar(letter, &mut text, depth + 1, true)),
                _ => {}
            }
        }
    }

    /// `$'…'`, in which a backslash escapes.
    fn ansi_quoted(&mut self, word: &mut String) {
        while let Some(letter) = self.next() {
            match letter {
                '\'' => return,
                '\\' => word.extend(self.next().map(|escaped| match escaped {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                })),
                _ => word.push(letter),
            }
        }
    }

    /// From an opening bracket to the one that closes it, quotes passed over; to the end where there is none.
    fn balanced(&mut self, opens: u8, closes: u8) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => drop(self.next()),
                b'\'' => self.at += self.rest().find('\'').map_or(self.rest().len(), |end| end + 1),
                b'"' => {
                    while let Some(letter) = self.next().filter(|letter| *letter != '"') {
                        if letter == '\\' {
                            self.next();
                        }
                    }
                }
                _ if byte == opens => depth += 1,
                _ if byte == closes => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                // The rest of a character of several bytes.
                _ => self.at = self.line.ceil_char_boundary(self.at),
            }
        }
    }

    /// Whether `((` begins arithmetic here, and not a subshell within a subshell: it closes with `))`, and is one expression.
    fn arithmetic(&mut self) -> bool {
        let begin = self.at;
        self.balanced(b'(', b')');
        let text = &self.line[begin..self.at];
        self.at = begin;
        text.ends_with("))") && !text.contains([';', '\n', '{'])
    }

    /// `;`, `&`, `|` and what they are doubled to.
    fn separator(&mut self, byte: u8, open: &mut Open, blocks: &mut Blocks, piped: &mut bool) {
        let doubled = self.rest().as_bytes().get(1) == Some(&byte);
        // `;;`, `;&` and `;;&` end a clause of a case.
        let clause = byte == b';' && (doubled || self.rest().as_bytes().get(1) == Some(&b'&'));
        if byte == b'&' && self.rest().as_bytes().get(1) == Some(&b'>') {
            self.at += 2;
            self.at += usize::from(self.peek() == Some(b'>'));
            self.end_word(open, blocks);
            open.redirects = Some(Redirect::Writes);
            return;
        }
        self.at += 1 + usize::from(doubled || clause);
        self.at += usize::from(clause && doubled && self.peek() == Some(b'&'));
        let into_next = byte == b'|' && !doubled;
        if into_next && self.peek() == Some(b'&') {
            self.at += 1;
        }
        self.end_word(open, blocks);
        // Between the patterns of a case it is no pipe.
        let pattern = in_pattern(open, blocks);
        self.end_command(open, blocks, piped, into_next && !pattern);
        if clause {
            open.head = blocks.last() == Some(Block::Case);
        } else {
            open.head |= pattern;
        }
    }

    fn redirect(&mut self, byte: u8, open: &mut Open, blocks: &mut Blocks, depth: usize) {
        // `<(…)`: a substitution.
        if self.rest().as_bytes().get(1) == Some(&b'(') && depth < DEEPEST {
            let begin = self.at;
            self.at += 2;
            self.subshell(depth + 1);
            open.word.get_or_insert_default().push_str(&self.line[begin..self.at]);
            return;
        }
        // `2>`: the number is no word.
        if !open.quoted && open.word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit())) {
            open.word = None;
        }
        self.end_word(open, blocks);
        let operators: [(&str, Redirect); 10] = [
            ("<<<", Redirect::Reads),
            ("<<-", Redirect::HereDocument { tabs: true }),
            ("<<", Redirect::HereDocument { tabs: false }),
            ("<>", Redirect::Writes),
            ("<&", Redirect::Reads),
            ("<", Redirect::Reads),
            (">>", Redirect::Writes),
            (">|", Redirect::Writes),
            (">&", Redirect::Descriptor),
            (">", Redirect::Writes),
        ];
        match operators.iter().find(|(operator, _)| self.starts(operator)) {
            Some((operator, redirect)) => {
                self.at += operator.len();
                open.redirects = Some(*redirect);
            }
            None => self.at += usize::from(byte > 0),
        }
    }

    /// A subshell, an arithmetic command, the brackets of a function, or the one before the pattern of a case.
    fn parenthesis(&mut self, open: &mut Open, blocks: &mut Blocks, piped: &mut bool, depth: usize) {
        if in_pattern(open, blocks) {
            self.at += 1;
        } else if open.command.words.is_empty() && open.word.is_none() && !open.head {
            if depth >= DEEPEST || self.starts("((") && self.arithmetic() {
                self.balanced(b'(', b')');
            } else {
                self.at += 1;
                let from = self.found.len();
                self.subshell(depth + 1);
                let looped = blocks.loops > 0;
                for command in &mut self.found[from..] {
                    command.looped |= looped;
                }
                if let Some(first) = self.found.get_mut(from) {
                    first.piped |= std::mem::take(piped);
                }
            }
        } else {
            // `name()`: what follows is its body. Elsewhere the bracket is a mistake, or a list in an assignment.
            self.end_word(open, blocks);
            let function = self.rest()[1..].trim_start().starts_with(')') && open.command.words.len() == 1;
            self.balanced(b'(', b')');
            if function {
                *open = Open::default();
            }
        }
    }

    fn end_word(&mut self, open: &mut Open, blocks: &mut Blocks) {
        let Some(word) = open.word.take() else { return };
        let quoted = std::mem::take(&mut open.quoted);
        if let Some(redirect) = open.redirects.take() {
            match redirect {
                Redirect::Writes => open.command.writes.push(word),
                Redirect::Descriptor if word != "-" && !word.bytes().all(|b| b.is_ascii_digit()) => {
                    open.command.writes.push(word);
                }
                Redirect::HereDocument { tabs } => self.here.push(Here { delimiter: word, tabs }),
                Redirect::Descriptor | Redirect::Reads => {}
            }
            return;
        }
        if open.head {
            // `case word in`, `for name in words`, or a pattern: none of it is a command.
            if word == "do" && blocks.last() == Some(Block::Loop) {
                open.head = false;
            } else if word == "esac" && blocks.last() == Some(Block::Case) {
                blocks.end(Block::Case);
                open.head = false;
            }
            return;
        }
        if std::mem::take(&mut open.names) {
            return;
        }
        if quoted || !open.command.words.is_empty() {
            open.test &= quoted || word != "]]";
            open.command.words.push(word);
            return;
        }
        match word.as_str() {
            "if" | "then" | "elif" | "else" | "fi" | "do" | "{" | "}" | "!" | "coproc" => {}
            // With a flag it is read like the program of that name.
            "time" if !self.rest().trim_start_matches([' ', '\t']).starts_with('-') => {}
            "while" | "until" => blocks.push(Block::Loop),
            "for" | "select" => {
                blocks.push(Block::Loop);
                open.head = true;
            }
            "case" => {
                blocks.push(Block::Case);
                open.head = true;
            }
            "function" => open.names = true,
            "done" if blocks.last() == Some(Block::Loop) => blocks.end(Block::Loop),
            "esac" if blocks.last() == Some(Block::Case) => blocks.end(Block::Case),
            "[[" => {
                open.test = true;
                open.command.words.push(word);
            }
            _ => open.command.words.push(word),
        }
    }

    fn end_command(&mut self, open: &mut Open, blocks: &mut Blocks, piped: &mut bool, into_next: bool) {
        self.end_word(open, blocks);
        let Open { mut command, head, .. } = std::mem::take(open);
        // `for x in a b; do`: the head ends with the line. That of a case, and its patterns, do not.
        open.head = head && blocks.last() == Some(Block::Case);
        if command.words.is_empty() && command.writes.is_empty() {
            return;
        }
        command.piped = std::mem::replace(piped, into_next);
        command.looped = blocks.loops > 0;
        command.shell.clone_from(&self.shell);
        self.found.push(command);
    }

    /// Passes over the texts of the here-documents that begin here.
    fn here_documents(&mut self) {
        for Here { delimiter, tabs } in std::mem::take(&mut self.here) {
            while self.at < self.line.len() {
                let rest = self.rest();
                let end = rest.find('\n').unwrap_or(rest.len());
                let row = if tabs { rest[..end].trim_start_matches('\t') } else { &rest[..end] };
                self.at += (end + 1).min(rest.len());
                if row.strip_suffix('\r').unwrap_or(row) == delimiter {
                    break;
                }
            }
        }
    }
}

/// The words here are the patterns of a case.
fn in_pattern(open: &Open, blocks: &Blocks) -> bool {
    open.head && blocks.last() == Some(Block::Case)
}
