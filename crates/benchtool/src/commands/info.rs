//! `benchtool info`

use tamias::{Info, Segment, Store};

use crate::cli::{InfoArgs, InfoFormat};
use crate::failure::Failure;
use crate::output::{self, Field};
use crate::units;

pub(crate) fn run(args: &InfoArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&args.store)?;
    super::warn_of_unnamed(&store)?;
    let info = store.info()?;
    let text = match args.format {
        InfoFormat::Table => table(args, &info),
        InfoFormat::Json => json(args, &info),
    };
    output::write_line(&mut output::stdout(), &text)
}

/// The bytes of all files, and of those among them that have columns.
fn file_bytes(info: &Info) -> (u64, u64) {
    let bytes = |segment: &Segment| segment.file_bytes;
    let with_columns = info.segments.iter().filter(|segment| segment.column_blocks > 0);
    (info.segments.iter().map(bytes).sum(), with_columns.map(bytes).sum())
}

fn table(args: &InfoArgs, info: &Info) -> String {
    let zone = &args.time_zone;
    let time = |instant: &tamias::Instant| zone.text(instant.ticks()).unwrap_or_else(|| instant.to_string());
    let range = info.time_range.as_ref();
    let range = range.map_or("none".to_owned(), |(first, last)| format!("{} to {}", time(first), time(last)));
    let (file_bytes, column_bytes) = file_bytes(info);
    let head = format!(
        "store:  {}\nevents: {}\ntimes:  {range}\ndata:   {}\nfiles:  {}, of these {} in columns",
        args.store.display(),
        info.events,
        size(info.bytes),
        size(file_bytes),
        size(column_bytes),
    );
    if info.segments.is_empty() {
        return head;
    }
    let names = ["file", "bytes", "events", "data bytes", "blocks", "in columns", "first", "last"];
    let rows: Vec<Vec<Field>> = info
        .segments
        .iter()
        .map(|segment| {
            let (first, last) = &segment.time_range;
            vec![
                Field::text(&name(segment).unwrap_or_else(|| "(not sealed yet)".to_owned())),
                Field::number(&segment.file_bytes.to_string()),
                Field::number(&segment.events.to_string()),
                Field::number(&segment.bytes.to_string()),
                Field::number(&segment.blocks.to_string()),
                Field::number(&segment.column_blocks.to_string()),
                Field::whole(&time(first)),
                Field::whole(&time(last)),
            ]
        })
        .collect();
    format!("{head}\n{}", output::fitted(&names.map(str::to_owned), &rows))
}

/// `1234567 bytes (1.23 MB)`
fn size(bytes: u64) -> String {
    format!("{bytes} bytes ({})", units::bytes(bytes))
}

fn name(segment: &Segment) -> Option<String> {
    Some(segment.file.as_ref()?.file_name()?.to_string_lossy().into_owned())
}

/// The same for programs: one JSON object.
fn json(args: &InfoArgs, info: &Info) -> String {
    let time = |instant: &tamias::Instant| output::json_string(&instant.to_string());
    let range = |range: &Option<(tamias::Instant, tamias::Instant)>| match range {
        Some((first, last)) => format!("\"first\":{},\"last\":{}", time(first), time(last)),
        None => "\"first\":null,\"last\":null".to_owned(),
    };
    let segments: Vec<String> = info
        .segments
        .iter()
        .map(|segment| {
            format!(
                "{{\"file\":{},\"file_bytes\":{},\"events\":{},\"bytes\":{},\"blocks\":{},\"column_blocks\":{},{}}}",
                name(segment).map_or("null".to_owned(), |name| output::json_string(&name)),
                segment.file_bytes,
                segment.events,
                segment.bytes,
                segment.blocks,
                segment.column_blocks,
                range(&Some(segment.time_range)),
            )
        })
        .collect();
    let (file_bytes, column_file_bytes) = file_bytes(info);
    format!(
        "{{\"store\":{},\"events\":{},\"bytes\":{},\"file_bytes\":{file_bytes},\"column_file_bytes\":{column_file_bytes},{},\"segments\":[{}]}}",
        output::json_string(&args.store.display().to_string()),
        info.events,
        info.bytes,
        range(&info.time_range),
        segments.join(","),
    )
}
