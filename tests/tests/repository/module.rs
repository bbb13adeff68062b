//! Names and paths of one module.

use std::collections::{BTreeMap, BTreeSet};

use crate::tokens::{group, is_name};

/// Names of a path, in order.
pub(crate) type Names = Vec<String>;

/// A module: a file, or an inline module in it.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Names of the items that are defined here.
    pub(crate) defined: BTreeSet<String>,
    /// Modules in files of their own that are declared here.
    pub(crate) declared: BTreeSet<String>,
    /// Inline modules.
    pub(crate) inline: BTreeMap<String, Module>,
    /// Names that `use` makes available, with their paths.
    pub(crate) imported: BTreeMap<String, Names>,
    /// Modules all of whose names `use` makes available.
    pub(crate) globs: Vec<Names>,
    /// Paths of private `use` declarations and of the code.
    pub(crate) used: BTreeSet<Names>,
}

impl Module {
    /// Reads the items of a module.
    pub(crate) fn read(tokens: &[&str]) -> Self {
        let mut module = Self::default();
        let mut before = "";
        let mut rest = tokens;
        while let [first, ..] = rest {
            let count = module.read_next(rest, before);
            before = first;
            rest = &rest[count..];
        }
        module
    }

    /// Reads what begins at the first token, which follows `before`. Returns its number of tokens.
    fn read_next(&mut self, tokens: &[&str], before: &str) -> usize {
        match tokens {
            ["mod", name, ";", ..] => {
                self.declared.insert((*name).to_owned());
                3
            }
            ["mod", name, "{", ..] => {
                let end = 2 + group(&tokens[2..]);
                let inline = Self::read(&tokens[3..end - 1]);
                self.inline.insert((*name).to_owned(), inline);
                end
            }
            ["use", ..] => {
                let end = tokens.iter().position(|token| *token == ";");
                let end = end.unwrap_or(tokens.len());
                let is_private = before != "pub" && before != ")";
                self.read_use(&tokens[1..end], &[], is_private);
                end
            }
            ["const", "fn" | "unsafe" | "extern" | "{", ..] => 1,
            [
                "struct" | "enum" | "union" | "trait" | "fn" | "const" | "static" | "type",
                name,
                ..,
            ] if is_name(name) => {
                self.defined.insert((*name).to_owned());
                2
            }
            ["macro_rules", "!", name, ..] => {
                self.defined.insert((*name).to_owned());
                3
            }
            // The path of a visibility.
            ["(", "in", ..] => group(tokens),
            // A field or a method.
            [".", name, ..] if is_name(name) => 2,
            [first, ..] if is_name(first) => {
                let mut end = 1;
                while let ["::", name, ..] = &tokens[end..]
                    && is_name(name)
                {
                    end += 2;
                }
                let names = tokens[..end].iter().step_by(2);
                self.used
                    .insert(names.map(|&name| name.to_owned()).collect());
                end
            }
            _ => 1,
        }
    }

    /// Reads the tree of a `use` declaration below a prefix.
    fn read_use(&mut self, tokens: &[&str], prefix: &[String], is_private: bool) {
        let mut path = prefix.to_vec();
        let mut rest = tokens;
        while let [first, others @ ..] = rest {
            match *first {
                "::" => {}
                "self" if !path.is_empty() => {}
                "*" => {
                    self.globs.push(path.clone());
                    if is_private {
                        self.used.insert(path);
                    }
                    return;
                }
                "{" => {
                    for branch in branches(&others[..group(rest) - 2]) {
                        self.read_use(branch, &path, is_private);
                    }
                    return;
                }
                "as" => return self.import(others.concat(), path, is_private),
                name => path.push(name.to_owned()),
            }
            rest = others;
        }
        if let (Some(name), false) = (path.last().cloned(), tokens.is_empty()) {
            self.import(name, path, is_private);
        }
    }

    fn import(&mut self, name: String, path: Names, is_private: bool) {
        if is_private {
            self.used.insert(path.clone());
        }
        self.imported.insert(name, path);
    }
}

/// Returns the parts of a list between its commas.
fn branches<'t, 'a>(tokens: &'t [&'a str]) -> Vec<&'t [&'a str]> {
    let mut depth = 0;
    let parts = tokens.split(|token| {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && *token == ","
    });
    parts.collect()
}
