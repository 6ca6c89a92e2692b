/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages of the kernel log that begin with the name of an RDMA device.  Errors of
 * user programs are not logged: rdma_refuse() records them.
 */
#ifndef RDMA_VERBS_PRINT_H
#define RDMA_VERBS_PRINT_H

#include <linux/compiler.h>
#include <linux/dynamic_debug.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>

struct ib_device;

__printf(3, 4) __cold
void ibdev_printk(const char *level, const struct ib_device *ibdev,
		  const char *format, ...);

__printf(2, 3) __cold
void ibdev_emerg(const struct ib_device *ibdev, const char *format, ...);

__printf(2, 3) __cold
void ibdev_alert(const struct ib_device *ibdev, const char *format, ...);

__printf(2, 3) __cold
void ibdev_crit(const struct ib_device *ibdev, const char *format, ...);

__printf(2, 3) __cold
void ibdev_err(const struct ib_device *ibdev, const char *format, ...);

__printf(2, 3) __cold
void ibdev_warn(const struct ib_device *ibdev, const char *format, ...);

__printf(2, 3) __cold
void ibdev_notice(const struct ib_device *ibdev, const char *format, ...);

__printf(2, 3) __cold
void ibdev_info(const struct ib_device *ibdev, const char *format, ...);

#if defined(CONFIG_DYNAMIC_DEBUG) || \
	(defined(CONFIG_DYNAMIC_DEBUG_CORE) && defined(DYNAMIC_DEBUG_MODULE))
/*
 * Replaces the kernel's __dynamic_ibdev_dbg(), which was compiled with the layout that
 * struct ib_device has in the kernel's own tree.
 */
__printf(3, 4) __cold
void ibdev_dynamic_dbg(struct _ddebug *descriptor, const struct ib_device *ibdev,
		       const char *format, ...);

#define ibdev_dbg(__dev, format, args...) \
	_dynamic_func_call(format, ibdev_dynamic_dbg, __dev, format, ##args)
#define ibdev_dbg_ratelimited(ibdev, fmt, ...)					\
do {										\
	DEFINE_DYNAMIC_DEBUG_METADATA(descriptor, fmt);				\
	static DEFINE_RATELIMIT_STATE(_rs, DEFAULT_RATELIMIT_INTERVAL,		\
				      DEFAULT_RATELIMIT_BURST);			\
	if (DYNAMIC_DEBUG_BRANCH(descriptor) && __ratelimit(&_rs))		\
		ibdev_dynamic_dbg(&descriptor, ibdev, fmt, ##__VA_ARGS__);	\
} while (0)
#else
static inline __printf(2, 3) __cold
void ibdev_dbg(const struct ib_device *ibdev, const char *format, ...) {}
static inline __printf(2, 3) __cold
void ibdev_dbg_ratelimited(const struct ib_device *ibdev, const char *format, ...) {}
#endif

#define ibdev_level_ratelimited(ibdev_level, ibdev, fmt, ...)			\
do {										\
	static DEFINE_RATELIMIT_STATE(_rs, DEFAULT_RATELIMIT_INTERVAL,		\
				      DEFAULT_RATELIMIT_BURST);			\
	if (__ratelimit(&_rs))							\
		ibdev_level(ibdev, fmt, ##__VA_ARGS__);				\
} while (0)

#define ibdev_emerg_ratelimited(ibdev, fmt, ...) \
	ibdev_level_ratelimited(ibdev_emerg, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_alert_ratelimited(ibdev, fmt, ...) \
	ibdev_level_ratelimited(ibdev_alert, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_crit_ratelimited(ibdev, fmt, ...) \
	ibdev_level_ratelimited(ibdev_crit, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_err_ratelimited(ibdev, fmt, ...) \
	ibdev_level_ratelimited(ibdev_err, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_warn_ratelimited(ibdev, fmt, ...) \
	ibdev_level_ratelimited(ibdev_warn, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_notice_ratelimited(ibdev, fmt, ...) \
	ibdev_level_ratelimited(ibdev_notice, ibdev, fmt, ##__VA_ARGS__)
#define ibdev_info_ratelimited(ibdev, fmt, ...) \
	ibdev_level_ratelimited(ibdev_info, ibdev, fmt, ##__VA_ARGS__)

#endif /* RDMA_VERBS_PRINT_H */
