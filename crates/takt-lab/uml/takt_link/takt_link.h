/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of the link device of Takt's lab: takt_link_device.c describes it. */
#ifndef TAKT_LINK_H
#define TAKT_LINK_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#define DRIVER_NAME "takt_link"

/* Bytes on the wire besides the frame: preamble and start of frame, check sequence, interframe gap. */
#define PREAMBLE_BYTES 8
#define WIRE_OVERHEAD (PREAMBLE_BYTES + 4 + 12)
#define SHORTEST_FRAME 60
#define MOST_QUEUES 16
#define MOST_RING 4096

/* Mark of a frame that packet sockets get when it is sent. takt-lab's captures know it. */
#define TAKT_LINK_MARK 0x54414b54

struct ethtool_ts_info;
struct kernel_ethtool_ts_info;
struct takt_link_gates;

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
	/* Number of etf qdiscs in offload mode of each queue: two while one replaces another. */
	u8 launching[MOST_QUEUES];
	/* Schedule of gates in force, and the one that follows at a time of CLOCK_TAI. */
	struct takt_link_gates *oper;
	struct takt_link_gates *admin;
	ktime_t admin_start;
	u64 window_drops;
	/* Of CLOCK_TAI: next launch time or change of a gate for which a frame waits while the link is free. */
	struct hrtimer wait_timer;
	/* Frames on their way to this device. */
	struct sk_buff_head arriving;
	ktime_t last_delivery;
	struct hrtimer delivery_timer;
	bool stamps;
	/* True if packet sockets get each frame once more when it is sent. */
	bool taps;
	u64 tx_packets;
	u64 tx_bytes;
	u64 rx_packets;
	u64 rx_bytes;
	u64 dropped;
	u64 rx_dropped;
};

/* takt_link_wire.c */

void takt_link_init_wire(struct takt_link *link);
void takt_link_cancel_timers(struct takt_link *link);
void takt_link_purge(struct takt_link *link);
void takt_link_seed(struct takt_link *link, u64 seed);
u64 takt_link_wire_time(const struct takt_link *link, u64 bytes);
void takt_link_begin_next(struct takt_link *link, ktime_t now);
netdev_tx_t takt_link_xmit(struct sk_buff *skb, struct net_device *dev);

/* takt_link_offload.c */

int takt_link_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data);
void takt_link_free_gates(struct takt_link *link);
u32 takt_link_ring_size(const struct takt_link *link, unsigned int queue);
bool takt_link_may_begin(struct takt_link *link, unsigned int queue, const struct sk_buff *skb, u64 duration, ktime_t now,
			 ktime_t *next);
bool takt_link_fits(struct takt_link *link, unsigned int queue, u64 duration, ktime_t now);
void takt_link_report_missed(const struct takt_link *link, unsigned int queue, struct sk_buff *skb);
bool takt_link_accepts(struct takt_link *link, unsigned int queue, struct sk_buff *skb, u64 duration, ktime_t now);

/* takt_link_clock.c */

int takt_link_clock_begin(void);
void takt_link_clock_end(void);
int takt_link_time_stamps(struct net_device *dev, struct kernel_ethtool_ts_info *info);

#endif
