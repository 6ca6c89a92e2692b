// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Foundations of rdma_ksa: its device, queries of the subnet manager, and checks.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "ksa.h"

struct ib_sa_client ksa_sa_client;
struct ib_device *ksa_device;

static uint passed, failed;
module_param(passed, uint, 0444);
module_param(failed, uint, 0444);

bool ksa_check(bool holds, const char *what, int line)
{
	if (holds) {
		passed++;
	} else {
		failed++;
		pr_err("rdma_ksa: line %d: %s\n", line, what);
	}
	return holds;
}

static void table_found(int status, const struct ib_sa_table *table, void *context)
{
	struct ksa_answer *answer = context;

	answer->status = status;
	if (table) {
		answer->count = table->count;
		answer->size = table->size;
		answer->mad_status = table->mad_status;
		if (table->count)
			memcpy(answer->first, ib_sa_table_record(table, 0),
			       min_t(unsigned int, table->size, IB_MGMT_SA_DATA));
	}
	complete(&answer->done);
}

void ksa_query(const struct ib_sa_attr_query *what, struct ksa_answer *answer)
{
	int id;

	memset(answer, 0, sizeof(*answer));
	init_completion(&answer->done);
	id = ib_sa_query_table(&ksa_sa_client, ksa_device, 1, what, PATIENCE, GFP_KERNEL,
			       table_found, answer, NULL);
	if (id < 0)
		answer->status = id;
	else
		wait_for_completion(&answer->done);
}

void ksa_query_type(enum ib_sa_query_type type, const union ib_sa_query_input *input,
		    struct ksa_answer *answer)
{
	struct ib_sa_attr_query made;
	u8 *record = kzalloc(IB_MGMT_SA_DATA, GFP_KERNEL);

	answer->status = record ? ib_sa_attr_query_init(&made, record, type, input) : -ENOMEM;
	if (!answer->status)
		ksa_query(&made, answer);
	kfree(record);
}
