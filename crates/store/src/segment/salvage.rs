//! What is whole in a segment, and what is not.

use std::path::PathBuf;
use std::sync::Arc;

use super::block::Block;
use super::loaded::{Loaded, Reopen};
use super::reader::Segment;
use crate::codec::{BlockId, Codec};
use crate::error::{Damage, Failure, ReadError};
use crate::format::Key;
use crate::io::File;
use crate::marks::Stretch;

/// What is whole in a segment, and what is not.
pub(crate) struct Salvaged {
    /// The blocks that are as they were written, all of each verified; of a block in columns that is damaged the events that are whole, in
    /// memory. None has a deleted event.
    pub(crate) blocks: Vec<Block>,
    pub(crate) damage: Vec<Damage>,
}

impl Salvaged {
    /// The events of the whole blocks, in order.
    pub(crate) fn events(&self) -> impl Iterator<Item = (Key, &[u8])> {
        // All was verified, so all is there.
        self.blocks.iter().filter_map(|block| block.events().ok()).flatten()
    }
}

impl Segment {
    /// Finds the blocks that are whole, by plain reads. Where only the header, the trailer or what was added at the end is wrong, all of them
    /// can be: the manifest knows what stood there. A file that cannot be opened at all is no damage, but a failure: nothing is to be concluded from it.
    pub(crate) fn salvage(self: &Arc<Segment>) -> Result<Salvaged, Failure> {
        let mut salvaged = Salvaged { blocks: Vec::new(), damage: Vec::new() };
        let file = match self.open_file() {
            Ok(file) => file,
            Err(ReadError::Damaged(damage)) => {
                salvaged.damage.push(damage);
                return Ok(salvaged);
            }
            Err(ReadError::Failure(failure)) => return Err(failure),
        };
        let (opened, flaw) = match self.open_in(Arc::clone(&file)) {
            Ok(opened) => opened,
            Err(ReadError::Damaged(damage)) => return self.salvage_by_damaged_index(file, damage),
            Err(ReadError::Failure(failure)) => return Err(failure),
        };
        salvaged.damage.extend(flaw);
        let opened = Arc::new(opened);
        for number in 0..opened.index().blocks.len() {
            let block = Block::of(&opened, Arc::clone(self) as Arc<dyn Reopen>, number);
            match block.and_then(|block| whole(block, self.deleted_of(number))) {
                Ok((block, damage)) => {
                    salvaged.blocks.extend(block);
                    salvaged.damage.extend(damage);
                    // Of damaged statistics nothing is lost but time.
                    if let Err(ReadError::Damaged(damage)) = opened.check_statistics(number) {
                        salvaged.damage.push(damage);
                    }
                }
                Err(ReadError::Damaged(damage)) => salvaged.damage.push(damage),
                Err(ReadError::Failure(failure)) => return Err(failure),
            }
        }
        Ok(salvaged)
    }
}

/// A segment that was opened by a damaged index, for its blocks.
struct Damaged {
    segment: Arc<Segment>,
    loaded: Arc<Loaded>,
}

impl Reopen for Damaged {
    fn load(&self) -> Result<Arc<Loaded>, ReadError> {
        Ok(Arc::clone(&self.loaded))
    }

    fn path(&self) -> PathBuf {
        Segment::path(&self.segment)
    }

    fn id_of(&self, block: u32) -> BlockId {
        // A block stands in another place than in the index that was written.
        BlockId { opening: u64::MAX, ..self.segment.id_of(block) }
    }

    fn codec(&self) -> &dyn Codec {
        self.segment.codec()
    }
}

impl Segment {
    /// Finds the blocks that are whole though the index is not: those of which what is left of it tells all that their bytes confirm, each by its checksum. The damage of the
    /// segment is about all events but theirs.
    fn salvage_by_damaged_index(
        self: &Arc<Segment>,
        file: Arc<dyn File>,
        damage: Damage,
    ) -> Result<Salvaged, Failure> {
        let mut salvaged = Salvaged { blocks: Vec::new(), damage: Vec::new() };
        let mut whole_events = 0;
        if let Some(loaded) = self.open_damaged(file)?.map(Arc::new) {
            let segment = Arc::clone(self);
            let reopen: Arc<dyn Reopen> = Arc::new(Damaged { segment, loaded: Arc::clone(&loaded) });
            let mut last = None;
            for (number, twice) in loaded.index().blocks.chunks(2).enumerate() {
                for (place, block) in (number * 2..).zip(twice) {
                    // Of a sound file they are in order, and no longer than its end says.
                    let in_order = last < Some(block.first) && block.first <= block.last;
                    if !in_order || !loaded.index().may_be(block, &self.entry.trailer()) {
                        continue;
                    }
                    let found = Block::of(&loaded, Arc::clone(&reopen), place);
                    match found.and_then(|block| whole(block, self.deleted_of(number))) {
                        Ok((found, None)) => {
                            salvaged.blocks.extend(found);
                            whole_events += u64::from(block.events);
                            last = Some(block.last);
                            break;
                        }
                        Ok((_, Some(_))) | Err(ReadError::Damaged(_)) => {}
                        Err(ReadError::Failure(failure)) => return Err(failure),
                    }
                }
            }
        }
        let events = damage.events.map(|events| events.saturating_sub(whole_events));
        salvaged.damage.push(Damage { events, ..damage });
        Ok(salvaged)
    }
}

/// A block if all of it is as it was written; of one in columns that is damaged the events that are whole, if there are any, and the damage. Deleted
/// events are in neither; nothing is left of a block of which all are.
fn whole(block: Block, deleted: &[Stretch]) -> Result<(Option<Block>, Option<Damage>), ReadError> {
    let damage = match block.times().and_then(|_| block.documents()).map(drop) {
        Ok(()) if deleted.is_empty() => return Ok((Some(block), None)),
        Ok(()) => return block.without(deleted).map(|rest| (rest, None)),
        Err(ReadError::Damaged(damage)) => damage,
        Err(failure) => return Err(failure),
    };
    match block.columns().map(|columns| columns.whole_events(deleted)) {
        Some(Ok(run)) if !run.is_empty() => Ok((Some(Block::in_memory(Arc::new(run))), Some(damage))),
        None | Some(Ok(_) | Err(ReadError::Damaged(_))) => Err(ReadError::Damaged(damage)),
        Some(Err(failure)) => Err(failure),
    }
}
