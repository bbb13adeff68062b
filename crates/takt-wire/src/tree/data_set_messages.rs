//! DataSetMessages: their ends, and the names in their metadata.

use takt_ua::Variant;
use takt_ua::binary::DecodeErrorKind;

use super::grammar::Field;
use super::reader::{Nodes, Reader};
use super::{DataSetFields, TreeNode};
use crate::error::WireError;

impl Reader<'_> {
    /// Reads each DataSetMessage in its own window, so that an invalid one does not affect the others.
    pub(super) fn data_set_messages(
        &mut self,
        name: &'static str,
        fields: &'static [Field],
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let mut sizes: Vec<usize> = match self.known("Count") {
            None => self
                .configured_sizes
                .iter()
                .map(|size| usize::from(*size))
                .collect(),
            // The Sizes were read directly before.
            Some(count) if count > 1 => nodes
                .last()
                .map(|sizes| sizes.children.iter().filter_map(number).collect())
                .unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        if sizes.len() < 2 {
            if self.known("Count").is_none() && self.data_sets.len() > 1 {
                return self.group(name, nodes, |reader, nodes| {
                    reader.without_sizes(fields, nodes)
                });
            }
            sizes = vec![self.end - self.position];
        }
        self.group(name, nodes, |reader, nodes| {
            for (index, size) in sizes.into_iter().enumerate() {
                let end = reader.position + size;
                if end > reader.end {
                    return Err(reader.error(DecodeErrorKind::UnexpectedEnd));
                }
                reader.data_set_message(index, Some(end), fields, nodes)?;
            }
            Ok(())
        })
    }

    /// Reads DataSetMessages without sizes: each ends with its fields. So an invalid one makes the following ones
    /// unreadable.
    fn without_sizes(
        &mut self,
        fields: &'static [Field],
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let last = self.data_sets.len() - 1;
        for index in 0..last {
            self.data_set_message(index, None, fields, nodes)?;
            // More DataSets may be described than are in this message.
            if self.position == self.end {
                return Ok(());
            }
        }
        self.data_set_message(last, Some(self.end), fields, nodes)
    }

    fn data_set_message(
        &mut self,
        index: usize,
        end: Option<usize>,
        fields: &'static [Field],
        nodes: &mut Nodes,
    ) -> Result<(), WireError> {
        let start = self.position;
        let mut children = Nodes::new();
        self.data_set = self.data_sets.get(index).copied().flatten();
        let mut outcome = Ok(());
        match end {
            Some(end) => self.window(end, &mut children, |reader, nodes| {
                reader.structure("", fields, nodes)
            }),
            None => outcome = self.structure("", fields, &mut children),
        }
        if let Some(data_set) = self.data_set.filter(|it| it.describes(&children)) {
            data_set.name_fields(&mut children);
        }
        nodes.push(TreeNode {
            index: Some(index),
            children,
            ..TreeNode::new("DataSetMessage", start..self.position)
        });
        outcome
    }
}

impl DataSetFields {
    /// Returns whether a DataSetMessage, read so far, is of this DataSet: not an Action, and not of another
    /// MajorVersion (OPC 10000-14, 6.2.3.2.6).
    pub(super) fn describes(&self, message: &Nodes) -> bool {
        let value = |name| {
            let found = message.iter().find(|node| node.name == name);
            found.and_then(|node| node.value.as_ref())
        };
        let version = match value("ConfigurationVersionMajorVersion") {
            Some(Variant::UInt32(version)) => *version,
            _ => 0,
        };
        // 0 stands for an unknown version, which fits every metadata.
        let same = version == 0 || self.major_version == 0 || version == self.major_version;
        same && value("ActionTargetId").is_none()
    }

    /// Sets the names of fields that are not RawData.
    fn name_fields(&self, message: &mut Nodes) {
        for list in message {
            for field in &mut list.children {
                let index = match (field.name, field.children.first()) {
                    ("Field", _) => field.index,
                    ("DeltaFrameField", Some(index)) => number(index),
                    _ => None,
                };
                let name = index.and_then(|index| self.names.get(index));
                if field.field_name.is_none() {
                    field.field_name = name.cloned();
                }
            }
        }
    }
}

fn number(node: &TreeNode) -> Option<usize> {
    match node.value {
        Some(Variant::UInt16(value)) => Some(usize::from(value)),
        _ => None,
    }
}
