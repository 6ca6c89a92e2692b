// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The attributes that each transition of a QP's state requires or allows, for each type.
 *
 * There are two tables: the attributes that apply to a type, and the attributes that a
 * transition requires or allows.  The intersection of both applies to a modification.
 */
#include <linux/bits.h>
#include <linux/export.h>
#include <rdma/ib_verbs.h>

#define CONNECTED	(IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_AV | \
			 IB_QP_PATH_MTU | IB_QP_RQ_PSN | IB_QP_SQ_PSN | IB_QP_DEST_QPN | \
			 IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)
#define REQUESTER	(IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
			 IB_QP_MAX_QP_RD_ATOMIC)
#define RESPONDER	(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define DATAGRAM	(IB_QP_PKEY_INDEX | IB_QP_QKEY | IB_QP_SQ_PSN)
#define CONTROL		(IB_QP_CUR_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY)

/* Attributes that apply to a type; none do to types that are not listed. */
static const u32 qp_type_attrs[IB_QPT_MAX] = {
	[IB_QPT_SMI]		= CONTROL | DATAGRAM,
	[IB_QPT_GSI]		= CONTROL | DATAGRAM,
	[IB_QPT_UD]		= CONTROL | DATAGRAM | IB_QP_PORT,
	[IB_QPT_UC]		= CONTROL | CONNECTED,
	[IB_QPT_RC]		= CONTROL | CONNECTED | REQUESTER | RESPONDER,
	[IB_QPT_XRC_INI]	= CONTROL | CONNECTED | REQUESTER,
	[IB_QPT_XRC_TGT]	= CONTROL | CONNECTED | RESPONDER | IB_QP_TIMEOUT,
	[IB_QPT_RAW_PACKET]	= IB_QP_PORT | IB_QP_RATE_LIMIT,
};

#define RELIABLE	(BIT(IB_QPT_RC) | BIT(IB_QPT_XRC_INI) | BIT(IB_QPT_XRC_TGT))
#define EVERY_TYPE	U32_MAX
#define IN(state)	BIT(IB_QPS_##state)
#define EVERY_STATE	(IN(RESET) | IN(INIT) | IN(RTR) | IN(RTS) | IN(SQD) | IN(SQE) | IN(ERR))

/**
 * struct qp_transition - a state transition
 * @from: states it starts in, one bit each
 * @to: state it ends in
 * @types: types to which @need and @allow apply, one bit each; the transition is
 *	legal for the others, too
 * @need: required attributes
 * @allow: optional attributes
 *
 * If several rows match a transition, their attributes are combined.
 */
struct qp_transition {
	u8 from;
	u8 to;
	u32 types;
	u32 need;
	u32 allow;
};

/* Optional attributes of transitions to RTS. */
#define WHILE_SENDING	(IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS | IB_QP_QKEY | IB_QP_ALT_PATH | \
			 IB_QP_PATH_MIG_STATE | IB_QP_MIN_RNR_TIMER)
#define IDENTITY	(IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS | IB_QP_QKEY)

static const struct qp_transition qp_transitions[] = {
	/* RESET can be entered from every state, ERR from every state but RESET. */
	{ EVERY_STATE, IB_QPS_RESET },
	{ EVERY_STATE & ~IN(RESET), IB_QPS_ERR },

	{ IN(RESET), IB_QPS_INIT, EVERY_TYPE, .need = IDENTITY },
	{ IN(INIT), IB_QPS_INIT, EVERY_TYPE & ~BIT(IB_QPT_RAW_PACKET), .allow = IDENTITY },
	{ IN(INIT), IB_QPS_RTR, EVERY_TYPE,
	  .need = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN | RESPONDER,
	  .allow = IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_QKEY },
	{ IN(RTR), IB_QPS_RTS, EVERY_TYPE,
	  .need = IB_QP_SQ_PSN | REQUESTER,
	  .allow = WHILE_SENDING | IB_QP_RATE_LIMIT },
	{ IN(RTS), IB_QPS_RTS, EVERY_TYPE, .allow = WHILE_SENDING | IB_QP_RATE_LIMIT },
	{ IN(SQD), IB_QPS_RTS, EVERY_TYPE, .allow = WHILE_SENDING },

	/* In SQD the send queue is drained, and the path may change. */
	{ IN(RTS), IB_QPS_SQD, EVERY_TYPE, .allow = IB_QP_EN_SQD_ASYNC_NOTIFY },
	{ IN(SQD), IB_QPS_SQD, EVERY_TYPE,
	  .allow = IB_QP_AV | IB_QP_ALT_PATH | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX |
		   IB_QP_QKEY | IB_QP_PATH_MIG_STATE | REQUESTER | RESPONDER },
	{ IN(SQD), IB_QPS_SQD, RELIABLE, .allow = IB_QP_PORT },

	/* Reliable QPs are never in SQE, so the row gives no attributes for them. */
	{ IN(SQE), IB_QPS_RTS, EVERY_TYPE & ~RELIABLE,
	  .allow = IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS | IB_QP_QKEY },
};

/*
 * States in which IB_QP_CUR_STATE may be given: those between which a QP moves without a
 * modification, and those in which a consumer cannot know if that happened.
 */
#define MOVES_BY_ITSELF	(IN(RTR) | IN(RTS) | IN(SQD) | IN(SQE))

/**
 * ib_modify_qp_is_ok() - is this state transition legal with these attributes?
 * @cur_state: current state of the QP
 * @next_state: new state
 * @type: its type
 * @mask: attributes given, enum ib_qp_attr_mask
 *
 * Called by drivers. It does not check values. A driver's own types have no attributes beyond the
 * state.
 *
 * Context: any.
 * Return: true if the transition exists, and @mask has all attributes that it requires and none
 * that it does not allow.
 */
bool ib_modify_qp_is_ok(enum ib_qp_state cur_state, enum ib_qp_state next_state,
			enum ib_qp_type type, enum ib_qp_attr_mask mask)
{
	u32 meaningful = type < IB_QPT_MAX ? qp_type_attrs[type] : 0;
	u32 need = 0, allow = IB_QP_STATE;
	bool legal = false;

	if (cur_state > IB_QPS_ERR)
		return false;
	if ((mask & IB_QP_CUR_STATE) && !(MOVES_BY_ITSELF & BIT(cur_state)))
		return false;

	for (unsigned int i = 0; i < ARRAY_SIZE(qp_transitions); i++) {
		const struct qp_transition *row = &qp_transitions[i];

		if (row->to != next_state || !(row->from & BIT(cur_state)))
			continue;
		legal = true;
		if (type < IB_QPT_MAX && !(row->types & BIT(type)))
			continue;
		need |= row->need & meaningful;
		allow |= row->allow & meaningful;
	}
	return legal && (mask & need) == need && !(mask & ~(need | allow));
}
EXPORT_SYMBOL(ib_modify_qp_is_ok);
