// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One client, from its first message to its last.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "server/session.h"

static vu_handler *const handlers[] = {
	[VU_DMA_MAP]		= vu_dma_map,
	[VU_DMA_UNMAP]		= vu_dma_unmap,
	[VU_GET_INFO]		= vu_get_info,
	[VU_GET_REGION_INFO]	= vu_get_region_info,
	[VU_GET_IRQ_INFO]	= vu_get_irq_info,
	[VU_SET_IRQS]		= vu_set_irqs,
	[VU_REGION_READ]	= vu_region_read,
	[VU_REGION_WRITE]	= vu_region_write,
	[VU_DEVICE_RESET]	= vu_device_reset,
	[VU_DEVICE_FEATURE]	= vu_device_feature,
};

static vu_handler *handler_for(const struct vu_message *msg, bool greeted)
{
	if (!greeted)
		return msg->hdr.command == VU_VERSION ? vu_version : NULL;
	if (msg->hdr.command >= ARRAY_SIZE(handlers))
		return NULL;
	return handlers[msg->hdr.command];
}

struct session {
	bool greeted;		/* VERSION has been agreed upon */
	struct vu_message msg;
	u8 out[VU_MAX_REPLY] __attribute__((aligned(8)));
};

/* Returns 0 when the client has disconnected, or -errno with @why set. */
static int serve(struct vu_function *fn, int sock, struct session *ss, const char **why)
{
	int rc;

	for (;;) {
		vu_handler *handle;

		/* vu_receive() closes the descriptors that a message has no room for */
		vu_foreign(fn);
		rc = vu_receive(sock, &ss->msg, why);
		vu_foreign(fn);
		if (rc <= 0)
			return rc;
		handle = handler_for(&ss->msg, ss->greeted);
		if (handle) {
			rc = handle(fn, &ss->msg, ss->out, why);
		} else if (!ss->greeted) {
			*why = "a first message that is not VERSION";
			rc = -EPROTO;
		} else {
			rc = -ENOTSUP;
		}
		vu_foreign(fn);
		vu_message_drop(&ss->msg);
		vu_foreign(fn);
		if (rc == -EPROTO) {
			/* a courtesy: the client learns it before it is cut off */
			vu_reply(sock, &ss->msg.hdr, EINVAL, NULL, 0);
			return rc;
		}
		if (!ss->greeted) {
			ss->greeted = true;
			log_line("%s: guest attached", fn->cfg.name);
		}
		rc = vu_reply(sock, &ss->msg.hdr, rc < 0 ? -rc : 0, ss->out, rc < 0 ? 0 : rc);
		if (rc)
			return rc;
	}
}

void vu_session(struct vu_function *fn, int sock)
{
	struct session *ss;
	const char *why = NULL;
	int rc;

	ss = malloc(sizeof(*ss));
	if (!ss) {
		log_line("%s: no memory to serve a guest", fn->cfg.name);
		return;
	}
	ss->greeted = false;
	rc = serve(fn, sock, ss, &why);
	if (rc == -EPROTO)
		log_line("%s: disconnecting the guest: it sent %s", fn->cfg.name, why);
	else if (ss->greeted)
		log_line("%s: guest went away", fn->cfg.name);
	free(ss);

	vu_function_reset(fn);
	vu_irqs_assign(&fn->irqs, 0, fn->irqs.vectors, NULL);
	gmem_unmap_all(fn->mem);
}
