// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command "ethernet": the ports of the Ethernet segment.
 */
#include "ctl/request.h"
#include "ether/ether.h"

static struct json_object *describe(u32 n, const struct ether_port *p)
{
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "port", n);
	request_add_u64(o, "stations", p->stations);
	request_add_u64(o, "rx_frames", p->rx_frames);
	request_add_u64(o, "rx_bytes", p->rx_bytes);
	request_add_u64(o, "tx_frames", p->tx_frames);
	request_add_u64(o, "tx_bytes", p->tx_bytes);
	request_add_u64(o, "dropped", p->dropped);
	request_add_u64(o, "bad", p->bad);
	return o;
}

void request_ethernet(struct request *r)
{
	struct ether_port port[ETHER_PORTS];
	struct json_object *list;

	if (!r->ether) {
		request_refuse(r, "there is no Ethernet segment, see vhcad --ethernet", NULL);
		return;
	}
	ether_status(r->ether, port);
	list = json_object_new_array();
	for (u32 n = 0; n < ETHER_PORTS; n++)
		if (port[n].attached)
			json_object_array_add(list, describe(n, &port[n]));
	json_object_object_add(r->out, "ethernet", list);
	request_add_word(r->out, "list", "ethernet");
}
