use std::sync::Arc;

use super::Segment;
use crate::block::Block;
use crate::error::{Damage, Failure, ReadError};

/// What is whole in a segment, and what is not.
pub(crate) struct Salvaged {
    /// The blocks that are as they were written, all of each verified.
    pub(crate) blocks: Vec<Block>,
    pub(crate) damage: Vec<Damage>,
}

impl Segment {
    /// Finds the blocks that are whole. Where only the header, the trailer or what was added at the end is wrong, all of them can be:
    /// the manifest knows what stood there.
    pub(crate) fn salvage(self: &Arc<Segment>) -> Result<Salvaged, Failure> {
        let mut salvaged = Salvaged { blocks: Vec::new(), damage: Vec::new() };
        let opened = match self.load() {
            Err(ReadError::Damaged(damage)) => match self.load_despite_damage() {
                Ok(opened) => {
                    salvaged.damage.push(Damage { events: Some(0), keys: None, ..damage });
                    opened
                }
                Err(ReadError::Failure(failure)) => return Err(failure),
                Err(ReadError::Damaged(damage)) => {
                    salvaged.damage.push(damage);
                    return Ok(salvaged);
                }
            },
            Err(ReadError::Failure(failure)) => return Err(failure),
            Ok(opened) => opened,
        };
        for number in 0..opened.index().len() {
            // All of it has to be whole.
            let whole = opened.block(self, number).and_then(|block| {
                block.documents()?;
                Ok(block)
            });
            match whole {
                Ok(block) => salvaged.blocks.push(block),
                Err(ReadError::Damaged(damage)) => salvaged.damage.push(damage),
                Err(ReadError::Failure(failure)) => return Err(failure),
            }
        }
        Ok(salvaged)
    }
}
