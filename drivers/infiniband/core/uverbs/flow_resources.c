// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * References of a flow rule to the objects that its specifications name: flow actions, counters.
 */
#include <linux/slab.h>
#include <rdma/uverbs_std_types.h>

/**
 * flow_resources_alloc() - allocate the references of a rule
 * @num_specs: specifications of the rule
 *
 * Context: may sleep.
 * Return: an empty set of references, to be freed with ib_uverbs_flow_resources_free(), or NULL
 * without memory.
 */
struct ib_uflow_resources *flow_resources_alloc(size_t num_specs)
{
	struct ib_uflow_resources *res = kzalloc(sizeof(*res), GFP_KERNEL);

	if (!res)
		return NULL;
	res->max = num_specs;
	res->counters = kcalloc(num_specs, sizeof(*res->counters), GFP_KERNEL);
	res->collection = kcalloc(num_specs, sizeof(*res->collection), GFP_KERNEL);
	if (res->counters && res->collection)
		return res;
	ib_uverbs_flow_resources_free(res);
	return NULL;
}
EXPORT_SYMBOL(flow_resources_alloc);

/**
 * flow_resources_add() - take a reference on an object that a specification names
 * @uflow_res: resources with room for one more
 * @type: IB_FLOW_SPEC_ACTION_HANDLE or IB_FLOW_SPEC_ACTION_COUNT
 * @ibobj: the flow action, or the counters
 *
 * Context: any.
 */
void flow_resources_add(struct ib_uflow_resources *uflow_res, enum ib_flow_spec_type type,
			void *ibobj)
{
	if (WARN_ON_ONCE(uflow_res->num >= uflow_res->max))
		return;
	if (type == IB_FLOW_SPEC_ACTION_HANDLE) {
		struct ib_flow_action *action = ibobj;

		atomic_inc(&action->usecnt);
		uflow_res->collection[uflow_res->collection_num++] = action;
	} else if (!WARN_ON_ONCE(type != IB_FLOW_SPEC_ACTION_COUNT)) {
		struct ib_counters *counters = ibobj;

		atomic_inc(&counters->usecnt);
		uflow_res->counters[uflow_res->counters_num++] = counters;
	} else {
		return;
	}
	uflow_res->num++;
}
EXPORT_SYMBOL(flow_resources_add);

/**
 * ib_uverbs_flow_resources_free() - drop the references of a rule and free them
 * @uflow_res: resources, or NULL
 *
 * Context: any.
 */
void ib_uverbs_flow_resources_free(struct ib_uflow_resources *uflow_res)
{
	if (!uflow_res)
		return;
	while (uflow_res->collection_num)
		atomic_dec(&uflow_res->collection[--uflow_res->collection_num]->usecnt);
	while (uflow_res->counters_num)
		atomic_dec(&uflow_res->counters[--uflow_res->counters_num]->usecnt);
	kfree(uflow_res->collection);
	kfree(uflow_res->counters);
	kfree(uflow_res);
}
EXPORT_SYMBOL(ib_uverbs_flow_resources_free);
