// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A hostile guest, in a process of its own, with a daemon in
 * another: random messages, registers, commands, queue entries, doorbells and mappings of
 * memory, while two other guests exchange data.  What these receive must be
 * right and must arrive; the daemon must end in good order.
 *
 * Once with the daemon as it is installed, which filters its system calls,
 * and once with the one built with sanitizers.
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tprog.h"
#include "tests/trandom.h"
#include "tests/tremote.h"
#include "tests/vuclient.h"

#define RW		(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | \
			 VHCA_ACCESS_REMOTE_READ)
#define LEN		30000u
#define TRANSFERS	1000u	/* at least, and */
#define SESSIONS	100u	/* of the hostile guest, at least */
#define ACTS		150u	/* in each */

static u64 rng;

static u32 rnd(u32 below)
{
	return (t_random(&rng) >> 32) % below;
}

static void scribble(void *p, u32 len)
{
	u8 *b = p;

	for (u32 i = 0; i < len; i++)
		b[i] = rnd(3) ? 0 : rnd(2) ? rnd(256) : 0xff;
}

struct hostile {
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp[2];
	struct tmr mr;
};

/* A command without waiting for its answer. */
static void bare_command(struct thca *h)
{
	struct vhca_asqe *e = &h->asq[h->admin_tail++ & ((1u << T_ADMIN_LOG) - 1)];

	scribble(e, sizeof(*e));
	e->opcode = rnd(0x4a);
	e->rsvd = 0;
	if (rnd(2)) {
		e->out_addr = 0;
		e->out_len = 0;
	}
	memset(e->req + rnd(60), 0, 180);
	t_remote_write(h, SERVER_BAR_REGS, VHCA_REG_ADMIN_TAIL, h->admin_tail + !rnd(50) * 9);
}

static void bare_entry(struct hostile *x)
{
	struct tqp *qp = &x->qp[rnd(2)];
	struct twr wr = t_wr(rnd(VHCA_OP_REG_MR + 1), 1, &x->mr, 0, rnd(LEN), &x->mr, rnd(LEN));
	u8 *at = qp->sq + (qp->sq_prod & ((1u << qp->log_sq) - 1)) * VHCA_WQE_BLOCK;

	t_post(qp, &wr);
	if (rnd(2))
		at[rnd(VHCA_WQE_BLOCK)] ^= 1 << rnd(8);
	if (!rnd(4))
		scribble(at, VHCA_WQE_BLOCK);
	t_ring_sq(qp);
}

static void bare_message(struct thca *h)
{
	u8 body[256];
	struct vu_header hdr;
	u32 len = rnd(sizeof(body));

	scribble(body, sizeof(body));
	vuc_send_raw(h->sock, rnd(20), sizeof(hdr) + len, 0, body, len, NULL, 0);
	vuc_receive(h->sock, &hdr, body, sizeof(body));
}

/* False when the session is over. */
static bool act(struct hostile *x)
{
	struct thca *h = &x->h;

	switch (rnd(12)) {
	case 0:
	case 1:
		bare_command(h);
		break;
	case 2:
		scribble(&h->db->rec[rnd(VHCA_DB_SLOTS)], 8);
		h->db->news[rnd(8)] = ~0ull;
		h->db->summary[rnd(16)] = ~0ull;
		h->db->armed = rnd(2);
		break;
	case 3:
		t_remote_write(h, SERVER_BAR_KICK, rnd(2000) * SERVER_KICK_STRIDE, VHCA_KICK);
		break;
	case 4:
		t_ring(h, rnd(VHCA_DB_SLOTS), (u64)rnd(1 << 30) << rnd(40));
		break;
	case 5:
		scribble(t_cpu(h, T_RAM_BASE + rnd(h->ram_used)), 8);
		break;
	case 6:
		t_remote_write(h, SERVER_BAR_REGS, rnd(20) * 4, rnd(1 << 20));
		break;
	case 7:
		t_remote_write(h, VFIO_PCI_CONFIG_REGION_INDEX, rnd(1024) * 4, (u32)rng);
		break;
	case 8:
		/* withdraws memory that is in use; and grants it again, or the session ends */
		t_remote_grant(h, false);
		if (rnd(4))
			t_remote_grant(h, true);
		break;
	case 9:
		if (rnd(20))
			break;
		bare_message(h);
		return false;
	default:
		bare_entry(x);
	}
	return true;
}

static void session(const char *path)
{
	struct hostile x;

	t_remote_world(&x.w);
	t_remote_init(&x.h, &x.w, path);
	t_cq_init(&x.h, &x.cq, 8, 0);
	for (u32 i = 0; i < 2; i++)
		t_qp_init(&x.h, &x.qp[i], &x.cq, &x.cq);
	t_connect(&x.qp[0], &x.qp[1], 3, 1, 2);
	t_mr_init(&x.h, &x.mr, 0, 2 * LEN, RW, 1, 12);
	for (u32 i = 0; i < ACTS && act(&x); i++)
		;
	t_remote_fini(&x.h);
}

/* Runs until it is killed; writes a byte for each session. */
static pid_t start_hostile(const char *path, int *sessions)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rng = 0x9e3779b97f4a7c15ull;
		do
			session(path);
		while (write(fds[1], "", 1) == 1);
		_exit(1);
	}
	assert_true(pid > 0);
	close(fds[1]);
	*sessions = fds[0];
	return pid;
}

struct good {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
	struct tmr mr[2];
	int irq;		/* of completions; an eventfd */
};

/* Completions for a sleeping program raise an interrupt. */
static void arm(struct good *g)
{
	t_eq_arm(&g->h[0], &g->h[0].comp);
	t_cq_arm(&g->cq[0], false);
}

static void sleep_for_completion(struct good *g)
{
	struct vhca_eqe e;
	u64 times;

	assert_int_equal(read(g->irq, &times, sizeof(times)), sizeof(times));
	assert_true(t_eq_get(&g->h[0], &g->h[0].comp, &e));
	assert_int_equal(e.event, VHCA_EV_COMPLETION);
	assert_int_equal(le32toh(e.number), g->cq[0].cqn);
}

static void transfer(struct good *g, u32 n)
{
	u8 op = n % 2 ? VHCA_OP_READ : VHCA_OP_WRITE;
	struct twr wr = t_wr(op, n, &g->mr[0], 0, LEN, &g->mr[1], 0);
	struct vhca_cqe e;

	t_mr_fill(&g->mr[0], n);
	t_mr_fill(&g->mr[1], n + 1);
	if (n % 8 == 0)
		arm(g);
	t_send(&g->qp[0], &wr);
	if (n % 8 == 0)
		sleep_for_completion(g);
	while (!t_cq_poll(&g->cq[0], &e))
		sched_yield();
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	assert_int_equal(le64toh(e.wr_id), n);
	t_mr_expect(&g->mr[!(n % 2)], 0, LEN, n % 2 ? n + 1 : n, 0);
}

static void beside_a_hostile_guest(const char *daemon)
{
	char dir[TPROG_DIR], sock[3][TPROG_PATH], log[TPROG_PATH], byte;
	char *argv[] = { "vhcad", "--hca", sock[0], "--hca", sock[1], "--hca", sock[2], "--log",
			 log, NULL };
	u32 sessions = 0, n = 0;
	pid_t pid, bad;
	struct good g;
	int from;

	tprog_dir(dir);
	tprog_in(dir, "0", sock[0]);
	tprog_in(dir, "1", sock[1]);
	tprog_in(dir, "2", sock[2]);
	tprog_in(dir, "log", log);
	pid = tprog_start(tprog_path(daemon), argv);
	t_remote_world(&g.w);
	for (u32 i = 0; i < 2; i++) {
		t_remote_init(&g.h[i], &g.w, sock[i]);
		t_cq_init(&g.h[i], &g.cq[i], 4, 0);
		t_qp_init(&g.h[i], &g.qp[i], &g.cq[i], &g.cq[i]);
		t_mr_init(&g.h[i], &g.mr[i], 0, LEN, RW, 1, 12);
	}
	t_connect(&g.qp[0], &g.qp[1], 3, 1, 2);
	g.irq = eventfd(0, EFD_CLOEXEC);
	assert_true(g.irq >= 0);
	t_remote_irq(&g.h[0], 2, g.irq);
	bad = start_hostile(sock[2], &from);
	while (n < TRANSFERS || sessions < SESSIONS) {
		struct pollfd fd = { .fd = from, .events = POLLIN };

		transfer(&g, n++);
		if (poll(&fd, 1, 0) > 0) {
			/* an end of file would mean that the guest has ended */
			assert_int_equal(read(from, &byte, 1), 1);
			sessions++;
		}
	}
	kill(bad, SIGKILL);
	waitpid(bad, NULL, 0);
	close(from);
	for (u32 i = 0; i < 2; i++)
		t_remote_fini(&g.h[i]);
	close(g.irq);
	tprog_stop(pid, SIGTERM);
	tprog_dir_end(dir, log, NULL);
}

static void confined(void **state)
{
	beside_a_hostile_guest("VHCAD_FAST");
}

static void sanitized(void **state)
{
	beside_a_hostile_guest("VHCAD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(confined),
		cmocka_unit_test(sanitized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
