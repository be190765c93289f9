//! Events that are collected until there are enough to be stored at once.

/// How many bytes are stored at a time.
const BATCH_BYTES: usize = 32 << 20;

/// HEURISTIC: bytes of memory that an event takes beside its document until it is stored: several copies of its key and position.
const EVENT_BYTES: usize = 128;

/// Documents, one after another, with a key for each.
#[derive(Debug)]
pub(crate) struct Gathered<K> {
    documents: Vec<u8>,
    /// The key of each document, and where it ends.
    events: Vec<(K, usize)>,
}

impl<K: Copy> Gathered<K> {
    pub(crate) fn new() -> Gathered<K> {
        Gathered { documents: Vec::new(), events: Vec::new() }
    }

    /// Adds a document, which `write` appends to the bytes. If that fails nothing is added.
    pub(crate) fn push<E>(
        &mut self,
        key: K,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.documents.len();
        write(&mut self.documents).inspect_err(|_| self.documents.truncate(start))?;
        self.events.push((key, self.documents.len()));
        Ok(())
    }

    /// Whether there are enough to be stored.
    pub(crate) fn are_enough(&self) -> bool {
        self.documents.len() + self.events.len() * EVENT_BYTES >= BATCH_BYTES
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &[u8])> {
        let mut start = 0;
        self.events.iter().map(move |(key, end)| {
            let document = self.documents.get(start..*end).unwrap_or_default();
            start = *end;
            (*key, document)
        })
    }

    pub(crate) fn clear(&mut self) {
        self.documents.clear();
        self.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the shortest documents sixteen million used to be gathered, which took gigabytes.
    #[test]
    fn short_documents_are_stored_before_they_take_much_memory() {
        let mut gathered = Gathered::new();
        while !gathered.are_enough() {
            let key = gathered.events.len();
            let push = |documents: &mut Vec<u8>| {
                documents.extend_from_slice(b"{}");
                Ok::<_, ()>(())
            };
            gathered.push(key, push).unwrap();
        }
        assert!(gathered.events.len() < 300_000, "{}", gathered.events.len());
        assert!(gathered.iter().enumerate().all(|(place, event)| event == (place, &b"{}"[..])));
    }

    #[test]
    fn a_document_that_is_refused_leaves_nothing() {
        let mut gathered = Gathered::new();
        let mut push = |text: &str, result: Result<(), ()>| {
            gathered.push(text.len(), |documents| {
                documents.extend_from_slice(text.as_bytes());
                result
            })
        };
        assert_eq!(
            (push("one", Ok(())), push("wrong", Err(())), push("three", Ok(()))),
            (Ok(()), Err(()), Ok(()))
        );
        let found: Vec<_> = gathered.iter().collect();
        assert_eq!(found, [(3, &b"one"[..]), (5, &b"three"[..])]);
        gathered.clear();
        assert_eq!(gathered.iter().count(), 0);
    }
}
