/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Constants of the capture formats, for the writer and the checker.
 */
#ifndef VHCAD_PCAPNG_H
#define VHCAD_PCAPNG_H

#include "lib/types.h"

#define PCAPNG_SHB		0x0a0d0d0au
#define PCAPNG_IDB		0x00000001u
#define PCAPNG_SPB		0x00000003u
#define PCAPNG_EPB		0x00000006u
#define PCAPNG_BYTE_ORDER	0x1a2b3c4du

#define PCAPNG_OPT_END		0
#define PCAPNG_OPT_IF_NAME	2
#define PCAPNG_OPT_IF_TSRESOL	9
#define PCAPNG_OPT_EPB_FLAGS	2
#define PCAPNG_EPB_OUTBOUND	2u

#define PCAP_MAGIC_USEC		0xa1b2c3d4u
#define PCAP_MAGIC_NSEC		0xa1b23c4du

#define LINKTYPE_ETHERNET	1u
#define LINKTYPE_ERF		197u

#define ERF_TYPE_INFINIBAND	21u
#define ERF_HDR_LEN		16u

#endif /* VHCAD_PCAPNG_H */
