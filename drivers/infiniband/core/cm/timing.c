// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The times of the communication manager: see timing.h.
 */
#include <kunit/visibility.h>
#include <linux/bits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "timing.h"

/* The longest TIMEWAIT that a peer may choose: 4.3 s. */
#define PEER_TIMEWAIT_MAX	20

/* Nanoseconds of the IBA time 0. */
#define CM_TIME_UNIT_NS	4096ULL

/**
 * cm_time_to_ms() - convert an IBA time to milliseconds
 * @iba_time: 4.096 us * 2^n; above CM_TIME_MAX, which no message can say, it counts as that
 *
 * Rounds up, so that a wait is never too short.
 *
 * Return: milliseconds, 1 to 8796094.
 */
u32 cm_time_to_ms(u8 iba_time)
{
	u64 ns = CM_TIME_UNIT_NS << min_t(u8, iba_time, CM_TIME_MAX);

	return div_u64(ns + NSEC_PER_MSEC - 1, NSEC_PER_MSEC);
}
EXPORT_SYMBOL_IF_KUNIT(cm_time_to_ms);

/**
 * cm_ack_timeout() - after which time a QP may take an acknowledgment for lost
 * @ack_delay: IBA time the remote adapter takes to acknowledge
 * @packet_life: IBA time a packet may be under way
 *
 * The sum of two ways and the delay lies between two IBA times. It becomes the nearer one, the
 * longer one in the middle: always rounding up would double the wait for a packet that really is
 * lost.
 *
 * Return: IBA time, at most CM_TIME_MAX.
 */
u8 cm_ack_timeout(u8 ack_delay, u8 packet_life)
{
	u64 sum = (2ULL << min_t(u8, packet_life, CM_TIME_MAX)) +
		  (1ULL << min_t(u8, ack_delay, CM_TIME_MAX));
	int time = ilog2(sum);

	if (sum & BIT_ULL(time - 1))
		time++;
	return min(time, CM_TIME_MAX);
}
EXPORT_SYMBOL_IF_KUNIT(cm_ack_timeout);

/**
 * cm_packet_life() - compute the packet lifetime of a path from its ACK timeout
 * @ack_timeout: IBA time, as a REQ or LAP says it
 *
 * Return: IBA time: half of the ACK timeout, as if the delay were nothing.
 */
u8 cm_packet_life(u8 ack_timeout)
{
	return ack_timeout ? min(ack_timeout - 1, CM_TIME_MAX) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cm_packet_life);

/**
 * cm_request_ms() - compute how long the sender of a REQ or LAP waits before it repeats it
 * @packet_life: IBA time a packet may be under way
 * @remote_response_timeout: IBA time that the message gives the peer
 *
 * Return: milliseconds.
 */
u32 cm_request_ms(u8 packet_life, u8 remote_response_timeout)
{
	return 2 * cm_time_to_ms(packet_life) + cm_time_to_ms(remote_response_timeout);
}
EXPORT_SYMBOL_IF_KUNIT(cm_request_ms);

/**
 * cm_reply_ms() - compute how long the passive side waits before it repeats a REP or DREQ
 * @local_response_timeout: IBA time that the REQ says, in which the ways are contained
 *
 * Return: milliseconds.
 */
u32 cm_reply_ms(u8 local_response_timeout)
{
	return cm_time_to_ms(local_response_timeout);
}
EXPORT_SYMBOL_IF_KUNIT(cm_reply_ms);

/**
 * cm_mra_ms() - compute how long the receiver of an MRA waits for the answer
 * @service_timeout: IBA time that the MRA says
 * @ack_timeout: IBA time of the path, for the way of the answer
 *
 * Return: milliseconds.
 */
u32 cm_mra_ms(u8 service_timeout, u8 ack_timeout)
{
	return cm_time_to_ms(service_timeout) + cm_time_to_ms(ack_timeout);
}
EXPORT_SYMBOL_IF_KUNIT(cm_mra_ms);

/**
 * cm_timewait_ms() - compute how long TIMEWAIT lasts
 * @ack_timeout: IBA time of the path, in which the peer has had a say
 * @own_timeout: IBA time that the path has by this side alone; 0 if the peer has brought the path
 *
 * The own QP must not be connected again in that time.
 *
 * The id of the peer stays taken, too, as a message has said it, which anybody may have
 * sent. So that nobody keeps the ids of others taken for long, what the peer has said counts up to
 * 4.3 s only.
 *
 * Return: milliseconds.
 */
u32 cm_timewait_ms(u8 ack_timeout, u8 own_timeout)
{
	return cm_time_to_ms(max_t(u8, own_timeout, min_t(u8, ack_timeout, PEER_TIMEWAIT_MAX)));
}
EXPORT_SYMBOL_IF_KUNIT(cm_timewait_ms);
