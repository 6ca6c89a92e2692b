// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Texts for codes, and the arithmetic of static rates.
 */
#include <linux/array_size.h>
#include <linux/export.h>
#include <rdma/ib_verbs.h>

#define EVENT(code, text)	[IB_EVENT_##code] = text

static const char * const event_text[] = {
	EVENT(CQ_ERR, "CQ error"),
	EVENT(QP_FATAL, "QP fatal error"),
	EVENT(QP_REQ_ERR, "QP request error"),
	EVENT(QP_ACCESS_ERR, "QP access error"),
	EVENT(COMM_EST, "communication established"),
	EVENT(SQ_DRAINED, "send queue drained"),
	EVENT(PATH_MIG, "path migration successful"),
	EVENT(PATH_MIG_ERR, "path migration error"),
	EVENT(DEVICE_FATAL, "device fatal error"),
	EVENT(PORT_ACTIVE, "port active"),
	EVENT(PORT_ERR, "port error"),
	EVENT(LID_CHANGE, "LID change"),
	EVENT(PKEY_CHANGE, "P_key change"),
	EVENT(SM_CHANGE, "SM change"),
	EVENT(SRQ_ERR, "SRQ error"),
	EVENT(SRQ_LIMIT_REACHED, "SRQ limit reached"),
	EVENT(QP_LAST_WQE_REACHED, "last WQE reached"),
	EVENT(CLIENT_REREGISTER, "client reregister"),
	EVENT(GID_CHANGE, "GID changed"),
};

/**
 * ib_event_msg() - get the text for an asynchronous event
 * @event: the event
 *
 * Return: a text, also for unknown codes.
 */
const char *__attribute_const__ ib_event_msg(enum ib_event_type event)
{
	size_t index = event;

	if (index >= ARRAY_SIZE(event_text) || !event_text[index])
		return "unrecognized event";
	return event_text[index];
}
EXPORT_SYMBOL(ib_event_msg);

#define STATUS(code, text)	[IB_WC_##code] = text

static const char * const wc_status_text[] = {
	STATUS(SUCCESS, "success"),
	STATUS(LOC_LEN_ERR, "local length error"),
	STATUS(LOC_QP_OP_ERR, "local QP operation error"),
	STATUS(LOC_EEC_OP_ERR, "local EE context operation error"),
	STATUS(LOC_PROT_ERR, "local protection error"),
	STATUS(WR_FLUSH_ERR, "WR flushed"),
	STATUS(MW_BIND_ERR, "memory bind operation error"),
	STATUS(BAD_RESP_ERR, "bad response error"),
	STATUS(LOC_ACCESS_ERR, "local access error"),
	STATUS(REM_INV_REQ_ERR, "remote invalid request error"),
	STATUS(REM_ACCESS_ERR, "remote access error"),
	STATUS(REM_OP_ERR, "remote operation error"),
	STATUS(RETRY_EXC_ERR, "transport retry counter exceeded"),
	STATUS(RNR_RETRY_EXC_ERR, "RNR retry counter exceeded"),
	STATUS(LOC_RDD_VIOL_ERR, "local RDD violation error"),
	STATUS(REM_INV_RD_REQ_ERR, "remote invalid RD request"),
	STATUS(REM_ABORT_ERR, "operation aborted"),
	STATUS(INV_EECN_ERR, "invalid EE context number"),
	STATUS(INV_EEC_STATE_ERR, "invalid EE context state"),
	STATUS(FATAL_ERR, "fatal error"),
	STATUS(RESP_TIMEOUT_ERR, "response timeout error"),
	STATUS(GENERAL_ERR, "general error"),
};

/**
 * ib_wc_status_msg() - get the text for the status of a completion
 * @status: the status
 *
 * Return: a text, also for unknown codes.
 */
const char *__attribute_const__ ib_wc_status_msg(enum ib_wc_status status)
{
	size_t index = status;

	if (index >= ARRAY_SIZE(wc_status_text) || !wc_status_text[index])
		return "unrecognized status";
	return wc_status_text[index];
}
EXPORT_SYMBOL(ib_wc_status_msg);

/**
 * struct static_rate - meaning of a code for a static rate
 * @multiple: lanes times signalling rate, as a multiple of 2.5 Gb/s; rates from FDR on
 *	have the multiples of Linux 6.12
 * @mbps: data rate, in Mb/s
 */
struct static_rate {
	u16 multiple;
	u32 mbps;
};

#define RATE(code, multiple, mbps)	[IB_RATE_##code##_GBPS] = { multiple, mbps }

static const struct static_rate static_rates[] = {
	/* SDR and its multiples */
	RATE(2_5, 1, 2500), RATE(5, 2, 5000), RATE(10, 4, 10000), RATE(20, 8, 20000),
	RATE(30, 12, 30000), RATE(40, 16, 40000), RATE(60, 24, 60000), RATE(80, 32, 80000),
	RATE(120, 48, 120000),
	/* FDR */
	RATE(14, 6, 14062), RATE(56, 22, 56250), RATE(112, 45, 112500), RATE(168, 67, 168750),
	/* EDR */
	RATE(25, 10, 25781), RATE(100, 40, 103125), RATE(200, 80, 206250), RATE(300, 120, 309375),
	/* HDR, NDR, XDR */
	RATE(28, 11, 28125), RATE(50, 20, 53125), RATE(400, 160, 425000),
	RATE(600, 240, 637500), RATE(800, 320, 850000),
};

static const struct static_rate *static_rate(enum ib_rate rate)
{
	size_t index = rate;

	if (index >= ARRAY_SIZE(static_rates) || !static_rates[index].multiple)
		return NULL;
	return &static_rates[index];
}

/**
 * ib_rate_to_mult() - convert a static rate to a multiple of 2.5 Gb/s
 * @rate: the rate
 *
 * Return: the multiple; -1 for IB_RATE_PORT_CURRENT and unknown codes.
 */
__attribute_const__ int ib_rate_to_mult(enum ib_rate rate)
{
	const struct static_rate *entry = static_rate(rate);

	return entry ? entry->multiple : -1;
}
EXPORT_SYMBOL(ib_rate_to_mult);

/**
 * ib_rate_to_mbps() - convert a static rate to Mb/s
 * @rate: the rate
 *
 * Return: the rate; -1 for IB_RATE_PORT_CURRENT and unknown codes.
 */
__attribute_const__ int ib_rate_to_mbps(enum ib_rate rate)
{
	const struct static_rate *entry = static_rate(rate);

	return entry ? entry->mbps : -1;
}
EXPORT_SYMBOL(ib_rate_to_mbps);

/**
 * mult_to_ib_rate() - convert a multiple of 2.5 Gb/s to a static rate
 * @mult: the multiple
 *
 * Return: the rate; IB_RATE_PORT_CURRENT when no rate has that multiple.
 */
__attribute_const__ enum ib_rate mult_to_ib_rate(int mult)
{
	for (size_t rate = 0; mult > 0 && rate < ARRAY_SIZE(static_rates); rate++)
		if (static_rates[rate].multiple == mult)
			return rate;
	return IB_RATE_PORT_CURRENT;
}
EXPORT_SYMBOL(mult_to_ib_rate);
