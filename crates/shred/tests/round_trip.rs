//! Every document comes back, byte for byte, and as columns.

use proptest::prelude::*;
use tamias_shred::{Encoded, Encoder, Event, Frames, Group, Leaf, encode, group_len};
use tamias_testdata::{DATA_SETS, Generator, broken_documents, data_set, nasty_documents, spaced_documents};

fn events<'d>(documents: &[&'d [u8]]) -> Vec<Event<'d>> {
    let event = |(document, n): (&&'d [u8], u64)| Event {
        instant: 638_000_000_000_000_000 + n * n,
        arrival: n ^ 5,
        document,
    };
    documents.iter().zip(0..).map(event).collect()
}

/// Encodes all documents, group by group, and asserts that a reader gives them back. [`encode`] has proved it already; this does not
/// take its word.
fn round_trip(documents: &[&[u8]]) -> Vec<Encoded> {
    let events = events(documents);
    let mut rest = events.as_slice();
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let (events, after) = rest.split_at(group_len(rest));
        rest = after;
        let encoded = encode(events).expect("encodes");
        let group = Group::open(&encoded.directory).expect("opens");
        let mut reader = group.read(&encoded.frames);
        let decoded = reader.documents().expect("decodes");
        assert_eq!(decoded.len(), events.len());
        for (document, event) in decoded.iter().zip(events) {
            assert_eq!(String::from_utf8_lossy(document), String::from_utf8_lossy(event.document));
            assert_eq!(document, event.document);
        }
        for row in [0, events.len() / 3, events.len() - 1] {
            assert_eq!(reader.document(row).expect("decodes"), events[row].document);
        }
        assert!(reader.instants().expect("decodes").iter().eq(events.iter().map(|event| &event.instant)));
        assert!(reader.arrivals().expect("decodes").iter().eq(events.iter().map(|event| &event.arrival)));
        assert_eq!(reader.leftovers(decoded.bytes()).expect("decodes").first, None);
        groups.push(encoded);
    }
    groups
}

/// At least 99% of the bytes stand in columns, and nothing fell back to text.
fn assert_columns(groups: &[Encoded], bytes: usize) {
    assert!(groups.iter().all(|group| !group.fell_back));
    let text: usize = groups.iter().map(|group| group.text_bytes).sum();
    assert!(text * 100 <= bytes, "{text} of {bytes} bytes stand as text");
}

#[test]
fn texts_that_each_show_the_one_before_end_in_columns_and_not_as_text() {
    // A hundred references one behind the other, of which a reader follows 64.
    let document = |n: usize| {
        let mut text = format!("{:04x}", n * 0x9e37 % 0x10000);
        let members = (0..100).map(|key| {
            text += &format!(" x{key}");
            format!("\"c{key}\":\"{text}\"")
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    let documents: Vec<String> = (0..200).map(document).collect();
    let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
    let bytes = documents.iter().map(|document| document.len()).sum();
    assert_columns(&round_trip(&documents), bytes);
}

#[test]
fn nasty_documents_come_back_together_and_each_alone() {
    let documents = nasty_documents();
    let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
    assert_columns(&round_trip(&documents), documents.iter().map(|document| document.len()).sum());
    for document in &documents {
        assert_columns(&round_trip(&[document]), document.len());
    }
}

#[test]
fn what_is_not_minified_or_no_json_comes_back_too() {
    let documents: Vec<Vec<u8>> = spaced_documents().into_iter().chain(broken_documents()).collect();
    let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
    round_trip(&documents);
    for document in documents {
        round_trip(&[document]);
    }
    round_trip(&[b"", b"{}", b""]);
}

#[test]
fn generated_events_stand_in_columns() {
    let mut lines = Vec::new();
    let mut generator = Generator::new(7, 20_000);
    while generator.write_next(&mut lines) {}
    let documents: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let groups = round_trip(&documents);
    assert_columns(&groups, lines.len());
    assert_eq!(groups.len(), 2);
}

#[test]
fn real_events_stand_in_columns() {
    // Where the sets are not at hand, the generated events above stand for them.
    for name in DATA_SETS {
        let Some(bytes) = data_set(name) else { continue };
        // Enough for a whole group of each.
        let whole = bytes.len().min(12 << 20);
        let lines = bytes[..whole].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let documents: Vec<&[u8]> = lines.filter(|line| line.ends_with(b"}")).collect();
        assert_columns(&round_trip(&documents), documents.iter().map(|document| document.len()).sum());
    }
}

#[test]
fn what_only_looks_like_json_is_text_and_the_rest_are_columns() {
    let good = r#"{"a":"x","b":[1,{"c":null}]}"#;
    for broken in [
        r#"{"a"Zx","b":[]}"#,
        r#"{"a":1,}"#,
        r#"{"a":{}"b":1}"#,
        r#"{"a":[1,]}"#,
        r#"{"a":[[]x]}"#,
        r#"{"a":"x"y}"#,
    ] {
        let documents = [good, broken, good, good];
        let groups = round_trip(&documents.map(str::as_bytes));
        assert!(!groups[0].fell_back, "{broken}");
        assert!(groups[0].text_bytes <= broken.len(), "{broken}");
    }
}

#[test]
fn a_document_that_comes_again_comes_back_each_time_whatever_stood_between() {
    let documents =
        [r#"{"a":[1,"x",[2,[]],null,{"b":[true,1.50]},{}]}"#, "{}", r#"{"a":[1,"#, "", r#"{"a":[2,"y"]}"#];
    let order = [0, 0, 1, 1, 2, 2, 0, 3, 3, 1, 4, 0, 2, 4, 4, 1];
    let documents: Vec<&[u8]> = order.iter().map(|number| documents[*number].as_bytes()).collect();
    let text: usize = round_trip(&documents).iter().map(|group| group.text_bytes).sum();
    assert_eq!(text, 3 * r#"{"a":[1,"#.len());
}

#[test]
fn a_text_that_was_shown_already_is_shown_again_in_its_own_event_only() {
    // The address comes before the texts that show it in some events, after them in others, and not at all in the rest.
    let document = |n: usize| {
        let host = format!("https://host{}.example.org/{}", n * 7 % 5, n * 0x9e37 % 1000);
        let (url, own) = (format!("{host}/items/{n}"), n * 31 % 9);
        let members = [
            format!(r#""url":"{url}""#),
            format!(r#""forks":"{url}/forks/{own}","keys":["{url}/keys","{url}/forks/{own}/all"]"#),
            format!(r#""again":"see {url}/forks/{own} and {url}/forks/{own} of {host}""#),
        ];
        let order = [[0, 1, 2], [2, 1, 0], [1, 2, 1]][n % 3];
        format!(r#"{{"host":"{host}",{}}}"#, order.map(|at| members[at].as_str()).join(","))
    };
    let documents: Vec<String> = (0..200).map(document).collect();
    let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
    assert_columns(&round_trip(&documents), documents.concat().len());
}

#[test]
fn a_text_that_shows_a_value_of_the_next_event_comes_back() {
    // What the second event's message shows as a path stands in the third, and shows a number there.
    let documents = [
        r#"{"k":7,"p":"/shop/7","m":"GET /shop/7 done"}"#,
        r#"{"k":90031,"m":"GET /shop/70031 done"}"#,
        r#"{"k":70031,"p":"/shop/70031","m":"GET /shop/70031 done"}"#,
    ];
    round_trip(&documents.map(str::as_bytes));
    let shorter = documents.map(|document| document.replace("90031", "8"));
    round_trip(&shorter.each_ref().map(|document| document.as_bytes()));
}

/// Documents that are made to be costly. Some have too many keys for columns: they stand as text, and all come back.
#[test]
fn large_and_hostile_documents_come_back() {
    let keys = |from: usize, count: usize| {
        let members: Vec<String> = (from..from + count).map(|n| format!("\"key {n}\":{n}")).collect();
        format!("{{{}}}", members.join(","))
    };
    // A million keys, and a document of 16 MB.
    assert_eq!(round_trip(&[keys(0, 1_000_000).as_bytes()])[0].text_bytes, keys(0, 1_000_000).len());
    let text = "long ".repeat(3 << 20);
    assert_columns(
        &round_trip(&[format!("{{\"text\":\"{text}\",\"n\":[{}0]}}", "1,".repeat(300_000)).as_bytes()]),
        text.len(),
    );
    // Each document with keys of its own; each with the same keys in another order; each with values of other kinds.
    let own: Vec<String> = (0..2_000).map(|n| keys(n * 30, 30)).collect();
    let turned = |n: usize| {
        let members: Vec<String> =
            (0..40).map(|m| format!("\"k{}\":{m}", (m * (n % 39 + 1) + n) % 41)).collect();
        format!("{{{}}}", members.join(","))
    };
    let turned: Vec<String> = (0..2_000).map(turned).collect();
    let kinds = |n: usize| {
        let value = |bit: usize| ["true", "false", "null", "1", "1.5", "\"x\"", "[]", "{}"][(n >> bit) % 8];
        let members: Vec<String> = (0..10).map(|m| format!("\"k{m}\":{}", value(m))).collect();
        format!("{{{}}}", members.join(","))
    };
    let kinds: Vec<String> = (0..4_000).map(kinds).collect();
    let nested: Vec<String> =
        (0..200).map(|n| format!("{{\"a\":{}{n}{}}}", "[[{\"b\":".repeat(n), "}]]".repeat(n))).collect();
    for documents in [&own, &turned, &kinds, &nested] {
        let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        assert!(round_trip(&documents).iter().all(|group| !group.fell_back));
    }
}

/// The texts and the rows of each column are those that a reader of the documents finds.
#[test]
fn columns_hold_the_texts_of_their_paths() {
    let mut lines = Vec::new();
    let mut generator = Generator::new(3, 3_000);
    while generator.write_next(&mut lines) {}
    let documents: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let encoded = encode(&events(&documents)).expect("encodes");
    let group = Group::open(&encoded.directory).expect("opens");
    let mut reader = group.read(&encoded.frames);
    let values: Vec<serde_json::Value> =
        documents.iter().map(|document| serde_json::from_slice(document).expect("an event")).collect();
    let mut compared = 0;
    for key in ["Message", "@t", "@tr", "RequestPath", "Application", "Elapsed", "StatusCode"] {
        let mut found = vec![None; documents.len()];
        for column in group.find(&[key]) {
            let (texts, rows) = (reader.texts(column).expect("reads"), reader.rows(column).expect("reads"));
            for (text, row) in texts.iter().zip(rows) {
                let text = String::from_utf8(text.to_vec()).expect("text");
                let kind = group.columns().nth(column).expect("a column").kind;
                let json = if kind == Leaf::Text { format!("\"{text}\"") } else { text };
                found[row as usize] = Some(json);
            }
        }
        for (value, found) in values.iter().zip(found) {
            let found = found.map(|json| serde_json::from_str::<serde_json::Value>(&json).expect("JSON"));
            assert_eq!(value.get(key), found.as_ref(), "{key}");
            compared += usize::from(found.is_some());
        }
    }
    assert!(compared > 10_000, "{compared}");
}

/// Of each column that a document has, at most 64 KiB are decompressed.
#[test]
fn one_document_is_read_without_the_others() {
    let mut lines = Vec::new();
    let mut generator = Generator::new(3, 16_384);
    while generator.write_next(&mut lines) {}
    let documents: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let encoded = encode(&events(&documents)).expect("encodes");
    let group = Group::open(&encoded.directory).expect("opens");
    for row in [0, 5_000, 16_383] {
        let mut reader = group.read(&encoded.frames);
        assert_eq!(reader.document(row).expect("reads"), documents[row]);
        let columns = serde_json::from_slice::<serde_json::Value>(documents[row]).expect("an event");
        let columns = columns.as_object().expect("an object").len() as u64;
        assert!(reader.decompressed_bytes() <= columns * (64 << 10), "{} bytes", reader.decompressed_bytes());
    }
}

/// Documents of random structure, few keys, and values of every kind, many of them equal.
fn document() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        r#""[ -!#-\[\]-~é中]{0,40}""#,
        r#""user [0-9]{1,3} of \[a-f0-9]{8}\\r\\n""#.prop_map(|text| text.replace("\\[", "[")),
        (0..3u8).prop_map(|n| format!("\"2024-05-2{n}T10:56:0{n}.12{n}Z\"")),
        r#""[0-9a-f]{32}""#,
    ];
    let key = prop_oneof![Just(String::new()), "[a-c]", Just("a.b".to_owned()), Just("q\\\"".to_owned())];
    let value = scalar.prop_recursive(3, 24, 5, move |inner| {
        let members = prop::collection::vec((key.clone(), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|elements| format!("[{}]", elements.join(","))),
            members.prop_map(object),
        ]
    });
    prop::collection::vec(("[a-e]{0,2}", value), 0..6).prop_map(object)
}

fn object(members: Vec<(String, String)>) -> String {
    let members: Vec<String> = members.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

/// Events whose texts show texts that show others, which some events do not have.
fn showing_in_turn() -> impl Strategy<Value = Vec<String>> {
    let word = || prop::sample::select(vec!["web", "kafka", "ledger", "true"]);
    let event =
        (prop::option::of(word()), prop::option::of((word(), 0u32..3)), prop::option::of(word()), 0..3)
            .prop_map(|(chart, pod, name, tail)| {
                let pod = pod
                    .map(|(word, n)| if n == 0 { word.to_owned() } else { format!("{word}-{}", n * 7919) });
                let name = match tail {
                    0 => pod.clone(),
                    1 => name.map(str::to_owned),
                    _ => name.map(|name| format!("{name}-{tail}")),
                };
                let members = [("pod", pod), ("name", name), ("chart", chart.map(str::to_owned))];
                let member = |(key, value): (&str, Option<String>)| Some(format!(r#""{key}":"{}""#, value?));
                format!("{{{}}}", members.into_iter().filter_map(member).collect::<Vec<_>>().join(","))
            });
    prop::collection::vec(event, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn texts_that_show_others_in_turn_end_in_columns_and_not_as_text(documents in showing_in_turn()) {
        let groups = round_trip(&documents.iter().map(String::as_bytes).collect::<Vec<_>>());
        prop_assert!(groups.iter().all(|group| group.text_bytes == 0));
    }

    #[test]
    fn texts_that_show_values_of_any_event_come_back(documents in showing()) {
        let groups = round_trip(&documents.iter().map(String::as_bytes).collect::<Vec<_>>());
        prop_assert!(groups.iter().all(|group| group.text_bytes == 0));
    }

    #[test]
    fn documents_of_any_structure_come_back(documents in prop::collection::vec(document(), 0..60)) {
        let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        let groups = round_trip(&documents);
        prop_assert!(groups.iter().all(|group| !group.fell_back));
    }

    #[test]
    fn any_bytes_come_back(documents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
        let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
        round_trip(&documents);
    }
}

/// A group some of whose frames are gone.
struct Without<'f>(&'f Vec<Vec<u8>>, usize);

impl Frames for Without<'_> {
    fn frame(&self, frame: u32) -> Option<&[u8]> {
        self.0.frame(frame).filter(|_| frame as usize != self.1)
    }
}

/// Whichever frame is gone: what is given of the documents is right. How many that are for each frame.
fn salvage(documents: &[&[u8]]) -> Vec<usize> {
    let encoded = encode(&events(documents)).expect("encodes");
    let group = Group::open(&encoded.directory).expect("a directory");
    let without = |gone| {
        let frames = Without(&encoded.frames, gone);
        let Ok(whole) = group.read(&frames).whole_documents() else { return 0 };
        assert_eq!(whole.len(), documents.len());
        for (row, (whole, document)) in whole.iter().zip(documents).enumerate() {
            assert!(
                whole.as_deref().is_none_or(|whole| whole == *document),
                "row {row} without frame {gone}"
            );
        }
        whole.iter().flatten().count()
    };
    (0..encoded.frames.len()).map(without).collect()
}

#[test]
fn what_has_nothing_in_a_lost_frame_is_whole() {
    // Texts that have a frame for themselves, in a third of the events; a list in another third; nothing in the rest.
    let text = |n: u64| {
        let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'a' + (state >> 59) as u8 % 26)
        };
        (0..300).map(|_| letter()).collect::<String>()
    };
    let documents: Vec<String> = (0..1_500)
        .map(|n| match n % 3 {
            0 => format!(r#"{{"text":"{}"}}"#, text(n)),
            1 => format!(r#"{{"list":[{{"other":"{}"}},{{"other":"{0}!"}}]}}"#, text(n)),
            _ => format!(r#"{{"n":{n}}}"#),
        })
        .collect();
    let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
    let kept = salvage(&documents);
    assert!(kept.iter().filter(|kept| **kept == 1_000).count() >= 2, "{kept:?}");
}

/// Events whose texts show values of their own, of others, or of none.
fn showing() -> impl Strategy<Value = Vec<String>> {
    let event = (0u32..4, 0u32..4, prop::option::of(0u32..4), any::<bool>()).prop_map(
        |(own, shown, path, has_key)| {
            let number = |n: u32| 10_007 * (n + 1);
            let mut members = Vec::new();
            if has_key {
                members.push(format!(r#""k":{}"#, number(own)));
            }
            members.extend(path.map(|path| format!(r#""p":"/shop/{}""#, number(path))));
            members.push(format!(r#""m":"GET /shop/{} has been done""#, number(shown)));
            format!("{{{}}}", members.join(","))
        },
    );
    prop::collection::vec(event, 1..40)
}

proptest! {

    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_has_nothing_in_a_lost_frame_is_whole_whatever_it_is(documents in prop::collection::vec(document(), 1..60)) {
        let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        salvage(&documents);
    }
}

#[test]
fn an_encoder_writes_the_same_whatever_came_before() {
    let mut generator = Generator::new(9, 1_500);
    let mut generated = Vec::new();
    while generator.write_next(&mut generated) {}
    let lines: Vec<&[u8]> = generated.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let nasty = nasty_documents();
    let nasty: Vec<&[u8]> = nasty.iter().map(AsRef::as_ref).collect();
    let mut encoder = Encoder::new().expect("has memory");
    for documents in [&lines[..1_000], &nasty[..], &[][..], &lines[1_000..], &lines[..1_000]] {
        let events = events(documents);
        let events = &events[..group_len(&events)];
        let (again, fresh) = (encoder.encode(events).expect("encodes"), encode(events).expect("encodes"));
        assert_eq!(again.directory, fresh.directory);
        assert_eq!(again.frames, fresh.frames);
    }
}

/// Two structures that had one hash, while hashes began alike in every process: the second was taken for the first.
#[test]
fn events_that_were_made_to_have_equal_hashes_come_back() {
    round_trip(&[
        br#"{"@t":"2024-05-29T10:56:01Z","y":1,"z":2,"x":[],"0000021e7!9{a&nEZZZZZZZZ":1}"#,
        br#"{"@t":"2024-05-29T10:56:02Z","0000099dOlnmz*?QZZZZZZZZ":1}"#,
    ]);
}

/// Each level has two shapes, so there are 2^60 ways down to the last one.
#[test]
fn a_document_of_nested_arrays_is_read_once_a_list() {
    let levels = 60;
    let nested = format!("{}[]{}", r#"[{"a":1,"c":"#.repeat(levels), r#"},{"c":[]}]"#.repeat(levels));
    round_trip(&[format!(r#"{{"c":{nested}}}"#).as_bytes()]);
}

#[test]
fn texts_without_blanks_are_learnt_from_in_linear_time() {
    let dots: Vec<String> = (0..64).map(|n| format!(r#"{{"out":"{}"}}"#, ".".repeat(50_000 + n))).collect();
    let sums: Vec<String> =
        (0..4).map(|n| format!(r#"{{"out":"{}"}}"#, "a+b+".repeat(500_000 + n))).collect();
    let numbers: Vec<String> =
        (0..4).map(|n| format!(r#"{{"out":"{}"}}"#, "1 2 3 ".repeat(100_000 + n))).collect();
    for documents in [dots, sums, numbers] {
        let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        assert_columns(&round_trip(&documents), 0);
    }
}

#[test]
fn an_array_of_digits_with_a_few_long_numbers_is_no_text() {
    let element = |n: usize| match n % 1_000 {
        7 => "999999999999999999",
        500 => "true",
        _ => "0",
    };
    let elements: Vec<&str> = (0..1_200_000).map(element).collect();
    let document = format!(r#"{{"h":[{}]}}"#, elements.join(","));
    let groups = round_trip(&[document.as_bytes(), br#"{"a":"x","b":7}"#]);
    assert_columns(&groups, 0);
}

/// A text that an event shows is one of its own. The next value of a column of which the event has none is that of a later event, and a reader that puts it together
/// here, where it shows values itself, finds another one.
#[test]
fn a_text_that_only_the_next_event_has_is_none_that_this_one_shows() {
    let named = |pod: &str| format!(r#"{{"pod":"{pod}"}}"#);
    let made = |name: &str, chart: &str| format!(r#"{{"pod":"{name}","name":"{name}","chart":"{chart}"}}"#);
    let of_one_name = |name: &str| format!(r#"{{"pod":"{name}","name":"{name}"}}"#);
    let before = "api-gw-54ef5b6f1-0b711 sidecar-injector-3f858631d-1b569 sidecar-injector-cfg prometheus-v2 \
        ip-10-0-0-45.eu-west-1.compute.internal ip-10-0-3-20.eu-west-1.compute.internal trainer-tls web-v2 \
        sidecar-injector-tls";
    let between = "web-tls sidecar-injector-tls fraud kafka-v2 api-gw ledger-3686df7a7-e47ba \
        ip-10-0-3-41.eu-west-1.compute.internal";
    let behind = "ip-10-0-1-4.eu-west-1.compute.internal redis-tls prometheus-d42473962-d7f57 kafka-0c0df61b6-16043 \
        prometheus-tls fraud-tls prometheus-tls trainer-v2 ip-10-0-2-51.eu-west-1.compute.internal \
        ip-10-0-0-8.eu-west-1.compute.internal api-gw-dd6dd3d42-22749";
    let mut documents: Vec<String> = before.split_whitespace().map(named).collect();
    documents.extend([of_one_name("sidecar-injector-tls"), made("coredns-v2", "stage")]);
    documents.extend(between.split_whitespace().map(named));
    documents.extend([of_one_name("kafka-3139b27af-2ca4e"), named("ledger-cfg")]);
    documents.push(of_one_name("ip-10-0-1-53.eu-west-1.compute.internal"));
    documents.extend(behind.split_whitespace().map(named));
    documents.extend([made("kafka", "kafka"), r#"{"name":"web","chart":"true"}"#.to_owned(), named("web")]);
    documents.push(made("web-37f579b6f-b2724", "web"));
    let groups = round_trip(&documents.iter().map(String::as_bytes).collect::<Vec<_>>());
    assert_eq!(groups[0].text_bytes, 0);
}

/// What has too many keys is kept as text, and leaves room for the paths of what comes after it.
#[test]
fn an_event_of_too_many_keys_leaves_the_others_in_columns() {
    let keys: Vec<String> = (0..17_000).map(|n| format!(r#""u{n:05}":1"#)).collect();
    let wide = format!(r#"{{"ids":{{{}}}}}"#, keys.join(","));
    let groups = round_trip(&[br#"{"a":1}"#, wide.as_bytes(), br#"{"b":2}"#, br#"{"c":{"d":[3]}}"#]);
    assert_eq!(groups[0].text_bytes, wide.len());
}

/// Of events with free properties, as a clickstream has them, most have a set of keys of their own; and some writers give each its own order.
#[test]
fn documents_of_free_keys_end_in_columns_and_not_as_text() {
    let free = |n: u64| {
        let property = |nth: u64| match n * 31 % 5 + nth {
            0..4 => format!(r#""key{}":"v{}""#, (n * 7919 + nth * 104_729) % 400, n % 90),
            _ => format!(r#""key{}":{}"#, (n * 7919 + nth * 104_729) % 400, n % 1000),
        };
        let properties = (0..3 + n % 10).map(property).collect::<Vec<_>>().join(",");
        format!(r#"{{"t":{n},"kind":"k{}","props":{{{properties}}}}}"#, n % 7)
    };
    let shuffled = |n: u64| {
        let key = |nth: u64| (nth * (2 * n + 1) + n) % 32;
        let members = (0..32).map(|nth| format!(r#""k{:02}":{}"#, key(nth), n % 10));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    for documents in [(0..4000).map(free).collect::<Vec<_>>(), (0..4000).map(shuffled).collect()] {
        let documents: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        assert_columns(&round_trip(&documents), documents.iter().map(|document| document.len()).sum());
    }
}
