//! Which lines of a file a call showed, and which of them were new: per-file coverage by line intervals.

use serde_json::Value;

/// Lines `from..to` (1-based, end excluded).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: u64,
    pub to: u64,
}

/// End of a file of unknown length.
const TO_THE_END: u64 = u64::MAX / 2;

/// What a read asks for, as far as its arguments tell; `None` when it is no read of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub from: u64,
    /// `None`: as far as the tool shows.
    pub count: Option<u64>,
}

impl Asked {
    /// By the argument names that readers use.
    pub fn of(args: &Value) -> Self {
        let number = |names: &[&str]| {
            names.iter().find_map(|name| match args.get(*name)? {
                Value::Number(number) => number.as_u64(),
                Value::String(text) => text.trim().parse().ok(),
                _ => None,
            })
        };
        let from =
            number(&["offset", "start_line", "line_start", "startLine", "start", "from", "start_line_one_indexed"]);
        let to = number(&["end_line", "line_end", "endLine", "end", "to", "end_line_one_indexed_inclusive"]);
        let from = from.unwrap_or(1).max(1);
        let limit = number(&["limit", "count", "num_lines", "max_lines", "lines"]);
        Self { from, count: limit.or_else(|| to.map(|to| to.saturating_add(1).saturating_sub(from))) }
    }

    /// `shown`: lines in the output.
    pub fn span(self, shown: u64) -> Span {
        let count = match self.count {
            Some(count) => count,
            // The whole file: what it shows is all there is.
            None if self.from == 1 => TO_THE_END,
            None => shown.max(1),
        };
        Span { from: self.from, to: self.from.saturating_add(count.max(1)).min(TO_THE_END) }
    }
}

/// Lines of one file that were seen, as sorted, disjoint spans.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    spans: Vec<Span>,
}

/// More pieces than this are merged over their gaps: a file read in so many scattered places is known.
const MAX_PIECES: usize = 64;

impl Coverage {
    /// Adds a span; returns how many of its lines were not seen before.
    pub fn add(&mut self, span: Span) -> u64 {
        let mut new = span.to.saturating_sub(span.from);
        let (mut from, mut to) = (span.from, span.to);
        self.spans.retain(|old| {
            let overlap = old.to.min(span.to).saturating_sub(old.from.max(span.from));
            new = new.saturating_sub(overlap);
            let touches = old.from <= to && from <= old.to;
            if touches {
                from = from.min(old.from);
                to = to.max(old.to);
            }
            !touches
        });
        let at = self.spans.partition_point(|old| old.from < from);
        self.spans.insert(at, Span { from, to });
        if self.spans.len() > MAX_PIECES {
            let gap = (1..self.spans.len()).min_by_key(|&i| self.spans[i].from - self.spans[i - 1].to).unwrap_or(1);
            self.spans[gap - 1].to = self.spans[gap].to;
            self.spans.remove(gap);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn span(from: u64, to: u64) -> Span {
        Span { from, to }
    }

    #[test]
    fn paging_forward_shows_new_lines_and_a_second_sweep_none() {
        let mut seen = Coverage::default();
        for page in 0..10 {
            assert_eq!(seen.add(span(page * 40 + 1, page * 40 + 41)), 40);
        }
        assert_eq!(seen.spans.len(), 1);
        for page in 0..10 {
            assert_eq!(seen.add(span(page * 40 + 1, page * 40 + 41)), 0);
        }
    }

    #[test]
    fn ranges_are_read_from_the_names_that_tools_use() {
        for args in
            [r#"{"offset":5,"limit":10}"#, r#"{"start_line":5,"end_line":14}"#, r#"{"line_start":"5","limit":10}"#]
        {
            assert_eq!(Asked::of(&serde_json::from_str(args).unwrap()).span(1), span(5, 15), "{args}");
        }
        assert_eq!(Asked::of(&Value::Null).span(30), span(1, TO_THE_END));
        assert_eq!(Asked::of(&serde_json::json!({"offset": 9})).span(30), span(9, 39));
    }

    proptest! {
        #[test]
        fn coverage_equals_a_set_of_lines(spans in prop::collection::vec((1_u64..200, 1_u64..60), 1..40)) {
            let mut seen = Coverage::default();
            let mut naive = HashSet::new();
            for (from, length) in spans {
                let new = (from..from + length).filter(|line| naive.insert(*line)).count() as u64;
                prop_assert_eq!(seen.add(span(from, from + length)), new);
            }
        }
    }
}
