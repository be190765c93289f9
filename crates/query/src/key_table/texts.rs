//! The texts of keys, one after another in pages, which stay where they are while there are more and more.

use crate::allocated::vec_bytes;

/// Texts that are added, and found by where they stand.
#[derive(Clone, Default)]
pub(super) struct Texts {
    /// A text stands in one page. Only the first grows, as few texts are to take little.
    pages: Vec<Vec<u8>>,
    /// What all pages but the first take, in bytes.
    others_bytes: usize,
}

/// Where a text begins: the page, and the byte in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextPlace {
    page: u32,
    at: u32,
}

/// So many bytes are a page, but for a longer text, which gets one of its own.
const PAGE: usize = 1 << 18;

impl TextPlace {
    pub(super) fn to_bits(self) -> u64 {
        u64::from(self.page) << u32::BITS | u64::from(self.at)
    }

    /// The same where so many pages come before it.
    pub(super) fn behind(self, pages: u32) -> TextPlace {
        TextPlace { page: self.page + pages, at: self.at }
    }

    #[inline]
    pub(super) fn of_bits(bits: u64) -> TextPlace {
        TextPlace { page: (bits >> u32::BITS) as u32, at: bits as u32 }
    }
}

impl Texts {
    /// Adds a text: where it stands.
    pub(super) fn push(&mut self, text: &[u8]) -> TextPlace {
        if self.pages.last().is_none_or(|last| last.len() + text.len() > PAGE) {
            self.add_page(text.len());
        }
        // A text comes of a document, which is shorter than 2^32 bytes, and memory ends before there are as many pages.
        let page = (self.pages.len() - 1) as u32;
        let Some(last) = self.pages.last_mut() else { return TextPlace::default() };
        let at = last.len() as u32;
        last.extend_from_slice(text);
        TextPlace { page, at }
    }

    /// Takes in the texts of others: how many pages come before theirs.
    pub(super) fn append(&mut self, other: Texts) -> u32 {
        let pages = self.pages.len() as u32;
        self.others_bytes += other.held_bytes();
        self.pages.extend(other.pages);
        pages
    }

    #[cold]
    fn add_page(&mut self, bytes: usize) {
        let is_first = self.pages.is_empty();
        let page = if is_first { Vec::new() } else { Vec::with_capacity(PAGE.max(bytes)) };
        self.others_bytes += page.capacity();
        self.pages.push(page);
    }

    /// The text at a place that is so long.
    #[inline]
    pub(super) fn get(&self, place: TextPlace, length: usize) -> &[u8] {
        let start = place.at as usize;
        self.page(place).get(start..start.saturating_add(length)).unwrap_or_default()
    }

    /// The last bytes of a text that has as many; any where there is none.
    #[inline]
    pub(super) fn last<const N: usize>(&self, place: TextPlace, length: usize) -> [u8; N] {
        let page = self.page(place);
        // There is such a place for every text, so that none is told from the others by a branch.
        let end = (place.at as usize).saturating_add(length).min(page.len()).max(N);
        page.get(end - N..end).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
    }

    /// The byte at a place; 0 where there is none.
    #[inline]
    pub(super) fn byte(&self, place: TextPlace) -> u8 {
        self.page(place).get(place.at as usize).copied().unwrap_or_default()
    }

    #[inline]
    fn page(&self, place: TextPlace) -> &[u8] {
        self.pages.get(place.page as usize).map_or(&[], Vec::as_slice)
    }

    /// What they hold, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.pages.first().map_or(0, Vec::capacity) + self.others_bytes
    }

    /// The same; soon before the first page grows also what that will hold. It never becomes less.
    pub(super) fn bytes(&self) -> usize {
        self.pages.first().map_or(0, vec_bytes) + self.others_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_their_pages() {
        let mut texts = Texts::default();
        let text = |n: usize| n.to_string().repeat(1 + n % 50);
        let long = "long ".repeat(PAGE);
        let mut places: Vec<TextPlace> = (0..10_000).map(|n| texts.push(text(n).as_bytes())).collect();
        let of_long = texts.push(long.as_bytes());
        places.extend((10_000..20_000).map(|n| texts.push(text(n).as_bytes())));
        for (n, place) in places.into_iter().enumerate() {
            let (text, place) = (text(n), TextPlace::of_bits(place.to_bits()));
            assert_eq!(texts.get(place, text.len()), text.as_bytes());
            assert_eq!(texts.byte(place), text.as_bytes()[0]);
            if let Some(last) = text.as_bytes().last_chunk::<8>() {
                assert_eq!(texts.last(place, text.len()), *last);
            }
        }
        assert_eq!(texts.get(of_long, long.len()), long.as_bytes());
        assert!(texts.bytes() >= long.len() && texts.held_bytes() <= texts.bytes());
    }

    #[test]
    fn few_texts_take_little() {
        let mut texts = Texts::default();
        assert_eq!(texts.bytes(), 0);
        texts.push(b"a text");
        assert!(texts.bytes() < 200);
        assert_eq!(texts.get(TextPlace { page: 7, at: 3 }, 2), b"");
        assert_eq!(texts.last::<8>(TextPlace::default(), 0), [0; 8]);
    }
}
