// Fast DDS. Each mode has two topics, for request and reply. The transport is pinned: Fast DDS uses UDP and shared memory
// at once otherwise. Over UDP, the type is a sequence of octets. With shared memory, data sharing and loans leave payloads in
// place: writers fill a block of memory that readers have mapped.
#include <atomic>
#include <cstring>
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
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/config.h>
#include <fastrtps/utils/IPLocator.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fastdds_message.hpp"
#include "peer.h"

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::IPLocator;
using eprosima::fastrtps::rtps::Locator_t;

namespace {

bool shared = false;

bool write_loan(DataWriter *writer, const void *data, size_t size) {
    void *loan = nullptr;
    const auto as_it_is = DataWriter::LoanInitializationKind::NO_LOAN_INITIALIZATION;
    if (writer->loan_sample(loan, as_it_is) != ReturnCode_t::RETCODE_OK) return false;
    auto *block = static_cast<Block *>(loan);
    block->size = static_cast<uint32_t>(size);
    std::memcpy(block->data, data, size);
    if (writer->write(loan)) return true;
    writer->discard_loan(loan);
    return false;
}

bool write(DataWriter *writer, const void *data, size_t size) {
    if (shared) return write_loan(writer, data, size);
    Message message;
    message.data = static_cast<const uint8_t *>(data);
    message.size = size;
    return writer->write(&message);
}

// Takes messages in Fast DDS's thread that received them.
class Listener : public DataReaderListener {
  public:
    void on_data_available(DataReader *reader) override {
        if (shared) return take_loans(reader);
        SampleInfo info;
        while (reader->take_next_sample(&message_, &info) == ReturnCode_t::RETCODE_OK) {
            if (info.valid_data) take(message_.owned.data(), message_.owned.size());
        }
    }

    bool server = false;
    peer_mode mode = PEER_ECHO;
    DataWriter *writer = nullptr;

  private:
    void take_loans(DataReader *reader) {
        LoanableSequence<Block> blocks;
        SampleInfoSeq infos;
        while (reader->take(blocks, infos) == ReturnCode_t::RETCODE_OK) {
            for (LoanableCollection::size_type at = 0; at < infos.length(); at++) {
                if (infos[at].valid_data) take(blocks[at].data, blocks[at].size);
            }
            reader->return_loan(blocks, infos);
        }
    }

    void take(const uint8_t *data, size_t size) {
        if (!server) {
            peer_answer(data, size);
        } else if (mode == PEER_ECHO) {
            write(writer, data, size);
        } else {
            const uint8_t sum = peer_sum(data, size);
            write(writer, &sum, 1);
        }
    }

    Message message_;
};

void check(const void *made, const char *name) {
    if (made == nullptr) peer_fail("no %s", name);
}

// Ports, all within the ten of the peer: discovery at 1 (server) and 3 (client), data at 2 and 4.
DomainParticipantQos participant_qos(const peer_options &options) {
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    auto &wire = qos.wire_protocol();
    wire.port.portBase = static_cast<uint16_t>(options.port);
    wire.port.domainIDGain = 0;
    wire.port.participantIDGain = 2;
    wire.port.offsetd0 = 0;
    wire.port.offsetd1 = 1;
    wire.port.offsetd2 = 6;
    wire.port.offsetd3 = 2;
    const bool server = options.role == PEER_SERVER;
    wire.participant_id = server ? 0 : 1;
    wire.builtin.discovery_config.leaseDuration_announcementperiod = {1, 0};
    qos.transport().use_builtin_transports = false;
    if (std::strcmp(options.transport, "shm") == 0) {
        // Discovery alone: messages go by data sharing.
        auto memory = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
        qos.transport().user_transports.push_back(memory);
        return qos;
    }
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.emplace_back(peer_local_address(&options));
    qos.transport().user_transports.push_back(udp);
    Locator_t own;
    own.kind = LOCATOR_KIND_UDPv4;
    IPLocator::setIPv4(own, peer_local_address(&options));
    own.port = static_cast<uint32_t>(options.port + (server ? 1 : 3));
    wire.builtin.metatrafficUnicastLocatorList.push_back(own);
    Locator_t peer;
    peer.kind = LOCATOR_KIND_UDPv4;
    IPLocator::setIPv4(peer, options.address);
    peer.port = static_cast<uint32_t>(options.port + (server ? 3 : 1));
    wire.builtin.initialPeersList.push_back(peer);
    return qos;
}

// Plugins of DDS Security and their files: what src/dds-security.sh has made.
void set_security(DomainParticipantQos &qos, const peer_options &options) {
    const std::string folder = std::string("file://") + options.folder + "/";
    const std::string own = folder + peer_identity(&options);
    const std::string authentication = "dds.sec.auth.builtin.PKI-DH.";
    const std::string access = "dds.sec.access.builtin.Access-Permissions.";
    const std::pair<std::string, std::string> properties[] = {
        {"dds.sec.auth.plugin", "builtin.PKI-DH"},
        {authentication + "identity_ca", folder + "authority.crt"},
        {authentication + "identity_certificate", own + ".crt"},
        {authentication + "private_key", own + ".key"},
        {"dds.sec.access.plugin", "builtin.Access-Permissions"},
        {access + "permissions_ca", folder + "authority.crt"},
        {access + "governance", folder + "governance.p7s"},
        {access + "permissions", folder + "permissions.p7s"},
        {"dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC"},
    };
    for (const auto &[name, value] : properties) qos.properties().properties().emplace_back(name, value);
}

// Settings that writers and readers have in common.
template <typename Qos>
Qos endpoint_qos(Qos qos) {
    using namespace eprosima::fastrtps::rtps;
    qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    qos.history().kind = KEEP_LAST_HISTORY_QOS;
    qos.history().depth = 1;
    if (shared) {
        qos.endpoint().history_memory_policy = PREALLOCATED_MEMORY_MODE;
        qos.data_sharing().on("");
    } else {
        qos.endpoint().history_memory_policy = PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        qos.data_sharing().off();
    }
    return qos;
}

DataWriter *writers[2];

bool send_request(void *, peer_mode mode, const uint8_t *data, size_t size) { return write(writers[mode], data, size); }

}  // namespace

int main(int argc, char **argv) {
    const peer_options options = peer_parse(argc, argv, "transport=udp,shm security=none,dds");
    const bool server = options.role == PEER_SERVER;
    Log::SetVerbosity(Log::Error);
    peer_info("version", "%s", FASTRTPS_VERSION_STR);
    shared = std::strcmp(options.transport, "shm") == 0;
    peer_info("setting", shared ? "data sharing with loans" : "transport udp only, data sharing off");
    peer_info("setting", "synchronous publishing, reliable, keep last 1, listener, unicast discovery");
    auto *factory = DomainParticipantFactory::get_instance();
    DomainParticipantQos participant_settings = participant_qos(options);
    if (std::strcmp(options.security, "dds") == 0) {
        peer_make_identities(&options);
        set_security(participant_settings, options);
    }
    DomainParticipant *participant = factory->create_participant(0, participant_settings);
    check(participant, "participant");
    TypeSupport type(shared ? static_cast<TopicDataType *>(new BlockType) : new MessageType);
    type.register_type(participant);
    Publisher *publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
    Subscriber *subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    check(publisher, "publisher");
    check(subscriber, "subscriber");
    DataWriterQos out = endpoint_qos(DATAWRITER_QOS_DEFAULT);
    out.publish_mode().kind = SYNCHRONOUS_PUBLISH_MODE;
    const DataReaderQos in = endpoint_qos(DATAREADER_QOS_DEFAULT);
    Listener listeners[2];
    for (int mode = 0; mode < 2; mode++) {
        const std::string name = mode == PEER_ECHO ? "echo" : "ack";
        Topic *request = participant->create_topic(name + "_request", type.get_type_name(), TOPIC_QOS_DEFAULT);
        Topic *reply = participant->create_topic(name + "_reply", type.get_type_name(), TOPIC_QOS_DEFAULT);
        check(request, "topic");
        check(reply, "topic");
        writers[mode] = publisher->create_datawriter(server ? reply : request, out);
        check(writers[mode], "writer");
        listeners[mode].server = server;
        listeners[mode].mode = static_cast<peer_mode>(mode);
        listeners[mode].writer = writers[mode];
        check(subscriber->create_datareader(server ? request : reply, in, &listeners[mode]), "reader");
    }
    if (server) {
        peer_start_server(nullptr, nullptr);
        peer_wait_stopped();
    } else {
        const peer_client client = {nullptr, send_request, nullptr};
        peer_discover(&options, &client);
        peer_run_client(&options, &client);
    }
    participant->delete_contained_entities();
    factory->delete_participant(participant);
    return 0;
}
