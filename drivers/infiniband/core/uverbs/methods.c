// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Methods of ioctl and their attributes.  The core's methods are made once, from the rows of its
 * commands, and shared by all devices; a device whose driver adds attributes to a method gets a
 * copy of it.
 */
#include <linux/slab.h>

#include "api.h"

/* ---- one method ---- */

/* Makes a method without attributes, with room for those with keys below @key_len. */
static struct uverbs_method *method_alloc(unsigned int key_len)
{
	struct uverbs_method *method;

	method = kzalloc(struct_size(method, spec, key_len), GFP_KERNEL);
	if (!method)
		return NULL;
	method->key_len = key_len;
	method->destroy_key = key_len;
	memset(method->row, UV_NO_ROW, sizeof(method->row));
	return method;
}

/**
 * uverbs_method_add_attr() - add an attribute to a method that is being made
 * @method: the method, which has room for it
 * @id: the attribute's id
 * @spec: how it is checked
 * @row: its row in the table of the method's command, or UV_NO_ROW
 *
 * A method makes or destroys at most one object, because two could not be undone, and the attribute
 * that names it must be mandatory.
 *
 * Return: 0, or -EINVAL for an attribute that breaks this rule or exists already.
 */
int uverbs_method_add_attr(struct uverbs_method *method, u16 id,
			   const struct uverbs_attr_spec *spec, u8 row)
{
	unsigned int bkey = uapi_bkey_attr(uapi_key_attr(id));

	if (WARN_ON(method->spec[bkey].type != UVERBS_ATTR_TYPE_NA))
		return -EINVAL;

	if (spec->type == UVERBS_ATTR_TYPE_IDR || spec->type == UVERBS_ATTR_TYPE_FD) {
		bool life = spec->u.obj.access == UVERBS_ACCESS_NEW ||
			    spec->u.obj.access == UVERBS_ACCESS_DESTROY;

		if (WARN_ON(life && !spec->mandatory))
			return -EINVAL;
		if (spec->u.obj.access == UVERBS_ACCESS_DESTROY) {
			method->destroy_key = bkey;
			method->late = true;
		}
	}
	method->spec[bkey] = *spec;
	method->row[bkey] = row;
	method->has_udata |= spec->is_udata;
	if (spec->mandatory)
		__set_bit(bkey, method->mandatory);
	return 0;
}

/**
 * uverbs_attr_key_len() - get the key_len that a method needs for an attribute
 * @id: the attribute's id
 *
 * Return: one more than its key, or -EINVAL for an id that is too large.
 */
int uverbs_attr_key_len(u16 id)
{
	u32 key = uapi_key_attr(id);

	return WARN_ON(key == UVERBS_API_KEY_ERR) ? -EINVAL : uapi_bkey_attr(key) + 1;
}

/* ---- the core's methods, which all devices share ---- */

/**
 * struct core_method - a command of the core that has an ioctl method
 * @able: the method of devices that have the driver calls it needs
 * @unable: the method of the other devices, which only refuses requests
 */
struct core_method {
	struct uverbs_method *able;
	struct uverbs_method *unable;
};

/* Made when the module is loaded and constant from then on. */
static struct core_method *core_methods;
static unsigned int num_core_methods;

/* Converts a row of a core command to the specification of its attribute. */
static void spec_from_arg(struct uverbs_attr_spec *spec, const struct uverbs_arg *arg)
{
	static const u8 access_of[] = {
		[UV_READ] = UVERBS_ACCESS_READ,
		[UV_WRITE] = UVERBS_ACCESS_WRITE,
		[UV_NEW] = UVERBS_ACCESS_NEW,
		[UV_DESTROY] = UVERBS_ACCESS_DESTROY,
	};

	*spec = (struct uverbs_attr_spec){
		.mandatory = !!(arg->flags & UV_F_MANDATORY),
		.zero_trailing = !!(arg->flags & UV_F_ZERO_TAIL),
	};

	switch (arg->kind) {
	case UV_READ:
	case UV_WRITE:
	case UV_NEW:
	case UV_DESTROY:
		spec->type = arg->flags & UV_F_FD ? UVERBS_ATTR_TYPE_FD : UVERBS_ATTR_TYPE_IDR;
		spec->u.obj.obj_type = arg->type;
		spec->u.obj.access = access_of[arg->kind];
		return;
	case UV_LIST:
		spec->type = arg->flags & UV_F_BYTES_OUT ? UVERBS_ATTR_TYPE_PTR_OUT :
							   UVERBS_ATTR_TYPE_PTR_IN;
		spec->alloc_and_copy = !!(arg->flags & UV_F_COPY);
		spec->u.ptr.min_len = arg->min;
		spec->u.ptr.len = U16_MAX;
		return;
	case UV_MASK:
		spec->type = UVERBS_ATTR_TYPE_PTR_IN;
		spec->u.ptr.min_len = sizeof(u32);
		spec->u.ptr.len = sizeof(u64);
		return;
	case UV_OUT:
		spec->type = UVERBS_ATTR_TYPE_PTR_OUT;
		break;
	default:
		spec->type = UVERBS_ATTR_TYPE_PTR_IN;
		break;
	}
	spec->u.ptr.len = arg->flags & UV_F_CONST ? sizeof(u64) : arg->len;
	spec->u.ptr.min_len = arg->min ?: spec->u.ptr.len;
}

static const struct uverbs_attr_spec udata_in = {
	.type = UVERBS_ATTR_TYPE_PTR_IN, .is_udata = 1, .u.ptr.len = U16_MAX,
};

static const struct uverbs_attr_spec udata_out = {
	.type = UVERBS_ATTR_TYPE_PTR_OUT, .is_udata = 1, .u.ptr.len = U16_MAX,
};

static int method_from_rows(struct uverbs_method *method, const struct uverbs_cmd *cmd)
{
	struct uverbs_attr_spec spec;
	int ret;

	method->cmd = cmd;
	method->late = cmd->flags & UV_C_CARRIER;
	for (unsigned int i = 0; i < cmd->num_args; i++) {
		if (cmd->args[i].attr == UV_NO_ATTR)
			continue;
		spec_from_arg(&spec, &cmd->args[i]);
		ret = uverbs_method_add_attr(method, cmd->args[i].attr, &spec, i);
		if (ret)
			return ret;
	}
	if (!(cmd->flags & UV_C_UHW))
		return 0;
	return uverbs_method_add_attr(method, UVERBS_ATTR_UHW_IN, &udata_in, UV_NO_ROW) ?:
	       uverbs_method_add_attr(method, UVERBS_ATTR_UHW_OUT, &udata_out, UV_NO_ROW);
}

static int core_method_make(struct core_method *core, const struct uverbs_cmd *cmd)
{
	int key_len = cmd->flags & UV_C_UHW ? uverbs_attr_key_len(UVERBS_ATTR_UHW_OUT) : 0;
	int ret;

	for (unsigned int i = 0; i < cmd->num_args; i++) {
		ret = cmd->args[i].attr == UV_NO_ATTR ? 0 : uverbs_attr_key_len(cmd->args[i].attr);
		if (ret < 0)
			return ret;
		key_len = max(key_len, ret);
	}
	core->able = method_alloc(key_len);
	if (!core->able)
		return -ENOMEM;
	ret = method_from_rows(core->able, cmd);
	if (ret)
		return ret;
	core->unable = kmemdup(core->able, struct_size(core->able, spec, key_len), GFP_KERNEL);
	if (!core->unable)
		return -ENOMEM;
	core->unable->unable = true;
	return 0;
}

/**
 * uverbs_methods_exit() - free what uverbs_methods_init() made
 *
 * Context: process; no device has an API any more.
 */
void uverbs_methods_exit(void)
{
	for (unsigned int i = 0; i < num_core_methods; i++) {
		kfree(core_methods[i].able);
		kfree(core_methods[i].unable);
	}
	kfree(core_methods);
}

/**
 * uverbs_methods_init() - make the methods that all devices share
 * @objects: the object types of the core with their commands, ending with NULL
 *
 * Context: process, when the module is loaded.
 * Return: 0, -ENOMEM, or -EINVAL for rows that contradict each other.
 */
int uverbs_methods_init(const struct uverbs_object_desc *const *objects)
{
	const struct uverbs_object_desc *const *desc;
	const struct uverbs_cmd *const *cmd;
	unsigned int num = 0;
	int ret = 0;

	for (desc = objects; *desc; desc++)
		for (cmd = (*desc)->commands; *cmd; cmd++)
			num += (*cmd)->method != UV_NO_METHOD;
	core_methods = kcalloc(num, sizeof(*core_methods), GFP_KERNEL);
	if (!core_methods)
		return -ENOMEM;

	for (desc = objects; *desc; desc++)
		for (cmd = (*desc)->commands; *cmd && !ret; cmd++)
			if ((*cmd)->method != UV_NO_METHOD)
				ret = core_method_make(&core_methods[num_core_methods++], *cmd);
	if (ret)
		uverbs_methods_exit();
	return ret;
}

/**
 * uverbs_method_of() - get the method of a command of the core
 * @cmd: the command, which has one
 * @able: the device has the driver calls that it needs
 *
 * Return: the method, which all devices share.
 */
const struct uverbs_method *uverbs_method_of(const struct uverbs_cmd *cmd, bool able)
{
	const struct core_method *core = core_methods;

	while (core->able->cmd != cmd)
		core++;
	return able ? core->able : core->unable;
}

/* ---- what drivers add ---- */

/**
 * uverbs_method_extend() - make a method to which a driver's attributes can be added
 * @old: the method whose place it takes, or NULL
 * @key_len: the attributes to be added have keys below this
 *
 * Return: a copy of @old that is the device's own, or NULL without memory.
 */
struct uverbs_method *uverbs_method_extend(const struct uverbs_method *old, unsigned int key_len)
{
	struct uverbs_method *method;

	method = method_alloc(max_t(unsigned int, key_len, old ? old->key_len : 0));
	if (!method)
		return NULL;
	method->of_driver = true;
	if (!old)
		return method;
	method->cmd = old->cmd;
	method->handler = old->handler;
	method->has_udata = old->has_udata;
	method->late = old->late;
	method->unable = old->unable;
	if (old->destroy_key < old->key_len)
		method->destroy_key = old->destroy_key;
	bitmap_copy(method->mandatory, old->mandatory, UVERBS_API_ATTR_BKEY_LEN);
	memcpy(method->row, old->row, sizeof(method->row));
	memcpy(method->spec, old->spec, array_size(old->key_len, sizeof(*old->spec)));
	return method;
}
