/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel and a device for the provider: they answer the commands that
 * create objects, hand out doorbell pages of a memory file, and write completions.
 */
#ifndef VHCA_TESTS_FAKE_H
#define VHCA_TESTS_FAKE_H

#include "ah.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "vhca.h"

#define FAKE_INLINE	512
#define FAKE_SGE	32
#define FAKE_QUEUES	4096	/* pairs of slots */

/* Operations of a device that has all that this provider knows. */
#define FAKE_ALL_OPS	((2U << VHCA_OP_REG_MR) - 1)

/* Attributes that the kernel was given for a CQ. */
struct fake_cq {
	struct vhca_create_cq_req req;
	uint32_t flags;		/* IBV_CREATE_CQ_ATTR_* */
	uint32_t slot;
	uint64_t prod;
	struct ibv_moderate_cq moderation;
	/* Called during a resize: the device has not left the old ring, or has. */
	void (*resizing)(struct ibv_cq *cq, bool left);
	int32_t lie;		/* added to the entry that a resize is answered with */
};

struct fake_qp {
	struct vhca_create_qp_req req;
	struct ibv_qp_cap cap;
	enum ibv_qp_type type;
	uint32_t qpn;
	uint32_t slot;
};

/* The kernel's and the device's state of an SRQ. */
struct fake_srq {
	struct vhca_create_srq_req req;
	struct ibv_srq_attr attr;
	uint32_t slot;
	uint64_t taken;
	uint32_t takes;		/* receives that it takes during a resize */
	uint32_t asked;		/* number of changes that were requested */
	struct vhca_modify_srq_req last;
};

/* A multicast group, as it was attached to. */
struct fake_group {
	union ibv_gid gid;
	uint32_t qpn;
	uint16_t lid;
	bool attached;
};

extern struct fake_group fake_group;

/* Arguments of the last registration. */
struct fake_mr {
	const void *addr;
	uint64_t offset;
	uint64_t length;
	uint64_t iova;
	struct ibv_pd *pd;
	int access;
	int fd;
};

extern struct fake_mr fake_asked;

/* PD of the QPs that are made here. */
extern struct vhca_pd fake_vhca_pd;
#define fake_pd	fake_vhca_pd.pd

/* Handles of objects that another process has made. */
#define FAKE_OTHERS_PD	33
#define FAKE_OTHERS_MR	44

/* Commands to libibverbs and the kernel. */
enum fake_command {
	FAKE_INIT_CONTEXT, FAKE_GET_CONTEXT, FAKE_DONTFORK, FAKE_QUERY_DEVICE, FAKE_QUERY_PORT,
	FAKE_ALLOC_PD, FAKE_DEALLOC_PD, FAKE_REG_MR, FAKE_REREG_MR, FAKE_DEREG_MR,
	FAKE_CREATE_CQ, FAKE_DESTROY_CQ, FAKE_CREATE_QP, FAKE_MODIFY_QP, FAKE_QUERY_QP,
	FAKE_DESTROY_QP, FAKE_CREATE_AH, FAKE_DESTROY_AH,
	FAKE_RESIZE_CQ, FAKE_MODIFY_CQ,
	FAKE_QUERY_CONTEXT, FAKE_QUERY_PD, FAKE_QUERY_MR, FAKE_QUERY_CLOCK,
	FAKE_REG_DMABUF_MR, FAKE_ALLOC_MW, FAKE_DEALLOC_MW,
	FAKE_CREATE_SRQ, FAKE_MODIFY_SRQ, FAKE_QUERY_SRQ, FAKE_DESTROY_SRQ,
	FAKE_OPEN_XRCD, FAKE_CLOSE_XRCD, FAKE_OPEN_QP, FAKE_COMMANDS,
};

/* Times of both clocks for the kernel's answer, and how often it was asked. */
struct fake_clock {
	struct vhca_clock_query_resp now;
	uint32_t asked;
};

extern struct fake_clock fake_clock;

/* MAC address in an address handle of an Ethernet port, which is one without a DLID. */
extern const uint8_t fake_neighbour[6];

/* Length of the region that another process has made. */
extern uint64_t fake_others_length;

/* Features that the kernel lacks. */
extern uint64_t fake_lacks;

/* Errors that these commands return; 0: they work. */
extern int fake_err[FAKE_COMMANDS];
/* Added to the slots that the kernel gives, to make impossible ones. */
extern uint32_t fake_slot_shift;
/* Operations that the kernel reports; 0: it is too old to report any. */
extern uint32_t fake_send_ops;
/* Whether UC QPs have LOCAL_INV, too. */
extern bool fake_uc_local_inv;
/* Number of log lines of the provider. */
extern unsigned int fake_logged;
/* Number of contexts and objects of all kinds. */
extern int fake_live;
/* Stands for another thread: called as soon as the kernel has destroyed a QP or SRQ; or NULL. */
extern void (*fake_behind_destroy_qp)(void);
extern void (*fake_behind_destroy_srq)(void);
/* The number of the SRQ that is created next; 0: one that was not used yet. */
extern uint32_t fake_next_srqn;

bool fake_registered(void);
const struct verbs_device_ops *fake_driver(void);
struct vhca_context *fake_open(void);
/* The two halves of fake_begin(); the second one may fail: NULL. */
void fake_start(void);
struct vhca_context *fake_try_open(void);
struct vhca_context *fake_import(void);
void fake_stop(void);
void fake_close(struct vhca_context *ctx);
const struct verbs_context_ops *fake_ops(void);

struct fake_cq *fake_cq(struct ibv_cq *cq);
struct fake_qp *fake_qp(struct ibv_qp *qp);
struct fake_srq *fake_srq(struct ibv_srq *srq);

/* Blocks of a QP's send ring; and its bytes from a block on, without the wrap at its end. */
uint32_t fake_sq_blocks(struct ibv_qp *qp);
void fake_read_sq(struct ibv_qp *qp, uint64_t block, void *to, size_t len);

/* Destroys a QP and its CQ, and closes the context. */
void fake_end(struct vhca_context *ctx, struct ibv_cq *cq, struct ibv_qp *qp);

/* Shared by the files of the fake. */
void fake_context_answer(struct vhca_uctx_resp *resp, uint64_t features);
int fake_answer(enum fake_command command, int made);
uint32_t fake_take_pair(void);
uint64_t fake_page_offset(uint32_t slot);
void fake_srq_start(void);
void fake_make_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_attr *attr,
		   const struct vhca_create_srq_req *in, struct vhca_create_srq_resp *out);

/* The device's view of doorbell records and of the kick page. */
struct vhca_db_page *fake_page(uint32_t slot);
uint64_t fake_rec(uint32_t slot);
uint32_t fake_kicks(void);

/* Writes an entry to a CQ's ring; its owner byte is set here. */
void fake_complete(struct ibv_cq *cq, struct vhca_cqe cqe);

/* The device takes the next receive, whose stride is checked. */
uint64_t fake_take(struct ibv_srq *srq);
/* Number of receives that it has not taken. */
uint32_t fake_left(struct ibv_srq *srq);

struct ibv_cq *fake_make_cq(struct vhca_context *ctx, int cqe);
/* Both are ready to send; the first one is RC. */
struct ibv_qp *fake_make_qp(struct vhca_context *ctx, struct ibv_cq *send_cq,
			    struct ibv_cq *recv_cq, const struct ibv_qp_cap *cap,
			    uint64_t send_ops);
struct ibv_qp *fake_make_typed_qp(struct vhca_context *ctx, enum ibv_qp_type type,
				  struct ibv_cq *cq, const struct ibv_qp_cap *cap,
				  uint64_t send_ops);
struct ibv_qp *fake_make_srq_qp(struct vhca_context *ctx, enum ibv_qp_type type,
				struct ibv_cq *cq, struct ibv_srq *srq,
				const struct ibv_qp_cap *cap);
struct ibv_ah *fake_make_ah(struct vhca_context *ctx, uint16_t dlid);

#endif /* VHCA_TESTS_FAKE_H */
