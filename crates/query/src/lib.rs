//! The query language of Tamias: text and blocks of documents become rows.
//!
//! The text of a query becomes tokens, an AST and a plan, in which every name is resolved and every pattern compiled; the
//! optimizer rewrites the plan. The executor takes blocks of events from a [`Source`], scans each document once, reads
//! the keys that the plan names, and returns rows. Values that need no computation are returned as they are stored.
//!
//! ```
//! use tamias_query::Query;
//!
//! let mut rows = Query::prepare("select 1 + 2 as three, ToUpper('a')")?.run_scalar();
//! assert_eq!(rows.columns(), ["three", "ToUpper('a')"]);
//! let mut line = Vec::new();
//! if let Some(row) = rows.next_row()? {
//!     row.write_ndjson(&mut line);
//! }
//! assert_eq!(line, b"{\"three\":3,\"ToUpper('a')\":\"A\"}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregate;
mod allocated;
mod ast;
mod builtin;
mod calendar;
mod chunk;
mod column_block;
mod control;
mod dictionary;
mod elements;
mod error;
mod explain;
mod expr;
mod functions;
mod instant;
mod instants;
mod interrupt;
mod key_numbers;
mod key_table;
mod keys;
mod lexer;
mod memory;
mod operator;
mod optimizer;
mod options;
mod outputs;
mod overflow;
mod parameters;
mod parser;
mod places;
mod plan;
mod planner;
mod profile;
mod pushdown;
mod query;
mod row;
mod row_batch;
mod rows;
mod scan;
mod source;
mod span;
mod statistics;
mod stats;
mod stored;
mod template;
mod time;
mod value;
mod vocabulary;
mod warning;
mod watch;
mod zone;

pub use column_block::{ColumnBlock, ColumnError, DecodedColumns, OwnDocuments, ReadFrame};
pub use error::{ExecError, Held, QueryError, closest};
pub use instant::{Instant, InstantError};
pub use interrupt::CancelHandle;
pub use key_numbers::KeyNumbers;
pub use options::{MEMORY_BYTES, RunOptions, THREADS_MAX};
pub use parameters::Parameters;
pub use parser::{EXPRESSION_DEPTH_MAX, QUERY_BYTES_MAX};
pub use places::Places;
pub use profile::{AggregateKinds, KindCounts, KindReport, PathKinds};
pub use query::{EvalError, Expression, Query, Statement, eval};
pub use row::{Cell, OwnedRow, Row};
pub use row_batch::{RowBatch, TypedColumn, TypedValue};
pub use rows::Rows;
pub use source::{Block, Cache, Direction, Interest, Source};
pub use span::Span;
pub use statistics::{
    FalseStatistics, SplitStatistics, check_statistics, collect_statistics, collect_surveyed_statistics,
    join_statistics, knows_statistics, split_statistics, statistics_texts, unpack_statistics,
};
pub use stats::{Stats, Technique};
pub use stored::{Documents, SourceError, Times};
pub use tamias_shred::Arrivals;
pub use value::{Kind, PLACES_MAX, VALUE_BYTES_MAX};
pub use vocabulary::{Word, vocabulary};
pub use warning::{Compared, UnixUnit, Warning};
pub use zone::{UnknownZone, Zone};
