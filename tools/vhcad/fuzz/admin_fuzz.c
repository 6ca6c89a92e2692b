// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes the admin queue and the registers, as a broken driver would use them.
 *
 * Input: the type of the peer's QPs, and whether the device has few objects of each kind; then
 * steps.
 * The first byte of a step says what is done, and its arguments follow: valid commands that are
 * then corrupted, accesses to registers, doorbells, bytes of memory, passing time.
 */
#include "fuzz/world.h"
#include "wire/mad.h"

#define STEPS	40u
#define HANDLES	4u
#define FEW	16u	/* objects of each kind that a device may be limited to */

/* Kinds of handles.  Of each kind, the newest that the device has returned are kept. */
enum handle { H_UAR, H_EQ, H_PD, H_XRCD, H_MKEY, H_CQ, H_SRQ, H_QP, H_COUNTER, H_KINDS };

struct driver {
	struct world f;
	struct thca *h;
	u32 handle[H_KINDS][HANDLES];
	bool lost_count;		/* of commands: answers cannot be matched */
};

static void got(struct driver *d, enum handle kind, u32 handle)
{
	memmove(d->handle[kind] + 1, d->handle[kind], (HANDLES - 1) * sizeof(handle));
	d->handle[kind][0] = handle;
}

static u32 give(struct driver *d, enum handle kind, u8 which)
{
	return htole32(d->handle[kind][which % HANDLES]);
}

static struct vhca_buf buffer(struct driver *d, u8 which)
{
	struct vhca_buf b = { .addr = htole64(d->f.area + which * 512u) };

	/* a page list, whose entries the input writes */
	if (which >= 192) {
		b.levels = 1 + which % 2;
		b.page_shift = 12;
		b.npages = htole32(64);
	}
	return b;
}

static u32 compose_key(struct driver *d, u32 pd, u8 a, u8 b, void *to)
{
	struct vhca_create_mkey_req req = {
		.pdn = pd, .type = b % (VHCA_MKEY_INTEGRITY + 2), .variant = a,
	};

	if (req.type <= VHCA_MKEY_PHYSICAL) {
		req.access = htole32(a % 128);
		req.length = htole64(4096);
	}
	if (req.type == VHCA_MKEY_LIST)
		req.buf = buffer(d, b);
	if ((req.type >= VHCA_MKEY_FAST && req.type <= VHCA_MKEY_FMR) ||
	    req.type == VHCA_MKEY_INTEGRITY)
		req.buf = (struct vhca_buf){
			.addr = htole64(d->f.area), .npages = htole32(8), .levels = 1,
		};
	if (req.type == VHCA_MKEY_FMR) {
		req.buf.page_shift = 12;
		req.iova = htole64(d->f.area + 4096);
	}
	memcpy(to, &req, sizeof(req));
	return 0;
}

/* Writes a MAD that the device's own agent answers, or one that it may write, into memory. */
static u64 write_mad(struct driver *d, u8 a, u8 b)
{
	u64 at = d->f.area + b * 64u;
	u8 *mad = t_cpu(d->h, at);

	memset(mad, 0, MAD_LEN);
	mad_put(mad, MAD_BASE_VERSION, 1);
	mad_put(mad, MAD_CLASS_VERSION, 1);
	mad_put(mad, MAD_CLASS, a & 16 ? MAD_CLASS_PERF : MAD_CLASS_SUBN);
	mad_put(mad, MAD_METHOD, a & 32 ? MAD_SET : MAD_GET);
	mad_put(mad, MAD_ATTR, a & 16 ? ATTR_PORT_COUNTERS : ATTR_NODE_INFO);
	if (a & 16)
		*(mad + PERF_DATA + 1) = 1;	/* the port */
	return at;
}

/* Writes a valid request for a command.  Returns the bytes of output. */
static u32 compose(struct driver *d, u8 op, u8 a, u8 b, void *req)
{
	u32 uar = give(d, H_UAR, a), pd = give(d, H_PD, b), slot = htole32(d->h->next_slot);
	u32 qpn = give(d, H_QP, a);
	struct vhca_buf buf = buffer(d, b);

/* Writes a request without output. */
#define REQ(type, ...)	({ *(struct type *)req = (struct type){ __VA_ARGS__ }; 0u; })
	switch (op) {
	case VHCA_CMD_QUERY_DEVICE:
		return sizeof(struct vhca_device_attr);
	case VHCA_CMD_QUERY_PORT:
		REQ(vhca_port_req, .port = 1);
		return sizeof(struct vhca_port_attr);
	case VHCA_CMD_QUERY_GIDS:
	case VHCA_CMD_QUERY_PKEYS:
		REQ(vhca_port_req, .port = 1, .first_index = htole32(b % 8),
		    .count = htole32(a % 16));
		return (a % 16) * (op == VHCA_CMD_QUERY_GIDS ? 16 : 2);
	case VHCA_CMD_QUERY_COUNTERS:
		REQ(vhca_port_req, .port = 1, .flags = b % 2);
		return sizeof(struct vhca_port_counters);
	case VHCA_CMD_PROCESS_MAD:
		REQ(vhca_process_mad_req, .port = 1, .flags = a % 4,
		    .mad_addr = htole64(write_mad(d, a, b)));
		return VHCA_MAD_SIZE;
	case VHCA_CMD_MODIFY_PORT:
		return REQ(vhca_modify_port_req, .port = 1, .flags = a >> 2 & 7,
			   .set_caps = htole32(a % 4), .clear_caps = htole32((u32)b << 15));
	case VHCA_CMD_OPEN_UAR:
		return REQ(vhca_open_uar_req, .db_page = htole64(d->f.area + b % 16 * 4096));
	case VHCA_CMD_ADD_DB_PAGE:
		return REQ(vhca_add_db_page_req, .uar = uar, .page = htole32(b % 4),
			   .db_page = htole64(d->f.area + b % 16 * 4096));
	case VHCA_CMD_CREATE_EQ:
		return REQ(vhca_create_eq_req, .buf = buf, .uar = uar, .db_slot = slot,
			   .vector = htole32(a % 5), .log_entries = 4);
	case VHCA_CMD_CREATE_MKEY:
		return compose_key(d, pd, a, b, req);
	case VHCA_CMD_MODIFY_MKEY:
		return REQ(vhca_modify_mkey_req, .attr.buf = buf, .attr.length = htole64(4096),
			   .attr.pdn = pd, .attr.access = htole32(a % 128),
			   .key = give(d, H_MKEY, a), .mask = htole32(b % 8));
	case VHCA_CMD_CREATE_CQ:
		return REQ(vhca_create_cq_hw_req, .buf = buf, .uar = uar, .db_slot = slot,
			   .eqn = give(d, H_EQ, b), .log_cqe = 4, .flags = a % 4);
	case VHCA_CMD_RESIZE_CQ:
		return REQ(vhca_resize_cq_hw_req, .buf = buf, .cqn = give(d, H_CQ, a),
			   .log_cqe = b % 8);
	case VHCA_CMD_MODIFY_CQ:
		return REQ(vhca_modify_cq_req, .cqn = give(d, H_CQ, a), .count = htole16(b),
			   .period = htole16(a));
	case VHCA_CMD_CREATE_SRQ:
		return REQ(vhca_create_srq_hw_req, .buf = buf, .pdn = pd, .uar = uar,
			   .db_slot = slot, .log_strides = 4, .log_stride = 5 + a % 4,
			   .flags = a >> 7, .xrcdn = a >> 7 ? give(d, H_XRCD, b) : 0,
			   .cqn = a >> 7 ? give(d, H_CQ, b) : 0);
	case VHCA_CMD_MODIFY_SRQ:
		return REQ(vhca_modify_srq_hw_req, .srqn = give(d, H_SRQ, a), .limit = htole32(b));
	case VHCA_CMD_RESIZE_SRQ:
		return REQ(vhca_resize_srq_hw_req, .buf = buf, .srqn = give(d, H_SRQ, a),
			   .log_strides = b % 8);
	case VHCA_CMD_CREATE_QP: {
		static const u8 types[] = { VHCA_QPT_RC, VHCA_QPT_UC, VHCA_QPT_UD,
					    VHCA_QPT_XRC_INI, VHCA_QPT_XRC_TGT, VHCA_QPT_SMI,
					    VHCA_QPT_GSI };
		u8 type = types[a % ARRAY_SIZE(types)];
		bool ini = type == VHCA_QPT_XRC_INI, tgt = type == VHCA_QPT_XRC_TGT;
		bool srq = a >> 7 && !ini && !tgt;

		return REQ(vhca_create_qp_hw_req, .sq = tgt ? (struct vhca_buf){ 0 } : buf,
			   .rq = ini || tgt || srq ? (struct vhca_buf){ 0 } : buffer(d, a),
			   .pdn = tgt ? 0 : pd, .uar = uar, .db_slot = slot, .type = type,
			   .send_cqn = tgt ? 0 : give(d, H_CQ, b),
			   .recv_cqn = ini || tgt ? 0 : give(d, H_CQ, a),
			   .port = type < VHCA_SPECIAL_QPS,
			   .flags = srq ? VHCA_QP_SRQ : 0, .srqn = srq ? give(d, H_SRQ, a) : 0,
			   .log_sq_blocks = tgt ? VHCA_NO_QUEUE : 4,
			   .log_rq_strides = ini || tgt || srq ? VHCA_NO_QUEUE : 3,
			   .log_rq_stride = ini || tgt || srq ? 0 : 6,
			   .xrcdn = tgt ? give(d, H_XRCD, b) : 0);
	}
	case VHCA_CMD_MODIFY_QP: {
		u32 state = 1 + (a >> 2) % 6;
		struct vhca_qp_attr attr;

		t_attr_init(&attr, 1);
		if (state == T_RTR)
			t_attr_rtr(&attr, 1 + b % 2, d->f.qp[1].qpn, 9, 1 + b % 5);
		else if (state == T_RTS)
			t_attr_rts(&attr, 7);
		attr.state = state;
		return REQ(vhca_modify_qp_req, .qpn = qpn, .attr = attr,
			   .mask = htole32(state <= T_RTS ?
					   t_mask(le32toh(qpn) < VHCA_SPECIAL_QPS ? VHCA_QPT_GSI :
						  b & 128 ? VHCA_QPT_UD : VHCA_QPT_RC, state) :
					   VHCA_QPA_STATE));
	}
	case VHCA_CMD_ATTACH_MCG:
	case VHCA_CMD_DETACH_MCG:
		return REQ(vhca_mcg_req, .mgid = { 0xff, 0x12 }, .qpn = give(d, H_QP, a),
			   .mlid = htole16(0xc000 + b % 4));
	case VHCA_CMD_QUERY_QP:
		REQ(vhca_object_req, .handle = qpn, .port = le32toh(qpn) < VHCA_SPECIAL_QPS);
		return sizeof(struct vhca_qp_attr);
	case VHCA_CMD_QUERY_SRQ:
	case VHCA_CMD_DESTROY_SRQ:
		return REQ(vhca_object_req, .handle = give(d, H_SRQ, a));
	case VHCA_CMD_DESTROY_QP:
		return REQ(vhca_object_req, .handle = qpn,
			   .port = le32toh(qpn) < VHCA_SPECIAL_QPS);
	case VHCA_CMD_DESTROY_CQ:
		return REQ(vhca_object_req, .handle = give(d, H_CQ, a));
	case VHCA_CMD_DESTROY_MKEY:
		return REQ(vhca_object_req, .handle = give(d, H_MKEY, a));
	case VHCA_CMD_DESTROY_PD:
		return REQ(vhca_object_req, .handle = give(d, H_PD, a));
	case VHCA_CMD_DESTROY_XRCD:
		return REQ(vhca_object_req, .handle = give(d, H_XRCD, a));
	case VHCA_CMD_DESTROY_EQ:
		return REQ(vhca_object_req, .handle = give(d, H_EQ, a));
	case VHCA_CMD_CREATE_COUNTER:
		return REQ(vhca_create_counter_req, .port = 1 + a % 3);
	case VHCA_CMD_BIND_COUNTER:
		return REQ(vhca_bind_counter_req, .qpn = give(d, H_QP, a),
			   .counter = b % 4 ? give(d, H_COUNTER, b) : 0);
	case VHCA_CMD_DESTROY_COUNTER:
		return REQ(vhca_object_req, .handle = give(d, H_COUNTER, a));
	case VHCA_CMD_QUERY_COUNTER:
		REQ(vhca_object_req, .handle = give(d, H_COUNTER, a));
		return sizeof(struct vhca_port_counters);
	case VHCA_CMD_CLOSE_UAR:
		return REQ(vhca_object_req, .handle = uar);
	default:
		return 0;
	}
#undef REQ
}

/* Keeps the handle if the command has created an object. */
static void take_answer(struct driver *d, u8 op, u32 n)
{
	static const u8 makes[] = {
		[VHCA_CMD_OPEN_UAR] = 1 + H_UAR, [VHCA_CMD_CREATE_EQ] = 1 + H_EQ,
		[VHCA_CMD_CREATE_PD] = 1 + H_PD, [VHCA_CMD_CREATE_XRCD] = 1 + H_XRCD,
		[VHCA_CMD_CREATE_MKEY] = 1 + H_MKEY, [VHCA_CMD_CREATE_CQ] = 1 + H_CQ,
		[VHCA_CMD_CREATE_SRQ] = 1 + H_SRQ, [VHCA_CMD_CREATE_QP] = 1 + H_QP,
		[VHCA_CMD_CREATE_COUNTER] = 1 + H_COUNTER,
	};
	const struct vhca_acqe *e = &d->h->acq[n & ((1u << T_ADMIN_LOG) - 1)];
	struct vhca_object_resp resp;

	if (vdev_reg_read(d->h->dev, VHCA_REG_STATUS) != VHCA_STATUS_READY || d->lost_count)
		return;
	/* every command is answered, and a refusal names a field of it or none */
	assert_int_equal(le16toh(e->cmd_id), (u16)n);
	if (e->status)
		assert_true(le16toh(e->bad_field) < sizeof(struct vhca_asqe) ||
			    le16toh(e->bad_field) == VHCA_NO_FIELD);
	memcpy(&resp, e->resp, sizeof(resp));
	if (!e->status && op < sizeof(makes) && makes[op]) {
		got(d, makes[op] - 1, le32toh(resp.handle));
		d->h->next_slot = (d->h->next_slot + 2) % VHCA_DB_SLOTS;
	}
}

static void command(struct driver *d, struct input *in, u8 op)
{
	struct thca *h = d->h;
	struct vhca_asqe sqe = { .opcode = op };
	u8 a = in_8(in), b = in_8(in);
	u32 n = h->admin_tail, out;

	if (vdev_reg_read(h->dev, VHCA_REG_STATUS) != VHCA_STATUS_READY)
		return;
	out = compose(d, op, a, b, sqe.req);
	if (out) {
		sqe.out_len = htole32(out);
		sqe.out_addr = htole64(d->f.area + WORLD_AREA / 2);
	}
	in_spoil(in, &sqe, sizeof(sqe));
	sqe.cmd_id = htole16(n);
	h->asq[n & ((1u << T_ADMIN_LOG) - 1)] = sqe;
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, ++h->admin_tail);
	t_poll(&d->f.w);
	take_answer(d, sqe.opcode, n);
}

static void step(struct driver *d, struct input *in)
{
	struct thca *h = d->h;
	u8 what = in_8(in);
	u32 at;

	switch (what) {
	case 0 ... 0x7f:
		command(d, in, what);
		break;
	case 0x80 ... 0xbf:
		/* writes to memory: lists, rings, doorbells, the admin queue itself */
		at = in_32(in) % (h->ram_used - 8);
		in_bytes(in, (u8 *)t_cpu(h, T_RAM_BASE) + at, 1 + what % 8);
		break;
	case 0xc0 ... 0xcf:
		at = in_32(in) % WORLD_AREA & ~7u;
		*(__le64 *)t_cpu(h, d->f.area + at) = htole64(d->f.area + in_8(in) * 4096u);
		break;
	case 0xd0 ... 0xdf:
		t_ring(h, in_16(in) % VHCA_DB_SLOTS, in_16(in));
		break;
	case 0xe0 ... 0xe7:
		vdev_kick(h->dev, in_16(in));
		break;
	case 0xe8 ... 0xe9:
		d->lost_count = true;
		vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, h->admin_tail + in_8(in));
		break;
	case 0xea ... 0xeb:
		d->lost_count = true;
		gmem_set_master(h->mem, in_8(in) & 1);
		break;
	case 0xec ... 0xef:
		d->lost_count = true;
		vdev_reg_write(h->dev, in_8(in) * 4, in_32(in));
		break;
	case 0xf0 ... 0xf7:
		vdev_reg_read(h->dev, in_16(in) * 4);
		break;
	case 0xf8:
		d->lost_count = true;
		vdev_reset(h->dev);
		break;
	default:
		t_advance(&d->f.w);
		break;
	}
	if (what & 1)
		t_poll(&d->f.w);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, data + len };
	struct world_options o = { 0 };
	u8 type = in_8(&in);
	static struct driver d;

	memset(&d, 0, sizeof(d));
	if (type & 64)
		o.limit = FEW;
	world_init_as(&d.f, type % WORLD_TYPES, &o);
	d.h = &d.f.h[0];
	got(&d, H_UAR, d.h->uar);
	got(&d, H_EQ, d.h->comp.eqn);
	got(&d, H_PD, d.h->pd);
	got(&d, H_CQ, d.f.cq[0].cqn);
	got(&d, H_QP, d.f.qp[0].qpn);
	got(&d, H_MKEY, d.f.fast);
	got(&d, H_MKEY, d.f.mr[0].key);
	for (u32 i = 0; i < STEPS && in_more(&in); i++)
		step(&d, &in);
	world_settle(&d.f);
	world_fini(&d.f);
	return 0;
}
