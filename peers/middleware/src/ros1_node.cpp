// ROS 1 (roscpp) as a node: it subscribes to a topic of its own and publishes to those of the next nodes. Callbacks run in
// the main thread.
#include <ros/callback_queue.h>
#include <ros/console.h>
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "node.h"

using Message = std_msgs::UInt8MultiArray;

namespace {

std::vector<ros::Publisher> publishers;

std::string topic_of(int port) { return "n" + std::to_string(port); }

bool send_next(void *, size_t place, const void *data, size_t size) {
    const auto *bytes = static_cast<const uint8_t *>(data);
    Message message;
    message.data.assign(bytes, bytes + size);
    publishers[place].publish(message);
    return ros::ok();
}

void connect_next(void *) {
    for (const auto &publisher : publishers) {
        while (publisher.getNumSubscribers() == 0 && ros::ok()) {
            ros::getGlobalCallbackQueue()->callAvailable(ros::WallDuration(0.001));
        }
    }
}

void take(const Message::ConstPtr &message) { node_take(message->data.data(), message->data.size()); }

bool receive(void *, int64_t deadline) {
    const double left = std::max(0.0, static_cast<double>(deadline - peer_now()) / 1e9);
    ros::getGlobalCallbackQueue()->callAvailable(ros::WallDuration(std::min(left, 0.2)));
    return ros::ok();
}

}  // namespace

int main(int argc, char **argv) {
    const node_options options = node_parse(argc, argv);
    const node functions = {nullptr, connect_next, send_next, receive, false};
    const std::string master = "http://" + std::string(options.address) + ":" + std::to_string(options.broker);
    setenv("ROS_IP", options.address, 1);
    setenv("ROS_HOME", options.folder, 1);
    setenv("ROS_LOG_DIR", options.folder, 1);
    const std::map<std::string, std::string> names = {{"__master", master}};
    ros::init(names, "node" + std::to_string(options.port), ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
    ros::console::set_logger_level(ROSCONSOLE_DEFAULT_NAME, ros::console::levels::Fatal);
    ros::console::notifyLoggerLevelsChanged();
    if (!ros::master::check()) peer_fail("there is no master at %s", master.c_str());
    node_prepare(&options, &functions);
    {
        ros::NodeHandle handle;
        // Each stream may have a message that waits at the end.
        const auto queue = static_cast<uint32_t>(std::max<size_t>(1, options.next_count));
        const auto subscriber =
            handle.subscribe<Message>(topic_of(options.port), queue, take, {}, ros::TransportHints().tcpNoDelay());
        for (size_t place = 0; place < options.next_count; place++) {
            publishers.push_back(handle.advertise<Message>(topic_of(options.next[place]), 1));
        }
        node_run(&options, &functions);
        publishers.clear();
    }
    ros::shutdown();
    return 0;
}
