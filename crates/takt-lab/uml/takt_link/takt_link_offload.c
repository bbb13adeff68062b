// SPDX-License-Identifier: GPL-2.0
/*
 * Offloads of the link device: launch times of etf, and gates of taprio (flags 2).
 *
 * A queue with etf in offload mode keeps launch times: the first frame of its ring is sent at the time of its buffer (CLOCK_TAI) or, if
 * the link is busy then, as soon as it is free; frames behind it wait, as behind the first descriptor of a queue of an Intel I210.
 * Other than there, a frame whose launch time has passed when the driver gets it is dropped after a grace of 1 us, and reported to its
 * socket if that asked for reports.
 *
 * Gates belong to queues. A frame begins if the gate of its queue is open and the frame, with all its bytes on the wire, ends before
 * the gate closes. Consecutive entries with an open gate are one window. A schedule comes into force at its base time or, if that has
 * passed, at the next begin of its cycle. A frame that is longer than all windows of its queue is dropped, in those of the schedule in
 * force and of the next one: when the driver gets it, or later, if the schedule that was in force then has been replaced.
 *
 * A taprio that replaces another one under another handle hands over its gates before the other one takes its gates away, and the device
 * cannot tell whose they are: it has no gates then, as other devices. Replace it under its own handle.
 */

#include <linux/errqueue.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/pkt_sched.h>
#include <net/sock.h>

#include "takt_link.h"

/* Frames of a queue with launch times that wait in the driver. */
#define LAUNCH_RING 64

/*
 * Time after its launch time at which the driver may get a frame. In deadline mode, etf sets the launch time to the present, and each
 * reading of the clock takes a nanosecond.
 */
#define LAUNCH_GRACE 1000

struct takt_link_gates {
	/* Begin of a cycle, CLOCK_TAI. */
	s64 base;
	s64 cycle;
	/* Longest window of each queue in nanoseconds: 0 if its gate is never open, S64_MAX if it never closes. */
	s64 longest[MOST_QUEUES];
	unsigned int count;
	struct {
		/* End of the entry after the begin of the cycle. */
		s64 end;
		u32 open;
	} entries[];
};

static bool is_open(const struct takt_link_gates *gates, unsigned int entry, unsigned int queue)
{
	return gates->entries[entry % gates->count].open & BIT(queue);
}

/* Begin of the cycle that a time is in, also before the base time. */
static s64 cycle_begin(const struct takt_link_gates *gates, s64 now)
{
	s64 past = now - gates->base;
	s64 cycles = div64_s64(past, gates->cycle);

	if (cycles * gates->cycle > past)
		cycles--;
	return gates->base + cycles * gates->cycle;
}

/* State of the gate of a queue, and the time at which it changes: S64_MAX if it never does. */
static bool window(const struct takt_link_gates *gates, unsigned int queue, s64 now, s64 *change)
{
	s64 begin = cycle_begin(gates, now);
	unsigned int current_entry = 0, next;
	bool open;

	while (current_entry + 1 < gates->count && now - begin >= gates->entries[current_entry].end)
		current_entry++;
	open = is_open(gates, current_entry, queue);
	*change = S64_MAX;
	for (next = current_entry + 1; next <= current_entry + gates->count; next++) {
		unsigned int before = next - 1;

		if (is_open(gates, next, queue) == open)
			continue;
		*change = begin + gates->entries[before % gates->count].end + (before / gates->count) * gates->cycle;
		break;
	}
	return open;
}

static s64 longest_window(const struct takt_link_gates *gates, unsigned int queue)
{
	s64 longest = 0, change;

	for (unsigned int entry = 0; entry < gates->count; entry++) {
		s64 begin = gates->base + (entry ? gates->entries[entry - 1].end : 0);

		if (!window(gates, queue, begin, &change))
			continue;
		longest = max(longest, change == S64_MAX ? S64_MAX : change - begin);
	}
	return longest;
}

/* Number of frames of a queue for which the driver has room. */
u32 takt_link_ring_size(const struct takt_link *link, unsigned int queue)
{
	return link->launching[queue] ? LAUNCH_RING : link->ring_size;
}

/* Brings the next schedule into force if its time has come. Under the lock. */
static void advance(struct takt_link *link, ktime_t now)
{
	if (!link->admin || ktime_before(now, link->admin_start))
		return;
	kfree(link->oper);
	link->oper = link->admin;
	link->admin = NULL;
}

/*
 * Returns true if the first frame of a queue may begin now (CLOCK_TAI). Otherwise `next` becomes the time at which that may change, if it
 * is later than that. Under the lock.
 */
bool takt_link_may_begin(struct takt_link *link, unsigned int queue, const struct sk_buff *skb, u64 duration, ktime_t now,
			 ktime_t *next)
{
	s64 change;
	bool open;

	if (link->launching[queue] && ktime_after(skb->tstamp, now)) {
		*next = min(*next, skb->tstamp);
		return false;
	}
	advance(link, now);
	if (!link->oper)
		return true;
	open = window(link->oper, queue, now, &change);
	if (link->admin)
		change = min_t(s64, change, link->admin_start);
	if (open && (change == S64_MAX || now + (s64)duration <= change))
		return true;
	*next = min_t(s64, *next, change);
	return false;
}

/*
 * Returns false if a frame is longer than all windows of its queue, so that it would hold back its ring for ever. It waits for a schedule
 * that is about to come into force. Under the lock.
 */
bool takt_link_fits(struct takt_link *link, unsigned int queue, u64 duration, ktime_t now)
{
	advance(link, now);
	if (!link->oper || (s64)duration <= link->oper->longest[queue])
		return true;
	return link->admin && (s64)duration <= link->admin->longest[queue];
}

/*
 * Tells the socket of a frame that is dropped that its launch time was missed, in the form of etf (SO_TXTIME,
 * SOF_TXTIME_REPORT_ERRORS).
 */
void takt_link_report_missed(const struct takt_link *link, unsigned int queue, struct sk_buff *skb)
{
	struct sock *sk = skb->sk;
	u64 time = ktime_to_ns(skb->tstamp);
	struct sk_buff *report;

	if (!link->launching[queue] || !skb->tstamp)
		return;
	if (!sk || !sk_fullsock(sk) || !sk->sk_txtime_report_errors)
		return;
	report = skb_clone(skb, GFP_ATOMIC);
	if (!report)
		return;
	SKB_EXT_ERR(report)->ee = (struct sock_extended_err) {
		.ee_errno = ECANCELED,
		.ee_origin = SO_EE_ORIGIN_TXTIME,
		.ee_code = SO_EE_CODE_TXTIME_MISSED,
		.ee_info = lower_32_bits(time),
		.ee_data = upper_32_bits(time),
	};
	if (sock_queue_err_skb(sk, report))
		kfree_skb(report);
}

/* Returns false if the driver has to drop a frame that it gets now (CLOCK_TAI). Under the lock. */
bool takt_link_accepts(struct takt_link *link, unsigned int queue, struct sk_buff *skb, u64 duration, ktime_t now)
{
	if (link->launching[queue] && skb->tstamp && ktime_after(now, ktime_add_ns(skb->tstamp, LAUNCH_GRACE))) {
		takt_link_report_missed(link, queue, skb);
		return false;
	}
	if (!takt_link_fits(link, queue, duration, now)) {
		link->window_drops++;
		return false;
	}
	return true;
}

void takt_link_free_gates(struct takt_link *link)
{
	kfree(link->oper);
	kfree(link->admin);
	link->oper = NULL;
	link->admin = NULL;
}

/* Lets waiting frames begin that may do so by new rules. Under the lock. */
static void look_again(struct takt_link *link)
{
	if (netif_running(link->dev))
		takt_link_begin_next(link, ktime_get());
}

static int set_launching(struct takt_link *link, const struct tc_etf_qopt_offload *etf)
{
	if (etf->queue < 0 || etf->queue >= link->dev->num_tx_queues)
		return -EINVAL;
	spin_lock_bh(&link->lock);
	/* An etf that replaces another one is enabled before the other one is disabled. */
	if (etf->enable)
		link->launching[etf->queue]++;
	else if (link->launching[etf->queue])
		link->launching[etf->queue]--;
	look_again(link);
	spin_unlock_bh(&link->lock);
	return 0;
}

/* Makes the schedule that taprio hands over. The last entry ends with the cycle, as in taprio. */
static struct takt_link_gates *make_gates(const struct tc_taprio_qopt_offload *offload)
{
	struct takt_link_gates *gates;
	s64 end = 0;

	if (offload->cycle_time_extension) {
		NL_SET_ERR_MSG_MOD(offload->extack, "cycle_time_extension is not supported");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (!offload->cycle_time || !offload->num_entries) {
		NL_SET_ERR_MSG_MOD(offload->extack, "a schedule has entries and a cycle time");
		return ERR_PTR(-EOPNOTSUPP);
	}
	/* So that no time near the present or the base time, less or more a cycle, overflows. */
	if (offload->cycle_time > KTIME_MAX / 4 || offload->base_time < 0 ||
	    offload->base_time > KTIME_MAX - 2 * (s64)offload->cycle_time) {
		NL_SET_ERR_MSG_MOD(offload->extack, "base_time or cycle_time is out of range");
		return ERR_PTR(-ERANGE);
	}
	gates = kzalloc(struct_size(gates, entries, offload->num_entries), GFP_KERNEL);
	if (!gates)
		return ERR_PTR(-ENOMEM);
	gates->base = ktime_to_ns(offload->base_time);
	gates->cycle = offload->cycle_time;
	for (size_t i = 0; i < offload->num_entries && end < gates->cycle; i++) {
		const struct tc_taprio_sched_entry *entry = &offload->entries[i];

		if (entry->command != TC_TAPRIO_CMD_SET_GATES) {
			NL_SET_ERR_MSG_MOD(offload->extack, "entries other than SetGateStates (S) are not supported");
			kfree(gates);
			return ERR_PTR(-EOPNOTSUPP);
		}
		end = min_t(s64, end + entry->interval, gates->cycle);
		gates->entries[i].end = end;
		gates->entries[i].open = entry->gate_mask;
		gates->count++;
	}
	gates->entries[gates->count - 1].end = gates->cycle;
	for (unsigned int queue = 0; queue < MOST_QUEUES; queue++)
		gates->longest[queue] = longest_window(gates, queue);
	return gates;
}

static int replace_gates(struct takt_link *link, const struct tc_taprio_qopt_offload *offload)
{
	struct takt_link_gates *gates = make_gates(offload);
	s64 now, begin;

	if (IS_ERR(gates))
		return PTR_ERR(gates);
	spin_lock_bh(&link->lock);
	now = ktime_to_ns(ktime_get_clocktai());
	begin = cycle_begin(gates, now);
	if (begin < now)
		begin += gates->cycle;
	kfree(link->admin);
	link->admin = gates;
	link->admin_start = ns_to_ktime(max(begin, gates->base));
	look_again(link);
	spin_unlock_bh(&link->lock);
	return 0;
}

static int set_gates(struct takt_link *link, struct tc_taprio_qopt_offload *offload)
{
	switch (offload->cmd) {
	case TAPRIO_CMD_REPLACE:
		return replace_gates(link, offload);
	case TAPRIO_CMD_DESTROY:
		spin_lock_bh(&link->lock);
		takt_link_free_gates(link);
		look_again(link);
		spin_unlock_bh(&link->lock);
		return 0;
	case TAPRIO_CMD_STATS:
		spin_lock_bh(&link->lock);
		offload->stats.window_drops = link->window_drops;
		/* A frame that would not end in its window does not begin. */
		offload->stats.tx_overruns = 0;
		spin_unlock_bh(&link->lock);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/*
 * taprio in software asks whether the hardware sends the lowest queue first, whatever its class is, and then looks at queues in that
 * order. taprio in hardware asks whether gates belong to queues or to classes.
 */
static int answer_taprio(const struct tc_query_caps_base *query)
{
	struct tc_taprio_caps *caps = query->caps;

	if (query->type != TC_SETUP_QDISC_TAPRIO)
		return -EOPNOTSUPP;
	caps->broken_mqprio = true;
	caps->gate_mask_per_txq = true;
	return 0;
}

int takt_link_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data)
{
	struct takt_link *link = netdev_priv(dev);

	switch (type) {
	case TC_QUERY_CAPS:
		return answer_taprio(data);
	case TC_SETUP_QDISC_ETF:
		return set_launching(link, data);
	case TC_SETUP_QDISC_TAPRIO:
		return set_gates(link, data);
	default:
		return -EOPNOTSUPP;
	}
}
