// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Log lines that name the RDMA device, its bus device and its driver.
 */
#include <linux/device.h>
#include <rdma/ib_verbs.h>

static void print(const char *level, const struct ib_device *device, const char *format,
		  va_list *args)
{
	struct va_format line = { .fmt = format, .va = args };

	if (!device)
		printk("%s(NULL ib_device): %pV", level, &line);
	else if (!device->dev.parent)
		printk("%s%s: %pV", level, device->name, &line);
	else
		dev_printk_emit(level[1] - '0', device->dev.parent, "%s %s %s: %pV",
				dev_driver_string(device->dev.parent),
				dev_name(device->dev.parent), device->name, &line);
}

/**
 * ibdev_printk() - log a line about a device
 * @level: one of the levels of printk(), KERN_INFO for example
 * @ibdev: the device, registered or not, or NULL
 * @format: printf format of the line, with its line feed
 *
 * Context: any.
 */
void ibdev_printk(const char *level, const struct ib_device *ibdev, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(level, ibdev, format, &args);
	va_end(args);
}
EXPORT_SYMBOL(ibdev_printk);

/* Each of these functions does what ibdev_printk() does with its level. */
#define DEFINE_IBDEV_LEVEL(name, level)                                                            \
	void name(const struct ib_device *ibdev, const char *format, ...)                          \
	{                                                                                          \
		va_list args;                                                                      \
												   \
		va_start(args, format);                                                            \
		print(level, ibdev, format, &args);                                                \
		va_end(args);                                                                      \
	}                                                                                          \
	EXPORT_SYMBOL(name)

DEFINE_IBDEV_LEVEL(ibdev_emerg, KERN_EMERG);
DEFINE_IBDEV_LEVEL(ibdev_alert, KERN_ALERT);
DEFINE_IBDEV_LEVEL(ibdev_crit, KERN_CRIT);
DEFINE_IBDEV_LEVEL(ibdev_err, KERN_ERR);
DEFINE_IBDEV_LEVEL(ibdev_warn, KERN_WARNING);
DEFINE_IBDEV_LEVEL(ibdev_notice, KERN_NOTICE);
DEFINE_IBDEV_LEVEL(ibdev_info, KERN_INFO);

#if defined(CONFIG_DYNAMIC_DEBUG_CORE)
/**
 * ibdev_dynamic_dbg() - log a line of ibdev_dbg() that dynamic debug has enabled
 * @descriptor: the line's descriptor
 * @ibdev: the device, or NULL
 * @format: printf format
 *
 * The kernel's own function for this uses the layout of struct ib_device with which the kernel was
 * built, which is not that of <rdma/ib_verbs.h>.
 */
void ibdev_dynamic_dbg(struct _ddebug *descriptor, const struct ib_device *ibdev,
		       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(KERN_DEBUG, ibdev, format, &args);
	va_end(args);
}
EXPORT_SYMBOL(ibdev_dynamic_dbg);
#endif
