//! Holds the worked example of `docs/store-format.md` against what the store writes.

use std::sync::Arc;

use crate::io::Simulated;
use crate::manifest::Manifest;
use crate::{Codec, Event, Options, SourcePosition, Store};

struct Count;

impl Codec for Count {
    fn collect(&self, _: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        statistics.push(b'0' + ends.len() as u8);
    }
}

/// The store that the example shows, closed.
fn example() -> Simulated {
    let folder = Simulated::new();
    let empty = Manifest { number: 1, ..Manifest::empty(0x1f1e_1d1c_1b1a_1918_1716_1514_1312_1110) };
    empty.publish(&folder).unwrap();
    let store = Store::open_on(Arc::new(folder.clone()), Options::default(), Arc::new(Count)).unwrap();
    let later = Event { instant: 0x8a0, bytes: b"{\"n\":0}" };
    let earlier = Event { instant: 0x89f, bytes: b"{\"n\":10}" };
    let source = |position| Some(SourcePosition { name: "web", position, note: &[] });
    store.append_sealed(&[later, earlier], source(17)).unwrap();
    store.append_from(&[Event { instant: 0x8a1, bytes: b"{\"n\":2}" }], source(24)).unwrap();
    folder
}

#[test]
fn the_documented_example_is_what_is_written() {
    let medium = example().medium();
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/store-format.md")).unwrap();
    let mut shown = 0;
    for section in text.split("```hex ").skip(1) {
        let (name, rest) = section.split_once('\n').unwrap();
        let dump = rest.split_once("```").unwrap().0;
        let bytes = medium.contents(medium.find(name).unwrap());
        let mut documented = Vec::new();
        for line in dump.lines() {
            // Offset, bytes, two spaces, remark.
            let (offset, rest) = line.split_once("  ").unwrap();
            assert_eq!(usize::from_str_radix(offset, 16).unwrap(), documented.len(), "{name}: {line}");
            let hex = rest.split("  ").next().unwrap();
            documented.extend(hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()));
        }
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x} ")).collect::<String>();
        assert_eq!(hex(&documented), hex(bytes), "{name}");
        shown += 1;
    }
    assert_eq!(shown, 3);
    assert_eq!(medium.names().filter(|name| name.contains('.')).count(), 3, "all files are shown");
}
