// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The campaign's paths: connections load another one, and migrate.
 */
#include "qp/qp.h"
#include "tests/cflow.h"
#include "tests/tkey.h"

static void load(struct campaign *c, struct tqp *qp, const struct tqp *peer)
{
	u32 port = PORTS + 1 - t_vqp(qp)->attr.port;
	const struct vhca_qp_attr a = {
		.path_mig_state = MIG_REARM, .alt_port = port, .alt_timeout = 10 + c_rnd(c, 4),
		.alt_av.port = port,
		.alt_av.dlid = htole16(peer->h->dev->port[port - 1].fab.ib.lid),
	};

	assert_int_equal(t_modify(qp, &a, VHCA_QPA_ALT_PATH | VHCA_QPA_PATH_MIG_STATE),
			 VHCA_ST_OK);
}

/* May a flow's QPs move, or load another path?  If so, both are in the state @mig. */
static bool may_move(struct campaign *c, const struct flow *f, u8 *mig)
{
	const struct vqp *a, *b;
	bool may;

	engine_lock(c->w.engine);
	a = t_vqp(f->qp);
	b = t_vqp(f->peer);
	may = a->state == QPS_RTS && b->state == QPS_RTS && a->mig == b->mig &&
	      a->attr.port == b->attr.port;
	*mig = a->mig;
	engine_unlock(c->w.engine);
	return may;
}

void c_paths(struct campaign *c)
{
	static const struct vhca_qp_attr move = { .path_mig_state = MIG_MIGRATED };

	for (u32 i = 0; i < c->nflows; i++) {
		struct flow *f = &c->flow[i];
		u8 mig;

		if (!f->moves || c_rnd(c, 16) || !may_move(c, f, &mig))
			continue;
		if (mig == MIG_ARMED) {
			assert_int_equal(t_modify(f->qp, &move, VHCA_QPA_PATH_MIG_STATE),
					 VHCA_ST_OK);
		} else if (mig == MIG_MIGRATED) {
			load(c, f->qp, f->peer);
			load(c, f->peer, f->qp);
		}
	}
}
