// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet ports and a guest's network adapter on one segment: who receives a frame, and how frames
 * that come from the adapter are handled.
 */
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/bytes.h"
#include "tests/teth.h"
#include "tests/tprog.h"
#include "tests/ttopo.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define QKEY	0x11223344u
#define GRH	40u
#define HEAD	4u
#define HUGE	60000u		/* bytes of payload, of which an adapter's frame may have as many */

/* An address that is in no table of a port. */
static const u8 nic_mac[6] = { 0x52, 0x54, 0, 0, 0, 0x33 };
static const u8 nic_gid[16] = { [10] = 0xff, 0xff, 10, 77, 0, 0x33 };

struct fixture {
	struct tpair p;
	struct tmr l;
	struct t_eth_segment segment;
	int fd;
};

/* The ports and the adapters are at a switch each, or there are no switches. */
static const struct t_link row[] = {
	{ "a-t0:1", "4X EDR", 100, 8 }, { "a-b", "4X EDR", 100, 8 }, { "b-t1:1", "4X EDR", 100, 8 },
	{ "b-c", "4X EDR", 100, 8 }, { "c-ethernet", "4X EDR", 1000, 2 }, { 0 },
};

static void setup_over(struct fixture *f, struct topo *t)
{
	struct ether_port port[ETHER_PORTS];

	t_eth_segment(&f->segment, &f->p, t);
	assert_int_equal(ether_start(f->segment.e), 0);
	f->fd = tprog_attach(f->segment.place->path);
	do {
		ether_status(f->segment.e, port);
		sched_yield();
	} while (!port[0].attached);
	t_eth_ud_up(&f->p, QKEY);
	t_mr_init(&f->p.h[0], &f->l, 0, 8192, RW, 1, 12);
	t_mr_fill(&f->l, 1);
}

static void setup(struct fixture *f)
{
	setup_over(f, NULL);
}

static void done(struct fixture *f)
{
	close(f->fd);
	t_eth_segment_end(&f->segment, &f->p);
}

static void get_all(int fd, u8 *buf, u32 len)
{
	while (len) {
		ssize_t n = recv(fd, buf, len, 0);

		assert_true(n > 0);
		buf += n;
		len -= n;
	}
}

/* The next frame that the adapter gets. */
static u32 get(struct fixture *f, u8 *frame)
{
	u8 head[HEAD];
	u32 len;

	get_all(f->fd, head, HEAD);
	len = get_be32(head);
	assert_true(len <= WIRE_MAX_PKT);
	get_all(f->fd, frame, len);
	return len;
}

static void put(struct fixture *f, const u8 *frame, u32 len)
{
	u8 head[HEAD];

	put_be32(head, len);
	assert_int_equal(send(f->fd, head, HEAD, MSG_NOSIGNAL), HEAD);
	assert_int_equal(send(f->fd, frame, len, MSG_NOSIGNAL), len);
}

/* Waits until the segment's thread has handled @n frames of the adapter. */
static void handled(struct fixture *f, u64 n)
{
	struct ether_port port[ETHER_PORTS];

	do {
		ether_status(f->segment.e, port);
		sched_yield();
	} while (port[0].rx_frames < n);
	t_poll(&f->p.w);
}

/* A datagram for device 1, or a group, as the adapter's guest would send it from a QP. */
static u32 make_from(u8 *buf, const u8 *dmac, const u8 *dgid, u32 qpn, u32 sqpn, u32 len)
{
	struct wire_hdr h = {
		.eth = true, .grh = true, .ipv4 = true, .vlan = WIRE_NO_TAG, .sport = 0xc001,
		.hop_limit = 64, .pkey = 0xffff, .dqpn = qpn, .sqpn = sqpn, .qkey = QKEY,
		.opcode = OP_UD_SEND_ONLY,
	};
	u32 n;

	memcpy(h.dmac, dmac, 6);
	memcpy(h.smac, nic_mac, 6);
	memcpy(h.sgid, nic_gid, 16);
	memcpy(h.dgid, dgid, 16);
	n = wire_put(&h, len, buf);
	memset(buf + n, 0x5a, len);
	return wire_seal_roce(buf, n, len);
}

static u32 make_long(u8 *buf, const u8 *dmac, const u8 *dgid, u32 qpn, u32 len)
{
	return make_from(buf, dmac, dgid, qpn, 0x17, len);
}

static u32 make(u8 *buf, const u8 *dmac, const u8 *dgid, u32 qpn)
{
	return make_long(buf, dmac, dgid, qpn, 64);
}

static void post(struct fixture *f)
{
	struct vhca_sge s = t_sge(&f->l, 4096, 1000);

	t_recv(&f->p.qp[0], 10, 1, &s);
}

/* Device 0 sends the adapter a datagram. */
static void send_out(struct fixture *f)
{
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &f->l, 0, 100, NULL, 0);

	wr.ud = (struct vhca_wqe_ud){
		.av = t_eth_av(1, 0), .dqpn = htole32(0x17), .qkey = htole32(QKEY),
	};
	memcpy(wr.ud.av.dmac, nic_mac, 6);
	memcpy(wr.ud.av.dgid, nic_gid, 16);
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
}

/* From the port: a frame with a right ICRC.  And back: a completion with the sender's address. */
static void there_and_back_over(struct topo *t)
{
	u8 buf[WIRE_MAX_PKT], got[64];
	struct vhca_cqe e;
	struct fixture f;
	struct wire_hdr h;
	u32 n, at, len;

	setup_over(&f, t);
	send_out(&f);
	t_settle(&f.p.w, 1000000);
	n = get(&f, buf);
	assert_int_equal(wire_parse_roce(buf, n, &h, &at, &len), WIRE_OK);
	assert_int_equal(len, 100);
	assert_int_equal(h.dqpn, 0x17);
	assert_int_equal(h.sqpn, f.p.qp[0].qpn);
	assert_memory_equal(h.smac, t_eth_mac[0], 6);
	assert_memory_equal(h.sgid, t_eth_gid[0][0], 16);
	for (u32 i = 0; i < len; i++)
		assert_int_equal(buf[at + i], t_pattern(1, i));

	post(&f);
	put(&f, buf, make(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn));
	handled(&f, 1);
	if (t)
		t_expect_no_cqe(&f.p.cq[0]);
	t_settle(&f.p.w, 1000000);
	e = t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_SUCCESS);
	assert_memory_equal(e.smac, nic_mac, 6);
	assert_int_equal(le32toh(e.src_qpn), 0x17);
	assert_true(e.flags & VHCA_CQE_F_IPV4);
	t_mr_get(&f.l, 4096 + GRH, got, 64);
	for (u32 i = 0; i < 64; i++)
		assert_int_equal(got[i], 0x5a);
	done(&f);
}

static void there_and_back(void **state)
{
	there_and_back_over(NULL);
	there_and_back_over(t_eth_topo("abc", TOPO_HOQ_USUAL, row));
}

/* A tag with a priority alone: the port receives the frame, and the completion has the priority. */
static void priority_alone(void **state)
{
	static const u8 tag[] = { 0x81, 0, 6 << 5, 0 };
	u8 buf[WIRE_MAX_PKT + sizeof(tag)];
	struct vhca_cqe e;
	struct fixture f;
	u32 n;

	setup(&f);
	post(&f);
	n = make(buf + sizeof(tag), t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn);
	memmove(buf, buf + sizeof(tag), 12);
	memcpy(buf + 12, tag, sizeof(tag));
	put(&f, buf, n + sizeof(tag));
	handled(&f, 1);
	e = t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_SUCCESS);
	assert_int_equal(e.sl, 6);
	assert_false(e.flags & VHCA_CQE_F_VLAN);
	assert_int_equal(le16toh(e.vlan), 0);
	done(&f);
}

static struct fab_link_state link_state(struct fixture *f, const char *name)
{
	struct fab_link_state s;

	assert_true(fab_link_state(f->p.w.fabric, fab_link_find(f->p.w.fabric, name), &s));
	return s;
}

/*
 * Frames from outside wait for room on their link, like all others.  Multicasts cross each link
 * once, and without a link to the adapters no frame comes or goes there.
 */
static void over_links(void **state)
{
	static const u8 mgid[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };
	struct t_link none[ARRAY_SIZE(row)];
	struct vhca_mcg_req req = { 0 };
	u8 buf[WIRE_MAX_PKT], mac[6];
	struct fixture f;
	struct fabric *fab;
	u32 n;

	setup_over(&f, t_eth_topo("abc", TOPO_HOQ_USUAL, row));
	fab = f.p.w.fabric;
	for (u32 i = 0; i < 20; i++) {
		post(&f);
		put(&f, buf, make(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn));
	}
	handled(&f, 20);
	/* one was sent, two wait, and the engine polls for no room for others */
	assert_int_equal(link_state(&f, "c-ethernet").queued[1], 1 + 2);
	assert_true(f.p.w.next > f.p.w.now);
	t_settle(&f.p.w, 1000000);
	for (u32 i = 0; i < 20; i++)
		t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_SUCCESS);
	assert_int_equal(link_state(&f, "c-ethernet").count[1].packets, 20);
	assert_int_equal(link_state(&f, "a-b").count[1].packets, 20);
	assert_int_equal(fab->eth->out.ib.drops, 0);
	/* a group: both devices, each by its own link */
	req.qpn = htole32(f.p.qp[0].qpn);
	memcpy(req.mgid, mgid, sizeof(req.mgid));
	assert_int_equal(t_admin(&f.p.h[0], VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL),
			 VHCA_ST_OK);
	roce_mcast_mac(mgid, mac);
	n = make(buf, mac, mgid, 0xffffff);
	post(&f);
	put(&f, buf, n);
	handled(&f, 21);
	t_settle(&f.p.w, 1000000);
	t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(t_stats(&f.p.h[i]).rx_mcast_packets, 1);
	assert_int_equal(link_state(&f, "b-c").count[1].mcast, 1);
	assert_int_equal(link_state(&f, "a-b").count[1].mcast, 1);
	/* this link belongs to no port, as those between switches do not */
	assert_true(fab_link_is_between(fab, fab_link_find(fab, "c-ethernet")));
	fab_link_up(fab, fab_link_find(fab, "c-ethernet"), false);
	send_out(&f);
	t_settle(&f.p.w, 1000000);
	assert_int_equal(f.p.h[0].dev->port->fab.ib.drops, 1);
	fab_link_up(fab, fab_link_find(fab, "c-ethernet"), true);
	send_out(&f);
	t_settle(&f.p.w, 1000000);
	assert_true(get(&f, buf) > 100);
	done(&f);

	/* the same without the last link */
	memcpy(none, row, sizeof(none));
	none[4].ends = NULL;
	setup_over(&f, t_eth_topo("abc", TOPO_HOQ_USUAL, none));
	send_out(&f);
	post(&f);
	put(&f, buf, make(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn));
	put(&f, buf, n);
	handled(&f, 2);
	t_settle(&f.p.w, 1000000);
	t_expect_no_cqe(&f.p.cq[0]);
	assert_int_equal(f.p.h[0].dev->port->fab.ib.drops, 1);
	assert_int_equal(f.p.w.fabric->eth->out.ib.drops, 2);
	done(&f);
}

/* Another adapter receives what the first one sends, unless it is for the port. */
static void whose(void **state)
{
	static const u8 mgid[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };
	struct ether_port port[ETHER_PORTS];
	u8 buf[WIRE_MAX_PKT], got[WIRE_MAX_PKT], mac[6];
	struct fixture f;
	int other, first;
	u32 n;

	setup(&f);
	first = f.fd;
	other = tprog_attach(f.segment.place->path);
	do {
		ether_status(f.segment.e, port);
		sched_yield();
	} while (!port[1].attached);
	/* for the port: no adapter receives it, so that the next one comes first */
	post(&f);
	put(&f, buf, make(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn));
	roce_mcast_mac(mgid, mac);
	n = make(buf, mac, mgid, 0xffffff);
	put(&f, buf, n);
	handled(&f, 2);
	t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_SUCCESS);
	f.fd = other;
	assert_int_equal(get(&f, got), n);
	assert_memory_equal(got, buf, n);
	assert_int_equal(t_stats(&f.p.h[0]).rx_mcast_packets, 1);
	/* not RoCEv2, and for a port that is not enabled: the adapter receives it */
	f.fd = first;
	n = make(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn);
	put_be16(buf + 36, 4790);
	put(&f, buf, n);
	f.fd = other;
	assert_int_equal(get(&f, got), n);
	assert_memory_equal(got, buf, n);
	f.fd = first;
	t_eth_port(&f.p.h[0], VHCA_PORT_DISABLE, 0);
	n = make(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn);
	put(&f, buf, n);
	f.fd = other;
	assert_int_equal(get(&f, got), n);
	assert_memory_equal(got, buf, n);
	f.fd = first;
	close(other);
	done(&f);
}

/* Every byte of a frame wrong in turn, and every length: no harm, and the port counts it. */
static void hostile(void **state)
{
	u8 buf[WIRE_MAX_PKT], bad[WIRE_MAX_PKT];
	struct fixture f;
	u32 n, sent = 0;

	setup(&f);
	n = make(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn);
	for (u32 i = 14; i < n; i++) {
		memcpy(bad, buf, n);
		bad[i] ^= 0x81;
		put(&f, bad, n);
		sent++;
	}
	for (u32 len = ETHER_LEAST; len < n; len++) {
		put(&f, buf, len);
		sent++;
	}
	handled(&f, sent);
	assert_true(f.p.h[0].dev->port->fab.ib.bad > 64);
	t_expect_no_cqe(&f.p.cq[0]);
	post(&f);
	put(&f, buf, n);
	handled(&f, sent + 1);
	t_expect_cqe(&f.p.cq[0], 10, VHCA_CS_SUCCESS);
	done(&f);
}

/*
 * Packets that are longer than any MTU are dropped.  While a fault is armed, on any link, packets
 * are copied into buffers that are made for the longest packets of ports.
 */
static void too_long(void **state)
{
	static const u8 mgid[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };
	static u8 buf[WIRE_MAX_HDR + HUGE + WIRE_ICRC_LEN];
	struct fab_fault fault = { .kind = FAB_DUPLICATE, .permille = 1000 };
	struct fixture f;
	u64 before;
	u8 mac[6];
	u32 n;

	setup(&f);
	assert_int_equal(fab_fault_arm(f.p.w.fabric, &fault), 0);
	roce_mcast_mac(mgid, mac);
	put(&f, buf, make_long(buf, mac, mgid, 0xffffff, HUGE));
	n = make_long(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn, HUGE);
	put(&f, buf, n);
	n = make_long(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn, WIRE_MAX_MTU + 1);
	put(&f, buf, n);
	handled(&f, 3);
	assert_int_equal(f.p.h[0].dev->port->fab.ib.bad, 2);
	assert_int_equal(t_stats(&f.p.h[0]).rx_mcast_packets, 0);
	/* the largest that there is comes, twice, and finds no receive */
	before = t_stats(&f.p.h[0]).rx_packets;
	n = make_long(buf, t_eth_mac[0], t_eth_gid[0][0], f.p.qp[0].qpn, WIRE_MAX_MTU);
	put(&f, buf, n);
	handled(&f, 4);
	assert_int_equal(t_stats(&f.p.h[0]).rx_packets, before + 2);
	done(&f);
}

#define HEARERS		1024u	/* as many QPs as a group may have */
#define FRAMES		3u

/* UD QPs of device 0 in a group, with receives and completions that they share. */
static void make_hearers(struct fixture *f, struct tcq *cq, struct tsrq *srq, const u8 *mgid)
{
	struct thca *h = &f->p.h[0];

	t_db_pages(h);
	t_cq_init(h, cq, 12, 0);
	t_srq_init(h, srq, 12, 6);
	h->qp_type = VHCA_QPT_UD;
	for (u32 i = 0; i < HEARERS; i++) {
		struct vhca_mcg_req req = { 0 };
		struct tqp qp;

		t_qp_init_srq_size(h, &qp, cq, cq, srq, 1, 0);
		t_ud_up(&qp, QKEY);
		req.qpn = htole32(qp.qpn);
		memcpy(req.mgid, mgid, sizeof(req.mgid));
		assert_int_equal(t_admin(h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
	}
	for (u32 i = 0; i < FRAMES * HEARERS; i++) {
		struct vhca_sge s = t_sge(&f->l, 4096, 256);

		t_srq_recv(srq, i, 1, &s);
	}
}

/* Completions since the last call, all of them of frame @from and those behind it. */
static u32 heard(struct tcq *cq, u32 *from)
{
	struct vhca_cqe e;
	u32 n = 0;

	for (; t_cq_poll(cq, &e); n++) {
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
		assert_in_range(le32toh(e.src_qpn), *from, *from + 1);
		*from = le32toh(e.src_qpn);
	}
	return n;
}

/* A very large group: each pass serves a share of it, and goes on where the one before ended. */
static void many_hearers(void **state)
{
	static const u8 mgid[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };
	u32 n, sum = 0, most = 0, passes = 0, frame = 1;
	struct eth_segment *s;
	struct ether_port port[ETHER_PORTS];
	u8 buf[WIRE_MAX_PKT], mac[6];
	struct fixture f;
	struct tsrq srq;
	struct tcq cq;

	setup(&f);
	s = f.p.w.fabric->eth;
	make_hearers(&f, &cq, &srq, mgid);
	roce_mcast_mac(mgid, mac);
	for (u32 i = 0; i < FRAMES; i++) {
		n = make_from(buf, mac, mgid, 0xffffff, i + 1, 64);
		put(&f, buf, n);
	}
	do {
		ether_status(f.segment.e, port);
		sched_yield();
	} while (port[0].rx_frames < FRAMES);
	while (eth_waiting(s)) {
		assert_true(fab_poll(f.p.w.fabric, f.p.w.now, 64) > 0);
		n = heard(&cq, &frame);
		most = MAX(most, n);
		sum += n;
		passes++;
	}
	assert_int_equal(sum, FRAMES * HEARERS);
	assert_int_equal(frame, FRAMES);
	/* 1,024 bytes and more each, of 64 KiB */
	assert_in_range(most, 1, 65);
	assert_in_range(passes, FRAMES * HEARERS / 65, FRAMES * HEARERS / 8);
	assert_int_equal(t_stats(&f.p.h[0]).rx_mcast_packets, FRAMES);
	done(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(priority_alone),
		cmocka_unit_test(over_links),
		cmocka_unit_test(whose),
		cmocka_unit_test(hostile),
		cmocka_unit_test(too_long),
		cmocka_unit_test(many_hearers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
