// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Values that drivers add to the description of their objects: a name, the print format if it is
 * not the default, and the value; and counters with their values.
 */
#include <net/netlink.h>
#include <rdma/restrack.h>
#include "nldev_priv.h"

static int put_name(struct sk_buff *msg, const char *name, enum rdma_nldev_print_type print)
{
	if (nla_put_string(msg, RDMA_NLDEV_ATTR_DRIVER_STRING, name))
		return -EMSGSIZE;
	if (print == RDMA_NLDEV_PRINT_TYPE_UNSPEC)
		return 0;
	return nla_put_u8(msg, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE, print);
}

static int put_u32(struct sk_buff *msg, const char *name, enum rdma_nldev_print_type print,
		   u32 value)
{
	return put_name(msg, name, print) ?: nla_put_u32(msg, RDMA_NLDEV_ATTR_DRIVER_U32, value);
}

static int put_u64(struct sk_buff *msg, const char *name, enum rdma_nldev_print_type print,
		   u64 value)
{
	return put_name(msg, name, print) ?:
	       nla_put_u64_64bit(msg, RDMA_NLDEV_ATTR_DRIVER_U64, value, RDMA_NLDEV_ATTR_PAD);
}

/**
 * rdma_nl_put_driver_string() - append a driver's string
 * @msg: message
 * @name: name of the value
 * @str: the string
 *
 * Context: any.
 * Return: 0; -EMSGSIZE when the message is full.
 */
int rdma_nl_put_driver_string(struct sk_buff *msg, const char *name, const char *str)
{
	return put_name(msg, name, RDMA_NLDEV_PRINT_TYPE_UNSPEC) ?:
	       nla_put_string(msg, RDMA_NLDEV_ATTR_DRIVER_STRING, str);
}
EXPORT_SYMBOL(rdma_nl_put_driver_string);

/**
 * rdma_nl_put_driver_u32() - append a driver's u32
 * @msg: message
 * @name: name of the value
 * @value: number
 *
 * Context: any.
 * Return: 0; -EMSGSIZE when the message is full.
 */
int rdma_nl_put_driver_u32(struct sk_buff *msg, const char *name, u32 value)
{
	return put_u32(msg, name, RDMA_NLDEV_PRINT_TYPE_UNSPEC, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u32);

/**
 * rdma_nl_put_driver_u32_hex() - append a driver's u32 that is printed in hexadecimal
 * @msg: message
 * @name: name of the value
 * @value: number
 *
 * Context: any.
 * Return: 0; -EMSGSIZE when the message is full.
 */
int rdma_nl_put_driver_u32_hex(struct sk_buff *msg, const char *name, u32 value)
{
	return put_u32(msg, name, RDMA_NLDEV_PRINT_TYPE_HEX, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u32_hex);

/**
 * rdma_nl_put_driver_u64() - append a driver's u64
 * @msg: message
 * @name: name of the value
 * @value: number
 *
 * Context: any.
 * Return: 0; -EMSGSIZE when the message is full.
 */
int rdma_nl_put_driver_u64(struct sk_buff *msg, const char *name, u64 value)
{
	return put_u64(msg, name, RDMA_NLDEV_PRINT_TYPE_UNSPEC, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u64);

/**
 * rdma_nl_put_driver_u64_hex() - append a driver's u64 that is printed in hexadecimal
 * @msg: message
 * @name: name of the value
 * @value: number
 *
 * Context: any.
 * Return: 0; -EMSGSIZE when the message is full.
 */
int rdma_nl_put_driver_u64_hex(struct sk_buff *msg, const char *name, u64 value)
{
	return put_u64(msg, name, RDMA_NLDEV_PRINT_TYPE_HEX, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u64_hex);

/**
 * rdma_nl_stat_hwcounter_entry() - append a counter with its value
 * @msg: the message, inside the table of counters
 * @name: the counter's name
 * @value: its value
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int rdma_nl_stat_hwcounter_entry(struct sk_buff *msg, const char *name, u64 value)
{
	struct nlattr *entry = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	if (!entry)
		return -EMSGSIZE;
	if (nla_put_string(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value)) {
		nla_nest_cancel(msg, entry);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, entry);
	return 0;
}
EXPORT_SYMBOL(rdma_nl_stat_hwcounter_entry);
