//! The commands, a module each.

pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod generate;
pub(crate) mod help_files;
pub(crate) mod info;
pub(crate) mod ingest;
pub(crate) mod keys;
pub(crate) mod query;
pub(crate) mod repair;
pub(crate) mod verify;
