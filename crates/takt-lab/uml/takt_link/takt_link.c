// SPDX-License-Identifier: GPL-2.0
/*
 * Link device of Takt's lab: an Ethernet port with a rate.
 *
 * Two devices with the same link number are the two ends of a cable. Each transmit queue of a device has a ring of its own. The
 * hardware sends one frame at a time, that of the lowest queue that has one, for the time of its bytes on the wire: the frame, padded to
 * 60 bytes, its check sequence, preamble and interframe gap. A queue is stopped while its ring is full. So queueing disciplines
 * wait for the link as they do in front of a network card, which veth does not offer.
 *
 *   ip link add eth0 numtxqueues 2 type takt_link
 *   echo "link=1 rate=1000000000 propagation=5 forwarding=0-0 ring=1 seed=1" > /sys/class/net/eth0/takt_link/configuration
 *
 * rate is in bit/s, propagation in nanoseconds, forwarding in picoseconds: the least and the greatest time that the node of this
 * device needs to pass a received frame on. It is added before the frame is received, and frames keep their order. ring is the number
 * of frames of each queue that wait in the driver besides the one that is sent. The speed is reported through ethtool. Hardware time stamps are
 * those of the kernel's clock at the end of the preamble.
 */

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/pkt_sched.h>
#include <net/rtnetlink.h>

#define DRIVER_NAME "takt_link"

/* Bytes on the wire besides the frame: preamble and start of frame, check sequence, interframe gap. */
#define PREAMBLE_BYTES 8
#define WIRE_OVERHEAD (PREAMBLE_BYTES + 4 + 12)
#define SHORTEST_FRAME 60
#define MOST_QUEUES 16
#define MOST_RING 4096

/* Time of a frame that is on the cable or waits to be forwarded, in the control block of the buffer. */
struct takt_link_flight {
	ktime_t delivery;
	ktime_t stamp;
};

struct takt_link {
	struct net_device *dev;
	struct list_head list;
	/* Protects everything below, and the peer's pointer to this device. Taken in softirq context. */
	spinlock_t lock;
	struct net_device *peer;
	u32 number;
	u64 rate;
	u32 propagation;
	/* In picoseconds. */
	u64 forwarding_least;
	u64 forwarding_most;
	u32 ring_size;
	u64 random[4];
	struct sk_buff_head rings[MOST_QUEUES];
	/* Frame that is being sent. */
	struct sk_buff *sending;
	ktime_t free_at;
	ktime_t started;
	struct hrtimer free_timer;
	/* Frames on their way to this device. */
	struct sk_buff_head arriving;
	ktime_t last_delivery;
	struct hrtimer delivery_timer;
	bool stamps;
	u64 tx_packets;
	u64 tx_bytes;
	u64 rx_packets;
	u64 rx_bytes;
	u64 dropped;
};

/* All devices, under RTNL. */
static LIST_HEAD(devices);

static struct takt_link_flight *flight_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct takt_link_flight) > sizeof(skb->cb));
	return (struct takt_link_flight *)skb->cb;
}

/* Time of bytes on the wire in nanoseconds, rounded up. */
static u64 wire_time(const struct takt_link *link, u64 bytes)
{
	return DIV64_U64_ROUND_UP(bytes * 8 * NSEC_PER_SEC, link->rate);
}

static u64 rotate(u64 value, unsigned int bits)
{
	return (value << bits) | (value >> (64 - bits));
}

/* xoshiro256++ 1.0 (Blackman and Vigna, public domain). */
static u64 random_bits(struct takt_link *link)
{
	u64 *s = link->random;
	u64 result = rotate(s[0] + s[3], 23) + s[0];
	u64 shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate(s[3], 45);
	return result;
}

/* State from a seed, by splitmix64. */
static void seed_random(struct takt_link *link, u64 seed)
{
	for (int i = 0; i < 4; i++) {
		u64 value = seed += 0x9E3779B97F4A7C15ull;

		value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
		value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
		link->random[i] = value ^ (value >> 31);
	}
}

/* Next time for forwarding in nanoseconds, rounded up. It is the time that the simulator draws from the same seed. */
static u64 forwarding_time(struct takt_link *link)
{
	u64 range = link->forwarding_most - link->forwarding_least;
	u64 picoseconds = link->forwarding_least;

	if (range)
		picoseconds += mul_u64_u64_shr(random_bits(link), range + 1, 64);
	return DIV64_U64_ROUND_UP(picoseconds, 1000);
}

static void deliver_later(struct takt_link *receiver, struct sk_buff *skb, ktime_t arrival, ktime_t stamp)
{
	struct takt_link_flight *flight = flight_of(skb);
	bool first;

	spin_lock(&receiver->lock);
	flight->delivery = ktime_add_ns(arrival, forwarding_time(receiver));
	if (ktime_before(flight->delivery, receiver->last_delivery))
		flight->delivery = receiver->last_delivery;
	receiver->last_delivery = flight->delivery;
	flight->stamp = stamp;
	first = skb_queue_empty(&receiver->arriving);
	__skb_queue_tail(&receiver->arriving, skb);
	if (first)
		hrtimer_start(&receiver->delivery_timer, flight->delivery, HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&receiver->lock);
}

/* Begins to send the frame of the lowest queue that has one. Under the lock. */
static void begin_next(struct takt_link *link, ktime_t now)
{
	struct net_device *dev = link->dev;

	if (link->sending)
		return;
	for (unsigned int queue = 0; queue < dev->real_num_tx_queues; queue++) {
		struct sk_buff *skb = __skb_dequeue(&link->rings[queue]);
		unsigned int bytes;

		if (!skb)
			continue;
		bytes = max_t(unsigned int, skb->len, SHORTEST_FRAME) + WIRE_OVERHEAD;
		link->sending = skb;
		link->started = now;
		link->free_at = ktime_add_ns(now, wire_time(link, bytes));
		hrtimer_start(&link->free_timer, link->free_at, HRTIMER_MODE_ABS_SOFT);
		if (link->stamps && (skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP)) {
			struct skb_shared_hwtstamps stamps = {
				.hwtstamp = ktime_mono_to_real(ktime_add_ns(now, wire_time(link, PREAMBLE_BYTES))),
			};

			skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
			skb_tstamp_tx(skb, &stamps);
		}
		netif_wake_subqueue(dev, queue);
		return;
	}
}

static enum hrtimer_restart link_is_free(struct hrtimer *timer)
{
	struct takt_link *link = container_of(timer, struct takt_link, free_timer);
	struct net_device *peer;
	struct sk_buff *skb;
	ktime_t arrival, stamp;

	spin_lock(&link->lock);
	skb = link->sending;
	link->sending = NULL;
	arrival = ktime_add_ns(link->free_at, link->propagation);
	stamp = ktime_add_ns(link->started, wire_time(link, PREAMBLE_BYTES) + link->propagation);
	peer = link->peer;
	if (skb) {
		link->tx_packets++;
		link->tx_bytes += skb->len;
	}
	begin_next(link, link->free_at);
	spin_unlock(&link->lock);
	if (!skb)
		return HRTIMER_NORESTART;
	skb_orphan(skb);
	if (peer && netif_running(peer))
		deliver_later(netdev_priv(peer), skb, arrival, stamp);
	else
		dev_kfree_skb_any(skb);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart frames_arrive(struct hrtimer *timer)
{
	struct takt_link *link = container_of(timer, struct takt_link, delivery_timer);
	struct net_device *dev = link->dev;
	ktime_t now = ktime_get();
	struct sk_buff_head due;
	struct sk_buff *skb;

	__skb_queue_head_init(&due);
	spin_lock(&link->lock);
	while ((skb = skb_peek(&link->arriving)) && !ktime_after(flight_of(skb)->delivery, now)) {
		__skb_unlink(skb, &link->arriving);
		__skb_queue_tail(&due, skb);
	}
	if (skb)
		hrtimer_start(&link->delivery_timer, flight_of(skb)->delivery, HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&link->lock);
	while ((skb = __skb_dequeue(&due))) {
		ktime_t stamp = flight_of(skb)->stamp;
		unsigned int length = skb->len;

		if (__dev_forward_skb(dev, skb) != NET_RX_SUCCESS) {
			link->dropped++;
			continue;
		}
		if (link->stamps)
			skb_hwtstamps(skb)->hwtstamp = ktime_mono_to_real(stamp);
		link->rx_packets++;
		link->rx_bytes += length;
		netif_rx(skb);
	}
	return HRTIMER_NORESTART;
}

static netdev_tx_t takt_link_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct takt_link *link = netdev_priv(dev);
	unsigned int queue = skb_get_queue_mapping(skb);
	struct sk_buff_head *ring = &link->rings[queue];

	if (skb_put_padto(skb, SHORTEST_FRAME)) {
		link->dropped++;
		return NETDEV_TX_OK;
	}
	spin_lock_bh(&link->lock);
	if (!link->peer || !link->rate) {
		link->dropped++;
		spin_unlock_bh(&link->lock);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	__skb_queue_tail(ring, skb);
	if (!link->sending)
		begin_next(link, ktime_get());
	if (skb_queue_len(ring) >= link->ring_size)
		netif_stop_subqueue(dev, queue);
	spin_unlock_bh(&link->lock);
	return NETDEV_TX_OK;
}

/* Both ends have a carrier while both are switched on. Under RTNL. */
static void update_carriers(struct takt_link *link)
{
	struct net_device *dev = link->dev, *peer = link->peer;

	if (peer && netif_running(dev) && netif_running(peer)) {
		netif_carrier_on(dev);
		netif_carrier_on(peer);
		return;
	}
	netif_carrier_off(dev);
	if (peer)
		netif_carrier_off(peer);
}

static int takt_link_open(struct net_device *dev)
{
	netif_tx_start_all_queues(dev);
	update_carriers(netdev_priv(dev));
	return 0;
}

static int takt_link_stop(struct net_device *dev)
{
	struct takt_link *link = netdev_priv(dev);

	netif_tx_stop_all_queues(dev);
	netif_carrier_off(dev);
	if (link->peer)
		netif_carrier_off(link->peer);
	hrtimer_cancel(&link->free_timer);
	hrtimer_cancel(&link->delivery_timer);
	spin_lock_bh(&link->lock);
	for (unsigned int queue = 0; queue < MOST_QUEUES; queue++)
		__skb_queue_purge(&link->rings[queue]);
	__skb_queue_purge(&link->arriving);
	dev_kfree_skb_any(link->sending);
	link->sending = NULL;
	link->last_delivery = 0;
	spin_unlock_bh(&link->lock);
	return 0;
}

static void takt_link_statistics(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct takt_link *link = netdev_priv(dev);

	spin_lock_bh(&link->lock);
	stats->tx_packets = link->tx_packets;
	stats->tx_bytes = link->tx_bytes;
	stats->rx_packets = link->rx_packets;
	stats->rx_bytes = link->rx_bytes;
	stats->tx_dropped = link->dropped;
	spin_unlock_bh(&link->lock);
}

static int takt_link_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *config)
{
	struct takt_link *link = netdev_priv(dev);

	config->tx_type = link->stamps ? HWTSTAMP_TX_ON : HWTSTAMP_TX_OFF;
	config->rx_filter = link->stamps ? HWTSTAMP_FILTER_ALL : HWTSTAMP_FILTER_NONE;
	return 0;
}

static int takt_link_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *config,
				  struct netlink_ext_ack *extack)
{
	struct takt_link *link = netdev_priv(dev);

	if (config->tx_type != HWTSTAMP_TX_OFF && config->tx_type != HWTSTAMP_TX_ON)
		return -ERANGE;
	link->stamps = config->tx_type == HWTSTAMP_TX_ON || config->rx_filter != HWTSTAMP_FILTER_NONE;
	return takt_link_hwtstamp_get(dev, config);
}

/* taprio in software asks whether the hardware sends the lowest queue first, whatever its class is, and then looks at queues in that order. */
static int takt_link_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data)
{
	const struct tc_query_caps_base *query = data;
	struct tc_taprio_caps *caps;

	if (type != TC_QUERY_CAPS || query->type != TC_SETUP_QDISC_TAPRIO)
		return -EOPNOTSUPP;
	caps = query->caps;
	caps->broken_mqprio = true;
	return 0;
}

/*
 * Joins the device with the one of the same number that has no other end yet, if there is one. Pairs with this number may still be
 * there: the kernel removes the devices of an ended network namespace some time later. Under RTNL.
 */
static void join(struct takt_link *link, u32 number)
{
	struct takt_link *other;

	list_for_each_entry(other, &devices, list) {
		if (other == link || other->number != number || other->peer)
			continue;
		spin_lock_bh(&link->lock);
		link->peer = other->dev;
		spin_unlock_bh(&link->lock);
		spin_lock_bh(&other->lock);
		other->peer = link->dev;
		spin_unlock_bh(&other->lock);
		break;
	}
	link->number = number;
	update_carriers(link);
}

static ssize_t configuration_show(struct device *device, struct device_attribute *attribute, char *text)
{
	const struct takt_link *link = netdev_priv(to_net_dev(device));

	return sysfs_emit(text, "link=%u rate=%llu propagation=%u forwarding=%llu-%llu ring=%u\n", link->number, link->rate,
			  link->propagation, link->forwarding_least, link->forwarding_most, link->ring_size);
}

static ssize_t configuration_store(struct device *device, struct device_attribute *attribute, const char *text,
				   size_t length)
{
	struct takt_link *link = netdev_priv(to_net_dev(device));
	u32 number, propagation, ring;
	u64 rate, least, most, seed;

	if (sscanf(text, "link=%u rate=%llu propagation=%u forwarding=%llu-%llu ring=%u seed=%llu", &number, &rate,
		   &propagation, &least, &most, &ring, &seed) != 7)
		return -EINVAL;
	if (number == 0 || rate < 1000 || rate > 1000000000000ull || least > most || ring < 1 || ring > MOST_RING)
		return -ERANGE;
	if (!rtnl_trylock())
		return restart_syscall();
	if (link->peer || netif_running(link->dev)) {
		rtnl_unlock();
		return -EBUSY;
	}
	spin_lock_bh(&link->lock);
	link->rate = rate;
	link->propagation = propagation;
	link->forwarding_least = least;
	link->forwarding_most = most;
	link->ring_size = ring;
	seed_random(link, seed);
	spin_unlock_bh(&link->lock);
	join(link, number);
	rtnl_unlock();
	return length;
}

static DEVICE_ATTR_RW(configuration);

static struct attribute *takt_link_attributes[] = {
	&dev_attr_configuration.attr,
	NULL,
};

static const struct attribute_group takt_link_group = {
	.name = DRIVER_NAME,
	.attrs = takt_link_attributes,
};

static int takt_link_init(struct net_device *dev)
{
	struct takt_link *link = netdev_priv(dev);

	if (dev->num_tx_queues > MOST_QUEUES)
		return -EINVAL;
	link->dev = dev;
	spin_lock_init(&link->lock);
	hrtimer_init(&link->free_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	link->free_timer.function = link_is_free;
	hrtimer_init(&link->delivery_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	link->delivery_timer.function = frames_arrive;
	for (unsigned int queue = 0; queue < MOST_QUEUES; queue++)
		__skb_queue_head_init(&link->rings[queue]);
	__skb_queue_head_init(&link->arriving);
	list_add_tail(&link->list, &devices);
	netif_carrier_off(dev);
	return 0;
}

static void takt_link_uninit(struct net_device *dev)
{
	struct takt_link *link = netdev_priv(dev);

	list_del(&link->list);
	if (link->peer) {
		struct takt_link *other = netdev_priv(link->peer);

		spin_lock_bh(&other->lock);
		other->peer = NULL;
		/* It is about to be removed as well, and not the end of a new link. */
		other->number = 0;
		spin_unlock_bh(&other->lock);
		netif_carrier_off(other->dev);
		/* The other end may be sending to this device. */
		hrtimer_cancel(&other->free_timer);
		spin_lock_bh(&other->lock);
		dev_kfree_skb_any(other->sending);
		other->sending = NULL;
		spin_unlock_bh(&other->lock);
		link->peer = NULL;
	}
	hrtimer_cancel(&link->delivery_timer);
	__skb_queue_purge(&link->arriving);
}

static const struct net_device_ops takt_link_operations = {
	.ndo_init = takt_link_init,
	.ndo_uninit = takt_link_uninit,
	.ndo_open = takt_link_open,
	.ndo_stop = takt_link_stop,
	.ndo_start_xmit = takt_link_xmit,
	.ndo_get_stats64 = takt_link_statistics,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_setup_tc = takt_link_setup_tc,
	.ndo_hwtstamp_get = takt_link_hwtstamp_get,
	.ndo_hwtstamp_set = takt_link_hwtstamp_set,
};

static int takt_link_settings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	const struct takt_link *link = netdev_priv(dev);

	settings->base.speed = link->rate ? div_u64(link->rate, 1000000) : SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_TP;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static int takt_link_time_stamps(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
				SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = -1;
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

static void takt_link_driver(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, DRIVER_NAME, sizeof(info->driver));
}

static const struct ethtool_ops takt_link_ethtool = {
	.get_drvinfo = takt_link_driver,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = takt_link_settings,
	.get_ts_info = takt_link_time_stamps,
};

static void takt_link_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &takt_link_operations;
	dev->ethtool_ops = &takt_link_ethtool;
	dev->sysfs_groups[0] = &takt_link_group;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->needs_free_netdev = true;
	dev->max_mtu = ETH_MAX_MTU;
	eth_hw_addr_random(dev);
}

static int takt_link_validate(struct nlattr *attributes[], struct nlattr *data[], struct netlink_ext_ack *extack)
{
	const struct nlattr *address = attributes[IFLA_ADDRESS];

	if (address && (nla_len(address) != ETH_ALEN || !is_valid_ether_addr(nla_data(address))))
		return -EADDRNOTAVAIL;
	return 0;
}

static struct rtnl_link_ops takt_link_kind __read_mostly = {
	.kind = DRIVER_NAME,
	.priv_size = sizeof(struct takt_link),
	.setup = takt_link_setup,
	.validate = takt_link_validate,
};

static int __init takt_link_begin(void)
{
	return rtnl_link_register(&takt_link_kind);
}

static void __exit takt_link_end(void)
{
	rtnl_link_unregister(&takt_link_kind);
}

module_init(takt_link_begin);
module_exit(takt_link_end);
MODULE_DESCRIPTION("Ethernet port with a rate, for Takt's lab");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK(DRIVER_NAME);
