// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains.
 */
#include <stdlib.h>

#include "res/command.h"
#include "res/pd.h"

void pd_destroy(struct vpd *pd)
{
	table_del(&pd->dev->pds, pd->pdn, 0);
	free(pd);
}

enum vhca_status cmd_create_pd(struct command *c)
{
	struct vpd *pd = calloc(1, sizeof(*pd));
	int err;

	if (!pd)
		return VHCA_ST_INTERNAL;
	pd->dev = c->dev;
	err = table_add(&c->dev->pds, pd, 0, &pd->pdn);
	if (err) {
		free(pd);
		return command_table_error(c, VLIM_PDS, err);
	}
	return command_object(c, pd->pdn);
}

enum vhca_status cmd_destroy_pd(struct command *c)
{
	struct vpd *pd = table_get(&c->dev->pds, command_handle(c));

	if (!pd)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (pd->users)
		return BUSY(c, vhca_object_req, handle);
	pd_destroy(pd);
	return VHCA_ST_OK;
}
