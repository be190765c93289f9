//! What depends on nothing but the types of values: told by the byte that each begins with.

use super::computed::Texts;
use super::evaluate::{Evaluator, Mask};
use crate::ast::Comparison;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::value::{Kind, Value};
use std::sync::Arc;
use tamias_shred::Numbers;

impl Evaluator<'_> {
    /// The names of the types of what a path has; none for another expression than `TypeOf`.
    pub(super) fn type_names(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let Expr::Call { function, arguments, .. } = expr else { return None };
        let [of] = arguments.as_slice() else { return None };
        if function.name != "TypeOf" {
            return None;
        }
        let all = self.by_type(Some(self.as_column(of)??), |kind| kind);
        // In the order in which they first come.
        let mut kinds: Vec<Kind> = Vec::new();
        let code_of = |kind: &Kind| {
            let known = kinds.iter().position(|known| known == kind);
            let code = known.unwrap_or_else(|| {
                kinds.push(*kind);
                kinds.len() - 1
            });
            code as u32
        };
        let codes = all.iter().map(code_of).collect();
        let mut names = Texts::default();
        kinds.iter().for_each(|kind| names.add(&Value::from(kind.name())));
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), names.into_dictionary()?))))
    }

    /// Whether the type of what a path has is of a name, or another one, or whether it is null or something else; none of another condition.
    pub(super) fn test_type(&self, expr: &Expr) -> Option<Mask> {
        let Expr::Compare { op, left, right, ci: false } = expr else { return None };
        let negated = match op {
            Comparison::Equal => false,
            Comparison::NotEqual => true,
            _ => return None,
        };
        if let Expr::Constant(Value::Null) = **right {
            let column = self.as_column(left)?.map(|column| &**column);
            let is_so = |kind| kind != Kind::Undefined && (kind == Kind::Null) != negated;
            return Some(self.by_type(column, is_so));
        }
        let (Expr::Call { function, arguments, .. }, Expr::Constant(Value::Text(name))) = (&**left, &**right)
        else {
            return None;
        };
        let (true, [of]) = (function.name == "TypeOf", arguments.as_slice()) else { return None };
        let name = name.text();
        let column = self.as_column(of)?.map(|column| &**column);
        Some(self.by_type(column, |kind| (kind.name() == name) != negated))
    }

    /// The rows that have no value or null, or those that have one.
    pub(super) fn nulls(&self, column: Option<&PathColumn>, negated: bool) -> Mask {
        self.by_type(column, |kind| matches!(kind, Kind::Undefined | Kind::Null) != negated)
    }

    /// Of each row what is told of the type of its value.
    pub(super) fn by_type<T: Copy>(&self, column: Option<&PathColumn>, tell: impl Fn(Kind) -> T) -> Vec<T> {
        let [nothing, number, text] = [Kind::Undefined, Kind::Number, Kind::String].map(&tell);
        let of_entries = |values: &Dictionary| -> Vec<T> {
            values.firsts().map(|first| tell(Kind::of_first(first))).collect()
        };
        let of_numbers = |numbers: &Numbers| match &numbers.rows {
            None => vec![number; self.rows()],
            Some(rows) => {
                let mut told = vec![nothing; self.rows()];
                for row in rows {
                    if let Some(told) = told.get_mut(*row as usize) {
                        *told = number;
                    }
                }
                told
            }
        };
        match column {
            None | Some(PathColumn::Nothing | PathColumn::Unknown) => vec![nothing; self.rows()],
            Some(PathColumn::Coded(coded)) => {
                let of_entry = of_entries(&coded.dictionary);
                match coded.codes() {
                    None => of_entry,
                    Some(codes) => {
                        let of_code = |code: &u32| of_entry.get(*code as usize).copied().unwrap_or(nothing);
                        codes.iter().map(of_code).collect()
                    }
                }
            }
            Some(PathColumn::Pieces(column)) => {
                (0..self.rows()).map(|row| if column.pieces.has(row) { text } else { nothing }).collect()
            }
            Some(PathColumn::Numbers(column)) => of_numbers(&column.numbers),
            Some(PathColumn::Mixed(column)) => {
                let mut told = of_numbers(&column.numbers);
                column.others.put(&of_entries(&column.others.values.dictionary), &mut told);
                told
            }
        }
    }
}
