//! `--output`: rows into a file, and with the feature `columnar` files of columns that have types.

use std::fs;

use crate::tool::{events, folder, tool, tool_with_input};

const EVENTS: &[u8] = b"{\"@t\":\"2024-05-29T10:56:01.1234567Z\",\"S\":\"a\",\"B\":true,\"N\":1,\"F\":0.5,\"M\":1,\"L\":9007199254740993}
{\"@t\":\"2024-05-29T10:56:02Z\",\"S\":\"Z\xc3\xbcrich\",\"B\":null,\"N\":-9,\"F\":2,\"M\":\"x\",\"L\":12345678901234567890}
{\"@t\":\"2024-05-29T10:56:03Z\",\"F\":1e300,\"A\":[1,\"x\"]}
";

#[test]
fn a_file_takes_its_place_when_it_is_whole() {
    let folder = folder();
    let path = folder.path();
    tool_with_input(path, &["ingest", "s", "-"], EVENTS).well();
    let query = |query: &str, more: &[&str]| {
        tool(path, &[&["query", "s", query, "--output", "rows.ndjson"][..], more].concat())
    };
    let run = query("select N from stream", &[]).well();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
    assert_eq!(fs::read_to_string(path.join("rows.ndjson")).unwrap(), "{\"N\":1}\n{\"N\":-9}\n{}\n");
    query("select N from stream", &["--format", "csv"]).well();
    assert_eq!(fs::read_to_string(path.join("rows.ndjson")).unwrap(), "N\n1\n-9\n\"\"\n");
    // The extension names the format, unless it is given.
    for (name, more, text) in [
        ("N.csv", &[][..], "N\n1\n-9\n\"\"\n"),
        ("N.jsonl", &[], "{\"N\":1}\n{\"N\":-9}\n{}\n"),
        ("N.csv", &["--format", "raw"], "1\n-9\n\n"),
    ] {
        let arguments = [&["query", "s", "select N from stream", "--output", name], more].concat();
        tool(path, &arguments).well();
        assert_eq!(fs::read_to_string(path.join(name)).unwrap(), text, "{name}");
        fs::remove_file(path.join(name)).unwrap();
    }
    // What fails leaves the file before as it was, and nothing beside it.
    query("select count(distinct(S)) from stream", &["--memory", "1B"]).with(3);
    query("select N from", &[]).with(3);
    assert_eq!(fs::read_to_string(path.join("rows.ndjson")).unwrap(), "N\n1\n-9\n\"\"\n");
    assert_eq!(fs::read_dir(path).unwrap().count(), 2);
    let run = tool(path, &["query", "s", "select 1", "--output", "no/folder.csv"]).with(5);
    // The name of the file that is written meanwhile is nobody's business.
    assert!(run.err.starts_with("error: no/folder.csv: No such file"), "{}", run.err);
    assert!(!run.err.contains("benchtool-"), "{}", run.err);
    let run = tool(path, &["query", "s", "select 1", "--format", "arrow"]).with(2);
    let missing = if cfg!(feature = "columnar") { "--output" } else { "--features columnar" };
    assert!(run.err.contains(missing), "{}", run.err);
    // NDJSON used to be written under any name.
    for name in ["y.xlsx", "y.tsv", "y", "y.csv.gz"] {
        let run = tool(path, &["query", "s", "select N from stream", "--output", name]).with(2);
        assert!(run.err.contains("the extension selects no format; use --format csv"), "{}", run.err);
        assert!(!path.join(name).exists());
    }
    let run = tool(path, &["query", "s", "select N from stream", "--output", "-", "--format", "csv"]).well();
    assert_eq!(run.out, "N\n1\n-9\n\"\"\n");
    assert!(!path.join("-").exists());
}

#[cfg(not(feature = "columnar"))]
#[test]
fn without_the_feature_it_says_how_to_get_it() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], EVENTS).well();
    let arguments = ["query", "s", "select N from stream", "--output", "rows", "--format", "parquet"];
    let run = tool(folder.path(), &arguments).with(2);
    assert!(run.err.contains("--features columnar"), "{}", run.err);
    assert!(!folder.path().join("rows").exists());
}

#[cfg(feature = "columnar")]
mod columnar {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType};
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::{DataType, TimeUnit};

    use super::*;
    use crate::tool::events;

    fn read(path: &std::path::Path, format: &str) -> Vec<RecordBatch> {
        let file = fs::File::open(path).unwrap();
        match format {
            "parquet" => {
                let reader =
                    parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
                reader.build().unwrap().map(Result::unwrap).collect()
            }
            _ => arrow_ipc::reader::FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        }
    }

    #[test]
    fn columns_have_the_type_that_all_their_values_have() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], EVENTS).well();
        for format in ["parquet", "arrow"] {
            let query = "select @Timestamp as t, S, B, N, F, M, L, A, Nothing from stream";
            let arguments = ["query", "s", query, "--output", "rows", "--format", format];
            assert_eq!(tool(folder.path(), &arguments).well().out, "");
            let [batch] = &read(&folder.path().join("rows"), format)[..] else { panic!("one batch") };
            let types: Vec<DataType> =
                batch.schema().fields().iter().map(|field| field.data_type().clone()).collect();
            let instant = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
            let text = DataType::Utf8;
            let expected = [instant, text.clone(), DataType::Boolean, DataType::Int64, DataType::Float64];
            assert_eq!(types[..5], expected);
            assert!(types[5..].iter().all(|other| *other == text));
            let instants = batch.column(0).as_primitive::<TimestampNanosecondType>();
            assert_eq!(instants.value(0), 1_716_980_161_123_456_700);
            assert_eq!(batch.column(1).as_string::<i32>().value(1), "Zürich");
            assert!(batch.column(2).as_boolean().value(0) && batch.column(2).is_null(1));
            assert_eq!(batch.column(3).as_primitive::<Int64Type>().value(1), -9);
            assert!(batch.column(3).is_null(2));
            assert_eq!(batch.column(4).as_primitive::<Float64Type>().values(), &[0.5, 2.0, 1e300]);
            let texts = |column: usize| {
                let column = batch.column(column).as_string::<i32>();
                (0..3)
                    .map(|row| column.is_valid(row).then(|| column.value(row).to_owned()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(texts(5), [Some("1".to_owned()), Some("x".to_owned()), None]);
            assert_eq!(texts(6)[1].as_deref(), Some("12345678901234567890"));
            assert_eq!(texts(7), [None, None, Some("[1,\"x\"]".to_owned())]);
            assert_eq!(texts(8), [None, None, None]);
        }
    }

    #[test]
    fn all_rows_are_there() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(7, 20_000)).well();
        for format in ["parquet", "arrow"] {
            let arguments =
                ["query", "s", "select @Arrived as a, * from stream", "--output", "rows", "--format", format];
            tool(folder.path(), &arguments).well();
            let batches = read(&folder.path().join("rows"), format);
            let numbers = batches
                .iter()
                .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec());
            let mut numbers: Vec<i64> = numbers.collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..20_000), "{format}");
        }
    }
}

/// They used to be replaced by a file.
#[cfg(unix)]
#[test]
fn links_pipes_and_permissions_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    let folder = folder();
    let path = folder.path();
    tool_with_input(path, &["ingest", "s", "-"], EVENTS).well();
    let query = |output: &str| {
        tool(path, &["query", "s", "select N from stream", "--format", "ndjson", "--output", output])
    };
    let rows = "{\"N\":1}\n{\"N\":-9}\n{}\n";

    fs::write(path.join("target"), "before").unwrap();
    fs::set_permissions(path.join("target"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("target", path.join("link")).unwrap();
    symlink("later", path.join("dangling")).unwrap();
    query("link").well();
    query("dangling").well();
    for (link, file) in [("link", "target"), ("dangling", "later")] {
        assert!(path.join(link).is_symlink());
        assert_eq!(fs::read_to_string(path.join(file)).unwrap(), rows, "{file}");
    }
    assert_eq!(fs::metadata(path.join("target")).unwrap().permissions().mode() & 0o777, 0o640);

    let pipe = path.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    tool(path, &["query", "s", "select N from stream", "--output", "pipe"]).well();
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(reader.join().unwrap(), rows);

    for inside in ["s/rows", "to_s/rows", "to_log"] {
        let _ = symlink("s", path.join("to_s"));
        let file = fs::read_dir(path.join("s")).unwrap().next().unwrap().unwrap().path();
        let _ = symlink(file, path.join("to_log"));
        let run = query(inside).with(2);
        assert!(run.err.contains("is inside the store"), "{inside}: {}", run.err);
        let script = format!(".mode ndjson\n.once {inside}\nselect 1 from stream;\n");
        let run = tool_with_input(path, &["shell", "s"], script.as_bytes()).with(2);
        assert!(run.err.contains("is inside the store"), "{inside}: {}", run.err);
    }
    tool(path, &["verify", "s"]).well();
}

/// Each interrupted query used to leave the file beside it that it was writing.
#[cfg(unix)]
#[test]
fn an_interrupted_query_leaves_no_file() {
    use std::process::Stdio;

    let folder = folder();
    let path = folder.path();
    fs::write(path.join("events"), crate::tool::events(1, 20_000)).unwrap();
    tool(path, &["ingest", "s", "events"]).well();
    let is_beside = |name: &str| name.starts_with(".benchtool-");
    let names = || {
        let names =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    let query =
        "select @Data, ToUpper(@Message) as m from stream where match(@Message, '(a|e|i)+[^x]*(o|u)')";
    let mut child = crate::tool::command(path, &["query", "s", query, "--output", "rows.csv"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while child.try_wait().unwrap().is_none() && !names().iter().any(|name| is_beside(name)) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").arg("-c").arg(kill).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut names = names();
    names.sort_unstable();
    assert_eq!(names, ["events", "s"]);
}

/// `select *` gave one column of JSON, and nothing said how to get the keys as columns.
#[test]
fn a_table_of_whole_events_is_told_to_have_one_cell_each() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 10)).well();
    let note = |query: &str, format: &str| {
        tool(folder.path(), &["query", "s", query, "--format", format]).well().err
    };
    for format in ["csv", "table", "markdown"] {
        assert!(note("select * from stream", format).contains("`select Key, OtherKey`"), "{format}");
        assert_eq!(note("select Elapsed from stream where Elapsed > 0", format), "", "{format}");
    }
    assert_eq!(note("select * from stream", "ndjson"), "");
}
