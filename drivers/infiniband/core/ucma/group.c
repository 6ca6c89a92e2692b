// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups that ids have joined.
 */
#include <linux/slab.h>
#include <linux/xarray.h>

#include "../object/object.h"
#include "ucma.h"

/* All groups. A number whose group is not published yet is kept by an empty place. */
static DEFINE_XARRAY_ALLOC(ucma_groups);

/**
 * ucma_groups_exit() - free the table of groups, of which there are none any more
 */
void ucma_groups_exit(void)
{
	rdma_xa_destroy(&ucma_groups);
}

/**
 * ucma_group_alloc() - make a group that an id is going to join
 * @id: the id
 *
 * It has a number, but look-ups do not find it yet.
 *
 * Return: the group, or NULL without memory.
 */
struct ucma_group *ucma_group_alloc(struct ucma_id *id)
{
	struct ucma_group *group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);

	if (!group)
		return NULL;
	INIT_LIST_HEAD(&group->entry);
	group->id = id;
	if (!xa_alloc(&ucma_groups, &group->number, NULL, xa_limit_32b, GFP_KERNEL_ACCOUNT))
		return group;
	kfree(group);
	return NULL;
}

/**
 * ucma_group_free() - free a group
 * @group: a group that no event names any more
 *
 * Context: may sleep; under the id's lock, if others know the id.
 */
void ucma_group_free(struct ucma_group *group)
{
	list_del(&group->entry);
	xa_erase(&ucma_groups, group->number);
	kfree(group);
}

/**
 * ucma_group_publish() - let the program name a group
 * @group: a group that its id has joined
 *
 * Context: may sleep; under the id's lock.
 */
void ucma_group_publish(struct ucma_group *group)
{
	lockdep_assert_held(&group->id->lock);
	list_add_tail(&group->entry, &group->id->groups);
	/* The place is there, so this needs no memory */
	xa_store(&ucma_groups, group->number, group, GFP_KERNEL);
}

/**
 * ucma_group_owner() - whose group is this?
 * @file: the file that its id has to belong to
 * @number: the group's number
 * @id_number: receives the id's number
 *
 * Return: 0; -ENOENT if there is none; -EINVAL if it belongs to another file.
 */
int ucma_group_owner(struct ucma_file *file, u32 number, u32 *id_number)
{
	const struct ucma_group *group;
	int ret = 0;

	xa_lock(&ucma_groups);
	group = xa_load(&ucma_groups, number);
	if (!group)
		ret = rdma_refuse(-ENOENT, "there is no multicast group %u", number);
	else if (READ_ONCE(group->id->file) != file)
		ret = rdma_refuse(-EINVAL, "multicast group %u belongs to another file", number);
	else
		*id_number = group->id->number;
	xa_unlock(&ucma_groups);
	return ret;
}
