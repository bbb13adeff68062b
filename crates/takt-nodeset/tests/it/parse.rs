//! Models, nodes and DataTypes of documents.

use takt_nodeset::{
    Attributes, DataTypeDefinition, DataTypeField, NodeSet, NodeSetDocument, ParseLimits,
};
use takt_ua::enumerations::{NodeClass, StructureType};
use takt_ua::structures::{StructureDefinition, StructureField};
use takt_ua::{Guid, LocalizedText, NodeId, QualifiedName, Variant};

const MACHINE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd" xmlns:uax="http://opcfoundation.org/UA/2008/02/Types.xsd">
  <NamespaceUris>
    <Uri>http://example.org/machine</Uri>
    <Uri>http://example.org/units</Uri>
  </NamespaceUris>
  <Models>
    <Model ModelUri="http://example.org/machine" Version="1.2" PublicationDate="2024-05-01T00:00:00Z">
      <RequiredModel ModelUri="http://opcfoundation.org/UA/" Version="1.05" PublicationDate="2022-11-01T00:00:00Z"/>
      <RequiredModel ModelUri="http://example.org/units"/>
    </Model>
  </Models>
  <Aliases>
    <Alias Alias="Double">i=11</Alias>
    <Alias Alias="HasComponent">i=47</Alias>
    <Alias Alias="HasTypeDefinition">i=40</Alias>
    <Alias Alias="Unit">ns=2;s=Unit</Alias>
  </Aliases>
  <Extensions><Extension><other xmlns="urn:tool">anything</other></Extension></Extensions>
  <UAObjectType NodeId="ns=1;i=1" BrowseName="1:MachineType" IsAbstract="true">
    <DisplayName>Machine</DisplayName>
    <DisplayName Locale="de">Maschine</DisplayName>
    <Description>What cuts.</Description>
    <References>
      <Reference ReferenceType="HasComponent">ns=1;s=Speed</Reference>
      <Reference ReferenceType="i=45" IsForward="false">i=58</Reference>
    </References>
  </UAObjectType>
  <UAVariable NodeId="ns=1;s=Speed" BrowseName="1:Speed" ParentNodeId="ns=1;i=1" DataType="Double" AccessLevel="3"
              ValueRank="1" ArrayDimensions="2" MinimumSamplingInterval="10" Historizing="true">
    <Value><uax:ListOfDouble><uax:Double>1.5</uax:Double><uax:Double>-INF</uax:Double></uax:ListOfDouble></Value>
  </UAVariable>
  <UAVariable NodeId="ns=1;i=3" BrowseName="Plain" DataType="Unit"/>
  <UAMethod NodeId="ns=1;i=4" BrowseName="1:a:b" Executable="false" MethodDeclarationId="ns=1;i=40"/>
  <UAReferenceType NodeId="ns=1;i=5" BrowseName="1:Drives"><InverseName>DrivenBy</InverseName></UAReferenceType>
  <UAReferenceType NodeId="ns=1;i=6" BrowseName="1:Beside" Symmetric="true"/>
  <UAVariableType NodeId="ns=1;i=7" BrowseName="1:SpeedType" DataType="Double" ValueRank="-2"/>
  <UAView NodeId="ns=1;i=8" BrowseName="1:View" ContainsNoLoops="true" EventNotifier="1"/>
  <UAObject NodeId="ns=1;g=72962b91-fa75-4ae6-8d28-b404dc7daf63" BrowseName="1:Object" EventNotifier="5">
    <RolePermissions><RolePermission Permissions="33">i=15644</RolePermission></RolePermissions>
  </UAObject>
  <UADataType NodeId="ns=1;i=9" BrowseName="1:Point">
    <Definition Name="1:Point">
      <Field Name="X" DataType="Double"><Description>across</Description></Field>
      <Field Name="Y" DataType="Double" IsOptional="true" ValueRank="1" ArrayDimensions="0"/>
    </Definition>
  </UADataType>
  <UADataType NodeId="ns=1;i=10" BrowseName="1:State">
    <Definition Name="1:State"><Field Name="Off" Value="0"/><Field Name="On" Value="1"><DisplayName>an</DisplayName></Field></Definition>
  </UADataType>
</UANodeSet>"#;

fn machine() -> NodeSet {
    NodeSet::parse("machine.xml", MACHINE).unwrap()
}

#[test]
fn header() {
    let nodeset = machine();
    assert_eq!(
        nodeset.namespace_uris,
        [
            "http://opcfoundation.org/UA/",
            "http://example.org/machine",
            "http://example.org/units"
        ]
    );
    let [model] = nodeset.models.as_slice() else {
        panic!()
    };
    assert_eq!(
        (model.uri.as_str(), model.version.as_deref()),
        ("http://example.org/machine", Some("1.2"))
    );
    assert_eq!(model.publication_date, "2024-05-01T00:00:00Z".parse().ok());
    let [ua, units] = model.required_models.as_slice() else {
        panic!()
    };
    assert_eq!(
        (ua.uri.as_str(), ua.line),
        ("http://opcfoundation.org/UA/", 9)
    );
    assert_eq!(
        (units.uri.as_str(), units.publication_date),
        ("http://example.org/units", None)
    );
}

#[test]
fn nodes_of_every_class() {
    let nodeset = machine();
    let classes: Vec<_> = nodeset.nodes.iter().map(|node| node.class()).collect();
    use NodeClass as C;
    let expected = [
        C::ObjectType,
        C::Variable,
        C::Variable,
        C::Method,
        C::ReferenceType,
        C::ReferenceType,
        C::VariableType,
        C::View,
        C::Object,
        C::DataType,
        C::DataType,
    ];
    assert_eq!(classes, expected);

    let machine = &nodeset.nodes[0];
    assert_eq!(machine.node_id, NodeId::numeric(1, 1));
    assert_eq!(
        machine.browse_name,
        QualifiedName {
            namespace: 1,
            name: "MachineType".into()
        }
    );
    assert_eq!(machine.display_name[0], LocalizedText::from("Machine"));
    assert_eq!(machine.display_name[1].locale.as_str(), "de");
    assert_eq!(machine.description[0], LocalizedText::from("What cuts."));
    assert_eq!(
        machine.attributes,
        Attributes::ObjectType { is_abstract: true }
    );
    let [component, supertype] = machine.references.as_slice() else {
        panic!()
    };
    assert_eq!(
        (&component.reference_type, component.is_forward),
        (&NodeId::from(47), true)
    );
    assert_eq!(component.target, NodeId::string(1, "Speed"));
    assert_eq!(
        (&supertype.target, supertype.is_forward, supertype.line),
        (&NodeId::from(58), false, 26)
    );

    let Attributes::Variable(speed) = &nodeset.nodes[1].attributes else {
        panic!()
    };
    assert_eq!(
        (
            speed.access_level,
            speed.user_access_level,
            speed.historizing
        ),
        (3, 1, true)
    );
    assert_eq!(
        (speed.minimum_sampling_interval, speed.value.value_rank),
        (10.0, 1)
    );
    assert_eq!(
        (
            &speed.value.data_type,
            speed.value.array_dimensions.as_slice()
        ),
        (&NodeId::from(11), &[2][..])
    );
    assert_eq!(
        nodeset.nodes[1].value(),
        Some(&Variant::from(vec![1.5, f64::NEG_INFINITY]))
    );
    assert_eq!(nodeset.nodes[1].parent, Some(NodeId::numeric(1, 1)));

    let Attributes::Variable(plain) = &nodeset.nodes[2].attributes else {
        panic!()
    };
    assert_eq!((plain.access_level, plain.value.value_rank), (1, -1));
    assert_eq!(plain.value.data_type, NodeId::string(2, "Unit"));
    assert_eq!(
        nodeset.nodes[2].display_name,
        [LocalizedText::from("Plain")]
    );
    assert_eq!(
        nodeset.nodes[2].browse_name,
        QualifiedName {
            namespace: 0,
            name: "Plain".into()
        }
    );

    let declaration = Some(NodeId::numeric(1, 40));
    assert_eq!(
        nodeset.nodes[3].attributes,
        Attributes::Method {
            executable: false,
            declaration
        }
    );
    assert_eq!(nodeset.nodes[3].browse_name.name.as_str(), "a:b");
    let inverse_name = vec![LocalizedText::from("DrivenBy")];
    assert_eq!(
        nodeset.nodes[4].attributes,
        Attributes::ReferenceType {
            is_abstract: false,
            symmetric: false,
            inverse_name
        }
    );
    assert_eq!(
        nodeset.nodes[7].attributes,
        Attributes::View {
            contains_no_loops: true,
            event_notifier: 1
        }
    );
    assert_eq!(nodeset.nodes[8].role_permissions[0].permissions, 33);
    let guid: Guid = "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().unwrap();
    assert_eq!(nodeset.nodes[8].node_id, NodeId::guid(1, guid));
}

/// IsOptional says in some StructureTypes that a field allows subtypes, also in a subtype (OPC 10000-3, 8.51).
#[test]
fn a_subtype_of_a_structure_with_subtyped_values_has_no_optional_fields() {
    let nodeset = machine();
    let some = &nodeset.nodes[9].definition().unwrap().fields[0];
    let field = |name: &str, is_optional, allow_sub_types| DataTypeField {
        name: name.to_owned(),
        is_optional,
        allow_sub_types,
        ..some.clone()
    };
    let of = |fields: Vec<DataTypeField>, inherited: &StructureDefinition| {
        let definition = DataTypeDefinition {
            fields,
            ..DataTypeDefinition::default()
        };
        definition.to_structure(NodeId::NULL, NodeId::NULL, inherited)
    };
    let flags = |structure: &StructureDefinition| {
        let fields = structure.fields.iter();
        fields.map(|field| field.is_optional).collect::<Vec<_>>()
    };
    let none = StructureDefinition::default();
    let base = of(
        vec![field("any", false, true), field("x", false, false)],
        &none,
    );
    assert_eq!(
        base.structure_type,
        StructureType::StructureWithSubtypedValues
    );
    assert_eq!(flags(&base), [true, false]);
    let subtype = of(vec![field("y", false, false)], &base);
    assert_eq!(
        subtype.structure_type,
        StructureType::StructureWithSubtypedValues
    );
    assert_eq!(flags(&subtype), [true, false, false]);
    let optional = of(vec![field("o", true, false)], &none);
    let subtype = of(vec![field("y", false, false)], &optional);
    assert_eq!(
        subtype.structure_type,
        StructureType::StructureWithOptionalFields
    );
    assert_eq!(flags(&subtype), [true, false]);
}

#[test]
fn definitions() {
    let nodeset = machine();
    let point = nodeset.nodes[9].definition().unwrap();
    assert!(!point.is_enumeration());
    let inherited = StructureDefinition {
        fields: vec![StructureField {
            name: "Base".into(),
            ..Default::default()
        }],
        ..Default::default()
    };
    let structure = point.to_structure(NodeId::from(22), NodeId::numeric(1, 99), &inherited);
    assert_eq!(
        structure.structure_type,
        StructureType::StructureWithOptionalFields
    );
    let names: Vec<_> = structure
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(names, ["Base", "X", "Y"]);
    assert_eq!(
        (
            structure.fields[2].value_rank,
            structure.fields[2].is_optional
        ),
        (1, true)
    );
    assert_eq!(structure.fields[1].description.text.as_str(), "across");

    let state = nodeset.nodes[10].definition().unwrap();
    assert!(state.is_enumeration());
    let state = state.to_enumeration();
    assert_eq!(
        (state.fields[1].value, state.fields[1].name.as_str()),
        (1, "On")
    );
    assert_eq!(state.fields[0].display_name, LocalizedText::from("Off"));
    assert_eq!(state.fields[1].display_name, LocalizedText::from("an"));
}

#[test]
fn namespaces_are_mapped_wherever_they_occur() {
    let document = NodeSetDocument::parse("machine.xml", MACHINE, &ParseLimits::DEFAULT).unwrap();
    assert_eq!(document.models().len(), 1);
    let nodeset = document
        .nodes(|uri| if uri.ends_with("machine") { 7 } else { 300 })
        .unwrap();
    assert_eq!(nodeset.nodes[0].node_id, NodeId::numeric(7, 1));
    assert_eq!(nodeset.nodes[0].browse_name.namespace, 7);
    assert_eq!(
        nodeset.nodes[0].references[0].target,
        NodeId::string(7, "Speed")
    );
    assert_eq!(nodeset.nodes[0].references[1].target, NodeId::from(58));
    assert_eq!(
        nodeset.nodes[2].value_attributes().unwrap().data_type,
        NodeId::string(300, "Unit")
    );
}
