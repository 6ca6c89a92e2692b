// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device's clock, which stamps completions, and conversion of its stamps to
 * the host's time.
 *
 * The device is not accessed for that: the kernel reads both clocks at one
 * moment, and a stamp is a number of nanoseconds before or after it.  The two
 * do not run at quite the same rate, and the host's can be set, so the kernel is
 * asked again when a stamp is more than a second later than that moment.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "clock.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)

static int ask(struct ibv_context *context, struct vhca_clock_query_resp *resp)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DEVICE, VHCA_METHOD_CLOCK_QUERY, 1);

	memset(resp, 0, sizeof(*resp));
	fill_attr_out_ptr(cmd, VHCA_ATTR_CLOCK_QUERY_RESP, resp);
	return execute_ioctl(context, cmd);
}

/**
 * vhca_query_rt_values() - read the device's clock
 * @context: context
 * @values: in: what is wanted; out: what was read, only IBV_VALUES_MASK_RAW_CLOCK
 *
 * Programs expect the clock's whole count in tv_nsec.  If tv_nsec is too narrow for it, whole
 * seconds go to tv_sec.
 *
 * Return: 0 or an errno.
 */
int vhca_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct vhca_clock_query_resp resp;
	int err;

	if (!(to_vhca_context(context)->features & VHCA_UCTX_F_CLOCK))
		return EOPNOTSUPP;
	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	if (!values->comp_mask)
		return 0;
	err = ask(context, &resp);
	if (err)
		return err;
	values->raw_clock.tv_sec = resp.device > LONG_MAX ? resp.device / NSEC_PER_SEC : 0;
	values->raw_clock.tv_nsec = resp.device > LONG_MAX ? resp.device % NSEC_PER_SEC :
							     resp.device;
	return 0;
}

/**
 * vhca_clock_sync() - read both clocks
 * @context: context
 * @sync: receives both times; not changed after an error
 *
 * Return: 0 or an errno.
 */
int vhca_clock_sync(struct ibv_context *context, struct vhca_clock_sync *sync)
{
	struct vhca_clock_query_resp resp;
	int err = ask(context, &resp);

	if (err)
		return err;
	sync->device = resp.device;
	sync->real = resp.real_before + (int64_t)(resp.real_after - resp.real_before) / 2;
	return 0;
}

/**
 * vhca_clock_real() - the host's time of a stamp
 * @context: context
 * @sync: times of both clocks; read again when they are old
 * @stamp: time by the device's clock
 *
 * If the kernel cannot be asked, because the device is removed, the old times are used.
 *
 * Return: nanoseconds of CLOCK_REALTIME.
 */
uint64_t vhca_clock_real(struct ibv_context *context, struct vhca_clock_sync *sync, uint64_t stamp)
{
	if ((int64_t)(stamp - sync->device) > (int64_t)NSEC_PER_SEC)
		vhca_clock_sync(context, sync);
	return sync->real + (stamp - sync->device);
}
