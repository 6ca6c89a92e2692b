// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Directed routes: see smi.h.
 */
#include <kunit/visibility.h>

#include "smi.h"

static bool is_permissive(__be16 lid)
{
	return lid == IB_LID_PERMISSIVE;
}

/* Both paths have entries 0 to 63; entry 0 is not used. */
static bool path_is_sound(const struct ib_smp *smp)
{
	return smp->hop_cnt < IB_SMP_MAX_PATH_HOPS && smp->hop_ptr <= smp->hop_cnt + 1;
}

/*
 * A request whose directed part begins here leaves from the first port of its path; one without
 * path is for this node, and is taken as arrived.
 */
static enum smi_verdict send_request(struct ib_smp *smp, u8 port)
{
	if (!is_permissive(smp->dr_slid))
		return SMI_OUT;
	if (smp->hop_ptr && smp->hop_cnt)
		return SMI_DROP;
	smp->hop_ptr = 1;
	if (!smp->hop_cnt)
		return SMI_HERE;
	return smp->initial_path[1] == port ? SMI_OUT : SMI_DROP;
}

/* A response leaves from the port at which its request arrived. */
static enum smi_verdict send_response(struct ib_smp *smp, u8 port)
{
	if (!is_permissive(smp->dr_dlid))
		return SMI_OUT;
	if (!smp->hop_cnt) {
		smp->hop_ptr = 0;
		return SMI_HERE;
	}
	if (smp->hop_ptr != smp->hop_cnt + 1)
		return SMI_DROP;
	smp->hop_ptr--;
	return smp->return_path[smp->hop_ptr] == port ? SMI_OUT : SMI_DROP;
}

/**
 * smi_route_sent() - route a packet that is sent from this node
 * @smp: the packet; its hop pointer moves
 * @node: this node
 * @port: the port whose QP0 sends it
 *
 * Return: SMI_HERE, SMI_OUT for @port, or SMI_DROP for a path that does not begin at @port.
 */
enum smi_verdict smi_route_sent(struct ib_smp *smp, const struct smi_node *node, u8 port)
{
	if (!path_is_sound(smp))
		return SMI_DROP;
	/*
	 * Port 0 of a switch is its management port, and sends from the port that the path names.
	 */
	if (node->is_switch && !port && smp->hop_cnt)
		port = ib_get_smp_direction(smp) ? smp->return_path[smp->hop_cnt] :
						   smp->initial_path[1];
	return ib_get_smp_direction(smp) ? send_response(smp, port) : send_request(smp, port);
}
EXPORT_SYMBOL_IF_KUNIT(smi_route_sent);

static enum smi_verdict forward(const struct smi_node *node, u8 to, u8 *out_port)
{
	if (!node->is_switch || !to || to > node->ports)
		return SMI_DROP;
	*out_port = to;
	return SMI_OUT;
}

/* After the directed part a packet is routed by LID, which only a switch can do. */
static enum smi_verdict end_of_path(const struct smi_node *node, __be16 lid, u8 *out_port)
{
	if (is_permissive(lid))
		return SMI_HERE;
	if (!node->is_switch)
		return SMI_DROP;
	*out_port = 0;
	return SMI_OUT;
}

static enum smi_verdict receive_request(struct ib_smp *smp, const struct smi_node *node, u8 port,
					u8 *out_port)
{
	/* The part before the path was routed by LID and ends in this switch. */
	if (!smp->hop_ptr) {
		if (!smp->hop_cnt || is_permissive(smp->dr_slid))
			return SMI_DROP;
		smp->hop_ptr = 1;
		return forward(node, smp->initial_path[1], out_port);
	}
	if (smp->hop_ptr < smp->hop_cnt) {
		smp->return_path[smp->hop_ptr++] = port;
		return forward(node, smp->initial_path[smp->hop_ptr], out_port);
	}
	if (smp->hop_ptr == smp->hop_cnt) {
		smp->return_path[smp->hop_ptr++] = port;
		return end_of_path(node, smp->dr_dlid, out_port);
	}
	/* The part behind the path was routed by LID and ends here. */
	return SMI_HERE;
}

static enum smi_verdict receive_response(struct ib_smp *smp, const struct smi_node *node,
					 u8 *out_port)
{
	if (smp->hop_ptr == smp->hop_cnt + 1) {
		if (!smp->hop_cnt || is_permissive(smp->dr_dlid))
			return SMI_DROP;
		smp->hop_ptr--;
		return forward(node, smp->return_path[smp->hop_ptr], out_port);
	}
	if (smp->hop_ptr > 1) {
		smp->hop_ptr--;
		return forward(node, smp->return_path[smp->hop_ptr], out_port);
	}
	if (smp->hop_ptr == 1) {
		smp->hop_ptr = 0;
		return end_of_path(node, smp->dr_slid, out_port);
	}
	return SMI_HERE;
}

/**
 * smi_route_received() - route a packet that has arrived
 * @smp: the packet; hop pointer and return path change
 * @node: this node
 * @port: the port at which it arrived
 * @out_port: receives the port from which it leaves, for SMI_OUT; 0 if its destination LID
 *	determines the port
 *
 * Return: SMI_HERE, SMI_OUT, or SMI_DROP.
 */
enum smi_verdict smi_route_received(struct ib_smp *smp, const struct smi_node *node, u8 port,
				    u8 *out_port)
{
	if (!path_is_sound(smp))
		return SMI_DROP;
	return ib_get_smp_direction(smp) ? receive_response(smp, node, out_port) :
					   receive_request(smp, node, port, out_port);
}
EXPORT_SYMBOL_IF_KUNIT(smi_route_received);

/**
 * smi_out_port() - get the port from which a packet leaves
 * @smp: packet for which smi_route_sent() or smi_route_received() has returned SMI_OUT
 *
 * Return: the port's number; 0 if the packet's destination LID determines the port.
 */
u8 smi_out_port(struct ib_smp *smp)
{
	/* Before and after the directed part the hop pointer is outside the path. */
	if (!smp->hop_ptr || smp->hop_ptr > smp->hop_cnt)
		return 0;
	return ib_get_smp_direction(smp) ? smp->return_path[smp->hop_ptr] :
					   smp->initial_path[smp->hop_ptr];
}
EXPORT_SYMBOL_IF_KUNIT(smi_out_port);
