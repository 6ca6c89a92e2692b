/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The user API of one device: methods of ioctl, commands of write(), object types.
 */
#ifndef CORE_UVERBS_API_H
#define CORE_UVERBS_API_H

#include <linux/bitmap.h>

#include "table.h"

/**
 * struct uverbs_method - one method of ioctl
 * @cmd: the core's command, NULL for a method that only the driver has
 * @handler: the driver's handler, NULL for a core command
 * @mandatory: attributes that must be present
 * @key_len: attributes are numbered below this in @spec and in the bundle
 * @destroy_key: the attribute whose object is destroyed, or @key_len
 * @has_udata: takes driver data
 * @late: still served after the device was removed: the method destroys an object, or carries a
 *	write() command that may do so
 * @unable: the device lacks a call the method needs; requests are refused with -EOPNOTSUPP
 * @of_driver: belongs to one device, whose driver added it or added attributes to it; others are
 *	shared by all devices
 * @row: index into @cmd->args of each attribute, or UV_NO_ROW
 * @spec: how each attribute is checked; type NA where none exists
 */
struct uverbs_method {
	const struct uverbs_cmd *cmd;
	int (*handler)(struct uverbs_attr_bundle *attrs);
	DECLARE_BITMAP(mandatory, UVERBS_API_ATTR_BKEY_LEN);
	u8 key_len;
	u8 destroy_key;
	bool has_udata;
	bool late;
	bool unable;
	bool of_driver;
	u8 row[UVERBS_API_ATTR_BKEY_LEN];
	struct uverbs_attr_spec spec[];
};

/* Row of an attribute that is the driver's own. */
#define UV_NO_ROW	0xff

#define UV_METHOD_KEYS	BIT(UVERBS_API_METHOD_KEY_BITS)
#define UV_OBJECT_KEYS	BIT(UVERBS_API_OBJ_KEY_BITS)

/**
 * struct uverbs_api_entry - one object type as a device offers it
 * @object: the description for look-ups; unused while its type_attrs is NULL
 * @methods: its methods by method key; NULL where none exists, or where it must have objects of a
 *	type that the device lacks
 */
struct uverbs_api_entry {
	struct uverbs_api_object object;
	const struct uverbs_method *methods[UV_METHOD_KEYS];
};

/**
 * struct uverbs_api - everything that a device offers; constant once made
 * @driver_id: driver ID that requests must have
 * @objects: by object key; NULL where none exists
 * @write: core commands by write() number
 * @write_ex: core commands by extended write() number
 */
struct uverbs_api {
	u32 driver_id;
	struct uverbs_api_entry *objects[UV_OBJECT_KEYS];
	const struct uverbs_cmd *write[UVERBS_API_WRITE_KEY_NUM];
	const struct uverbs_cmd *write_ex[UVERBS_API_WRITE_KEY_NUM];
};

/* methods.c */
int uverbs_methods_init(const struct uverbs_object_desc *const *objects);
void uverbs_methods_exit(void);
const struct uverbs_method *uverbs_method_of(const struct uverbs_cmd *cmd, bool able);
struct uverbs_method *uverbs_method_extend(const struct uverbs_method *old, unsigned int key_len);
int uverbs_method_add_attr(struct uverbs_method *method, u16 id,
			   const struct uverbs_attr_spec *spec, u8 row);
int uverbs_attr_key_len(u16 id);

/* api.c */
int uverbs_api_init(const struct uverbs_object_desc *const *objects);
void uverbs_api_exit(void);
struct uverbs_api *uverbs_api_create(struct ib_device *ibdev);
void uverbs_api_destroy(struct uverbs_api *api);
const struct uverbs_method *uverbs_api_method(const struct uverbs_api *api, u16 object, u16 method);
const struct uverbs_cmd *uverbs_api_find_write(const struct uverbs_api *api, u32 command);
int uverbs_api_no_write(u32 command);
const struct uverbs_cmd *uverbs_api_write(const struct uverbs_api *api, u32 command);
const struct uverbs_api_object *uapi_get_object(struct uverbs_api *api, u16 object);

#endif /* CORE_UVERBS_API_H */
