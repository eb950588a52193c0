//! The values that were put since the last commit: how far they reach, what is filled, and what waits.

use std::ops::Range;

use super::behind::Behind;
use super::place::Place;
use super::target::Target;
use crate::error::Result;

/// The values that were put since the last commit.
#[derive(Default)]
pub(super) struct Values {
    pub(super) record_count: u64,
    /// Of each variable's values in their order, how many bytes are there.
    pub(super) marks: Vec<u64>,
    /// Behind how many of them nothing was ever put.
    pub(super) written: Vec<u64>,
    /// How many of them, written ever, are in the last commit where they are now.
    pub(super) settled: Vec<u64>,
    pub(super) behind: Behind,
}

impl Values {
    /// Takes bytes `range` of a variable's values.
    pub(super) fn put(
        &mut self,
        target: &Target,
        place: &Place,
        variable: usize,
        range: Range<u64>,
        bytes: &[u8],
    ) -> Result<()> {
        let (mark, settled) = (self.marks[variable], self.settled[variable]);
        self.written[variable] = self.written[variable].max(range.end);
        let behind = &mut self.behind;
        if range.start > mark {
            place.fill(&(mark..range.start), |at, bytes| behind.put(target, at, bytes))?;
        }
        let (mut rest, mut at) = (bytes, range.start);
        for (address, length) in place.pieces(range.clone()) {
            let (piece, others) = rest.split_at(length as usize);
            let (over, new) = piece.split_at(settled.saturating_sub(at).min(length) as usize);
            target.hold(address, over)?;
            behind.put(target, address + over.len() as u64, new)?;
            (rest, at) = (others, at + length);
        }
        if range.end > mark {
            let new = mark.max(range.start)..range.end;
            place.pad(&new, |at, bytes| behind.put(target, at, bytes))?;
            self.marks[variable] = range.end;
        }
        Ok(())
    }

    /// Has the variables of a new definition go on with what is known of those before; settled stay those that
    /// `is_in_place` says of.
    pub(super) fn take_over(
        &mut self,
        sources: &[Option<usize>],
        is_in_place: impl Fn(usize) -> bool,
    ) {
        let of = |known: &[u64], source: &Option<usize>| source.map_or(0, |source| known[source]);
        let settled =
            |(index, source)| if is_in_place(index) { of(&self.settled, source) } else { 0 };
        self.settled = sources.iter().enumerate().map(settled).collect();
        self.written = sources.iter().map(|source| of(&self.written, source)).collect();
    }

    /// Fills what was not put, and writes what waits.
    pub(super) fn settle(&mut self, target: &Target, places: &[Place]) -> Result<()> {
        self.fill_records(target, places)?;
        for (place, mark) in places.iter().zip(&mut self.marks) {
            let end = place.len(self.record_count);
            place.fill(&(*mark..end.max(*mark)), |at, bytes| self.behind.put(target, at, bytes))?;
            *mark = end.max(*mark);
        }
        self.behind.flush(target)
    }

    /// Fills the records one after the other, as their parts lie side by side.
    fn fill_records(&mut self, target: &Target, places: &[Place]) -> Result<()> {
        let Self { record_count, marks, behind, .. } = self;
        let is_record = |place: &Place| place.record_size.is_some() && place.dense > 0;
        let of_records = || places.iter().enumerate().filter(|(_, place)| is_record(place));
        let whole = of_records().map(|(index, place)| marks[index] / place.dense).min();
        for record in whole.unwrap_or(*record_count)..*record_count {
            for (index, place) in of_records() {
                let end = (record + 1) * place.dense;
                if marks[index] < end {
                    place.fill(&(marks[index]..end), |at, bytes| behind.put(target, at, bytes))?;
                    marks[index] = end;
                }
            }
        }
        Ok(())
    }
}
