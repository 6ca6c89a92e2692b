// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of messages in the folders of ports: cm_tx_msgs, cm_tx_retries, cm_rx_msgs,
 * cm_rx_duplicates, each with a file for each message.
 */
#include <linux/sysfs.h>
#include <rdma/ib_sysfs.h>

#include "cm.h"

/**
 * struct cm_count_attr - a file
 * @port: as sysfs sees it
 * @counter: enum cm_counter
 * @type: type of the message
 */
struct cm_count_attr {
	struct ib_port_attribute port;
	enum cm_counter counter;
	enum cm_msg_type type;
};

static ssize_t count_show(struct ib_device *ib, u32 port_num, struct ib_port_attribute *attr,
			  char *buf)
{
	struct cm_count_attr *count = container_of(attr, struct cm_count_attr, port);
	struct cm_device *device = ib_get_client_data(ib, &cm_client);

	/* The files come before the device's data and go after them. */
	if (!device)
		return -EINVAL;
	return sysfs_emit(buf, "%ld\n",
			  atomic_long_read(&device->ports[port_num]->counts[count->counter]
									   [count->type]));
}

#define COUNT(_folder, _counter, _name, _type)						\
	static struct cm_count_attr _folder##_##_name = {				\
		.port = __ATTR(_name, 0444, count_show, NULL),				\
		.counter = _counter,							\
		.type = _type,								\
	}

#define FOLDER(_folder, _counter)							\
	COUNT(_folder, _counter, req, CM_MSG_REQ);					\
	COUNT(_folder, _counter, mra, CM_MSG_MRA);					\
	COUNT(_folder, _counter, rej, CM_MSG_REJ);					\
	COUNT(_folder, _counter, rep, CM_MSG_REP);					\
	COUNT(_folder, _counter, rtu, CM_MSG_RTU);					\
	COUNT(_folder, _counter, dreq, CM_MSG_DREQ);					\
	COUNT(_folder, _counter, drep, CM_MSG_DREP);					\
	COUNT(_folder, _counter, sidr_req, CM_MSG_SIDR_REQ);				\
	COUNT(_folder, _counter, sidr_rep, CM_MSG_SIDR_REP);				\
	COUNT(_folder, _counter, lap, CM_MSG_LAP);					\
	COUNT(_folder, _counter, apr, CM_MSG_APR);					\
	static struct attribute *_folder##_attrs[] = {					\
		&_folder##_req.port.attr, &_folder##_mra.port.attr,			\
		&_folder##_rej.port.attr, &_folder##_rep.port.attr,			\
		&_folder##_rtu.port.attr, &_folder##_dreq.port.attr,			\
		&_folder##_drep.port.attr, &_folder##_sidr_req.port.attr,		\
		&_folder##_sidr_rep.port.attr, &_folder##_lap.port.attr,		\
		&_folder##_apr.port.attr, NULL						\
	};										\
	static const struct attribute_group _folder##_group = {				\
		.name = #_folder,							\
		.attrs = _folder##_attrs,						\
	}

FOLDER(cm_tx_msgs, CM_COUNT_SENT);
FOLDER(cm_tx_retries, CM_COUNT_RETRIES);
FOLDER(cm_rx_msgs, CM_COUNT_RECEIVED);
FOLDER(cm_rx_duplicates, CM_COUNT_DUPLICATES);

const struct attribute_group *cm_counter_groups[] = {
	&cm_tx_msgs_group,
	&cm_tx_retries_group,
	&cm_rx_msgs_group,
	&cm_rx_duplicates_group,
	NULL
};
