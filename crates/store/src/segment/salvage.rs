//! What is whole in a segment, and what is not.

use std::sync::Arc;

use super::block::Block;
use super::loaded::Reopen;
use super::reader::Segment;
use crate::error::{Damage, Failure, ReadError};
use crate::format::Key;
use crate::marks::Stretch;
use crate::options::ReadMode;

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
        let (opened, flaw) = match self.open_file().and_then(|file| self.open_in(file, ReadMode::Plain)) {
            Ok(opened) => opened,
            Err(ReadError::Damaged(damage)) => {
                salvaged.damage.push(damage);
                return Ok(salvaged);
            }
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
