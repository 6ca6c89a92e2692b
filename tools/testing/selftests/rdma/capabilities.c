// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * capabilities DEVICE [WORD...]: a device without the capabilities that the words (vhcad's) name.
 * What it lacks is not reported and is refused with EOPNOTSUPP and a reason; all else works.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "self_talk.h"

static char **lacks;
static struct ibv_device_attr_ex attr;

static bool has(const char *word)
{
	for (int i = 0; lacks[i]; i++)
		if (!strcmp(lacks[i], word))
			return false;
	return true;
}

/* How many requests of this file were refused with a reason. */
static unsigned int reasons(void)
{
	unsigned int n = 0, number;
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", context->cmd_fd);
	file = fopen(path, "r");
	must(file, path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "rdma-reject: %u", &number) == 1)
			n = number + 1;
	fclose(file);
	return n;
}

static unsigned int before;

/* With the capability the call must succeed; without it, fail with this errno and a new reason. */
static void answer(const char *name, bool there, int err)
{
	unsigned int now = reasons();
	bool good = there ? !err : err == EOPNOTSUPP && now > before;

	point(good, name);
	if (!good)
		printf("# %s here, errno %d, %u reasons\n", there ? "is" : "is not", err,
		       now - before);
	before = now;
}

static void announced(const char *name, bool there, uint64_t value)
{
	point(there == !!value, name);
}

/* A QP sends itself a message. */
static void talk(enum ibv_qp_type type, const char *word, const char *name)
{
	struct ibv_cq *cq = ibv_create_cq(context, 2 * DEPTH, NULL, NULL, 0);
	struct ibv_wc wc = {};
	struct ibv_qp *qp;

	must(cq, "ibv_create_cq");
	errno = 0;
	qp = make_qp(type, cq, NULL, 0);
	answer(name, has(word), qp ? 0 : errno);
	if (qp && has(word)) {
		connect_qp(qp, qp);
		post_recv(qp, 1, 64);
		post_send(qp, 2, 64, self, qp->qp_num);
		for (int i = 0; i < 2; i++) {
			wc = complete(cq);
			bad += wc.status != IBV_WC_SUCCESS;
		}
		printf("# %s talks: %s\n", word, ibv_wc_status_str(wc.status));
	}
	must(!qp || !ibv_destroy_qp(qp), "ibv_destroy_qp");
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
}

static void datagrams(void)
{
	struct ibv_ah_attr to = { .dlid = own_lid, .port_num = 1 };
	union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 9 } };
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	int err;

	must(cq, "ibv_create_cq");
	errno = 0;
	ah = ibv_create_ah(pd, &to);
	answer("address handle", has("ud"), ah ? 0 : errno);
	must(!ah || !ibv_destroy_ah(ah), "ibv_destroy_ah");
	announced("how many address handles", has("ud"), attr.orig_attr.max_ah);
	announced("how many multicast groups", has("mcast") && has("ud"),
		  attr.orig_attr.max_mcast_grp);
	qp = make_qp(has("ud") ? IBV_QPT_UD : has("rc") ? IBV_QPT_RC : IBV_QPT_UC, cq, NULL, 0);
	before = reasons();
	if (qp) {
		err = ibv_attach_mcast(qp, &group, 0xc009);
		answer("multicast", has("mcast") && has("ud"), err);
		must(err || !ibv_detach_mcast(qp, &group, 0xc009), "ibv_detach_mcast");
		must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	}
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
}

static void shared_receives(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq;

	errno = 0;
	srq = ibv_create_srq(pd, &init);
	answer("shared receive queue", has("srq"), srq ? 0 : errno);
	must(!srq || !ibv_destroy_srq(srq), "ibv_destroy_srq");
	announced("how many of them", has("srq"), attr.orig_attr.max_srq);
}

static void completion_queues(void)
{
	struct ibv_modify_cq_attr slow = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { .cq_count = 4, .cq_period = 50 },
	};
	struct ibv_cq_init_attr_ex timed = {
		.cqe = 4, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_cq_ex *ex;
	int asked;

	must(cq, "ibv_create_cq");
	answer("resized completion queue", has("cq-resize"), ibv_resize_cq(cq, 100));
	answer("moderated completion queue", has("cq-moderation"), ibv_modify_cq(cq, &slow));
	announced("moderation", has("cq-moderation"), attr.cq_mod_caps.max_cq_count);
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");

	errno = 0;
	ex = ibv_create_cq_ex(context, &timed);
	/* the provider, which was told that there is no clock, does not ask the kernel */
	point(has("clock") ? !!ex : !ex && errno == EOPNOTSUPP, "time stamps");
	must(!ex || !ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), "ibv_destroy_cq");
	asked = ibv_query_rt_values_ex(context, &values);
	point(asked == (has("clock") && has("clock-query") ? 0 : EOPNOTSUPP), "clock query");
	announced("clock", has("clock"), attr.hca_core_clock);
}

static bool has_type_2(void)
{
	return has("mw") && has("fast-reg") && (has("mw-2a") || has("mw-2b"));
}

/* Registers memory with these rights. */
static void rights(const char *name, int access, bool there)
{
	struct ibv_mr *of;

	errno = 0;
	of = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | access);
	answer(name, there, of ? 0 : errno);
	must(!of || !ibv_dereg_mr(of), "ibv_dereg_mr");
}

static void window(const char *name, enum ibv_mw_type type, bool there)
{
	struct ibv_mw *mw;

	errno = 0;
	mw = ibv_alloc_mw(pd, type);
	answer(name, there, mw ? 0 : errno);
	must(!mw || !ibv_dealloc_mw(mw), "ibv_dealloc_mw");
}

static void memory_of_all_kinds(void)
{
	const uint64_t caps = attr.device_cap_flags_ex;

	announced("atomics", has("atomic"), attr.orig_attr.atomic_cap != IBV_ATOMIC_NONE);
	rights("memory for atomics", IBV_ACCESS_REMOTE_ATOMIC, has("atomic"));
	rights("memory to be flushed", IBV_ACCESS_FLUSH_GLOBAL, has("flush"));
	announced("keys that requests register", has("fast-reg"),
		  caps & IBV_DEVICE_MEM_MGT_EXTENSIONS);
	announced("windows", has("mw"), caps & IBV_DEVICE_MEM_WINDOW);
	announced("how many windows", has("mw"), attr.orig_attr.max_mw);
	rights("memory for windows", IBV_ACCESS_MW_BIND, has("mw"));
	window("window of type 1", IBV_MW_TYPE_1, has("mw"));
	announced("windows of type 2A", has_type_2() && has("mw-2a"),
		  caps & IBV_DEVICE_MEM_WINDOW_TYPE_2A);
	announced("windows of type 2B", has_type_2() && has("mw-2b"),
		  caps & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	window("window of type 2", IBV_MW_TYPE_2, has_type_2());
}

/* Operations for which a QP can be created; the provider itself refuses the others. */
static void operations(void)
{
	const bool rc = has("rc"), uc = has("uc"), fast = has("fast-reg");
	const struct {
		const char *name;
		enum ibv_qp_type type;
		uint64_t op;
		bool there;
	} ops[] = {
		{ "atomic operation", IBV_QPT_RC, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		  rc && has("atomic") },
		{ "atomic write", IBV_QPT_RC, IBV_QP_EX_WITH_ATOMIC_WRITE,
		  rc && has("atomic-write") },
		{ "flush", IBV_QPT_RC, IBV_QP_EX_WITH_FLUSH, rc && has("flush") },
		{ "message that ends a key", IBV_QPT_RC, IBV_QP_EX_WITH_SEND_WITH_INV, rc && fast },
		{ "end of an own key", IBV_QPT_RC, IBV_QP_EX_WITH_LOCAL_INV, rc && fast },
		{ "the same, on an unreliable connection", IBV_QPT_UC, IBV_QP_EX_WITH_LOCAL_INV,
		  uc && fast && has("uc-fast-reg") },
		{ "bind", IBV_QPT_UC, IBV_QP_EX_WITH_BIND_MW, uc && has("mw") },
	};
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);

	must(cq, "ibv_create_cq");
	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct ibv_qp_init_attr_ex init = {
			.qp_type = ops[i].type, .send_cq = cq, .recv_cq = cq, .pd = pd,
			.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			.send_ops_flags = ops[i].op,
			.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		};
		struct ibv_qp *qp;

		errno = 0;
		qp = ibv_create_qp_ex(context, &init);
		point(ops[i].there ? !!qp : !qp && errno == EOPNOTSUPP, ops[i].name);
		must(!qp || !ibv_destroy_qp(qp), "ibv_destroy_qp");
	}
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	before = reasons();
}

static void domains(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	const bool there = has("xrc") && has("rc") && has("srq");
	struct ibv_xrcd *domain;

	announced("XRC", there, attr.orig_attr.device_cap_flags & IBV_DEVICE_XRC);
	errno = 0;
	domain = ibv_open_xrcd(context, &init);
	answer("XRC domain", there, domain ? 0 : errno);
	must(!domain || !ibv_close_xrcd(domain), "ibv_close_xrcd");
}

static void counters(const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/tx_packets",
		 device);
	point(has("counters") == !access(path, R_OK), "counters in sysfs");
}

int main(int argc, char **argv)
{
	must(argc >= 2, "capabilities DEVICE [WORD...]");
	lacks = argv + 2;
	open_hca(argv[1]);
	must(!ibv_query_device_ex(context, NULL, &attr), "ibv_query_device_ex");
	before = reasons();
	announced("RNR NAKs", has("rnr-nak"),
		  attr.orig_attr.device_cap_flags & IBV_DEVICE_RC_RNR_NAK_GEN);
	announced("alternate paths", has("apm"),
		  attr.orig_attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG);
	talk(IBV_QPT_RC, "rc", "reliable connection");
	talk(IBV_QPT_UC, "uc", "unreliable connection");
	talk(IBV_QPT_UD, "ud", "datagrams");
	datagrams();
	shared_receives();
	completion_queues();
	memory_of_all_kinds();
	operations();
	domains();
	counters(argv[1]);
	close_hca();
	printf("1..%u\n", points);
	return bad != 0;
}
