// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>

#include "tests/tagent.h"

/* Long enough for an answer, and too short for a trap to be repeated. */
#define ANSWER_TIME	(10 * MSEC)

/* ------------------------------------------------------------------------
 * HCAs
 */
static struct ta_hca *hca_of(struct fab_port *port)
{
	return container_of(port, struct ta_hca, port);
}

static void on_rx(struct fab_port *port, struct run *run)
{
	struct ta_hca *hca = hca_of(port);

	if (run->h.dqpn > 1) {
		hca->data += run->npkts;
		return;
	}
	if (agent_rx(&hca->agent, run))
		return;
	assert_true(hca->nmail < TA_INBOX);
	assert_true(run->len <= MAD_LEN);
	hca->mail[hca->nmail].h = run->h;
	assert_int_equal(payload_read(run->pl, run->skip, hca->mail[hca->nmail].mad, run->len), 0);
	hca->nmail++;
}

static void on_mcast(struct fab_port *port, struct datagram *d)
{
	hca_of(port)->data++;
}

static void on_state(struct fab_port *port, u8 old)
{
}

static void on_changed(struct fab_port *port, u32 what)
{
	hca_of(port)->told |= what;
}

static const struct fab_port_ops ops = {
	.rx = on_rx, .rx_mcast = on_mcast, .state = on_state, .changed = on_changed,
};

static void plug(struct ta_world *w, const char *name)
{
	struct ta_hca *hca = &w->hca[w->nhcas];
	u64 guid = TA_GUID + 0x10 * w->nhcas;

	assert_true(w->nhcas++ < TA_HCAS);
	snprintf((char *)hca->desc, sizeof(hca->desc), "hca %s", name);
	hca->node = (struct agent_node){
		.type = NODE_CA, .nports = 1, .device_id = 0x1234, .revision = 7,
		.vendor_id = 0xabcdef, .system_guid = guid, .node_guid = guid, .desc = hca->desc,
	};
	hca->port = (struct fab_port){ .ops = &ops, .number = 1, .ib.guid = guid + 1 };
	assert_int_equal(fab_plug(w->f, &hca->port, name), 0);
	assert_int_equal(agent_init(&hca->agent, &hca->node, &hca->port), 0);
}

/* ------------------------------------------------------------------------
 * The world
 */
void ta_start(struct ta_world *w, struct topo *t)
{
	memset(w, 0, sizeof(*w));
	w->f = fabric_new();
	assert_non_null(w->f);
	w->now = SEC;
	fab_set_now(w->f, w->now);
	if (!t) {
		plug(w, "h0");
		plug(w, "h1");
		return;
	}
	fabric_set_topology(w->f, t);
	for (const char *name; (name = topo_end(t, w->nhcas)); )
		plug(w, name);
}

void ta_end(struct ta_world *w)
{
	for (u32 i = 0; i < w->nhcas; i++) {
		agent_fini(&w->hca[i].agent);
		fab_unplug(&w->hca[i].port);
	}
	fabric_free(w->f);
}

void ta_pass(struct ta_world *w, u64 ns)
{
	u64 until = w->now + ns;

	while (fab_next(w->f) <= until) {
		w->now = MAX(w->now, fab_next(w->f));
		fab_poll(w->f, w->now, UINT32_MAX);
	}
	w->now = until;
	fab_poll(w->f, w->now, UINT32_MAX);
}

/* ------------------------------------------------------------------------
 * Datagrams
 */
void ta_raw(struct ta_world *w, u32 hca, const struct wire_hdr *h, const u8 *mad, u32 len)
{
	struct wire_hdr first = *h;
	struct payload pl;
	struct run run;

	first.opcode = OP_UD_SEND_ONLY;
	run_from_packet(&run, &pl, &first, mad, len);
	fab_send_host_mad(&w->hca[hca].port, &run);
}

void ta_header(u8 *mad, u8 class, u8 method, u16 attr)
{
	memset(mad, 0, MAD_LEN);
	mad_put(mad, MAD_BASE_VERSION, 1);
	mad_put(mad, MAD_CLASS, class);
	mad_put(mad, MAD_CLASS_VERSION, 1);
	mad_put(mad, MAD_METHOD, method);
	mad_put(mad, MAD_ATTR, attr);
}

u64 ta_request(struct ta_world *w, u8 *mad, u8 class, u8 method, u16 attr, u32 mod)
{
	ta_header(mad, class, method, attr);
	mad_put(mad, MAD_TID, ++w->tid);
	mad_put(mad, MAD_ATTR_MOD, mod);
	if (class != MAD_CLASS_PERF)
		mad_put(mad, SMP_MKEY, w->mkey);
	return w->tid;
}

static void take(struct ta_hca *hca, u32 i, struct ta_mail *mail)
{
	*mail = hca->mail[i];
	hca->nmail--;
	memmove(&hca->mail[i], &hca->mail[i + 1], (hca->nmail - i) * sizeof(*mail));
}

bool ta_find(struct ta_hca *hca, u64 tid, struct ta_mail *mail)
{
	for (u32 i = 0; i < hca->nmail; i++)
		if (mad_get(hca->mail[i].mad, MAD_TID) == tid &&
		    mad_get(hca->mail[i].mad, MAD_METHOD) == MAD_GET_RESP) {
			take(hca, i, mail);
			return true;
		}
	return false;
}

bool ta_trap(struct ta_hca *hca, u16 number, struct ta_mail *mail)
{
	for (u32 i = 0; i < hca->nmail; i++)
		if (mad_get(hca->mail[i].mad, MAD_METHOD) == MAD_TRAP &&
		    mad_get(hca->mail[i].mad + SMP_DATA, NOTICE_TRAP) == number) {
			take(hca, i, mail);
			return true;
		}
	return false;
}

static bool exchange(struct ta_world *w, u32 hca, const struct wire_hdr *h, const u8 *mad,
		     struct ta_mail *mail)
{
	ta_raw(w, hca, h, mad, MAD_LEN);
	ta_pass(w, ANSWER_TIME);
	return ta_find(&w->hca[hca], mad_get(mad, MAD_TID), mail);
}

/* The SMI of the sender handles it first: a request to itself does not leave. */
static bool exchange_route(struct ta_world *w, u32 hca, u8 *mad, struct ta_mail *mail)
{
	const struct wire_hdr h = {
		.vl = 15, .pkey = MAD_SMI_PKEY, .dlid = LID_PERMISSIVE, .slid = LID_PERMISSIVE,
	};
	const struct mad_path self = { 0 };
	bool hops = mad_get(mad, DR_HOP_COUNT);

	mad_put(mad, DR_HOP_POINTER, 1);
	if (!hops)
		return agent_mad(&w->hca[hca].agent, &self, mad, mail->mad, 0) == AGENT_REPLY;
	if (!exchange(w, hca, &h, mad, mail))
		return false;
	assert_int_equal(mad_get(mail->mad, DR_HOP_POINTER), 1);
	return true;
}

u32 ta_route(struct ta_world *w, u32 hca, const struct ta_path *path, u8 method, u16 attr, u32 mod,
	     u8 *data)
{
	struct ta_mail mail;
	u8 mad[MAD_LEN];

	ta_request(w, mad, MAD_CLASS_SUBN_DR, method, attr, mod);
	mad_put(mad, DR_HOP_COUNT, path->hops);
	mad_put(mad, DR_SLID, LID_PERMISSIVE);
	mad_put(mad, DR_DLID, LID_PERMISSIVE);
	memcpy(mad + DR_INITIAL_PATH, path->port, sizeof(path->port));
	memcpy(mad + SMP_DATA, data, SMP_DATA_LEN);
	if (!exchange_route(w, hca, mad, &mail))
		return TA_NO_REPLY;
	assert_int_equal(mad_get(mail.mad, DR_RETURNS), 1);
	assert_memory_equal(mail.mad + DR_INITIAL_PATH, path->port, path->hops + 1);
	memcpy(data, mail.mad + SMP_DATA, SMP_DATA_LEN);
	return mad_get(mail.mad, DR_STATUS);
}

u32 ta_lid(struct ta_world *w, u32 hca, u16 dlid, u8 method, u16 attr, u32 mod, u8 *data)
{
	struct wire_hdr h = {
		.vl = 15, .pkey = MAD_SMI_PKEY, .dlid = dlid, .slid = w->hca[hca].port.ib.lid,
	};
	struct ta_mail mail;
	u8 mad[MAD_LEN];

	ta_request(w, mad, MAD_CLASS_SUBN, method, attr, mod);
	memcpy(mad + SMP_DATA, data, SMP_DATA_LEN);
	if (!exchange(w, hca, &h, mad, &mail))
		return TA_NO_REPLY;
	assert_int_equal(mail.h.slid, dlid);
	memcpy(data, mail.mad + SMP_DATA, SMP_DATA_LEN);
	return mad_get(mail.mad, MAD_STATUS);
}

u32 ta_perf(struct ta_world *w, u32 hca, u16 dlid, u8 method, u16 attr, u8 *data)
{
	struct wire_hdr h = {
		.pkey = 0xffff, .dlid = dlid, .slid = w->hca[hca].port.ib.lid, .dqpn = 1, .sqpn = 1,
		.qkey = MAD_GSI_QKEY,
	};
	struct ta_mail mail;
	u8 mad[MAD_LEN];

	ta_request(w, mad, MAD_CLASS_PERF, method, attr, 0);
	memcpy(mad + PERF_DATA, data, PERF_DATA_LEN);
	if (!exchange(w, hca, &h, mad, &mail))
		return TA_NO_REPLY;
	assert_int_equal(mail.h.qkey, MAD_GSI_QKEY);
	assert_int_equal(mail.h.dqpn, 1);
	memcpy(data, mail.mad + PERF_DATA, PERF_DATA_LEN);
	return mad_get(mail.mad, MAD_STATUS);
}

static const u8 bytes[4096];

void ta_send_data(struct ta_world *w, u32 hca, u16 dlid, u32 len)
{
	struct payload pl = { .host = bytes };
	struct run run = {
		.h = { .dlid = dlid, .slid = w->hca[hca].port.ib.lid, .pkey = 0xffff, .dqpn = 5 },
		.service = WIRE_RC, .kind = WIRE_SEND, .first = true, .last = true, .npkts = 1,
		.mtu = len, .len = len, .pl = &pl,
	};

	fab_send(&w->hca[hca].port, &run);
}
