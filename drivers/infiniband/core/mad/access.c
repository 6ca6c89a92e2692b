// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a security module allows to agents: subnet management at a port as a whole, and other
 * classes by the P_Key of each MAD.
 *
 * An agent acts for the process that has registered it. The P_Key of each MAD is checked, so that
 * a change of the policy takes effect at once. Subnet management is checked at registration and
 * after a change of the policy.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/security.h>

#include "../cache/cache.h"
#include "../security/security.h"
#include "access.h"
#include "mad_priv.h"

/* Protects @smp_agents. */
static DEFINE_MUTEX(smp_agents_lock);
/* Agents of QP0, struct ib_mad_agent. */
static LIST_HEAD(smp_agents);

/**
 * mad_access_manage_subnet() - may a process manage the subnet at a port?
 * @blob: security blob of the process
 * @device: name of the device
 * @port_num: number of the port
 *
 * Context: may sleep.
 * Return: 0 or the security module's error.
 */
int mad_access_manage_subnet(void *blob, const char *device, u32 port_num)
{
	KUNIT_STATIC_STUB_REDIRECT(mad_access_manage_subnet, blob, device, port_num);
	return security_ib_endport_manage_subnet(blob, device, port_num);
}
EXPORT_SYMBOL_IF_KUNIT(mad_access_manage_subnet);

static int ask_smp(struct ib_mad_agent *agent)
{
	int ret = mad_access_manage_subnet(agent->security, agent->device->name,
					   agent->port_num);

	WRITE_ONCE(agent->smp_allowed, !ret);
	return ret;
}

/**
 * mad_access_policy_changed() - check subnet management again
 *
 * Context: may sleep.
 */
void mad_access_policy_changed(void)
{
	struct ib_mad_agent *agent;

	guard(mutex)(&smp_agents_lock);
	list_for_each_entry(agent, &smp_agents, mad_agent_sec_list)
		ask_smp(agent);
}
EXPORT_SYMBOL_IF_KUNIT(mad_access_policy_changed);

static void policy_work_fn(struct work_struct *work)
{
	mad_access_policy_changed();
}

static struct ib_policy_watch policy_watch;

/**
 * mad_access_begin() - record the process that registers an agent
 * @agent: agent that cannot be found yet; its device stays
 *
 * Context: may sleep; in the process for which the agent acts.
 * Return: 0, to be ended with mad_access_end(); -ENOMEM or the security module's error.
 */
int mad_access_begin(struct mad_agent *agent)
{
	struct ib_mad_agent *ib_agent = &agent->agent;
	int ret;

	INIT_LIST_HEAD(&ib_agent->mad_agent_sec_list);
	ret = ib_security_blob_alloc(&ib_agent->security);
	if (ret || agent->qp->index)
		return ret;
	guard(mutex)(&smp_agents_lock);
	ret = ask_smp(ib_agent);
	if (ret)
		security_ib_free_security(ib_agent->security);
	else
		list_add(&ib_agent->mad_agent_sec_list, &smp_agents);
	return ret;
}

/**
 * mad_access_forget_port() - stop checks of the agents of a port
 * @port: port whose device is being removed
 *
 * Context: may sleep.
 */
void mad_access_forget_port(struct mad_port *port)
{
	struct ib_mad_agent *agent, *next;

	guard(mutex)(&smp_agents_lock);
	list_for_each_entry_safe(agent, next, &smp_agents, mad_agent_sec_list)
		if (to_mad_agent(agent)->port == port)
			list_del_init(&agent->mad_agent_sec_list);
}

/**
 * mad_access_end() - end what mad_access_begin() began
 * @agent: agent
 *
 * Context: may sleep.
 */
void mad_access_end(struct mad_agent *agent)
{
	scoped_guard(mutex, &smp_agents_lock)
		list_del_init(&agent->agent.mad_agent_sec_list);
	security_ib_free_security(agent->agent.security);
}

/**
 * mad_access_check() - may a MAD pass?
 * @agent: agent that sends or receives it; held by the caller
 * @pkey_index: index of its P_Key; ignored at QP0
 *
 * Context: any that the security module allows; the port's lock is not held, because the module
 * takes locks of its own.
 * Return: 0; -EACCES if subnet management is not allowed; -ENODEV if the device has been removed;
 * the error of ib_get_cached_pkey() or of the security module for the P_Key.
 */
int mad_access_check(struct mad_agent *agent, u16 pkey_index)
{
	struct mad_port *port = agent->port;
	u64 subnet_prefix;
	u16 pkey;
	int ret;

	if (!agent->qp->index)
		return READ_ONCE(agent->agent.smp_allowed) ? 0 : -EACCES;
	scoped_guard(spinlock_irqsave, &port->lock) {
		if (!port->open)
			return -ENODEV;
		if (!rdma_protocol_ib(port->device, port->port_num))
			return 0;
		ret = ib_get_cached_pkey(port->device, port->port_num, pkey_index, &pkey);
		if (ret)
			return ret;
		ib_get_cached_subnet_prefix(port->device, port->port_num, &subnet_prefix);
	}
	return ib_security_pkey_access(agent->agent.security, subnet_prefix, pkey);
}

/**
 * mad_access_init() - begin to watch changes of the policy
 *
 * Return: 0 or a negative errno.
 */
int mad_access_init(void)
{
	return ib_policy_watch_begin(&policy_watch, policy_work_fn);
}

/**
 * mad_access_exit() - end what mad_access_init() began
 */
void mad_access_exit(void)
{
	ib_policy_watch_end(&policy_watch);
}
