//! What statistics, times and searching spare never changes an answer: random and directed queries, run both ways.

mod agree;
mod arrays;
mod beginnings;
mod beside_others;
mod choices;
mod computed;
mod cut_out;
mod digits;
mod directed;
mod few_rows;
mod first_groups;
mod first_rows;
mod groups;
mod in_json;
mod made_again;
mod members;
#[path = "../memory/mod.rs"]
mod memory;
mod parts;
mod random;
mod rendered;
mod replies;
mod spellings;
mod templated;
mod texts;
mod two_texts;
mod unnested;
