// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The commands and methods that one device offers: the core's, except those that need a driver call
 * which its driver lacks, and the methods and attributes that its driver declares.
 */
#include <kunit/visibility.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "api.h"

/* The object types of the core with their commands, ending with NULL. */
static const struct uverbs_object_desc *const *core_objects;

/*
 * object_slot() and method_slot() turn a key of uapi_key_obj() or uapi_key_ioctl_method() into an
 * index.  The key is made of a number that user space chose, so the index is clamped: speculative
 * execution must not read beyond the tables.
 */
static unsigned int object_slot(u32 key)
{
	return array_index_nospec(key >> UVERBS_API_OBJ_KEY_SHIFT, UV_OBJECT_KEYS);
}

static unsigned int method_slot(u32 key)
{
	u32 slot = (key & UVERBS_API_METHOD_KEY_MASK) >> UVERBS_API_METHOD_KEY_SHIFT;

	return array_index_nospec(slot, UV_METHOD_KEYS);
}

static bool device_has(const struct ib_device *ibdev, u16 op)
{
	return !op || *(void *const *)((const void *)&ibdev->ops + op);
}

/* Index of a method, or -EINVAL for an id that is too large. */
static int method_key(u16 id)
{
	u32 key = uapi_key_ioctl_method(id);

	return WARN_ON(key == UVERBS_API_KEY_ERR) ? -EINVAL : method_slot(key);
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

/* ---- the core's commands on one device ---- */

static void api_add_write(struct uverbs_api *api, const struct ib_device *ibdev,
			  const struct uverbs_cmd *cmd)
{
	/*
	 * The mask lacks the commands of the data path unless the driver adds them: most libraries
	 * post and poll without the kernel.
	 */
	if (cmd->w_num != UV_NO_WRITE && (ibdev->uverbs_cmd_mask & BIT_ULL(cmd->w_num)))
		api->write[cmd->w_num] = cmd;
	if (cmd->x_num != UV_NO_WRITE)
		api->write_ex[cmd->x_num] = cmd;
}

static int api_add_command(struct uverbs_api *api, const struct ib_device *ibdev,
			   struct uverbs_api_entry *entry, const struct uverbs_cmd *cmd)
{
	bool able = device_has(ibdev, cmd->needs[0]) && device_has(ibdev, cmd->needs[1]);
	int key;

	if (able)
		api_add_write(api, ibdev, cmd);
	if (cmd->method == UV_NO_METHOD)
		return 0;
	key = method_key(cmd->method);
	if (key < 0)
		return key;
	entry->methods[key] = uverbs_method_of(cmd, able);
	return 0;
}

static int api_add_commands(struct uverbs_api *api, const struct ib_device *ibdev)
{
	const struct uverbs_object_desc *const *desc;
	const struct uverbs_cmd *const *cmd;
	struct uverbs_api_entry *entry;
	int ret;

	for (desc = core_objects; *desc; desc++) {
		entry = api->objects[object_slot(uapi_key_obj((*desc)->id))];
		for (cmd = (*desc)->commands; entry && *cmd; cmd++) {
			ret = api_add_command(api, ibdev, entry, *cmd);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int api_add_objects(struct uverbs_api *api, const struct ib_device *ibdev)
{
	const struct uverbs_object_desc *const *desc;

	for (desc = core_objects; *desc; desc++) {
		const struct uverbs_obj_type *type = (*desc)->type;
		struct uverbs_api_entry *entry;

		if ((*desc)->more || !device_has(ibdev, (*desc)->need))
			continue;
		entry = api_entry(api, (*desc)->id);
		if (IS_ERR(entry))
			return PTR_ERR(entry);
		entry->object.type_attrs = type;
		entry->object.type_class = type ? type->type_class : NULL;
	}
	return 0;
}

/* ---- methods and attributes of its driver ---- */

/* Takes a method out of an entry and frees it if it belongs to this device alone. */
static void entry_drop(struct uverbs_api_entry *entry, unsigned int key)
{
	if (entry->methods[key] && entry->methods[key]->of_driver)
		kfree(entry->methods[key]);
	entry->methods[key] = NULL;
}

/* Adds one method of the driver, or attributes of the driver to one of the core's methods. */
static int driver_method(struct uverbs_api_entry *entry, const struct uverbs_method_def *def)
{
	int key = method_key(def->id), key_len = 0;
	struct uverbs_method *method;
	int ret;

	if (key < 0)
		return key;
	for (size_t i = 0; i < def->num_attrs; i++) {
		ret = (*def->attrs)[i] ? uverbs_attr_key_len((*def->attrs)[i]->id) : 0;
		if (ret < 0)
			return ret;
		key_len = max(key_len, ret);
	}
	method = uverbs_method_extend(entry->methods[key], key_len);
	if (!method)
		return -ENOMEM;
	entry_drop(entry, key);
	entry->methods[key] = method;

	if (!method->cmd && !method->handler)
		method->handler = def->handler;
	else if (WARN_ON(def->handler))
		return -EINVAL;
	for (size_t i = 0; i < def->num_attrs; i++) {
		const struct uverbs_attr_def *attr = (*def->attrs)[i];

		if (!attr)
			continue;
		ret = uverbs_method_add_attr(method, attr->id, &attr->attr, UV_NO_ROW);
		if (ret)
			return ret;
	}
	return 0;
}

static int driver_object(struct uverbs_api *api, const struct uverbs_object_def *def)
{
	struct uverbs_api_entry *entry;
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
	for (size_t i = 0; def->methods && i < def->num_methods; i++) {
		if (!(*def->methods)[i])
			continue;
		ret = driver_method(entry, (*def->methods)[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Adds a driver's definitions in their order.  A condition (UAPI_DEF_IS_SUPPORTED_*) applies to the
 * object that was named last.  One for a single write() command is an error, because only the core
 * has such commands.
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
 * A method does not exist if it must have an object of a type that the device lacks, or if a driver
 * has added attributes to a method that has no handler.  A method for which such an object is
 * optional exists, and uverbs_take() refuses every handle of that type.
 */
static bool method_serves(const struct uverbs_api *api, const struct uverbs_method *method)
{
	unsigned int key;
	u16 type;

	if (!method->cmd && !method->handler)
		return false;
	for_each_set_bit(key, method->mandatory, method->key_len) {
		const struct uverbs_attr_spec *spec = &method->spec[key];

		if (spec->type == UVERBS_ATTR_TYPE_IDR || spec->type == UVERBS_ATTR_TYPE_FD)
			type = spec->u.obj.obj_type;
		else if (spec->type == UVERBS_ATTR_TYPE_IDRS_ARRAY)
			type = spec->u2.objs_arr.obj_type;
		else
			continue;
		if (!api_has_object(api, type))
			return false;
	}
	return true;
}

static void api_prune(struct uverbs_api *api)
{
	for (unsigned int i = 0; i < UV_OBJECT_KEYS; i++) {
		struct uverbs_api_entry *entry = api->objects[i];

		for (unsigned int j = 0; entry && j < UV_METHOD_KEYS; j++)
			if (entry->methods[j] && !method_serves(api, entry->methods[j]))
				entry_drop(entry, j);
	}
}

/**
 * uverbs_api_init() - make the methods that all devices share
 * @objects: the object types of the core with their commands, ending with NULL
 *
 * Context: process, when the module is loaded.
 * Return: 0, -ENOMEM, or -EINVAL for a table that contradicts itself.
 */
int uverbs_api_init(const struct uverbs_object_desc *const *objects)
{
	core_objects = objects;
	return uverbs_methods_init(objects);
}

/**
 * uverbs_api_exit() - free what uverbs_api_init() made
 *
 * Context: process; every uverbs_api_create() was undone.
 */
void uverbs_api_exit(void)
{
	uverbs_methods_exit();
}

/**
 * uverbs_api_create() - collect the commands and methods that a device offers
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
 * uverbs_api_destroy() - free what uverbs_api_create() made
 * @api: the collection or NULL
 */
void uverbs_api_destroy(struct uverbs_api *api)
{
	for (unsigned int i = 0; api && i < UV_OBJECT_KEYS; i++) {
		for (unsigned int j = 0; api->objects[i] && j < UV_METHOD_KEYS; j++)
			entry_drop(api->objects[i], j);
		kfree(api->objects[i]);
	}
	kfree(api);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_destroy);

/**
 * uverbs_api_method() - find an ioctl method
 * @api: the device's commands
 * @object: object type number
 * @method: method number
 *
 * Return: the method, or NULL if the device has none.
 */
const struct uverbs_method *uverbs_api_method(const struct uverbs_api *api, u16 object, u16 method)
{
	u32 okey = uapi_key_obj(object);
	u32 mkey = uapi_key_ioctl_method(method);
	const struct uverbs_api_entry *entry;

	if (okey == UVERBS_API_KEY_ERR || mkey == UVERBS_API_KEY_ERR)
		return NULL;
	entry = api->objects[object_slot(okey)];
	return entry && !entry->object.disabled ? entry->methods[method_slot(mkey)] : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_method);

/**
 * uverbs_api_find_write() - find a write() command
 * @api: the device's commands
 * @command: the command word of a request: number and flags
 *
 * Return: the command, or NULL; uverbs_api_no_write() then records the reason.
 */
const struct uverbs_cmd *uverbs_api_find_write(const struct uverbs_api *api, u32 command)
{
	u32 num = command & IB_USER_VERBS_CMD_COMMAND_MASK;

	if (num >= UVERBS_API_WRITE_KEY_NUM ||
	    command & ~(IB_USER_VERBS_CMD_COMMAND_MASK | IB_USER_VERBS_CMD_FLAG_EXTENDED))
		return NULL;
	num = array_index_nospec(num, UVERBS_API_WRITE_KEY_NUM);
	return command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? api->write_ex[num] : api->write[num];
}

/**
 * uverbs_api_no_write() - refuse a write() command that was not found
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
 * uverbs_api_write() - find a write() command, or refuse it
 * @api: the device's commands
 * @command: the command word of a request: number and flags
 *
 * Return: the command, or an ERR_PTR() with the error of uverbs_api_no_write().
 */
const struct uverbs_cmd *uverbs_api_write(const struct uverbs_api *api, u32 command)
{
	return uverbs_api_find_write(api, command) ?: ERR_PTR(uverbs_api_no_write(command));
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_write);

/**
 * uapi_get_object() - find an object type
 * @api: the device's commands
 * @object: its number
 *
 * Return: the type, or ERR_PTR(-ENOENT) for one that the device does not have.  DEVICE has methods
 * but no objects, so that its type_attrs is NULL.
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
