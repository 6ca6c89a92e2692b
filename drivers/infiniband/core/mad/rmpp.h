/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RMPP as two state machines, a sender and a receiver, which work on segment numbers alone, without
 * devices, memory and timers.
 *
 * Segments are numbered from 1. The receiver acknowledges the last segment up to which it has all,
 * and grants a window up to which the sender may send. The sender recovers lost segments and
 * acknowledgments by continuing after the last acknowledged segment: when its timer expires, or at
 * once when an acknowledgment shows that a segment before the end of the window is missing.
 */
#ifndef RDMA_MAD_RMPP_H
#define RDMA_MAD_RMPP_H

#include <linux/types.h>

/* Segments that a receiver accepts without acknowledgment: as many as a u64 has bits. */
#define RMPP_WINDOW 64

/**
 * struct rmpp_tx - sender
 * @segs: number of segments, at least 1
 * @acked: the receiver has all up to this one
 * @window: last segment that may be sent
 * @next: next segment to send
 * @resent_from: segment from which the last acknowledgment has made it resend, 0 for none
 */
struct rmpp_tx {
	u32 segs;
	u32 acked;
	u32 window;
	u32 next;
	u32 resent_from;
};

enum rmpp_tx_event {
	RMPP_TX_STALE,		/* nothing new */
	RMPP_TX_PROGRESS,	/* more segments are acknowledged */
	RMPP_TX_DONE,		/* all segments are acknowledged */
	RMPP_TX_ABORT,		/* the acknowledgment is invalid; status has the reason */
};

void rmpp_tx_init(struct rmpp_tx *tx, u32 segs);
u32 rmpp_tx_next(struct rmpp_tx *tx);
enum rmpp_tx_event rmpp_tx_ack(struct rmpp_tx *tx, u32 seg, u32 window, u8 *status);
void rmpp_tx_again(struct rmpp_tx *tx);

static inline bool rmpp_tx_done(const struct rmpp_tx *tx)
{
	return tx->acked == tx->segs;
}

/**
 * struct rmpp_rx - receiver
 * @have: all up to this segment have arrived
 * @window: last segment that may arrive
 * @last: number of the last segment, 0 while it is not known
 * @early: bit n: segment @have + 2 + n has arrived, before @have + 1
 */
struct rmpp_rx {
	u32 have;
	u32 window;
	u32 last;
	u64 early;
};

enum rmpp_rx_event {
	RMPP_RX_DROP,	/* outside the window, or a duplicate */
	RMPP_RX_KEEP,	/* new */
	RMPP_RX_DONE,	/* new, and the last that was missing */
	RMPP_RX_ABORT,	/* the segment is invalid; status has the reason */
};

void rmpp_rx_init(struct rmpp_rx *rx);
enum rmpp_rx_event rmpp_rx_data(struct rmpp_rx *rx, u32 seg, u8 flags, u32 len, u32 max_len,
				bool *ack, u8 *status);

static inline bool rmpp_rx_done(const struct rmpp_rx *rx)
{
	return rx->last && rx->have == rx->last;
}

#endif
