//! Options that the user has given: some belong to one kind of input, and must not be ignored with another one.

use std::collections::BTreeSet;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};

use crate::explain;

/// Options on the command line, without those that have their default value.
#[derive(Debug, Default)]
pub struct Given(BTreeSet<String>);

impl Given {
    /// Returns the options of the command that runs.
    pub fn of(mut matches: &ArgMatches) -> Self {
        while let Some((_, below)) = matches.subcommand() {
            matches = below;
        }
        let given = matches
            .ids()
            .filter(|id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine));
        Self(given.map(|id| id.as_str().to_owned()).collect())
    }

    /// Refuses the options of `Group`, apart from those named in `others`: the input `has_none` of them.
    ///
    /// # Errors
    /// One of them is given.
    pub fn refuse<Group: Args>(
        &self,
        others: &[&str],
        has_none: impl Fn(&str) -> (String, String),
    ) -> miette::Result<()> {
        let group = Group::augment_args(Command::new(""));
        let mut arguments = group.get_arguments().filter(|argument| {
            let name = argument.get_long().unwrap_or_default();
            !others.contains(&name) && self.0.contains(argument.get_id().as_str())
        });
        match arguments.find_map(clap::Arg::get_long) {
            None => Ok(()),
            Some(name) => {
                let (error, help) = has_none(&format!("--{name}"));
                Err(explain::with_help(error, help))
            }
        }
    }

    /// Returns true if this option is given, named as the field of its arguments.
    pub fn has(&self, field: &str) -> bool {
        self.0.contains(field)
    }
}
