// SPDX-License-Identifier: GPL-2.0
/*
 * PTP clock of the link devices: CLOCK_TAI of the machine.
 *
 * All devices share it, so the clocks of all nodes agree. Nobody can set it: time is virtual, and one clock for the machine.
 */

#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/timekeeping.h>

#include "takt_link.h"

static int read_clock(struct ptp_clock_info *info, struct timespec64 *time, struct ptp_system_timestamp *system)
{
	ptp_read_system_prets(system);
	ktime_get_clocktai_ts64(time);
	ptp_read_system_postts(system);
	return 0;
}

static int set_clock(struct ptp_clock_info *info, const struct timespec64 *time)
{
	return -EOPNOTSUPP;
}

static int shift_clock(struct ptp_clock_info *info, s64 nanoseconds)
{
	return -EOPNOTSUPP;
}

static int speed_clock(struct ptp_clock_info *info, long scaled_ppm)
{
	return -EOPNOTSUPP;
}

static int enable_pin(struct ptp_clock_info *info, struct ptp_clock_request *request, int on)
{
	return -EOPNOTSUPP;
}

static struct ptp_clock_info clock_info = {
	.owner = THIS_MODULE,
	.name = DRIVER_NAME,
	.gettimex64 = read_clock,
	.settime64 = set_clock,
	.adjtime = shift_clock,
	.adjfine = speed_clock,
	.enable = enable_pin,
};

static struct ptp_clock *ptp_clock;

int takt_link_clock_begin(void)
{
	ptp_clock = ptp_clock_register(&clock_info, NULL);
	return PTR_ERR_OR_ZERO(ptp_clock);
}

void takt_link_clock_end(void)
{
	ptp_clock_unregister(ptp_clock);
}

int takt_link_time_stamps(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
				SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = ptp_clock_index(ptp_clock);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}
