// ROS 1 (roscpp). Each mode has two topics, for request and reply; the type is std_msgs/UInt8MultiArray.
#include <ros/callback_queue.h>
#include <ros/common.h>
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>
#include <ros/console.h>

#include <cstdlib>
#include <map>
#include <string>

#include "peer.h"

using Message = std_msgs::UInt8MultiArray;

namespace {

// Longest time that the loop waits before it looks whether the process has to end.
constexpr double LOOP_SECONDS = 0.2;

ros::Publisher publishers[2];
bool poll_callbacks;

void publish(peer_mode mode, const uint8_t *data, size_t size) {
    Message message;
    message.data.assign(data, data + size);
    publishers[mode].publish(message);
}

bool send_request(void *, peer_mode mode, const uint8_t *data, size_t size) {
    publish(mode, data, size);
    return ros::ok();
}

void take_answer(const Message::ConstPtr &message) { peer_answer(message->data.data(), message->data.size()); }

void answer_echo(const Message::ConstPtr &message) { publishers[PEER_ECHO].publish(message); }

void answer_ack(const Message::ConstPtr &message) {
    const uint8_t sum = peer_sum(message->data.data(), message->data.size());
    publish(PEER_ACK, &sum, 1);
}

bool receive_answer(void *, int64_t deadline) {
    double left = static_cast<double>(deadline - peer_now()) / 1e9;
    if (left > LOOP_SECONDS) left = LOOP_SECONDS;
    ros::getGlobalCallbackQueue()->callAvailable(ros::WallDuration(poll_callbacks || left < 0 ? 0 : left));
    return ros::ok();
}

}  // namespace

int main(int argc, char **argv) {
    const peer_options options = peer_parse(argc, argv, "poll");
    const bool server = options.role == PEER_SERVER;
    poll_callbacks = options.poll;
    const std::string master = "http://" + std::string(options.address) + ":" + std::to_string(options.port);
    setenv("ROS_IP", peer_local_address(&options), 1);
    setenv("ROS_HOME", options.folder, 1);
    setenv("ROS_LOG_DIR", options.folder, 1);
    // Ports are the kernel's choice, as is usual: roscpp cannot bind a fixed one again for a minute after kill -9.
    const std::map<std::string, std::string> names = {{"__master", master}};
    ros::init(names, server ? "server" : "client", ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
    ros::console::set_logger_level(ROSCONSOLE_DEFAULT_NAME, ros::console::levels::Fatal);
    ros::console::notifyLoggerLevelsChanged();
    if (!ros::master::check()) peer_fail("there is no master at %s", master.c_str());
    peer_info("version", "%d.%d.%d", ROS_VERSION_MAJOR, ROS_VERSION_MINOR, ROS_VERSION_PATCH);
    peer_info("setting", "tcpNoDelay, queue of 1, callbacks in the main thread");
    peer_info("setting", "ports of each node are chosen by the kernel");
    {
        ros::NodeHandle node;
        const auto hints = ros::TransportHints().tcpNoDelay();
        ros::Subscriber subscribers[2];
        for (int mode = 0; mode < 2; mode++) {
            const std::string name = mode == PEER_ECHO ? "echo" : "ack";
            publishers[mode] = node.advertise<Message>(name + (server ? "_reply" : "_request"), 1);
            const auto callback = !server ? take_answer : mode == PEER_ECHO ? answer_echo : answer_ack;
            const std::string topic = name + (server ? "_request" : "_reply");
            subscribers[mode] = node.subscribe<Message>(topic, 1, callback, {}, hints);
        }
        if (server) {
            peer_start_server(nullptr, nullptr);
            const ros::WallDuration wait(poll_callbacks ? 0 : LOOP_SECONDS);
            while (!peer_stopped() && ros::ok()) ros::getGlobalCallbackQueue()->callAvailable(wait);
        } else {
            const peer_client client = {nullptr, send_request, receive_answer};
            peer_discover(&options, &client);
            peer_run_client(&options, &client);
        }
        for (auto &publisher : publishers) publisher.shutdown();
    }
    ros::shutdown();
    return 0;
}
