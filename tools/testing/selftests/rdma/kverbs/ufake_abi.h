/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface between programs and rdma_ufake: a PD may have pages that can be mapped.
 */
#ifndef UFAKE_ABI_H
#define UFAKE_ABI_H

#include <linux/types.h>

#define UFAKE_MAX_PAGES	64

/**
 * struct ufake_alloc_pd - the driver's part of ALLOC_PD, absent for a PD without pages
 * @id: contents of the pages
 * @pages: number of pages
 * @first: smallest offset in the device's file, in pages
 * @last: largest one of all the pages
 * @reserved: 0
 */
struct ufake_alloc_pd {
	__aligned_u64 id;
	__u32 pages;
	__u32 first;
	__u32 last;
	__u32 reserved;
};

/**
 * struct ufake_alloc_pd_resp - the driver's part of the response
 * @pgoff: offset of the first page
 * @reserved: 0
 */
struct ufake_alloc_pd_resp {
	__u32 pgoff;
	__u32 reserved;
};

/**
 * enum ufake_page_state - state of the pages of a PD
 * @UFAKE_PAGE_NONE: they are not such pages
 * @UFAKE_PAGE_BEGUN: they are being given their offsets
 * @UFAKE_PAGE_MADE: they have offsets, until they are freed
 * @UFAKE_PAGE_REFUSED: they were freed without having got offsets
 * @UFAKE_PAGE_FREED: they were freed
 */
enum ufake_page_state {
	UFAKE_PAGE_NONE,
	UFAKE_PAGE_BEGUN,
	UFAKE_PAGE_MADE,
	UFAKE_PAGE_REFUSED,
	UFAKE_PAGE_FREED,
};

/**
 * struct ufake_page - contents at the beginning of each page
 * @id: as in the request
 * @state: enum ufake_page_state
 * @pgoff: offset of the page, in %UFAKE_PAGE_MADE
 */
struct ufake_page {
	__aligned_u64 id;
	__u32 state;
	__u32 pgoff;
};

#endif /* UFAKE_ABI_H */
