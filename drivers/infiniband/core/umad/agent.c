// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MAD agents of programs, registered and unregistered by ioctl.
 */
#include <linux/bitmap.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "umad.h"

/**
 * struct umad_reg - a registration, the same for all forms of the request
 * @qpn: 0 or 1
 * @rmpp_version: 0, or version of RMPP
 * @flags: IB_USER_MAD_REG_FLAGS_CAP
 * @new_header: if this is the file's first agent, its MADs have the new header from now on
 * @req: the requests that it receives; none if the class is 0
 */
struct umad_reg {
	u32 qpn;
	u8 rmpp_version;
	u32 flags;
	bool new_header;
	struct ib_mad_reg_req req;
};

/* Reserves a place for the caller, which ends this with settle_place(). Or returns an ERR_PTR(). */
static struct umad_agent *take_place(struct ib_umad_file *file)
{
	guard(mutex)(&file->mutex);
	if (file->dead)
		return ERR_PTR(rdma_refuse(-EPIPE, "the device is removed"));
	for (unsigned int i = 0; i < UMAD_AGENTS; i++) {
		struct umad_agent *agent = &file->agents[i];

		if (agent->mad || agent->taken)
			continue;
		agent->taken = true;
		return agent;
	}
	return ERR_PTR(rdma_refuse(-ENOMEM, "the file has its %u agents", UMAD_AGENTS));
}

/* Ends the reservation of a place; if @reg is not NULL, registers an agent for it. */
static long settle_place(struct umad_agent *agent, struct umad_reg *reg)
{
	struct ib_umad_file *file = agent->file;
	struct ib_mad_agent *mad;

	guard(mutex)(&file->mutex);
	agent->taken = false;
	if (!reg)
		return 0;
	if (file->dead)
		return rdma_refuse(-EPIPE, "the device is removed");
	mad = ib_register_mad_agent(file->port->ib_dev, file->port->port_num,
				    reg->qpn ? IB_QPT_GSI : IB_QPT_SMI,
				    reg->req.mgmt_class ? &reg->req : NULL, reg->rmpp_version,
				    umad_sent, umad_received, agent, reg->flags);
	if (IS_ERR(mad))
		return PTR_ERR(mad);
	agent->mad = mad;
	if (!file->used && reg->new_header)
		WRITE_ONCE(file->new_header, true);
	file->used = true;
	return 0;
}

/*
 * The agent's number is written to user memory before the registration, since nothing may fail once
 * MADs can arrive.  If the registration fails, the number has no meaning.  Access to user memory
 * may block without bound, so no lock is held.
 */
static long register_agent(struct ib_umad_file *file, struct umad_reg *reg, u32 __user *id)
{
	struct umad_agent *agent;

	if (reg->qpn > 1)
		return rdma_refuse(-EINVAL, "qpn %u is neither 0 nor 1", reg->qpn);
	agent = take_place(file);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	if (!put_user(umad_agent_id(agent), id))
		return settle_place(agent, reg);
	settle_place(agent, NULL);
	return rdma_refuse(-EFAULT, "id cannot be written");
}

/**
 * umad_register() - IB_USER_MAD_REGISTER_AGENT
 * @file: the file
 * @arg: struct ib_user_mad_reg_req, whose id is filled in
 * @compat: the mask of methods consists of words of 32 bits
 *
 * Return: 0; -EFAULT; -EPIPE once the device is removed; -EINVAL for a bad QP; -ENOMEM if the file
 * has 32 agents; the MAD layer's error.
 */
long umad_register(struct ib_umad_file *file, void __user *arg, bool compat)
{
	struct ib_user_mad_reg_req __user *user = arg;
	struct ib_user_mad_reg_req ureq;
	struct umad_reg reg;

	if (copy_from_user(&ureq, user, sizeof(ureq)))
		return rdma_refuse(-EFAULT, "the registration cannot be read");
	reg = (struct umad_reg) {
		.qpn = ureq.qpn, .rmpp_version = ureq.rmpp_version,
		.req.mgmt_class = ureq.mgmt_class,
		.req.mgmt_class_version = ureq.mgmt_class_version,
		.req.oui = { ureq.oui[0], ureq.oui[1], ureq.oui[2] },
	};
	if (compat)
		bitmap_from_arr32(reg.req.method_mask, (u32 *)ureq.method_mask,
				  IB_MGMT_MAX_METHODS);
	else
		memcpy(reg.req.method_mask, ureq.method_mask, sizeof(reg.req.method_mask));

	return register_agent(file, &reg, &user->id);
}

/**
 * umad_register2() - IB_USER_MAD_REGISTER_AGENT2
 * @file: the file; if it was not used before, its MADs have the new header from now on
 * @arg: struct ib_user_mad_reg_req2, whose id is filled in; if unknown flags are set, its flags are
 *	replaced by the known ones
 * @compat: unused, the structure is the same for all
 *
 * Return: as umad_register(); -EINVAL also for unknown flags and an OUI of more than 24 bits.
 */
long umad_register2(struct ib_umad_file *file, void __user *arg, bool compat)
{
	struct ib_user_mad_reg_req2 __user *user = arg;
	struct ib_user_mad_reg_req2 ureq;
	struct umad_reg reg;

	if (copy_from_user(&ureq, user, sizeof(ureq)))
		return rdma_refuse(-EFAULT, "the registration cannot be read");
	if (ureq.flags & ~IB_USER_MAD_REG_FLAGS_CAP) {
		if (put_user(IB_USER_MAD_REG_FLAGS_CAP, &user->flags))
			return rdma_refuse(-EFAULT, "flags cannot be written");
		return rdma_refuse(-EINVAL, "flags %#x: only %#x are known", ureq.flags,
				   IB_USER_MAD_REG_FLAGS_CAP);
	}
	if (ureq.mgmt_class && ureq.oui >> 24)
		return rdma_refuse(-EINVAL, "oui %#x has more than 24 bits", ureq.oui);
	reg = (struct umad_reg) {
		.qpn = ureq.qpn, .rmpp_version = ureq.rmpp_version, .flags = ureq.flags,
		.new_header = true,
		.req.mgmt_class = ureq.mgmt_class,
		.req.mgmt_class_version = ureq.mgmt_class_version,
		.req.oui = { ureq.oui >> 16, ureq.oui >> 8, ureq.oui },
	};
	bitmap_from_arr64(reg.req.method_mask, ureq.method_mask, IB_MGMT_MAX_METHODS);

	return register_agent(file, &reg, &user->id);
}

/**
 * umad_unregister() - IB_USER_MAD_UNREGISTER_AGENT
 * @file: the file
 * @arg: u32, number of the agent
 * @compat: unused
 *
 * Its sends are cancelled; MADs that it has received can still be read.
 *
 * Return: 0; -EFAULT; -EINVAL if there is no such agent, also after removal of the device.
 */
long umad_unregister(struct ib_umad_file *file, void __user *arg, bool compat)
{
	struct umad_agent *agent;
	u32 id;

	if (get_user(id, (u32 __user *)arg))
		return rdma_refuse(-EFAULT, "id cannot be read");
	if (id >= UMAD_AGENTS)
		return rdma_refuse(-EINVAL, "id %u: agents have numbers below %u", id, UMAD_AGENTS);

	guard(mutex)(&file->mutex);
	agent = &file->agents[array_index_nospec(id, UMAD_AGENTS)];
	if (!agent->mad)
		return rdma_refuse(-EINVAL, "there is no agent %u", id);
	ib_unregister_mad_agent(agent->mad);
	agent->mad = NULL;
	return 0;
}

/**
 * umad_enable_pkey() - IB_USER_MAD_ENABLE_PKEY
 * @file: the file; its MADs have the new header, with a P_Key index, from now on
 * @arg: unused
 * @compat: unused
 *
 * Return: 0, or -EINVAL if an agent was registered before.
 */
long umad_enable_pkey(struct ib_umad_file *file, void __user *arg, bool compat)
{
	guard(mutex)(&file->mutex);
	if (file->used)
		return rdma_refuse(-EINVAL, "an agent was registered before");
	WRITE_ONCE(file->new_header, true);
	return 0;
}
