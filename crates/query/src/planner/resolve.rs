//! What is known while names are resolved: the slots, the locals, and what can be named behind a grouping.

use crate::ast::ParsedExpr;
use crate::builtin::BuiltIn;
use crate::error::{Flaw, WITHOUT_STREAM};
use crate::expr::{Certain, Computed, Expr};
use crate::parameters::Parameters;
use crate::plan::Aggregate;
use crate::span::Span;
use crate::warning::Warning;
use std::collections::{HashMap, HashSet};

/// Gives the names of expressions their meaning.
pub(super) struct Resolver<'q> {
    pub(super) text: &'q str,
    pub(super) parameters: &'q Parameters,
    /// Whether there is an event to take names from.
    has_event: bool,
    /// The slots.
    pub(super) names: Vec<Box<str>>,
    /// So many of them were added for dotted paths, beside the keys that those begin with.
    pub(super) flat_names: usize,
    pub(super) warnings: Vec<Warning>,
    /// Whether the document is read otherwise than by its slots.
    pub(super) uses_document: bool,
    /// The locals, the innermost last.
    pub(super) locals: Vec<Local>,
    /// The locals around the aggregate whose argument is being resolved: an event knows nothing of them.
    pub(super) hidden: Vec<Local>,
    /// How many wildcards the one being resolved stands within, itself included.
    pub(super) wildcards: usize,
    /// How many regular expressions the query has so far.
    pub(super) patterns: usize,
    /// Set while expressions behind a grouping are resolved.
    pub(super) grouped: Option<Grouped>,
}

/// A name that an expression gives to a value.
#[derive(Clone)]
pub(super) struct Local {
    pub(super) name: String,
    /// How many levels of computed arrays and objects its value can have.
    pub(super) levels: usize,
    pub(super) is_instant: bool,
}

impl Local {
    /// The number of the innermost one of that name.
    pub(super) fn named(locals: &[Local], name: &str) -> Option<usize> {
        locals.iter().rposition(|local| local.name == name)
    }
}

/// What can be named behind a grouping.
pub(super) struct Grouped {
    /// How many keys there are.
    pub(super) keys: usize,
    /// The texts that mean a key, each with the first key that it means.
    named: HashMap<String, usize>,
    pub(super) interval: Option<u64>,
    /// The names that `lateral unnest` gives each event: locals of what aggregates take in, and of nothing else here.
    pub(super) unnested: Vec<Local>,
    pub(super) aggregates: Vec<Aggregate>,
    /// Each of them in full with its number, to tell whether two are the same.
    pub(super) shown: HashMap<String, usize>,
    /// The columns that have an alias, as `having` may name them.
    pub(super) aliases: HashMap<String, Expr>,
    /// The names of keys and columns that are instants.
    pub(super) instants: HashSet<String>,
    /// How many expressions the aliases that were named so far consist of.
    pub(super) from_aliases: usize,
}

impl Grouped {
    pub(super) fn new(
        keys: Vec<Vec<String>>,
        interval: Option<u64>,
        unnested: Vec<Local>,
        instants: HashSet<String>,
    ) -> Grouped {
        let mut named = HashMap::new();
        for (key, names) in keys.iter().enumerate() {
            for name in names {
                named.entry(name.clone()).or_insert(key);
            }
        }
        Grouped {
            keys: keys.len(),
            named,
            interval,
            unnested,
            aggregates: Vec::new(),
            shown: HashMap::new(),
            aliases: HashMap::new(),
            instants,
            from_aliases: 0,
        }
    }

    /// Of what kind the values of keys and aggregates are, where that is certain.
    pub(super) fn kinds(&self) -> Vec<Certain> {
        let aggregates = self.aggregates.iter();
        let aggregates = aggregates.map(|of| of.function.kind(of.argument.kind(&[])));
        std::iter::repeat_n(None, self.keys).chain(aggregates).collect()
    }

    /// The key that an expression repeats, or names.
    pub(super) fn key(&self, expr: &ParsedExpr) -> Option<usize> {
        self.named.get(&expr.to_string()).copied()
    }
}

impl<'q> Resolver<'q> {
    pub(super) fn new(text: &'q str, parameters: &'q Parameters, has_event: bool) -> Resolver<'q> {
        Resolver {
            text,
            parameters,
            has_event,
            names: Vec::new(),
            flat_names: 0,
            warnings: Vec::new(),
            uses_document: false,
            locals: Vec::new(),
            hidden: Vec::new(),
            wildcards: 0,
            patterns: 0,
            grouped: None,
        }
    }

    /// From here on the aliases of the columns can be named.
    pub(super) fn allow_keys(&mut self, aliases: HashMap<String, Expr>, instants: HashMap<String, bool>) {
        if let Some(grouped) = &mut self.grouped {
            // An alias goes before a key of its name.
            grouped.instants.retain(|name| !aliases.contains_key(name));
            grouped.aliases = aliases;
            let are_some = instants.into_iter().filter_map(|(name, is_instant)| is_instant.then_some(name));
            grouped.instants.extend(are_some);
        }
    }

    pub(super) fn needs_event(&self, span: Span) -> Result<(), Flaw> {
        if self.has_event {
            return Ok(());
        }
        let message = format!("`{}` is taken from an event, and this query reads none", span.text(self.text));
        Err(Flaw::new(span, message).hint(WITHOUT_STREAM))
    }

    pub(super) fn slot(&mut self, name: &str) -> usize {
        match self.names.iter().position(|known| **known == *name) {
            Some(slot) => slot,
            None => {
                self.names.push(name.into());
                self.names.len() - 1
            }
        }
    }

    /// The number of the innermost local of that name.
    pub(super) fn local(&self, name: &str) -> Option<usize> {
        Local::named(&self.locals, name)
    }

    pub(super) fn is_hidden(&self, name: &str) -> bool {
        Local::named(&self.hidden, name).is_some()
    }

    fn stored(&mut self, built_in: BuiltIn) -> usize {
        self.slot(built_in.key().unwrap_or_default())
    }

    fn whole(&mut self, computed: Computed) -> Computed {
        self.uses_document = true;
        computed
    }

    pub(super) fn built_in(&mut self, built_in: BuiltIn) -> Expr {
        Expr::BuiltIn(match built_in {
            BuiltIn::Timestamp => Computed::Timestamp,
            BuiltIn::Level => Computed::Level { level: self.stored(built_in) },
            BuiltIn::Message => {
                let message = self.stored(built_in);
                let template = self.stored(BuiltIn::MessageTemplate);
                let renderings = self.stored(BuiltIn::Renderings);
                // The template's holes may name any property.
                self.whole(Computed::Message { message, template, renderings })
            }
            BuiltIn::EventType => Computed::EventType {
                event_type: self.stored(built_in),
                template: self.stored(BuiltIn::MessageTemplate),
            },
            BuiltIn::Start => Computed::Start { start: self.stored(built_in) },
            BuiltIn::Elapsed => Computed::Elapsed { start: self.stored(BuiltIn::Start) },
            BuiltIn::Id => Computed::Id,
            BuiltIn::Arrived => Computed::Arrived,
            BuiltIn::Properties => self.whole(Computed::Properties),
            BuiltIn::Data => self.whole(Computed::Data),
            stored => return Expr::Slot(self.stored(stored)),
        })
    }
}
