// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains.
 */
#include <stdlib.h>

#include "res/command.h"

void xrcd_destroy(struct vxrcd *xrcd)
{
	table_del(&xrcd->dev->xrcds, xrcd->xrcdn, 0);
	free(xrcd);
}

enum vhca_status cmd_create_xrcd(struct command *c)
{
	struct vxrcd *xrcd = calloc(1, sizeof(*xrcd));
	int err;

	if (!xrcd)
		return VHCA_ST_INTERNAL;
	xrcd->dev = c->dev;
	err = table_add(&c->dev->xrcds, xrcd, 0, &xrcd->xrcdn);
	if (err) {
		free(xrcd);
		return command_untabled(c, VLIM_XRCDS, err);
	}
	return command_object(c, xrcd->xrcdn);
}

enum vhca_status cmd_destroy_xrcd(struct command *c)
{
	struct vxrcd *xrcd = table_get(&c->dev->xrcds, command_handle(c));

	if (!xrcd)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (xrcd->users)
		return BUSY(c, vhca_object_req, handle);
	xrcd_destroy(xrcd);
	return VHCA_ST_OK;
}
