/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The communication manager: ids, and the messages by which they connect.
 *
 * What can happen to an id is a table (proto.h). Everything that happens takes the same way: find
 * the id, take its lock, look the rule up, send what the rule says, carry the rule out, and queue
 * the event, which a work item delivers without a lock.
 *
 * Files, top to bottom: main.c; client.c (devices that come and go); arrive.c (datagrams that
 * arrive); recv.c (which message is whose); request.c, sidr.c, connect.c, listen.c and path.c
 * (requests that arrive, datagram services, connections, listens, alternate paths); qp_attr.c; id.c
 * (life of an id); ended.c (messages under way and TIMEWAIT that end); act.c (carries rules out);
 * routes.c; send.c; remote.c, question.c, listeners.c, callers.c (who has which peer, question,
 * service, call); direction.c; event.c; number.c; route.c; device.c, counters.c; trace.c.
 *
 * Locks: an id's lock protects all of the id that is not said to be constant or another's. Under it
 * are taken the lock of a device's listens and those of the tables in remote.c. None is held while
 * a handler runs or something sleeps.
 */
#ifndef RDMA_CM_CM_H
#define RDMA_CM_CM_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_ext_cm.h>

#include "msg.h"
#include "proto.h"

extern struct workqueue_struct *cm_wq;

/* ---- devices ---- */

/**
 * struct cm_mad_ops - operations of the MAD layer that are used here
 * @register_agent: ib_register_mad_agent()
 * @unregister_agent: ib_unregister_mad_agent()
 * @create: ib_create_send_mad()
 * @free: ib_free_send_mad()
 * @post: ib_post_send_mad()
 * @modify: ib_modify_mad()
 * @free_recv: ib_free_recv_mad()
 * @sender_is_known: rdma_wc_sender_is_known(); true on ports where nobody has to be asked
 *
 * Tests put a table of their own into cm_mad before they attach a device.
 */
struct cm_mad_ops {
	struct ib_mad_agent *(*register_agent)(struct ib_device *device, u32 port_num,
					       enum ib_qp_type qp_type, struct ib_mad_reg_req *req,
					       u8 rmpp_version, ib_mad_send_handler send_handler,
					       ib_mad_recv_handler recv_handler, void *context,
					       u32 flags);
	void (*unregister_agent)(struct ib_mad_agent *agent);
	struct ib_mad_send_buf *(*create)(struct ib_mad_agent *agent, u32 remote_qpn,
					  u16 pkey_index, int rmpp_active, int hdr_len,
					  int data_len, gfp_t gfp, u8 base_version);
	void (*free)(struct ib_mad_send_buf *buf);
	int (*post)(struct ib_mad_send_buf *buf, struct ib_mad_send_buf **bad);
	int (*modify)(struct ib_mad_send_buf *buf, u32 timeout_ms);
	void (*free_recv)(struct ib_mad_recv_wc *wc);
	bool (*sender_is_known)(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
				const struct ib_grh *grh);
};

extern const struct cm_mad_ops *cm_mad;

/* What is counted for each message, in the order of the folders in sysfs. */
enum cm_counter {
	CM_COUNT_SENT,
	CM_COUNT_RETRIES,
	CM_COUNT_RECEIVED,
	CM_COUNT_DUPLICATES,
	CM_COUNTERS,
};

/**
 * struct cm_port - a port that uses the communication manager
 * @device: its device
 * @num: its number
 * @agent: agent of the class, until the device is removed; NULL before that is known here, though
 *	messages may arrive already
 * @guid: GUID of the port, as it was last looked up, network order
 * @lid: its LID then
 * @lmc: how many bits of it are path bits
 * @counts: messages, by enum cm_counter and enum cm_msg_type
 * @lock: protects @arrived and @num_arrived
 * @arrived: messages that have arrived and are not handled yet, by the lists of their only packets.
 *	Each holds the device.
 * @num_arrived: their number, up to CM_ARRIVED_MAX
 * @work: handles them in order
 */
struct cm_port {
	struct cm_device *device;
	u32 num;
	struct ib_mad_agent *agent;
	__be64 guid;
	u16 lid;
	u8 lmc;
	atomic_long_t counts[CM_COUNTERS][CM_MSG_TYPES];
	spinlock_t lock;
	struct list_head arrived;
	unsigned int num_arrived;
	struct work_struct work;
};

/*
 * What a burst of some thousand connections sends at once fits; it is twice the largest
 * receive queue of QP1. A flood of messages holds 8 MiB of memory of a port at most.
 */
#define CM_ARRIVED_MAX 8192

/**
 * struct cm_device - a device
 * @entry: in the list of devices
 * @ib: the device, which exists until @gone
 * @mad: its MAD layer
 * @refs: pointers to this
 * @users: routes, whose address handles and datagrams must go before the agents, and messages that
 *	wait; one more until the device is removed
 * @unused: there are no users
 * @late: messages that wait for the link addresses of their senders, up to CM_LATE_MAX
 * @gone: the device is removed: ids get no route any more. Set under the lock of the table of
 *	ids, before each id's lock is taken once.
 * @ack_delay: ACK delay of the device, an IBA time
 * @listen_lock: protects @listens, the sharers of the ids there, @directed, @callers, and what
 *	ports say of themselves
 * @listens: ids that listen, by service id and private data
 * @directed: directions of those that are directed
 * @callers: ids that call their peers, by service id and GID
 * @changed: looks whether directions lead anywhere still
 * @handler: handler of the device's events
 * @num_ports: entries of @ports, by numbers of ports: a switch has port 0 alone
 * @ports: by port number; NULL where a port does not use the communication manager
 */
struct cm_device {
	struct list_head entry;
	struct ib_device *ib;
	const struct cm_mad_ops *mad;
	refcount_t refs;
	refcount_t users;
	struct completion unused;
	atomic_t late;
	bool gone;
	u8 ack_delay;
	spinlock_t listen_lock;
	struct rb_root listens;
	struct list_head directed;
	struct rb_root callers;
	struct work_struct changed;
	struct ib_event_handler handler;
	u32 num_ports;
	struct cm_port *ports[] __counted_by(num_ports);
};

/* Each occupies a worker for a second at most. */
#define CM_LATE_MAX 64

/* client.c */
int cm_devices_begin(void);
void cm_devices_end(void);

/* device.c */
extern struct ib_client cm_client;
struct cm_device *cm_device_of(struct ib_device *ib);
void cm_device_get(struct cm_device *device);
void cm_device_put(struct cm_device *device);
bool cm_device_use(struct cm_device *device);
void cm_device_unuse(struct cm_device *device);
struct cm_port *cm_port_of_path(struct cm_device *device, struct sa_path_rec *path,
				const struct ib_gid_attr *sgid_attr);

/* counters.c */
extern const struct attribute_group *cm_counter_groups[];

static inline void cm_count(struct cm_port *port, enum cm_counter counter, enum cm_msg_type type,
			    unsigned long by)
{
	atomic_long_add(by, &port->counts[counter][type]);
}

/* ---- routes ---- */

/**
 * struct cm_route - the route to a peer's manager
 * @refs: ids, events and datagrams on their way
 * @port: port that sends
 * @ah: where to
 * @attr: the same, with a reference of the source GID
 * @pkey_index: with which P_Key
 * @remote_qpn: QP number of the peer
 * @release: destroys it, if the last reference goes where nothing may sleep
 */
struct cm_route {
	refcount_t refs;
	struct cm_port *port;
	struct ib_ah *ah;
	struct rdma_ah_attr attr;
	u16 pkey_index;
	u32 remote_qpn;
	struct work_struct release;
};

/* route.c */
struct cm_route *cm_route_of_path(struct cm_device *device, struct sa_path_rec *path,
				  const struct ib_gid_attr *sgid_attr, u32 remote_qpn);
struct cm_route *cm_route_back(struct cm_port *port, struct ib_mad_recv_wc *wc);
struct cm_route *cm_route_get(struct cm_route *route);
void cm_route_put(struct cm_route *route);
void cm_route_put_later(struct cm_route *route);
u16 cm_bth_pkey(struct cm_port *port, const struct ib_mad_recv_wc *wc);

/* ---- events ---- */

/**
 * struct cm_event - an event that its id's handler is to get
 * @entry: in the id's events
 * @ib: the event for the handler
 * @device: with a reference
 * @wc: the message, to which private data point; or NULL
 * @listener: the id that listened, with a reference; or NULL
 * @route: keeps what @ib refers to; or NULL
 * @path: primary and alternate path of a request
 * @local_id: number of the id of a failure that has not happened yet
 * @listen_error: enum ib_cm_listen_error, for the handler of errors; 0: @ib is told
 */
struct cm_event {
	struct list_head entry;
	struct ib_cm_event ib;
	struct cm_device *device;
	struct ib_mad_recv_wc *wc;
	struct cm_id *listener;
	struct cm_route *route;
	struct sa_path_rec path[2];
	u32 local_id;
	u8 listen_error;
};

struct cm_id;

/* event.c */
struct cm_event *cm_event_new(struct cm_device *device, gfp_t gfp);
void cm_event_free(struct cm_event *event);
void cm_event_queue(struct cm_id *id, struct cm_event *event);

/* ---- peers ---- */

/* An id of a peer, or its QP, together with the GUID of its adapter. */
struct cm_remote_key {
	u64 ca_guid;
	u32 num;
	u32 kind;
};

/**
 * struct cm_remote - the peer of an id, which no other id may have; in TIMEWAIT only its id
 * @by_id: in the table, by the peer's id
 * @by_qp: in the table, by its QP
 * @id_key: key of @by_id
 * @qp_key: key of @by_qp
 * @bound: it is in the table
 * @local_id: the id; constant while it is in the table
 * @event: for the end of TIMEWAIT
 * @entry: in the list of those in TIMEWAIT
 * @work: ends TIMEWAIT
 * @rcu: frees it
 */
struct cm_remote {
	struct rhash_head by_id;
	struct rhash_head by_qp;
	struct cm_remote_key id_key;
	struct cm_remote_key qp_key;
	bool bound;
	u32 local_id;
	struct cm_event *event;
	struct list_head entry;
	struct delayed_work work;
	struct rcu_head rcu;
};

/* Result of cm_remote_bind(). */
enum cm_bind {
	CM_BOUND,
	CM_BIND_SAME_ID,	/* an id has this peer's id */
	CM_BIND_SAME_QP,	/* an id has this peer's QP */
	CM_BIND_FAILED,		/* there is no memory */
};

/* remote.c */
int cm_remotes_begin(void);
void cm_remotes_end(void);
void cm_remote_free(struct cm_remote *remote);
enum cm_bind cm_remote_bind(struct cm_remote *remote, u64 ca_guid, u32 comm_id, u32 qpn,
			    u32 *other);
void cm_remote_unbind(struct cm_remote *remote);
void cm_remote_free_qp(struct cm_remote *remote);
u32 cm_remote_find(u64 ca_guid, u32 comm_id);
void cm_timewait_begin(struct cm_id *id);
void cm_timewait_cancel(struct cm_id *id);
void cm_timewait_done(struct cm_remote *remote);

/**
 * struct cm_sidr_key - a question for a datagram service
 * @request_id: number that the peer gave it
 * @slid: where it came from
 * @sgid: the same, 0 without a GRH
 * @device: where it arrived
 */
struct cm_sidr_key {
	struct cm_device *device;
	union ib_gid sgid;
	u32 request_id;
	u32 slid;
};

/* ---- ids ---- */

/**
 * struct cm_said - the last message, which may have to be repeated
 * @data: private data, owned
 * @len: bytes of it
 * @service_timeout: service timeout of an MRA
 */
struct cm_said {
	void *data;
	u8 len;
	u8 service_timeout;
};

/**
 * struct cm_id - an id
 * @ib: the consumer's part
 * @device: its device, with a reference; constant
 * @local_id: its number, in messages too; constant
 * @refs: its consumer, its current users, and the work that delivers its events
 * @unused: there are none
 * @rcu: frees it
 * @lock: protects what follows
 * @dead: it is being destroyed: no event is delivered any more
 * @running: @work is queued or runs
 * @events: not delivered yet
 * @work: delivers @events
 * @listen_node: in the device's listens, or in its callers
 * @listen_same: others that listen for the same service and private data, one of which is there
 * @sharers: consumers of a listening id; 0: it does not listen. All three are under the device's
 *	listen_lock.
 * @direction: criteria of a listen besides the service, or NULL; constant while it listens
 * @peer: it calls its peer, or has called
 * @calls: it is in the device's callers
 * @peer_gid: GID of the peer that it calls
 * @route: way to the peer; NULL without one and when the device is gone
 * @alt: alternate path, likewise
 * @ack_timeout: ACK timeout of the path, an IBA time
 * @alt_ack_timeout: ACK timeout of the alternate path
 * @own_timeout: what @ack_timeout was before the peer said anything; 0 on the passive side, where
 *	the peer has brought the path
 * @spare: a datagram on @route for the last message if there is no memory then
 * @alt_spare: one on @alt, which becomes @spare when the connection goes over; or NULL
 * @remote: the peer, before TIMEWAIT
 * @waiting: the peer, in TIMEWAIT, whose end sets this to NULL before it frees the peer
 * @sidr_node: in the table of questions
 * @sidr_key: its key
 * @in_sidr: it is in that table
 * @pending: the message under way that waits for an answer
 * @said: for duplicates
 * @tid: transaction of the peer's request, or of the own one
 * @timeout_ms: how long an answer is waited for
 * @max_retries: and how often it is asked for again
 * @remote_guid: the peer's adapter
 * @local_qpn: own QP
 * @remote_qpn: the peer's
 * @sq_psn: PSN that this side begins with
 * @rq_psn: PSN that the peer begins with
 * @data_dlid: LID of the data path if it is not that of @route; 0: it is
 * @pkey: P_Key of the connection, network order
 * @path_mtu: enum ib_mtu
 * @qp_type: type of the own QP
 * @responder_resources: READs and atomics that the peer may have under way
 * @initiator_depth: READs and atomics of this side
 * @active: it has sent the REQ
 * @response_timeout: time that the peer has to answer, an IBA time
 * @retry_count: retry count of the QP
 * @rnr_retry_count: RNR retry count of the QP
 */
struct cm_id {
	struct ib_cm_id ib;
	struct cm_device *device;
	u32 local_id;
	refcount_t refs;
	struct completion unused;
	struct rcu_head rcu;

	spinlock_t lock;
	bool dead;
	bool running;
	struct list_head events;
	struct work_struct work;

	struct rb_node listen_node;
	struct list_head listen_same;
	unsigned int sharers;
	struct cm_direction *direction;
	bool peer;
	bool calls;
	union ib_gid peer_gid;

	struct cm_route *route;
	struct cm_route *alt;
	u8 ack_timeout;
	u8 alt_ack_timeout;
	u8 own_timeout;
	struct ib_mad_send_buf *spare;
	struct ib_mad_send_buf *alt_spare;
	struct cm_remote *remote;
	struct cm_remote *waiting;
	struct rhash_head sidr_node;
	struct cm_sidr_key sidr_key;
	bool in_sidr;
	struct ib_mad_send_buf *pending;
	struct cm_said said;

	u64 tid;
	u32 timeout_ms;
	u8 max_retries;
	u64 remote_guid;
	u32 local_qpn;
	u32 remote_qpn;
	u32 sq_psn;
	u32 rq_psn;
	u16 data_dlid;
	__be16 pkey;
	u8 path_mtu;
	enum ib_qp_type qp_type;
	u8 responder_resources;
	u8 initiator_depth;
	bool active;
	u8 response_timeout;
	u8 retry_count;
	u8 rnr_retry_count;
};

static inline struct cm_id *to_cm_id(struct ib_cm_id *ib)
{
	return container_of(ib, struct cm_id, ib);
}

/* id.c */
struct cm_id *cm_id_new(struct cm_device *device, ib_cm_handler handler, void *context);
void cm_id_drop(struct cm_id *id);
void cm_id_end(struct cm_id *id, int err);
void cm_ids_leave(struct cm_device *device);

/* number.c */
#if IS_ENABLED(CONFIG_KUNIT)
extern u32 cm_next_number;
#endif
void cm_ids_begin(void);
void cm_ids_end(void);
int cm_number_reserve(struct cm_id *id);
void cm_number_release(struct cm_id *id);
int cm_id_publish(struct cm_id *id);
struct cm_id *cm_id_find(u32 local_id);
struct cm_id *cm_id_after(struct cm_device *device, unsigned long *number);
void cm_ids_close(struct cm_device *device);
void cm_id_put(struct cm_id *id);

/**
 * struct cm_routes - what an id needs to reach its peer
 * @primary: route to the peer
 * @alt: route of the alternate path, or NULL
 * @spare: a datagram on @primary
 * @alt_spare: one on @alt
 * @ack_timeout: ACK timeout of the path, an IBA time
 * @alt_ack_timeout: ACK timeout of the alternate path
 */
struct cm_routes {
	struct cm_route *primary;
	struct cm_route *alt;
	struct ib_mad_send_buf *spare;
	struct ib_mad_send_buf *alt_spare;
	u8 ack_timeout;
	u8 alt_ack_timeout;
};

/* routes.c */
int cm_routes_make(struct cm_device *device, struct sa_path_rec *primary,
		   const struct ib_gid_attr *sgid_attr, u32 remote_qpn,
		   struct sa_path_rec *alternate, struct cm_routes *routes);
int cm_routes_add_spare(struct cm_routes *routes);
int cm_routes_add_alternate(struct cm_device *device, struct sa_path_rec *path, u32 remote_qpn,
			    struct cm_routes *routes);
int cm_routes_take(struct cm_id *id, struct cm_routes *routes);
void cm_routes_take_alternate(struct cm_id *id, struct cm_routes *routes);
void cm_routes_leave(struct cm_id *id, struct cm_routes *routes);
void cm_routes_free(struct cm_routes *routes);
int cm_routes_move(struct cm_id *id, struct cm_id *from);

/* question.c */
int cm_sidr_begin(void);
void cm_sidr_end(void);
int cm_sidr_enter(struct cm_id *id, const struct cm_msg *msg, const struct ib_mad_recv_wc *wc);
void cm_sidr_forget(struct cm_id *id);

/* sidr.c */
void cm_recv_sidr_req(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc);

/* ---- takers of requests ---- */

/**
 * struct cm_ask - a request that looks for a listener or caller
 * @port: where it has arrived
 * @service_id: the service that it asks for
 * @data: its private data
 * @len: bytes of that
 * @pkey: P_Key of the connection or the service
 * @path_bits: path bits of the LID that it was sent to
 */
struct cm_ask {
	struct cm_port *port;
	__be64 service_id;
	const u8 *data;
	u8 len;
	u16 pkey;
	u8 path_bits;
};

/**
 * struct cm_direction - which of a service's requests a listen takes
 * @entry: in the device's list
 * @id: the listening id
 * @param: parameters of its consumer; the bytes to compare are in @data
 * @event: for the time when the port does not have what @param names; NULL: it has come
 * @port: number of the port, 0: any
 * @path_bits: path bits of the LID
 * @data: bytes that private data must have at their offset
 */
struct cm_direction {
	struct list_head entry;
	struct cm_id *id;
	struct ib_cm_listen_param param;
	struct cm_event *event;
	u32 port;
	u8 path_bits;
	u8 data[];
};

/* direction.c */
struct cm_direction *cm_direction_new(struct cm_id *id, const struct ib_cm_listen_param *param);
void cm_direction_free(struct cm_direction *direction);
int cm_direction_resolve(struct cm_direction *direction);
bool cm_direction_takes(const struct cm_direction *direction, const struct cm_ask *ask);
bool cm_directions_overlap(const struct cm_direction *one, const struct cm_direction *other);
void cm_directions_check(struct cm_device *device);

/* listeners.c */
struct cm_id *cm_listen_find(const struct cm_ask *ask);
struct cm_id *cm_listen_add(struct cm_id *id);
bool cm_listen_end(struct cm_id *id);

/* callers.c */
void cm_caller_add(struct cm_id *id, const union ib_gid *peer);
void cm_caller_end(struct cm_id *id);
struct cm_id *cm_caller_find(const struct cm_ask *ask, const struct cm_msg *msg);

/* send.c */
struct ib_mad_send_buf *cm_buf_new(struct cm_route *route, gfp_t gfp);
void cm_buf_free(struct ib_mad_send_buf *buf);
int cm_buf_post(struct ib_mad_send_buf *buf, const struct cm_msg *msg);
u64 cm_new_tid(const struct cm_id *id);
int cm_send(struct cm_id *id, struct cm_msg *msg);
int cm_send_again(struct cm_id *id);
int cm_send_awaited(struct cm_id *id, struct cm_msg *msg);
int cm_send_last(struct cm_id *id, struct cm_msg *msg);
void cm_pending_cancel(struct cm_id *id);
void cm_answer(struct cm_port *port, struct ib_mad_recv_wc *wc, const struct cm_msg *to,
	       struct cm_msg *answer);

/* ended.c */
void cm_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
struct cm_remote *cm_remote_new(struct cm_device *device, u32 local_id, gfp_t gfp);

/* act.c */
int cm_check_data(const void *data, u8 len, enum cm_msg_type type);
struct cm_rule cm_id_rule(const struct cm_id *id, enum cm_input input);
int cm_call_rule(const struct cm_id *id, enum cm_input input, struct cm_rule *rule);
void cm_follow(struct cm_id *id, const struct cm_rule *rule, struct cm_event *event);
int cm_say(struct cm_id *id, const struct cm_rule *rule, struct cm_msg *msg);
void cm_repeat(struct cm_id *id, const struct cm_rule *rule, const struct cm_msg *to);
void cm_recv_orphan(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc);
void cm_happens(struct cm_id *id, enum cm_input input, struct cm_event *event);
void cm_said_set(struct cm_id *id, void *data, u8 len);

/* request.c */
void cm_recv_req(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc);

/* path.c */
void cm_path_of_rec(struct sa_path_rec *rec, struct cm_path *path, u8 ack_delay);
void cm_rec_of_path(const struct cm_path *path, struct sa_path_rec *rec);
void cm_recv_lap(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc);

/* recv.c */
bool cm_recv_needs_route(const struct cm_msg *msg);
void cm_recv(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc);

/* arrive.c */
void cm_arrived(struct work_struct *work);
void cm_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		 struct ib_mad_recv_wc *wc);

#endif
