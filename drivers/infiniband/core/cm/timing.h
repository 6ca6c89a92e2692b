/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The times of the communication manager, computed from what the messages say.
 *
 * InfiniBand counts times as 4.096 us * 2^n with n of 5 bits. Here n is called an IBA time.
 */
#ifndef RDMA_CM_TIMING_H
#define RDMA_CM_TIMING_H

#include <linux/types.h>

/* The largest IBA time: 2.4 hours. */
#define CM_TIME_MAX	31

u32 cm_time_to_ms(u8 iba_time);
u8 cm_ack_timeout(u8 ack_delay, u8 packet_life);
u8 cm_packet_life(u8 ack_timeout);

/* Wait of the sender of a REQ or LAP: there and back, and what the peer may take to answer. */
u32 cm_request_ms(u8 packet_life, u8 remote_response_timeout);
/* Wait of the sender of a REP or a passive side's DREQ: what the REQ granted, paths included. */
u32 cm_reply_ms(u8 local_response_timeout);
/* Wait after an MRA: what it asks for, and one ACK timeout for the way. */
u32 cm_mra_ms(u8 service_timeout, u8 ack_timeout);
/* Time in TIMEWAIT: until no packet of the connection can be under way any more. */
u32 cm_timewait_ms(u8 ack_timeout, u8 own_timeout);

#endif
