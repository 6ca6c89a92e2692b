// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: transitions from every QP state to every other, for every type and attribute.
 *
 * The expectation is written out for each type, and so does not depend on the tables
 * of qp_state.c.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

/* Legal transitions: a row for each state left, a column for each state entered. */
static const char * const legal[] = {
	/*		 R I R S D E X	(reset init rtr rts sqd sqe err) */
	[IB_QPS_RESET] = "+ + . . . . .",
	[IB_QPS_INIT]  = "+ + + . . . +",
	[IB_QPS_RTR]   = "+ . . + . . +",
	[IB_QPS_RTS]   = "+ . . + + . +",
	[IB_QPS_SQD]   = "+ . . + + . +",
	[IB_QPS_SQE]   = "+ . . + . . +",
	[IB_QPS_ERR]   = "+ . . . . . +",
};

struct wanted {
	enum ib_qp_state from;
	enum ib_qp_state to;
	u32 types;
	u32 need;
	u32 allow;
};

#define CUR	IB_QP_CUR_STATE
#define ACCESS	IB_QP_ACCESS_FLAGS
#define PKEY	IB_QP_PKEY_INDEX
#define PORT	IB_QP_PORT
#define QKEY	IB_QP_QKEY
#define ALT	IB_QP_ALT_PATH
#define MIG	IB_QP_PATH_MIG_STATE
#define RNR	IB_QP_MIN_RNR_TIMER
#define PATH	(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define RETRY	(IB_QP_RETRY_CNT | IB_QP_RNR_RETRY)
#define READS	IB_QP_MAX_QP_RD_ATOMIC
#define SERVES	IB_QP_MAX_DEST_RD_ATOMIC

#define RC	BIT(IB_QPT_RC)
#define UC	BIT(IB_QPT_UC)
#define UD	BIT(IB_QPT_UD)
#define INI	BIT(IB_QPT_XRC_INI)
#define TGT	BIT(IB_QPT_XRC_TGT)
#define RAW	BIT(IB_QPT_RAW_PACKET)
#define SPECIAL	(BIT(IB_QPT_SMI) | BIT(IB_QPT_GSI))

/* Attributes of the transitions that take any besides IB_QP_STATE. */
static const struct wanted wanted[] = {
	{ IB_QPS_RESET, IB_QPS_INIT, RC | UC | INI | TGT, PKEY | PORT | ACCESS },
	{ IB_QPS_RESET, IB_QPS_INIT, UD, PKEY | PORT | QKEY },
	{ IB_QPS_RESET, IB_QPS_INIT, SPECIAL, PKEY | QKEY },
	{ IB_QPS_RESET, IB_QPS_INIT, RAW, PORT },

	{ IB_QPS_INIT, IB_QPS_INIT, RC | UC | INI | TGT, 0, PKEY | PORT | ACCESS },
	{ IB_QPS_INIT, IB_QPS_INIT, UD, 0, PKEY | PORT | QKEY },
	{ IB_QPS_INIT, IB_QPS_INIT, SPECIAL, 0, PKEY | QKEY },

	{ IB_QPS_INIT, IB_QPS_RTR, RC | TGT, PATH | SERVES | RNR, ALT | ACCESS | PKEY },
	{ IB_QPS_INIT, IB_QPS_RTR, UC | INI, PATH, ALT | ACCESS | PKEY },
	{ IB_QPS_INIT, IB_QPS_RTR, UD | SPECIAL, 0, PKEY | QKEY },

	{ IB_QPS_RTR, IB_QPS_RTS, RC, IB_QP_TIMEOUT | RETRY | IB_QP_SQ_PSN | READS,
	  CUR | ALT | ACCESS | RNR | MIG },
	{ IB_QPS_RTR, IB_QPS_RTS, INI, IB_QP_TIMEOUT | RETRY | IB_QP_SQ_PSN | READS,
	  CUR | ALT | ACCESS | MIG },
	{ IB_QPS_RTR, IB_QPS_RTS, TGT, IB_QP_TIMEOUT | IB_QP_SQ_PSN,
	  CUR | ALT | ACCESS | RNR | MIG },
	{ IB_QPS_RTR, IB_QPS_RTS, UC, IB_QP_SQ_PSN, CUR | ALT | ACCESS | MIG },
	{ IB_QPS_RTR, IB_QPS_RTS, UD | SPECIAL, IB_QP_SQ_PSN, CUR | QKEY },
	{ IB_QPS_RTR, IB_QPS_RTS, RAW, 0, IB_QP_RATE_LIMIT },

	{ IB_QPS_RTS, IB_QPS_RTS, RC | TGT, 0, CUR | ALT | ACCESS | RNR | MIG },
	{ IB_QPS_RTS, IB_QPS_RTS, UC | INI, 0, CUR | ALT | ACCESS | MIG },
	{ IB_QPS_RTS, IB_QPS_RTS, UD | SPECIAL, 0, CUR | QKEY },
	{ IB_QPS_RTS, IB_QPS_RTS, RAW, 0, IB_QP_RATE_LIMIT },

	{ IB_QPS_RTS, IB_QPS_SQD, RC | UC | UD | INI | TGT | SPECIAL, 0,
	  IB_QP_EN_SQD_ASYNC_NOTIFY },

	{ IB_QPS_SQD, IB_QPS_RTS, RC | TGT, 0, CUR | ALT | ACCESS | RNR | MIG },
	{ IB_QPS_SQD, IB_QPS_RTS, UC | INI, 0, CUR | ALT | ACCESS | MIG },
	{ IB_QPS_SQD, IB_QPS_RTS, UD | SPECIAL, 0, CUR | QKEY },

	{ IB_QPS_SQD, IB_QPS_SQD, RC, 0, PORT | IB_QP_AV | IB_QP_TIMEOUT | RETRY | READS |
	  SERVES | ALT | ACCESS | PKEY | RNR | MIG },
	{ IB_QPS_SQD, IB_QPS_SQD, INI, 0, PORT | IB_QP_AV | IB_QP_TIMEOUT | RETRY | READS |
	  ALT | ACCESS | PKEY | MIG },
	{ IB_QPS_SQD, IB_QPS_SQD, TGT, 0, PORT | IB_QP_AV | IB_QP_TIMEOUT | SERVES | ALT |
	  ACCESS | PKEY | RNR | MIG },
	{ IB_QPS_SQD, IB_QPS_SQD, UC, 0, IB_QP_AV | ALT | ACCESS | PKEY | MIG },
	{ IB_QPS_SQD, IB_QPS_SQD, UD | SPECIAL, 0, PKEY | QKEY },

	{ IB_QPS_SQE, IB_QPS_RTS, UD | SPECIAL, 0, CUR | QKEY },
	{ IB_QPS_SQE, IB_QPS_RTS, UC, 0, CUR | ACCESS },
};

static struct wanted want(enum ib_qp_state from, enum ib_qp_state to, enum ib_qp_type type)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted); i++)
		if (wanted[i].from == from && wanted[i].to == to && (wanted[i].types & BIT(type)))
			return wanted[i];
	return (struct wanted){};
}

#define EXPECT_OK(test, ok, from, to, type, mask)					\
	KUNIT_EXPECT_EQ_MSG(test, ok, ib_modify_qp_is_ok(from, to, type, mask),		\
			    "state %d to %d, type %d, mask %#x", from, to, type, mask)

/* One transition of one type with every attribute. */
static void one_change(struct kunit *test, enum ib_qp_state from, enum ib_qp_state to,
		       enum ib_qp_type type)
{
	struct wanted w = want(from, to, type);
	bool is_legal = legal[from][2 * to] == '+';
	u32 least = w.need | IB_QP_STATE;

	EXPECT_OK(test, is_legal, from, to, type, least);
	EXPECT_OK(test, is_legal, from, to, type, w.need);
	EXPECT_OK(test, is_legal, from, to, type, least | w.allow);
	for (unsigned int bit = 1; bit < 32; bit++) {
		u32 attr = BIT(bit);

		if (w.need & attr)
			EXPECT_OK(test, false, from, to, type, least & ~attr);
		else
			EXPECT_OK(test, is_legal && (w.allow & attr), from, to, type,
				  least | attr);
	}
}

static void every_change(struct kunit *test)
{
	for (int from = IB_QPS_RESET; from <= IB_QPS_ERR; from++)
		for (int to = IB_QPS_RESET; to <= IB_QPS_ERR; to++)
			for (int type = 0; type < IB_QPT_MAX; type++)
				one_change(test, from, to, type);
}

static void one_mask(struct kunit *test, u32 mask, bool ok)
{
	if (ib_modify_qp_is_ok(IB_QPS_INIT, IB_QPS_RTR, IB_QPT_RC, mask) != ok)
		KUNIT_FAIL(test, "mask %#x is %s", mask, ok ? "refused" : "taken");
}

/*
 * All required attributes must be given, with any subset of the optional ones. Attributes that the
 * transition does not allow are tried one by one and all together.
 */
static void every_subset(struct kunit *test)
{
	struct wanted w = want(IB_QPS_INIT, IB_QPS_RTR, IB_QPT_RC);
	const u32 known = w.need | w.allow | IB_QP_STATE, unknown = ~known & (BIT(21) - 1);
	u32 mask = 0;

	do {
		one_mask(test, mask, (mask & w.need) == w.need);
		one_mask(test, mask | unknown, false);
		for (u32 left = unknown; left; left &= left - 1)
			one_mask(test, mask | (left & -left), false);
		/* the next subset of the known attributes */
		mask = (mask - known) & known;
	} while (mask);
}

/* Toggles two attributes of a valid mask: it stays valid only if both are optional. */
static void two_changes(struct kunit *test, enum ib_qp_state from, enum ib_qp_state to,
			enum ib_qp_type type)
{
	struct wanted w = want(from, to, type);
	bool is_legal = legal[from][2 * to] == '+';
	u32 least = w.need | IB_QP_STATE, either = w.allow | IB_QP_STATE;

	for (unsigned int a = 0; a < 26; a++) {
		for (unsigned int b = 0; b < a; b++) {
			u32 mask = least ^ BIT(a) ^ BIT(b);
			bool ok = is_legal && (either & BIT(a)) && (either & BIT(b));

			if (ib_modify_qp_is_ok(from, to, type, mask) != ok)
				KUNIT_FAIL(test, "state %d to %d, type %d, mask %#x is %s", from,
					   to, type, mask, ok ? "refused" : "taken");
		}
	}
}

static void every_pair(struct kunit *test)
{
	for (int from = IB_QPS_RESET; from <= IB_QPS_ERR; from++)
		for (int to = IB_QPS_RESET; to <= IB_QPS_ERR; to++)
			for (int type = 0; type < IB_QPT_MAX; type++)
				two_changes(test, from, to, type);
}

static void outside_the_table(struct kunit *test)
{
	EXPECT_OK(test, false, IB_QPS_ERR + 1, IB_QPS_RESET, IB_QPT_RC, IB_QP_STATE);
	EXPECT_OK(test, false, -1, IB_QPS_RESET, IB_QPT_RC, IB_QP_STATE);
	EXPECT_OK(test, false, IB_QPS_RTS, IB_QPS_ERR + 1, IB_QPT_RC, IB_QP_STATE);
	/* A driver's own types follow the state machine and have no other attributes. */
	EXPECT_OK(test, true, IB_QPS_RESET, IB_QPS_INIT, IB_QPT_DRIVER, IB_QP_STATE);
	EXPECT_OK(test, false, IB_QPS_RESET, IB_QPS_RTR, IB_QPT_DRIVER, IB_QP_STATE);
	EXPECT_OK(test, false, IB_QPS_RESET, IB_QPS_INIT, IB_QPT_DRIVER, IB_QP_STATE | PORT);
}

static struct kunit_case qp_state_cases[] = {
	KUNIT_CASE(every_change),
	KUNIT_CASE(every_subset),
	KUNIT_CASE(every_pair),
	KUNIT_CASE(outside_the_table),
	{}
};

static struct kunit_suite qp_state_suite = {
	.name = "rdma-qp-state",
	.test_cases = qp_state_cases,
};

kunit_test_suite(qp_state_suite);

MODULE_DESCRIPTION("KUnit tests of the QP state table");
MODULE_LICENSE("Dual BSD/GPL");
