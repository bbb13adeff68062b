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
 *   echo "link=1 rate=1000000000 propagation=5 forwarding=0-0 ring=1 seed=1 taps=1" > /sys/class/net/eth0/takt_link/configuration
 *
 * rate is in bit/s, propagation in nanoseconds, forwarding in picoseconds: the least and the greatest time that the node of this
 * device needs to pass a received frame on. It is added before the frame is received, and frames keep their order. ring is the number
 * of frames of each queue that wait in the driver besides the one that is sent. The speed is reported through ethtool. Hardware time stamps are
 * those of the PTP clock at the end of the preamble (IEEE 802.3, 90.7).
 *
 * Packet sockets get a frame when the driver does. With a launch time or gates, that is up to delta before it is sent. With taps=1 they
 * get it once more when it is sent, with the time of its first bit and with a mark (TAKT_LINK_MARK).
 *
 * takt_link_wire.c has the way of frames, takt_link_offload.c the offloads of etf and taprio, takt_link_clock.c the PTP clock.
 */

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/net_tstamp.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "takt_link.h"

/* All devices, under RTNL. */
static LIST_HEAD(devices);

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
	takt_link_cancel_timers(link);
	spin_lock_bh(&link->lock);
	takt_link_purge(link);
	link->rx_dropped += skb_queue_len(&link->arriving);
	__skb_queue_purge(&link->arriving);
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
	stats->rx_dropped = link->rx_dropped;
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

	return sysfs_emit(text, "link=%u rate=%llu propagation=%u forwarding=%llu-%llu ring=%u taps=%u\n", link->number, link->rate,
			  link->propagation, link->forwarding_least, link->forwarding_most, link->ring_size, link->taps);
}

static ssize_t configuration_store(struct device *device, struct device_attribute *attribute, const char *text,
				   size_t length)
{
	struct takt_link *link = netdev_priv(to_net_dev(device));
	u32 number, propagation, ring, taps;
	u64 rate, least, most, seed;

	if (sscanf(text, "link=%u rate=%llu propagation=%u forwarding=%llu-%llu ring=%u seed=%llu taps=%u", &number, &rate,
		   &propagation, &least, &most, &ring, &seed, &taps) != 8)
		return -EINVAL;
	if (number == 0 || rate < 1000 || rate > 1000000000000ull || least > most || ring < 1 || ring > MOST_RING ||
	    taps > 1)
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
	link->taps = taps;
	takt_link_seed(link, seed);
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
	takt_link_init_wire(link);
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
		hrtimer_cancel(&other->wait_timer);
		hrtimer_cancel(&other->free_timer);
		hrtimer_cancel(&other->wait_timer);
		spin_lock_bh(&other->lock);
		takt_link_purge(other);
		spin_unlock_bh(&other->lock);
		link->peer = NULL;
	}
	takt_link_cancel_timers(link);
	__skb_queue_purge(&link->arriving);
	takt_link_free_gates(link);
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
	int error = takt_link_clock_begin();

	if (error)
		return error;
	error = rtnl_link_register(&takt_link_kind);
	if (error)
		takt_link_clock_end();
	return error;
}

static void __exit takt_link_end(void)
{
	rtnl_link_unregister(&takt_link_kind);
	takt_link_clock_end();
}

module_init(takt_link_begin);
module_exit(takt_link_end);
MODULE_DESCRIPTION("Ethernet port with a rate, for Takt's lab");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK(DRIVER_NAME);
