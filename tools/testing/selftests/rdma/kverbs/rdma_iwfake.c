// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An iWARP device that connects nothing, but wants its ports mapped, and a consumer of it. A write
 * to a parameter acts at once; results are read from other parameters.
 *
 *   echo 10.77.0.1:7000 >listen                   listen there; wire_local is the mapped address
 *   echo 10.77.0.2:8000 10.77.0.1:7000 >connect   connect from there; wire_local, wire_remote
 *   echo 10.77.0.2:41000 >arrive                  a peer connects to the listener from that mapped
 *                                                 address; arrived is what the consumer is told
 *   echo 1 >forget                                destroy the id
 */
#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/socket.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#define TEXT	64
#define PATIENCE (30 * HZ)

static char wire_local[TEXT], wire_remote[TEXT], arrived[TEXT];
module_param_string(wire_local, wire_local, TEXT, 0444);
MODULE_PARM_DESC(wire_local, "own address on the wire");
module_param_string(wire_remote, wire_remote, TEXT, 0444);
MODULE_PARM_DESC(wire_remote, "the peer's address on the wire");
module_param_string(arrived, arrived, TEXT, 0444);
MODULE_PARM_DESC(arrived, "the peer's address as the consumer is told");
static bool no_map;
module_param(no_map, bool, 0444);
MODULE_PARM_DESC(no_map, "the device wants no other ports");

static struct ib_device *dev;
static struct ib_qp qp;
static struct iw_cm_id *cm_id;
static DEFINE_MUTEX(use);	/* protects cm_id */
static DECLARE_COMPLETION(told);

static void write_address(char *text, const struct sockaddr_storage *addr)
{
	snprintf(text, TEXT, "%pISpc", addr);
}

/* ---- the driver ---- */

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	immutable->gid_tbl_len = 1;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->gid_tbl_len = 1;
	return 0;
}

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	return 0;
}

static void qp_ref(struct ib_qp *unused)
{
}

static struct ib_qp *get_qp(struct ib_device *ib, int qpn)
{
	return &qp;
}

static int note_addresses(struct iw_cm_id *id)
{
	write_address(wire_local, &id->m_local_addr);
	write_address(wire_remote, &id->m_remote_addr);
	return 0;
}

/* There is no peer: the refusal comes at once. */
static int iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY, .status = -ECONNREFUSED,
	};

	note_addresses(id);
	return id->event_handler(id, &event);
}

static int iw_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	return -ECONNRESET;
}

static int iw_reject(struct iw_cm_id *id, const void *data, u8 len)
{
	return 0;
}

static int iw_create_listen(struct iw_cm_id *id, int backlog)
{
	return note_addresses(id);
}

static int iw_destroy_listen(struct iw_cm_id *id)
{
	return 0;
}

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.get_port_immutable = get_port_immutable,
	.query_gid = query_gid,
	.query_port = query_port,
	.query_device = query_device,
	.iw_add_ref = qp_ref,
	.iw_rem_ref = qp_ref,
	.iw_get_qp = get_qp,
	.iw_connect = iw_connect,
	.iw_accept = iw_accept,
	.iw_reject = iw_reject,
	.iw_create_listen = iw_create_listen,
	.iw_destroy_listen = iw_destroy_listen,
};

/* ---- the consumer ---- */

static int handler(struct iw_cm_id *id, struct iw_cm_event *event)
{
	bool request = event->event == IW_CM_EVENT_CONNECT_REQUEST;

	if (request)
		write_address(arrived, &event->remote_addr);
	complete(&told);
	return request ? -ECONNREFUSED : 0;
}

static int read_address(char *text, struct sockaddr_storage *addr)
{
	char *port = strchr(text, ':');
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	u16 number;

	memset(addr, 0, sizeof(*addr));
	if (!port)
		return -EINVAL;
	*port++ = 0;
	in->sin_family = AF_INET;
	if (kstrtou16(strim(port), 10, &number) ||
	    !in4_pton(text, -1, (u8 *)&in->sin_addr, -1, NULL))
		return -EINVAL;
	in->sin_port = htons(number);
	return 0;
}

static void forget(void)
{
	if (cm_id)
		iw_destroy_cm_id(cm_id);
	cm_id = NULL;
	wire_local[0] = 0;
	wire_remote[0] = 0;
	arrived[0] = 0;
}

static int make_id(char *from, char *to)
{
	struct iw_cm_id *id;
	int ret;

	forget();
	id = iw_create_cm_id(dev, handler, NULL);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = read_address(from, &id->local_addr);
	if (!ret && to)
		ret = read_address(to, &id->remote_addr);
	if (ret)
		iw_destroy_cm_id(id);
	else
		cm_id = id;
	return ret;
}

static int until_told(void)
{
	return wait_for_completion_timeout(&told, PATIENCE) ? 0 : -ETIMEDOUT;
}

static int do_listen(char *text)
{
	return make_id(text, NULL) ?: iw_cm_listen(cm_id, 4);
}

static int do_connect(char *text)
{
	struct iw_cm_conn_param param = {};
	char *from = strsep(&text, " ");
	int ret;

	if (!text)
		return -EINVAL;
	reinit_completion(&told);
	ret = make_id(from, text) ?: iw_cm_connect(cm_id, &param);
	return ret ?: until_told();
}

static int do_arrive(char *text)
{
	struct iw_cm_event event = { .event = IW_CM_EVENT_CONNECT_REQUEST };
	int ret;

	if (!cm_id)
		return -ENOTCONN;
	event.local_addr = cm_id->m_local_addr;
	ret = read_address(text, &event.remote_addr);
	if (ret)
		return ret;
	reinit_completion(&told);
	return cm_id->event_handler(cm_id, &event) ?: until_told();
}

static int do_forget(char *text)
{
	forget();
	return 0;
}

static int order(const char *val, const struct kernel_param *kp)
{
	int (*what)(char *text) = kp->arg;
	char *text;
	int ret = -ENODEV;

	text = kstrdup(val, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	mutex_lock(&use);
	if (dev)
		ret = what(strim(text));
	mutex_unlock(&use);
	kfree(text);
	return ret;
}

static const struct kernel_param_ops order_ops = { .set = order };

module_param_cb(listen, &order_ops, do_listen, 0200);
MODULE_PARM_DESC(listen, "ADDRESS:PORT");
module_param_cb(connect, &order_ops, do_connect, 0200);
MODULE_PARM_DESC(connect, "ADDRESS:PORT ADDRESS:PORT");
module_param_cb(arrive, &order_ops, do_arrive, 0200);
MODULE_PARM_DESC(arrive, "ADDRESS:PORT");
module_param_cb(forget, &order_ops, do_forget, 0200);
MODULE_PARM_DESC(forget, "anything");

static int __init iwfake_init(void)
{
	struct ib_device *ib = _ib_alloc_device(sizeof(*ib));
	int ret;

	if (!ib)
		return -ENOMEM;
	ib->node_type = RDMA_NODE_RNIC;
	ib->phys_port_cnt = 1;
	strscpy(ib->iw_ifname, "lo", sizeof(ib->iw_ifname));
	ib->iw_driver_flags = no_map ? IW_F_NO_PORT_MAP : 0;
	ib_set_device_ops(ib, &ops);
	/* iWARP ports have a network interface; what this one is does not matter. */
	ret = ib_device_set_netdev(ib, init_net.loopback_dev, 1);
	if (!ret)
		ret = ib_register_device(ib, "iwfake%d", NULL);
	if (ret) {
		ib_dealloc_device(ib);
		return ret;
	}
	qp.device = ib;
	mutex_lock(&use);
	dev = ib;
	mutex_unlock(&use);
	return 0;
}

static void __exit iwfake_exit(void)
{
	forget();
	ib_unregister_device(dev);
	ib_dealloc_device(dev);
}

module_init(iwfake_init);
module_exit(iwfake_exit);
MODULE_DESCRIPTION("iWARP device that has its ports mapped");
MODULE_LICENSE("Dual BSD/GPL");
