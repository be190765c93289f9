//! The kinds of values that properties have, each written as minified JSON in the spelling that the store
//! keeps: only the necessary escapes.

use crate::random::Random;

/// What a property holds. Texts in here stand as they stand between the quotes of a JSON string.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// The template with its holes filled; written by the generator, which knows the other values.
    Message,
    /// Always this JSON text.
    Json(&'static str),
    /// One of these strings, the first ones likelier.
    OneOf(&'static [&'static str]),
    /// A number of milliseconds, above 200 so many times in a thousand.
    Elapsed { slow: u64 },
    /// The same with up to four digits of fraction.
    ElapsedFraction { slow: u64 },
    /// A whole number from the first up to and including the second.
    Integer(i64, i64),
    /// The same, small ones likelier.
    SmallInteger(i64, i64),
    /// An amount of money below so many hundredths, with two digits of fraction, zeros kept.
    Money(u64),
    /// A small number in scientific notation.
    Score,
    /// True so many times in a thousand.
    Boolean(u64),
    /// Null so many times in a thousand, else one of the strings.
    NullOrOneOf(u64, &'static [&'static str]),
    /// One of 10,000 customers.
    CustomerId,
    /// A path on the web shop, with `/api/customers` in more than a third of the cases.
    Path,
    /// The same with scheme and host.
    Uri,
    /// 32 hexadecimal digits in the groups of a UUID.
    Uuid,
    /// So many lower-case hexadecimal digits.
    Hex(usize),
    /// A web server's connection and request, as in `0HN4VB7J2K1Q4:0000001A`.
    RequestId,
    /// These letters and a number that hardly ever returns.
    Numbered(&'static str),
    /// An order with its items.
    Order,
    /// A person with roles and an address.
    Actor,
    /// Steps of a job, each with an `Elapsed` of its own, which is not that of the event.
    Timings,
    /// An array of strings, sometimes empty.
    Tags,
    /// An IPv4 address.
    Address,
    /// A file of a Windows machine, with backslashes.
    FileName,
}

pub(crate) const CITIES: &[&str] = &[
    "London",
    "Zürich",
    "Berlin",
    "München",
    "Paris",
    "København",
    "Kraków",
    "Málaga",
    "Αθήνα",
    "Київ",
    "İzmir",
    "東京",
    "São Paulo",
    "Reykjavík",
    "Łódź",
    "北京",
    "Córdoba",
    "Graz",
    "서울",
    "القاهرة",
];

pub(crate) const NAMES: &[&str] = &[
    "Anna Müller",
    "John Smith",
    "Zoë Keller",
    "Søren Kierkegård",
    "Jürgen Groß",
    "Renée Dupont",
    "Paul Moser",
    "Łukasz Nowak",
    "Νίκος Παππάς",
    "Олена Шевченко",
    "山田太郎",
    "José Álvarez",
    "Aoife O'Brien",
    "Nguyễn Văn An",
    "김민준",
    "Çağla Yılmaz",
    "Mary-Jane Watson",
    "Émile Zola",
    "Kim \\\"KJ\\\" Jones",
    "Ærøskøbing Ældre",
];

pub(crate) const PRODUCTS: &[&str] = &[
    "Espresso cups (6)",
    "Desk lamp",
    "Käsereibe",
    "Crème brûlée set",
    "27\\\" monitor",
    "Hazelnut spread",
    "緑茶",
    "Wool blanket",
    "Chopping board",
    "Gugelhupf tin",
    "Jalapeño sauce",
    "Bike bell",
    "Fjällräven bag",
    "Garden hose 10 m",
];

const ROLES: &[&str] = &["customer", "editor", "support", "admin"];
const TAGS: &[&str] = &["sale", "new", "fragile", "gift", "übergroß", "back in stock"];
const STEPS: &[&str] = &["load", "transform", "validate", "store", "notify"];

impl Kind {
    /// Appends one value of this kind.
    pub(crate) fn write(self, random: &mut Random, out: &mut Vec<u8>) {
        match self {
            Kind::Message => out.extend_from_slice(b"null"),
            Kind::Json(text) => text_raw(text, out),
            Kind::OneOf(list) => string(random.pick_skewed(list), out),
            Kind::Elapsed { slow } => number(elapsed(slow, 1, random), out),
            Kind::ElapsedFraction { slow } => fraction(elapsed(slow, 10_000, random), out),
            Kind::Integer(min, max) => integer(min + random.below(max.abs_diff(min) + 1) as i64, out),
            Kind::SmallInteger(min, max) => {
                integer(min + random.skewed_below(max.abs_diff(min) + 1) as i64, out)
            }
            Kind::Money(bound) => money(random.skewed_below(bound), out),
            Kind::Score => {
                number(1 + random.below(9), out);
                out.push(b'.');
                number(random.below(1000), out);
                text_raw("e-0", out);
                number(1 + random.below(6), out);
            }
            Kind::Boolean(permille) => text_raw(if random.chance(permille) { "true" } else { "false" }, out),
            Kind::NullOrOneOf(permille, list) => {
                if random.chance(permille) {
                    text_raw("null", out);
                } else {
                    string(random.pick_skewed(list), out);
                }
            }
            Kind::CustomerId => number(customer(random), out),
            Kind::Path => quoted(out, |out| path(random, out)),
            Kind::Uri => quoted(out, |out| {
                text_raw(
                    random.pick_skewed(&["https://api.shop.example", "https://eu.shop.example:8443"]),
                    out,
                );
                path(random, out);
            }),
            Kind::Uuid => quoted(out, |out| uuid(random, out)),
            Kind::Hex(length) => quoted(out, |out| hex(length, b"0123456789abcdef", random, out)),
            Kind::RequestId => quoted(out, |out| {
                text_raw("0HN", out);
                (0..10).for_each(|_| out.push(random.pick(b"0123456789ABCDEFGHIJKLMNOPQRSTUV")));
                text_raw(":000000", out);
                hex(2, b"0123456789ABCDEF", random, out);
            }),
            Kind::Numbered(prefix) => quoted(out, |out| numbered(prefix, random, out)),
            Kind::Order => order(random, out),
            Kind::Actor => actor(random, out),
            Kind::Timings => timings(random, out),
            Kind::Tags => {
                list(random.skewed_below(5), out, |out| string(random.pick(TAGS), out));
            }
            Kind::Address => quoted(out, |out| address(random, out)),
            Kind::FileName => quoted(out, |out| {
                text_raw("C:\\\\shop\\\\images\\\\", out);
                hex(6, b"0123456789abcdef", random, out);
                text_raw(random.pick_skewed(&[".jpg", ".png", " (Kopie für später).jpg"]), out);
            }),
        }
    }
}

/// A time in parts of a millisecond; so many times in a thousand it is above 200 milliseconds.
fn elapsed(slow: u64, parts: u64, random: &mut Random) -> u64 {
    let border = 200 * parts;
    if random.chance(slow) {
        border + 1 + random.skewed_below(20 * border)
    } else if random.chance(5) {
        border
    } else {
        random.skewed_below(border)
    }
}

/// From 1 to 10,000; half of the events are those of few customers.
fn customer(random: &mut Random) -> u64 {
    1 + if random.chance(500) { random.below(10_000) } else { random.skewed_below(10_000) }
}

fn path(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(1000) {
        0..235 => {
            text_raw("/api/customers/", out);
            number(customer(random), out);
            text_raw(random.pick_skewed(&["", "/orders", "/addresses", "/basket"]), out);
        }
        235..335 => {
            text_raw("/api/customers?page=", out);
            number(1 + random.skewed_below(400), out);
        }
        335..370 => {
            text_raw("/api/customers/search?q=", out);
            text_raw(random.pick(&["M%C3%BCller", "smith", "Zo%C3%AB", "o%27brien", "nowak"]), out);
        }
        370..650 => {
            text_raw("/api/products/", out);
            number(1 + random.skewed_below(5000), out);
            text_raw(random.pick_skewed(&["", "/reviews", "/stock"]), out);
        }
        650..800 => {
            text_raw("/api/orders/", out);
            numbered("", random, out);
        }
        800..950 => {
            text_raw(random.pick_skewed(&["/", "/basket", "/checkout", "/login", "/search?q=käse"]), out)
        }
        _ => {
            text_raw("/assets/", out);
            hex(8, b"0123456789abcdef", random, out);
            text_raw(random.pick_skewed(&[".js", ".css", ".woff2"]), out);
        }
    }
}

fn uuid(random: &mut Random, out: &mut Vec<u8>) {
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            out.push(b'-');
        }
        hex(length, b"0123456789abcdef", random, out);
    }
}

fn numbered(prefix: &str, random: &mut Random, out: &mut Vec<u8>) {
    text_raw(prefix, out);
    number(10_000_000 + random.below(90_000_000), out);
}

fn address(random: &mut Random, out: &mut Vec<u8>) {
    number(11 + random.below(200), out);
    for _ in 0..3 {
        out.push(b'.');
        number(random.below(256), out);
    }
}

fn order(random: &mut Random, out: &mut Vec<u8>) {
    text_raw("{\"Id\":", out);
    Kind::Numbered("A-").write(random, out);
    text_raw(",\"Items\":", out);
    list(1 + random.skewed_below(6), out, |out| {
        text_raw("{\"Product\":", out);
        string(random.pick(PRODUCTS), out);
        text_raw(",\"Quantity\":", out);
        number(1 + random.skewed_below(9), out);
        text_raw(",\"Price\":", out);
        money(50 + random.skewed_below(30_000), out);
        out.push(b'}');
    });
    text_raw(",\"Currency\":", out);
    string(random.pick_skewed(&["CHF", "EUR", "GBP", "¥"]), out);
    text_raw(",\"Gift\":", out);
    Kind::Boolean(80).write(random, out);
    text_raw(",\"Note\":", out);
    Kind::NullOrOneOf(700, &["", "Please ring twice", "Für Omi ❤", "Leave it\\nwith \\\"Zoë\\\""])
        .write(random, out);
    out.push(b'}');
}

fn actor(random: &mut Random, out: &mut Vec<u8>) {
    text_raw("{\"Name\":", out);
    string(random.pick(NAMES), out);
    text_raw(",\"Roles\":", out);
    list(1 + random.skewed_below(3), out, |out| string(random.pick_skewed(ROLES), out));
    text_raw(",\"Address\":{\"City\":", out);
    string(random.pick_skewed(CITIES), out);
    text_raw(",\"Zip\":", out);
    quoted(out, |out| number(1000 + random.below(90_000), out));
    text_raw("},\"Returning\":", out);
    Kind::Boolean(600).write(random, out);
    out.push(b'}');
}

fn timings(random: &mut Random, out: &mut Vec<u8>) {
    list(random.below(4), out, |out| {
        text_raw("{\"Step\":", out);
        string(random.pick(STEPS), out);
        text_raw(",\"Elapsed\":", out);
        fraction(elapsed(400, 10_000, random), out);
        out.push(b'}');
    });
}

/// A JSON array of so many elements.
fn list(length: u64, out: &mut Vec<u8>, mut element: impl FnMut(&mut Vec<u8>)) {
    out.push(b'[');
    for index in 0..length {
        if index > 0 {
            out.push(b',');
        }
        element(out);
    }
    out.push(b']');
}

fn quoted(out: &mut Vec<u8>, inside: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    inside(out);
    out.push(b'"');
}

/// A JSON string of a text that needs no further escapes.
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    quoted(out, |out| text_raw(text, out));
}

pub(crate) fn text_raw(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

fn integer(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    number(value.unsigned_abs(), out);
}

fn money(hundredths: u64, out: &mut Vec<u8>) {
    number(hundredths / 100, out);
    out.extend_from_slice(&[b'.', b'0' + (hundredths / 10 % 10) as u8, b'0' + (hundredths % 10) as u8]);
}

/// Ten-thousandths as a number without trailing zeros.
fn fraction(parts: u64, out: &mut Vec<u8>) {
    number(parts / 10_000, out);
    let mut rest = parts % 10_000;
    if rest > 0 {
        out.push(b'.');
        for place in [1000, 100, 10, 1] {
            out.push(b'0' + (rest / place) as u8);
            rest %= place;
            if rest == 0 {
                break;
            }
        }
    }
}

pub(crate) fn hex(length: usize, alphabet: &[u8; 16], random: &mut Random, out: &mut Vec<u8>) {
    let mut bits = 0;
    for index in 0..length {
        if index % 16 == 0 {
            bits = random.next();
        }
        out.push(alphabet[(bits & 15) as usize]);
        bits >>= 4;
    }
}
