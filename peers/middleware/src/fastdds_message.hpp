// Types of the messages for Fast DDS: a sequence of octets, and a block of the largest size for data sharing.
#ifndef TAKT_FASTDDS_MESSAGE_HPP
#define TAKT_FASTDDS_MESSAGE_HPP

#include <cstdint>
#include <cstring>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <functional>
#include <vector>

#include "peer.h"

// Payload that is lent to a writer, or received by a reader.
struct Message {
    std::vector<uint8_t> owned;
    const uint8_t *data = nullptr;
    size_t size = 0;
};

// CDR, little endian: encapsulation (4 bytes), length (4 bytes), octets (DDS-XTypes, 7.4.3).
class MessageType : public eprosima::fastdds::dds::TopicDataType {
  public:
    MessageType() {
        setName("Message");
        m_typeSize = 8 + PEER_LARGEST;
        m_isGetKeyDefined = false;
    }

    bool serialize(void *of, eprosima::fastrtps::rtps::SerializedPayload_t *payload) override {
        const auto *message = static_cast<const Message *>(of);
        const uint8_t header[4] = {0, 1, 0, 0};
        const auto length = static_cast<uint32_t>(message->size);
        std::memcpy(payload->data, header, sizeof header);
        std::memcpy(payload->data + 4, &length, sizeof length);
        std::memcpy(payload->data + 8, message->data, length);
        payload->encapsulation = CDR_LE;
        payload->length = 8 + length;
        return true;
    }

    bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t *payload, void *into) override {
        auto *message = static_cast<Message *>(into);
        uint32_t length = 0;
        if (payload->length < 8) return false;
        std::memcpy(&length, payload->data + 4, sizeof length);
        if (length > payload->length - 8) return false;
        message->owned.assign(payload->data + 8, payload->data + 8 + length);
        return true;
    }

    std::function<uint32_t()> getSerializedSizeProvider(void *of) override {
        const size_t size = static_cast<const Message *>(of)->size;
        return [size] { return static_cast<uint32_t>(8 + size); };
    }

    void *createData() override { return new Message; }
    void deleteData(void *data) override { delete static_cast<Message *>(data); }
    bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }
};

// Payload in memory that writer and reader share. Only types of a fixed size without pointers can be lent by Fast DDS.
struct Block {
    uint32_t size;
    uint8_t data[PEER_LARGEST];
};

class BlockType : public eprosima::fastdds::dds::TopicDataType {
  public:
    BlockType() {
        setName("Block");
        m_typeSize = 4 + sizeof(Block);
        m_isGetKeyDefined = false;
    }

    bool is_bounded() const override { return true; }
    bool is_plain() const override { return true; }
    bool construct_sample(void *) const override { return true; }

    // Only readers without data sharing need these two.
    bool serialize(void *of, eprosima::fastrtps::rtps::SerializedPayload_t *payload) override {
        const uint8_t header[4] = {0, 1, 0, 0};
        std::memcpy(payload->data, header, sizeof header);
        std::memcpy(payload->data + 4, of, sizeof(Block));
        payload->encapsulation = CDR_LE;
        payload->length = m_typeSize;
        return true;
    }

    bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t *payload, void *into) override {
        if (payload->length < m_typeSize) return false;
        std::memcpy(into, payload->data + 4, sizeof(Block));
        return true;
    }

    std::function<uint32_t()> getSerializedSizeProvider(void *) override {
        return [size = m_typeSize] { return size; };
    }

    void *createData() override { return new Block; }
    void deleteData(void *data) override { delete static_cast<Block *>(data); }
    bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }
};

#endif
