//! The tests of whole stores once more, over segments in columns.

#![expect(
    clippy::duplicate_mod,
    reason = "each of these files is a test binary of its own too, with the same support"
)]

#[path = "backup.rs"]
mod backup;
#[path = "bounds.rs"]
mod bounds;
#[path = "corrupt_checksummed.rs"]
mod corrupt_checksummed;
#[path = "crash.rs"]
mod crash;
#[path = "damage.rs"]
mod damage;
#[path = "delete.rs"]
mod delete;
#[path = "faults.rs"]
mod faults;
#[path = "kill.rs"]
mod kill;
#[path = "medium.rs"]
mod medium;
#[path = "no_answer.rs"]
mod no_answer;
#[path = "order.rs"]
mod order;
#[path = "other_hands.rs"]
mod other_hands;
#[path = "overtaken.rs"]
mod overtaken;
#[path = "pieces.rs"]
mod pieces;
#[path = "put_back.rs"]
mod put_back;
#[path = "readers.rs"]
mod readers;
#[path = "receipts.rs"]
mod receipts;
#[path = "refused.rs"]
mod refused;
#[path = "repair.rs"]
mod repair;
#[path = "scrub.rs"]
mod scrub;
#[path = "stale.rs"]
mod stale;
#[path = "upkeep.rs"]
mod upkeep;
#[path = "written.rs"]
mod written;
