// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Open files: opened, asked, closed.
 */
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib.h>

#include "ucma.h"

static ssize_t ucma_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	struct ucma_file *file = filp->private_data;
	struct rdma_reject_scope scope;
	int ret;

	rdma_reject_enter(&file->rejects, &scope);
	if (ib_safe_file_access(filp))
		ret = ucma_serve(filp, buf, count);
	else
		ret = rdma_refuse(-EACCES, "the file was opened with other credentials");
	rdma_reject_leave(&scope);
	return ret ?: count;
}

static __poll_t ucma_poll(struct file *filp, struct poll_table_struct *table)
{
	struct ucma_file *file = filp->private_data;

	poll_wait(filp, &file->wait, table);
	return list_empty(&file->events) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static int ucma_open(struct inode *inode, struct file *filp)
{
	struct ucma_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return -ENOMEM;
	mutex_init(&file->deliver);
	spin_lock_init(&file->lock);
	INIT_LIST_HEAD(&file->events);
	INIT_LIST_HEAD(&file->ids);
	init_waitqueue_head(&file->wait);
	file->rejects.stays[0] = THIS_MODULE;
	filp->private_data = file;
	return stream_open(inode, filp);
}

/* A file that is being closed has no other users, so claiming an id of its list succeeds. */
static struct ucma_id *claim_first(struct ucma_file *file)
{
	struct ucma_id *id;

	scoped_guard(spinlock, &file->lock)
		id = list_first_entry_or_null(&file->ids, struct ucma_id, entry);
	return id ? ucma_id_claim(file, id->number) : NULL;
}

/* Destroying ids frees their events, and with them the ids of connection requests. */
static int ucma_close(struct inode *inode, struct file *filp)
{
	struct ucma_file *file = filp->private_data;
	struct ucma_id *id;

	while ((id = claim_first(file)))
		ucma_id_destroy(id);
	mutex_destroy(&file->deliver);
	kfree(file);
	return 0;
}

static void ucma_show_fdinfo(struct seq_file *seq, struct file *filp)
{
	struct ucma_file *file = filp->private_data;
	u64 lost;

	scoped_guard(spinlock, &file->lock)
		lost = file->lost;
	seq_printf(seq, "ucma-lost:\t%llu\n", lost);
	rdma_reject_show(seq, &file->rejects);
}

const struct file_operations ucma_fops = {
	.owner = THIS_MODULE,
	.open = ucma_open,
	.release = ucma_close,
	.write = ucma_write,
	.poll = ucma_poll,
	.show_fdinfo = ucma_show_fdinfo,
};
EXPORT_SYMBOL_IF_KUNIT(ucma_fops);
