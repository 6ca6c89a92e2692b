// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Open files of umadN: open, ioctl, close, and separation from the device when it is removed.
 */
#include <kunit/visibility.h>
#include <linux/compat.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/rdma_user_ioctl.h>

#include "umad.h"

/* ---- requests ---- */

/**
 * struct umad_ioctl - a request by ioctl
 * @cmd: its number
 * @serve: handles it; @arg is the program's argument, @compat is true for 32-bit programs
 */
struct umad_ioctl {
	unsigned int cmd;
	long (*serve)(struct ib_umad_file *file, void __user *arg, bool compat);
};

static const struct umad_ioctl umad_ioctls[] = {
	{ IB_USER_MAD_REGISTER_AGENT, umad_register },
	{ IB_USER_MAD_UNREGISTER_AGENT, umad_unregister },
	{ IB_USER_MAD_ENABLE_PKEY, umad_enable_pkey },
	{ IB_USER_MAD_REGISTER_AGENT2, umad_register2 },
};

static long serve_ioctl(struct file *filp, unsigned int cmd, void __user *arg, bool compat)
{
	struct ib_umad_file *file = filp->private_data;
	struct rdma_reject_scope scope;
	long ret;

	for (unsigned int i = 0; i < ARRAY_SIZE(umad_ioctls); i++) {
		if (umad_ioctls[i].cmd != cmd)
			continue;
		rdma_reject_enter(&file->rejects, &scope);
		ret = umad_ioctls[i].serve(file, arg, compat);
		rdma_reject_leave(&scope);
		return ret;
	}
	return -ENOIOCTLCMD;
}

static long umad_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return serve_ioctl(filp, cmd, (void __user *)arg, false);
}

#ifdef CONFIG_COMPAT
static long umad_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return serve_ioctl(filp, cmd, compat_ptr(arg), true);
}
#endif

static ssize_t umad_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	struct ib_umad_file *file = filp->private_data;
	struct rdma_reject_scope scope;
	ssize_t ret;

	rdma_reject_enter(&file->rejects, &scope);
	ret = umad_send(file, buf, count);
	rdma_reject_leave(&scope);
	return ret;
}

static ssize_t umad_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct ib_umad_file *file = filp->private_data;
	struct rdma_reject_scope scope;
	ssize_t ret;

	rdma_reject_enter(&file->rejects, &scope);
	ret = umad_read_next(file, !(filp->f_flags & O_NONBLOCK), buf, count);
	rdma_reject_leave(&scope);
	return ret;
}

static __poll_t umad_poll(struct file *filp, struct poll_table_struct *table)
{
	struct ib_umad_file *file = filp->private_data;
	__poll_t events = 0;

	poll_wait(filp, &file->wait, table);

	guard(spinlock_irq)(&file->lock);
	if (file->dead)
		return EPOLLERR | EPOLLHUP;
	if (file->asked < UMAD_MOST)
		events |= EPOLLOUT | EPOLLWRNORM;
	if (!list_empty(&file->unread))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

/* ---- open and close ---- */

static void drop_unread(struct ib_umad_file *file)
{
	struct ib_umad_packet *packet, *next;
	LIST_HEAD(unread);

	scoped_guard(spinlock_irq, &file->lock)
		list_splice_init(&file->unread, &unread);
	list_for_each_entry_safe(packet, next, &unread, entry)
		umad_packet_free(file, packet);
}

/**
 * umad_file_revoke() - separate a file from its device
 * @file: the file
 *
 * Unregisters its agents, drops unread MADs and wakes readers.  May be called twice, also
 * concurrently; each call returns when all this is done.
 *
 * Context: may sleep.
 */
void umad_file_revoke(struct ib_umad_file *file)
{
	guard(mutex)(&file->mutex);
	scoped_guard(spinlock_irq, &file->lock)
		file->dead = true;
	for (unsigned int i = 0; i < UMAD_AGENTS; i++) {
		if (file->agents[i].mad)
			ib_unregister_mad_agent(file->agents[i].mad);
		file->agents[i].mad = NULL;
	}
	drop_unread(file);
	wake_up_all(&file->wait);
}

static struct ib_umad_file *file_alloc(struct ib_umad_port *port)
{
	struct ib_umad_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return NULL;
	file->port = port;
	mutex_init(&file->mutex);
	for (unsigned int i = 0; i < UMAD_AGENTS; i++)
		file->agents[i].file = file;
	file->rejects.stays[0] = THIS_MODULE;
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->unread);
	file->sends = RB_ROOT;
	init_waitqueue_head(&file->wait);
	return file;
}

/*
 * The reason of a refusal is not stored, as there is no file yet; only the trace point shows it.
 *
 * An open file holds a reference on the character device, which holds one on the port.
 */
static int umad_open(struct inode *inode, struct file *filp)
{
	struct ib_umad_port *port = container_of(inode->i_cdev, struct ib_umad_port, cdev);
	struct ib_umad_file *file;

	guard(mutex)(&port->lock);
	if (!port->ib_dev)
		return rdma_refuse(-ENXIO, "umad%d: the device is removed", port->number);
	if (!rdma_dev_access_netns(port->ib_dev, current->nsproxy->net_ns))
		return rdma_refuse(-EPERM, "umad%d: the device is in another network namespace",
				   port->number);
	file = file_alloc(port);
	if (!file)
		return -ENOMEM;
	list_add_tail(&file->entry, &port->files);
	filp->private_data = file;
	return stream_open(inode, filp);
}

/* The file stays in the list, where removal finds it, until its agents are unregistered. */
static int umad_close(struct inode *inode, struct file *filp)
{
	struct ib_umad_file *file = filp->private_data;

	umad_file_revoke(file);
	scoped_guard(mutex, &file->port->lock)
		list_del(&file->entry);
	mutex_destroy(&file->mutex);
	kfree(file);
	return 0;
}

static void umad_show_fdinfo(struct seq_file *seq, struct file *filp)
{
	struct ib_umad_file *file = filp->private_data;
	u64 dropped;

	scoped_guard(spinlock_irq, &file->lock)
		dropped = file->dropped;
	seq_printf(seq, "umad-dropped:\t%llu\n", dropped);
	rdma_reject_show(seq, &file->rejects);
}

const struct file_operations umad_fops = {
	.owner = THIS_MODULE,
	.open = umad_open,
	.release = umad_close,
	.read = umad_read,
	.write = umad_write,
	.poll = umad_poll,
	.unlocked_ioctl = umad_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = umad_compat_ioctl,
#endif
	.show_fdinfo = umad_show_fdinfo,
};
EXPORT_SYMBOL_IF_KUNIT(umad_fops);
