/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * /dev/infiniband/rdma_cm without a library, so that a test can get anything wrong. Calls return 0
 * or a positive errno.
 *
 * Programs of 32 and 64 bits find the same numbers below, so their structures are the same.
 */
#ifndef UCMA_RAW_H
#define UCMA_RAW_H

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#define SIZE(_type, _size) \
	_Static_assert(sizeof(struct rdma_ucm_##_type) == (_size), #_type)
#define PLACE(_type, _member, _at) \
	_Static_assert(offsetof(struct rdma_ucm_##_type, _member) == (_at), #_type)

SIZE(cmd_hdr, 8);
SIZE(create_id, 24);
PLACE(create_id, ps, 16);
SIZE(create_id_resp, 4);
SIZE(destroy_id, 16);
SIZE(destroy_id_resp, 4);
SIZE(bind_ip, 40);
PLACE(bind_ip, id, 36);
SIZE(bind, 136);
PLACE(bind, addr, 8);
SIZE(resolve_ip, 64);
PLACE(resolve_ip, id, 56);
SIZE(resolve_addr, 272);
PLACE(resolve_addr, dst_addr, 144);
SIZE(resolve_route, 8);
SIZE(query, 16);
SIZE(query_route_resp, 208);
PLACE(query_route_resp, ibdev_index, 200);
SIZE(query_addr_resp, 280);
PLACE(query_addr_resp, ibdev_index, 272);
SIZE(query_path_resp, 8);
SIZE(conn_param, 272);
SIZE(ud_param, 304);
SIZE(connect, 288);
PLACE(connect, ece, 280);
SIZE(listen, 8);
SIZE(accept, 296);
PLACE(accept, ece, 288);
SIZE(reject, 264);
SIZE(disconnect, 4);
SIZE(init_qp_attr, 16);
SIZE(notify, 8);
SIZE(join_ip_mcast, 48);
PLACE(join_ip_mcast, id, 44);
SIZE(join_mcast, 152);
PLACE(join_mcast, addr, 24);
SIZE(get_event, 8);
SIZE(event_resp, 336);
PLACE(event_resp, reserved, 324);
SIZE(set_option, 24);
SIZE(migrate_id, 16);
_Static_assert(sizeof(struct ib_uverbs_qp_attr) == 144, "qp_attr");
_Static_assert(sizeof(struct ib_path_rec_data) == 72, "path_rec_data");

/* An InfiniBand address, which only a header of the kernel has. */
struct raw_sockaddr_ib {
	uint16_t family;
	uint16_t pkey;
	uint32_t flowinfo;
	uint8_t gid[16];
	uint64_t sid;
	uint64_t sid_mask;
	uint64_t scope_id;
};

#define RAW_AF_IB	27

static inline int ucma_open(void)
{
	return open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* A request whose header says what @in and @out are, of which @count bytes are written. */
static inline int ucma_write(int fd, uint32_t cmd, const void *req, uint16_t in, uint16_t out,
			     size_t count)
{
	uint8_t buf[1024] = {};
	struct rdma_ucm_cmd_hdr hdr = { .cmd = cmd, .in = in, .out = out };

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), req, in);
	return write(fd, buf, count) == (ssize_t)count ? 0 : errno;
}

static inline int ucma_ask(int fd, uint32_t cmd, const void *req, uint16_t in, uint16_t out)
{
	return ucma_write(fd, cmd, req, in, out, sizeof(struct rdma_ucm_cmd_hdr) + in);
}

/* A request by its structure. */
#define UCMA(_fd, _cmd, _req, _out) \
	ucma_ask(_fd, RDMA_USER_CM_CMD_##_cmd, &(_req), sizeof(_req), _out)

#endif /* UCMA_RAW_H */
