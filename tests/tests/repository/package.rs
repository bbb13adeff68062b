//! The modules of one package, and which of their files use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::module::{Module, Names};
use crate::tokens::tokens;

/// Files of a package, with the files that each uses and the paths that name their items.
pub(crate) type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// Limit for the number of `use` declarations that lead to one item.
const MAX_IMPORTS: usize = 16;

/// The modules below `lib.rs` or `main.rs`, with their files.
#[derive(Default)]
pub(crate) struct Package {
    modules: BTreeMap<Names, (PathBuf, Module)>,
}

impl Package {
    /// Reads all files below a root. `open` returns the text of a file, if it exists.
    pub(crate) fn read(root: &Path, open: impl Fn(&Path) -> Option<String>) -> Self {
        let mut package = Self::default();
        let mut files = vec![(Names::new(), root.to_owned())];
        while let Some((path, file)) = files.pop() {
            let text = open(&file);
            assert!(text.is_some(), "{} is missing", file.display());
            let module = Module::read(&tokens(&text.unwrap()));
            package.insert(path, &file, module, &mut |path| {
                let folder = root.with_file_name("");
                let stem: PathBuf = path.iter().collect();
                let file = folder.join(stem.with_extension("rs"));
                let exists = open(&file).is_some();
                let file = if exists {
                    file
                } else {
                    folder.join(stem).join("mod.rs")
                };
                files.push((path, file));
            });
        }
        package
    }

    /// Adds a module with its inline modules. Passes the paths of declared modules to `declare`.
    fn insert(
        &mut self,
        path: Names,
        file: &Path,
        mut module: Module,
        declare: &mut impl FnMut(Names),
    ) {
        let child = |name: &String| [path.as_slice(), std::slice::from_ref(name)].concat();
        for name in &module.declared {
            declare(child(name));
        }
        for (name, inline) in std::mem::take(&mut module.inline) {
            self.insert(child(&name), file, inline, declare);
        }
        self.modules.insert(path, (file.to_owned(), module));
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> BTreeSet<&Path> {
        let files = self.modules.values().map(|(file, _)| file.as_path());
        files.collect()
    }

    /// Returns the uses between the files.
    pub(crate) fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (path, (file, module)) in &self.modules {
            for used in &module.used {
                // A name alone may be that of a variable.
                if used.len() == 1 && !module.imported.contains_key(&used[0]) {
                    continue;
                }
                let Some(found) = self.find(path, used, MAX_IMPORTS) else {
                    continue;
                };
                let (target, _) = &self.modules[&found];
                if target != file {
                    let of_file = uses.entry(file.clone()).or_default();
                    let names = of_file.entry(target.clone()).or_default();
                    names.insert(used.join("::"));
                }
            }
        }
        uses
    }

    /// Returns the module that defines the item of a path in the module `from`; `None` if it is not of this package.
    fn find(&self, from: &[String], path: &[String], imports: usize) -> Option<Names> {
        let mut module = from.to_vec();
        let mut rest = path;
        while let [first, others @ ..] = rest {
            match first.as_str() {
                "crate" => module.clear(),
                "super" => drop(module.pop()),
                "self" => {}
                _ => break,
            }
            rest = others;
        }
        // The path of a visibility, such as `pub(crate)`.
        if rest.is_empty() {
            return None;
        }
        let mut is_of_package = rest.len() < path.len();
        while let [name, others @ ..] = rest {
            let child = [module.as_slice(), std::slice::from_ref(name)].concat();
            if self.modules.contains_key(&child) {
                module = child;
                rest = others;
                is_of_package = true;
                continue;
            }
            let (_, content) = &self.modules[&module];
            if content.defined.contains(name) {
                return Some(module);
            }
            let imports = imports.checked_sub(1)?;
            if let Some(import) = content.imported.get(name) {
                let import = [import.as_slice(), others].concat();
                // `use name;` for an external crate or a macro.
                return (import != rest)
                    .then(|| self.find(&module, &import, imports))
                    .flatten();
            }
            let by_glob = content.globs.iter().find_map(|glob| {
                let import = [glob.as_slice(), rest].concat();
                self.find(&module, &import, imports)
            });
            // Macros define the items that are not found.
            return by_glob.or(is_of_package.then_some(module));
        }
        Some(module)
    }
}
