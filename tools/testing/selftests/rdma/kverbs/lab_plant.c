// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Causes one fault, of the kind that is named, when the module is loaded: to show that each checker
 * of the debug kernel detects its kind, and that the lab notices the checker's report.
 */
#include <linux/kobject.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "warn, lockdep, key, kasan, ubsan, slab, sysfs, kobject or leak");

static void plant_warn(void)
{
	WARN(1, "planted\n");
}

/* Two locks in either order: no task waits, but a deadlock would be possible. */
static void plant_lockdep(void)
{
	static DEFINE_MUTEX(a);
	static DEFINE_MUTEX(b);

	mutex_lock(&a);
	mutex_lock(&b);
	mutex_unlock(&b);
	mutex_unlock(&a);
	mutex_lock(&b);
	mutex_lock(&a);
	mutex_unlock(&a);
	mutex_unlock(&b);
}

/* A lock that nobody has initialised. */
static void plant_key(void)
{
	struct lockdep_map *map = kzalloc(sizeof(*map) + 1, GFP_KERNEL);

	if (!map)
		return;
	lock_map_acquire(map);
	lock_map_release(map);
	kfree(map);
}

static void plant_kasan(void)
{
	u8 *bytes = kzalloc(16, GFP_KERNEL);

	if (!bytes)
		return;
	OPTIMIZER_HIDE_VAR(bytes);
	pr_info("lab_plant: behind its end is %u\n", READ_ONCE(bytes[16]));
	kfree(bytes);
}

static void plant_ubsan(void)
{
	int places = 40;

	OPTIMIZER_HIDE_VAR(places);
	pr_info("lab_plant: shifted too far, 1 is %d\n", 1 << places);
}

/* A cache that is destroyed before its object. */
static void plant_slab(void)
{
	struct kmem_cache *cache = kmem_cache_create("lab_plant", 64, 0, 0, NULL);

	if (cache && kmem_cache_alloc(cache, GFP_KERNEL))
		kmem_cache_destroy(cache);
}

static void plant_sysfs(void)
{
	struct kobject *one = kobject_create_and_add("lab_plant", NULL);
	struct kobject *other = kobject_create_and_add("lab_plant", NULL);

	kobject_put(other);
	kobject_put(one);
}

static void free_kobject(struct kobject *kobject)
{
	kfree(kobject);
}

static void plant_kobject(void)
{
	static const struct kobj_type type = { .release = free_kobject };
	struct kobject *kobject = kzalloc(sizeof(*kobject), GFP_KERNEL);

	if (!kobject)
		return;
	kobject_init(kobject, &type);
	kobject_init(kobject, &type);
	kobject_put(kobject);
}

/* More than one, for the pointer to the last may be somewhere on a stack. */
static void plant_leak(void)
{
	void *lost = NULL;

	for (int i = 0; i < 16; i++) {
		lost = kmalloc(100, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

static const struct {
	const char *name;
	void (*plant)(void);
} kinds[] = {
	{ "warn", plant_warn },
	{ "lockdep", plant_lockdep },
	{ "key", plant_key },
	{ "kasan", plant_kasan },
	{ "ubsan", plant_ubsan },
	{ "slab", plant_slab },
	{ "sysfs", plant_sysfs },
	{ "kobject", plant_kobject },
	{ "leak", plant_leak },
};

static int __init lab_plant_init(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kind, kinds[i].name)) {
			kinds[i].plant();
			return 0;
		}
	}
	return -EINVAL;
}
module_init(lab_plant_init);

static void __exit lab_plant_exit(void)
{
}
module_exit(lab_plant_exit);

MODULE_DESCRIPTION("Planted faults for the tests of the lab");
MODULE_LICENSE("Dual BSD/GPL");
