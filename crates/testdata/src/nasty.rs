//! Valid JSON objects that are unkind to a reader who takes short cuts.

/// Minified JSON objects, all valid by RFC 8259, none holding a line feed.
///
/// Among them: duplicate keys, keys and values in needless escapes (so not all are in the spelling that the
/// store keeps), keys that look like structure, quotes and backslash runs at the borders of 16, 32 and 64
/// bytes, deep nesting (up to 100), numbers in every costume, lone surrogates, empty everything.
/// `serde_json` as it comes rejects those with a lone surrogate or a number beyond the range of a double.
#[must_use]
pub fn nasty_documents() -> Vec<Vec<u8>> {
    let mut documents: Vec<Vec<u8>> = FIXED.iter().map(|text| text.as_bytes().to_vec()).collect();
    numbers(&mut documents);
    borders(&mut documents);
    backslash_runs(&mut documents);
    depths(&mut documents);
    documents.push(wide(300));
    documents.push(many_candidates(200));
    documents
}

/// JSON objects with insignificant white space in every legal place; valid, but not minified.
#[must_use]
pub fn spaced_documents() -> Vec<Vec<u8>> {
    [
        " {}",
        "{} \t",
        "{ }",
        "\t{ \"a\" : [ ] , \"b\" : { } }\r",
        "{\r\n  \"Elapsed\" : 201 ,\r\n  \"Message\" : \" spaces  stay , here : \"\r\n}\r\n",
        "{ \"a\" : [ 1 , 2.50 , [ ] , { \"b\" : null } , true , \" \\\" \" ] , \"c\" : -0 }",
        "\n\n{\"a\":\n1}\n\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

const FIXED: &[&str] = &[
    "{}",
    r#"{"":""}"#,
    r#"{"":{"":{"":[]}}}"#,
    r#"{"a":{},"b":[],"c":[{}],"d":[[]],"e":[[],[]],"f":[{},{}]}"#,
    r#"{"a":null,"b":true,"c":false,"d":[null,true,false]}"#,
    // Duplicate keys: the last one counts, whatever its type, whatever its spelling.
    r#"{"Elapsed":1,"Elapsed":201}"#,
    r#"{"Elapsed":201,"Elapsed":1}"#,
    r#"{"Elapsed":201,"Elapsed":"none"}"#,
    r#"{"Elapsed":201,"Message":"a","Elapsed":null,"Message":"b"}"#,
    r#"{"Elapsed":201,"\u0045lapsed":1}"#,
    r#"{"\u0045lapsed":201,"Elapsed":1}"#,
    r#"{"a":{"b":1,"b":2},"a":{"c":3}}"#,
    r#"{"a":{"b":1},"a":{"b":2},"a":[{"b":3}]}"#,
    // Needless escapes in keys and values.
    r#"{"\u0045\u006c\u0061\u0070\u0073\u0065\u0064":250,"Message":"\/api\/customers"}"#,
    r#"{"Message":"\u002fapi\u002Fcustomers","Elapsed":300}"#,
    r#"{"Message":"\u00e9\u00C9\u4e2d\ud83d\ude00","\u00e9":1,"é":2}"#,
    r#"{"Message":"\"\\\/\b\f\n\r\t\u0000\u0001\u001f\u007f"}"#,
    r#"{"a\/b":1,"a/b":2,"a\\b":3,"a\"b":4}"#,
    // A key as a value, before and after the real one.
    r#"{"Message":"Elapsed","Elapsed":201}"#,
    r#"{"Message":"\"Elapsed\":201","Elapsed":1}"#,
    r#"{"Message":"{\"Elapsed\":201}"}"#,
    r#"{"a":"Elapsed","b":["Elapsed","Elapsed"],"Elapsed":201.5}"#,
    r#"{"x":"\\","Elapsed":201}"#,
    r#"{"x":"\\\"Elapsed\":1","Elapsed":201}"#,
    r#"{"x\\":"\\","\\Elapsed":1,"\"Elapsed":2,"Elapsed\"":3,"Elapsed\\":4,"Elapsed":201}"#,
    // The same key deeper down, before, after, and without the real one.
    r#"{"a":{"Elapsed":1},"Elapsed":201}"#,
    r#"{"Elapsed":201,"a":{"Elapsed":1}}"#,
    r#"{"a":{"Elapsed":201}}"#,
    r#"{"a":[{"Elapsed":201},{"Elapsed":202}],"Message":"x"}"#,
    r#"{"a":[[],{},{"b":{}},{"Elapsed":201}],"Elapsed":1}"#,
    r#"{"Elapsed":{"Elapsed":201}}"#,
    r#"{"Elapsed":[201]}"#,
    r#"{"Elapsed":{"Elapsed":{"Elapsed":201}},"Message":{"Message":"/api/customers"}}"#,
    r#"{"a":{"a":1,"a":{"a":2}},"a.b":3,"a":{"b":4}}"#,
    // Keys that begin with what follows a closing quote.
    r#"{",":1,":":2,"]":3,"}":4,"{":5,"[":6}"#,
    r#"{"a":",\"b\":1","b":2}"#,
    r#"{",Elapsed":1,":Elapsed":2,"]Elapsed":3,"}Elapsed":4,"Elapsed":201}"#,
    r#"{"x":"",":":"y",",":"z"}"#,
    r#"{"x":",","y":":","z":"]}"}"#,
    r#"{"[]":"[]","{}":"{}","a":"[{,:}]"}"#,
    r#"{"Elapsed ":1," Elapsed":2,"elapsed":3,"ELAPSED":4,"Elapse":5,"Elapsedd":6}"#,
    // Strings that look like other types.
    r#"{"Elapsed":"201"}"#,
    r#"{"Elapsed":"null","Message":"true"}"#,
    r#"{"Elapsed":true,"Message":201}"#,
    r#"{"Elapsed":null,"Message":null}"#,
    // Text beyond ASCII, and at its edges.
    "{\"Message\":\"\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}\"}",
    "{\"Größe\":1,\"größe\":2,\"GRÖSSE\":3,\"ὈΔΥΣΣΕΎΣ\":4,\"鍵\":5,\"🔑\":6}",
    "{\"Message\":\"e\u{301} is not é\",\"K\":\"\u{212a}\",\"s\":\"\u{17f}\"}",
    "{\"Message\":\"\u{feff}bom, \u{2028}line\u{2029} separators\"}",
    // Lone and swapped surrogates.
    r#"{"Message":"\ud800"}"#,
    r#"{"Message":"\udc00 and \ud83d"}"#,
    r#"{"Message":"\ude00\ud83d"}"#,
    r#"{"Message":"\ud83d\ud83d\ude00"}"#,
    r#"{"Message":"\ud83dA","\ud800":1,"\ud800":2,"�":3}"#,
    r#"{"Message":"\uD83D\u0041\uDE00"}"#,
    // Built-in names and their kin.
    r#"{"@t":"2024-05-29T10:56:01.1234567Z","@mt":"{A} {{B}} {C,10} {D:0.00} {","@l":"Warning","A":1,"C":"x"}"#,
    r#"{"@t":"2024-05-29T10:56:01Z","@@t":"a","@@@t":"b","@version":"1","@":2,"@@":3}"#,
    r#"{"@t":"2024-05-29T10:56:01Z","@x":"System.Exception: a\r\n   at B","@i":"ffffffff","@r":["1"]}"#,
    r#"{"@t":"2024-05-29T10:56:01Z","@t":"2024-05-29T10:56:02Z"}"#,
    r#"{"@m":"ready","@mt":"not used","@l":null,"@tr":"","@sp":0,"@st":"2024-05-29T10:56:00Z"}"#,
];

/// Numbers around 200, in every costume, and numbers that are too much for a double or a decimal.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "0e0",
    "-0e-5",
    "0.0000000000000000000000000000000000001",
    "1",
    "-1",
    "199",
    "199.99999999999999999999999999",
    "200",
    "200.0",
    "200.00000000000000000000000",
    "200.00000000000000000001",
    "200.000000000000000000000000000000000000000000000000000000000000000000000000001",
    "201",
    "2e2",
    "2E2",
    "2E+2",
    "2.0e+02",
    "0.2e3",
    "0.002e5",
    "20000e-2",
    "2.01e2",
    "1999e-3",
    "201.5e-3",
    "201500e-3",
    "1e2",
    "1e3",
    "-201",
    "-200.5",
    "1000",
    "99999999999999999999",
    "9007199254740993",
    "18446744073709551616",
    "79228162514264337593543950334",
    "79228162514264337593543950335",
    "79228162514264337593543950336",
    "123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
    "0.1",
    "0.30000000000000000000000000004",
    "1e28",
    "1e-28",
    "1e-29",
    "1e308",
    "1e309",
    "-1e309",
    "1e999",
    "1e-999",
    "1e999999999",
    "-1e999999999",
    "1e-999999999",
    "0e999999999",
    "1e00000000000000000000000000000000000000002",
    "2000000000000000000000000000000000000000000e-40",
];

fn numbers(documents: &mut Vec<Vec<u8>>) {
    for text in NUMBERS {
        documents.push(format!("{{\"Elapsed\":{text},\"Message\":\"m\"}}").into_bytes());
        documents.push(format!("{{\"a\":[{text},{text}],\"Elapsed\":{text}}}").into_bytes());
    }
}

/// Strings, keys and numbers whose ends fall around the borders of vectors.
fn borders(documents: &mut Vec<Vec<u8>>) {
    for border in [16usize, 32, 64, 128] {
        for length in border.saturating_sub(12)..border + 4 {
            let fill = "x".repeat(length);
            documents.push(format!("{{\"a\":\"{fill}\",\"Elapsed\":201}}").into_bytes());
            documents.push(format!("{{\"{fill}\":[],\"Elapsed\":201}}").into_bytes());
            let digits = "1".repeat(length);
            documents.push(format!("{{\"a\":{digits},\"b\":\"\",\"c\":{{}}}}").into_bytes());
            // Characters of two to four bytes that a border cuts.
            let fill = "x".repeat(length.saturating_sub(8));
            documents.push(format!("{{\"a\":\"{fill}é中😀\",\"b\":\"\\\"\"}}").into_bytes());
        }
    }
}

/// Runs of backslashes of every length up to 9 across the borders, closed in each way.
fn backslash_runs(documents: &mut Vec<Vec<u8>>) {
    for border in [16usize, 32, 64, 128] {
        for run in 1..10usize {
            // The run begins so far before the border; `{"a":"` takes six bytes.
            for before in [0, 1, run / 2, run] {
                let fill = "x".repeat(border - 6 - before);
                let backslashes = "\\\\".repeat(run);
                documents.push(format!("{{\"a\":\"{fill}{backslashes}\",\"b\":1}}").into_bytes());
                documents.push(format!("{{\"a\":\"{fill}{backslashes}\\\"\",\"b\":1}}").into_bytes());
                documents
                    .push(format!("{{\"a\":\"{fill}{backslashes}\\\",\\\"b\\\":2\",\"b\":1}}").into_bytes());
            }
        }
    }
    documents.push(format!("{{\"a\":\"{}\",\"b\":1}}", "\\\\".repeat(200)).into_bytes());
    documents.push(format!("{{\"a\":\"{}\",\"b\":1}}", "\\\"".repeat(200)).into_bytes());
    documents.push(format!("{{\"{}\":1,\"b\":2}}", "\\\\".repeat(65)).into_bytes());
}

fn depths(documents: &mut Vec<Vec<u8>>) {
    for depth in [2usize, 10, 31, 32, 33, 63, 64, 65, 99] {
        let arrays = format!("{{\"a\":{}{},\"Elapsed\":201}}", "[".repeat(depth), "]".repeat(depth));
        documents.push(arrays.into_bytes());
        let mut maps = "{\"Elapsed\":".repeat(depth);
        maps.push_str("201");
        maps.push_str(&"}".repeat(depth));
        documents.push(maps.into_bytes());
        let mut mixed = String::from("{\"z\":0,\"a\":");
        mixed.push_str(&"[{\"Elapsed\":".repeat(depth / 2));
        mixed.push_str("[1,{}]");
        mixed.push_str(&"}]".repeat(depth / 2));
        mixed.push_str(",\"Elapsed\":202}");
        documents.push(mixed.into_bytes());
    }
}

/// Many keys, each a prefix of a later one.
fn wide(keys: usize) -> Vec<u8> {
    let members: Vec<String> = (0..keys).map(|key| format!("\"k{key}\":\"{}\"", key * 7)).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}

/// Many places that look like the key before the real one comes.
fn many_candidates(count: usize) -> Vec<u8> {
    format!("{{\"a\":[{}],\"Elapsed\":201}}", vec!["{\"Elapsed\":1}"; count].join(",")).into_bytes()
}
