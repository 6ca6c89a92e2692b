/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests of the user verbs API as plain bytes, so that a test can get any of them wrong.
 * Every call returns 0 or a positive errno.
 */
#ifndef UVERBS_RAW_H
#define UVERBS_RAW_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define RAW_ATTRS 24

/* An ioctl request under construction. */
struct raw {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[RAW_ATTRS];
};

static inline struct raw raw_begin(unsigned int driver_id, uint16_t object, uint16_t method)
{
	struct raw r = {
		.hdr = {
			.length = sizeof(struct ib_uverbs_ioctl_hdr),
			.object_id = object, .method_id = method, .driver_id = driver_id,
		},
	};

	return r;
}

static inline struct ib_uverbs_attr *raw_add(struct raw *r, uint16_t id, uint16_t len,
					     uint64_t data)
{
	struct ib_uverbs_attr *attr = &r->attrs[r->hdr.num_attrs++];

	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	attr->data = data;
	r->hdr.length += sizeof(*attr);
	return attr;
}

static inline struct ib_uverbs_attr *raw_const(struct raw *r, uint16_t id, uint64_t value)
{
	return raw_add(r, id, 8, value);
}

static inline struct ib_uverbs_attr *raw_u32(struct raw *r, uint16_t id, uint32_t value)
{
	return raw_add(r, id, 4, value);
}

static inline struct ib_uverbs_attr *raw_handle(struct raw *r, uint16_t id, int64_t handle)
{
	return raw_add(r, id, 0, handle);
}

/* Payloads of up to eight bytes are in the attribute itself. */
static inline struct ib_uverbs_attr *raw_in(struct raw *r, uint16_t id, const void *from,
					    uint16_t len)
{
	struct ib_uverbs_attr *attr = raw_add(r, id, len, (uintptr_t)from);

	if (len <= sizeof(attr->data)) {
		attr->data = 0;
		memcpy(&attr->data, from, len);
	}
	return attr;
}

static inline struct ib_uverbs_attr *raw_out(struct raw *r, uint16_t id, void *to, uint16_t len)
{
	return raw_add(r, id, len, (uintptr_t)to);
}

static inline int raw_send(int fd, struct raw *r)
{
	return ioctl(fd, RDMA_VERBS_IOCTL, r) ? errno : 0;
}

/* A write() of exactly these bytes. */
static inline int raw_write(int fd, const void *buf, size_t len)
{
	ssize_t done = write(fd, buf, len);

	if (done < 0)
		return errno;
	return (size_t)done == len ? 0 : EIO;
}

/* A request structure behind its header, as write() takes it. */
#define RAW_PLAIN(_type)			\
	struct {				\
		struct ib_uverbs_cmd_hdr hdr;	\
		struct _type body;		\
	}

#define RAW_EXTENDED(_type)			\
	struct {				\
		struct ib_uverbs_cmd_hdr hdr;	\
		struct ib_uverbs_ex_cmd_hdr ex;	\
		struct _type body;		\
	}

#endif /* UVERBS_RAW_H */
