//! Declarations of a Provider, and their checks before it opens anything.

use std::collections::BTreeSet;

use takt_ua::BuiltInType;

use super::alarm::LimitAlarm;
use super::alarm_nodes;
use super::error::{DeclarationMistake, ProviderError};
use super::instance::Instance;
use super::method::Method;
use super::nodesets::NodeSets;
use super::object::Object;
use super::own_type::{self, OwnType};
use super::variable::{Source, Variable};

/// Names of the nodes that each Provider has at the registry or at its own endpoints. Clients would find them instead of those
/// of the application.
const RESERVED: [&str; 4] = [
    "Available",
    "Revision",
    "SemanticRegistry",
    "ServerEndpoint",
];

/// Everything that a Provider offers.
#[derive(Clone, Default)]
pub(super) struct Declarations {
    /// DataTypes, each after those of its fields.
    pub(super) data_types: Vec<OwnType>,
    pub(super) objects: Vec<Object>,
    pub(super) variables: Vec<Variable>,
    pub(super) methods: Vec<Method>,
    /// NodeSets with the types of the instances.
    pub(super) nodesets: Option<NodeSets>,
    pub(super) instances: Vec<Instance>,
    pub(super) alarms: Vec<LimitAlarm>,
}

impl Declarations {
    /// Checks all declarations: paths, and the Variables themselves. Sorts the Objects: parents before children.
    pub(super) fn check(&mut self) -> Result<(), ProviderError> {
        own_type::check(&self.data_types)?;
        check_paths(self)?;
        self.check_data_types()?;
        for variable in &self.variables {
            check_variable(variable).map_err(|mistake| ProviderError::Declaration {
                path: variable.path.clone(),
                mistake,
            })?;
        }
        for alarm in &self.alarms {
            self.check_alarm(alarm)
                .map_err(|mistake| ProviderError::Declaration {
                    path: alarm.path.clone(),
                    mistake,
                })?;
        }
        for instance in &self.instances {
            for variable in &instance.variables {
                // Rank and type are those of the member, which are checked with it.
                let mut alone = variable.clone();
                if matches!(alone.source, Source::Callback(_)) {
                    alone.has_plain_callback = false;
                }
                check_variable(&alone).map_err(|mistake| ProviderError::Declaration {
                    path: format!("{}/{}", instance.path, variable.path),
                    mistake,
                })?;
            }
        }
        // Parents before children.
        self.objects.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }

    fn check_alarm(&self, alarm: &LimitAlarm) -> Result<(), DeclarationMistake> {
        let mut variables = self.variables.iter();
        let variable = variables.find(|variable| variable.path == alarm.variable);
        let variable =
            variable.ok_or_else(|| DeclarationMistake::NoVariable(alarm.variable.clone()))?;
        if !is_number(variable.built_in_type) {
            return Err(DeclarationMistake::NotANumber(variable.built_in_type));
        }
        if alarm
            .max_time_shelved
            .is_some_and(|longest| longest.is_zero() || longest > alarm_nodes::LONGEST_SHELVED)
        {
            return Err(DeclarationMistake::ShelvingTime);
        }
        match alarm.limits.is_valid() {
            true => Ok(()),
            false => Err(DeclarationMistake::Limits),
        }
    }

    /// Checks that the Provider's own DataTypes of Variables and arguments are declared.
    fn check_data_types(&self) -> Result<(), ProviderError> {
        let known = self.data_types.iter();
        let known = known.map(|own| own.data_type().path().to_owned()).collect();
        let variables = self.variables.iter();
        let variables = variables.map(|variable| (&variable.path, &variable.data_type));
        let arguments = self.methods.iter().flat_map(|method| {
            let arguments = method.inputs.iter().chain(&method.outputs);
            arguments.map(|argument| (&method.path, &argument.data_type))
        });
        for (path, data_type) in variables.chain(arguments) {
            own_type::check_known(&known, data_type).map_err(|mistake| {
                ProviderError::Declaration {
                    path: path.clone(),
                    mistake,
                }
            })?;
        }
        Ok(())
    }
}

/// Checks that every path is well-formed, unique and not reserved, and that only Objects are folders of other paths.
fn check_paths(declarations: &Declarations) -> Result<(), ProviderError> {
    let objects = declarations
        .objects
        .iter()
        .map(|object| object.path.as_str());
    let variables = declarations.variables.iter();
    let variables = variables.map(|variable| variable.path.as_str());
    let methods = declarations
        .methods
        .iter()
        .map(|method| method.path.as_str());
    let instances = declarations.instances.iter();
    let instances = instances.map(|instance| instance.path.as_str());
    let alarms = declarations.alarms.iter().map(|alarm| alarm.path.as_str());
    let leaves = variables.chain(methods).chain(instances).chain(alarms);
    let leaves: Vec<&str> = leaves.collect();
    let paths: Vec<&str> = leaves.iter().copied().chain(objects).collect();
    let mut folders = BTreeSet::new();
    for path in &paths {
        let well_formed = path
            .split('/')
            // Identifiers of Properties and DataTypes have a `#`.
            .all(|segment| !segment.is_empty() && !segment.contains(['#', ':']));
        if !well_formed {
            return Err(ProviderError::Path((*path).to_owned()));
        }
        let first = path.split('/').next().unwrap_or_default();
        if RESERVED.contains(&first) {
            return Err(ProviderError::Reserved((*path).to_owned()));
        }
        let mut folder = *path;
        while let Some((parent, _)) = folder.rsplit_once('/') {
            folders.insert(parent);
            folder = parent;
        }
    }
    let mut seen = BTreeSet::new();
    // Nothing can be below a leaf.
    let folder = leaves.iter().find(|path| folders.contains(**path));
    match folder.or_else(|| paths.iter().find(|path| !seen.insert(**path))) {
        Some(path) => Err(ProviderError::Duplicate((*path).to_owned())),
        None => Ok(()),
    }
}

fn check_variable(variable: &Variable) -> Result<(), DeclarationMistake> {
    let declared = variable.built_in_type;
    if let Some(expected) = variable.data_type.built_in_type()
        && expected != declared
        && ![expected, declared].contains(&BuiltInType::Variant)
    {
        return Err(DeclarationMistake::DataType { expected, declared });
    }
    if (variable.range.is_some() || variable.unit.is_some()) && !is_number(declared) {
        return Err(DeclarationMistake::NotANumber(declared));
    }
    if !variable.states.is_empty() && !is_unsigned(declared) {
        return Err(DeclarationMistake::NotUnsigned(declared));
    }
    let is_array = match &variable.source {
        Source::Stored(initial) => Some(initial.is_array()),
        Source::Cell(cell) => cell.shape().is_array(),
        Source::Callback(_) => None,
    };
    if let Some(is_array) = is_array {
        check_rank(variable, is_array)?;
    }
    let is_published = match &variable.source {
        Source::Cell(cell) => cell.location().is_some(),
        Source::Stored(_) | Source::Callback(_) => variable.published.is_some(),
    };
    // No server checks Permissions where clients read the memory themselves.
    if is_published && !variable.access.is_default() {
        return Err(DeclarationMistake::PublishedWithPermissions);
    }
    // A callback for which one type is declared shows it with its first value.
    let Source::Callback(source) = &variable.source else {
        return Ok(());
    };
    if !variable.has_plain_callback {
        return Ok(());
    }
    let Some(value) = source.read().value else {
        return Ok(());
    };
    match value.built_in_type() {
        Some(returned) if returned != declared && declared != BuiltInType::Variant => {
            Err(DeclarationMistake::Type { declared, returned })
        }
        Some(_) => check_rank(variable, value.is_array()),
        None => Ok(()),
    }
}

fn check_rank(variable: &Variable, is_array: bool) -> Result<(), DeclarationMistake> {
    match (variable.value_rank >= 1, is_array) {
        (true, false) => Err(DeclarationMistake::Scalar),
        (false, true) => Err(DeclarationMistake::Array),
        _ => Ok(()),
    }
}

fn is_number(built_in_type: BuiltInType) -> bool {
    use BuiltInType as B;
    is_unsigned(built_in_type)
        || matches!(
            built_in_type,
            B::SByte | B::Int16 | B::Int32 | B::Int64 | B::Float | B::Double | B::Variant
        )
}

fn is_unsigned(built_in_type: BuiltInType) -> bool {
    use BuiltInType as B;
    matches!(built_in_type, B::Byte | B::UInt16 | B::UInt32 | B::UInt64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use takt_cell::Cell;
    use takt_ua::Variant;

    use super::*;
    use crate::Unit;

    fn paths(paths: &[&str]) -> Result<(), ProviderError> {
        declared(paths, &[])
    }

    fn declared(variables: &[&str], objects: &[&str]) -> Result<(), ProviderError> {
        let variables = variables.iter();
        let mut declarations = Declarations {
            variables: variables
                .map(|path| Variable::stored(*path, 0_u32))
                .collect(),
            objects: objects.iter().map(|path| Object::new(*path)).collect(),
            ..Declarations::default()
        };
        declarations.check()
    }

    fn mistake(variable: Variable) -> Option<DeclarationMistake> {
        let mut declarations = Declarations {
            variables: vec![variable],
            ..Declarations::default()
        };
        match declarations.check() {
            Ok(()) => None,
            Err(ProviderError::Declaration { mistake, .. }) => Some(mistake),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn paths_are_well_formed_and_unique() {
        assert!(paths(&["A", "B/C", "B/D", "B/Available"]).is_ok());
        let error = paths(&["A", "A"]);
        assert!(matches!(error, Err(ProviderError::Duplicate(_))));
        let error = paths(&["B", "B/C"]);
        assert!(matches!(error, Err(ProviderError::Duplicate(_))));
        for path in ["", "/A", "A/", "A//B", "A#B", "1:A"] {
            let error = paths(&[path]);
            assert!(matches!(error, Err(ProviderError::Path(_))), "{path}");
        }
        for path in [
            "Available",
            "ServerEndpoint",
            "SemanticRegistry",
            "Revision/A",
        ] {
            let error = paths(&[path]);
            assert!(matches!(error, Err(ProviderError::Reserved(_))), "{path}");
        }
    }

    #[test]
    fn objects_are_folders_and_nothing_else() {
        assert!(declared(&["A/B/C"], &["A/B", "A", "D"]).is_ok());
        for (variables, objects) in [
            (&["A"], &["A"][..]),
            (&["A"], &["A/B"]),
            (&["A"], &["B", "B"]),
        ] {
            let error = declared(variables, objects);
            assert!(
                matches!(error, Err(ProviderError::Duplicate(_))),
                "{objects:?}"
            );
        }
        let error = declared(&[], &["Available"]);
        assert!(matches!(error, Err(ProviderError::Reserved(_))));
    }

    #[test]
    fn a_callback_returns_its_declared_type() {
        let double = |read: fn() -> Variant| Variable::callback("V", BuiltInType::Double, read);
        assert_eq!(mistake(double(|| 1.0_f64.into())), None);
        assert_eq!(
            mistake(double(|| 1_i32.into())),
            Some(DeclarationMistake::Type {
                declared: BuiltInType::Double,
                returned: BuiltInType::Int32,
            })
        );
        let array = |read| double(read).array(3);
        assert_eq!(mistake(array(|| vec![1.0_f64].into())), None);
        assert_eq!(
            mistake(array(|| 1.0_f64.into())),
            Some(DeclarationMistake::Scalar)
        );
        assert_eq!(
            mistake(double(|| vec![1.0_f64].into())),
            Some(DeclarationMistake::Array)
        );
    }

    #[test]
    fn arrays_are_declared_for_arrays_only() {
        let scalar = Variable::stored("V", 1_u32).array(5);
        assert_eq!(mistake(scalar), Some(DeclarationMistake::Scalar));
        let cell = Arc::new(Cell::of(&Variant::Double(0.0)));
        let cell = Variable::cell("V", &cell).array(5);
        assert_eq!(mistake(cell), Some(DeclarationMistake::Scalar));
        assert_eq!(mistake(Variable::stored("V", vec![1_u32]).array(5)), None);
        assert_eq!(mistake(Variable::stored("V", vec![1_u32])), None);
    }

    #[test]
    fn published_values_have_no_permissions() {
        let mistaken = Some(DeclarationMistake::PublishedWithPermissions);
        let published = || Variable::stored("V", 1_u32).publish_current(9);
        assert_eq!(mistake(published()), None);
        assert_eq!(mistake(published().encrypted_only()), mistaken);
        let engineer = takt_space::UserRole::Engineer;
        assert_eq!(mistake(published().permissions(engineer, 1)), mistaken);
        let private = Variable::stored("V", 1_u32).permissions(engineer, 1);
        assert_eq!(mistake(private), None);
    }

    #[test]
    fn units_ranges_and_states_are_for_numbers() {
        let text = || Variable::stored("V", "text");
        let not_a_number = Some(DeclarationMistake::NotANumber(BuiltInType::String));
        assert_eq!(mistake(text().range(0.0..1.0)), not_a_number);
        assert_eq!(mistake(text().unit(Unit::WATT)), not_a_number);
        assert_eq!(mistake(Variable::stored("V", 1_i16).range(0.0..1.0)), None);
        let states = |variable: Variable| mistake(variable.states(["Off", "On"]));
        assert_eq!(states(Variable::stored("V", 1_u32)), None);
        assert_eq!(
            states(Variable::stored("V", 1_i32)),
            Some(DeclarationMistake::NotUnsigned(BuiltInType::Int32))
        );
    }
}
