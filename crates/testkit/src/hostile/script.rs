//! Bytes as a script: one choice after the other, until there are no more.

/// What is left of the bytes.
pub(super) struct Script<'d> {
    left: &'d [u8],
}

impl<'d> Script<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Self {
        Self { left: bytes }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// A number below `bound`, at most 256; 0 where the script is over.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let Some((&first, left)) = self.left.split_first() else { return 0 };
        self.left = left;
        u64::from(first) % bound.max(1)
    }

    /// One of several; `None` of none.
    pub(super) fn pick<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        choices.get(self.below(choices.len() as u64) as usize)
    }

    /// True in one of `bound` cases.
    pub(super) fn one_of(&mut self, bound: u64) -> bool {
        self.below(bound) == 1
    }
}
