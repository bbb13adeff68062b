//! DataSetMessages that share a UADP NetworkMessage.

use takt_ua::enumerations::{DataSetOrderingType, UadpNetworkMessageContentMask};

use super::UadpMapping;
use crate::publisher::data_set_writer::DataSetWriter;
use crate::publisher::plan::{Alike, Plan};

impl UadpMapping {
    /// Returns the plans of NetworkMessages: writers with the same NetworkMessageNumber share one, unless the DataSetOrdering
    /// demands one for each (OPC 10000-14, 6.3.1.1.3).
    pub(super) fn make_plans(&self, writers: &[DataSetWriter]) -> Vec<Plan> {
        let ordering = self.settings.data_set_ordering;
        let mut order: Vec<usize> = (0..writers.len()).collect();
        if ordering != DataSetOrderingType::Undefined {
            order.sort_by_key(|index| writers.get(*index).map(|it| it.data_set_writer_id));
        }
        let single = ordering == DataSetOrderingType::AscendingWriterIdSingle;
        let with_header = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let mut plans: Vec<Plan> = Vec::new();
        for index in order {
            let (Some(writer), Some(settings)) = (writers.get(index), self.writers.get(index))
            else {
                continue;
            };
            let number = settings.network_message_number;
            // Without a PayloadHeader, only their sizes separate several DataSetMessages.
            let sized = settings.configured_size != 0;
            let unmarked = !with_header && !sized;
            let alone = single || unmarked && number == 0;
            let fits = |plan: &&mut Plan| {
                !alone
                    // The PayloadHeader counts DataSetMessages in one byte.
                    && plan.writers.len() < usize::from(u8::MAX)
                    && (plan.network_message_number == number || number == 0)
                    && self.shares(plan, writer, writers)
            };
            match plans.iter_mut().find(fits) {
                Some(plan) => plan.writers.push(index),
                None => {
                    // Numbers count from 1 (OPC 10000-14, 6.3.1.3.4).
                    let next = plans.len() as u16 + 1;
                    plans.push(Plan {
                        network_message_number: if number == 0 { next } else { number },
                        writers: vec![index],
                        fixed: None,
                        alike: Alike::default(),
                    });
                }
            }
        }
        plans
    }

    /// Returns true if a writer can share the NetworkMessage: its header has one DataSetClassId and PromotedFields of one
    /// DataSetMessage.
    fn shares(&self, plan: &Plan, writer: &DataSetWriter, writers: &[DataSetWriter]) -> bool {
        let first = plan.writers.first().and_then(|index| writers.get(*index));
        let class = writer.data_set_class_id;
        let same_class = first.is_none_or(|first| first.data_set_class_id == class);
        !self.has(UadpNetworkMessageContentMask::PromotedFields)
            && (same_class || !self.has(UadpNetworkMessageContentMask::DataSetClassId))
    }
}
