//! Conditions on texts that come in pieces, told from these as far as they tell: of texts that are kept, or in passing, without keeping anything.

use super::compile::slots_of;
use super::evaluate::{Evaluator, Mask, is_true_or_false};
use super::texts::{Part, Sought};
use crate::column_block::{Coded, ColumnError, PieceColumn};
use crate::dictionary::Dictionary;
use crate::error::ExecError;
use crate::expr::Expr;
use std::sync::Arc;
use tamias_shred::Holds;

/// Whether all texts that begin so compare alike with a text.
fn is_apart(beginning: &[u8], text: &[u8]) -> bool {
    let common = beginning.iter().zip(text).take_while(|(own, other)| own == other).count();
    common < beginning.len()
}

/// A condition on texts that were searched for a part of what is sought.
#[derive(Clone, Copy)]
struct Searched<'c, 's> {
    slot: usize,
    sought: &'c Sought<'s>,
    part: &'c Part<'s>,
    negated: bool,
}

/// Conditions on texts that are joined by `or` are searched for without keeping these where they are no more. Each reads the pieces of texts anew, and all for nothing if the
/// last one had better be asked of texts that are kept.
const TOGETHER_MAX: usize = 2;

impl Evaluator<'_> {
    /// Of each row whether a condition on its text is true, as far as the pieces of texts tell it; none where they tell little.
    pub(super) fn test_pieces(
        &self,
        expr: &Expr,
        (slot, column): (usize, &PieceColumn),
        sought: &Sought<'_>,
        negated: bool,
    ) -> Result<Option<Mask>, ExecError> {
        let Some(part) = sought.part() else { return Ok(None) };
        let Some(pieces) = column.searchable() else { return Ok(None) };
        let found = part.search(pieces);
        let rows = part.open_rows(&found);
        if !self.are_few(rows.len()) {
            return Ok(None);
        }
        let search = Searched { slot, sought, part: &part, negated };
        self.passes(expr, &search, &found, column.some(&rows)).map(Some)
    }

    /// Of each row whether a condition on texts is true, which come in pieces and are not kept for it; none where it is another one, or they had better be kept.
    pub(super) fn test_in_passing(&mut self, expr: &Expr) -> Result<Option<Mask>, ColumnError> {
        match expr {
            Expr::Or(terms)
                if terms.len() <= TOGETHER_MAX && terms.iter().all(|term| self.asks_texts_alone(term)) =>
            {
                let mut mask: Option<Mask> = None;
                for term in terms {
                    let Some(passes) = self.test_in_passing(term)? else { return Ok(None) };
                    match &mut mask {
                        None => mask = Some(passes),
                        Some(mask) => mask.iter_mut().zip(passes).for_each(|(mask, passes)| *mask |= passes),
                    }
                }
                Ok(mask)
            }
            Expr::Not(of) if is_true_or_false(of) => {
                let mask = self.test_in_passing(of)?;
                Ok(mask.map(|mask| mask.into_iter().map(|passes| !passes).collect()))
            }
            _ => self.search_in_passing(expr),
        }
    }

    /// Whether a condition asks nothing but for texts that come in pieces.
    fn asks_texts_alone(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Or(terms) => terms.iter().all(|term| self.asks_texts_alone(term)),
            Expr::Not(of) => self.asks_texts_alone(of),
            _ => matches!(Sought::of(expr), Some((Expr::Slot(slot), ..)) if self.is_in_pieces(*slot)),
        }
    }

    fn search_in_passing(&mut self, expr: &Expr) -> Result<Option<Mask>, ColumnError> {
        let Some((Expr::Slot(slot), sought, negated)) = Sought::of(expr) else { return Ok(None) };
        let is_new = self.columns.get(*slot).is_some_and(Option::is_none) && slots_of(expr) == [*slot];
        let (true, Some(path), Some(block)) = (is_new, self.paths.get(*slot), self.block.stored()) else {
            return Ok(None);
        };
        let part = sought.part();
        let can_be_told = part.is_some() || matches!(sought, Sought::Ordered(..));
        if !can_be_told || !block.begin_search_in_passing(path) {
            return Ok(None);
        }
        if let Sought::Ordered(_, text) = &sought {
            let Some(texts) = block.beginnings(path, |beginning| is_apart(beginning, text))? else {
                return Ok(None);
            };
            self.searched.push(*slot);
            return Ok(self.test_coded(expr, (*slot, &texts), &sought, negated).ok());
        }
        let Some(part) = part else { return Ok(None) };
        let Some(found) = block.search(path, part.wanted, |text| part.is_in(text))? else {
            return Ok(None);
        };
        let rows = part.open_rows(&found);
        if !self.are_few(rows.len()) {
            return Ok(None);
        }
        let texts = if rows.is_empty() { Dictionary::default() } else { block.texts_at(path, &rows)? };
        self.searched.push(*slot);
        let search = Searched { slot: *slot, sought: &sought, part: &part, negated };
        // Where it fails, that may be of a row that is not come to.
        Ok(self.passes(expr, &search, &found, texts).ok())
    }

    /// Of each row whether a condition is true that was searched for; `texts` are those of the rows that this leaves open.
    fn passes(
        &self,
        expr: &Expr,
        search: &Searched<'_, '_>,
        found: &[Holds],
        texts: Dictionary,
    ) -> Result<Mask, ExecError> {
        let Searched { slot, sought, part, negated } = *search;
        let texts = Coded::new(None, Arc::new(texts));
        let mut marks = vec![false; texts.dictionary.len()];
        let open = sought.tell(&texts.dictionary, &mut marks, negated);
        self.evaluate_open(expr, (slot, &texts), &open, &mut marks)?;
        // Of those that have none one stands for all.
        let mut of_missing = [false];
        if found.contains(&Holds::Nothing) {
            let nothing = Coded::new(None, Arc::new(Dictionary::new(Vec::new(), vec![0])));
            self.evaluate_open(expr, (slot, &nothing), &[0], &mut of_missing)?;
        }
        let mut marks = marks.into_iter();
        let of_row = |holds: &Holds| match holds {
            Holds::Nothing => of_missing[0],
            holds if part.leaves_open(*holds) => marks.next().unwrap_or_default(),
            holds => (*holds == Holds::Yes) != negated,
        };
        Ok(found.iter().map(of_row).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::of_block::BlockColumns;
    use super::*;
    use crate::ast::Comparison;
    use crate::column_block::{ColumnBlock, PathColumn};
    use crate::control::Control;
    use crate::options::RunOptions;
    use crate::parameters::Parameters;
    use crate::stored::Times;
    use crate::value::Value;
    use crate::{parser, planner};
    use tamias_shred::{Event, encode};

    fn block() -> ColumnBlock {
        let document =
            |n: u32| format!(r#"{{"m":"order {n} of customer {} was paid and sent","n":{n}}}"#, n % 13);
        let documents: Vec<String> = (0..500).map(document).collect();
        let documents = documents.iter().map(String::as_bytes);
        let events: Vec<Event<'_>> =
            documents.map(|document| Event { instant: 0, arrival: 0, document }).collect();
        let encoded = encode(&events).unwrap();
        ColumnBlock::open(&encoded.directory, Box::new(encoded.frames)).unwrap()
    }

    fn control() -> Control {
        let text = "select 1";
        let plan = planner::plan(&parser::parse_query(text).unwrap(), text, &Parameters::new()).unwrap();
        Control::new(&plan, RunOptions::default(), None)
    }

    fn compared(op: Comparison, text: &'static str) -> Expr {
        let right = Box::new(Expr::Constant(Value::from(text)));
        Expr::Compare { op, left: Box::new(Expr::Slot(0)), right, ci: false }
    }

    #[test]
    fn texts_in_pieces_are_searched_without_being_kept_the_first_time() {
        let (mut block, control) = (block(), control());
        let paths = [Box::from(["m".into()])];
        let either = Expr::Or(vec![
            compared(Comparison::Equal, "order 7 of customer 7 was paid and sent"),
            Expr::Not(Box::new(compared(Comparison::NotEqual, "order 15 of customer 2 was paid and sent"))),
        ]);
        for (turn, is_first) in [(1, true), (1, true), (2, false)] {
            block = block.in_turn(turn);
            let columns = BlockColumns::Stored(&block);
            let mut evaluator = Evaluator::new(&columns, &paths, Times::default(), &control);
            let told = evaluator.test_in_passing(&either);
            let rows = told.unwrap().map(|mask| (0..500).filter(|row| mask[*row]).collect::<Vec<_>>());
            assert_eq!(rows, is_first.then(|| vec![7, 15]), "turn {turn}");
            assert!(!block.has(&paths[0]));
            assert_eq!(evaluator.names(), is_first.then(|| "m".to_owned()).into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_order_of_texts_is_told_by_what_their_templates_begin_with() {
        let control = control();
        let paths = [Box::from(["m".into()])];
        for (turn, (op, text, passing)) in (1..).zip([
            (Comparison::Greater, "orb", 500),
            (Comparison::Less, "orb", 0),
            (Comparison::Less, "pay", 500),
            (Comparison::GreaterOrEqual, "order", 500),
            (Comparison::Less, "o", 0),
        ]) {
            let block = block().in_turn(turn);
            let columns = BlockColumns::Stored(&block);
            let mut evaluator = Evaluator::new(&columns, &paths, Times::default(), &control);
            let mask = evaluator.test_in_passing(&compared(op, text)).unwrap().unwrap();
            assert_eq!(mask.iter().filter(|passes| **passes).count(), passing, "{text}");
        }
        // What goes on as the text does has to be put together.
        assert!(is_apart(b"order ", b"orb") && is_apart(b"order ", b"order") && is_apart(b"order ", b""));
        assert!(!is_apart(b"order ", b"order ") && !is_apart(b"order ", b"order 7") && !is_apart(b"", b"o"));
    }

    /// All of them were put together before it was seen that the other side is no column.
    #[test]
    fn texts_in_pieces_are_not_put_together_to_be_compared_with_a_constant() {
        let (block, control) = (block(), control());
        let columns = BlockColumns::Stored(&block);
        let paths = [Box::from(["m".into()])];
        let mut evaluator = Evaluator::new(&columns, &paths, Times::default(), &control);
        assert!(evaluator.load(&Expr::Slot(0)).unwrap());
        let constant = Expr::Constant(Value::from("order 7"));
        assert_eq!(evaluator.compare_texts(Comparison::Equal, &Expr::Slot(0), &constant, None), None);
        let Some(PathColumn::Pieces(column)) = evaluator.column(0).map(AsRef::as_ref) else {
            panic!("texts by template");
        };
        assert!(column.searchable().is_some());
    }
}
