/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers of the lab's kernel: the same ones at each start, so that runs are repeatable. The kernel hashes flows with them. No
 * secret is safe in this kernel.
 */
#ifndef __ASM_UM_ARCHRANDOM_H__
#define __ASM_UM_ARCHRANDOM_H__

#include <linux/types.h>

static inline size_t __must_check arch_get_random_longs(unsigned long *values, size_t count)
{
	static u64 state;

	for (size_t i = 0; i < count; i++) {
		u64 value = state += 0x9E3779B97F4A7C15ull;

		value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
		value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
		values[i] = value ^ (value >> 31);
	}
	return count;
}

static inline size_t __must_check arch_get_random_seed_longs(unsigned long *values, size_t count)
{
	return arch_get_random_longs(values, count);
}

#endif
