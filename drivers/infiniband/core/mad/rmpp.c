// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RMPP state machines: see rmpp.h.
 */
#include <kunit/visibility.h>
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <rdma/ib_mad.h>

#include "rmpp.h"

/**
 * rmpp_tx_init() - begin to send
 * @tx: the sender
 * @segs: number of segments, at least 1
 *
 * The first window is one segment, since the receiver has not offered more yet.
 */
void rmpp_tx_init(struct rmpp_tx *tx, u32 segs)
{
	*tx = (struct rmpp_tx){ .segs = segs, .window = 1, .next = 1 };
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_init);

/**
 * rmpp_tx_next() - take the next segment to send
 * @tx: the sender
 *
 * Return: its number, or 0 if the sender has to wait for an acknowledgment.
 */
u32 rmpp_tx_next(struct rmpp_tx *tx)
{
	if (tx->next > min(tx->window, tx->segs))
		return 0;
	return tx->next++;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_next);

/**
 * rmpp_tx_ack() - handle an acknowledgment
 * @tx: the sender
 * @seg: segment that it names
 * @window: end of the window that it grants
 * @status: receives IB_MGMT_RMPP_STATUS_* for RMPP_TX_ABORT
 *
 * Return: its effect.
 */
enum rmpp_tx_event rmpp_tx_ack(struct rmpp_tx *tx, u32 seg, u32 window, u8 *status)
{
	if (window < seg) {
		*status = IB_MGMT_RMPP_STATUS_W2S;
		return RMPP_TX_ABORT;
	}
	/* After a resend, the last segment sent may be a low one, but not below @acked. */
	if (seg > min(tx->window, tx->segs)) {
		*status = IB_MGMT_RMPP_STATUS_S2B;
		return RMPP_TX_ABORT;
	}
	if (seg < tx->acked || rmpp_tx_done(tx))
		return RMPP_TX_STALE;

	/*
	 * The end of the former window has requested this acknowledgment. If it names a lower
	 * segment, something is missing: the sender continues from there, but only once for each
	 * gap, so that duplicates do not cause further duplicates.
	 */
	if (tx->next > min(tx->window, tx->segs) && seg + 1 < tx->next &&
	    tx->resent_from != seg + 1) {
		tx->resent_from = seg + 1;
		tx->next = seg + 1;
	}
	tx->next = max(tx->next, seg + 1);
	tx->window = max(tx->window, window);
	if (seg == tx->acked)
		return RMPP_TX_STALE;
	tx->acked = seg;
	return rmpp_tx_done(tx) ? RMPP_TX_DONE : RMPP_TX_PROGRESS;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_ack);

/**
 * rmpp_tx_again() - handle a missing acknowledgment
 * @tx: the sender, which continues after the acknowledged segments, or with the last segment if all
 *	are acknowledged, because the receiver may still owe a response
 */
void rmpp_tx_again(struct rmpp_tx *tx)
{
	tx->next = min(tx->acked + 1, tx->segs);
	tx->resent_from = 0;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_again);

/**
 * rmpp_rx_init() - begin to receive
 * @rx: the receiver
 */
void rmpp_rx_init(struct rmpp_rx *rx)
{
	*rx = (struct rmpp_rx){ .window = 1 };
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_init);

/* Only the first segment has the flag FIRST, and the number of the last one must not change. */
static u8 check_segment(const struct rmpp_rx *rx, u32 seg, u8 flags, u32 len, u32 max_len)
{
	bool first = flags & IB_MGMT_RMPP_FLAG_FIRST, last = flags & IB_MGMT_RMPP_FLAG_LAST;
	bool is_first = seg == 1, is_last = seg == rx->last;

	if (!seg || first != is_first)
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (rx->last && (seg > rx->last || last != is_last))
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (!last)
		return IB_MGMT_RMPP_STATUS_SUCCESS;
	if (rx->early && seg < rx->have + 1 + fls64(rx->early))
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (len > max_len)
		return IB_MGMT_RMPP_STATUS_BAD_LEN;
	return IB_MGMT_RMPP_STATUS_SUCCESS;
}

static void take(struct rmpp_rx *rx, u32 seg)
{
	if (seg != rx->have + 1) {
		rx->early |= BIT_ULL(seg - rx->have - 2);
		return;
	}
	rx->have++;
	while (rx->early & 1) {
		rx->have++;
		rx->early >>= 1;
	}
	rx->early >>= 1;
}

/**
 * rmpp_rx_data() - handle a segment
 * @rx: the receiver
 * @seg: its number
 * @flags: IB_MGMT_RMPP_FLAG_*
 * @len: payload length of its header, in bytes; used only in the last segment
 * @max_len: largest payload of a segment in bytes
 * @ack: set if it is to be acknowledged, with @rx->have and @rx->window
 * @status: receives IB_MGMT_RMPP_STATUS_* for RMPP_RX_ABORT
 *
 * Return: what to do with the segment.
 */
enum rmpp_rx_event rmpp_rx_data(struct rmpp_rx *rx, u32 seg, u8 flags, u32 len, u32 max_len,
				bool *ack, u8 *status)
{
	*ack = false;
	*status = check_segment(rx, seg, flags, len, max_len);
	if (*status)
		return RMPP_RX_ABORT;
	/* A sender that repeats an acknowledged segment has not received the acknowledgment. */
	if (seg <= rx->have) {
		*ack = true;
		return RMPP_RX_DROP;
	}
	if (seg > rx->window)
		return RMPP_RX_DROP;
	if (seg > rx->have + 1 && rx->early & BIT_ULL(seg - rx->have - 2)) {
		*ack = seg == rx->window;
		return RMPP_RX_DROP;
	}
	*ack = seg == rx->window || (flags & IB_MGMT_RMPP_FLAG_LAST);
	if (flags & IB_MGMT_RMPP_FLAG_LAST)
		rx->last = seg;
	take(rx, seg);
	if (rmpp_rx_done(rx) || rx->have == rx->window)
		*ack = true;
	if (*ack)
		rx->window = rx->have + RMPP_WINDOW;
	return rmpp_rx_done(rx) ? RMPP_RX_DONE : RMPP_RX_KEEP;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_data);
