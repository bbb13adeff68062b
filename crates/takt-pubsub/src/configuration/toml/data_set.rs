//! PublishedDataSets (OPC 10000-14, 6.2.3), and SubscribedDataSets (OPC 10000-14, 6.2.10).

use serde::{Deserialize, Serialize};
use takt_ua::structures::{
    ConfigurationVersionDataType, DataSetMetaDataType, EnumDescription, PublishedDataItemsDataType,
    PublishedDataSetDataType, SimpleTypeDescription, StandaloneSubscribedDataSetDataType,
    StructureDescription, TargetVariablesDataType,
};
use takt_ua::{ExtensionObject, Guid, UaString};
use toml::Spanned;

use super::field::Field;
use super::problem::Problem;
use super::property::{Property, read_properties, write_properties};
use super::scalar::{
    Localized, Text, is_default, read_string, read_strings, write_string, write_strings,
};
use super::table::table;
use super::value::{AnyStructure, StructureTable, read_structures, write_structures};

type Fields = Vec<Spanned<Field>>;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Version {
    major_version: u32,
    minor_version: u32,
}

/// Keys of metadata beside its fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct MetaData {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    description: Localized,
    #[serde(skip_serializing_if = "is_default")]
    data_set_class_id: Text<Guid>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    configuration_version: Version,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    structure_data_types: Vec<StructureTable<StructureDescription>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enum_data_types: Vec<StructureTable<EnumDescription>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    simple_data_types: Vec<StructureTable<SimpleTypeDescription>>,
}

impl MetaData {
    /// Returns the metadata. `name` is the default of its name.
    fn read(
        said: Option<Self>,
        fields: &[Spanned<Field>],
        usual_name: &UaString,
    ) -> Result<DataSetMetaDataType, Problem> {
        let name = match &said {
            None => usual_name.clone(),
            Some(said) => read_string(said.name.clone()),
        };
        let said = said.unwrap_or_default();
        Ok(DataSetMetaDataType {
            namespaces: read_strings(said.namespaces),
            structure_data_types: read_structures(said.structure_data_types),
            enum_data_types: read_structures(said.enum_data_types),
            simple_data_types: read_structures(said.simple_data_types),
            name,
            description: said.description.0,
            fields: fields
                .iter()
                .map(|field| field.get_ref().meta_data())
                .collect::<Result<_, _>>()?,
            data_set_class_id: said.data_set_class_id.0,
            configuration_version: ConfigurationVersionDataType {
                major_version: said.configuration_version.major_version,
                minor_version: said.configuration_version.minor_version,
            },
        })
    }

    fn write(meta_data: &DataSetMetaDataType, usual_name: &UaString) -> (Option<Self>, Vec<Field>) {
        let version = &meta_data.configuration_version;
        let written = Self {
            name: write_string(&meta_data.name),
            description: Localized(meta_data.description.clone()),
            data_set_class_id: Text(meta_data.data_set_class_id),
            namespaces: write_strings(&meta_data.namespaces),
            configuration_version: Version {
                major_version: version.major_version,
                minor_version: version.minor_version,
            },
            structure_data_types: write_structures(&meta_data.structure_data_types),
            enum_data_types: write_structures(&meta_data.enum_data_types),
            simple_data_types: write_structures(&meta_data.simple_data_types),
        };
        let usual = Self {
            name: write_string(usual_name),
            ..Self::default()
        };
        let fields = meta_data.fields.iter().map(Field::of_meta_data);
        ((written != usual).then_some(written), fields.collect())
    }
}

fn placed(fields: Vec<Field>) -> Fields {
    fields
        .into_iter()
        .map(|field| Spanned::new(0..0, field))
        .collect()
}

fn check(fields: &[Spanned<Field>]) -> Result<(), Problem> {
    let stray = |field: &Spanned<Field>| {
        let message = field.get_ref().stray_key()?;
        Some(Problem::new(message, field.span()))
    };
    fields.iter().find_map(stray).map_or(Ok(()), Err)
}

table! {
    /// PublishedDataSet. Fields that have a published_variable come first.
    PublishedDataSet {
        name: Option<String>,
        data_set_folder: Vec<String>,
        data_set_meta_data: Option<MetaData>,
        data_set_source: Option<Spanned<AnyStructure>>,
        fields: Fields,
        extension_fields: Vec<Property>,
    }
}

impl PublishedDataSet {
    pub(super) fn read(self) -> Result<PublishedDataSetDataType, Problem> {
        check(&self.fields)?;
        let name = read_string(self.name);
        let mut variables = Vec::new();
        for (index, field) in self.fields.iter().enumerate() {
            let Some(id) = &field.get_ref().published_variable else {
                continue;
            };
            if variables.len() < index {
                let message = "fields with a published_variable come first, the others after them (6.2.3.7.2)";
                return Err(Problem::new(message, field.span()));
            }
            variables.push(field.get_ref().variable(&id.0)?);
        }
        let data_set_source = match (self.data_set_source, variables.is_empty()) {
            (None, true) => ExtensionObject::NULL,
            (None, false) => ExtensionObject::from_structure(&PublishedDataItemsDataType {
                published_data: variables,
            }),
            (Some(source), true) => source.into_inner().0,
            (Some(source), false) => {
                let message =
                    "there is a published_variable already: only one of both can be the source";
                return Err(Problem::new(message, source.span()));
            }
        };
        Ok(PublishedDataSetDataType {
            data_set_folder: read_strings(self.data_set_folder),
            data_set_meta_data: MetaData::read(self.data_set_meta_data, &self.fields, &name)?,
            extension_fields: read_properties(self.extension_fields),
            data_set_source,
            name,
        })
    }

    pub(super) fn write(data_set: &PublishedDataSetDataType) -> Self {
        let (meta_data, mut fields) = MetaData::write(&data_set.data_set_meta_data, &data_set.name);
        let source = &data_set.data_set_source;
        let items: Option<PublishedDataItemsDataType> = source.decode_as().ok();
        let plain = Self {
            name: write_string(&data_set.name),
            data_set_folder: write_strings(&data_set.data_set_folder),
            data_set_meta_data: meta_data,
            data_set_source: None,
            fields: placed(fields.clone()),
            extension_fields: write_properties(&data_set.extension_fields),
        };
        for (field, variable) in fields
            .iter_mut()
            .zip(items.iter().flat_map(|it| &it.published_data))
        {
            field.set_variable(variable);
        }
        let short = Self {
            fields: placed(fields),
            ..plain.clone()
        };
        // The keys of fields cannot express every source.
        match short.clone().read() {
            Ok(read) if read.data_set_source == *source => short,
            _ => Self {
                data_set_source: Some(Spanned::new(0..0, AnyStructure(source.clone()))),
                ..plain
            },
        }
    }
}

/// Metadata of a received DataSet, and its targets.
#[derive(Debug, Clone)]
pub(super) struct Subscribed {
    pub(super) meta_data: Option<MetaData>,
    pub(super) fields: Fields,
    pub(super) subscribed_data_set: Option<Spanned<AnyStructure>>,
}

impl Subscribed {
    pub(super) fn read(
        mut self,
        usual_name: &UaString,
    ) -> Result<(DataSetMetaDataType, ExtensionObject), Problem> {
        check(&self.fields)?;
        let mut targets = Vec::new();
        for (index, field) in self.fields.iter_mut().enumerate() {
            let Some(id) = field.get_ref().target_node_id.clone() else {
                continue;
            };
            // Targets name their fields by id; a target without an id belongs to the field at its position.
            if targets.len() != index {
                field.get_mut().identify(index);
            }
            targets.push(field.get_ref().target(&id.0)?);
        }
        let subscribed = match (self.subscribed_data_set, targets.is_empty()) {
            (None, true) => ExtensionObject::NULL,
            (None, false) => ExtensionObject::from_structure(&TargetVariablesDataType {
                target_variables: targets,
            }),
            (Some(subscribed), true) => subscribed.into_inner().0,
            (Some(subscribed), false) => {
                let message =
                    "there is a target_node_id already: only one of both can be the target";
                return Err(Problem::new(message, subscribed.span()));
            }
        };
        Ok((
            MetaData::read(self.meta_data, &self.fields, usual_name)?,
            subscribed,
        ))
    }

    pub(super) fn write(
        meta_data: &DataSetMetaDataType,
        subscribed: &ExtensionObject,
        usual_name: &UaString,
    ) -> Self {
        let (said, mut fields) = MetaData::write(meta_data, usual_name);
        let plain = Self {
            meta_data: said,
            fields: placed(fields.clone()),
            subscribed_data_set: None,
        };
        let targets: Option<TargetVariablesDataType> = subscribed.decode_as().ok();
        for (position, target) in targets
            .iter()
            .flat_map(|it| &it.target_variables)
            .enumerate()
        {
            let id = target.data_set_field_id;
            let by_id = meta_data
                .fields
                .iter()
                .position(|field| field.data_set_field_id == id);
            let index = if id == Guid::default() {
                Some(position)
            } else {
                by_id
            };
            if let Some(field) = index.and_then(|index| fields.get_mut(index)) {
                field.set_target(target);
            }
        }
        let short = Self {
            fields: placed(fields),
            ..plain.clone()
        };
        // The keys of fields cannot express every target.
        match short.clone().read(usual_name) {
            Ok((_, read)) if read == *subscribed => short,
            _ => Self {
                subscribed_data_set: Some(Spanned::new(0..0, AnyStructure(subscribed.clone()))),
                ..plain
            },
        }
    }
}

table! {
    /// Standalone SubscribedDataSet.
    StandaloneSubscribedDataSet {
        name: Option<String>,
        data_set_folder: Vec<String>,
        data_set_meta_data: Option<MetaData>,
        subscribed_data_set: Option<Spanned<AnyStructure>>,
        fields: Fields,
    }
}

impl StandaloneSubscribedDataSet {
    pub(super) fn read(self) -> Result<StandaloneSubscribedDataSetDataType, Problem> {
        let name = read_string(self.name);
        let subscribed = Subscribed {
            meta_data: self.data_set_meta_data,
            fields: self.fields,
            subscribed_data_set: self.subscribed_data_set,
        };
        let (data_set_meta_data, subscribed_data_set) = subscribed.read(&name)?;
        Ok(StandaloneSubscribedDataSetDataType {
            name,
            data_set_folder: read_strings(self.data_set_folder),
            data_set_meta_data,
            subscribed_data_set,
        })
    }

    pub(super) fn write(data_set: &StandaloneSubscribedDataSetDataType) -> Self {
        let meta_data = &data_set.data_set_meta_data;
        let subscribed =
            Subscribed::write(meta_data, &data_set.subscribed_data_set, &data_set.name);
        Self {
            name: write_string(&data_set.name),
            data_set_folder: write_strings(&data_set.data_set_folder),
            data_set_meta_data: subscribed.meta_data,
            subscribed_data_set: subscribed.subscribed_data_set,
            fields: subscribed.fields,
        }
    }
}
