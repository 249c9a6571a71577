//! What repeats by its form and is no chant: code, tables, lists, logs, verse. Silence is asked for in the stream and at
//! the end of it.

use std::fmt::Write as _;

use super::whole;

/// `count` pieces, numbered from 1.
fn many(count: usize, piece: impl Fn(usize) -> String) -> String {
    (1..=count).map(piece).collect()
}

const NAMES: [&str; 24] = [
    "auth", "billing", "cart", "delivery", "events", "files", "gateway", "history", "index", "jobs", "keys", "ledger",
    "mail", "notes", "orders", "profile", "queue", "reports", "search", "tags", "users", "video", "wallet", "zones",
];

fn named(piece: impl Fn(&str, usize) -> String) -> String {
    NAMES.iter().enumerate().map(|(index, name)| piece(name, index)).collect()
}

/// Whole texts, as they are.
pub const TEXTS: &[(&str, &str)] = &[
    (
        "rust",
        r#"
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trace => write!(f, "trace"),
            Self::Debug => write!(f, "debug"),
            Self::Info => write!(f, "info"),
            Self::Warn => write!(f, "warn"),
            Self::Error => write!(f, "error"),
        }
    }
}

impl From<u8> for Level {
    fn from(value: u8) -> Self {
        match value {
            0 => Self::Trace,
            1 => Self::Debug,
            2 => Self::Info,
            3 => Self::Warn,
            _ => Self::Error,
        }
    }
}
"#,
    ),
    (
        "python",
        r"
class Shape:
    def area(self):
        raise NotImplementedError

    def perimeter(self):
        raise NotImplementedError

class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side

    def perimeter(self):
        return 4 * self.side

class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2

    def perimeter(self):
        return 2 * math.pi * self.radius
",
    ),
    (
        "closing braces",
        "if (a) {\n  if (b) {\n    if (c) {\n      if (d) {\n        if (e) {\n          if (f) {\n            go();\n          }\n        }\n      }\n    }\n  }\n}\n</li>\n</ul>\n</div>\n</div>\n</div>\n</div>\n</div>\n</section>\n</main>\n</body>\n</html>\n",
    ),
    (
        "go",
        r"
func load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	raw, err := parse(data)
	if err != nil {
		return nil, err
	}
	checked, err := validate(raw)
	if err != nil {
		return nil, err
	}
	merged, err := merge(checked, defaults)
	if err != nil {
		return nil, err
	}
	filled, err := fill(merged)
	if err != nil {
		return nil, err
	}
	signed, err := sign(filled)
	if err != nil {
		return nil, err
	}
	stored, err := store(signed)
	if err != nil {
		return nil, err
	}
	return stored, nil
}
",
    ),
    (
        "c header with a licence",
        "/*\n * This file is part of the kit. You may use it under the terms of the licence\n * that came with it; see the file COPYING. There is no warranty of any kind.\n */\n#ifndef KIT_H\n#define KIT_H\nint kit_open(const char *path);\nint kit_close(int handle);\nint kit_read(int handle, void *into, int length);\nint kit_write(int handle, const void *from, int length);\n#endif\n",
    ),
    (
        "changelog",
        "# Changelog\n\n## 2.3.0\n\n### Added\n\n- A cache for remote files\n- A flag to turn it off\n\n### Fixed\n\n- Crash on empty input\n\n## 2.2.1\n\n### Fixed\n\n- Wrong order of results\n- Memory leak in the parser\n\n## 2.2.0\n\n### Added\n\n- Support for proxies\n\n### Changed\n\n- The default timeout is ten seconds\n\n## 2.1.0\n\n### Added\n\n- First public release\n",
    ),
    (
        "minutes",
        "Item 1: budget. Anna explains the figures for spring. Approved unanimously.\nItem 2: hall. Ben reports that the roof leaks. Approved unanimously.\nItem 3: trip. Cleo has asked three bus companies. Approved unanimously.\nItem 4: website. Dan wants a new host. Postponed.\nItem 5: statutes. The wording of section four is changed. Approved unanimously.\nItem 6: choir. Eva needs new sheets. Approved unanimously.\nItem 7: any other business. None.\n",
    ),
    (
        "poem",
        "The wind goes round, the wind goes round,\nThe leaves are red, the leaves are brown,\nAnd all that falls falls without sound,\nThe wind goes round.\n\nThe snow comes down, the snow comes down,\nIt covers field, it covers town,\nThe year puts on its whitest gown,\nThe snow comes down.\n\nThe rain sets in, the rain sets in,\nThe brook is loud, the ice is thin,\nLet everything that sleeps begin,\nThe rain sets in.\n",
    ),
    (
        "refrain",
        "Row on, my friend, the night is long,\nRow on, row on, row on.\nThe river knows an older song,\nRow on, row on, row on.\nThe moon is up, the tide is strong,\nRow on, row on, row on.\nThere is no right, there is no wrong,\nRow on, row on, row on.\n",
    ),
    (
        "dialogue",
        "\"Are you sure?\" \"Yes.\" \"Really sure?\" \"Yes.\" \"And the key?\" \"In the drawer.\" \"Which drawer?\" \"The left one.\" \"Are you sure?\" \"Yes.\" \"It is not there.\" \"Then the right one.\" \"Are you sure?\" \"No.\" They looked at each other and laughed, and then they looked for the key together, in every drawer of the house.",
    ),
    (
        "questions and answers",
        "Q: Can I run it twice? A: Yes.\nQ: Does it need a network? A: No.\nQ: Does it write to disk? A: Yes.\nQ: Can I change the port? A: Yes.\nQ: Is there a dark mode? A: No.\nQ: Does it work offline? A: Yes.\nQ: Are updates free? A: Yes.\nQ: Can I pay by invoice? A: No.\nQ: Is my data encrypted? A: Yes.\nQ: Can I export it? A: Yes.\nQ: Is there a limit? A: No.\n",
    ),
    (
        "translations",
        "Good morning: Guten Morgen, bonjour, buenos días, buongiorno.\nGood evening: Guten Abend, bonsoir, buenas noches, buonasera.\nThank you: danke, merci, gracias, grazie.\nPlease: bitte, s'il vous plaît, por favor, per favore.\nHow much is it? Was kostet das? Combien ça coûte ? ¿Cuánto cuesta? Quanto costa?\nWhere is it? Wo ist das? Où est-ce ? ¿Dónde está? Dov'è?\n",
    ),
    (
        "conjugation",
        "ich gehe, du gehst, er geht, wir gehen, ihr geht, sie gehen\nich stehe, du stehst, er steht, wir stehen, ihr steht, sie stehen\nich sehe, du siehst, er sieht, wir sehen, ihr seht, sie sehen\nich lese, du liest, er liest, wir lesen, ihr lest, sie lesen\nich nehme, du nimmst, er nimmt, wir nehmen, ihr nehmt, sie nehmen\n",
    ),
    (
        "chinese",
        "第一条 本规定自公布之日起施行。第二条 所有成员都应当遵守本规定。第三条 成员有权提出意见和建议。第四条 管理人员应当及时答复意见和建议。第五条 违反本规定的，应当承担相应的责任。第六条 本规定由委员会负责解释。第七条 本规定未尽事宜，由委员会另行决定。第八条 本规定的修改须经全体成员过半数同意。",
    ),
    (
        "japanese",
        "まず設定ファイルを読み込みます。次に値を検証します。値が正しくない場合はエラーを返します。その後、接続を開きます。接続に失敗した場合は三回まで再試行します。それでも失敗した場合はエラーを返します。最後に結果を書き込みます。書き込みに失敗した場合もエラーを返します。",
    ),
    (
        "arabic",
        "أولاً نقرأ الملف. ثم نتحقق من القيم. إذا كانت القيم غير صحيحة نعيد خطأ. بعد ذلك نفتح الاتصال. إذا فشل الاتصال نحاول مرة أخرى. وفي النهاية نكتب النتيجة في الملف ونغلق الاتصال. هل تريد أن أشرح أي خطوة أخرى؟",
    ),
    (
        "emoji",
        "🚀 Launch ✅\n🔧 Repair ✅\n📦 Package ✅\n🧪 Test ❌\n📝 Docs ✅\n🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉\n🟩🟩🟩🟩🟩🟩🟩🟩🟩🟩🟩🟩🟩🟩⬜⬜⬜⬜⬜⬜ 70%\n",
    ),
    (
        "dotted progress",
        ".......... 10% .......... 20% .......... 30% .......... 40% .......... 50% .......... 60% .......... 70% .......... 80% .......... 90% .......... 100%\n",
    ),
    (
        "diff",
        "--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1,6 +1,6 @@\n-import { a } from \"./a\";\n-import { b } from \"./b\";\n-import { c } from \"./c\";\n+import { a } from \"./a.ts\";\n+import { b } from \"./b.ts\";\n+import { c } from \"./c.ts\";\n const x = a();\n const y = b();\n const z = c();\n",
    ),
    (
        "ascii art",
        "   /\\_/\\      /\\_/\\      /\\_/\\      /\\_/\\      /\\_/\\\n  ( o.o )    ( o.o )    ( o.o )    ( o.o )    ( o.o )\n   > ^ <      > ^ <      > ^ <      > ^ <      > ^ <\n\n+------+    +------+    +------+    +------+    +------+\n| web  |--->| api  |--->| bus  |--->| job  |--->| db   |\n+------+    +------+    +------+    +------+    +------+\n",
    ),
    (
        "thinking that weighs",
        "Wait, is the lock held here? Yes, since the guard lives until the end of the block. Wait, but the block ends before the await. So the lock is free by then. Wait, then who holds it? The other task takes it in its loop. So the order is: take, release, await, take. Fine. Then the deadlock must be elsewhere. Wait, the channel! It has room for one message, and both sides send first. That is it.",
    ),
    (
        "api reference",
        "`path`\nType: string.\nRequired: yes.\nDefault: none.\n\n`limit`\nType: number.\nRequired: no.\nDefault: none.\n\n`offset`\nType: number.\nRequired: no.\nDefault: none.\n\n`order`\nType: string.\nRequired: no.\nDefault: none.\n\n`filter`\nType: string.\nRequired: no.\nDefault: none.\n\n`fields`\nType: string.\nRequired: no.\nDefault: none.\n\n`locale`\nType: string.\nRequired: no.\nDefault: none.\n\n`cursor`\nType: string.\nRequired: no.\nDefault: none.\n",
    ),
];

/// Texts that are long because there is much of the same kind.
pub fn long() -> Vec<(&'static str, String)> {
    let code = vec![
        ("sql", many(60, |n| format!("INSERT INTO items (id, label, state) VALUES ({n}, 'item {n}', 'open');\n"))),
        ("sql, equal rows", "INSERT INTO log (level, text) VALUES ('info', 'started');\n".repeat(40)),
        ("equal calls", "counter.increment();\n".repeat(60)),
        ("equal calls in a block", format!("```py\n{}```\n", "print(\"hello world\")\n".repeat(60))),
        ("calls on an object", "    app.tick()\n".repeat(60)),
        (
            "c array",
            format!(
                "static const char zero[] = {{\n{}}};\n",
                "    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,\n".repeat(80)
            ),
        ),
        ("matrix", "0 0 0 0 0 0 0 0 0 0\n".repeat(60)),
        ("tile map", "\"wall\", \"wall\", \"wall\", \"wall\", \"wall\", \"wall\",\n".repeat(20)),
        ("nulls", format!("[{}null]", "null, ".repeat(200))),
        (
            "typescript tests",
            named(|name, n| {
                format!(
                    "it(\"loads {name} without error\", async () => {{\n  const it = await load(\"{name}\");\n  expect(it.status).toBe(200);\n  expect(it.rows).toHaveLength({n});\n}});\n\n"
                )
            }),
        ),
        (
            "rust tests",
            named(|name, _| {
                format!(
                    "    #[test]\n    fn parses_{name}() {{\n        let it = parse(\"{name}\").unwrap();\n        assert_eq!(it.name, \"{name}\");\n    }}\n\n"
                )
            }),
        ),
        (
            "java getters",
            named(|name, _| {
                format!(
                    "    public String get{name}() {{\n        return this.{name};\n    }}\n\n    public void set{name}(String value) {{\n        this.{name} = value;\n    }}\n\n"
                )
            }),
        ),
        ("shell", named(|name, _| format!("echo \"building {name}\"\nmake -C {name} clean\nmake -C {name} all\n"))),
        (
            "css",
            named(|name, n| {
                format!(".{name} {{\n  color: #fff;\n  margin: 0;\n  padding: {n}px;\n  display: flex;\n}}\n\n")
            }),
        ),
        ("html", named(|name, _| format!("<li class=\"item\"><a href=\"/{name}\">{name}</a></li>\n"))),
        ("html cells", format!("<tr>{}</tr>", "<td></td>".repeat(120))),
        ("makefile", named(|name, _| format!("{name}.o: {name}.c\n\t$(CC) $(CFLAGS) -c {name}.c\n"))),
        ("enum", named(|name, _| format!("    {name},\n"))),
        ("imports", named(|name, _| format!("import {name} from '../components/shared/{name}';\n"))),
        ("ruby ends", format!("module A\n{}{}", "  class B\n".repeat(10), "end\n".repeat(40))),
        (
            "licence in ten files",
            named(|name, _| {
                format!(
                    "File: {name}.c\n\nThis program is free software. You can pass it on under the licence. It comes without any warranty. See the licence for more.\n\nint {name}(void) {{ return 0; }}\n\n"
                )
            }),
        ),
    ];
    let tables = vec![
        ("markdown table", format!("| name | state |\n|---|---|\n{}", named(|name, _| format!("| {name} | ok |\n")))),
        ("equal rows", "| the same text in each row | and the same text here too | ok |\n".repeat(100)),
        (
            "numbered rows",
            many(60, |n| format!("| {n} | passed without any error or warning at all on this machine | {n} ms |\n")),
        ),
        ("csv", many(80, |n| format!("{n},unit-{n},shelf,ready,EUR,{}.50\n", n * 3))),
        ("csv of words", "yes,no,yes,no,maybe\n".repeat(60)),
        ("tsv", many(60, |n| format!("{n}\tshelf\tready\t{}\n", n * 7 % 11))),
        (
            "box table",
            format!(
                "┌────────┬────────┐\n{}└────────┴────────┘\n",
                named(|name, _| format!("│ {name:<6} │ ok     │\n├────────┼────────┤\n"))
            ),
        ),
        ("dashes", "-".repeat(3_000)),
        ("equals", "=".repeat(3_000)),
        ("underscores", "_".repeat(3_000)),
        ("pluses", "+".repeat(3_000)),
        ("stars", "* ".repeat(3_000)),
        ("box rule", "─".repeat(3_000)),
        ("bars", "┃ ".repeat(3_000)),
        ("blocks", "█▓▒░".repeat(1_000)),
        ("dots", ". . . ".repeat(2_000)),
        ("rules between", many(40, |n| format!("{}\nPart {n}\n{}\n", "=".repeat(60), "-".repeat(60)))),
        ("line ends", "\n".repeat(5_000)),
        ("spaces", format!("a{}b", " \t".repeat(5_000))),
    ];
    let lists = vec![
        (
            "bullets with a long common start",
            named(|name, _| {
                format!("- projects/some-long-project-name-100/locations/europe/services/{name}-service\n")
            }),
        ),
        ("numbered paths", many(50, |n| format!("/data/archive/2024/part-{n}/index.json\n"))),
        ("numbered placeholders", many(40, |n| format!("{n}. To be written\n"))),
        ("check list", "- [ ] to do\n".repeat(60)),
        (
            "sentences with a common start",
            named(|name, _| {
                format!("The service that is called {name} was moved to the new cluster and works without errors. ")
            }),
        ),
        ("files reviewed", named(|name, _| format!("### src/{name}.rs\n\nNo issues found.\n\n"))),
        ("modules reviewed", many(30, |n| format!("Module {n}\nNo issues found.\n"))),
        ("steps", many(25, |n| format!("Step {n}: done.\n"))),
        ("days", many(60, |n| format!("Day {n}: rest.\n"))),
        (
            "yaml",
            named(|name, n| {
                format!(
                    "- name: {name}\n  image: registry/{name}:1.{n}\n  replicas: 2\n  resources:\n    cpu: 100m\n    memory: 128Mi\n"
                )
            }),
        ),
        (
            "json",
            format!(
                "[{}]",
                named(|name, n| format!(
                    "{{\"id\": {n}, \"name\": \"{name}\", \"active\": true, \"parent\": null}},\n"
                ))
            ),
        ),
        ("json, equal", "{\"name\": null, \"value\": null, \"active\": false},\n".repeat(30)),
        ("env", named(|name, _| format!("{}_URL=http://localhost\n", name.to_uppercase()))),
        (
            "long enumeration",
            format!("The parts are {}and that is all.", named(|name, _| format!("the {name} part, "))),
        ),
        ("countdown", many(100, |n| format!("{}, ", 100 - n))),
        (
            "bottles",
            many(30, |n| {
                format!(
                    "{n} bottles of beer on the wall, {n} bottles of beer.\nTake one down and pass it around, {} bottles of beer on the wall.\n\n",
                    n - 1
                )
            }),
        ),
        ("quotes", named(|name, _| format!("> I have no comment on {name}.\n> I have no comment.\n\n"))),
    ];
    let logs = vec![
        ("bare ok", "ok\n".repeat(150)),
        ("pass", "PASS\n".repeat(150)),
        ("ticks", "✓\n".repeat(200)),
        ("ticks with names", named(|name, n| format!("  ✓ loads {name} ({n} ms)\n"))),
        ("test names", named(|name, _| format!("test store::tests::{name}_is_kept ... ok\n"))),
        ("test cases", many(60, |n| format!("Test case {n} passed.\n"))),
        (
            "test cases, long",
            many(60, |n| format!("test {n} of 60 passed in {} ms with {} checks\n", n * 7 % 13, n * 3)),
        ),
        (
            "cargo, many crates",
            named(|name, _| {
                format!(
                    "   Doc-tests {name}\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"
                )
            }),
        ),
        ("go test", named(|name, n| format!("ok  \texample.com/{name}\t0.0{n}s\n"))),
        ("pytest", format!("{}\n{}\n", ".".repeat(70), ".F".repeat(100))),
        (
            "server log",
            many(60, |n| format!("2024-05-01T10:00:{n:02}Z INFO request served in {} ms status 200\n", n * 13 % 90)),
        ),
        ("retry log", many(20, |n| format!("[{n:03}] WARN connection refused, retrying in {} s\n", n * 2))),
        ("download", many(100, |n| format!("Downloading the large archive from the mirror now... {n}%\n"))),
        ("stack", many(30, |n| format!("    at next (/app/node_modules/router/index.js:{}:{n})\n", 100 + n))),
        (
            "hex dump",
            many(60, |n| {
                format!("{:08x}  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n", n * 16)
            }),
        ),
        ("hex", many(80, |n| format!("{:016x}", (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)))),
        ("base64", many(80, |n| format!("{:x}Qk", (n as u64 + 7).wrapping_mul(0xD134_2543_DE82_EF95)))),
        ("base64 of zeros", format!("data:image/png;base64,{}==", "A".repeat(4_000))),
        (
            "git log",
            named(|name, n| {
                format!("commit {:040x}\nAuthor: Someone\nDate: Monday\n\n    Update {name}\n\n", n * 7_919_777)
            }),
        ),
        (
            "song",
            many(4, |n| {
                format!(
                    "Verse {n}: {} along the river with a bag of stones\n{}",
                    NAMES[n],
                    "Home we go, home we go, the day is done and home we go\n".repeat(2)
                )
            }),
        ),
        (
            "chorus four times",
            "Oh, we sail and sail away,\nto the end of the bay,\nand we come back another day,\nhey, hey, hey.\n\n"
                .repeat(4),
        ),
        ("said twice", "The release is ready. All tests pass and the notes are written. ".repeat(2)),
        ("said four times", "The release is ready. All tests pass and the notes are written. ".repeat(4)),
    ];
    [code, tables, lists, logs].concat()
}

#[test]
fn innocent_texts_are_left_alone() {
    let texts = long();
    let all = TEXTS.iter().map(|text| (text.0, text.1)).chain(texts.iter().map(|text| (text.0, text.1.as_str())));
    let mut count = 0;
    let mut wrong = String::new();
    for (name, text) in all {
        count += 1;
        // As an answer, within an answer, and with the line ends of another system.
        let forms = [text.to_owned(), format!("Here it is:\n\n{text}\n\nThat is all."), text.replace('\n', "\r\n")];
        for form in forms {
            if let Some(found) = whole(&form) {
                let _ = writeln!(wrong, "{name}: {found:?}");
            }
        }
    }
    assert!(count >= 60, "{count}");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Many different things after each other are still different things.
#[test]
fn innocent_texts_after_each_other_are_left_alone() {
    let all: String = TEXTS.iter().map(|text| format!("\n\n{}\n\n{}", text.0, text.1)).collect();
    assert_eq!(whole(&all), None);
}
