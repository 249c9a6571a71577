//! Owns: is this place inside a fenced block of Markdown?

/// Characters that make a fence.
const MARKS: u32 = 3;

/// The fence that is open, and what the current line may turn out to be.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fence {
    open: Option<(char, u32)>,
    /// The mark that the line opens with, and how many of it.
    mark: char,
    marks: u32,
    /// Something else follows the marks.
    more: bool,
    /// A backtick follows the marks and other text: code within a line.
    inline: bool,
}

impl Fence {
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// A character that is no white space.
    #[inline]
    pub fn ink(&mut self, c: char) {
        if self.more {
            self.inline |= c == '`';
        } else if matches!(c, '`' | '~') && (self.marks == 0 || c == self.mark) {
            self.mark = c;
            self.marks = self.marks.saturating_add(1);
        } else {
            self.more = true;
        }
    }

    pub fn line_end(&mut self) {
        if self.marks < MARKS {
            (self.marks, self.more, self.inline) = (0, false, false);
            return;
        }
        match self.open {
            None if !(self.inline && self.mark == '`') => {
                self.open = Some((self.mark, self.marks));
            }
            Some((mark, marks)) if self.marks >= marks && self.mark == mark && !self.more => self.open = None,
            _ => {}
        }
        *self = Self { open: self.open, ..Self::default() };
    }
}
