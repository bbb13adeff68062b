// SPDX-License-Identifier: GPL-2.0
/*
 * Way of frames through the link device: from the queues of the driver to the cable, and from there to the other end.
 */

#include <linux/etherdevice.h>
#include <linux/math64.h>
#include <linux/net_tstamp.h>
#include <linux/timekeeping.h>

#include "takt_link.h"

/* Time of a frame that is on the cable or waits to be forwarded, in the control block of the buffer. */
struct takt_link_flight {
	ktime_t delivery;
	ktime_t stamp;
};

static struct takt_link_flight *flight_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct takt_link_flight) > sizeof(skb->cb));
	return (struct takt_link_flight *)skb->cb;
}

/* Time of bytes on the wire in nanoseconds, rounded up. */
u64 takt_link_wire_time(const struct takt_link *link, u64 bytes)
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
void takt_link_seed(struct takt_link *link, u64 seed)
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

/* Time of the PTP clock, CLOCK_TAI, at a time of CLOCK_MONOTONIC. */
static ktime_t clock_time(ktime_t monotonic)
{
	return ktime_mono_to_any(monotonic, TK_OFFS_TAI);
}

/* Returns true if a packet socket wants no frames that are sent, or has sent this one itself, as in net/core/dev.c. */
static bool skips(const struct packet_type *socket, const struct sk_buff *skb)
{
	if (READ_ONCE(socket->ignore_outgoing))
		return true;
	if (!socket->af_packet_priv || !skb->sk)
		return false;
	if (socket->id_match)
		return socket->id_match((struct packet_type *)socket, skb->sk);
	return socket->af_packet_priv == skb->sk;
}

/*
 * Gives a frame to the packet sockets of the device once more, with the time of its first bit and with a mark: the kernel gave it to them
 * when the driver got it. Under the lock.
 */
static void tap(struct takt_link *link, struct sk_buff *skb, ktime_t first_bit)
{
	struct packet_type *socket;

	if (!link->taps)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(socket, &link->dev->ptype_all, list) {
		struct sk_buff *clone;

		if (skips(socket, skb))
			continue;
		clone = skb_clone(skb, GFP_ATOMIC);
		if (!clone)
			break;
		skb_reset_mac_header(clone);
		clone->pkt_type = PACKET_OUTGOING;
		clone->mark = TAKT_LINK_MARK;
		skb_set_delivery_type_by_clockid(clone, ktime_mono_to_real(first_bit), CLOCK_REALTIME);
		socket->func(clone, link->dev, socket, link->dev);
	}
	rcu_read_unlock();
}

/* Lets the qdisc of a queue go on if there is room. Under the lock. */
static void wake(struct takt_link *link, unsigned int queue)
{
	if (skb_queue_len(&link->rings[queue]) < takt_link_ring_size(link, queue))
		netif_wake_subqueue(link->dev, queue);
}

/* Begins to send the first frame of a queue. Under the lock. */
static void begin(struct takt_link *link, unsigned int queue, u64 duration, ktime_t now)
{
	struct sk_buff *skb = __skb_dequeue(&link->rings[queue]);
	ktime_t stamp = clock_time(ktime_add_ns(now, takt_link_wire_time(link, PREAMBLE_BYTES)));

	link->sending = skb;
	link->started = now;
	link->free_at = ktime_add_ns(now, duration);
	hrtimer_start(&link->free_timer, link->free_at, HRTIMER_MODE_ABS_SOFT);
	tap(link, skb, now);
	if (link->stamps && (skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP)) {
		struct skb_shared_hwtstamps stamps = { .hwtstamp = stamp };

		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
		skb_tstamp_tx(skb, &stamps);
	}
	wake(link, queue);
}

static u64 duration_of(const struct takt_link *link, const struct sk_buff *skb)
{
	return takt_link_wire_time(link, max_t(unsigned int, skb->len, SHORTEST_FRAME) + WIRE_OVERHEAD);
}

/* First frame of a queue that fits into one of its windows. Frames before it are dropped. Under the lock. */
static struct sk_buff *first_that_fits(struct takt_link *link, unsigned int queue, ktime_t clock, u64 *duration)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(&link->rings[queue]))) {
		*duration = duration_of(link, skb);
		if (takt_link_fits(link, queue, *duration, clock))
			break;
		__skb_unlink(skb, &link->rings[queue]);
		link->window_drops++;
		link->dropped++;
		takt_link_report_missed(link, queue, skb);
		dev_kfree_skb_any(skb);
		wake(link, queue);
	}
	return skb;
}

/* Drops all frames that are not sent yet, and counts them. Under the lock. */
void takt_link_purge(struct takt_link *link)
{
	struct sk_buff *skb;

	for (unsigned int queue = 0; queue < MOST_QUEUES; queue++) {
		while ((skb = __skb_dequeue(&link->rings[queue]))) {
			link->dropped++;
			takt_link_report_missed(link, queue, skb);
			dev_kfree_skb_any(skb);
		}
	}
	if (link->sending) {
		link->dropped++;
		dev_kfree_skb_any(link->sending);
		link->sending = NULL;
	}
}

/* Begins to send the frame of the lowest queue whose first frame may begin, or waits until one may. Under the lock. */
void takt_link_begin_next(struct takt_link *link, ktime_t now)
{
	ktime_t clock = clock_time(now), next = KTIME_MAX;

	/* Timers of a device that is switched off, or has lost its other end, start no others. */
	if (link->sending || !link->peer || !netif_running(link->dev))
		return;
	for (unsigned int queue = 0; queue < link->dev->real_num_tx_queues; queue++) {
		u64 duration;
		struct sk_buff *skb = first_that_fits(link, queue, clock, &duration);

		if (!skb)
			continue;
		if (!takt_link_may_begin(link, queue, skb, duration, clock, &next))
			continue;
		begin(link, queue, duration, now);
		return;
	}
	if (next != KTIME_MAX)
		hrtimer_start(&link->wait_timer, next, HRTIMER_MODE_ABS_SOFT);
}

/* A launch time or a change of a gate has come. Frames begin at that time, although the clock has moved on by reading it. */
static enum hrtimer_restart wait_is_over(struct hrtimer *timer)
{
	struct takt_link *link = container_of(timer, struct takt_link, wait_timer);
	ktime_t planned = ktime_sub(hrtimer_get_expires(timer), clock_time(0));

	spin_lock(&link->lock);
	takt_link_begin_next(link, max(planned, link->free_at));
	spin_unlock(&link->lock);
	return HRTIMER_NORESTART;
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
	stamp = ktime_add_ns(link->started, takt_link_wire_time(link, PREAMBLE_BYTES) + link->propagation);
	peer = link->peer;
	if (skb) {
		link->tx_packets++;
		link->tx_bytes += skb->len;
	}
	takt_link_begin_next(link, link->free_at);
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
			link->rx_dropped++;
			continue;
		}
		if (link->stamps)
			skb_hwtstamps(skb)->hwtstamp = clock_time(stamp);
		link->rx_packets++;
		link->rx_bytes += length;
		netif_rx(skb);
	}
	return HRTIMER_NORESTART;
}

netdev_tx_t takt_link_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct takt_link *link = netdev_priv(dev);
	unsigned int queue = skb_get_queue_mapping(skb);
	struct sk_buff_head *ring = &link->rings[queue];
	ktime_t now;

	if (skb_put_padto(skb, SHORTEST_FRAME)) {
		link->dropped++;
		return NETDEV_TX_OK;
	}
	spin_lock_bh(&link->lock);
	now = ktime_get();
	if (!link->peer || !link->rate || !takt_link_accepts(link, queue, skb, duration_of(link, skb), clock_time(now))) {
		link->dropped++;
		spin_unlock_bh(&link->lock);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	__skb_queue_tail(ring, skb);
	takt_link_begin_next(link, now);
	if (skb_queue_len(ring) >= takt_link_ring_size(link, queue))
		netif_stop_subqueue(dev, queue);
	spin_unlock_bh(&link->lock);
	return NETDEV_TX_OK;
}

void takt_link_init_wire(struct takt_link *link)
{
	spin_lock_init(&link->lock);
	hrtimer_init(&link->free_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	link->free_timer.function = link_is_free;
	hrtimer_init(&link->wait_timer, CLOCK_TAI, HRTIMER_MODE_ABS_SOFT);
	link->wait_timer.function = wait_is_over;
	hrtimer_init(&link->delivery_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	link->delivery_timer.function = frames_arrive;
	for (unsigned int queue = 0; queue < MOST_QUEUES; queue++)
		__skb_queue_head_init(&link->rings[queue]);
	__skb_queue_head_init(&link->arriving);
}

void takt_link_cancel_timers(struct takt_link *link)
{
	/* The timer of either kind that runs now may start one of the other kind. Those that begin to run later start none. */
	hrtimer_cancel(&link->wait_timer);
	hrtimer_cancel(&link->free_timer);
	hrtimer_cancel(&link->wait_timer);
	hrtimer_cancel(&link->delivery_timer);
}
