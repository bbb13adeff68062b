//! Instances of types of NodeSets: companion specifications such as Machinery, MachineTool and Robotics.

use std::sync::Arc;

use takt_cell::Cell;
use takt_ua::{ByteString, DateTime, ExtensionObject, Guid, LocalizedText, NodeId, Variant};

use super::method::Method;
use super::nodesets::TypeName;
use super::variable::Variable;

/// Value of a member of an [`Instance`]: a stored value, or a cell.
pub enum MemberValue {
    /// A value that the Provider stores.
    Stored(Variant),
    /// A cell that another thread sets.
    Cell(Arc<Cell>),
}

macro_rules! stored {
    ($($kind:ty),* $(,)?) => {
        $(impl From<$kind> for MemberValue {
            fn from(value: $kind) -> Self {
                Self::Stored(value.into())
            }
        })*
    };
}

stored!(
    Variant,
    bool,
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    f32,
    f64,
    &str,
    String,
    DateTime,
    Guid,
    ByteString,
    NodeId,
    LocalizedText,
    ExtensionObject,
    Vec<f64>,
    Vec<i32>,
    Vec<u32>,
    Vec<String>,
    Vec<ExtensionObject>,
);

impl From<Arc<Cell>> for MemberValue {
    fn from(cell: Arc<Cell>) -> Self {
        Self::Cell(cell)
    }
}

impl From<&Arc<Cell>> for MemberValue {
    fn from(cell: &Arc<Cell>) -> Self {
        Self::Cell(Arc::clone(cell))
    }
}

/// An instance of an ObjectType or VariableType of the [`NodeSets`](crate::NodeSets) of a Provider.
///
/// The instance has all mandatory members of the type, of its supertypes, interfaces and add-ins, and the optional members that
/// are bound or [wanted](Self::with). A member is named by its BrowsePath below the instance, without namespaces, for example
/// `Identification/SerialNumber`; the empty path is the instance itself. A mandatory Variable that is not bound has the value
/// that the type declares for it, or else the status `BadWaitingForInitialData`.
///
/// ```no_run
/// use std::sync::Arc;
/// use takt_app::{Cell, Instance, LocalizedText, NodeSets, Provider, TypeName, Variant};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// const MACHINE_TOOL: &str = "http://opcfoundation.org/UA/MachineTool/";
/// let nodesets = NodeSets::load([
///     "Opc.Ua.Di.NodeSet2.xml",
///     "Opc.Ua.IA.NodeSet2.xml",
///     "Opc.Ua.Machinery.NodeSet2.xml",
///     "Opc.Ua.MachineTool.NodeSet2.xml",
/// ])?;
/// let feed = Arc::new(Cell::of(&Variant::Double(100.0)));
/// let mill = Instance::new("Mill", TypeName::new(MACHINE_TOOL, "MachineToolType"))
///     .bind("Identification/SerialNumber", "4711")
///     .bind("Identification/Manufacturer", LocalizedText::from("Acme"))
///     .bind("Monitoring/MachineTool/FeedOverride", &feed)
///     .organized_in("Machines");
/// let provider = Provider::builder("Mill").nodesets(&nodesets).instance(mill).start()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Instance {
    pub(super) path: String,
    pub(super) type_name: TypeName,
    /// Bound Variables, with paths below the instance.
    pub(super) variables: Vec<Variable>,
    /// Bound Methods, with paths below the instance.
    pub(super) methods: Vec<Method>,
    /// Paths of optional members.
    pub(super) optional: Vec<String>,
    pub(super) placeholders: Vec<Placeholder>,
    /// Types of members that are narrower than the declared ones.
    pub(super) types: Vec<(String, TypeName)>,
    /// Folders below the Objects folder.
    pub(super) folders: Vec<String>,
}

/// Node in the place of a placeholder.
#[derive(Debug, Clone)]
pub(super) struct Placeholder {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) type_name: Option<TypeName>,
}

impl Instance {
    /// Creates an instance of a type; `path` is its place below the Provider's Object.
    pub fn new(path: impl Into<String>, type_name: TypeName) -> Self {
        Self {
            path: path.into(),
            type_name,
            variables: Vec::new(),
            methods: Vec::new(),
            optional: Vec::new(),
            placeholders: Vec::new(),
            types: Vec::new(),
            folders: Vec::new(),
        }
    }

    /// Sets the value of a member that is a Variable: a stored value or a cell.
    #[must_use]
    pub fn bind(self, path: &str, value: impl Into<MemberValue>) -> Self {
        self.variable(match value.into() {
            MemberValue::Stored(value) => Variable::stored(path, value),
            MemberValue::Cell(cell) => Variable::cell(path, &cell),
        })
    }

    /// Sets the value of a member that is a Variable, with the options of a [`Variable`]; its path is below the instance. Its
    /// texts and its type are those of the member.
    #[must_use]
    pub fn variable(mut self, variable: Variable) -> Self {
        self.variables.push(variable);
        self
    }

    /// Sets the handler of a member that is a Method; its path is below the instance. Its arguments are those of the member. A
    /// mandatory Method without a handler is that of the type, and cannot be called.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.methods.push(method);
        self
    }

    /// Adds an optional member that is not bound, with its mandatory members.
    #[must_use]
    pub fn with(mut self, path: impl Into<String>) -> Self {
        self.optional.push(path.into());
        self
    }

    /// Adds a member in the place of a placeholder, for example `Drill` for `Equipment/Tools/<Tool>`. Its path is then
    /// `Equipment/Tools/Drill`.
    #[must_use]
    pub fn placeholder(mut self, path: impl Into<String>, name: impl Into<String>) -> Self {
        self.placeholders.push(Placeholder {
            path: path.into(),
            name: name.into(),
            type_name: None,
        });
        self
    }

    /// Adds a member in the place of a placeholder as [`placeholder`](Self::placeholder) does, with a subtype of its type. A
    /// placeholder of an abstract type needs one.
    #[must_use]
    pub fn placeholder_of_type(
        mut self,
        path: impl Into<String>,
        name: impl Into<String>,
        type_name: TypeName,
    ) -> Self {
        self.placeholders.push(Placeholder {
            path: path.into(),
            name: name.into(),
            type_name: Some(type_name),
        });
        self
    }

    /// Gives a member a subtype of its declared type. A mandatory member of an abstract type needs one.
    #[must_use]
    pub fn member_type(mut self, path: impl Into<String>, type_name: TypeName) -> Self {
        self.types.push((path.into(), type_name));
        self
    }

    /// Shows the instance in a folder of a NodeSet as well, for example in `Machines` of Machinery: the path of an Object below the
    /// Objects folder.
    #[must_use]
    pub fn organized_in(mut self, folder: impl Into<String>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Returns the paths of members that the application chose.
    pub(super) fn wanted(&self) -> Vec<&str> {
        let variables = self.variables.iter().map(|variable| variable.path.as_str());
        let methods = self.methods.iter().map(|method| method.path.as_str());
        let optional = self.optional.iter().map(String::as_str);
        let placeholders = self.placeholders.iter();
        let placeholders = placeholders.map(|placeholder| placeholder.path.as_str());
        let types = self.types.iter().map(|(path, _)| path.as_str());
        variables
            .chain(methods)
            .chain(optional)
            .chain(placeholders)
            .chain(types)
            .collect()
    }
}
