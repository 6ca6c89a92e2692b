/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Keys: one 32-bit number that names an object, a method or an attribute.  From
 * the top: object, 5 bits of method, 6 bits of attribute.  Ids of drivers (those
 * with bit UVERBS_ID_NS_SHIFT set) are mapped behind the core's own.
 */
#ifndef RDMA_UVERBS_KEY_H
#define RDMA_UVERBS_KEY_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

enum uapi_radix_data {
	UVERBS_API_NS_FLAG = 1U << UVERBS_ID_NS_SHIFT,

	UVERBS_API_ATTR_KEY_BITS = 6,
	UVERBS_API_ATTR_KEY_MASK = GENMASK(UVERBS_API_ATTR_KEY_BITS - 1, 0),
	UVERBS_API_ATTR_BKEY_LEN = (1 << UVERBS_API_ATTR_KEY_BITS) - 1,
	UVERBS_API_WRITE_KEY_NUM = 1 << UVERBS_API_ATTR_KEY_BITS,

	UVERBS_API_METHOD_KEY_BITS = 5,
	UVERBS_API_METHOD_KEY_SHIFT = UVERBS_API_ATTR_KEY_BITS,
	UVERBS_API_METHOD_KEY_NUM_CORE = 22,
	UVERBS_API_METHOD_IS_WRITE = 30 << UVERBS_API_METHOD_KEY_SHIFT,
	UVERBS_API_METHOD_IS_WRITE_EX = 31 << UVERBS_API_METHOD_KEY_SHIFT,
	UVERBS_API_METHOD_KEY_NUM_DRIVER =
		(UVERBS_API_METHOD_IS_WRITE >> UVERBS_API_METHOD_KEY_SHIFT) -
		UVERBS_API_METHOD_KEY_NUM_CORE,
	UVERBS_API_METHOD_KEY_MASK =
		GENMASK(UVERBS_API_METHOD_KEY_BITS + UVERBS_API_METHOD_KEY_SHIFT - 1,
			UVERBS_API_METHOD_KEY_SHIFT),

	UVERBS_API_OBJ_KEY_BITS = 5,
	UVERBS_API_OBJ_KEY_SHIFT =
		UVERBS_API_METHOD_KEY_BITS + UVERBS_API_METHOD_KEY_SHIFT,
	UVERBS_API_OBJ_KEY_NUM_CORE = 20,
	UVERBS_API_OBJ_KEY_NUM_DRIVER =
		(1 << UVERBS_API_OBJ_KEY_BITS) - UVERBS_API_OBJ_KEY_NUM_CORE,
	UVERBS_API_OBJ_KEY_MASK = GENMASK(31, UVERBS_API_OBJ_KEY_SHIFT),

	UVERBS_API_KEY_ERR = 0xFFFFFFFF,
};

/* Maps ids of the core, and behind them those of a driver, to numbers below core + driver. */
static inline __attribute_const__ u32 uapi_key_fold(u32 id, u32 num_core, u32 num_driver)
{
	u32 nr = id & ~(u32)UVERBS_API_NS_FLAG;

	if (id & UVERBS_API_NS_FLAG)
		return nr < num_driver ? num_core + nr : UVERBS_API_KEY_ERR;
	return nr < num_core ? nr : UVERBS_API_KEY_ERR;
}

/**
 * uapi_key_obj() - get the key of an object
 * @id: its id
 *
 * Return: the key, or UVERBS_API_KEY_ERR if the id is too large.
 */
static inline __attribute_const__ u32 uapi_key_obj(u32 id)
{
	u32 nr = uapi_key_fold(id, UVERBS_API_OBJ_KEY_NUM_CORE, UVERBS_API_OBJ_KEY_NUM_DRIVER);

	return nr == UVERBS_API_KEY_ERR ? nr : nr << UVERBS_API_OBJ_KEY_SHIFT;
}

static inline __attribute_const__ bool uapi_key_is_object(u32 key)
{
	const u32 below = (1U << UVERBS_API_OBJ_KEY_SHIFT) - 1;

	return !(key & below);
}

/**
 * uapi_key_ioctl_method() - get the method part of a key
 * @id: the method's id; a part of 0 means that the key names an object
 *
 * Return: the part, or UVERBS_API_KEY_ERR if the id is too large.
 */
static inline __attribute_const__ u32 uapi_key_ioctl_method(u32 id)
{
	u32 nr;

	if (!(id & UVERBS_API_NS_FLAG) && id + 1 < UVERBS_API_METHOD_KEY_NUM_CORE)
		nr = id + 1;
	else if (id & UVERBS_API_NS_FLAG)
		nr = uapi_key_fold(id, UVERBS_API_METHOD_KEY_NUM_CORE,
				   UVERBS_API_METHOD_KEY_NUM_DRIVER);
	else
		nr = UVERBS_API_KEY_ERR;

	return nr == UVERBS_API_KEY_ERR ? nr : nr << UVERBS_API_METHOD_KEY_SHIFT;
}

/* Method and attribute part of a key for a command of the write() ABI. */
static inline __attribute_const__ u32 uapi_key_write_method(u32 id)
{
	return id < UVERBS_API_WRITE_KEY_NUM ?
	       (u32)UVERBS_API_METHOD_IS_WRITE | id : UVERBS_API_KEY_ERR;
}

/* The same for an extended command. */
static inline __attribute_const__ u32 uapi_key_write_ex_method(u32 id)
{
	return id < UVERBS_API_WRITE_KEY_NUM ?
	       (u32)UVERBS_API_METHOD_IS_WRITE_EX | id : UVERBS_API_KEY_ERR;
}

static inline __attribute_const__ bool uapi_key_is_write_method(u32 key)
{
	u32 method = key & UVERBS_API_METHOD_KEY_MASK;

	return method == UVERBS_API_METHOD_IS_WRITE;
}

static inline __attribute_const__ bool uapi_key_is_write_ex_method(u32 key)
{
	u32 method = key & UVERBS_API_METHOD_KEY_MASK;

	return method == UVERBS_API_METHOD_IS_WRITE_EX;
}

/* Does the key name a method of the ioctl ABI or an attribute of one? */
static inline __attribute_const__ bool uapi_key_in_ioctl_method(u32 key)
{
	u32 method = key & UVERBS_API_METHOD_KEY_MASK;

	return method && method < UVERBS_API_METHOD_IS_WRITE;
}

static inline __attribute_const__ bool uapi_key_is_ioctl_method(u32 key)
{
	return uapi_key_in_ioctl_method(key) && !(key & UVERBS_API_ATTR_KEY_MASK);
}

static inline __attribute_const__ bool uapi_key_is_attr(u32 key)
{
	return uapi_key_in_ioctl_method(key) && (key & UVERBS_API_ATTR_KEY_MASK);
}

/* Key of the method that an attribute belongs to. */
static inline __attribute_const__ u32 uapi_key_attr_to_ioctl_method(u32 attr_key)
{
	return attr_key & ~(u32)UVERBS_API_ATTR_KEY_MASK;
}

/* Lowest key that an attribute of a method can have. */
static inline __attribute_const__ u32 uapi_key_attrs_start(u32 ioctl_method_key)
{
	const u32 first = 1;

	return ioctl_method_key + first;
}

/**
 * uapi_key_attr() - get the attribute part of a key
 * @id: the attribute's id
 *
 * The core's attributes have odd numbers and those of drivers even ones, so that both start low; 0
 * names no attribute.
 *
 * Return: the part, or UVERBS_API_KEY_ERR if the id is too large.
 */
static inline __attribute_const__ u32 uapi_key_attr(u32 id)
{
	const u32 per_side = 1U << (UVERBS_API_ATTR_KEY_BITS - 1);
	bool driver = id & UVERBS_API_NS_FLAG;
	u32 nr = (id & ~(u32)UVERBS_API_NS_FLAG) + driver;

	return nr < per_side ? 2 * nr + !driver : UVERBS_API_KEY_ERR;
}

/* Bit of an attribute in a bitmap without a bit for number 0. */
static inline __attribute_const__ u32 uapi_bkey_attr(u32 attr_key)
{
	const u32 first = 1;

	return attr_key - first;
}

/* The attribute of a bit in such a bitmap. */
static inline __attribute_const__ u32 uapi_bkey_to_key_attr(u32 attr_bkey)
{
	const u32 first = 1;

	return attr_bkey + first;
}

#endif /* RDMA_UVERBS_KEY_H */
