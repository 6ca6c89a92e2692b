// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * issmN: as long as it is open, the port says that a subnet manager runs here.
 */
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>

#include "umad.h"

/* The bit of sm_held. */
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
 * Context: the port's lock is held, lest its holder finds no device and leaves the bit to
 * umad_sm_end(), which has seen no holder.
 * Return: whether it is, or is being opened or closed.
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

/* The port's device, for ib_device_put(); NULL once it is removed. */
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
 * umad_sm_end() clears the bit of a port that goes. If that was too early for this one, it is
 * cleared here, while the device cannot come back.
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
 * umad_sm_end() - let a port have no subnet manager any more
 * @port: port of which no file can be opened any more
 * @ib_dev: its device, which may stay, in another network namespace
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

/* May this process use the port's device? */
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
 * One process at a time has it open, and others wait, or are told -EAGAIN if they do not want to.
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

/* A device that does not answer will be reset, and has forgotten the bit then. */
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
