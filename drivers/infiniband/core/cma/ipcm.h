/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The IP addresses at the head of a request's private data, and what a service ID says of them.
 * Nothing here knows of ids or devices.
 */
#ifndef RDMA_CMA_IPCM_H
#define RDMA_CMA_IPCM_H

#include <linux/socket.h>
#include <linux/types.h>
#include <rdma/ib_cm.h>

/* Bytes of the header; a consumer's private data follow it. */
#define IPCM_HDR_SIZE	36

/**
 * struct ipcm_ends - the two ends of a connection, as seen from one of them
 * @local: own address and port
 * @remote: the peer's
 */
struct ipcm_ends {
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
};

unsigned int ipcm_data_offset(sa_family_t family);
int ipcm_pack(void *hdr, const struct ipcm_ends *ends);
int ipcm_parse(struct ipcm_ends *ends, const void *hdr, __be64 service_id);

u16 ipcm_service_space(__be64 service_id);
u16 ipcm_service_port(__be64 service_id);

#endif /* RDMA_CMA_IPCM_H */
