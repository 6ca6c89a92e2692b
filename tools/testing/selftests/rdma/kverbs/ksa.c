// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of the core's functions beyond Linux 6.12 for subnet administration, ports and
 * device management, on the first port of the first device.
 *
 * From the beginning it watches the ports: "events" has a letter for each event of port 1, and a
 * dot after those that reported the state at the beginning. Writing 1 to "serve" registers a
 * service with the subnet manager, to "subscribe" subscribes to its notices, to "offer" offers an
 * I/O controller with five services, to "more" another one without, to "svc" serves a class of MADs
 * at the QP "svc_qpn", and 0 ends each; the service has the "lease" that is written before. Writing
 * a number to "svc_ask" sends requests to the other port's QP of that number. Writing to "ask"
 * makes queries about this port and the other one, whose LID is "peer_lid" and whose GUID is
 * "peer_id", and whose module must serve; to "layouts" compares records as the core understands
 * them with their bytes on the wire. Writing a number to "tables" makes that number of queries for
 * a table, one after the other. Writing to "group" has the subnet manager create a multicast group,
 * and leaves it again. "passed" and "failed" count the checks.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext.h>
#include <rdma/rdma_ext_dm.h>
#include <rdma/rdma_ext_port.h>
#include <rdma/rdma_ext_sa.h>

#include "ksa.h"

#define SERVICE_ID	0x6b736100ULL
#define CREATED		66	/* number of the trap that reports a new multicast group */
#define DELETED		67
#define NAMED		0xa01b	/* in the GID of a group that the manager has chosen */

static uint peer_lid;
module_param(peer_lid, uint, 0644);
MODULE_PARM_DESC(peer_lid, "LID of the other port");

static ulong peer_id;
module_param(peer_id, ulong, 0644);
MODULE_PARM_DESC(peer_id, "lower half of its GID 0");

static uint lease = 60;
module_param(lease, uint, 0644);
MODULE_PARM_DESC(lease, "seconds that the service is to be known without being renewed");

static uint registered, subscribed, created, deleted;
module_param(registered, uint, 0444);
MODULE_PARM_DESC(registered, "how often the subnet manager has confirmed the service");
module_param(subscribed, uint, 0444);
MODULE_PARM_DESC(subscribed, "how often it has confirmed the subscription");
module_param(created, uint, 0444);
MODULE_PARM_DESC(created, "multicast groups of whose creation notices have told");
module_param(deleted, uint, 0444);
MODULE_PARM_DESC(deleted, "multicast groups of whose end notices have told");

static char events[256];
module_param_string(events, events, sizeof(events), 0444);

/* The consumer's own lock: writes to parameters are serialised, but not with a removal. */
static DEFINE_MUTEX(lock);
static struct {
	union ib_gid gid;
	struct ib_sa_service *service;
	struct ib_sa_subscription *subscription;
	__be16 sm_lid;
	struct ib_dm_ioc *ioc;
	struct ib_dm_ioc *more;
	bool svc;
} ksa;

/* ---- ports ---- */

/* By enum ib_port_event_type */
static const char letter[] = "a-dimAlstpgr.";

static int hear(struct ib_port_watcher *watcher, const struct ib_port_event *event)
{
	size_t at = strlen(events);

	if (event->device && event->port_num != 1)
		return 1;
	if (at + 1 < sizeof(events))
		events[at] = letter[event->type];
	if (event->type == IB_PORT_EVENT_ACTIVE)
		CHECK(event->attr->lid && event->attr->state == IB_PORT_ACTIVE);
	return 0;
}

static struct ib_port_watcher watcher = { .event = hear };

/* ---- queries ---- */

static void class_port_info(int status, struct ib_class_port_info *info, void *context)
{
	struct ksa_answer *answer = context;

	answer->status = status;
	if (info)
		answer->first[0] = info->class_version;
	complete(&answer->done);
}

static void ask_class_port_info(struct ksa_answer *answer)
{
	int id;

	init_completion(&answer->done);
	id = ib_sa_classport_info_query(&ksa_sa_client, ksa_device, 1, PATIENCE, GFP_KERNEL,
					class_port_info, answer, NULL);
	if (!CHECK(id >= 0))
		return;
	wait_for_completion(&answer->done);
	CHECK(!answer->status && answer->first[0] == IB_SA_CLASS_VERSION);
}

static void ask_ports(struct ksa_answer *answer)
{
	union ib_sa_query_input input = { .node_guid = ksa_device->node_guid };
	union ib_gid peer = ksa.gid;

	ksa_query_type(IB_SA_QUERY_NODE_BY_GUID, &input, answer);
	CHECK(!answer->status && answer->count == 1);
	input = (union ib_sa_query_input){ .lid = peer_lid };
	ksa_query_type(IB_SA_QUERY_PORT_BY_LID, &input, answer);
	CHECK(!answer->status && answer->count == 1);
	peer.global.interface_id = cpu_to_be64(peer_id);
	input = (union ib_sa_query_input){ .gids = { ksa.gid, peer } };
	ksa_query_type(IB_SA_QUERY_PATH_BY_GIDS, &input, answer);
	CHECK(!answer->status && answer->count >= 1);
	/* The destination's LID follows a service's number and two GIDs. */
	CHECK(get_unaligned_be16(answer->first + 40) == peer_lid);
}

static void service_name(char *name, u64 guid)
{
	snprintf(name, IB_SA_SERVICE_NAME_SIZE, "ksa %016llx", guid);
}

static void ask_services(struct ksa_answer *answer)
{
	char name[IB_SA_SERVICE_NAME_SIZE];
	union ib_sa_query_input input = { .name = name };
	struct ib_sa_service_rec rec;

	service_name(name, peer_id);
	ksa_query_type(IB_SA_QUERY_SERVICE_BY_NAME, &input, answer);
	if (CHECK(!answer->status && answer->count == 1)) {
		ib_sa_unpack_service(answer->first, &rec);
		CHECK(be64_to_cpu(rec.gid.global.interface_id) == peer_id);
		CHECK(rec.data8[15] == (u8)peer_id);
	}
	input = (union ib_sa_query_input){ .service_id = cpu_to_be64(SERVICE_ID) };
	ksa_query_type(IB_SA_QUERY_SERVICE_BY_ID, &input, answer);
	CHECK(!answer->status && answer->count == 2);
	input = (union ib_sa_query_input){ .name = "nobody's" };
	ksa_query_type(IB_SA_QUERY_SERVICE_BY_NAME, &input, answer);
	CHECK(!answer->count);
}

/* Asks for the node of any name: there are several, which a Get cannot return, so it is refused */
static void ask_too_much(struct ksa_answer *answer)
{
	const struct ib_sa_attr_query any = {
		.method = IB_MGMT_METHOD_GET,
		.attr_id = IB_SA_ATTR_NODE_REC,
	};

	ksa_query(&any, answer);
	CHECK(answer->status == -EINVAL && answer->mad_status);
}

/* Asks for devices by name, and the device itself by a MAD that does not leave the port */
static void ask_home(void)
{
	struct ib_mad *in = kzalloc(2 * sizeof(*in), GFP_KERNEL), *out = in + 1;
	struct ib_device *device;
	u32 port_num = 0;

	device = ib_device_get_by_guid(ksa_device->node_guid);
	if (CHECK(device == ksa_device))
		ib_device_put(device);
	device = ib_device_get_by_gid(&ksa.gid, &port_num);
	if (CHECK(device == ksa_device && port_num == 1))
		ib_device_put(device);
	device = ib_device_get_by_port_guid(cpu_to_be64(peer_id), &port_num);
	CHECK(!device == (cpu_to_be64(peer_id) != ksa.gid.global.interface_id));
	if (device)
		ib_device_put(device);
	if (!CHECK(in))
		return;
	in->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	in->mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	in->mad_hdr.class_version = 1;
	in->mad_hdr.method = IB_MGMT_METHOD_GET;
	in->mad_hdr.attr_id = cpu_to_be16(1);
	CHECK(!ib_local_mad(ksa_device, 1, IB_MAD_IGNORE_MKEY, in, out) &&
	      out->mad_hdr.method == IB_MGMT_METHOD_GET_RESP && !out->mad_hdr.status);
	kfree(in);
}

static int set_layouts(const char *text, const struct kernel_param *param)
{
	struct ksa_port port = { .client = &ksa_sa_client };

	guard(mutex)(&lock);
	if (!ksa_device)
		return -ENODEV;
	port.device = ksa_device;
	port.gid = ksa.gid;
	port.peer = ksa.gid;
	port.peer.global.interface_id = cpu_to_be64(peer_id);
	port.peer_lid = peer_lid;
	port.service_id = cpu_to_be64(SERVICE_ID);
	ksa_layouts(&port);
	return 0;
}

static int set_ask(const char *text, const struct kernel_param *param)
{
	struct ksa_answer *answer;

	guard(mutex)(&lock);
	if (!ksa_device)
		return -ENODEV;
	answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	ask_class_port_info(answer);
	ask_ports(answer);
	ask_services(answer);
	ask_too_much(answer);
	ask_home();
	kfree(answer);
	return 0;
}

/* Tables of one record, which come as messages of one segment */
static int set_tables(const char *text, const struct kernel_param *param)
{
	union ib_sa_query_input input = { .lid = peer_lid };
	struct ksa_answer *answer;
	uint n, found = 0;
	int ret = kstrtouint(text, 0, &n);

	guard(mutex)(&lock);
	if (ret || !ksa_device)
		return ret ?: -ENODEV;
	answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	while (found < n) {
		ksa_query_type(IB_SA_QUERY_PORT_BY_LID, &input, answer);
		if (answer->status || answer->count != 1)
			break;
		found++;
	}
	CHECK(found == n);
	kfree(answer);
	return 0;
}

/* ---- services and notices ---- */

static void service_told(int status, const struct ib_sa_service_rec *rec, void *context)
{
	if (!status && rec->id == cpu_to_be64(SERVICE_ID))
		registered++;
}

static int serve(void)
{
	u64 guid = be64_to_cpu(ksa.gid.global.interface_id);
	struct ib_sa_service_rec rec = {
		.id = cpu_to_be64(SERVICE_ID),
		.gid = ksa.gid,
		.pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL),
		.lease = cpu_to_be32(lease),
		.data8[15] = guid,
	};
	struct ib_sa_service *service;

	service_name(rec.name, guid);
	service = ib_sa_register_service(&ksa_sa_client, ksa_device, 1, &rec,
					 IB_SA_SERVICE_REC_SERVICE_DATA8_15, service_told, NULL);
	if (IS_ERR(service))
		return PTR_ERR(service);
	ksa.service = service;
	return 0;
}

static void unserve(void)
{
	ib_sa_unregister_service(ksa.service);
	ksa.service = NULL;
}

/* The groups that the last notices of a creation, and of an end, have named */
static struct {
	u8 created[16];
	u8 deleted[16];
} last;

/* Another manager chooses GIDs of its own. */
static void subscription_told(int status, void *context)
{
	if (status)
		return;
	memset(&last, 0, sizeof(last));
	subscribed++;
}

/* The GID stands behind six reserved bytes. */
static const u8 *group_of(const struct ib_sa_notice *notice)
{
	return notice->attr.details.raw_data.details + 6;
}

/* The manager reports a group whose GID it has chosen: the fields are where the core reads them. */
static void group_fields(const struct ib_sa_notice *notice)
{
	const struct ib_mad_notice_attr *attr = &notice->attr;
	const u8 *group = group_of(notice);

	CHECK(attr->generic_type == IB_NOTICE_TYPE_SM);
	CHECK(!attr->prod_type_msb && attr->prod_type_lsb == IB_NOTICE_PROD_CLASS_MGR);
	CHECK(attr->issuer_lid == ksa.sm_lid);
	CHECK(group[0] == 0xff && get_unaligned_be16(group + 2) == NAMED);
	CHECK(notice->issuer_gid.global.subnet_prefix == ksa.gid.global.subnet_prefix);
	CHECK(notice->issuer_gid.global.interface_id == ksa.gid.global.interface_id ||
	      be64_to_cpu(notice->issuer_gid.global.interface_id) == peer_id);
}

/*
 * The manager repeats a report when the answer to it is late. It gives a new group another GID than
 * the one before had.
 */
static bool is_repeated(u8 group[16], const struct ib_sa_notice *notice)
{
	bool is = !memcmp(group, group_of(notice), 16);

	memcpy(group, group_of(notice), 16);
	return is;
}

static void noticed(const struct ib_sa_notice *notice, void *context)
{
	CHECK(subscribed);
	if (notice->attr.trap_num == cpu_to_be16(CREATED))
		created += !is_repeated(last.created, notice);
	else if (notice->attr.trap_num == cpu_to_be16(DELETED))
		deleted += !is_repeated(last.deleted, notice);
	else
		return;
	group_fields(notice);
}

static int subscribe(void)
{
	struct ib_sa_subscription *subscription;
	struct ib_sa_inform_info info;
	struct ib_port_attr attr;
	int ret = ib_query_port(ksa_device, 1, &attr);

	if (ret)
		return ret;
	ksa.sm_lid = cpu_to_be16(attr.sm_lid);
	ib_sa_inform_info_init(&info);
	subscription = ib_sa_subscribe(&ksa_sa_client, ksa_device, 1, &info, subscription_told,
				       noticed, NULL);
	if (IS_ERR(subscription))
		return PTR_ERR(subscription);
	ksa.subscription = subscription;
	return 0;
}

static void unsubscribe(void)
{
	ib_sa_unsubscribe(ksa.subscription);
	ksa.subscription = NULL;
}

/* ---- I/O controllers ---- */

static int offer(void)
{
	u64 guid = be64_to_cpu(ksa.gid.global.interface_id);
	struct ib_dm_ioc_profile profile = {
		.guid = cpu_to_be64(guid),
		.vendor_id = cpu_to_be32(0xabcdef << 8),
		.io_class = cpu_to_be16(0x0100),
		.io_subclass = cpu_to_be16(0x609e),
		.protocol = cpu_to_be16(0x0108),
		.protocol_version = cpu_to_be16(1),
		.send_queue_depth = cpu_to_be16(16),
		.send_size = cpu_to_be32(4096),
		.rdma_size = cpu_to_be32(1 << 20),
		.id_string = "a controller of rdma_ksa",
	};
	struct ib_dm_svc_entry entry[5] = {};
	struct ib_dm_ioc *ioc;

	for (unsigned int i = 0; i < ARRAY_SIZE(entry); i++) {
		entry[i].id = cpu_to_be64(guid + i);
		snprintf(entry[i].name, sizeof(entry[i].name), "SRP.T10:%016llX", guid + i);
	}
	ioc = ib_dm_register_ioc(ksa_device, &profile, entry, 4);
	if (IS_ERR(ioc))
		return PTR_ERR(ioc);
	ksa.ioc = ioc;
	CHECK(!ib_dm_add_svc_entry(ioc, &entry[4]));
	CHECK(PTR_ERR(ib_dm_register_ioc(ksa_device, &profile, NULL, 0)) == -EEXIST);
	return 0;
}

static void withdraw(void)
{
	ib_dm_unregister_ioc(ksa.ioc);
	ksa.ioc = NULL;
}

static int offer_more(void)
{
	const struct ib_dm_ioc_profile profile = {
		.guid = cpu_to_be64(be64_to_cpu(ksa.gid.global.interface_id) + 1),
		.id_string = "another controller of rdma_ksa",
	};
	struct ib_dm_ioc *ioc = ib_dm_register_ioc(ksa_device, &profile, NULL, 0);

	if (IS_ERR(ioc))
		return PTR_ERR(ioc);
	ksa.more = ioc;
	return 0;
}

static void withdraw_more(void)
{
	ib_dm_unregister_ioc(ksa.more);
	ksa.more = NULL;
}

/* ---- parameters ---- */

static int turn(const char *text, void *is_on, int (*on)(void), void (*off)(void))
{
	bool wanted;
	int ret = kstrtobool(text, &wanted);

	if (ret || wanted == !!is_on)
		return ret;
	if (!ksa_device)
		return -ENODEV;
	if (wanted)
		return on();
	off();
	return 0;
}

static int set_serve(const char *text, const struct kernel_param *param)
{
	guard(mutex)(&lock);
	return turn(text, ksa.service, serve, unserve);
}

static int set_subscribe(const char *text, const struct kernel_param *param)
{
	guard(mutex)(&lock);
	return turn(text, ksa.subscription, subscribe, unsubscribe);
}

static int set_offer(const char *text, const struct kernel_param *param)
{
	guard(mutex)(&lock);
	return turn(text, ksa.ioc, offer, withdraw);
}

static int set_more(const char *text, const struct kernel_param *param)
{
	guard(mutex)(&lock);
	return turn(text, ksa.more, offer_more, withdraw_more);
}

static int svc_begin(void)
{
	int ret = ksa_svc_begin(ksa_device);

	ksa.svc = !ret;
	return ret;
}

static void svc_end(void)
{
	ksa_svc_end();
	ksa.svc = false;
}

static int set_svc(const char *text, const struct kernel_param *param)
{
	guard(mutex)(&lock);
	return turn(text, ksa.svc ? &ksa : NULL, svc_begin, svc_end);
}

static int get_svc_qpn(char *text, const struct kernel_param *param)
{
	guard(mutex)(&lock);
	return sysfs_emit(text, "%u\n", ksa_svc_qpn());
}

static int set_svc_ask(const char *text, const struct kernel_param *param)
{
	u32 qpn;
	int ret = kstrtou32(text, 0, &qpn);

	guard(mutex)(&lock);
	if (ret || !ksa_device)
		return ret ?: -ENODEV;
	ksa_svc_ask(ksa_device, peer_lid, qpn);
	return 0;
}

static int joined(int status, struct ib_sa_multicast *multicast)
{
	struct ksa_answer *answer = multicast->context;

	answer->status = status;
	complete(&answer->done);
	return 0;
}

/* The subnet manager chooses the group, which ends with its only member. */
static int set_group(const char *text, const struct kernel_param *param)
{
	struct ib_sa_mcmember_rec rec = {
		.port_gid = ksa.gid,
		.pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL),
		.qkey = cpu_to_be32(0x6b73),
		.join_state = 1,
	};
	const ib_sa_comp_mask mask = IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
				     IB_SA_MCMEMBER_REC_JOIN_STATE | IB_SA_MCMEMBER_REC_PKEY |
				     IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_SL |
				     IB_SA_MCMEMBER_REC_FLOW_LABEL |
				     IB_SA_MCMEMBER_REC_TRAFFIC_CLASS;
	struct ib_sa_multicast *multicast;
	struct ksa_answer *answer;

	guard(mutex)(&lock);
	if (!ksa_device)
		return -ENODEV;
	answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	init_completion(&answer->done);
	multicast = ib_sa_join_multicast(&ksa_sa_client, ksa_device, 1, &rec, mask, GFP_KERNEL,
					 joined, answer);
	if (CHECK(!IS_ERR(multicast))) {
		wait_for_completion(&answer->done);
		CHECK(!answer->status && multicast->rec.mgid.raw[0] == 0xff);
		ib_sa_free_multicast(multicast);
	}
	kfree(answer);
	return 0;
}

static const struct kernel_param_ops ask_ops = { .set = set_ask };
static const struct kernel_param_ops tables_ops = { .set = set_tables };
static const struct kernel_param_ops layouts_ops = { .set = set_layouts };
static const struct kernel_param_ops serve_ops = { .set = set_serve };
static const struct kernel_param_ops subscribe_ops = { .set = set_subscribe };
static const struct kernel_param_ops offer_ops = { .set = set_offer };
static const struct kernel_param_ops more_ops = { .set = set_more };
static const struct kernel_param_ops svc_ops = { .set = set_svc };
static const struct kernel_param_ops svc_qpn_ops = { .get = get_svc_qpn };
static const struct kernel_param_ops svc_ask_ops = { .set = set_svc_ask };
static const struct kernel_param_ops group_ops = { .set = set_group };
module_param_cb(ask, &ask_ops, NULL, 0200);
module_param_cb(tables, &tables_ops, NULL, 0200);
module_param_cb(layouts, &layouts_ops, NULL, 0200);
module_param_cb(serve, &serve_ops, NULL, 0200);
module_param_cb(subscribe, &subscribe_ops, NULL, 0200);
module_param_cb(offer, &offer_ops, NULL, 0200);
module_param_cb(more, &more_ops, NULL, 0200);
module_param_cb(svc, &svc_ops, NULL, 0200);
module_param_cb(svc_qpn, &svc_qpn_ops, NULL, 0444);
module_param_cb(svc_ask, &svc_ask_ops, NULL, 0200);
module_param_cb(group, &group_ops, NULL, 0200);

/* ---- the device ---- */

static int ksa_add(struct ib_device *device)
{
	guard(mutex)(&lock);
	if (ksa_device)
		return -EOPNOTSUPP;
	if (rdma_query_gid(device, 1, 0, &ksa.gid))
		return -EOPNOTSUPP;
	ksa_device = device;
	return 0;
}

static void ksa_remove(struct ib_device *device, void *data)
{
	guard(mutex)(&lock);
	if (ksa_device != device)
		return;
	if (ksa.svc)
		svc_end();
	if (ksa.more)
		withdraw_more();
	if (ksa.ioc)
		withdraw();
	if (ksa.subscription)
		unsubscribe();
	if (ksa.service)
		unserve();
	ksa_device = NULL;
}

static struct ib_client ksa_client = {
	.name = "rdma_ksa",
	.add = ksa_add,
	.remove = ksa_remove,
};

static int __init ksa_init(void)
{
	int ret = ib_watch_ports(&watcher);

	if (ret)
		return ret;
	ib_sa_register_client(&ksa_sa_client);
	ret = ib_register_client(&ksa_client);
	if (ret) {
		ib_sa_unregister_client(&ksa_sa_client);
		ib_unwatch_ports(&watcher);
	}
	return ret;
}

static void __exit ksa_exit(void)
{
	ksa_io_end();
	ib_unregister_client(&ksa_client);
	ib_sa_unregister_client(&ksa_sa_client);
	ib_unwatch_ports(&watcher);
}

module_init(ksa_init);
module_exit(ksa_exit);
MODULE_DESCRIPTION("What subnet administration has beyond Linux 6.12");
MODULE_LICENSE("Dual BSD/GPL");
