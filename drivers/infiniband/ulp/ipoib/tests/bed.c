// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "../ud.h"
#include "bed.h"

static void end_interface(void *ptr)
{
	struct ipoib_dev *ipoib = ptr;

	timer_delete_sync(&ipoib->tx_timer);
	netif_napi_del(&ipoib->tx_cq.napi);
	if (ipoib->wq)
		destroy_workqueue(ipoib->wq);
	ipoib_discard_dev(ipoib->netdev);
}

static void no_timer(struct timer_list *timer)
{
}

/**
 * ipoib_bed_no_work() - what an interface's work does where the test does it
 * @work: the work
 */
void ipoib_bed_no_work(struct work_struct *work)
{
}

/**
 * ipoib_bed_init() - make a device and its interface, which end with the test, after its exit
 * @test: the test; fails at once for want of memory
 * @bed: set
 */
void ipoib_bed_init(struct kunit *test, struct ipoib_bed *bed)
{
	struct net_device *netdev;

	bed->ca = kunit_kzalloc(test, sizeof(*bed->ca), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bed->ca);
	bed->ca->port_data = kunit_kcalloc(test, 2, sizeof(*bed->ca->port_data), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bed->ca->port_data);
	bed->ca->phys_port_cnt = 1;
	netdev = ipoib_create_dev(bed->ca, 1, "kunit%d");
	KUNIT_ASSERT_FALSE(test, IS_ERR(netdev));
	bed->ipoib = ipoib_priv(netdev);
	ipoib_cq_init(bed->ipoib);
	bed->tx_timer = bed->ipoib->tx_timer.function;
	timer_setup(&bed->ipoib->tx_timer, no_timer, 0);
	/* It polls as soon as the test enables it. */
	netif_napi_add(netdev, &bed->ipoib->tx_cq.napi, ipoib_cq_poll_tx);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, end_interface, bed->ipoib), 0);
	bed->ipoib->wq = alloc_ordered_workqueue("ipoib_kunit", 0);
	KUNIT_ASSERT_NOT_NULL(test, bed->ipoib->wq);
	set_bit(__LINK_STATE_START, &netdev->state);
	netif_carrier_off(netdev);
}

/**
 * ipoib_bed_give_qp() - give the interface a QP, by which it can do what operations of the device
 *			 the test adds
 * @bed: the device and its interface
 */
void ipoib_bed_give_qp(struct ipoib_bed *bed)
{
	bed->qp.device = bed->ca;
	bed->ipoib->pd = &bed->pd;
	bed->ipoib->qp = &bed->qp;
	init_waitqueue_head(&bed->ipoib->idle);
}
