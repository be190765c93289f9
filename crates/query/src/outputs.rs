//! The columns that a plan's last operator takes: which expressions, and in what form.

use crate::chunk::{Columns, Form};
use crate::error::ExecError;
use crate::expr::Expr;
use crate::plan::{Grouping, Key, Output as PlanOutput, Plan};
use crate::value::{Kind, VALUE_BYTES_MAX, Value};
use crate::zone::Intervals;

/// A column: the values of an expression.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) expr: Expr,
    pub(crate) form: Form,
    /// Whether its numbers are only added up: how they are spelled makes no difference.
    pub(crate) are_summands: bool,
}

impl Output {
    /// The same of another expression.
    pub(crate) fn with(&self, expr: Expr) -> Output {
        Output { expr, form: self.form, are_summands: self.are_summands }
    }
}

/// The columns of a grouping, and what they are for.
pub(crate) struct GroupOutputs {
    pub(crate) outputs: Vec<Output>,
    pub(crate) keys: Vec<KeyColumn>,
    /// For each aggregate the column of its argument.
    pub(crate) arguments: Vec<usize>,
}

/// What a key is.
#[derive(Clone)]
pub(crate) enum KeyColumn {
    /// The beginning of the interval that the event falls into.
    Time(Intervals),
    Value {
        column: usize,
        ci: bool,
    },
}

/// The columns of a plan.
pub(crate) fn outputs(plan: &Plan) -> Vec<Output> {
    match &plan.output {
        PlanOutput::Rows { cells, .. } => {
            let output = |expr: &Expr| Output { expr: expr.clone(), form: Form::Values, are_summands: false };
            cells.iter().map(output).collect()
        }
        PlanOutput::Groups(grouping) => GroupOutputs::of(grouping).outputs,
    }
}

/// Empty columns for some outputs.
pub(crate) fn columns(outputs: &[Output]) -> Columns {
    Columns::new(outputs.iter().map(|output| output.form))
}

impl GroupOutputs {
    pub(crate) fn of(grouping: &Grouping) -> GroupOutputs {
        let mut outputs: Vec<Output> = Vec::new();
        let mut column = |expr: &Expr, form: Form, are_summands: bool| {
            // What is asked for of the same value is found once.
            let is_same =
                |output: &Output| output.form == form && (form == Form::Nothing || output.expr.is_same(expr));
            let place = outputs.iter().position(is_same).unwrap_or_else(|| {
                outputs.push(Output { expr: expr.clone(), form, are_summands });
                outputs.len() - 1
            });
            if let Some(output) = outputs.get_mut(place) {
                output.are_summands &= are_summands;
            }
            place
        };
        let keys = grouping.keys.iter().map(|key| match key {
            Key::Time(intervals) => KeyColumn::Time(intervals.clone()),
            Key::Expr { expr, ci } => {
                let is_alone = grouping.keys.len() == 1 && !ci;
                let form = if is_alone { Form::Keys } else { Form::Values };
                KeyColumn::Value { column: column(expr, form, false), ci: *ci }
            }
        });
        let keys = keys.collect();
        let arguments = grouping.aggregates.iter().map(|aggregate| {
            let form = match &aggregate.argument {
                Expr::Constant(Value::Bool(true)) => Form::Nothing,
                _ if aggregate.function.counts_distinct() => Form::Keys,
                _ if aggregate.function.takes(Kind::Array) => Form::Values,
                _ => Form::Numbers,
            };
            column(&aggregate.argument, form, aggregate.function.adds_up())
        });
        let arguments = arguments.collect();
        GroupOutputs { outputs, keys, arguments }
    }
}

/// A row's computed cells together are limited as one value is.
pub(crate) fn check_row(bytes: usize, arrival: Option<u64>) -> Result<(), ExecError> {
    if bytes <= VALUE_BYTES_MAX {
        Ok(())
    } else {
        Err(ExecError::ValueTooLarge { limit_bytes: VALUE_BYTES_MAX, by: "select", arrival })
    }
}
