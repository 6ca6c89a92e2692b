/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a security module allows to agents: see access.c. Without a module everything is allowed.
 */
#ifndef RDMA_MAD_ACCESS_H
#define RDMA_MAD_ACCESS_H

#include <linux/types.h>

struct mad_agent;
struct mad_port;

#ifdef CONFIG_SECURITY_INFINIBAND
int mad_access_init(void);
void mad_access_exit(void);
int mad_access_begin(struct mad_agent *agent);
void mad_access_forget_port(struct mad_port *port);
void mad_access_end(struct mad_agent *agent);
int mad_access_check(struct mad_agent *agent, u16 pkey_index);

/* Exposed for tests; the second one is called when the policy has changed. */
int mad_access_manage_subnet(void *blob, const char *device, u32 port_num);
void mad_access_policy_changed(void);
#else
static inline int mad_access_init(void)
{
	return 0;
}

static inline void mad_access_exit(void)
{
}

static inline int mad_access_begin(struct mad_agent *agent)
{
	return 0;
}

static inline void mad_access_forget_port(struct mad_port *port)
{
}

static inline void mad_access_end(struct mad_agent *agent)
{
}

static inline int mad_access_check(struct mad_agent *agent, u16 pkey_index)
{
	return 0;
}
#endif

#endif
