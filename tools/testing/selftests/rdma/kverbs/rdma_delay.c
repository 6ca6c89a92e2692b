// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who executes one of a few instructions stays there for a while, so that what runs beside it meets
 * it at a place where that happens by chance once in a million times.  The fuzzer of the user API
 * says which, by debugfs: a line "ADDRESS MICROSECONDS" written to the file "rdma_delay" adds one,
 * and "clear" removes all of them.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#define PLACES		8	/* at a time */
#define LONGEST		5000	/* microseconds: interrupts are off meanwhile */
#define STEP		100
#define OFTEN		6	/* times that a place delays somebody, */
#define EACH		3	/* the first who comes, and each third */

static struct place {
	struct kprobe probe;
	unsigned int usec;
	atomic_t came;
} places[PLACES];
static unsigned int num_places;
static DEFINE_MUTEX(lock);	/* the places, and their number */
static struct dentry *file;

static int delay(struct kprobe *probe, struct pt_regs *regs)
{
	struct place *place = container_of(probe, struct place, probe);
	int came = atomic_inc_return(&place->came);

	if (came % EACH != 1 || came > OFTEN * EACH)
		return 0;
	for (unsigned int usec = 0; usec < place->usec; usec += STEP)
		udelay(STEP);
	return 0;
}

static int add(unsigned long address, unsigned int usec)
{
	struct place *place = &places[num_places];
	int ret;

	if (num_places == PLACES)
		return -ENOSPC;
	*place = (struct place){
		.probe = { .addr = (kprobe_opcode_t *)address, .pre_handler = delay },
		.usec = min(usec, LONGEST),
	};
	ret = register_kprobe(&place->probe);
	if (!ret)
		num_places++;
	return ret;
}

static void clear(void)
{
	struct kprobe *probes[PLACES];

	for (unsigned int i = 0; i < num_places; i++)
		probes[i] = &places[i].probe;
	if (num_places)
		unregister_kprobes(probes, num_places);
	num_places = 0;
}

/* An address that is not the beginning of an instruction is refused by the kernel. */
static ssize_t delay_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	unsigned long address;
	unsigned int usec;
	char text[64];
	int ret = 0;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = 0;
	mutex_lock(&lock);
	if (sysfs_streq(text, "clear"))
		clear();
	else if (sscanf(text, "%lx %u", &address, &usec) == 2)
		ret = add(address, usec);
	else
		ret = -EINVAL;
	mutex_unlock(&lock);
	return ret ?: count;
}

static const struct file_operations delay_fops = {
	.owner = THIS_MODULE,
	.write = delay_write,
};

static int __init delay_init(void)
{
	file = debugfs_create_file("rdma_delay", 0200, NULL, NULL, &delay_fops);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit delay_exit(void)
{
	debugfs_remove(file);
	clear();
}

module_init(delay_init);
module_exit(delay_exit);

MODULE_DESCRIPTION("Delays whoever executes some instructions");
MODULE_LICENSE("Dual BSD/GPL");
