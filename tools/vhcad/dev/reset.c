// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A reset drops every object.
 */
#include "dev/hca.h"
#include "engine/engine.h"
#include "qp/counter.h"
#include "qp/life.h"
#include "qp/srq.h"
#include "res/cq.h"
#include "res/mkey.h"
#include "res/pd.h"

static bool drop_qp(struct vhca_dev *dev, void *obj)
{
	if (!qp_let_go(obj))
		return false;
	qp_destroy(obj);
	return true;
}

/* QP 0 and QP 1 of ports, which are in no table and have neither windows nor groups. */
static void drop_specials(struct vhca_dev *dev)
{
	for (u32 i = 0; i < dev->nports; i++)
		for (u32 k = 0; k < VHCA_SPECIAL_QPS; k++)
			if (dev->port[i].special[k])
				qp_destroy(dev->port[i].special[k]);
}

static bool drop_srq(struct vhca_dev *dev, void *obj)
{
	srq_destroy(obj);
	return true;
}

static bool drop_cq(struct vhca_dev *dev, void *obj)
{
	cq_destroy(obj);
	return true;
}

static bool drop_eq(struct vhca_dev *dev, void *obj)
{
	eq_destroy(obj);
	return true;
}

static bool unbind_mkey(struct vhca_dev *dev, void *obj)
{
	mkey_unbind(obj);
	return true;
}

static bool drop_mkey(struct vhca_dev *dev, void *obj)
{
	mkey_destroy(dev, obj);
	return true;
}

static bool drop_uar(struct vhca_dev *dev, void *obj)
{
	uar_destroy(dev, obj);
	return true;
}

static bool drop_pd(struct vhca_dev *dev, void *obj)
{
	pd_destroy(obj);
	return true;
}

static bool drop_xrcd(struct vhca_dev *dev, void *obj)
{
	xrcd_destroy(obj);
	return true;
}

static bool drop_counter(struct vhca_dev *dev, void *obj)
{
	counter_destroy(dev, obj);
	return true;
}

/* Objects that go in one pass, as other threads wait for the engine's lock meanwhile. */
#define DROP_AT_ONCE	32u
/* Table slots, most of them empty, that are looked at in one pass. */
#define LOOK_AT_ONCE	1024u

/*
 * Users go before what they use, some at a time.  The device is not live, so that nobody uses the
 * objects that are still there.
 */
void hca_drop_objects(struct hca *hca)
{
	struct vhca_dev *dev = &hca->dev;
	const struct {
		struct table *table;
		/* returns false if there was too much for one pass */
		bool (*drop)(struct vhca_dev *dev, void *obj);
	} steps[] = {
		{ &dev->qps, drop_qp }, { &dev->srqs, drop_srq }, { &dev->cqs, drop_cq },
		{ &dev->eqs, drop_eq }, { &dev->mkeys, unbind_mkey }, { &dev->mkeys, drop_mkey },
		{ &dev->uars, drop_uar }, { &dev->pds, drop_pd }, { &dev->xrcds, drop_xrcd },
		{ &dev->counters, drop_counter },
	};
	u32 dropped = 0, looked = 0;

	drop_specials(dev);
	for (u32 i = 0; i < ARRAY_SIZE(steps); i++) {
		for (u32 at = 0; at < steps[i].table->fresh;) {
			void *obj = table_get(steps[i].table, at);

			if (!obj) {
				at++;
			} else {
				bool gone = steps[i].drop(dev, obj);

				at += gone;
				/*
				 * an object that is not dropped yet has used up what one pass may
				 * do
				 */
				dropped = gone ? dropped + 1 : DROP_AT_ONCE;
			}
			if (dropped < DROP_AT_ONCE && ++looked < LOOK_AT_ONCE)
				continue;
			engine_unlock(dev->adapter.engine);
			engine_lock(dev->adapter.engine);
			dropped = 0;
			looked = 0;
		}
	}
}
