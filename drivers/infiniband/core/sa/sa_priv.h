/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of sa/ share among themselves.
 *
 * Locks, outermost first: sa_port.refresh, ib_sa_query.lock, the queries' table, sa_port.lock,
 * sa_standing.lock. Of the MAD layer's functions, only cancel() is called with ib_sa_query.lock
 * held; the MAD layer's handlers are called without any of these locks.
 */
#ifndef RDMA_CORE_SA_PRIV_H
#define RDMA_CORE_SA_PRIV_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>

#include "../cache/cache.h"
#include "../device/device.h"
#include "sa.h"

/**
 * struct sa_mad_ops - the MAD layer's functions that are used here
 * @register_agent: ib_register_mad_agent()
 * @unregister_agent: ib_unregister_mad_agent()
 * @create: ib_create_send_mad()
 * @free: ib_free_send_mad()
 * @post: ib_post_send_mad()
 * @cancel: ib_cancel_mad()
 * @free_recv: ib_free_recv_mad()
 * @refuse_recv: mad_refuse_recv()
 *
 * Tests point sa_mad to a table of their own before they register a device.
 */
struct sa_mad_ops {
	struct ib_mad_agent *(*register_agent)(struct ib_device *device, u32 port_num,
					       enum ib_qp_type qp_type,
					       struct ib_mad_reg_req *request, u8 rmpp_version,
					       ib_mad_send_handler send_handler,
					       ib_mad_recv_handler recv_handler, void *context,
					       u32 flags);
	void (*unregister_agent)(struct ib_mad_agent *agent);
	struct ib_mad_send_buf *(*create)(struct ib_mad_agent *agent, u32 remote_qpn,
					  u16 pkey_index, int rmpp_active, int hdr_len,
					  int data_len, gfp_t gfp, u8 base_version);
	void (*free)(struct ib_mad_send_buf *buf);
	int (*post)(struct ib_mad_send_buf *buf, struct ib_mad_send_buf **bad);
	void (*cancel)(struct ib_mad_send_buf *buf);
	void (*free_recv)(struct ib_mad_recv_wc *wc);
	void (*refuse_recv)(struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc);
};

extern const struct sa_mad_ops *sa_mad;

/**
 * struct sa_manager - the address of a port's subnet manager
 * @ref: the port holds a reference, and so does each query that was sent there
 * @ah: address handle for it
 * @lid: its LID
 * @sl: service level
 * @pkey_index: index of the default P_Key in the port's table
 * @prefix: subnet prefix, used if the port requires a GRH
 */
struct sa_manager {
	struct kref ref;
	struct ib_ah *ah;
	u32 lid;
	u8 sl;
	u16 pkey_index;
	u64 prefix;
};

/**
 * struct sa_port - a port that has subnet administration
 * @device: its device
 * @port_num: its number
 * @mad: the MAD layer's functions
 * @agent: sends requests and gets their answers
 * @refresh: held while @manager is refreshed
 * @again: refreshes @manager again after its address handle could not be made
 * @again_after: seconds until @again runs, protected by @refresh
 * @lock: protects @manager, @gone, @standing and @leaving; taken from any context
 * @manager: subnet manager that requests are sent to; NULL while the port has none
 * @gone: the device is being removed, and no query can begin any more
 * @users: queries and standing requests that have not ended, and the port itself
 * @idle: completed when @users drops to zero
 * @standing: the port's standing requests, struct sa_standing
 * @leaving: standing requests whose end has been sent to the subnet manager and not answered
 * @notices: agent that receives notices while there are subscriptions, see inform.c
 * @notices_lock: protects @notices; taken before @subscribers_rwsem
 * @subscribers_rwsem: protects @subscribers; held for reading while the subscribers are called
 * @subscribers: struct ib_sa_subscription of the port
 */
struct sa_port {
	struct ib_device *device;
	u32 port_num;
	const struct sa_mad_ops *mad;
	struct ib_mad_agent *agent;
	struct mutex refresh;
	struct delayed_work again;
	unsigned int again_after;
	spinlock_t lock;
	struct sa_manager *manager;
	bool gone;
	refcount_t users;
	struct completion idle;
	struct list_head standing;
	struct list_head leaving;
	struct mutex notices_lock;
	struct ib_mad_agent *notices;
	struct rw_semaphore subscribers_rwsem;
	struct list_head subscribers;
};

/**
 * struct ib_sa_query - a request, from its first posting to its callback
 * @ref: the first reference is dropped when the query has ended
 * @rcu: frees it after a grace period, since the table is walked under RCU
 * @client: user that started the query; held until it has ended
 * @port: the port; held until the query has ended
 * @manager: subnet manager that @buf is sent to; held
 * @id: in the table of queries
 * @deadline: when it times out, in jiffies; a MAD that is posted again gets the time that is left
 * @lock: protects the members from here on
 * @buf: the MAD
 * @posted: the MAD layer has @buf
 * @cancelled: the caller has cancelled it, or the port is being removed
 * @stale: posted to a subnet manager that has been replaced
 * @answered: deliver() has been called or is running
 * @ask: its request to the local service, protected by the lock of local_service.c
 * @deliver: unpacks the answer @wc and runs the caller's callback; @wc is NULL unless @status is
 *	0 or -EINVAL, the latter being an answer with an error
 * @detour: a service to ask before the subnet manager, or NULL
 *
 * It is the first member of the structure of each kind of query, which is freed with it.
 */
struct ib_sa_query {
	struct kref ref;
	struct rcu_head rcu;
	struct ib_sa_client *client;
	struct sa_port *port;
	struct sa_manager *manager;
	u32 id;
	unsigned long deadline;

	spinlock_t lock;
	struct ib_mad_send_buf *buf;
	bool posted;
	bool cancelled;
	bool stale;
	bool answered;
	struct sa_ask *ask;

	void (*deliver)(struct ib_sa_query *query, int status, struct ib_mad_recv_wc *wc);
	const struct sa_detour *detour;
};

/**
 * struct sa_detour - a service that a query asks before the subnet manager
 * @ask: returns 0 if the service has been asked, after which it calls sa_query_resume() or
 *	sa_query_end()
 * @cancel: the query has been cancelled: wait no longer for the service
 */
struct sa_detour {
	int (*ask)(struct ib_sa_query *query, gfp_t gfp);
	void (*cancel)(struct ib_sa_query *query);
};

/**
 * struct sa_request - parameters common to all requests
 * @client: user that starts the query
 * @device: device
 * @port_num: its port
 * @method: method
 * @attr_id: attribute
 * @attr_mod: attribute modifier
 * @comp_mask: components of the record that the request uses
 * @timeout_ms: time until the request fails with -ETIMEDOUT
 * @gfp: how to allocate
 */
struct sa_request {
	struct ib_sa_client *client;
	struct ib_device *device;
	u32 port_num;
	u8 method;
	u16 attr_id;
	u32 attr_mod;
	ib_sa_comp_mask comp_mask;
	unsigned long timeout_ms;
	gfp_t gfp;
};

/* Ports: port.c */
struct sa_port *sa_port_find(struct ib_device *device, u32 port_num);
bool sa_port_get(struct sa_port *port);
void sa_port_put(struct sa_port *port);
bool sa_manager_look_up(struct sa_port *port, struct sa_manager *manager);
bool sa_manager_same(const struct sa_manager *a, const struct sa_manager *b);
struct sa_manager *sa_manager_make(struct sa_port *port, const struct sa_manager *seen);
struct sa_manager *sa_manager_get(struct sa_port *port);
void sa_manager_put(struct sa_manager *manager);

/* address.c: checks of requests */
int sa_refuse_opa(struct ib_device *device, u32 port_num);
int sa_refuse_opa_path(struct ib_device *device, u32 port_num, const struct sa_path_rec *rec);
int sa_check_method(u8 method);

/* Queries: query.c */
void sa_queries_exit(void);
#if IS_ENABLED(CONFIG_KUNIT)
extern u32 sa_next_id;
extern atomic_t sa_last_tid;
#endif
int sa_query_init(struct ib_sa_query *query, const struct sa_request *request);
int sa_query_send(struct ib_sa_query *query, gfp_t gfp, struct ib_sa_query **out);
void sa_query_resume(struct ib_sa_query *query);
void sa_query_end(struct ib_sa_query *query, int status);
bool sa_query_claim(struct ib_sa_query *query);
void sa_queries_moved(struct sa_port *port);
void sa_queries_cancel(struct sa_port *port);
void sa_send_handler(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
void sa_recv_handler(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc);

/* The record of a request, or of an answer that has one packet */
static inline void *sa_query_record(struct ib_sa_query *query)
{
	return ((struct ib_sa_mad *)query->buf->mad)->data;
}

static inline void *sa_answer_record(struct ib_mad_recv_wc *wc)
{
	return ((struct ib_sa_mad *)wc->recv_buf.mad)->data;
}

/* local_service.c: the local service of user space */
int sa_local_ask(struct ib_sa_query *query, gfp_t gfp,
		 void (*found)(struct ib_sa_query *query, struct sa_path_rec *recs,
			       unsigned int count));
void sa_local_cancel(struct ib_sa_query *query);
unsigned int sa_local_set_timeout(u32 ms);
#if IS_ENABLED(CONFIG_KUNIT)
extern u32 sa_last_question;
#endif
void sa_local_init(void);
void sa_local_exit(void);

/* inform.c: subscribers of notices, for tests */
#define SA_INFORM_BYTES 36

bool sa_wants(const struct ib_sa_inform_info *info, const struct ib_sa_notice *notice);

/* standing.c: requests that are repeated until they are withdrawn */
void sa_standing_renew_all(struct sa_port *port);

#endif
