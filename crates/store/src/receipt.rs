//! Receipts: what was erased, and what was left.
//!
//! A receipt is written once the store was read whole: no file of it holds an erased event, and no block a text, in a dictionary, a template or its statistics, that
//! none of its own events has. So no text is left that only erased events had. The receipt tells their arrival numbers, and a hash of all
//! events that stay, so that both can be looked at again later.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::codec::Stray;
use crate::error::{DeleteError, Failure, OpenError, Operation, ReadError, StrayText, unless_refused};
use crate::format::{Fields, Key, NUMBER_MAX, QUARANTINE_NAME, RECEIPTS_NAME, envelope, open_envelope};
use crate::inventory;
use crate::io::{Directory, Disk, NameKind, ask_again, is_unreadable, write_all_at};
use crate::manifest::{decode_arrivals, encode_arrivals};
use crate::marks::Arrivals;
use crate::named::unfinished;
use crate::segment::{Beside, Segment};
use crate::snapshot::Snapshot;

/// What was erased, and what was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// When the first of the events were deleted, in ticks.
    pub began: u64,
    /// When no file held any of them, in ticks.
    pub ended: u64,
    /// How many events.
    pub events: u64,
    /// Bytes of their documents, line feeds included.
    pub document_bytes: u64,
    /// Segments that were written anew without them, or left whole.
    pub files: u64,
    /// Bytes of these files, as they were.
    pub file_bytes: u64,
    /// What was left of the store.
    pub stays: Stays,
    /// So many blocks were read: each text that one holds beside its events' documents is one that such a document has. 0 in receipts of before this was looked at.
    pub blocks: u64,
    /// So many texts these were: keys, entries of dictionaries, literals of templates, texts of columns, and what statistics tell.
    pub texts: u64,
    /// So many files lie in the store's quarantine, which nothing is erased from.
    pub quarantined: u64,
    /// Their arrival numbers.
    pub(crate) arrivals: Arrivals,
}

/// The events of a store at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stays {
    /// How many.
    pub events: u64,
    /// Their arrival numbers are below this one; all that came later are not.
    pub below: u64,
    /// The sum of the SHA-256 of each one, as eight numbers of 32 bits, each by itself modulo 2^32: so it does not depend on how they are stored.
    pub hash: [u8; 32],
}

/// The receipts of a store with their files, as they were listed at one moment, and nothing in the place of one that cannot be read; or why they cannot be listed.
#[derive(Debug)]
pub(crate) struct Receipts(Result<Vec<(PathBuf, Option<Receipt>)>, Failure>);

/// What has become of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptCheck {
    /// None of the erased events is there, and what stayed is what it was.
    Holds,
    /// None of the erased events is there; of those that stayed so many have left since.
    Less(u64),
    /// None of the erased events is there; those that stayed are as many, and others.
    Differs,
    /// So many of the erased events are there: files of before were put back.
    Back(u64),
    /// None of the erased events is there, but a text that no event has.
    Stray(StrayText),
}

/// Nobody knows whether such a part holds an erased text.
const UNKNOWN_PART: &str = "a part that this program does not know";

const MAGIC: [u8; 8] = *b"\x89TMrecpt";
const VERSION: u32 = 2;

/// Receipts that tell of no texts.
const WITHOUT_TEXTS: u32 = 1;

/// At most so many bytes of a receipt are read.
const BYTES_MAX: u64 = 1 << 30;

/// The name of a receipt ends with this.
const ENDING: &str = ".receipt";

impl Stays {
    fn add(&mut self, key: Key, document: &[u8]) {
        let mut hasher = Sha256::new();
        hasher.update(key.instant.to_le_bytes());
        hasher.update(key.arrival.to_le_bytes());
        hasher.update(document);
        let one: [u8; 32] = hasher.finalize().into();
        let (sums, _) = self.hash.as_chunks_mut::<4>();
        let (ones, _) = one.as_chunks::<4>();
        for (sum, one) in sums.iter_mut().zip(ones) {
            *sum = u32::from_le_bytes(*sum).wrapping_add(u32::from_le_bytes(*one)).to_le_bytes();
        }
        self.events += 1;
    }
}

/// What is found as a store is read whole.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// What it holds of the events before an arrival number, without those that are gone.
    pub(crate) stays: Stays,
    /// How many are there of those that are gone, and where the first of them is.
    back: (u64, Option<(Key, PathBuf)>),
    pub(crate) blocks: u64,
    pub(crate) texts: u64,
    /// Of each segment that holds a text that no event has its number, and the first such text.
    pub(crate) strays: Vec<(u64, StrayText)>,
}

impl Proof {
    fn event(&mut self, gone: &Arrivals, key: Key, document: &[u8], path: &Path) {
        if gone.contains(key.arrival) {
            self.back.0 += 1;
            self.back.1.get_or_insert_with(|| (key, path.to_owned()));
        } else if key.arrival < self.stays.below {
            self.stays.add(key, document);
        }
    }

    fn block(&mut self, segment: &Arc<Segment>, number: usize, gone: &Arrivals) -> Result<(), ReadError> {
        let path = segment.path();
        let block = segment.whole_block(number)?;
        block.events()?.for_each(|(key, document)| self.event(gone, key, document, &path));
        segment.load()?.check_statistics(number)?;
        let found = segment.texts_of(&block)?;
        self.blocks += 1;
        self.texts += found.texts;
        let unknown = segment.unknown_part(number, &block)?.map(|part| (part, UNKNOWN_PART.to_owned()));
        let of_no_event = |Stray { part, what }| (part, format!("{what} that no event of the block has"));
        if let Some((part, what)) = found.stray.map(of_no_event).or(unknown) {
            self.stray(segment, StrayText { file: path, block: Some(number), part: Some(part), what });
        }
        Ok(())
    }

    /// Looks for bytes and parts of a segment that belong to none of its blocks.
    fn beside_blocks(&mut self, segment: &Arc<Segment>) -> Result<(), ReadError> {
        let (part, what) = match segment.beside_blocks()? {
            None => return Ok(()),
            Some(Beside::Part(name)) => (Some(name), UNKNOWN_PART.to_owned()),
            Some(Beside::Bytes(range)) => (
                None,
                format!("something in bytes {} to {}, which belong to no part", range.start, range.end),
            ),
        };
        self.stray(segment, StrayText { file: segment.path(), block: None, part, what });
        Ok(())
    }

    /// Notes the first stray text of a segment.
    fn stray(&mut self, segment: &Segment, stray: StrayText) {
        let number = segment.entry.number;
        if self.strays.last().is_none_or(|(segment, _)| *segment != number) {
            self.strays.push((number, stray));
        }
    }

    /// Nothing is there that should not be.
    pub(crate) fn holds(self) -> Result<Proof, DeleteError> {
        match (&self.back.1, self.strays.first()) {
            (Some((key, file)), _) => Err(DeleteError::Remains { arrival: key.arrival, file: file.clone() }),
            (None, Some((_, stray))) => Err(DeleteError::Stray(stray.clone())),
            (None, None) => Ok(self),
        }
    }
}

impl Snapshot {
    /// Reads all events, deleted ones that a segment still holds as well, and all that blocks hold beside them; each block is verified, and one is in memory at a
    /// time. None if it may not go on.
    pub(crate) fn prove(
        &self,
        below: u64,
        gone: &Arrivals,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Proof>, ReadError> {
        let mut proof = Proof { stays: Stays { below, ..Stays::default() }, ..Proof::default() };
        let plain = self.state.environment.plain();
        for segment in &self.state.segments.list {
            let segment = Arc::new(segment.read_by(Arc::clone(&plain)));
            for number in 0..segment.load()?.index().blocks.len() {
                if !may_go_on() {
                    return Ok(None);
                }
                proof.block(&segment, number, gone)?;
            }
            proof.beside_blocks(&segment)?;
        }
        for run in &self.state.memtable {
            let events = (0..run.len()).filter_map(|index| Some((run.key(index)?, run.document(index))));
            events.for_each(|(key, document)| proof.event(gone, key, document, Path::new("log")));
        }
        Ok(Some(proof))
    }

    /// What has become of a receipt. Reads the whole store, deleted events that are not erased yet as well.
    ///
    /// # Errors
    /// Where something is damaged, or cannot be read.
    pub fn check_receipt(&self, receipt: &Receipt) -> Result<ReceiptCheck, ReadError> {
        let before = receipt.stays;
        let Some(proof) = self.prove(before.below, &receipt.arrivals, &|| true)? else {
            unreachable!("it may always go on")
        };
        let Proof { stays: now, back: (back, _), strays, .. } = proof;
        Ok(match (before.events.checked_sub(now.events), strays.into_iter().next()) {
            _ if back > 0 => ReceiptCheck::Back(back),
            (_, Some((_, stray))) => ReceiptCheck::Stray(stray),
            (Some(0), None) if now == before => ReceiptCheck::Holds,
            (Some(0) | None, None) => ReceiptCheck::Differs,
            (Some(less), None) => ReceiptCheck::Less(less),
        })
    }
}

impl Receipts {
    /// Reads all receipts.
    pub(crate) fn of(directory: &dyn Directory, store: u128) -> Result<Receipts, Failure> {
        match Receipt::list_of(directory, store) {
            Err(failure) if !(failure.is_refused() || failure.is_no_folder()) => Err(failure),
            listed => Ok(Receipts(listed)),
        }
    }

    fn readable(&self) -> impl Iterator<Item = (&PathBuf, &Receipt)> {
        self.0.iter().flatten().filter_map(|(file, receipt)| Some((file, receipt.as_ref()?)))
    }

    /// The first arrival number that none of those that can be read knows of, and the receipt that knows the last one before it.
    pub(crate) fn reach(&self) -> Option<(u64, &Path)> {
        let ends =
            self.readable().map(|(file, receipt)| (receipt.stays.below.min(NUMBER_MAX - 1), file.as_path()));
        ends.max()
    }

    /// What of them cannot be read: receipts, or the folder of all.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &Path> {
        let folder = self.0.as_ref().err().map(|failure| failure.path.as_path());
        let files = self.0.iter().flatten().filter(|(_, receipt)| receipt.is_none());
        folder.into_iter().chain(files.map(|(file, _)| file.as_path()))
    }

    /// Why nobody knows what all of them tell, if one cannot be read.
    pub(crate) fn fault(&self) -> Option<OpenError> {
        match &self.0 {
            Err(failure) => Some(failure.clone().into()),
            Ok(_) => self.unread().next().map(|file| OpenError::ReceiptDamaged { file: file.to_owned() }),
        }
    }

    /// What all receipts say was erased. Nothing where one of them cannot be read: then nobody knows.
    pub(crate) fn all_erased(&self) -> Arrivals {
        let mut erased = Arrivals::default();
        if self.unread().next().is_none() {
            self.readable().for_each(|(_, receipt)| erased.add(&receipt.arrivals));
        }
        erased
    }
}

impl Receipt {
    /// The receipts of the store in this folder, the earliest first, with their files; nothing in the place of one that is damaged, or that the system does not give.
    ///
    /// # Errors
    /// Where there is no store, or the folder cannot be read.
    pub fn list(folder: &Path) -> Result<Vec<(PathBuf, Option<Receipt>)>, OpenError> {
        inventory::require_folder(folder)?;
        Receipt::list_on(&Disk::new(folder))
    }

    /// The receipts of a store in any kind of folder.
    ///
    /// # Errors
    /// As [`list`](Receipt::list).
    pub fn list_on(directory: &dyn Directory) -> Result<Vec<(PathBuf, Option<Receipt>)>, OpenError> {
        let Some(manifest) = inventory::find_manifest(directory, false)? else {
            return Err(inventory::missing(directory));
        };
        Ok(Receipt::list_of(directory, manifest.store)?)
    }

    /// The receipts of this store in any kind of folder.
    pub(crate) fn list_of(
        directory: &dyn Directory,
        store: u128,
    ) -> Result<Vec<(PathBuf, Option<Receipt>)>, Failure> {
        let is_unreadable = |failure: &Failure| is_unreadable(&failure.source);
        let folder = ask_again(is_unreadable, || folder(directory, RECEIPTS_NAME))?;
        let Some(receipts) = folder else { return Ok(Vec::new()) };
        let fail = || Failure::during(directory, RECEIPTS_NAME, Operation::List);
        let mut names = ask_again(is_unreadable, || receipts.list().map_err(fail()))?;
        names.retain(|name| name.ends_with(ENDING));
        names.sort_unstable();
        let mut listed = Vec::new();
        for name in names {
            let receipt = match ask_again(is_unreadable, || Receipt::read(&*receipts, &name, store)) {
                Err(failure) if failure.is_refused() || failure.is_irregular() => None,
                receipt => receipt?,
            };
            listed.push((receipts.path(&name), receipt));
        }
        Ok(listed)
    }

    /// Reads one; nothing where it is damaged.
    fn read(receipts: &dyn Directory, name: &str, store: u128) -> Result<Option<Receipt>, Failure> {
        let fail = |operation| Failure::during(receipts, name, operation);
        let file = receipts.open(name).map_err(fail(Operation::Open))?;
        let length = file.length().map_err(fail(Operation::Read))?;
        let bytes = file.read_range(0, length.min(BYTES_MAX) as usize).map_err(fail(Operation::Read))?;
        Ok(Receipt::decode(&bytes, store))
    }

    /// A name for it that is free, or that of an earlier receipt whose events it has too: one of the same erasure. Another erasure can have begun at the same instant
    /// where the clock stands still or was set back; its receipt is not replaced.
    fn name(&self, receipts: &dyn Directory, store: u128) -> Result<String, Failure> {
        let mut instant = self.began;
        loop {
            let name = format!("{instant:016x}{ENDING}");
            let there = receipts.kind(&name).map_err(Failure::during(receipts, &name, Operation::Open))?;
            let has_all = |earlier: Receipt| self.arrivals.contain(&earlier.arrivals);
            let is_free = match there {
                None => true,
                Some(NameKind::File(_)) => {
                    unless_refused(Receipt::read(receipts, &name, store))?.is_some_and(has_all)
                }
                Some(_) => false,
            };
            if is_free {
                return Ok(name);
            }
            instant = instant.wrapping_add(1);
        }
    }

    /// Writes it into the store's folder of receipts; durable when this returns. One of the same erasure is replaced.
    pub(crate) fn write(&self, directory: &dyn Directory, store: u128) -> Result<(), Failure> {
        let fail = |operation| Failure::during(directory, RECEIPTS_NAME, operation);
        // The files that went with what was erased are not to come back after a loss of power beside a receipt.
        directory.flush().map_err(fail(Operation::FlushFolder))?;
        let receipts = directory.folder(RECEIPTS_NAME).map_err(fail(Operation::CreateFolder))?;
        let name = self.name(&*receipts, store)?;
        let unfinished = unfinished(&name);
        let of = |operation| Failure::during(&*receipts, &name, operation);
        // What an interrupted attempt has left.
        let _ = receipts.remove(&unfinished);
        let write = || {
            let file = receipts.create(&unfinished).map_err(of(Operation::Create))?;
            write_all_at(&*file, 0, &self.encode(store)).map_err(of(Operation::Write))?;
            // Until it has its name nothing depends on it.
            file.flush().map_err(of(Operation::Write))?;
            receipts.rename(&unfinished, &name).map_err(of(Operation::Create))
        };
        write().inspect_err(|_| drop(receipts.remove(&unfinished)))?;
        receipts.flush().map_err(of(Operation::Create))?;
        directory.flush().map_err(fail(Operation::FlushFolder))
    }

    pub(crate) fn encode(&self, store: u128) -> Vec<u8> {
        let Receipt { began, ended, events, document_bytes, files, file_bytes, stays, .. } = self;
        let Receipt { blocks, texts, quarantined, arrivals, .. } = self;
        let mut out = Vec::new();
        for field in [began, ended, events, document_bytes, files, file_bytes, quarantined, blocks, texts] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&stays.events.to_le_bytes());
        out.extend_from_slice(&stays.below.to_le_bytes());
        out.extend_from_slice(&stays.hash);
        encode_arrivals(arrivals, &mut out);
        envelope(MAGIC, VERSION, store, &out)
    }

    /// Any receipt, for tests.
    #[cfg(test)]
    pub(crate) fn example() -> Receipt {
        let stays = Stays { events: 8, below: 9, hash: [10; 32] };
        let arrivals = Arrivals { stretches: vec![(1, 2), (5, 1)] };
        let (began, ended, events, document_bytes) = (1, 2, 3, 4);
        Receipt {
            began,
            ended,
            events,
            document_bytes,
            files: 5,
            file_bytes: 6,
            stays,
            blocks: 11,
            texts: 12,
            quarantined: 7,
            arrivals,
        }
    }

    pub(crate) fn decode(bytes: &[u8], store: u128) -> Option<Receipt> {
        let (version, of, body) = open_envelope(MAGIC, bytes)?;
        if of != store || !(WITHOUT_TEXTS..=VERSION).contains(&version) {
            return None;
        }
        let mut at = Fields(body);
        let (began, ended, events, document_bytes) = (at.u64()?, at.u64()?, at.u64()?, at.u64()?);
        let (files, file_bytes, quarantined) = (at.u64()?, at.u64()?, at.u64()?);
        let (blocks, texts) = if version == WITHOUT_TEXTS { (0, 0) } else { (at.u64()?, at.u64()?) };
        let stays = Stays { events: at.u64()?, below: at.u64()?, hash: at.take()? };
        let arrivals = decode_arrivals(&mut at)?;
        Some(Receipt {
            began,
            ended,
            events,
            document_bytes,
            files,
            file_bytes,
            stays,
            blocks,
            texts,
            quarantined,
            arrivals,
        })
    }
}

/// How many files lie in quarantine.
pub(crate) fn quarantined(directory: &dyn Directory) -> Result<u64, Failure> {
    let Some(quarantine) = folder(directory, QUARANTINE_NAME)? else { return Ok(0) };
    let names = quarantine.list().map_err(Failure::during(directory, QUARANTINE_NAME, Operation::List))?;
    Ok(names.len() as u64)
}

/// A folder of the store, if it is there. A link to one is refused: what it leads to may be another store's, or not there today.
fn folder(directory: &dyn Directory, name: &str) -> Result<Option<Arc<dyn Directory>>, Failure> {
    let fail = |operation| Failure::during(directory, name, operation);
    match directory.kind(name).map_err(fail(Operation::Open))? {
        None => Ok(None),
        Some(NameKind::Folder) => directory.folder(name).map(Some).map_err(fail(Operation::Open)),
        Some(_) => {
            let found = "it is not a folder, or a link to one; put the folder itself there";
            Err(fail(Operation::Open)(io::Error::new(io::ErrorKind::NotADirectory, found)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Simulated;

    #[test]
    fn what_is_written_is_read_and_receipts_of_before_too() {
        let receipt = Receipt::example();
        let bytes = receipt.encode(7);
        assert_eq!(Receipt::decode(&bytes, 7), Some(receipt.clone()));
        assert_eq!(Receipt::decode(&bytes, 8), None);
        // Version 1 told of no texts.
        let (_, _, body) = open_envelope(MAGIC, &bytes).unwrap();
        let before = [&body[..7 * 8], &body[9 * 8..]].concat();
        let before = Receipt::decode(&envelope(MAGIC, WITHOUT_TEXTS, 7, &before), 7);
        assert_eq!(before, Some(Receipt { blocks: 0, texts: 0, ..receipt }));
    }

    /// The second one replaced the first, whose events a repair could bring back then.
    #[test]
    fn receipts_that_began_at_the_same_instant_are_both_kept() {
        let folder = Simulated::new();
        let of = |arrivals: Vec<u64>| Receipt { arrivals: Arrivals::of(arrivals), ..Receipt::example() };
        let listed = || -> Vec<Vec<(u64, u64)>> {
            let receipts = Receipt::list_of(&folder, 7).unwrap();
            receipts.into_iter().map(|(_, receipt)| receipt.unwrap().arrivals.stretches).collect()
        };
        of(vec![10]).write(&folder, 7).unwrap();
        of(vec![20]).write(&folder, 7).unwrap();
        assert_eq!(listed(), [[(10, 1)], [(20, 1)]]);
        // One of the same erasure, to which more was added before it ended, takes the place of its own.
        of(vec![10, 11]).write(&folder, 7).unwrap();
        assert_eq!(listed(), [[(10, 2)], [(20, 1)]]);
        // One that is damaged stays as it is.
        let receipts = folder.folder(RECEIPTS_NAME).unwrap();
        let first = receipts.list().unwrap().into_iter().min().unwrap();
        receipts.open_for_writing(&first).unwrap().write_at(50, &[0x55; 8]).unwrap();
        of(vec![10, 11]).write(&folder, 7).unwrap();
        assert_eq!(receipts.list().unwrap().len(), 3);
    }
}
