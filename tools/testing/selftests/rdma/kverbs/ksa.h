/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the files of rdma_ksa.
 */
#ifndef KSA_H
#define KSA_H

#include <linux/completion.h>
#include <linux/types.h>
#include <rdma/rdma_ext_sa.h>

#define PATIENCE	20000	/* ms */

/* ksa_query.c */
extern struct ib_sa_client ksa_sa_client;
extern struct ib_device *ksa_device;

bool ksa_check(bool holds, const char *what, int line);

#define CHECK(condition) ksa_check(condition, #condition, __LINE__)

/* A query, and the first record of its answer as on the wire */
struct ksa_answer {
	struct completion done;
	int status;
	unsigned int count;
	unsigned int size;
	u16 mad_status;
	u8 first[IB_MGMT_SA_DATA];
};

void ksa_query(const struct ib_sa_attr_query *what, struct ksa_answer *answer);
void ksa_query_type(enum ib_sa_query_type type, const union ib_sa_query_input *input,
		    struct ksa_answer *answer);

/* ksa_io.c */
void ksa_io_end(void);

/* ksa_layout.c */
struct ksa_port {
	struct ib_sa_client *client;
	struct ib_device *device;
	union ib_gid gid;
	union ib_gid peer;
	u16 peer_lid;
	__be64 service_id;
};

void ksa_layouts(const struct ksa_port *port);

/* ksa_svc.c */
int ksa_svc_begin(struct ib_device *device);
void ksa_svc_end(void);
u32 ksa_svc_qpn(void);
void ksa_svc_ask(struct ib_device *device, u16 lid, u32 qpn);

#endif
