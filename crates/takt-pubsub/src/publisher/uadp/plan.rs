//! DataSetMessages that share a UADP NetworkMessage.

use takt_ua::enumerations::{DataSetOrderingType, UadpNetworkMessageContentMask};

use super::UadpMapping;
use crate::message_numbers::FreeNumbers;
use crate::publisher::data_set_writer::DataSetWriter;
use crate::publisher::plan::{Alike, Plan};

impl UadpMapping {
    /// Returns the plans of NetworkMessages: writers with the same NetworkMessageNumber share one, unless the DataSetOrdering
    /// demands one for each (OPC 10000-14, 6.3.1.1.3).
    ///
    /// Plans are sent in the order of their numbers. Writers without a number join the others, or take free numbers.
    pub(super) fn make_plans(&self, writers: &[DataSetWriter]) -> Vec<Plan> {
        let ordering = self.settings.data_set_ordering;
        let mut order: Vec<usize> = (0..writers.len()).collect();
        if ordering != DataSetOrderingType::Undefined {
            order.sort_by_key(|index| writers.get(*index).map(|it| it.data_set_writer_id));
        }
        let single = ordering == DataSetOrderingType::AscendingWriterIdSingle;
        let with_header = self.has(UadpNetworkMessageContentMask::PayloadHeader);
        let numbers = self.writers.iter().map(|it| it.network_message_number);
        let mut numbers = FreeNumbers::beside(numbers);
        let is_numbered = |index: &usize| {
            let settings = self.writers.get(*index);
            settings.is_some_and(|it| it.network_message_number != 0)
        };
        let (numbered, others): (Vec<usize>, Vec<usize>) =
            order.iter().partition(|it| is_numbered(it));
        // Each plan, with its number, which orders the plans.
        let mut plans: Vec<(u16, Plan)> = Vec::new();
        for index in numbered.into_iter().chain(others) {
            let (Some(writer), Some(settings)) = (writers.get(index), self.writers.get(index))
            else {
                continue;
            };
            let number = settings.network_message_number;
            // Without a PayloadHeader, only their sizes separate several DataSetMessages.
            let sized = settings.configured_size != 0;
            let unmarked = !with_header && !sized;
            let alone = single || unmarked && number == 0;
            let fits = |(planned, plan): &&mut (u16, Plan)| {
                !alone
                    // The PayloadHeader counts DataSetMessages in one byte.
                    && plan.writers.len() < usize::from(u8::MAX)
                    && (*planned == number || number == 0)
                    && self.shares(plan, writer, writers)
            };
            match plans.iter_mut().find(fits) {
                Some((_, plan)) => plan.writers.push(index),
                None => {
                    let planned = if number == 0 { numbers.take() } else { number };
                    // Without a PayloadHeader, readers know messages by their numbers.
                    let is_fixed = number != 0 || !with_header;
                    let plan = Plan {
                        network_message_number: is_fixed.then_some(planned),
                        writers: vec![index],
                        fixed: None,
                        alike: Alike::default(),
                    };
                    plans.push((planned, plan));
                }
            }
        }
        plans.sort_by_key(|(planned, _)| *planned);
        let mut positions = vec![0; order.len()];
        for (position, index) in order.iter().enumerate() {
            if let Some(place) = positions.get_mut(*index) {
                *place = position;
            }
        }
        let plans = plans.into_iter().map(|(_, mut plan)| {
            plan.writers.sort_by_key(|index| positions.get(*index));
            plan
        });
        plans.collect()
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
