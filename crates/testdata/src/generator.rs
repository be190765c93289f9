//! Puts templates, values and instants together to events.

use std::ops::Range;

use crate::clock::Clock;
use crate::random::Random;
use crate::shop::templates;
use crate::template::{EXCEPTION, Property, TRACE, TYPE, Template};
use crate::value::{Kind, hex, string, text_raw};

/// Writes the log of a web shop: events in the compact log event format (CLEF), one a line.
///
/// The bytes depend on the seed and the number of events only. An event has about 360 bytes; all of them
/// together take about five days, in time order, however many they are. About 31% of the events have
/// `Elapsed` > 200, and about 18% have `/api/customers` in their `Message`. Each line is minified JSON in the
/// spelling that the store keeps, so that storing it changes no byte.
///
/// ```
/// use tamias_testdata::Generator;
///
/// let mut generator = Generator::new(1, 3);
/// let mut lines = Vec::new();
/// while generator.write_next(&mut lines) {}
/// assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), 3);
/// assert!(lines.starts_with(br#"{"@t":"2024-"#));
/// ```
#[derive(Debug, Clone)]
pub struct Generator {
    random: Random,
    clock: Clock,
    remaining: u64,
    writers: Vec<Writer>,
    /// The writer of each of so many equally likely draws.
    draws: Vec<u16>,
    /// The values of the event in hand, one after another.
    values: Vec<u8>,
    /// Where each property's value stands in there; `None` where this event does without the property.
    spans: Vec<Option<Range<usize>>>,
}

impl Generator {
    /// A generator of so many events.
    #[must_use]
    pub fn new(seed: u64, events: u64) -> Generator {
        let draws = templates()
            .zip(0u16..)
            .flat_map(|(template, index)| std::iter::repeat_n(index, template.weight as usize));
        Generator {
            random: Random::new(seed),
            clock: Clock::new(events),
            remaining: events,
            writers: templates().map(Writer::new).collect(),
            draws: draws.collect(),
            values: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// How many events are still to come.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Appends the next event and a line feed; false where all events have been written.
    pub fn write_next(&mut self, out: &mut Vec<u8>) -> bool {
        if self.remaining == 0 {
            return false;
        }
        self.remaining -= 1;
        self.clock.advance(&mut self.random);
        let writer = &self.writers[usize::from(self.random.pick(&self.draws))];
        let template = writer.template;

        self.values.clear();
        self.spans.clear();
        for property in template.properties {
            self.spans.push(self.random.chance(property.permille).then(|| {
                let start = self.values.len();
                property.kind.write(&mut self.random, &mut self.values);
                start..self.values.len()
            }));
        }

        text_raw("{\"@t\":\"", out);
        self.clock.write(out);
        text_raw("\",\"@mt\":", out);
        string(template.text, out);
        if template.extras & TYPE != 0 {
            text_raw(&writer.event_type, out);
        }
        if let Some(level) = template.level {
            text_raw(",\"@l\":", out);
            string(level, out);
        }
        if template.extras & EXCEPTION != 0 {
            text_raw(",\"@x\":", out);
            string(self.random.pick_skewed(EXCEPTIONS), out);
        }
        if template.extras & TRACE != 0 {
            text_raw(",\"@tr\":\"", out);
            hex(32, b"0123456789abcdef", &mut self.random, out);
            text_raw("\",\"@sp\":\"", out);
            hex(16, b"0123456789abcdef", &mut self.random, out);
            out.push(b'"');
        }
        for (property, span) in template.properties.iter().zip(&self.spans) {
            let Some(span) = span else { continue };
            out.push(b',');
            string(property.key, out);
            out.push(b':');
            match property.kind {
                Kind::Message => writer.write_message(&self.values, &self.spans, out),
                _ => out.extend_from_slice(&self.values[span.clone()]),
            }
        }
        text_raw("}\n", out);
        true
    }
}

/// A template made ready: its text cut at the holes, its hash written out.
#[derive(Debug, Clone)]
struct Writer {
    template: &'static Template,
    parts: Vec<Part>,
    /// `,"@i":"1a2b3c4d"`
    event_type: String,
}

#[derive(Debug, Clone)]
enum Part {
    Text(&'static str),
    /// The value of the property with this index, its fraction padded to four digits or not.
    Hole(usize, bool),
}

impl Writer {
    fn new(template: &'static Template) -> Writer {
        let mut parts = Vec::new();
        for (index, piece) in template.text.split(['{', '}']).enumerate() {
            if index % 2 == 0 {
                parts.push(Part::Text(piece));
                continue;
            }
            let (key, padded) = match piece.strip_suffix(":0.0000") {
                Some(key) => (key, true),
                None => (piece, false),
            };
            let always = |property: &Property| property.key == key && property.permille == 1000;
            // A hole without a property is a mistake in the table, and shows in the message.
            parts.push(match template.properties.iter().position(always) {
                Some(index) => Part::Hole(index, padded),
                None => Part::Text(piece),
            });
        }
        Writer { template, parts, event_type: format!(",\"@i\":\"{:08x}\"", template_hash(template.text)) }
    }

    /// Writes the template with its holes filled, as a JSON string. Texts in values are escaped already.
    fn write_message(&self, values: &[u8], spans: &[Option<Range<usize>>], out: &mut Vec<u8>) {
        out.push(b'"');
        for part in &self.parts {
            let (index, padded) = match part {
                Part::Text(text) => {
                    text_raw(text, out);
                    continue;
                }
                Part::Hole(index, padded) => (*index, *padded),
            };
            let value = spans[index].clone().map_or(&[][..], |span| &values[span]);
            let text = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value);
            out.extend_from_slice(text);
            if padded {
                let digits = match text.iter().position(|byte| *byte == b'.') {
                    Some(point) => text.len() - point - 1,
                    None => {
                        out.push(b'.');
                        0
                    }
                };
                text_raw(&"0000"[digits.min(4)..], out);
            }
        }
        out.push(b'"');
    }
}

/// The 32-bit Jenkins one-at-a-time hash, by which CLEF writers name a template. The table holds templates as
/// JSON spells them; a backslash there only ever stands before a quote, which is what is hashed.
fn template_hash(text: &str) -> u32 {
    let mut hash = 0u32;
    for byte in text.bytes().filter(|byte| *byte != b'\\') {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// Stack traces, as JSON spells them.
const EXCEPTIONS: &[&str] = &[
    "System.TimeoutException: The operation has timed out.\\r\\n   at Shop.Database.Connection.Open() in C:\\\\src\\\\Shop\\\\Database\\\\Connection.cs:line 88\\r\\n   at Shop.Orders.OrderService.Place(Order order)",
    "System.InvalidOperationException: Sequence contains no elements\\r\\n   at System.Linq.ThrowHelper.ThrowNoElementsException()\\r\\n   at Shop.Catalogue.Find(Int32 id) in C:\\\\src\\\\Shop\\\\Catalogue.cs:line 41",
    "java.io.IOException: Connection reset by peer\\n\\tat shop.stock.Client.read(Client.java:117)\\n\\tat shop.stock.Sync.run(Sync.java:58)",
    "System.ArgumentException: Value \\\"Größe XXL\\\" is not allowed (Parameter 'size')\\r\\n ---> System.FormatException: 'XXL' is no number\\r\\n   --- End of inner exception stack trace ---",
    "Traceback (most recent call last):\\n  File \\\"/srv/shop/model.py\\\", line 12, in predict\\n    return weights[key]\\nKeyError: 'β'",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hole_names_a_property_that_is_always_there() {
        for template in templates() {
            let holes = template.text.matches('{').count();
            let writer = Writer::new(template);
            let filled = writer.parts.iter().filter(|part| matches!(part, Part::Hole(..))).count();
            assert_eq!(filled, holes, "{}", template.text);
        }
    }

    #[test]
    fn the_hash_is_that_of_the_reference() {
        // From the reference's own description: lookups of "a" and of a short sentence.
        assert_eq!(template_hash("a"), 0xca2e_9442);
        assert_eq!(template_hash("The quick brown fox jumps over the lazy dog"), 0x519e_91f5);
    }
}
