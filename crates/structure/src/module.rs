//! The modules of a crate as their text has them: what they define, what they `use`, and which paths they name.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a crate could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The file, relative to the folder of the crate's root.
    pub file: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.what)
    }
}

impl std::error::Error for Error {}

/// A module; the first of a list is the crate's root.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The number of the module around it; the root's is its own.
    pub(crate) parent: usize,
    /// The number of its file.
    pub(crate) file: usize,
    /// The names that it defines, but for modules.
    pub(crate) items: BTreeSet<String>,
    pub(crate) children: BTreeMap<String, usize>,
    pub(crate) uses: Vec<Use>,
    /// The paths of several segments that stand anywhere in it.
    pub(crate) paths: Vec<Vec<String>>,
}

/// One path of a `use`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) path: Vec<String>,
    /// The name that it gets here; none for a glob.
    pub(crate) name: Option<String>,
}

/// A crate as it is read: its files by name, and its modules.
#[derive(Debug)]
pub(crate) struct Tree<S> {
    pub(crate) files: Vec<String>,
    pub(crate) modules: Vec<Module>,
    source: S,
}

impl<S: Fn(&str) -> Option<String>> Tree<S> {
    /// Reads the root, and each file that it or another declares. `source` gives a file's text.
    pub(crate) fn read(root: &str, source: S) -> Result<Tree<S>, Error> {
        let mut tree = Tree { files: Vec::new(), modules: vec![Module::default()], source };
        let text = (tree.source)(root)
            .ok_or_else(|| Error { file: root.to_owned(), what: "there is no such file".to_owned() })?;
        tree.file(0, root.to_owned(), "", &text)?;
        Ok(tree)
    }

    /// Reads a module that is a file. Its children stand in `folder`, which is empty or ends in a slash.
    fn file(&mut self, module: usize, name: String, folder: &str, text: &str) -> Result<(), Error> {
        let wrong = |error: proc_macro2::LexError| Error { file: name.clone(), what: error.to_string() };
        let tokens: TokenStream = text.parse().map_err(wrong)?;
        self.modules[module].file = self.files.len();
        self.files.push(name);
        self.tokens(module, folder, tokens, true)
    }

    /// Reads tokens of a module; `outermost` ones may be items, others stand within braces of one.
    fn tokens(
        &mut self,
        module: usize,
        folder: &str,
        tokens: TokenStream,
        outermost: bool,
    ) -> Result<(), Error> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let word = match token {
                TokenTree::Group(group) => {
                    self.tokens(module, folder, group.stream(), false)?;
                    at += 1;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    at = self.attribute(module, &tokens, at)?;
                    continue;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    at += 1;
                    continue;
                }
                TokenTree::Ident(word) => word.to_string(),
            };
            let next = ident(tokens.get(at + 1));
            at = match (&*word, next) {
                ("use", _) if !is_punct(tokens.get(at + 1), '<') => {
                    let end = end_of(&tokens, at, ';');
                    use_tree(&tokens[at + 1..end], &[], &mut self.modules[module].uses);
                    end
                }
                ("mod", Some(name)) => self.child(module, folder, &name, tokens.get(at + 2), at + 3)?,
                ("macro_rules", None) => {
                    self.modules[module].items.extend(ident(tokens.get(at + 2)));
                    at + 3
                }
                ("fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static", Some(name))
                    if outermost && !(at > 0 && is_punct(tokens.get(at - 1), '*')) =>
                {
                    let is_name = !matches!(&*name, "fn" | "unsafe" | "async" | "extern" | "mut");
                    let mut_name = if name == "mut" { ident(tokens.get(at + 2)) } else { None };
                    self.modules[module].items.extend(is_name.then_some(name).or(mut_name));
                    at + 1
                }
                _ => self.path(module, &tokens, at),
            };
        }
        Ok(())
    }

    /// Reads a module that another declares, from its braces or from its file: where the tokens go on.
    fn child(
        &mut self,
        parent: usize,
        folder: &str,
        name: &str,
        body: Option<&TokenTree>,
        end: usize,
    ) -> Result<usize, Error> {
        let module = self.modules.len();
        let file = self.modules[parent].file;
        self.modules.push(Module { parent, file, ..Module::default() });
        self.modules[parent].children.insert(name.to_owned(), module);
        let inside = format!("{folder}{}/", name.trim_start_matches("r#"));
        if let Some(TokenTree::Group(body)) = body {
            self.tokens(module, &inside, body.stream(), true)?;
            return Ok(end);
        }
        let beside = format!("{}.rs", inside.trim_end_matches('/'));
        let below = format!("{inside}mod.rs");
        for path in [beside, below] {
            if let Some(text) = (self.source)(&path) {
                self.file(module, path, &inside, &text)?;
                return Ok(end);
            }
        }
        Err(Error { file: self.files[file].clone(), what: format!("the module `{name}` has no file") })
    }

    /// Passes over an attribute, and over what it belongs to where that is for tests only: where the tokens go on.
    fn attribute(&self, module: usize, tokens: &[TokenTree], at: usize) -> Result<usize, Error> {
        let at = at + 1 + usize::from(is_punct(tokens.get(at + 1), '!'));
        let Some(TokenTree::Group(group)) = tokens.get(at) else { return Ok(at) };
        let text: String = group.stream().into_iter().map(|token| token.to_string()).collect();
        if text.starts_with("path=") {
            let file = self.files[self.modules[module].file].clone();
            return Err(Error { file, what: "an attribute `path` is not understood here".to_owned() });
        }
        Ok(if text == "cfg(test)" { end_of_item(tokens, at + 1) } else { at + 1 })
    }

    /// Notes the path that begins with a word, if it has several segments and is not the end of another: where it ends.
    fn path(&mut self, module: usize, tokens: &[TokenTree], at: usize) -> usize {
        let mut path: Vec<String> = ident(tokens.get(at)).into_iter().collect();
        let is_rest =
            at > 0 && (is_punct(tokens.get(at - 1), '.') || is_path_sign(tokens, at.wrapping_sub(2)));
        let mut end = at + 1;
        while is_path_sign(tokens, end) {
            let Some(next) = ident(tokens.get(end + 2)) else { break };
            path.push(next);
            end += 3;
        }
        if path.len() > 1 && !is_rest {
            self.modules[module].paths.push(path);
        }
        end
    }
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether `::` stands there.
fn is_path_sign(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
        && is_punct(tokens.get(at + 1), ':')
}

/// The place of the next such sign, or the end.
fn end_of(tokens: &[TokenTree], from: usize, sign: char) -> usize {
    (from..tokens.len()).find(|at| is_punct(tokens.get(*at), sign)).unwrap_or(tokens.len())
}

/// The place behind an item, a statement, a field or an arm.
fn end_of_item(tokens: &[TokenTree], from: usize) -> usize {
    let mut at = from;
    // More attributes, and who may see it.
    while let Some(token) = tokens.get(at) {
        at += match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => 2,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => 1,
            TokenTree::Ident(word) if word == "pub" => 1,
            TokenTree::Ident(_) | TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => break,
        };
    }
    let first = ident(tokens.get(at)).unwrap_or_default();
    let has_body =
        ["fn", "mod", "struct", "enum", "union", "trait", "impl", "unsafe", "async", "extern", "macro_rules"];
    let is_item = has_body.contains(&&*first);
    // The braces of `use` and those of a constant's value do not end it.
    let goes_to_semicolon =
        ["use", "static", "type", "let"].contains(&&*first) || (first == "const" && !is_const_fn(tokens, at));
    while let Some(token) = tokens.get(at) {
        at += 1;
        let ends = match token {
            TokenTree::Punct(punct) => {
                punct.as_char() == ';' || (punct.as_char() == ',' && !is_item && !goes_to_semicolon)
            }
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !goes_to_semicolon,
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        if ends {
            break;
        }
    }
    at
}

fn is_const_fn(tokens: &[TokenTree], at: usize) -> bool {
    tokens[at..].iter().take(4).any(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))
}

/// Takes a tree such as `a::{b, c::{self, d as e}, f::*}` apart.
fn use_tree(tokens: &[TokenTree], prefix: &[String], uses: &mut Vec<Use>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Ident(word) if word == "as" => {
                name = ident(tokens.get(at + 1));
                at += 1;
            }
            TokenTree::Ident(word) => path.push(word.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '*' => {
                uses.push(Use { path, name: None });
                return;
            }
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in inside.split(|token| is_punct(Some(token), ',')).filter(|part| !part.is_empty()) {
                    use_tree(part, &path, uses);
                }
                return;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
    // `a::{self}` is `a`.
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = name.or_else(|| path.last().cloned());
    uses.push(Use { path, name });
}
