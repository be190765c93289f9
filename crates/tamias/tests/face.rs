//! The crate's face: whatever a public signature has, its user can name without another crate of the project. Most of this is that it
//! compiles.

use tamias::{
    AppendError, Batch, Damage, Decimal, EvalError, EventFormat, EventId, ExecError, Expression, Failure,
    Held, IdError, Instant, InstantError, LeftFile, OpenError, Operation, Parameters, Query, QueryError,
    ReadError, Reason, RegainedFile, Rejection, Repair, SourceError, Span, StartError, Store, StoreError,
    TimeError, TimeFormat, TimeFormatError, ValidateError,
};

/// What an error holds, by the names that this crate has for it.
#[test]
fn every_error_can_be_named_down_to_its_leaves() {
    fn failure(Failure { operation, .. }: &Failure) -> Operation {
        *operation
    }
    fn open(error: &OpenError) -> Option<Operation> {
        match error {
            OpenError::Failure(of) => Some(failure(of)),
            _ => None,
        }
    }
    fn read(error: &ReadError) -> Option<Operation> {
        match error {
            ReadError::Failure(of) => Some(failure(of)),
            ReadError::Open(of) => open(of),
            ReadError::Damaged(Damage { .. }) => None,
            _ => None,
        }
    }
    fn append(error: &AppendError) -> Option<Operation> {
        match error {
            AppendError::Store(StoreError::Failure(of) | StoreError::Poisoned(of)) => Some(failure(of)),
            AppendError::Rejected {
                rejection: Rejection::Document(ValidateError { reason, .. }), ..
            } => {
                let _: &Reason = reason;
                None
            }
            AppendError::Rejected { rejection: Rejection::BadTime { reason, .. }, .. } => {
                let _: Option<&InstantError> =
                    if let TimeError::Instant(of) = reason { Some(of) } else { None };
                None
            }
            _ => None,
        }
    }
    fn run(error: &ExecError) -> Option<Operation> {
        match error {
            ExecError::Source(of) => {
                let of: &SourceError = of;
                read(of.downcast_ref()?)
            }
            ExecError::MemoryExceeded { held, .. } => {
                let _: &Held = held;
                None
            }
            _ => None,
        }
    }
    fn start(error: &StartError) -> Option<Operation> {
        match error {
            StartError::Store(of) => open(of),
            StartError::Query(of) => {
                let _: Span = of.span();
                None
            }
            _ => None,
        }
    }
    let missing = Store::open_read_only("no/such/folder").unwrap_err();
    assert!(matches!(missing, OpenError::Missing { .. }), "{missing}");
    assert_eq!(start(&StartError::Store(missing)), None);

    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let error = store.append(["{"]).unwrap_err();
    assert_eq!(append(&error), None);
    let AppendError::Rejected { rejection: Rejection::Document(document), .. } = error else {
        panic!("{error}")
    };
    assert_eq!(document, ValidateError { offset: 1, reason: Reason::UnexpectedEnd });

    let of_memory = ExecError::MemoryExceeded { limit_bytes: 1, held: Held::Rows };
    assert_eq!(run(&of_memory), None);
    let failure = Failure {
        path: folder.path().to_owned(),
        operation: Operation::Read,
        source: std::sync::Arc::new(std::io::Error::other("gone")),
    };
    let of_source = ExecError::Source(Box::new(ReadError::Failure(failure)));
    assert_eq!(run(&of_source), Some(Operation::Read));
}

#[test]
fn what_calls_give_and_refuse_can_be_named() {
    let _: fn(&str) -> Result<Query, QueryError> = Query::prepare;
    let _: fn(&str, &Parameters) -> Result<Expression, QueryError> = Expression::prepare;
    let _: fn(&Expression, &str) -> Result<Option<String>, EvalError> = Expression::eval;
    let _: fn(&mut Batch, &[u8], &EventFormat) -> Result<(), Rejection> = Batch::push;
    let _: Result<Instant, InstantError> = "2024-05-29".parse();
    let _: Result<EventId, IdError> = "".parse();
    let _: Result<TimeFormat, TimeFormatError> = "iso".parse();
    let mut parameters = Parameters::new();
    let refused: Result<&mut Parameters, ValidateError> = parameters.set_json("p", "[1,");
    assert_eq!(refused.unwrap_err().reason, Reason::UnexpectedEnd);
    let lost = |repair: Repair| repair.unnamed.into_iter().flat_map(|file: RegainedFile| file.damage);
    let _: Vec<Damage> =
        lost(Store::repair(tempfile::tempdir().unwrap().path(), true, |_, _| ()).unwrap_or(Repair {
            files: Vec::new(),
            unnamed: Vec::new(),
            left: Vec::<LeftFile>::new(),
            rebuilt: None,
            erased_again: 0,
            lost_sources: Vec::new(),
            events: 0,
        }))
        .collect();
}

#[test]
fn numbers_are_decimals_of_the_crate() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.append([r#"{"@t":"2024-05-29T10:56:01Z","Price":12.50}"#]).unwrap();
    let row = store.query("select Price from stream").unwrap().next().unwrap().unwrap();
    assert_eq!(row.get(0).unwrap().to_decimal(), Some(Decimal::new(1250, 2)));
}
