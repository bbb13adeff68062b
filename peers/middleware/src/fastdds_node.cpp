// Fast DDS over UDP as a node: a reader of a topic of its own, and a writer of the topic of each next node. A listener passes
// messages on in Fast DDS's thread that received them.
#include <unistd.h>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#include <memory>
#include <string>
#include <vector>

#include "fastdds_message.hpp"
#include "node.h"

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::IPLocator;
using eprosima::fastrtps::rtps::Locator_t;

namespace {

std::vector<DataWriter *> writers;

Locator_t locator(const char *address, int port) {
    Locator_t locator;
    locator.kind = LOCATOR_KIND_UDPv4;
    IPLocator::setIPv4(locator, address);
    locator.port = static_cast<uint32_t>(port);
    return locator;
}

// One port for discovery and data. The participant announces itself to each node, or only to the next ones.
DomainParticipantQos participant_qos(const node_options &options) {
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    auto &wire = qos.wire_protocol();
    const Locator_t own = locator(options.address, options.port);
    wire.builtin.metatrafficUnicastLocatorList.push_back(own);
    wire.default_unicast_locator_list.push_back(own);
    for (size_t place = 0; place < options.peer_count; place++) {
        wire.builtin.initialPeersList.push_back(locator(options.address, options.peers[place]));
    }
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.emplace_back(options.address);
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    return qos;
}

bool send_next(void *, size_t place, const void *data, size_t size) {
    Message message;
    message.data = static_cast<const uint8_t *>(data);
    message.size = size;
    return writers[place]->write(&message);
}

// Waits until each next node has a reader that this writer knows.
void connect_next(void *) {
    for (auto *writer : writers) {
        PublicationMatchedStatus status;
        while (status.current_count == 0) {
            usleep(1000);
            writer->get_publication_matched_status(status);
        }
    }
}

class Listener : public DataReaderListener {
  public:
    void on_data_available(DataReader *reader) override {
        SampleInfo info;
        while (reader->take_next_sample(&message_, &info) == ReturnCode_t::RETCODE_OK) {
            if (info.valid_data) node_take(message_.owned.data(), message_.owned.size());
        }
    }

  private:
    Message message_;
};

template <typename Made>
Made *check(Made *made, const char *name) {
    if (made == nullptr) peer_fail("no %s", name);
    return made;
}

Topic *make_topic(DomainParticipant *participant, int port) {
    return check(participant->create_topic("node" + std::to_string(port), "Message", TOPIC_QOS_DEFAULT), "topic");
}

// Settings that writers and readers have in common.
template <typename Qos>
Qos endpoint_qos(Qos qos) {
    qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    qos.history().kind = KEEP_LAST_HISTORY_QOS;
    qos.history().depth = 1;
    qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    qos.data_sharing().off();
    return qos;
}

}  // namespace

int main(int argc, char **argv) {
    const node_options options = node_parse(argc, argv);
    const node functions = {nullptr, connect_next, send_next, nullptr, false};
    Log::SetVerbosity(Log::Error);
    node_prepare(&options, &functions);
    auto *factory = DomainParticipantFactory::get_instance();
    auto *participant = check(factory->create_participant(0, participant_qos(options)), "participant");
    TypeSupport type(new MessageType);
    type.register_type(participant);
    auto *publisher = check(participant->create_publisher(PUBLISHER_QOS_DEFAULT), "publisher");
    auto *subscriber = check(participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT), "subscriber");
    DataWriterQos out = endpoint_qos(DATAWRITER_QOS_DEFAULT);
    out.publish_mode().kind = SYNCHRONOUS_PUBLISH_MODE;
    for (size_t place = 0; place < options.next_count; place++) {
        Topic *topic = make_topic(participant, options.next[place]);
        writers.push_back(check(publisher->create_datawriter(topic, out), "writer"));
    }
    DataReaderQos in = endpoint_qos(DATAREADER_QOS_DEFAULT);
    // One message of each stream may wait at the end.
    if (options.is_end) in.history().depth = NODE_STREAMS;
    Listener listener;
    check(subscriber->create_datareader(make_topic(participant, options.port), in, &listener), "reader");
    node_run(&options, &functions);
    participant->delete_contained_entities();
    factory->delete_participant(participant);
    return 0;
}
