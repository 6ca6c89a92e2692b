// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * issmN: while it is open, the port's capability bit IsSM is set.
 */
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>

#include "umad.h"

/* Number of the bit in sm_held. */
#define SM_HELD 0

static bool sm_claim(struct ib_umad_port *port)
{
	return !test_and_set_bit_lock(SM_HELD, &port->sm_held);
}

static void sm_release(struct ib_umad_port *port)
{
	clear_bit_unlock(SM_HELD, &port->sm_held);
	wake_up_interruptible(&port->sm_wait);
}

/**
 * umad_sm_is_held() - is issmN open?
 * @port: port
 *
 * Context: the port's lock is held from before @port->ib_dev is cleared.  Otherwise a holder that
 * finds no device would leave IsSM to umad_sm_end(), which would know of no holder.
 * Return: true if it is open, or is being opened or closed.
 */
bool umad_sm_is_held(const struct ib_umad_port *port)
{
	return test_bit(SM_HELD, &port->sm_held);
}

static bool gone(struct ib_umad_port *port)
{
	return READ_ONCE(port->gone);
}

/* Becomes the holder, or returns an error. */
static int sm_wait(struct ib_umad_port *port, bool may_wait)
{
	bool claimed = sm_claim(port);
	int ret = 0;

	if (!claimed && !may_wait)
		return rdma_refuse(-EAGAIN, "issm%d is open", port->number);
	if (!claimed)
		ret = wait_event_interruptible(port->sm_wait,
					       gone(port) || (claimed = sm_claim(port)));
	if (claimed)
		return 0;
	return ret ?: -ENXIO;
}

/* Returns the port's device, to be put with ib_device_put(); NULL once it is removed. */
static struct ib_device *hold_device(struct ib_umad_port *port)
{
	guard(mutex)(&port->lock);
	return port->ib_dev && ib_device_try_get(port->ib_dev) ? port->ib_dev : NULL;
}

static int clear_is_sm(struct ib_umad_port *port, struct ib_device *ib_dev)
{
	struct ib_port_modify clear = { .clr_port_cap_mask = IB_PORT_SM };

	return ib_modify_port(ib_dev, port->port_num, 0, &clear);
}

/*
 * umad_sm_end() clears IsSM of a port that is removed. If it has done so before the bit was set
 * here, the bit is cleared here, while the reference prevents that the device is added again.
 */
static int set_is_sm(struct ib_umad_port *port)
{
	struct ib_port_modify set = { .set_port_cap_mask = IB_PORT_SM };
	struct ib_device *ib_dev = hold_device(port);
	int ret;

	if (!ib_dev)
		return -ENXIO;
	ret = ib_modify_port(ib_dev, port->port_num, 0, &set);
	if (!ret && gone(port)) {
		clear_is_sm(port, ib_dev);
		ret = -ENXIO;
	}
	ib_device_put(ib_dev);
	return ret;
}

/**
 * umad_sm_end() - clear IsSM of a port that is removed
 * @port: port of which no file can be opened any more
 * @ib_dev: its device, which continues to exist if it moves to another network namespace
 * @held: issmN was open when @port->ib_dev was cleared
 *
 * Context: may sleep.
 */
void umad_sm_end(struct ib_umad_port *port, struct ib_device *ib_dev, bool held)
{
	WRITE_ONCE(port->gone, true);
	wake_up_all(&port->sm_wait);
	if (held)
		clear_is_sm(port, ib_dev);
}

/* Checks that this process may use the port's device. */
static int admit(struct ib_umad_port *port)
{
	struct ib_device *ib_dev = hold_device(port);
	int ret = 0;

	if (!ib_dev)
		return rdma_refuse(-ENXIO, "issm%d: the device is removed", port->number);
	if (!rdma_dev_access_netns(ib_dev, current->nsproxy->net_ns))
		ret = rdma_refuse(-EPERM, "issm%d: the device is in another network namespace",
				  port->number);
	ib_device_put(ib_dev);
	return ret;
}

/*
 * Only one file of issmN is open at a time: further calls wait, or with O_NONBLOCK fail with
 * -EAGAIN.
 */
static int umad_sm_open(struct inode *inode, struct file *filp)
{
	struct ib_umad_port *port = container_of(inode->i_cdev, struct ib_umad_port, sm_cdev);
	int ret;

	ret = admit(port);
	if (ret)
		return ret;
	ret = sm_wait(port, !(filp->f_flags & O_NONBLOCK));
	if (ret)
		return ret;
	ret = set_is_sm(port);
	if (ret) {
		sm_release(port);
		return ret;
	}
	filp->private_data = port;
	return nonseekable_open(inode, filp);
}

/* Errors are ignored: a device that does not respond will be reset, which clears the bit. */
static int umad_sm_close(struct inode *inode, struct file *filp)
{
	struct ib_umad_port *port = filp->private_data;
	struct ib_device *ib_dev = hold_device(port);

	if (ib_dev) {
		clear_is_sm(port, ib_dev);
		ib_device_put(ib_dev);
	}
	sm_release(port);
	return 0;
}

const struct file_operations umad_sm_fops = {
	.owner = THIS_MODULE,
	.open = umad_sm_open,
	.release = umad_sm_close,
};
EXPORT_SYMBOL_IF_KUNIT(umad_sm_fops);
