// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What one device answers: the core's commands, less those whose driver calls it lacks, plus the
 * methods and attributes its driver declares.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "command.h"

/* Index of a key that uapi_key_obj() or uapi_key_ioctl_method() gave. */
static unsigned int object_slot(u32 key)
{
	return key >> UVERBS_API_OBJ_KEY_SHIFT;
}

static unsigned int method_slot(u32 key)
{
	return (key & UVERBS_API_METHOD_KEY_MASK) >> UVERBS_API_METHOD_KEY_SHIFT;
}

static bool device_has(const struct ib_device *ibdev, u16 op)
{
	return !op || *(void *const *)((const void *)&ibdev->ops + op);
}

static struct uverbs_api_entry *api_entry(struct uverbs_api *api, u16 id)
{
	u32 key = uapi_key_obj(id);
	struct uverbs_api_entry **slot;

	if (WARN_ON(key == UVERBS_API_KEY_ERR))
		return ERR_PTR(-EINVAL);
	slot = &api->objects[object_slot(key)];
	if (!*slot) {
		*slot = kzalloc(sizeof(**slot), GFP_KERNEL);
		if (!*slot)
			return ERR_PTR(-ENOMEM);
		(*slot)->object.id = id;
	}
	return *slot;
}

static struct uverbs_method *entry_method(struct uverbs_api_entry *entry, u16 id)
{
	u32 key = uapi_key_ioctl_method(id);
	struct uverbs_method **slot;

	if (WARN_ON(key == UVERBS_API_KEY_ERR))
		return ERR_PTR(-EINVAL);
	slot = &entry->methods[method_slot(key)];
	if (!*slot) {
		*slot = kzalloc(sizeof(**slot), GFP_KERNEL);
		if (!*slot)
			return ERR_PTR(-ENOMEM);
		memset((*slot)->row, UV_NO_ROW, sizeof((*slot)->row));
	}
	return *slot;
}

/*
 * Adds one attribute.  A method has at most one object that it makes or destroys, which must be
 * mandatory: there is no way to undo two.
 */
static int method_add_attr(struct uverbs_method *method, u16 id,
			   const struct uverbs_attr_spec *spec, u8 row)
{
	u32 key = uapi_key_attr(id);
	unsigned int bkey;

	if (WARN_ON(key == UVERBS_API_KEY_ERR))
		return -EINVAL;
	bkey = uapi_bkey_attr(key);
	if (WARN_ON(method->spec[bkey].type != UVERBS_ATTR_TYPE_NA))
		return -EINVAL;

	if (spec->type == UVERBS_ATTR_TYPE_IDR || spec->type == UVERBS_ATTR_TYPE_FD) {
		bool life = spec->u.obj.access == UVERBS_ACCESS_NEW ||
			    spec->u.obj.access == UVERBS_ACCESS_DESTROY;

		if (WARN_ON(life && !spec->mandatory))
			return -EINVAL;
		if (spec->u.obj.access == UVERBS_ACCESS_DESTROY)
			method->destroy_key = bkey;
	}
	method->spec[bkey] = *spec;
	method->row[bkey] = row;
	method->key_len = max_t(u8, method->key_len, bkey + 1);
	method->has_udata |= spec->is_udata;
	if (spec->mandatory)
		__set_bit(bkey, method->mandatory);
	return 0;
}

/* A row of a core command, as the attribute checks want it. */
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

static int method_add_udata(struct uverbs_method *method)
{
	static const struct uverbs_attr_spec in = {
		.type = UVERBS_ATTR_TYPE_PTR_IN, .is_udata = 1, .u.ptr.len = U16_MAX,
	};
	static const struct uverbs_attr_spec out = {
		.type = UVERBS_ATTR_TYPE_PTR_OUT, .is_udata = 1, .u.ptr.len = U16_MAX,
	};

	return method_add_attr(method, UVERBS_ATTR_UHW_IN, &in, UV_NO_ROW) ?:
	       method_add_attr(method, UVERBS_ATTR_UHW_OUT, &out, UV_NO_ROW);
}

static int api_add_ioctl(struct uverbs_api *api, const struct uverbs_cmd *cmd, bool able)
{
	struct uverbs_api_entry *entry;
	struct uverbs_method *method;
	unsigned int i;
	int ret;

	entry = api_entry(api, cmd->object);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	method = entry_method(entry, cmd->method);
	if (IS_ERR(method))
		return PTR_ERR(method);

	method->cmd = cmd;
	method->unable = !able;
	method->destroy_key = UVERBS_API_ATTR_BKEY_LEN;
	for (i = 0; i < cmd->num_args; i++) {
		struct uverbs_attr_spec spec;

		if (cmd->args[i].attr == UV_NO_ATTR)
			continue;
		spec_from_arg(&spec, &cmd->args[i]);
		ret = method_add_attr(method, cmd->args[i].attr, &spec, i);
		if (ret)
			return ret;
	}
	return cmd->flags & UV_C_UHW ? method_add_udata(method) : 0;
}

static int api_add_commands(struct uverbs_api *api, struct ib_device *ibdev)
{
	unsigned int i;
	int ret;

	for (i = 0; i < uverbs_num_commands; i++) {
		const struct uverbs_cmd *cmd = uverbs_commands[i];
		u32 key = uapi_key_obj(cmd->object);

		bool able;

		if (!api->objects[object_slot(key)])
			continue;
		able = device_has(ibdev, cmd->needs[0]) && device_has(ibdev, cmd->needs[1]);
		/* what user space usually does itself, a driver must offer explicitly */
		if (able && cmd->w_num != UV_NO_WRITE &&
		    (ibdev->uverbs_cmd_mask & BIT_ULL(cmd->w_num)))
			api->write[cmd->w_num] = cmd;
		if (able && cmd->x_num != UV_NO_WRITE)
			api->write_ex[cmd->x_num] = cmd;
		if (cmd->method == UV_NO_METHOD)
			continue;
		ret = api_add_ioctl(api, cmd, able);
		if (ret)
			return ret;
	}
	return 0;
}

static int api_add_objects(struct uverbs_api *api, struct ib_device *ibdev)
{
	unsigned int i;

	for (i = 0; i < uverbs_num_objects; i++) {
		const struct uverbs_object_desc *desc = uverbs_objects[i];
		struct uverbs_api_entry *entry;

		if (!device_has(ibdev, desc->need))
			continue;
		entry = api_entry(api, desc->id);
		if (IS_ERR(entry))
			return PTR_ERR(entry);
		entry->object.type_attrs = desc->type;
		entry->object.type_class = desc->type ? desc->type->type_class : NULL;
	}
	return 0;
}

/* One method of the driver: a new one, or more attributes for one of the core's. */
static int driver_method(struct uverbs_api_entry *entry, const struct uverbs_method_def *def)
{
	struct uverbs_method *method;
	bool fresh;
	size_t i;
	int ret;

	method = entry_method(entry, def->id);
	if (IS_ERR(method))
		return PTR_ERR(method);
	fresh = !method->cmd && !method->handler;
	if (fresh) {
		method->destroy_key = UVERBS_API_ATTR_BKEY_LEN;
		method->disabled = !def->handler;
		method->handler = def->handler;
	} else if (WARN_ON(def->handler)) {
		return -EINVAL;
	}

	for (i = 0; i < def->num_attrs; i++) {
		const struct uverbs_attr_def *attr = (*def->attrs)[i];

		if (!attr)
			continue;
		ret = method_add_attr(method, attr->id, &attr->attr, UV_NO_ROW);
		if (ret)
			return ret;
	}
	return 0;
}

static int driver_object(struct uverbs_api *api, const struct uverbs_object_def *def)
{
	struct uverbs_api_entry *entry;
	size_t i;
	int ret;

	entry = api_entry(api, def->id);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	if (def->type_attrs) {
		if (WARN_ON(entry->object.type_attrs))
			return -EINVAL;
		entry->object.type_attrs = def->type_attrs;
		entry->object.type_class = def->type_attrs->type_class;
	}
	for (i = 0; def->methods && i < def->num_methods; i++) {
		if (!(*def->methods)[i])
			continue;
		ret = driver_method(entry, (*def->methods)[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * A driver's definitions in their order: what is said about support concerns the object named last.
 * Support of single methods is said of write() commands only, and those are the core's alone.
 */
static int driver_defs(struct uverbs_api *api, struct ib_device *ibdev,
		       const struct uapi_definition *def)
{
	struct uverbs_api_entry *entry = NULL;
	bool supported;
	int ret;

	for (; def && def->kind != UAPI_DEF_END; def++) {
		supported = true;
		switch (def->kind) {
		case UAPI_DEF_CHAIN:
			ret = driver_defs(api, ibdev, def->chain);
			if (ret)
				return ret;
			break;
		case UAPI_DEF_CHAIN_OBJ_TREE:
			if (!def->chain_obj_tree)
				break;
			ret = driver_object(api, def->chain_obj_tree);
			if (ret)
				return ret;
			fallthrough;
		case UAPI_DEF_OBJECT_START:
			entry = api_entry(api, def->object_start.object_id);
			if (IS_ERR(entry))
				return PTR_ERR(entry);
			break;
		case UAPI_DEF_IS_SUPPORTED_DEV_FN:
			supported = device_has(ibdev, def->needs_fn_offset);
			break;
		case UAPI_DEF_IS_SUPPORTED_FUNC:
			supported = def->func_is_supported(ibdev);
			break;
		default:
			WARN_ON(true);
			return -EINVAL;
		}
		if (supported)
			continue;
		if (WARN_ON(!entry || def->scope != UAPI_SCOPE_OBJECT))
			return -EINVAL;
		entry->object.disabled = 1;
	}
	return 0;
}

static bool api_has_object(const struct uverbs_api *api, u16 id)
{
	u32 key = uapi_key_obj(id);

	if (id == UVERBS_IDR_ANY_OBJECT)
		return true;
	return key != UVERBS_API_KEY_ERR && api->objects[object_slot(key)] &&
	       !api->objects[object_slot(key)]->object.disabled;
}

/*
 * A method that cannot do without objects of a type the device does not have, is none.  Where such
 * an object may be named, naming it is refused, whatever the handle: see uverbs_take().
 */
static void method_prune(const struct uverbs_api *api, struct uverbs_method *method)
{
	unsigned int key;
	u16 type;

	for_each_set_bit(key, method->mandatory, method->key_len) {
		const struct uverbs_attr_spec *spec = &method->spec[key];

		if (spec->type == UVERBS_ATTR_TYPE_IDR || spec->type == UVERBS_ATTR_TYPE_FD)
			type = spec->u.obj.obj_type;
		else if (spec->type == UVERBS_ATTR_TYPE_IDRS_ARRAY)
			type = spec->u2.objs_arr.obj_type;
		else
			continue;
		if (!api_has_object(api, type))
			method->disabled = true;
	}
	if (method->destroy_key > method->key_len)
		method->destroy_key = method->key_len;
}

static void api_prune(struct uverbs_api *api)
{
	unsigned int i, j;

	for (i = 0; i < UV_OBJECT_KEYS; i++)
		for (j = 0; api->objects[i] && j < UV_METHOD_KEYS; j++)
			if (api->objects[i]->methods[j])
				method_prune(api, api->objects[i]->methods[j]);
}

/**
 * uverbs_api_create - collect what a device answers
 * @ibdev: the device
 *
 * Context: process.
 * Return: the collection, ERR_PTR(-ENOMEM), or ERR_PTR(-EINVAL) for definitions of the driver that
 * contradict the core's.
 */
struct uverbs_api *uverbs_api_create(struct ib_device *ibdev)
{
	struct uverbs_api *api;
	int ret;

	api = kzalloc(sizeof(*api), GFP_KERNEL);
	if (!api)
		return ERR_PTR(-ENOMEM);
	api->driver_id = ibdev->ops.driver_id;

	ret = api_add_objects(api, ibdev) ?:
	      api_add_commands(api, ibdev) ?:
	      driver_defs(api, ibdev, ibdev->driver_def);
	if (ret) {
		uverbs_api_destroy(api);
		return ERR_PTR(ret);
	}
	api_prune(api);
	return api;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_create);

/**
 * uverbs_api_destroy - free what uverbs_api_create() made
 * @api: the collection or NULL
 */
void uverbs_api_destroy(struct uverbs_api *api)
{
	unsigned int i, j;

	for (i = 0; api && i < UV_OBJECT_KEYS; i++) {
		for (j = 0; api->objects[i] && j < UV_METHOD_KEYS; j++)
			kfree(api->objects[i]->methods[j]);
		kfree(api->objects[i]);
	}
	kfree(api);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_destroy);

/**
 * uverbs_api_method - find an ioctl method
 * @api: what the device answers
 * @object: object type number
 * @method: method number
 *
 * Return: the method, or NULL if the device has none.
 */
const struct uverbs_method *uverbs_api_method(const struct uverbs_api *api, u16 object, u16 method)
{
	const struct uverbs_method *found;
	u32 okey = uapi_key_obj(object);
	u32 mkey = uapi_key_ioctl_method(method);

	if (okey == UVERBS_API_KEY_ERR || mkey == UVERBS_API_KEY_ERR ||
	    !api->objects[object_slot(okey)] || api->objects[object_slot(okey)]->object.disabled)
		return NULL;
	found = api->objects[object_slot(okey)]->methods[method_slot(mkey)];
	return found && !found->disabled ? found : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_method);

/**
 * uverbs_api_find_write - find a write() command
 * @api: what the device answers
 * @command: the command word of a request: number and flags
 *
 * Return: the command, or NULL, for which uverbs_api_no_write() has the reason.
 */
const struct uverbs_cmd *uverbs_api_find_write(const struct uverbs_api *api, u32 command)
{
	u32 num = command & IB_USER_VERBS_CMD_COMMAND_MASK;

	if (num >= UVERBS_API_WRITE_KEY_NUM ||
	    command & ~(IB_USER_VERBS_CMD_COMMAND_MASK | IB_USER_VERBS_CMD_FLAG_EXTENDED))
		return NULL;
	return command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? api->write_ex[num] : api->write[num];
}

/**
 * uverbs_api_no_write - refuse a write() command that was not found
 * @command: the command word of a request
 *
 * Return: -EINVAL for unknown flags, -EOPNOTSUPP for a command the device does not have.
 */
int uverbs_api_no_write(u32 command)
{
	u32 num = command & IB_USER_VERBS_CMD_COMMAND_MASK;

	if (command & ~(IB_USER_VERBS_CMD_COMMAND_MASK | IB_USER_VERBS_CMD_FLAG_EXTENDED))
		return rdma_refuse(-EINVAL, "write: command %#x has unknown flags", command);
	return rdma_refuse(-EOPNOTSUPP, "write: this device has no %scommand %u",
			   command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? "extended " : "", num);
}

/**
 * uverbs_api_write - find a write() command, or refuse it
 * @api: what the device answers
 * @command: the command word of a request: number and flags
 *
 * Return: the command, or as uverbs_api_no_write() as an ERR_PTR.
 */
const struct uverbs_cmd *uverbs_api_write(const struct uverbs_api *api, u32 command)
{
	return uverbs_api_find_write(api, command) ?: ERR_PTR(uverbs_api_no_write(command));
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_write);

/**
 * uapi_get_object - find an object type
 * @api: what the device answers
 * @object: its number
 *
 * Return: the type, or ERR_PTR(-ENOENT) for one that the device does not have.  Of DEVICE there are
 * no objects: it has no type_attrs.
 */
const struct uverbs_api_object *uapi_get_object(struct uverbs_api *api, u16 object)
{
	u32 key = uapi_key_obj(object);
	struct uverbs_api_entry *entry;

	if (key == UVERBS_API_KEY_ERR)
		return ERR_PTR(-ENOENT);
	entry = api->objects[object_slot(key)];
	return !entry || entry->object.disabled ? ERR_PTR(-ENOENT) : &entry->object;
}
