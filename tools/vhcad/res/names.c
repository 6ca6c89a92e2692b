// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Names of commands and statuses.
 */
#include <string.h>

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "res/names.h"

#define NAME(prefix, name)	[prefix##name] = #name

static const char *const commands[256] = {
	NAME(VHCA_CMD_, NOP),
	NAME(VHCA_CMD_, QUERY_DEVICE),
	NAME(VHCA_CMD_, QUERY_PORT),
	NAME(VHCA_CMD_, QUERY_GIDS),
	NAME(VHCA_CMD_, QUERY_PKEYS),
	NAME(VHCA_CMD_, SET_NODE_DESC),
	NAME(VHCA_CMD_, QUERY_COUNTERS),
	NAME(VHCA_CMD_, QUERY_CLOCK),
	NAME(VHCA_CMD_, PROCESS_MAD),
	NAME(VHCA_CMD_, MODIFY_PORT),
	NAME(VHCA_CMD_, SET_GID),
	NAME(VHCA_CMD_, OPEN_UAR),
	NAME(VHCA_CMD_, CLOSE_UAR),
	NAME(VHCA_CMD_, ADD_DB_PAGE),
	NAME(VHCA_CMD_, CREATE_EQ),
	NAME(VHCA_CMD_, DESTROY_EQ),
	NAME(VHCA_CMD_, CREATE_PD),
	NAME(VHCA_CMD_, DESTROY_PD),
	NAME(VHCA_CMD_, CREATE_XRCD),
	NAME(VHCA_CMD_, DESTROY_XRCD),
	NAME(VHCA_CMD_, CREATE_MKEY),
	NAME(VHCA_CMD_, DESTROY_MKEY),
	NAME(VHCA_CMD_, MODIFY_MKEY),
	NAME(VHCA_CMD_, FENCE_MKEYS),
	NAME(VHCA_CMD_, CREATE_CQ),
	NAME(VHCA_CMD_, DESTROY_CQ),
	NAME(VHCA_CMD_, RESIZE_CQ),
	NAME(VHCA_CMD_, MODIFY_CQ),
	NAME(VHCA_CMD_, CREATE_SRQ),
	NAME(VHCA_CMD_, DESTROY_SRQ),
	NAME(VHCA_CMD_, MODIFY_SRQ),
	NAME(VHCA_CMD_, RESIZE_SRQ),
	NAME(VHCA_CMD_, QUERY_SRQ),
	NAME(VHCA_CMD_, CREATE_QP),
	NAME(VHCA_CMD_, DESTROY_QP),
	NAME(VHCA_CMD_, MODIFY_QP),
	NAME(VHCA_CMD_, QUERY_QP),
	NAME(VHCA_CMD_, ATTACH_MCG),
	NAME(VHCA_CMD_, DETACH_MCG),
	NAME(VHCA_CMD_, CREATE_COUNTER),
	NAME(VHCA_CMD_, DESTROY_COUNTER),
	NAME(VHCA_CMD_, BIND_COUNTER),
	NAME(VHCA_CMD_, QUERY_COUNTER),
};

static const char *const statuses[] = {
	NAME(VHCA_ST_, OK),
	NAME(VHCA_ST_, BAD_OPCODE),
	NAME(VHCA_ST_, BAD_FIELD),
	NAME(VHCA_ST_, BAD_HANDLE),
	NAME(VHCA_ST_, BUSY),
	NAME(VHCA_ST_, NO_RESOURCE),
	NAME(VHCA_ST_, BAD_STATE),
	NAME(VHCA_ST_, BAD_ADDRESS),
	NAME(VHCA_ST_, UNSUPPORTED),
	NAME(VHCA_ST_, INTERNAL),
};

static const char *name_of(const char *const *names, u32 n, u32 i)
{
	return i < n && names[i] ? names[i] : "?";
}

static int by_name(const char *const *names, u32 n, const char *name)
{
	for (u32 i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -1;
}

const char *vcmd_name(u32 opcode)
{
	return name_of(commands, ARRAY_SIZE(commands), opcode);
}

int vcmd_by_name(const char *name)
{
	return by_name(commands, ARRAY_SIZE(commands), name);
}

const char *vstatus_name(u32 status)
{
	return name_of(statuses, ARRAY_SIZE(statuses), status);
}

int vstatus_by_name(const char *name)
{
	return by_name(statuses, ARRAY_SIZE(statuses), name);
}
