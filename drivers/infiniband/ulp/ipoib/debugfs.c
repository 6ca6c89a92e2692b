// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Groups and paths in debugfs, in the order of their GIDs. A listing holds the key of the entry
 * that it shows and no lock, so entries may come and go meanwhile.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/string_choices.h>

#include "dev.h"
#include "mcast.h"
#include "path.h"

static struct dentry *root;

/**
 * struct place - where a listing stands
 * @started: @key is valid
 * @key: the entry that is shown
 */
struct place {
	bool started;
	u8 key[IPOIB_KEY_LEN];
};

static void *advance(struct ipoib_dev *ipoib, struct ipoib_table *table, struct place *place)
{
	struct ipoib_node *node;

	guard(spinlock_irq)(&ipoib->lock);
	node = ipoib_table_above(table, place->started ? place->key : NULL);
	if (!node)
		return NULL;
	place->started = true;
	memcpy(place->key, node->key, sizeof(place->key));
	return place;
}

/* GIDs are written without leading zeroes, and none is left out. */
static void put_gid(struct seq_file *file, const u8 *key)
{
	seq_puts(file, "GID: ");
	for (int i = 0; i < 16; i += 2)
		seq_printf(file, "%x%s", key[i] << 8 | key[i + 1], i < 14 ? ":" : "\n");
}

static void put_group(struct seq_file *file, const struct ipoib_group *group)
{
	put_gid(file, group->node.key);
	seq_printf(file, "  created: %10ld\n", group->created);
	seq_printf(file, "  queuelen: %9d\n", skb_queue_len(&group->queue));
	seq_printf(file, "  complete: %9s\n", str_yes_no(rcu_access_pointer(group->ah)));
	seq_printf(file, "  send_only: %8s\n\n", str_yes_no(group->send_only));
}

static void put_path(struct seq_file *file, struct ipoib_path *path)
{
	u32 dlid = be32_to_cpu(sa_path_get_dlid(&path->rec));
	int rate = ib_rate_to_mbps(path->rec.rate);

	put_gid(file, path->node.key);
	seq_printf(file, "  complete: %6s\n", str_yes_no(dlid));
	if (dlid) {
		seq_printf(file, "  DLID:     0x%04x\n", dlid);
		seq_printf(file, "  SL: %12d\n", path->rec.sl);
		seq_printf(file, "  rate: %8d.%d Gb/sec\n", rate / 1000, rate % 1000);
	}
	seq_putc(file, '\n');
}

static int groups_show(struct seq_file *file, void *unused)
{
	struct ipoib_dev *ipoib = file->private;
	struct place place = {};
	struct ipoib_node *node;

	while (advance(ipoib, &ipoib->groups, &place)) {
		guard(spinlock_irq)(&ipoib->lock);
		node = ipoib_table_find(&ipoib->groups, place.key);
		if (node)
			put_group(file, container_of(node, struct ipoib_group, node));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(groups);

static int paths_show(struct seq_file *file, void *unused)
{
	struct ipoib_dev *ipoib = file->private;
	struct place place = {};
	struct ipoib_node *node;

	while (advance(ipoib, &ipoib->paths, &place)) {
		guard(spinlock_irq)(&ipoib->lock);
		node = ipoib_table_find(&ipoib->paths, place.key);
		if (node)
			put_path(file, container_of(node, struct ipoib_path, node));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(paths);

/**
 * ipoib_debugfs_add() - make an interface's files
 * @ipoib: interface that is registered, or has another name
 *
 * Context: RTNL is held.
 */
void ipoib_debugfs_add(struct ipoib_dev *ipoib)
{
	char name[IFNAMSIZ + sizeof("_path")];

	snprintf(name, sizeof(name), "%s_mcg", ipoib->netdev->name);
	ipoib->debug_groups = debugfs_create_file(name, 0444, root, ipoib, &groups_fops);
	snprintf(name, sizeof(name), "%s_path", ipoib->netdev->name);
	ipoib->debug_paths = debugfs_create_file(name, 0444, root, ipoib, &paths_fops);
}

/**
 * ipoib_debugfs_del() - remove an interface's files
 * @ipoib: the interface
 *
 * Nobody reads them any more on return. Context: RTNL is held.
 */
void ipoib_debugfs_del(struct ipoib_dev *ipoib)
{
	debugfs_remove(ipoib->debug_groups);
	debugfs_remove(ipoib->debug_paths);
	ipoib->debug_groups = NULL;
	ipoib->debug_paths = NULL;
}

/**
 * ipoib_debugfs_init() - make the folder
 *
 * Context: any.
 */
void ipoib_debugfs_init(void)
{
	root = debugfs_create_dir("ipoib", NULL);
}

/**
 * ipoib_debugfs_exit() - remove the folder
 *
 * Context: any.
 */
void ipoib_debugfs_exit(void)
{
	debugfs_remove(root);
}
